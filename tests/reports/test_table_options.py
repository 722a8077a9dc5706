"""Options of a table: changes, stars, p-values, errors, groups, rows and columns, citations."""

import math

import pytest
from csv_rows import csv_rows
from refusals import refuses
from studies import compared, constant, study

from harness.reports.paper_table.build import build
from harness.reports.paper_table.model import PaperTable, grid_of, render
from harness.reports.paper_table.settings import Name, TableSettings

VALUES = constant(
    {
        "web": {"10": [0.4, 2.0], "2": [0.5, 1.0], "c=d": [0.3, 1.5], "1": [0.45, 0.0]},
        "news": {"10": [0.2, 4.0], "2": [0.1, 1.0], "c=d": [0.3, 4.0], "1": [0.2, 2.0]},
    }
)
METRICS = ["map", "mse"]
OUTCOMES = {
    ("web", "map", "10", "2"): (0.1, 0.0004),
    ("web", "map", "10", "c=d"): (-0.1, 0.02),
    ("web", "map", "10", "1"): (0.05, 0.2),
    ("web", "mse", "10", "2"): (-1.0, 0.009),
    ("news", "map", "10", "2"): (-0.1, math.nan),
}
MADE = study(VALUES, METRICS, compared(OUTCOMES, ("10",)))


def cells(table: PaperTable, *fields: str) -> dict[str, list[object]]:
    """Fields of each cell by the run of its row, a value if there is one field."""
    return {
        row.run: [
            getattr(cell, fields[0])
            if len(fields) == 1
            else tuple(getattr(cell, name) for name in fields)
            for cell in row.cells
        ]
        for row in table.rows
    }


def test_a_change_is_against_the_first_baseline_in_each_column() -> None:
    table = build(MADE, TableSettings(delta="percent", average=True, metrics=("map", "mse")))
    assert cells(table, "delta") == {
        "10": [""] * 6,
        # (.5 - .4) / .4, (1 - 2) / 2; news: (.1 - .2) / .2, (1 - 4) / 4; means .3 and .3, 1 and 3
        "2": ["+25.0%", "-50.0%", "-50.0%", "-75.0%", "+0.0%", "-66.7%"],
        "c=d": ["-25.0%", "-25.0%", "+50.0%", "+0.0%", "+0.0%", "-8.3%"],
        "1": ["+12.5%", "-100.0%", "+0.0%", "-50.0%", "+8.3%", "-66.7%"],
    }
    absolute = build(MADE, TableSettings(delta="absolute", metrics=("map",), digits={"map": 2}))
    assert cells(absolute, "delta")["2"] == ["+.10", "-.10"]
    assert ".500" in render(table, "text")
    assert "**.500**<sup>†</sup> (+25.0%)" in render(table, "markdown")
    assert r"\textbf{.500}$^{\dagger}$\rlap{~(+25.0\%)}" in render(table, "latex")
    rows = {row["run"]: row for row in csv_rows(render(table, "csv"))}
    assert float(rows["2"]["web map delta"]) == pytest.approx(25)
    assert rows["10"]["web map delta"] == ""
    assert "The number in parentheses is the change in per cent against 10." in table.footnotes


def test_stars_show_the_level_against_one_baseline() -> None:
    table = build(MADE, TableSettings(marks="stars", names={"10": "BM25"}))
    assert {run: marks[:2] for run, marks in cells(table, "marks", "worse").items()} == {
        "10": [((), ()), ((), ())],
        "2": [(("***",), ()), (("**",), ())],
        "c=d": [((), ("*",)), ((), ())],
        "1": [((), ()), ((), ())],
    }
    assert {row.sign for row in table.rows} == {""}
    assert r"* p~$\leq$~.05" not in (latex := render(table, "latex"))
    assert r"*~p~$\leq$~.05, **~p~$\leq$~.01, ***~p~$\leq$~.001" in latex
    (note,) = (text for text in table.footnotes if "***" in text)
    assert note.count("≤ .05") == 1
    assert note.startswith(
        "Stars mark values significantly better than BM25: * p ≤ .05, ** p ≤ .01, *** p ≤ .001; "
        "subscripts mark significantly worse ones (paired"
    )
    several = study(VALUES, METRICS, compared(OUTCOMES, ("10", "2")))
    with refuses("tables.table.marks") as refused:
        build(several, TableSettings(marks="stars"))
    assert refused.value.problems[0].fix == "mark with daggers"
    assert build(several, TableSettings(marks="daggers")).rows
    with refuses("tables.table.marks") as refused:
        build(study(VALUES, METRICS, compared(OUTCOMES)), TableSettings(marks="stars"))
    assert refused.value.problems[0].fix == "name a baseline in 'compare:'"


