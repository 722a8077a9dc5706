"""From a study to a table: values, marks, means, captions, notes."""

import math
from dataclasses import replace
from itertools import groupby

import pytest
from csv_rows import csv_rows
from studies import compared, constant, study

from harness.core.evaluation import Counts
from harness.core.policy import Policy
from harness.errors import UnknownNameError
from harness.reports.leaderboard import render_leaderboard
from harness.reports.paper_table.build import build
from harness.reports.paper_table.model import PaperCell, PaperTable, render
from harness.reports.paper_table.settings import Caption, TableSettings
from harness.reports.select import select

TWO = constant(
    {
        "trec": {"bm25": [0.4, 2.0], "dense": [0.5, 1.0], "fusion": [0.5001, 3.0]},
        "web": {"bm25": [0.3, 2.0], "dense": [0.2, 1.0]},
    }
)
METRICS = ["map", "mse"]


def texts(table: PaperTable) -> dict[str, list[str]]:
    return {row.run: [cell.text for cell in row.cells] for row in table.rows}


def blocks(table: PaperTable) -> list[tuple[str, int]]:
    found = groupby(table.columns, key=lambda column: column.block)
    return [(title, len(list(columns))) for title, columns in found]


def caption(table: PaperTable) -> tuple[str, ...]:
    """The sentences around a table: in its caption, then in its notes."""
    return (*table.sentences, *table.footnotes)


def cell_of(table: PaperTable, run: str, dataset: str, key: str) -> PaperCell | None:
    keys = [(column.dataset, column.key) for column in table.columns]
    row = next(row for row in table.rows if row.run == run)
    return row.cells[keys.index((dataset, key))] if (dataset, key) in keys else None


def marked(table: PaperTable, what: str) -> dict[str, list[bool]]:
    return {row.run: [getattr(cell, what) for cell in row.cells] for row in table.rows}


def test_runs_that_miss_a_dataset_are_sorted_by_the_others() -> None:
    apart = constant({"trec": {"a": [0.1], "c": [0.3]}, "web": {"b": [0.2], "d": [0.4]}})
    assert [*texts(build(study(apart), TableSettings(sort="map")))] == ["c", "a", "d", "b"]


def test_blocks_rows_and_values() -> None:
    table = build(study(TWO, METRICS))
    assert blocks(table) == [("trec", 2), ("web", 2)]
    assert [column.title for column in table.columns] == ["MAP ↑", "MSE ↓"] * 2
    assert [column.key for column in table.columns] == METRICS * 2
    assert texts(table) == {
        "bm25": [".400", "2.000", ".300", "2.000"],
        "dense": [".500", "1.000", ".200", "1.000"],
        "fusion": [".500", "3.000", "–", "–"],
    }
    cell = cell_of(table, "fusion", "trec", "map")
    assert cell.value == 0.5001
    assert cell.n == 2
    assert cell_of(table, "fusion", "trec", "ndcg") is None


def test_best_is_shared_at_the_precision_shown_and_lower_can_be_better() -> None:
    table = build(study(TWO, METRICS))
    assert marked(table, "best") == {
        "bm25": [False, False, True, False],
        "dense": [True, True, False, True],
        "fusion": [True, False, False, False],
    }
    # two values: no second best
    assert marked(table, "second") == {
        "bm25": [True, True, False, False],
        "dense": [False, False, False, False],
        "fusion": [False, False, False, False],
    }
    precise = build(study(TWO, METRICS), TableSettings(digits={"map": 4}))
    assert [row.cells[0].best for row in precise.rows] == [False, False, True]


def test_letters_mean_the_systems_that_are_beaten() -> None:
    outcomes = {
        ("trec", "map", "bm25", "dense"): (0.1, 0.01),  # dense beats bm25
        ("trec", "map", "bm25", "fusion"): (0.1, 0.05),  # at the level: significant
        ("trec", "map", "dense", "fusion"): (0.1, 0.051),
        ("trec", "mse", "bm25", "fusion"): (1.0, 0.001),  # lower is better: bm25 beats fusion
        ("trec", "mse", "bm25", "dense"): (-1.0, math.nan),
    }
    table = build(study(TWO, METRICS, compared(outcomes)))
    assert [row.sign for row in table.rows] == ["a", "b", "c"]
    assert {row.run: [cell.marks for cell in row.cells[:2]] for row in table.rows} == {
        "bm25": [(), ("c",)],
        "dense": [("a",), ()],
        "fusion": [("a",), ()],
    }
    assert not any(cell.worse for row in table.rows for cell in row.cells)


