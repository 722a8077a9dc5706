"""From a study to a table: values, marks, means, captions, notes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from studies import compared, constant, study

import harness
from harness.errors import UnknownNameError
from harness.reports.paper_table.build import build
from harness.reports.paper_table.model import PaperTable
from harness.reports.paper_table.rendering import render
from harness.reports.paper_table.settings import Settings

TWO = constant(
    {
        "trec": {"bm25": [0.4, 2.0], "dense": [0.5, 1.0], "fusion": [0.5001, 3.0]},
        "web": {"bm25": [0.3, 2.0], "dense": [0.2, 1.0]},
    }
)
METRICS = ["map", "mse"]


def texts(table: PaperTable) -> dict[str, list[str]]:
    return {row.run: [cell.text for cell in row.cells] for row in table.rows}


def marked(table: PaperTable, what: str) -> dict[str, list[bool]]:
    return {row.run: [getattr(cell, what) for cell in row.cells] for row in table.rows}


def test_blocks_rows_and_values() -> None:
    table = build(study(TWO, METRICS))
    assert table.blocks == [("trec", 2), ("web", 2)]
    assert [column.title for column in table.columns] == ["map ↑", "mse ↓"] * 2
    assert [column.key for column in table.columns] == METRICS * 2
    assert texts(table) == {
        "bm25": [".400", "2.000", ".300", "2.000"],
        "dense": [".500", "1.000", ".200", "1.000"],
        "fusion": [".500", "3.000", "–", "–"],
    }
    cell = table.cell("fusion", "trec", "map")
    assert cell is not None
    assert cell.value == 0.5001
    assert cell.n == 2
    assert table.cell("fusion", "trec", "ndcg") is None


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
    precise = build(study(TWO, METRICS), Settings(digits={"map": 4}))
    assert [row.cells[0].best for row in precise.rows] == [False, False, True]


def test_letters_stand_for_the_systems_that_are_beaten() -> None:
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


def test_letters_follow_the_order_of_the_rows() -> None:
    outcomes = {("trec", "map", "bm25", "dense"): (0.1, 0.01)}
    table = build(study(TWO, METRICS, compared(outcomes)), Settings(runs=("dense", "bm25")))
    assert [(row.run, row.sign) for row in table.rows] == [("dense", "a"), ("bm25", "b")]
    assert table.cell("dense", "trec", "map").marks == ("b",)  # type: ignore[union-attr]


def test_daggers_stand_for_baselines_above_and_below() -> None:
    outcomes = {
        ("trec", "map", "bm25", "dense"): (0.1, 0.01),
        ("trec", "map", "fusion", "dense"): (-0.1, 0.01),
        ("trec", "map", "bm25", "fusion"): (0.1, 0.2),
    }
    table = build(study(TWO, METRICS, compared(outcomes, ("bm25", "fusion"))))
    assert {row.run: row.sign for row in table.rows} == {"bm25": "†", "dense": "", "fusion": "‡"}
    cell = table.cell("dense", "trec", "map")
    assert cell is not None
    assert (cell.marks, cell.worse) == (("†",), ("‡",))
    assert (
        "† significantly better than bm25, ‡ than fusion; below the line: significantly worse "
        "(paired two-sided t-test, Holm's correction over 3 comparisons, p ≤ 0.05)."
    ) in table.caption


def test_the_two_kinds_of_signs_can_be_asked_for() -> None:
    outcomes = {("trec", "map", "bm25", "dense"): (-0.1, 0.01)}
    made = study(TWO, METRICS, compared(outcomes, ("bm25",)))
    table = build(made, Settings(marks="letters"))
    assert [row.sign for row in table.rows] == ["a", "", ""]
    none = build(made, Settings(marks="none"))
    assert not any(row.sign for row in none.rows)
    assert not any("significantly" in sentence for sentence in none.caption)


def test_more_systems_than_letters() -> None:
    runs = {f"run{place}": [place / 100] for place in range(30)}
    outcomes = {("trec", "map", f"run{place}", "run29"): (0.1, 0.001) for place in range(29)}
    table = build(study(constant({"trec": runs}), ["map"], compared(outcomes)))
    *_, last = table.rows
    assert last.sign == "ad"
    assert last.cells[0].marks[-3:] == ("aa", "ab", "ac")


def test_a_mean_over_datasets_is_for_runs_that_have_them_all() -> None:
    table = build(study(TWO, METRICS), Settings(average=True))
    assert table.blocks[-1] == ("mean over datasets", 2)
    # bm25: (.4 + .3) / 2, (2 + 2) / 2; dense: (.5 + .2) / 2, (1 + 1) / 2
    assert {run: cells[-2:] for run, cells in texts(table).items()} == {
        "bm25": [".350", "2.000"],
        "dense": [".350", "1.000"],
        "fusion": ["–", "–"],
    }
    assert [row.cells[-1].note for row in table.rows] == ["", "", "1/2"]
    # two equal values, and none that they are better than
    assert [row.cells[-2].best for row in table.rows] == [False, False, False]
    assert table.footnotes == (
        "Not evaluated: fusion on web.",
        "n/N after –: the run has n of the N datasets, so no mean over them.",
    )


def test_counts_are_whole_and_have_no_mean_over_datasets() -> None:
    values = {one: {"bm25": [[3, 0.5], [4, 0.5]]} for one in ("trec", "web")}
    table = build(study(values, ["num_rel", "map"]), Settings(average=True, digits={"*": 2}))
    assert texts(table)["bm25"] == ["7", ".50", "7", ".50", ".50"]
    assert table.footnotes == ("Not averaged over datasets: num_rel.",)
    assert table.caption[0] == "Summaries over the queries of trec (2) and web (2)."


def test_repetitions_give_a_deviation_and_pair_up_in_the_mean() -> None:
    # means over two queries: trec .4, .6 for the seeds, web .2, .4
    values = {
        "trec": {"dense::1": [[0.3], [0.5]], "dense::2": [[0.5], [0.7]], "bm25": [[0.5], [0.5]]},
        "web": {"dense::1": [[0.2], [0.2]], "dense::2": [[0.4], [0.4]], "bm25": [[0.1], [0.1]]},
    }
    table = build(study(values), Settings(spread="deviation", average=True))
    dense, bm25 = table.rows
    # the deviation of two numbers that are .2 apart is .2 / sqrt(2) = .1414; means .3 and .5
    assert [cell.text for cell in dense.cells] == [".500", ".300", ".400"]
    assert [cell.spread for cell in dense.cells] == ["± .141"] * 3
    assert dense.cells[0].ends == pytest.approx((0.2 / math.sqrt(2),))
    assert [cell.spread for cell in bm25.cells] == [""] * 3
    assert table.caption[:2] == (
        "Means over the queries of trec (2) and web (2) and over 1 to 2 repetitions (seed).",
        "After ±: standard deviation over the repetitions.",
    )


def test_an_interval_is_over_queries() -> None:
    # .4 -+ t(.975; 1) * sd / sqrt(2): 12.706 * .1414 / 1.4142 = 1.2706
    table = build(
        study({"trec": {"bm25": [[0.3], [0.5]]}}), Settings(spread="interval", digits={"*": 2})
    )
    (row,) = table.rows
    assert row.cells[0].spread == "[-.87, 1.67]"
    assert "In brackets: 95 % interval of the mean over queries (t)." in table.caption


def test_what_has_no_interval_is_said() -> None:
    # a count is no mean, and the queries of mse weigh by their documents
    made = study({"trec": {"bm25": [[0.3, 2, 0.1], [0.5, 3, 0.2]]}}, ["map", "num_rel", "mse"])
    table = build(made, Settings(spread="interval"))
    (row,) = table.rows
    assert [bool(cell.spread) for cell in row.cells] == [True, False, False]
    assert table.footnotes == ("No interval over queries: num_rel and mse.",)


def test_percent_and_digits_by_metric() -> None:
    settings = Settings(percent=("map",), digits={"mse": 1}, leading_zero=True)
    assert texts(build(study(TWO, METRICS), settings))["bm25"] == ["40.0", "2.0", "30.0", "2.0"]
    settings = Settings(percent=("*", "!mse"), digits={"*": 2})
    table = build(study(TWO, METRICS), settings)
    assert texts(table)["bm25"] == ["40.00", "2.00", "30.00", "2.00"]
    assert "map is × 100." in table.caption
    both = build(study(TWO, ["map", "kendall"]), Settings(percent=("*",)))
    assert "Values are × 100." in both.caption


def test_percent_of_all_leaves_out_what_is_no_share() -> None:
    """mse is squared grades and dcg gains: x 100 they mean nothing, unless their name is given."""
    made = study(TWO, ["map", "dcg"])
    table = build(made, Settings(percent=("*",)))
    assert texts(table)["bm25"] == ["40.0", "2.000", "30.0", "2.000"]
    assert "map is × 100." in table.caption
    named = build(made, Settings(percent=("*", "dcg")))
    assert texts(named)["bm25"] == ["40.0", "200.0", "30.0", "200.0"]
    rest = build(made, Settings(percent=("!map",)))
    assert texts(rest)["bm25"] == [".400", "2.000", ".300", "2.000"]


def test_names_groups_and_order() -> None:
    settings = Settings(
        metrics=("mse", "map"),
        datasets=("web", "*"),
        groups={"Neural": ("*", "!fusion"), "Lexical": ("bm25",)},
        names={"bm25": "BM25", "map": "MAP", "web": "WEB"},
    )
    table = build(study(TWO, METRICS), settings)
    assert [(group.title, [row.title for row in group.rows]) for group in table.groups] == [
        ("Neural", ["dense"]),
        ("Lexical", ["BM25"]),
    ]
    assert [(column.block, column.title) for column in table.columns] == [
        ("WEB", "mse ↓"), ("WEB", "MAP ↑"), ("trec", "mse ↓"), ("trec", "MAP ↑"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sort", "runs"),
    [
        ("mse", ["dense", "bm25", "fusion"]),  # fusion lacks a dataset
        ("trec: map", ["fusion", "dense", "bm25"]),
        ("web: map", ["bm25", "dense", "fusion"]),
        ("trec: mse", ["dense", "bm25", "fusion"]),
    ],
)
def test_sorted_best_first(sort: str, runs: list[str]) -> None:
    table = build(study(TWO, METRICS), Settings(sort=sort))
    assert [row.run for row in table.rows] == runs


def test_further_columns() -> None:
    values = {"trec": {"bm25": [[0.5, 1.0], [math.nan, 2.0]], "dense": [[0.5, 1.0], [0.5, 1.0]]}}
    made = study(values, METRICS, missing={("trec", "bm25"): 1})
    table = build(made, Settings(extras=("n", "coverage")))
    assert [column.title for column in table.columns[2:]] == ["n", "answered"]
    assert texts(table) == {
        "bm25": [".500", "1.500", "1–2", "1/2"],
        "dense": [".500", "1.000", "2", "2/2"],
    }
    assert table.footnotes == (
        "Queries answered: bm25 1/2; the others count as 0, but are left out for mse.",
        "Queries for which map is defined: bm25 1/2.",
        "n/N after a value: it is over n of the N queries, others over more.",
    )
    alone = build(made, Settings(metrics=("map",)))
    assert alone.footnotes[0] == "Queries answered: bm25 1/2; the others count as 0."


def test_nothing_defined_anywhere() -> None:
    values = {"trec": {"a": [[math.nan], [math.nan]], "b": [[math.nan], [math.nan]]}}
    for spread in ("none", "deviation", "interval"):
        table = build(study(values), Settings(spread=spread, sort="map", average=True))  # type: ignore[arg-type]
        assert texts(table) == {"a": ["–"], "b": ["–"]}
        assert not any(cell.best or cell.spread for row in table.rows for cell in row.cells)
        assert table.footnotes == ("Queries for which map is defined: 0/2.",)


def test_one_run_has_no_best() -> None:
    table = build(study(constant({"trec": {"bm25": [0.5]}})))
    assert not any(cell.best for row in table.rows for cell in row.cells)
    assert table.caption == (
        "Means over the 2 queries of trec.",
        "Documents with equal scores in single precision were ordered by document identifier, "
        "descending.",
    )


def test_label_and_trace() -> None:
    table = build(study(TWO, METRICS), name="main")
    assert table.label == "tab:main"
    assert table.source == (
        f"table made by harness {harness.__version__}, config paper, manifest sha256:{'ab12' * 16}"
    )


def test_a_label_is_as_it_was_given() -> None:
    table = build(study(TWO, METRICS), Settings(label="tab:x_y"))
    assert table.label == "tab:x_y"
    assert r"\label{tab:x_y}" in render(table, "latex")
    assert build(study(TWO, METRICS), name="my_table 50%").label == "tab:my_table 50-"
    with pytest.raises(UnknownNameError) as caught:
        build(study(TWO, METRICS), Settings(label="tab:50% {x}"))
    assert [one.where for one in caught.value.problems] == ["tables.table.label"]


def test_a_run_that_could_not_be_evaluated_loses_no_table() -> None:
    failed = [
        {"dataset": "trec", "run": "broken", "columns": {}, "error": "line 3"},
        {"dataset": "web", "run": "fusion", "columns": {}, "error": "line 4"},
    ]
    made = study(TWO, METRICS)
    made = replace(made, manifest={**made.manifest, "failed": failed})
    settings = Settings(runs=("broken", "*"), marks="letters", extras=("tier",), sort="map")
    table = build(made, settings)
    assert texts(table) == {
        "bm25": [".400", "2.000", ".300", "2.000"],
        "dense": [".500", "1.000", ".200", "1.000"],
        "broken": ["–"] * 4,
        "fusion": [".500", "3.000", "–", "–"],
    }
    assert table.footnotes == ("Not evaluated: broken on trec, broken on web and fusion on web.",)


@pytest.mark.parametrize(
    ("names", "place"),
    [
        ({"bm25": "A", "dense": "A"}, "names.dense"),
        ({"bm25": "dense"}, "names.bm25"),
        ({"web": "trec"}, "names.web"),
        ({"map": "A", "mse": "A"}, "names.mse"),
        ({"mse": "map"}, "names.mse"),
        ({"AP": "mse"}, "names.AP"),
    ],
)
def test_two_rows_columns_or_blocks_of_one_name(names: dict[str, str], place: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        build(study(TWO, METRICS), Settings(names=names))
    assert [one.where for one in caught.value.problems] == [f"tables.table.{place}"]


def test_a_column_that_is_not_shown_may_have_the_name_of_another() -> None:
    table = build(study(TWO, METRICS), Settings(names={"mse": "map"}, metrics=("map",)))
    assert [one.title for one in table.columns] == ["map ↑"] * 2


def test_every_wrong_name_is_reported_with_its_place() -> None:
    settings = Settings(
        metrics=("map", "ndgc"), datasets=("terc",), runs=("bm52",), names={"dnse": "D"},
        sort="mapp", digits={"mp": 2}, percent=("mse2",), marks="letters", extras=("n", "tier"),
        groups={"A": ("bm25",), "B": ("bm25", "x*")},
    )  # fmt: skip
    with pytest.raises(UnknownNameError) as caught:
        build(study(TWO, METRICS), settings, "main")
    assert [one.where for one in caught.value.problems] == [
        f"tables.main.{place}"
        for place in (
            "metrics[1]", "percent[0]", "digits.mp", "datasets[0]", "runs[0]", "groups.B[1]",
            "groups.B[0]", "names.dnse", "sort", "marks", "extras[1]",
        )
    ]  # fmt: skip
