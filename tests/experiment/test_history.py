"""``harness diff --history``: a metric over dated results folders, and where it changed."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from command_line import called, refused
from csv_rows import csv_rows
from scipy import stats

from harness.errors import HarnessError
from harness.experiment.history import history

QIDS = ["1", "2", "10", *map(str, range(20, 45))]


def evaluated(
    folder: Path, name: str, ranks: dict[str, list[int]], qids: list[str] = QIDS, **keys: object
) -> Path:
    """Write results of runs whose only relevant document has these ranks."""
    folder.joinpath("qrels").write_text("".join(f"{q} 0 rel 1\n" for q in reversed(qids)))
    for run, at in ranks.items():
        rows = [
            f"{q} Q0 {'rel' if k == rank else f'd{k}'} 0 {20.5 - k} t\n"
            for q, rank in zip(qids, at, strict=False) for k in range(1, 12)
        ]  # fmt: skip
        folder.joinpath(f"{run}.run").write_text("".join(rows))
    runs = {run: {"path": f"{run}.run"} for run in ranks}
    content = {"datasets": {"set": {"path": "qrels"}}, "runs": runs, "metrics": ["rr", "arp"],
               "output": f"out/{name}", **keys}  # fmt: skip
    (folder / "c.yaml").write_text(yaml.safe_dump(content))
    assert called("run", "c.yaml", cwd=folder).code == 0
    return folder / "out" / name


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Results of eleven days, named so that their order is not that of their names."""
    draws, paths, folder = np.random.default_rng(3), [], tmp_path_factory.mktemp("days")
    for day in range(1, 12):
        worse, better = int(day >= 4), int(day >= 8)
        ranks = {
            "a=1": draws.integers(1, 3, len(QIDS)) + 5 * worse - 4 * better,
            "same": draws.integers(1, 4, len(QIDS)),
        }
        lists = {run: at.tolist() for run, at in ranks.items() if run == "same" or day != 2}
        name = f"{'ba'[day % 2]}-202507{day:02d}"
        paths.append(evaluated(folder, name, lists))
    return paths


def test_changes_are_those_of_the_paired_test(folders: list[Path]) -> None:
    found = history([*reversed(folders)], ["rr"])
    assert found.labels == tuple(f"2025-07-{day:02d}" for day in range(1, 12))
    assert found.n_tests == 19  # the first day of each series has no test, and one has no result
    for (_, _, run), points in found.series.items():
        values = [
            None if point is None else [
                float(row["value"]) for row in rows_of(folder)
                if row["run"] == run and row["metric"] == "recip_rank"
            ]
            for folder, point in zip(folders, points, strict=True)
        ]  # fmt: skip
        first, expected = None, []
        for own in values:
            p = 1.0
            if own is not None and first is not None:
                p = float(stats.ttest_rel(own, first).pvalue)  # two-sided
            is_change = p <= 0.05 / found.n_tests
            expected.append(is_change)
            first = own if own is not None and (first is None or is_change) else first
        assert [bool(point and point.change) for point in points] == expected
    kinds = {label[-2:]: change.kind for label, _, _, run, change in found.changes()}
    assert kinds == {"04": "worse", "08": "better"}
    assert not found.is_worse
    assert history(folders[:4], ["rr"]).is_worse
    lower = [change.kind for *_, change in history(folders, ["arp"]).changes()]
    assert lower == ["better", "worse"]
    assert [*history(folders, ["rr"], tolerance=0.9).changes()] == []


def rows_of(folder: Path) -> list[dict[str, str]]:
    import pyarrow.parquet as pq

    return pq.read_table(folder / "per_query.parquet").to_pylist()


def test_another_policy_or_other_queries_begin_a_level(tmp_path: Path) -> None:
    names = ["main", "plain", "wide"]
    ranks = {"x": [1, 2, 4] * 9}
    plain = evaluated(tmp_path, names[0], ranks)
    policy = evaluated(tmp_path, names[1], ranks, policy={"ties": "stable"})
    fewer = evaluated(tmp_path, names[2], ranks, QIDS[:20], policy={"ties": "stable"})
    found = history([plain, policy, fewer])
    assert found.labels == tuple(names)
    assert [change.kind for *_, change in found.changes()] == ["incomparable"] * 2
    assert [change.since for *_, change in found.changes()] == ["plain", "main"]


def test_the_command(folders: list[Path], tmp_path: Path) -> None:
    words = [str(folder) for folder in folders]
    done = called(
        "diff", "--history", *words, "-m", "rr", "-f", "csv", "-o", "h.html", cwd=tmp_path
    )
    assert done.code == 0
    (tmp_path / "h.csv").write_text(done.out)
    rows = csv_rows(tmp_path / "h.csv")
    assert len(rows) == 21
    assert {row["change"] for row in rows} == {"", "worse", "better"}
    page = (tmp_path / "h.html").read_text()
    assert "data:image/svg+xml" in page
    assert "2025-07-04" in page
    assert called("diff", "--history", *words[:4], cwd=tmp_path).code == 1
    (tmp_path / "c.yaml").write_text("mine")
    refused("diff", "--history", *words, "-o", "c.yaml", cwd=tmp_path)
    refused("diff", "--history", words[0], cwd=tmp_path)
    refused("diff", *words, cwd=tmp_path)
    refused("diff", "--history", *words, "--any-change", cwd=tmp_path)
    refused("diff", *words[:2], "-o", "x.html", cwd=tmp_path)
    with pytest.raises(HarnessError):
        history(folders[:2], ["map"])
