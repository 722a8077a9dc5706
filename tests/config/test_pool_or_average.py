"""Pooling, averaging and comparing folds: each message's fix is carried out, and works."""

from pathlib import Path

import pytest
from command_line import called, refused, succeeds
from refusals import refuses

from harness.config import load as config
from harness.errors import ConfigError

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


def test_an_average_is_not_compared_and_both_ways_out_work(tmp_path: Path) -> None:
    path = write(tmp_path, "average", compare=True, shared=False)
    with refuses("$.compare (line 7)", error=ConfigError) as caught:
        config.load(path)
    fix = caught.value.problems[0].fix
    assert "leave 'compare' out" in fix
    assert "'pool' for 'average'" in fix
    write(tmp_path, "average", compare=False, shared=False)
    succeeds("run", "c.yaml", cwd=tmp_path)
    write(tmp_path, "pool", compare=True, shared=False)
    succeeds("run", "c.yaml", "--force", cwd=tmp_path)


@pytest.mark.parametrize("compare", [False, True])
def test_folds_that_share_queries_are_not_pooled_and_both_ways_out_work(
    tmp_path: Path, compare: bool
) -> None:
    write(tmp_path, "pool", compare=compare, shared=True)
    done = called("run", "c.yaml", cwd=tmp_path)
    assert done.code == 2
    assert fix_of(done.err) == "correct the folds; or write 'average' for 'pool', without 'compare'"
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
    assert "name no baseline" in fix_of(refused("table", "out", "--baseline", "x", cwd=tmp_path))
    succeeds("table", "out", cwd=tmp_path)
