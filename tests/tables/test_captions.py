"""What is said above and below a table, and which rows there is nothing to say of."""

from __future__ import annotations

import math
from dataclasses import replace

from studies import compared, constant, study

from harness.core.evaluation import Counts
from harness.core.policy import Policy
from harness.reports.leaderboard import find
from harness.reports.methods import methods
from harness.reports.paper_table.build import build
from harness.reports.paper_table.rendering import render
from harness.reports.paper_table.settings import Settings

TWO = constant(
    {
        "trec": {"bm25": [0.4, 2.0], "dense": [0.5, 1.0], "fusion": [0.5001, 3.0]},
        "web": {"bm25": [0.3, 2.0], "dense": [0.2, 1.0]},
    }
)
METRICS = ["map", "mse"]
MISSING = {("trec", "b"): 1}


def test_a_mean_over_fewer_queries_is_seen_to_be_and_is_not_the_best() -> None:
    """The best mean may be over the queries that are easy; leaderboards call none the best too."""
    values = {"trec": {"a": [[0.9], [math.nan], [math.nan]], "b": [[0.5], [0.4], [math.nan]]}}
    table = build(study(values))
    assert [(row.cells[0].best, row.cells[0].note) for row in table.rows] == [
        (False, "1/3"), (False, ""),
    ]  # fmt: skip
    unlike = "Not over the same queries, so none is the best: map."
    assert unlike in table.caption
    text = find("table").render(study(values).board)
    assert "  not over the same queries, so none is the best: map\n" in text
    assert table.footnotes[-1] == (
        "n/N after a value: it is over n of the N queries, others over more."
    )
    assert "| .900 (1/3) |" in render(table, "markdown")
    assert ".900~(1/3)" in render(table, "latex")
    assert "best" not in render(table, "csv")
    # those shown decide: without the other run's fewer queries the best is known
    rest = {"trec": {**values["trec"], "c": [[0.4], [0.4], [math.nan]]}}
    assert unlike in build(study(rest)).caption
    some = build(study(rest), Settings(runs=("b", "c")))
    assert [row.cells[0].best for row in some.rows] == [True, False]


def test_a_mean_over_datasets_needs_the_same_queries_of_each() -> None:
    nan = math.nan
    values = {
        "trec": {"a": [[0.9], [0.1]], "b": [[0.5], [0.4]], "c": [[0.9], [nan]]},
        "web": {"a": [[0.9], [nan]], "b": [[0.5], [nan]]},
    }
    table = build(study(values), Settings(average=True))
    # c has no mean over both, and takes no part in that column
    assert [[cell.best for cell in row.cells] for row in table.rows] == [
        [False, True, True], [False, False, False], [False, False, False],
    ]  # fmt: skip
    assert "Not over the same queries, so none is the best: map on trec." in table.caption


def test_queries_left_out_are_queries_too() -> None:
    made = study({"trec": {"a": [[0.9], [0.1], [0.2]], "b": [[0.5], [0.4]]}}, missing=MISSING)
    policy = Policy(missing_queries="skip")
    entries = (
        replace(one, evaluation=replace(one.evaluation, policy=policy))
        for one in made.board.entries
    )
    made = replace(made, board=replace(made.board, entries=tuple(entries)))
    table = build(made)
    # b: 2 queries have values, and 1 was left out
    assert table.footnotes[0] == "Queries answered: b 2/3; the others are left out."
    assert [row.cells[0].note for row in table.rows] == ["", "2/3"]
    assert not any(row.cells[0].best for row in table.rows)
    assert "on trec (3 queries)." in methods(made, "plain")
    assert "did not answer (1 in 1 of 2 runs) were left out." in methods(made, "plain")


def test_rows_without_anything_shown_are_left_out() -> None:
    made = study(TWO, METRICS)
    table = build(made, Settings(datasets=("web",)))
    assert [row.run for row in table.rows] == ["bm25", "dense"]
    assert table.footnotes == ()
    groups = {"One": ("fusion",), "Others": ("*",)}
    grouped = build(made, Settings(datasets=("web",), groups=groups))
    assert [group.title for group in grouped.groups] == ["Others"]
    failed = {"failed": [{"dataset": "web", "run": "fusion", "columns": {}, "error": "line 4"}]}
    table = build(replace(made, manifest=failed), Settings(datasets=("web",)))
    assert [row.run for row in table.rows] == ["bm25", "dense", "fusion"]


def test_many_that_were_not_evaluated_are_counted() -> None:
    values = {"trec": {f"r{at}": [[0.5]] for at in range(8)}, "web": {"r0": [[0.5]]}}
    assert build(study(values)).footnotes == (
        "Not evaluated: 7 pairs of a run and a dataset, shown as –.",
    )


