"""Where one number of a leaderboard comes from."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import harness
from harness.audit.why import why
from harness.audit.why_report import render
from harness.cli.main import main
from harness.errors import InputError, UnknownNameError
from harness.experiment.results import read

QRELS = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq1 0 e 3\nq2 0 x 1\nq3 0 y 1\n"
# q1: ties of b and c, and of u and a
RUN = "q1 Q0 b 1 5 t\nq1 Q0 c 2 5 t\nq1 Q0 u 3 4 t\nq1 Q0 a 4 4 t\nq2 Q0 w 1 1 t\nq2 Q0 x 2 .5 t\n"
CONFIG = """
name: toy
datasets: {toy: {path: qrels.txt}}
runs: {one: {path: one.run}}
metrics: [METRICS]
policy: {POLICY}
"""


def results(folder: Path, metrics: str, policy: str = "") -> Path:
    (folder / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (folder / "one.run").write_text(RUN, encoding="utf-8")
    text = CONFIG.replace("METRICS", metrics).replace("POLICY", policy)
    (folder / "toy.yaml").write_text(text, encoding="utf-8")
    return harness.run(folder / "toy.yaml").folder


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def command(*arguments: str) -> tuple[int, str, str]:
        try:
            main(list(arguments))
            code = 0
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return command


def test_gains_discounts_and_the_running_value(tmp_path: Path) -> None:
    found = why(results(tmp_path, "ndcg@4"), "one", "ndcg_cut_4", query="q1")
    # ties by docno descending: c (1) before b (0), u (not judged) before a (2)
    rows = [(step.docno, step.grade, step.gain, step.discount) for step in found.ranking]
    assert rows == [
        ("c", 1, 1, 1),
        ("b", 0, 0, math.log2(3)),
        ("u", None, 0, 2),
        ("a", 2, 2, math.log2(5)),
    ]
    ideal = 3 + 2 / math.log2(3) + 1 / 2  # grades 3, 2, 1, 0
    assert found.ideal[-1].running == pytest.approx(ideal, abs=1e-15)
    running = [step.running for step in found.ranking]
    first, last = 1 / ideal, (1 + 2 / math.log2(5)) / ideal
    assert running == pytest.approx([first, first, first, last], abs=1e-15)
    assert found.value == found.derived == running[-1]
    assert found.is_confirmed


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        ("", "cbua"),
        ("ties: stable", "bcua"),
        ("ties: docno+", "bcau"),
        ("ties: best", "cbau"),
        ("ties: worst", "bcua"),
        ("depth: 2", "cb"),
        ("judged_only: true", "cba"),
        ("judged_only: true, depth: 2", "cb"),
    ],
)
def test_the_order_is_the_policys(tmp_path: Path, policy: str, order: str) -> None:
    found = why(results(tmp_path, "map, ndcg", policy), "one", "map", query="q1")
    assert "".join(step.docno for step in found.ranking) == order
    assert found.is_confirmed
    assert found.ranking[-1].running == found.value


def test_ties_without_an_order_have_no_running_value(tmp_path: Path) -> None:
    found = why(results(tmp_path, "map", "ties: average"), "one", "map", query="q1")
    assert {step.running for step in found.ranking} == {None}
    assert found.is_confirmed


def test_a_query_that_is_not_answered(tmp_path: Path) -> None:
    folder = results(tmp_path, "map")
    found = why(folder, "one", "map", query="q3")
    assert (found.value, found.derived, found.ranking) == (0.0, None, ())
    assert "the run does not answer the query (missing_queries: zero)" in render(found, "out")


@pytest.mark.parametrize("name", ["quickstart", "trec", "sweep"])
def test_every_value_of_the_examples_is_confirmed(root: Path, tmp_path: Path, name: str) -> None:
    for part in ("configs", "runs"):
        shutil.copytree(root / part, tmp_path / part)
    folder = harness.run(tmp_path / "configs" / f"{name}.yaml").folder
    board = read(folder).study.board
    entry = board.entries[-1]
    where = [f"{key}={value}" for key, value in entry.columns.items()]
    for metric in entry.evaluation.names:
        for query in entry.evaluation.qids.to_pylist()[::7]:
            found = why(folder, entry.run, metric, dataset=entry.dataset, where=where, query=query)
            assert found.is_confirmed, (metric, query)
            said = [step.running for step in found.ranking if step.running is not None]
            if said and not math.isnan(found.value) and metric.startswith(("map", "ndcg", "P@")):
                assert said[-1] == found.value, (metric, query)


def test_the_path_of_a_cell(tmp_path: Path) -> None:
    folder = results(tmp_path, "map", "depth: 3")
    text = render(why(folder, "one", "map"), "out")
    qrels = next(
        each
        for each in json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["inputs"]
        if each["path"].endswith("qrels.txt")
    )
    assert text.startswith("map of one on toy: ")
    assert f"({len(QRELS)} bytes, sha256 {qrels['sha256']})\n    unchanged" in text
    assert "3 queries, 1 not answered (zero), 4 tied documents (trec_eval)" in text
    # q1 c at 1: 1 / 3; q2 x at 2: 1 / 2
    assert "largest:  q2 0.5000, q1 0.3333, q3 0.0000" in text
    assert "depth        3             the run's policy\n" in text
    (tmp_path / "one.run").write_text(RUN.replace(" .5 ", " 2 "), encoding="utf-8")
    assert "has changed since the results were computed" in render(why(folder, "one", "map"), "out")
    with pytest.raises(InputError, match="has changed since the results were computed"):
        why(folder, "one", "map", query="q1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("oen", "map", None), "no run 'oen' in these results; did you mean 'one'"),
        (("one", "mpa", None), "these results hold no metric 'mpa'; did you mean 'map'"),
        (("one", "map", "q9"), r"no query 'q9' in one on toy  \(3 queries\)"),
    ],
)
def test_what_is_not_there(
    tmp_path: Path, arguments: tuple[str, str, str | None], message: str
) -> None:
    run, metric, query = arguments
    folder = results(tmp_path, "map")
    with pytest.raises(UnknownNameError, match=message):
        why(folder, run, metric, query=query)


def test_the_command(tmp_path: Path, cli: Callable[..., tuple[int, str, str]]) -> None:
    folder = results(tmp_path, "ndcg@4, swaps")
    code, out, err = cli("why", str(folder), "--run", "one", "-m", "ndcg@4", "--query", "q1")
    assert (code, err) == (0, "")
    assert "rank  docno  score       grade  gain  / discount" in out
    assert "the same as in the results" in out
    code, out, _ = cli("why", str(folder), "--run", "one", "-m", "swaps", "--query", "q1")
    assert (code, "/ discount" in out) == (0, False)
    code, _, err = cli("why", str(tmp_path), "--run", "one", "-m", "map")
    assert code == 2
    assert "the folder holds no manifest.json, so harness run did not write it" in err
