"""Ties together with depth and judged_only, against every order of the tied documents."""

import math
from itertools import chain, groupby, permutations, product
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

import harness

QRELS = {"10": {"a": 2, "b": 0, "c": 1, "d": -1}, "2": {"e": 1, "f": 0}}
RUNS = {
    "two groups": {"10": {"b": 2.0, "x": 2.0, "a": 2.0, "c": 1.0, "y": 1.0}, "2": {"f": 1, "e": 1}},
    "all tied": {"10": {"x": 1.0, "d": 1.0, "b": 1.0, "a": 1.0}, "2": {"e": 3.0, "z": 3.0}},
    "no ties": {"10": {"b": 3.0, "a": 2.0, "c": 1.0}, "2": {"f": 2.0, "e": 1.0}},
}  # fmt: skip
METRICS = {
    "P@1": "P_1", "P@2": "P_2", "recall@2": "recall_2", "ndcg@2": "ndcg_cut_2", "map": "map",
    "recip_rank": "recip_rank", "ndcg": "ndcg", "success@1": "success_1",
}  # fmt: skip
SETTINGS = list(product((None, 1, 2, 3), (False, True)))


def orders(scores: dict[str, float]) -> list[list[str]]:
    falling = sorted(scores.items(), key=lambda pair: -pair[1])
    groups = [[docno for docno, _ in group] for _, group in groupby(falling, lambda pair: pair[1])]
    return [[*chain(*ranking)] for ranking in product(*map(permutations, groups))]


def shortened(ranking: list[str], qid: str, depth: int | None, judged_only: bool) -> list[str]:
    """What depth, and then judged_only, leave of a ranking."""
    first = ranking[:depth]
    return [docno for docno in first if not judged_only or QRELS[qid].get(docno, -1) >= 0]


def every_value(name: str, depth: int | None, judged_only: bool) -> dict[str, dict[str, Any]]:
    """The values of each query and metric, one for each order of its tied documents."""
    found: dict[str, dict[str, list[float]]] = {}
    measures = {"map", "recip_rank", "ndcg", "P.1,2", "recall.2", "ndcg_cut.2", "success.1"}
    for qid, scores in RUNS[name].items():
        evaluator = pytrec_eval.RelevanceEvaluator({qid: QRELS[qid]}, measures)
        for ranking in orders(scores):
            left = shortened(ranking, qid, depth, judged_only)
            run = {docno: -float(rank) for rank, docno in enumerate(left)}
            values = evaluator.evaluate({qid: run})[qid] if run else {}
            for metric, theirs in METRICS.items():
                found.setdefault(qid, {}).setdefault(metric, []).append(values.get(theirs, 0.0))
    return found


def permuted(run: dict[str, dict[str, float]]) -> list[dict[str, dict[str, float]]]:
    return [
        run,
        {qid: dict(reversed(rows.items())) for qid, rows in reversed(run.items())},
        {qid: dict(sorted(rows.items())) for qid, rows in run.items()},
    ]


EXTREME = {"best": max, "worst": min}


@pytest.mark.filterwarnings("ignore:.*none of the")  # if only unjudged documents are first
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(("depth", "judged_only"), SETTINGS)
@pytest.mark.parametrize("ties", ["best", "worst", "average"])
def test_values_are_those_of_every_order(
    name: str, depth: int | None, judged_only: bool, ties: str
) -> None:
    expected = every_value(name, depth, judged_only)
    policy = {"ties": ties, "depth": depth, "judged_only": judged_only}
    found = [harness.evaluate(QRELS, run, METRICS, policy=policy) for run in permuted(RUNS[name])]
    settings = ",".join(
        [f"ties={ties}", *([f"depth={depth}"] if depth else []),
         *(["judged_only=true"] if judged_only else [])]
    )  # fmt: skip
    own = [f"{metric.split('@')[0]}({settings})" + "".join(metric.partition("@")[1:])
           for metric in METRICS]  # fmt: skip
    by_setting = harness.evaluate(QRELS, RUNS[name], own)
    for column, metric in enumerate(METRICS):
        errors = found[0].errors.get(column)
        for row, qid in enumerate(found[0].qids.to_pylist()):
            values = expected[qid][metric]
            value = found[0].values[row, column]
            assert by_setting.values[row, column] == value
            if ties in EXTREME:
                assert value == EXTREME[ties](values), (qid, metric)
            else:  # at most 120 orders, so the mean is over all of them
                mean = math.fsum(values) / len(values)
                assert value == pytest.approx(mean, abs=1e-12), (qid, metric)
            cutoff = int(metric.partition("@")[2] or 9)
            if depth is None or (cutoff <= depth and not judged_only):
                assert errors is None  # the expectation is exact
    # the order of rows changes nothing, not even an estimate
    for other in found[1:]:
        assert other.to_dict() == {qid: found[0].to_dict()[qid] for qid in other.to_dict()}
        assert other.counts == found[0].counts
    retrieved = [
        max(len(shortened(ranking, qid, depth, False)) for ranking in orders(scores))
        for qid, scores in RUNS[name].items()
    ]
    if not judged_only:
        assert found[0].counts.retrieved == sum(retrieved)


@pytest.mark.parametrize("ties", ["average", "random(7)"])
def test_drawn_orders_do_not_depend_on_the_order_of_rows_or_metrics(
    tmp_path: Path, ties: str
) -> None:
    judgements = [f"10 {part} d{n} 1\n" for n in range(6) for part in (1, 2) if (n + part) % 3]
    (tmp_path / "q").write_text("".join([*judgements, "2 1 x 1\n", "2 2 y 1\n"]))
    qrels = harness.read_qrels(tmp_path / "q", format="diversity")
    metrics = ["alpha_ndcg@5", "err_ia@4", "gm_map", "11pt_avg", "infAP", "yaap"]
    run = {"10": dict.fromkeys(["d3", "z", "d1", "d5", "d0", "a"], 1.0), "2": {"y": 2.0, "x": 2.0}}
    evaluations = [
        harness.evaluate(qrels, rows, names, policy={"ties": ties})
        for rows in [*permuted(run), {"10": run["10"]}]
        for names in (metrics, metrics[::-1])
    ]
    first = evaluations[0].to_dict()
    assert bool(evaluations[0].errors) == (ties == "average")  # some are estimated
    for other in evaluations[1:]:
        for qid in other.to_dict() if len(other.unanswered) == 0 else ["10"]:
            assert other.to_dict()[qid] == first[qid]
