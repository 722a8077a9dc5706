"""Bounds of values over the orders of tied documents."""

from __future__ import annotations

import csv
import io

import harness
from harness.core.leaderboard import Entry, Leaderboard
from harness.core.names import parse, parse_all, with_bounds
from harness.reports.leaderboard import find

QRELS = {"q": {"a": 0, "b": 1, "c": 2, "d": 0}}
TIED = {"q": {"a": 1.0, "b": 1.0}}  # recip_rank 1 (docno descending), 0.5 to 1
CLEAR = {"q": {"a": 3.0, "d": 2.0, "c": 1.0}}  # 1/3
NEAR = {"q": {"a": 3.0, "c": 2.0}}  # 1/2


def _board(metrics: list[str], **runs: dict[str, dict[str, float]]) -> Leaderboard:
    return Leaderboard(
        tuple(
            Entry(harness.evaluate(QRELS, run, metrics, policy={"ties": "bounds"}, name=name))
            for name, run in runs.items()
        )
    )


def test_bounds_stand_behind_their_metric_and_are_read_by_name() -> None:
    assert [str(metric) for metric in with_bounds(parse_all(["P@5", "swaps"]))] == [
        "P@5", "P@5_min", "P@5_expected", "P@5_max",
        "swaps", "swaps_min", "swaps_expected", "swaps_max",
    ]  # fmt: skip
    assert parse("P@5_max")[0].settings.ties == "best"
    assert parse("arp_max")[0].settings.ties == "worst"  # lower is better: the worst order
    assert [str(metric) for metric in parse("P@5,10_min")] == ["P@5_min", "P@10_min"]


def test_a_metric_with_ties_of_its_own_has_no_bounds() -> None:
    names = [str(metric) for metric in with_bounds(parse_all(["P(ties=stable)@5"]))]
    assert names == ["P(ties=stable)@5"]


def test_values() -> None:
    (entry,) = _board(["recip_rank"], tied=TIED).entries
    assert entry.summary == {
        "recip_rank": 1.0, "recip_rank_min": 0.5, "recip_rank_expected": 0.75,
        "recip_rank_max": 1.0,
    }  # fmt: skip


def test_places_that_hang_on_ties_are_marked() -> None:
    # tied lies in [0.5, 1]: it may come down to near's 0.5, but not to clear's 1/3
    board = _board(["recip_rank"], tied=TIED, near=NEAR, clear=CLEAR)
    assert board.unsettled(parse("recip_rank")[0], list(board.entries)) == {0, 1}
    lines = find("table").render(board).splitlines()
    assert lines[1].split()[3:5] == ["1.0000~*", "0.5000*"]
    assert lines[2].split()[3] == "0.5000~"
    assert lines[3].split()[3] == "0.3333"
    assert lines[-1] == "  ~ the place in the column hangs on the order of tied documents"
    rows = list(csv.DictReader(io.StringIO(find("csv").render(board))))
    assert [row["unsettled"] for row in rows] == ["recip_rank", "recip_rank", ""]


def test_equal_values_without_ties_are_settled() -> None:
    board = _board(["recip_rank"], one=NEAR, two=NEAR)
    assert board.unsettled(parse("recip_rank")[0], list(board.entries)) == set()
    assert "unsettled" in board.rows()[0]


def test_the_standard_error_of_a_sampled_mean_is_said() -> None:
    board = _board(["11pt_avg"], tied={"q": {"a": 1.0, "b": 1.0, "c": 1.0}})
    (error,) = board.entries[0].evaluation.summary_errors().values()
    assert 0 < error < 0.06
    text = find("table").render(board)
    assert (
        f"11pt_avg_expected: mean of 100 random orders of ties, standard error up to {error:.1g}"
        in text
    )
