"""Values, policies, summaries and bounds."""

import math

import numpy as np
import pytest
from csv_rows import csv_rows

import harness
from harness.core.align import align
from harness.core.entries import Entry
from harness.core.evaluation import Evaluation, evaluate
from harness.core.leaderboard import Leaderboard
from harness.core.names import parse, parse_all, with_bounds
from harness.core.policy import Policy
from harness.core.qrels_and_runs import Qrels, Run
from harness.errors import AlignmentError, UnknownNameError
from harness.reports.leaderboard import render_leaderboard

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"b": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 1.0, "a": 0.5}, "q3": {"a": 1.0}}


def run(metrics: list[str], policy: Policy | None = None) -> Evaluation:
    aligned = align(Qrels.from_dict(QRELS), Run.from_dict(RUN), policy)
    return evaluate(aligned, parse_all(metrics), run="r", dataset="d")


def test_missing_and_empty_queries_count_by_default() -> None:
    # recip_rank: q1 1, q2 1/2, q3 has no relevant document: 0, q4 is not answered: 0
    found = run(["recip_rank"])
    assert found.column("recip_rank").tolist() == [1.0, 0.5, 0.0, 0.0]
    assert found.summary() == {"recip_rank": 0.375}
    assert found.n() == {"recip_rank": 4}
    assert found.counts.as_dict() == {
        "queries": 4, "missing": 1, "extra": 0, "empty": 1, "retrieved": 5, "judged": 4,
        "judgements": 5, "tied": 0,
    }  # fmt: skip


def test_empty_follows_the_metric_s_own_relevance_level() -> None:
    # At rel=2 only q1 has a relevant document, so the others are empty (q4 is missing as well).
    found = run(["recip_rank(rel=2)"], Policy(empty_queries="skip"))
    np.testing.assert_array_equal(found.values[:, 0], [1.0, np.nan, np.nan, np.nan])


def test_skip_leaves_empty_queries_out_of_each_mean_that_looks_at_relevance() -> None:
    metrics = ["map", "utility", "utility(rel=2)", "judged", "num_ret"]
    found = run(metrics, Policy(empty_queries="skip"))
    undefined = [np.flatnonzero(np.isnan(column)).tolist() for column in found.values.T]
    assert undefined == [[2], [2], [1, 2, 3], [3], []]  # q4 is not answered


def test_errors_name_the_queries() -> None:
    with pytest.raises(AlignmentError, match=r": q3\n"):
        run(["map"], Policy(empty_queries="error"))
    with pytest.raises(AlignmentError, match=r": q4\n"):
        run(["map"], Policy(missing_queries="error"))


def test_settings_of_empty_queries_and_of_undefined_values() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1}, "e": {"a": 0}})
    run = Run.from_dict({"q": {"a": 1.0}, "e": {"a": 1.0}})
    names = [
        "ndcg", "ndcg(empty=one)", "ndcg(empty=nan)", "ndcg(empty=nan,undefined=zero)",
        "ndcg(empty=nan,undefined=nan)", "arp", "arp(empty=zero)",
    ]  # fmt: skip
    found = evaluate(align(qrels, run), parse_all(names)).summary()
    assert list(found) == names
    assert [*found.values()] == [0.5, 1.0, 1.0, 0.5, pytest.approx(math.nan, nan_ok=True), 1, 0.5]


JUDGED = {"q": {"a": 0, "b": 1, "c": 2, "d": 0}}
TIED = {"q": {"a": 1.0, "b": 1.0}}  # recip_rank 1 (docno descending), 0.5 to 1
CLEAR = {"q": {"a": 3.0, "d": 2.0, "c": 1.0}}  # 1/3
NEAR = {"q": {"a": 3.0, "c": 2.0}}  # 1/2


def _board(metrics: list[str], **runs: dict[str, dict[str, float]]) -> Leaderboard:
    return Leaderboard(
        tuple(
            Entry(harness.evaluate(JUDGED, run, metrics, policy={"ties": "bounds"}, name=name))
            for name, run in runs.items()
        )
    )


def test_bounds_follow_their_metric_and_are_read_by_name() -> None:
    assert [str(metric) for metric in with_bounds(parse_all(["P@5", "swaps"]), Policy())] == [
        "P@5", "P@5_min", "P@5_expected", "P@5_max",
        "swaps", "swaps_min", "swaps_expected", "swaps_max",
    ]  # fmt: skip
    assert parse("P@5_max")[0].settings.ties == "best"
    assert parse("arp_max")[0].settings.ties == "worst"  # lower is better: the worst order
    assert [str(metric) for metric in parse("P@5,10_min")] == ["P@5_min", "P@10_min"]


@pytest.mark.parametrize("name", ["G_max", "infAP_min", "arp_min", "swaps_max"])
def test_a_bound_that_no_order_by_grade_gives_is_refused(name: str) -> None:
    policy = Policy(depth=2)
    metric = name.rpartition("_")[0]
    board = harness.evaluate(JUDGED, TIED, [metric], policy={"ties": "bounds", "depth": 2})
    assert board.names == [metric, f"{metric}_expected"]
    with pytest.raises(UnknownNameError) as caught:
        harness.evaluate(JUDGED, TIED, [name], policy=policy)
    assert caught.value.problems[0].fix == f"write {metric}_expected"
    assert harness.evaluate(JUDGED, TIED, [f"{metric}_expected"], policy=policy).names


def test_random_orders_are_noted_only_if_they_were_drawn() -> None:
    few, many = ({f"d{at}": 1.0 for at in range(size)} for size in (3, 12))
    judged = {"q": {f"d{at}": at % 3 for at in range(0, 12, 2)}}
    for run, is_drawn in ((few, False), (many, True)):
        board = Leaderboard((Entry(harness.evaluate(judged, {"q": run}, ["infAP(ties=average)"])),))
        assert ("random orders" in render_leaderboard(board, "table")) == is_drawn


def test_values() -> None:
    (entry,) = _board(["recip_rank"], tied=TIED).entries
    assert entry.summary == {
        "recip_rank": 1.0, "recip_rank_min": 0.5, "recip_rank_expected": 0.75,
        "recip_rank_max": 1.0,
    }  # fmt: skip


def test_places_that_depend_on_ties_are_marked() -> None:
    # tied lies in [0.5, 1]: it may come down to near's 0.5, but not to clear's 1/3
    board = _board(["recip_rank"], tied=TIED, near=NEAR, clear=CLEAR)
    assert board.unsettled(parse("recip_rank")[0], list(board.entries)) == {0, 1}
    lines = render_leaderboard(board, "table").splitlines()
    assert lines[1].split()[3:5] == ["1.0000~^", "0.5000^"]
    assert lines[2].split()[3] == "0.5000~"
    assert lines[3].split()[3] == "0.3333"
    assert lines[-1] == "  ~ marks values that change rank with the order of tied documents."
    rows = csv_rows(render_leaderboard(board, "csv"))
    assert [row["unsettled"] for row in rows] == ["recip_rank", "recip_rank", ""]