def test_daggers_mean_baselines_above_and_below() -> None:
    outcomes = {
        ("trec", "map", "bm25", "dense"): (0.1, 0.01),
        ("trec", "map", "fusion", "dense"): (-0.1, 0.01),
        ("trec", "map", "bm25", "fusion"): (0.1, 0.2),
    }
    table = build(study(TWO, METRICS, compared(outcomes, ("bm25", "fusion"))))
    assert {row.run: row.sign for row in table.rows} == {"bm25": "†", "dense": "", "fusion": "‡"}
    cell = cell_of(table, "dense", "trec", "map")
    assert (cell.marks, cell.worse) == (("†",), ("‡",))
    assert (
        "† marks values significantly better than bm25, ‡ than fusion; subscripts mark "
        "significantly worse ones (paired two-sided t-test, Holm's correction over 3 comparisons, "
        "p ≤ .05)."
    ) in caption(table)


def test_a_mean_over_datasets_is_for_runs_that_have_them_all() -> None:
    table = build(study(TWO, METRICS), TableSettings(average=True))
    assert blocks(table)[-1] == ("Average", 2)
    # bm25: (.4 + .3) / 2, (2 + 2) / 2; dense: (.5 + .2) / 2, (1 + 1) / 2
    assert {run: cells[-2:] for run, cells in texts(table).items()} == {
        "bm25": [".350", "2.000"],
        "dense": [".350", "1.000"],
        "fusion": ["–", "–"],
    }
    assert [row.cells[-1].note for row in table.rows] == ["", "", "1/2"]
    # two equal values, and none that they are better than
    assert [row.cells[-2].best for row in table.rows] == [False, False, False]
    assert table.footnotes[-2:] == (
        "fusion on web was not evaluated.",
        "– (1/2): values on 1 of 2 datasets, so no mean.",
    )


def test_repetitions_give_a_deviation_and_pair_up_in_the_mean() -> None:
    # means over two queries: trec .4, .6 for the seeds, web .2, .4
    values = {
        "trec": {"dense::1": [[0.3], [0.5]], "dense::2": [[0.5], [0.7]], "bm25": [[0.5], [0.5]]},
        "web": {"dense::1": [[0.2], [0.2]], "dense::2": [[0.4], [0.4]], "bm25": [[0.1], [0.1]]},
    }
    table = build(study(values), TableSettings(spread="deviation", average=True))
    dense, bm25 = table.rows
    # the deviation of two numbers that are .2 apart is .2 / sqrt(2) = .1414; means .3 and .5
    assert [cell.text for cell in dense.cells] == [".500", ".300", ".400"]
    assert [cell.spread for cell in dense.cells] == ["± .141"] * 3
    assert dense.cells[0].ends == pytest.approx((0.2 / math.sqrt(2),))
    assert [cell.spread for cell in bm25.cells] == [""] * 3
    assert caption(table)[:2] == (
        "Means over trec and web (2 queries each) and 1 to 2 seeds per system.",
        "The number after ± is the standard deviation over seeds.",
    )


def test_further_columns() -> None:
    values = {"trec": {"bm25": [[0.5, 1.0], [math.nan, 2.0]], "dense": [[0.5, 1.0], [0.5, 1.0]]}}
    made = study(values, METRICS, missing={("trec", "bm25"): 1})
    table = build(made, TableSettings(extras=("n", "coverage")))
    assert [column.title for column in table.columns[2:]] == ["n", "Answered"]
    assert texts(table) == {
        "bm25": [".500", "1.500", "1–2", "1/2"],
        "dense": [".500", "1.000", "2", "2/2"],
    }
    assert table.footnotes[-3:] == (
        "bm25 leaves 1 of 2 queries unanswered; it counts 0, but is left out for MSE.",
        "MAP is undefined for 1 query of bm25; the mean is over the rest.",
        "(1/2): mean over 1 of 2 queries; other values use more.",
    )
    alone = build(made, TableSettings(metrics=("map",)))
    assert "bm25 leaves 1 of 2 queries unanswered; it counts 0." in alone.footnotes


