"""Published leaderboards against our own evaluation of the runs behind them."""

import re
from pathlib import Path

import pytest
import yaml

import harness
from harness.audit.leaderboard_diff import changes


def evaluated(
    place: Path, qrels: Path, runs: list[Path], metrics: list[str], **more: object
) -> Path:
    config = {
        "output": str(place / "results"),
        "datasets": {"real": {"path": str(qrels), "format": "trec"}},
        "runs": {re.sub(r"(\.txt|\.gz)$", "", path.name): {"path": str(path)} for path in runs},
        "metrics": metrics, "crosscheck": "none", **more,
    }  # fmt: skip
    (place / "real.yaml").write_text(yaml.safe_dump(config))
    return harness.run(place / "real.yaml").folder


def test_a_readme_whose_rows_are_swapped(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "www2018_table"
    readme = (data / "upstream_README.md").read_text(encoding="utf-8")
    lines = [
        line.replace("\t", "").strip("| ").replace(".txt", "")
        for line in readme.splitlines()
        if "|" in line
    ]
    lines = [line for line in lines if "--" not in line]
    assert len(lines) == 7
    (tmp_path / "readme.csv").write_text("".join(f"{line}\n" for line in lines))
    runs = sorted((data / "rankings").glob("*.txt"))
    metrics = ["ndcg@5,10,15,20"]
    folder = evaluated(tmp_path, data / "data" / "qrels.txt", runs, metrics)
    found = changes(tmp_path / "readme.csv", folder, keys=["Runfile"])
    moved = {cell.key.run for cell in found.cells if cell.status != "same"}
    assert moved == {"single_field", "multi_field"}
    names = [("single_field", "multi_field"), ("multi_field", "single_field")]
    found = changes(tmp_path / "readme.csv", folder, keys=["Runfile"], names=names)
    assert [cell.status for cell in found.cells] == ["same"] * 24


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_the_official_leaderboard_of_a_round(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "trec_covid_round1"
    runs = sorted((data / "runs").iterdir())
    folder = evaluated(
        tmp_path, data / "qrels-rnd1.txt", runs, ["ndcg@10", "P@5", "bpref", "map"],
        policy={"depth": 1000},
    )  # fmt: skip
    found = changes(data / "leaderboard.csv", folder)
    assert [cell.status for cell in found.cells] == ["same"] * 143 * 4
    assert (found.only_old, found.only_new) == ((), ())
    assert found.metrics_only_old == ("rbp(p=0.5)",)
    # at four digits the order of the 143 is the published one, ties included
    assert all(one.similarity.tau_b == pytest.approx(1, abs=1e-12) for one in found.orders)
    assert {one.moved for one in found.orders} == {0}
    exact = changes(data / "leaderboard.csv", folder, tolerance=0)
    assert exact.has_regression