def test_the_caption_counts_the_comparisons_that_are_shown() -> None:
    outcomes = {
        (dataset, metric, "bm25", "dense"): (0.1, 0.01)
        for dataset in ("trec", "web") for metric in METRICS
    }  # fmt: skip
    made = study(TWO, METRICS, compared(outcomes, ("bm25",)))
    whole, one = build(made), build(made, Settings(metrics=("map",), datasets=("trec",)))
    assert "over 4 comparisons, p" in " ".join(whole.caption)
    assert "over 4 comparisons of which 1 is shown, p" in " ".join(one.caption)


def test_signs_that_nothing_has_are_not_explained() -> None:
    outcomes = {("trec", "map", "bm25", "dense"): (0.1, 0.5)}
    table = build(study(TWO, METRICS, compared(outcomes)), Settings(datasets=("trec",)))
    assert not any(row.sign for row in table.rows)
    assert (
        "No difference is significant (paired two-sided t-test, Holm's correction over 1 "
        "comparison, p ≤ 0.05)."
    ) in table.caption
    one = build(study(TWO, METRICS, compared(outcomes)), Settings(runs=("fusion",)))
    assert not any("significant" in sentence for sentence in one.caption)


def test_what_queries_without_relevant_documents_count_as() -> None:
    def said(metrics: list[str], empty: int, rule: str = "zero") -> str:
        made = study({"trec": {"a": [[0.5] * len(metrics)] * 4}}, metrics)
        (entry,) = made.board.entries
        counts, policy = Counts(queries=4, empty=empty), Policy(empty_queries=rule)  # type: ignore[arg-type]
        entry = replace(entry, evaluation=replace(entry.evaluation, counts=counts, policy=policy))
        return build(replace(made, board=replace(made.board, entries=(entry,)))).caption[-1]

    assert said(["map", "P@5"], 1) == "1 query without relevant documents counts as 0."
    assert said(["map", "P@5"], 2) == "2 queries without relevant documents count as 0."
    assert said(["map"], 2, "one") == "2 queries without relevant documents count as 1."
    assert said(["map"], 1, "skip") == "1 query without relevant documents is left out."
    assert said(["map", "P@5", "tau_ap"], 2) == (
        "2 queries without relevant documents count as 0, but are left out for tau_ap."
    )
    own = ["map", "P@5", "ndcg(convention=lightgbm)@5", "ndcg(empty=nan,undefined=zero)@5", "mse"]
    assert said(own, 2, "skip") == (
        "2 queries without relevant documents are left out, but count as 1 for "
        "ndcg(convention=lightgbm)@5, count as 0 for ndcg(empty=nan,undefined=zero)@5 and count as "
        "any other for mse."
    )
    assert said(["map", "map(undefined=nan)"], 1, "skip") == (
        "1 query without relevant documents is left out, but counts as undefined for "
        "map(undefined=nan)."
    )
    assert said(["map", "P(rel=2)@5"], 2).startswith("At most 2 queries without relevant")


def test_no_comparison_at_all_and_tests_without_an_answer() -> None:
    made = study(TWO, METRICS, compared({}))
    assert not any(row.sign for row in build(made).rows)
    outcomes = {
        ("trec", "map", "bm25", "dense"): (0.1, math.nan),
        ("trec", "mse", "bm25", "dense"): (0.1, math.nan),
    }
    table = build(study(TWO, METRICS, compared(outcomes)))
    assert table.footnotes[-1] == "No p-value for 2 comparisons (no answer)."
    one = build(study(TWO, METRICS, compared(outcomes)), Settings(metrics=("map",)))
    assert one.footnotes[-1] == "No p-value for 1 comparison (no answer)."


def test_the_caption_says_what_was_not_tested() -> None:
    outcomes = {("trec", "map", "bm25", "dense"): (0.1, 0.01)}
    table = build(
        study(TWO, METRICS, compared(outcomes, correction="none")), Settings(average=True)
    )
    assert (
        "A letter beside a value: significantly better than the system of that letter "
        "(paired two-sided t-test, p ≤ 0.05)."
    ) in table.caption
    assert "No test is made of mse." in table.caption
    assert "No test is made of means over datasets." in table.caption


def test_a_new_name_with_parameters_behind_it_is_explained() -> None:
    metric = "ndcg(gain=exp)@10"
    made = study(constant({"trec": {"bm25": [0.5, 0.5]}}), [metric, "map"])
    table = build(made, Settings(names={metric: "nDCG", "map": "MAP"}))
    assert table.caption[-1] == "nDCG is ndcg(gain=exp)@10."