def test_caption() -> None:
    outcomes = {("trec", "map", "bm25", "dense"): (0.1, 0.01)}
    # .4 -+ t(.975; 1) * sd / sqrt(2): 12.706 * .1414 / 1.4142 = 1.2706
    values = {"trec": {"bm25": [[0.3, 1], [0.5, 1]], "dense": [[0.5, 2], [0.7, 2]]}}
    made = study(values, METRICS, compared(outcomes, correction="none"))
    tied = {"counts": Counts(queries=2, tied=2)}
    entries = [replace(e, evaluation=replace(e.evaluation, **tied)) for e in made.board.entries]
    made = replace(made, board=replace(made.board, entries=tuple(entries)))
    settings = TableSettings(
        spread="interval", percent=("map",), names={"map": "MAP"}, caption="Both runs",
        digits={"*": 1},
    )  # fmt: skip
    table = build(made, settings)
    assert [row.cells[0].spread for row in table.rows] == ["[-87.1, 167.1]", "[-67.1, 187.1]"]
    assert ">Both runs.</figcaption>" in render(table, "html")
    full = build(made, replace(settings, caption=Caption("Both runs", "full")))
    assert ">Both runs. Means over" in render(full, "html")
    assert (full.sentences, full.footnotes) == (table.footnotes, ())
    short = build(made, replace(settings, caption=Caption("Both runs", "short")))
    assert short.sentences == full.sentences[:-1]
    bare = build(made, TableSettings(caption=Caption("", "none")))
    assert render(bare, "text").startswith("MAP and MSE on trec.\n")
    assert (bare.sentences, bare.footnotes) == ((), ())
    assert caption(table) == (
        "Means over trec (2 queries).",
        "Values of MAP are × 100.",
        "Brackets contain unadjusted 95% t-intervals of the mean.",
        "The best value of each metric is in bold.",
        "A letter marks values significantly better than the system of that letter "
        "(paired two-sided t-test, one comparison, p ≤ .05).",
        "MSE is not tested.",
        "Equal scores (single precision) are ordered by descending document identifier, as in "
        "trec_eval.",
    )
    assert table.sentences == ()
    none = build(study(TWO, METRICS, compared({("trec", "map", "bm25", "dense"): (0.1, 0.5)})))
    assert not any(row.sign for row in none.rows)
    assert "No difference is significant" in " ".join(caption(none))


@pytest.mark.parametrize(
    ("metrics", "rule", "sentence"),
    [
        (["map", "P@5"], "zero", "2 queries have no relevant document; each counts 0."),
        (["map"], "one", "2 queries have no relevant document; each counts 1."),
        (["map"], "skip", "2 queries have no relevant document; each is left out."),
        (["map", "P@5", "tau_ap"], "zero", "2 queries have no relevant document; each counts 0, "
         "but is left out for τ-AP."),
        (["map", "map(undefined=nan)"], "skip", "2 queries have no relevant document; each is left "
         "out, but counts as undefined for MAP (nan undefined)."),
        (["map", "P(rel=2)@5"], "zero", "2 queries have no relevant document for P@5; each counts "
         "0."),
    ],
)  # fmt: skip
def test_queries_without_relevant_documents(metrics: list[str], rule: str, sentence: str) -> None:
    made = study({"trec": {"a": [[0.5] * len(metrics)] * 4}}, metrics)
    levels = {"map": 0, "P(rel=2)@5": 2} if "P(rel=2)@5" in metrics else {}
    counts = Counts(queries=4, empty=2, empty_by_metric=levels)
    policy = Policy(empty_queries=rule)  # type: ignore[arg-type]
    (entry,) = made.board.entries
    entry = replace(entry, evaluation=replace(entry.evaluation, counts=counts, policy=policy))
    table = build(replace(made, board=replace(made.board, entries=(entry,))))
    assert sentence in caption(table)


def test_a_mean_over_fewer_queries_is_seen_to_be_and_is_not_the_best() -> None:
    """The best mean may be over the queries that are easy; leaderboards call none the best too."""
    values = {"trec": {"a": [[0.9], [math.nan], [math.nan]], "b": [[0.5], [0.4], [math.nan]]}}
    table = build(study(values))
    assert [(row.cells[0].best, row.cells[0].note) for row in table.rows] == [
        (False, "1/3"), (False, ""),
    ]  # fmt: skip
    unlike = "No best value of MAP is marked on trec: runs have different queries."
    assert unlike in caption(table)
    text = render_leaderboard(study(values).board, "table")
    assert "  No best value of MAP is marked: runs have different queries.\n" in text
    assert table.footnotes[-1] == "(1/3): mean over 1 of 3 queries; other values use more."
    assert "| .900 (1/3) |" in render(table, "markdown")
    assert ".900~(1/3)" in render(table, "latex")
    assert "best" not in render(table, "csv")
    # those shown decide: without the other run's fewer queries the best is known
    rest = {"trec": {**values["trec"], "c": [[0.4], [0.4], [math.nan]]}}
    assert unlike in caption(build(study(rest)))
    some = build(study(rest), TableSettings(runs=("b", "c")))
    assert [row.cells[0].best for row in some.rows] == [True, False]