def test_p_values_have_a_column_for_each_baseline_and_a_note_on_the_test() -> None:
    table = build(MADE, TableSettings(extras=("p",), marks="none", datasets=("web",)))
    titles = [column.title for column in table.columns]
    assert titles == ["MAP ↑", "adjusted p", "MSE ↓", "adjusted p"]
    assert cells(table, "text") == {
        "10": [".400", "–", "2.000", "–"],
        "2": [".500", "<.001", "1.000", ".009"],
        "c=d": [".300", ".020", "1.500", "–"],
        "1": [".450", ".200", ".000", "–"],
    }
    assert any(text.startswith("P-values are adjusted (paired two") for text in table.footnotes)
    assert csv_rows(render(table, "csv"))[1]["web map p 10"] == "0.0004"
    two = study(VALUES, METRICS, compared(OUTCOMES, ("10", "2")))
    titles = [column.title for column in build(two, TableSettings(extras=("p",))).columns]
    assert titles[:3] == ["MAP ↑", "adjusted p (10)", "adjusted p (2)"]
    for settings in (TableSettings(extras=("p",)), TableSettings(delta="percent")):
        with refuses(f"tables.table.{'extras' if settings.extras else 'delta'}"):
            build(
                study(VALUES, METRICS, compared({("web", "map", "10", "2"): (0.1, 0.5)})), settings
            )


def test_a_standard_error_is_over_queries() -> None:
    values = {"web": {"a": [[0.1], [0.3], [0.8]], "b": [[0.2], [0.2], [math.nan]]}}
    table = build(study(values), TableSettings(spread="error"))
    # deviation of .1, .3, .8 is .3606, by the root of 3; b has two equal values
    assert cells(table, "spread") == {"a": ["± .208"], "b": ["± .000"]}
    assert "web map error" in csv_rows(render(table, "csv"))[0]
    assert "The number after ± is the standard error over queries." in table.footnotes


def test_the_best_of_each_group_or_none_is_marked() -> None:
    groups = {"Old": ("10", "2"), "New": ("*",)}
    by_group = build(MADE, TableSettings(groups=groups, best="group", datasets=("web",)))
    assert {run: marks[0] for run, marks in cells(by_group, "best").items()} == {
        "10": False, "2": True, "c=d": False, "1": True,
    }  # fmt: skip
    assert "The best value of each metric within each group is in bold." in by_group.footnotes
    bare = render(build(MADE, TableSettings(best="none", marks="none")), "latex")
    assert not any(sign in bare for sign in ("textbf", "underline", "bold", "dagger"))


def test_the_best_in_csv_is_that_of_the_values_it_has() -> None:
    made = study(constant({"web": {"a": [0.4231], "b": [0.4233], "c": [0.1]}}))
    table = build(made)
    assert [row.cells[0].best for row in table.rows] == [True, True, False]
    marks = [row["web map marks"] for row in csv_rows(render(table, "csv"))]
    assert marks == ["second", "best", ""]


def test_the_first_rows_are_the_best_by_the_first_metric_or_by_sort() -> None:
    table = build(MADE, TableSettings(top=2, metrics=("mse", "map"), datasets=("web",)))
    assert [row.run for row in table.rows] == ["1", "2"]
    assert "The first 2 of 4 systems, sorted by MSE." in table.footnotes
    table = build(MADE, TableSettings(top=1, sort="news: map", names={"news": "News"}))
    assert [row.run for row in table.rows] == ["c=d"]
    assert "The first 1 of 4 systems, sorted by MAP on News." in table.footnotes
    groups = {"Old": ("10", "2"), "New": ("*",)}
    assert len(build(MADE, TableSettings(top=1, groups=groups)).rows) == 2
    assert not any("first" in text for text in build(MADE, TableSettings(top=4)).footnotes)


def body(text: str) -> list[str]:
    lines = text.splitlines()
    return lines[lines.index("") + 1 :]


def test_transposed_a_system_is_a_column_in_every_format_but_csv() -> None:
    settings = TableSettings(transpose=True, metrics=("map",), groups={"Old": ("10",), "New": "*"})
    table = build(MADE, settings)
    assert body(render(table, "text"))[:6] == [
        "        Old   --------- New ----------",
        "        10 †        2       c=d      1",
        "web",
        "MAP ↑  .400   .500^ †  .300  _†  .450+",
        "news",
        "MAP ↑  .200+  .100     .300^     .200+",
    ]
    lines = render(table, "markdown").splitlines()
    assert "|  | Old<br>10<sup>†</sup> | New<br>2 | New<br>c=d | New<br>1 |" in lines
    assert r"MAP $\uparrow$ & .400 & \textbf{.500}$^{\dagger}$ & .300$_{\dagger}$" in (
        render(table, "latex")
    )
    assert '<th scope="col" style="white-space: nowrap">10<sup>†</sup></th>' in render(
        table, "html"
    )
    plain = build(MADE, TableSettings(metrics=("map",), groups={"Old": ("10",), "New": "*"}))
    assert render(table, "csv") == render(plain, "csv")
    assert not any("column" in text for text in table.footnotes)


