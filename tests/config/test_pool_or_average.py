"""Pooling, averaging and comparing folds: each message's fix is carried out, and works."""

from pathlib import Path

import pytest
from command_line import called, refused, succeeds

import harness
from harness.core.rules import POOLED

CONFIG = """
output: out
datasets: {{"web-{{fold}}": {{path: "{{fold}}.qrels"}}}}
runs: {{"{{model}}": {{path: "{{model}}-{{fold}}.run"}}}}
metrics: [map]
{more}
"""


def write(folder: Path, summary: str, *, compare: bool, shared: bool) -> Path:
    """Write two folds of two runs, which share query 10 or none, and a config."""
    for fold, qids in (("b", (10, 2)), ("a", (10, 1) if shared else (7, 1))):
        (folder / f"{fold}.qrels").write_text(
            "".join(f"{qid} 0 d{n} {n % 2}\n" for qid in qids for n in range(5))
        )
        for shift, model in enumerate(("x", "y")):
            rows = [
                f"{qid} Q0 d{n} 0 {(3 * n + shift * qid + qid) % 5} t\n"
                for qid in qids
                for n in range(5)
            ]
            (folder / f"{model}-{fold}.run").write_text("".join(rows))
    more = f"summary: {{{summary}: [fold]}}\n" + ("compare: {baseline: x}\n" if compare else "")
    path = folder / "c.yaml"
    path.write_text(CONFIG.format(more=more))
    return path


def fix_of(printed: str) -> str:
    return printed.partition("fix:")[2].strip().partition("\n")[0]


def test_an_average_is_compared_over_the_queries_of_all_folds(tmp_path: Path) -> None:
    path = write(tmp_path, "average", compare=True, shared=False)
    (row,) = harness.run(path).comparisons.rows  # type: ignore[union-attr]
    assert (row.dataset, row.n, row.run) == ("web", 4, "y")
    assert "4 queries)" in succeeds("compare", "x", "y", "--results", "out", cwd=tmp_path)


def test_assessors_are_a_spread_as_the_error_says(tmp_path: Path) -> None:
    path = write(tmp_path, "average", compare=True, shared=True)
    for model in "xy":  # both assessors judge the queries of fold b, in another order
        (tmp_path / f"{model}-a.run").write_text((tmp_path / f"{model}-b.run").read_text())
    lines = (tmp_path / "b.qrels").read_text().splitlines()
    (tmp_path / "a.qrels").write_text("".join(line[:-1] + "1\n" for line in reversed(lines[2:])))
    text = path.read_text().replace("{fold}", "{assessor}").replace("[fold]", "[assessor]")
    path.write_text(text)
    done = called("run", "c.yaml", cwd=tmp_path)
    assert (done.code, "'spread' for assessors" in fix_of(done.err)) == (2, True)
    path.write_text(text.replace("average", "spread"))
    results = harness.run(path)
    (row,) = results.comparisons.rows  # type: ignore[union-attr]
    assert (row.dataset, row.n) == ("web", 2)
    values: dict[tuple[str, str], list[float]] = {}
    for assessor in "ab":
        for model in "xy":
            files = [tmp_path / f"{assessor}.qrels", tmp_path / f"{model}-{assessor}.run"]
            of_file = harness.evaluate(*map(str, files), ["map"]).to_dict()
            for qid, of_query in of_file.items():
                values.setdefault((model, qid), []).append(of_query["map"])
    means = {key: sum(both) / 2 for key, both in values.items()}
    expected = [means["y", qid] - means["x", qid] for qid in ("2", "10")]
    assert row.difference == pytest.approx(sum(expected) / 2)


@pytest.mark.parametrize("compare", [False, True])
def test_folds_that_share_queries_are_not_pooled_and_both_ways_out_work(
    tmp_path: Path, compare: bool
) -> None:
    write(tmp_path, "pool", compare=compare, shared=True)
    done = called("run", "c.yaml", cwd=tmp_path)
    assert done.code == 2
    assert fix_of(done.err) == POOLED.fix
    write(tmp_path, "average", compare=False, shared=True)
    succeeds("run", "c.yaml", "--force", cwd=tmp_path)
    write(tmp_path, "pool", compare=compare, shared=False)
    succeeds("run", "c.yaml", "--force", cwd=tmp_path)


def test_results_of_an_average_are_compared_by_part(tmp_path: Path) -> None:
    write(tmp_path, "average", compare=False, shared=True)
    succeeds("run", "c.yaml", cwd=tmp_path)
    words = ("compare", "x", "y", "--results", "out")
    assert "--dataset" in fix_of(refused(*words, cwd=tmp_path))
    succeeds(*words, "--dataset", "web-a", cwd=tmp_path)
    assert fix_of(refused("table", "out", "--baseline", "x", cwd=tmp_path)) == POOLED.fix
    succeeds("table", "out", cwd=tmp_path)