RUNS = ["lambda-a", "bm25", "random", "lambda-b"]


def test_an_unknown_name_is_an_error_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        select(["bm52", "lamda-a*", "!rnd"], RUNS, "run")
    near = ("bm25", "lambda-a", "random")
    assert [problem.fix for problem in caught.value.problems] == [f"use {name}" for name in near]


VALUES = {"bm25": [0.4, -2.0], "dense": [0.5, 1.0], "a|b_<i>": [1 / 3, 13.0]}
OUTCOMES = {
    ("trec", "map", "bm25", "dense"): (0.1, 0.01),
    ("trec", "map", "bm25", "a|b_<i>"): (-0.1, 0.01),
}
MADE = study(constant({"trec": VALUES}), ["map", "mse"], compared(OUTCOMES, ("bm25",)))
TABLE = build(MADE, TableSettings(groups={"Old": ("bm25",), "New & more": ("*",)}), "main")
BLOCKS = build(
    study(constant({"trec": VALUES, "web": {"bm25": [0.1, 1.0]}}), ["map", "mse"]),
    TableSettings(average=True),
)


def body(text: str) -> list[str]:
    lines = text.splitlines()
    return lines[lines.index("") + 1 :]


def test_markdown() -> None:
    lines = render(TABLE, "markdown").splitlines()
    assert lines[0] == f"<!-- {TABLE.source} -->"
    assert lines[2] == "MAP and MSE on trec."
    assert lines[11:13] == ["", "- Means over trec (2 queries)."]
    assert lines[4:11] == [
        "|  | MAP ↑ | MSE ↓ |",
        "| --- | ---: | ---: |",
        "| *Old* |  |  |",
        "| bm25<sup>†</sup> | <ins>.400</ins> | **-2.000** |",
        "| *New &amp; more* |  |  |",
        "| dense | **.500**<sup>†</sup> | <ins>1.000</ins> |",
        "| a\\|b\\_&lt;i&gt; | .333<sub>†</sub> | 13.000 |",
    ]
    header = render(BLOCKS, "markdown").splitlines()[4]
    assert header.count("<br>") == 6
    assert "| trec<br>MAP ↑ |" in header


def test_text() -> None:
    assert body(render(TABLE, "text"))[:7] == [
        "               MAP ↑    MSE ↓", "Old", "bm25 †      .400+     -2.000^", "New & more",
        "dense       .500^ †    1.000+", "a|b_<i>     .333  _†  13.000",
        "  ^ means bold, + means underlined and _ means a subscript.",
    ]  # fmt: skip
    assert body(render(BLOCKS, "text"))[:4] == [
        "         ---- trec ----  --- web ----  ------- Average -------",
        "         MAP ↑    MSE ↓  MAP ↑  MSE ↓       MAP ↑        MSE ↓",
        "bm25     .400+  -2.000^   .100  1.000  .250        -.500",
        "dense    .500^   1.000+      –      –     – (1/2)      – (1/2)",
    ]


def test_means_that_differ_by_rounding_alone_share_their_mark_in_every_format() -> None:
    values = {"a": [0.425], "b": [0.42500000000000004], "c": [0.3], "d": [0.2]}
    table = build(study(constant({"trec": values}), ["map"]))
    marks = [row["trec map marks"] for row in csv_rows(render(table, "csv"))]
    assert marks == ["best", "best", "second", ""]
    assert marks == [
        "best" * row.cells[0].best + "second" * row.cells[0].second for row in table.rows
    ]


def test_csv_has_every_digit_and_the_marks() -> None:
    found = csv_rows(render(TABLE, "csv"))
    assert list(found[0]) == [
        "group", "run", "name", "sign", "trec map", "trec map n", "trec map marks", "trec mse",
        "trec mse n", "trec mse marks",
    ]  # fmt: skip
    assert [(row["group"], row["run"], row["sign"]) for row in found] == [
        ("Old", "bm25", "†"), ("New & more", "dense", ""), ("New & more", "a|b_<i>", ""),
    ]  # fmt: skip
    assert float(found[2]["trec map"]) == 1 / 3
    assert [row["trec map marks"] for row in found] == ["second", "best †", "_†"]
    assert [row["trec map n"] for row in found] == ["2"] * 3
