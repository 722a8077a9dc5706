"""Documents whose docno equals the qid: dropped from runs on request, and reported if kept."""

import json
import random
from pathlib import Path

import pytest
import pytrec_eval
from command_line import called, succeeds

import harness

QRELS = {"10": {"10": 1, "b": 1, "c": 0}, "2": {"a": 1, "2": 0}, "1": {"x": 2}}
RUN = {"2": {"2": 9.0, "a": 3.0}, "10": {"b": 1.0, "10": 5.0, "z": 4.0}, "1": {"1": 1.0}}
"""Query 1 retrieves nothing but itself; document 10 is judged for query 10."""
DROPPED = {qid: {d: s for d, s in found.items() if d != qid} for qid, found in RUN.items()}
MEASURES = ["map", "ndcg", "recip_rank", "num_ret", "num_rel_ret", "bpref", "Rprec"]


def values(run: dict[str, dict[str, float]], drop: bool) -> dict[str, dict[str, float]]:
    policy = {"drop_identical_ids": drop}
    found = harness.evaluate(QRELS, run, MEASURES, policy=policy)
    rows = zip(found.qids.to_pylist(), found.values.tolist(), strict=True)
    return {qid: dict(zip(MEASURES, row, strict=True)) for qid, row in rows}


def test_dropping_is_pytrec_eval_without_these_documents() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, set(MEASURES))
    assert values(RUN, True) == evaluator.evaluate(DROPPED)
    assert values(RUN, False) == evaluator.evaluate(RUN)
    assert values(RUN, True) != values(RUN, False)


def test_one_metric_can_drop_next_to_others_that_keep() -> None:
    names = ["map", "map(drop_identical_ids=true)", "map(drop_identical_ids=true,ties=average)"]
    found = harness.evaluate(QRELS, RUN, names)
    row = found.values[found.qids.to_pylist().index("10")].tolist()
    assert row == pytest.approx([5 / 6, 0.25, 0.25])
    reverse = harness.evaluate(QRELS, RUN, [names[0], "map(drop_identical_ids=false)"],
                               policy={"drop_identical_ids": True})  # fmt: skip
    assert reverse.values[:, 1].tolist() == found.values[:, 0].tolist()


def test_reference_run_drops_too() -> None:
    policy = {"drop_identical_ids": True}
    for other, expected in ((DROPPED, [1.0, 1.0]), ({"2": {"2": 1.0, "a": 0.5}}, [1.0])):
        run = {qid: RUN[qid] for qid in ("2", "10") if qid in other}
        found = harness.evaluate({q: QRELS[q] for q in run}, run, ["rbo(p=0.9,reference=b)"],
                                 policy=policy, references={"b": other})  # fmt: skip
        assert found.values[:, 0].tolist() == pytest.approx(expected)


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("q.json").write_text(json.dumps(QRELS))
    Path("a.json").write_text(json.dumps(RUN))
    return tmp_path


@pytest.mark.parametrize("drop", [False, True])
def test_run_checks_every_value_and_reports_what_is_kept(experiment: Path, drop: bool) -> None:
    Path("c.yaml").write_text(
        "datasets: {d: q.json}\nruns: {a: a.json}\nmetrics: [map, num_ret]\n"
        f"policy: {{drop_identical_ids: {str(drop).lower()}}}\ncrosscheck: all\noutput: out\n"
    )
    assert ("0.4167" if drop else "0.4444") in succeeds("run", "c.yaml", cwd=experiment)
    printed = called("check", "c.yaml", cwd=experiment).out
    assert ("identical-ids" in printed) is not drop
    if not drop:
        assert "the docno equals the qid in 3 of 3 queries" in printed


@pytest.mark.parametrize("is_drawn", [True, False])
def test_whole_numbers_that_agree_by_chance_are_not_reported(
    tmp_path: Path, is_drawn: bool
) -> None:
    """Users and items numbered from 1 agree now and then; a query that finds itself always does."""
    rng = random.Random(3)
    run, qrels = {}, {}
    for qid in rng.sample(range(1, 300), 120):
        docnos = rng.sample(range(1, 300), 40)
        if not is_drawn and qid not in docnos:
            docnos[0] = qid
        run[str(qid)] = {str(docno): rng.random() for docno in docnos}
        qrels[str(qid)] = {str(docno): 1 for docno in docnos[1:9]}
    for name, table in (("q.json", qrels), ("r.json", run)):
        (tmp_path / name).write_text(json.dumps(table))
    findings = harness.check(tmp_path / "q.json", tmp_path / "r.json").findings
    assert any(finding.rule == "identical-ids" for finding in findings) is not is_drawn
