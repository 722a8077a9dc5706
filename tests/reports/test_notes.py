"""The notes below tables are sentences, and are there only if they concern the table."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from harness.core.entries import Entry
from harness.core.evaluation import Counts, Evaluation
from harness.core.leaderboard import Leaderboard
from harness.core.names import compared, metric_spellings, parse, parse_all, spelled
from harness.core.policy import Policy
from harness.reports.leaderboard import render_leaderboard
from harness.reports.notes import missing_in_words, names_among, on_dataset, treatment, undefined

TIES = (
    "Equal scores (single precision) are ordered by descending document identifier, as in "
    "trec_eval."
)
N = 50


def board_of(
    counts: Mapping[str, Mapping[str, int]],
    metrics: tuple[str, ...] = ("map",),
    lost: Mapping[str, int] | None = None,
    **policy: Any,
) -> Leaderboard:
    """Runs on one dataset with these counts, and `lost` queries without a value."""
    entries = []
    for run, own in counts.items():
        values = np.full((N, len(parse_all(metrics))), 0.5)
        values[: (lost or {}).get(run, 0)] = math.nan
        evaluation = Evaluation(
            values, pa.array([str(q) for q in range(1, N + 1)]), parse_all(metrics),
            Policy(**policy), Counts(queries=N, **own), run=run, dataset="web",
        )  # fmt: skip
        entries.append(Entry(evaluation))
    return Leaderboard(tuple(entries))


def notes_of(*given: Any, **settings: Any) -> list[str]:
    board = board_of(*given, **settings)
    return [*on_dataset(board, board.entries)]


FOUR = {f"r={k}": {"missing": k} for k in range(1, 5)} | {"all": {}}


@pytest.mark.parametrize(
    ("counts", "settings", "expected"),
    [
        ({"a": {}, "b": {}}, {}, []),
        ({"a": {"empty": 8}, "b": {"empty": 8}}, {},
         ["8 queries have no relevant document; each counts 0."]),
        ({"a": {"empty": 1}}, {}, ["1 query has no relevant document; it counts 0."]),
        ({"a": {"empty": 1}}, {"metrics": ("map", "mse")},
         ["1 query has no relevant document; it counts 0, but as any other query for MSE."]),
        ({"a": {"empty": 1}}, {"metrics": ("mse",)}, []),
        ({"a": {"empty": 2}}, {"empty_queries": "skip", "lost": {"a": 2}},
         ["2 queries have no relevant document; each is left out."]),
        ({"a": {"empty": 2}}, {"empty_queries": "one"},
         ["2 queries have no relevant document; each counts 1."]),
        ({"a": {"empty": 2}, "b": {"empty": 1}}, {},
         ["Up to 2 queries have no relevant document; each counts 0."]),
        ({"a": {"missing": 1}, "b": {}}, {}, ["a leaves 1 of 50 queries unanswered; it counts 0."]),
        ({"a": {"missing": 3}, "b": {"missing": 2}, "c": {}}, {},
         ["a leaves 3 and b 2 of 50 queries unanswered; each counts 0."]),
        ({"a": {"missing": 3}, "b": {"missing": 3}}, {},
         ["Every run leaves 3 of 50 queries unanswered; each counts 0."]),
        (FOUR, {}, ["4 of 5 runs leave up to 4 of 50 queries unanswered; each counts 0."]),
        ({"a": {"missing": 3}}, {"missing_queries": "skip"},
         ["a leaves 3 of 53 queries unanswered; each is left out."]),
        ({"": {"missing": 3}}, {}, ["The run leaves 3 of 50 queries unanswered; each counts 0."]),
        ({"a": {"tied": 4}}, {}, [TIES]),
        ({"a": {"tied": 4}}, {"ties": "stable", "scores": "float64"},
         ["Equal scores (double precision) are left in the order of the file."]),
        ({"a": {"tied": 4}}, {"metrics": ("map(ties=average)", "P@5")},
         [TIES, "For MAP, equal scores (double precision) are put in all orders, and values "
                "averaged."]),
        ({"a": {}}, {"metrics": ("ndcg(convention=letor)@5", "map(ties=random(10))", "P@5")},
         ["For nDCG@5, equal scores (double precision) are left in the order of the file.",
          "For MAP, equal scores (double precision) are put in a random order (seed 10)."]),
        ({"a": {}}, {"metrics": ("map", "map_min", "map_max")},
         ["Bounds are over all orders of documents with equal scores."]),
        ({"a and b": {"extra": 1}, "b": {}}, {},
         ["1 query of a and b is answered but not judged, and does not count."]),
        ({"a and b": {}, "b": {}}, {"lost": {"a and b": 1}},
         ["MAP is undefined for 1 query of a and b; the mean is over the rest."]),
        ({"a": {"extra": 2}, "b": {}}, {},
         ["2 queries of a are answered but not judged, and do not count."]),
        ({"a": {"missing": 1}, "b": {"missing": 1}, "c": {}}, {},
         ["a and b each leave 1 of 50 queries unanswered; each counts 0."]),
        ({"a": {}, "b": {}}, {"lost": {"a": 1, "b": 1}},
         ["MAP is undefined for 1 query; the mean is over the rest."]),
        ({"a": {}, "b": {}}, {"metrics": ("map", "ndcg@10"), "lost": {"a": 2}},
         ["MAP and nDCG@10 are undefined for 2 queries of a; the mean is over the rest."]),
        ({"a": {}}, {"depth": 100, "judged_only": True},
         ["Only the first 100 documents of each query count.",
          "Unjudged documents among them are removed."]),
    ],
)  # fmt: skip
def test_notes(
    counts: Mapping[str, Mapping[str, int]], settings: Mapping[str, Any], expected: list[str]
) -> None:
    assert notes_of(counts, **settings) == expected
    assert all(len(note) <= 100 for note in expected)


def test_a_run_with_several_columns_is_told_from_its_siblings() -> None:
    """Entries of one run had one number, that of the last."""
    entry = board_of({"a": {"missing": 2}}).entries[0]
    other = board_of({"a": {"missing": 1}}).entries[0]
    board = Leaderboard(
        (Entry(entry.evaluation, {"seed": "1"}), Entry(other.evaluation, {"seed": "2"}))
    )
    (note,) = on_dataset(board, board.entries)
    assert note == "a seed=1 leaves 2 and a seed=2 1 of 50 queries unanswered; each counts 0."


@pytest.mark.parametrize("ties", ["trec_eval", "trec_eval10", "docno+", "average", "random(7)"])
@pytest.mark.parametrize("scores", [None, "float64", "none"])
def test_sentences_on_ties_fit_into_a_line(ties: Any, scores: Any) -> None:
    policy, counts = Policy(ties=ties, scores=scores), [("web", Counts(tied=2))]
    (now,) = treatment(parse("map"), policy, counts)
    (then,) = treatment(parse("map"), policy, counts, past=True)
    assert len(now) <= 101
    assert now[-1] == then[-1] == "."
    assert " were " in then
    assert " are " in now


def test_notes_of_many_metrics_name_the_exceptions() -> None:
    metrics = parse_all(["map", "ndcg@10", "P@5", "recip_rank", "swaps"])
    lost = {metric: {"a": 2, "b": 0} for metric in metrics[:4]} | {metrics[4]: {"a": 0, "b": 0}}
    assert [*undefined(lost, *names_among(metrics))] == [
        "All metrics but swaps are undefined for 2 queries of a; the mean is over the rest."
    ]
    assert missing_in_words(metrics, Policy()) == "counts 0, but is left out for swaps"


@pytest.mark.parametrize("width", [40, 80, 120, None])
def test_notes_are_wrapped_to_the_terminal(width: int | None) -> None:
    text = render_leaderboard(board_of({"bm=25": {"tied": 4, "missing": 2}}), "table", width=width)
    _, *lines = text.partition("\n  ")[2].splitlines()
    assert all(len(line) <= min(width or 100, 100) for line in lines)
    assert TIES in " ".join(text.split())


def test_names_shown_are_read() -> None:
    names = ["ndcg@10", "map", "recall@1000", "recip_rank", "P@10", "swaps", "Rprec", "map_min",
             "Rprec_mult@0.4", "num_rel_ret", "kendall", "ndcg@5_max", "first_rank"]  # fmt: skip
    for name in names:
        (metric,) = parse(name)
        assert [*map(str, parse(spelled(metric)))] == [name]


def test_metrics_with_other_parameters_have_other_names() -> None:
    names = ["ndcg@10", "ndcg(gain=exp)@10", "ndcg(convention=lightgbm)@10", "P(rel=2)@10", "P@10",
             "ndcg(ties=average)@10", "ndcg@10_min", "Rprec", "Rprec_mult@1"]  # fmt: skip
    metrics = parse_all(names)
    assert len({*map(spelled, metrics)}) == len(names)
    header = render_leaderboard(board_of({"a": {}}, tuple(names)), "markdown").splitlines()[2]
    assert all(spelled(metric) in header for metric in metrics)
    assert names[1] in render_leaderboard(board_of({"a": {}}, tuple(names)), "csv")


@pytest.mark.parametrize("name", ["ndcg(gain=exp)@10", "P(rel=2)@5", "rbp(p=0.95)", "map"])
def test_metrics_of_results_are_found_by_the_name_shown(name: str) -> None:
    names = [name, "ndcg@10", "P@5", "rbp(p=0.8)", "map(ties=average)", "ndcg(gain=exp)@5"]
    metrics = parse_all(names)
    assert [*map(str, compared(metrics, [spelled(metrics[0])]))] == [name]
    assert [*metric_spellings(names)(spelled(metrics[0]))] == [name]