def test_parts_are_side_by_side_in_every_format_but_csv() -> None:
    settings = TableSettings(
        columns=2, metrics=("map",), datasets=("web",), groups={"Old": ("10",), "New": "*"},
        arrows=False, marks="none",
    )  # fmt: skip
    table = build(MADE, settings)
    assert body(render(table, "text"))[:4] == [
        "      MAP         MAP",
        "Old        2    .500^",
        "10   .400  c=d  .300",
        "New        1    .450+",
    ]
    assert "| *New* |  | 1 | <ins>.450</ins> |" in render(table, "markdown")
    latex = render(table, "latex")
    assert r"lc@{\qquad}lc@{}" in latex
    assert r"\emph{New} &  & 1 & \underline{.450} \\" in latex
    assert "<em>New</em>" in render(table, "html")
    assert len(csv_rows(render(table, "csv"))) == 4


def test_a_name_may_cite_and_keeps_its_text() -> None:
    names = {"10": Name("BM25", "robertson1994"), "2": Name(cite="a2020,b2021")}
    table = build(MADE, TableSettings(names=names | {"map": Name(cite="buckley2005")}))
    latex = render(table, "latex")
    assert r"BM25~\cite{robertson1994}" in latex.replace(r"$^{\dagger}$", "")
    assert r"2~\cite{a2020,b2021}" in latex
    assert r"MAP $\uparrow$~\cite{buckley2005}" in latex
    autocite = build(MADE, TableSettings(names=names, cite="autocite"))
    assert r"BM25~\autocite{robertson1994}" in render(autocite, "latex").replace(
        r"$^{\dagger}$", ""
    )
    assert "BM25 [robertson1994]" in render(table, "text")
    assert csv_rows(render(table, "csv"))[0]["name"] == "BM25"
    with refuses("tables.table.names"):
        build(MADE, TableSettings(names={"web": Name("Web", "web2020")}))


def test_metrics_have_the_names_that_readers_know() -> None:
    metrics = ["recall@1000", "ndcg@10", "ndcg(gain=exp)@10", "recip_rank", "swaps(normalize=true)"]
    made = study({"web": {"a": [[0.1] * 5], "b": [[0.2] * 5]}}, metrics)
    table = build(made, TableSettings(average=False, arrows=False))
    assert [column.title for column in table.columns] == [
        "R@1000", "nDCG@10", "nDCG@10 (exp)", "MRR", "Swaps",
    ]  # fmt: skip
    assert table.title == "R@1000, nDCG@10, nDCG@10 (exp), MRR and swaps on web."
    alone = build(made, TableSettings(metrics=("ndcg(gain=exp)@10",)))
    assert alone.columns[0].title == "nDCG@10 ↑"
    assert "nDCG@10 is computed with exponential gain." in alone.footnotes


def test_three_cutoffs_with_the_same_gain_are_called_by_the_metric_in_notes() -> None:
    def note(*metrics: str) -> str:
        made = study(constant({"web": {"1": [0.5] * len(metrics)}}), list(metrics))
        return build(made).footnotes[-1]

    assert note("ndcg@1", "map", "ndcg@5", "ndcg@10") == "nDCG is computed with linear gain."
    assert note("ndcg@5", "ndcg@10") == "nDCG at 5 and 10 are computed with linear gain."
    assert note("ndcg@1", "ndcg@5", "ndcg@10", "ndcg(gain=exp)@20") == (
        "nDCG at 1, 5 and 10 are computed with linear gain, and nDCG@20 with exponential gain."
    )


def test_datasets_of_different_systems_are_below_each_other_each_sorted() -> None:
    runs = {
        "web=1": {"10": [0.5], "2": [0.7], "1": [0.9], "new": [0.1]},
        "news": {"10": [0.8], "c": [0.9]},
    }
    made = study(constant(runs), ["map"])
    table = grid_of(build(made, TableSettings(sort="map")), "text")
    rows = {group.title: [row[0].text for row in group.rows] for group in table.groups}
    assert rows == {"web=1": ["1", "2", "10", "new"], "news": ["c", "10"]}
    assert not [note for note in table.notes if "not evaluated" in note.lower()]
    whole = grid_of(build(made, TableSettings(average=True)), "text")
    assert [group.title for group in whole.groups] == [""]
    assert [note for note in whole.notes if "not evaluated" in note.lower()]


@pytest.mark.parametrize("width", [30, 45])
def test_a_narrow_table_in_two_parts_has_each_value_next_to_its_run(width: int) -> None:
    table = render(build(MADE, TableSettings(columns=2)), "text", width=width)
    lines = [line.split() for line in table.splitlines() if not line.startswith("  ")]
    values = {"10": ".400", "2": ".500", "c=d": ".300", "1": ".450"}
    for run, value in values.items():
        assert value in " ".join(next(line for line in lines if line[:1] == [run])), table
