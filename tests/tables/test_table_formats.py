"""Markdown, HTML, CSV and text: what is written, and that names stay names."""

from __future__ import annotations

import csv
import io
import math
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import compared, constant, study

from harness.core.comparison import Comparisons, Plan, Standing
from harness.errors import legible
from harness.reports.markdown import in_markdown
from harness.reports.paper_table.build import build
from harness.reports.paper_table.model import PaperTable
from harness.reports.paper_table.rendering import render, render_all
from harness.reports.paper_table.settings import Settings

VALUES = {"bm25": [0.4, -2.0], "dense": [0.5, 1.0], "a|b_<i>": [1 / 3, 13.0]}
OUTCOMES = {
    ("trec", "map", "bm25", "dense"): (0.1, 0.01),
    ("trec", "map", "bm25", "a|b_<i>"): (-0.1, 0.01),
}
MADE = study(constant({"trec": VALUES}), ["map", "mse"], compared(OUTCOMES, ("bm25",)))
TABLE = build(MADE, Settings(groups={"Old": ("bm25",), "New & more": ("*",)}), "main")
BLOCKS = build(
    study(constant({"trec": VALUES, "web": {"bm25": [0.1, 1.0]}}), ["map", "mse"]),
    Settings(average=True),
)


def body(text: str) -> list[str]:
    """Return the lines behind the caption."""
    lines = text.splitlines()
    return lines[lines.index("") + 1 :]


def test_markdown() -> None:
    lines = render(TABLE, "markdown").splitlines()
    assert lines[0] == f"<!-- {TABLE.source} -->"
    assert lines[2].startswith("Means over the 2 queries of trec. The best value of a column")
    assert lines[4:] == [
        "|                  |                map ↑ |            mse ↓ |",
        "| ---------------- | -------------------: | ---------------: |",
        "| *Old*            |                      |                  |",
        "| bm25<sup>†</sup> |      <ins>.400</ins> |       **-2.000** |",
        "| *New &amp; more* |                      |                  |",
        "| dense            | **.500**<sup>†</sup> | <ins>1.000</ins> |",
        "| a\\|b\\_&lt;i&gt;  |     .333<sub>†</sub> |           13.000 |",
    ]
    header = render(BLOCKS, "markdown").splitlines()[4]
    assert header.count("<br>") == 6
    assert "| trec<br>map ↑ |" in header.replace("  ", "")


def test_html() -> None:
    lines = render(TABLE, "html").splitlines()
    assert lines[0] == f"<!-- {TABLE.source} -->"
    assert lines[1] == "<table>"
    assert lines[2].startswith(
        '<caption style="text-align: left">Means over the 2 queries of trec.'
    )
    right = '<td style="text-align: right; white-space: nowrap">'
    name = 'scope="row" style="text-align: left; font-weight: normal; white-space: nowrap"'
    column = 'scope="col" style="white-space: nowrap"'
    assert lines[3:] == [
        "<thead>",
        f"<tr><td></td><th {column}>map ↑</th><th {column}>mse ↓</th></tr>",
        "</thead>",
        "<tbody>",
        '<tr><th scope="rowgroup" colspan="3" style="text-align: left">Old</th></tr>',
        f"<tr><th {name}>bm25<sup>†</sup></th>{right}<u>.400</u></td>"
        f"{right}<strong>−2.000</strong></td></tr>",
        "</tbody>",
        "<tbody>",
        '<tr><th scope="rowgroup" colspan="3" style="text-align: left">New &amp; more</th></tr>',
        f"<tr><th {name}>dense</th>{right}<strong>.500</strong><sup>†</sup></td>"
        f"{right}<u>1.000</u></td></tr>",
        f"<tr><th {name}>a|b_&lt;i&gt;</th>{right}.333<sub>†</sub></td>{right}13.000</td></tr>",
        "</tbody>",
        "</table>",
    ]


def test_html_of_several_datasets_says_which_heading_is_for_what() -> None:
    text = render(BLOCKS, "html")
    assert '<tr><td rowspan="2"></td><th scope="colgroup" colspan="2">trec</th>' in text
    assert '<tfoot><tr><td colspan="7">Not evaluated: dense on web and ' in text


def test_text() -> None:
    assert body(render(TABLE, "text")) == [
        "               map ↑    mse ↓",
        "Old",
        "bm25 †      .400+     -2.000*",
        "New & more",
        "dense       .500* †    1.000+",
        "a|b_<i>     .333  _†  13.000",
    ]
    assert "* the best value of a column, + the second best." in render(TABLE, "text")
    assert "after _: significantly worse" in " ".join(render(TABLE, "text").split())
    assert body(render(BLOCKS, "text"))[:4] == [
        "         ---- trec ----  --- web ----  - mean over datasets --",
        "         map ↑    mse ↓  map ↑  mse ↓       map ↑        mse ↓",
        "bm25     .400+  -2.000*   .100  1.000  .250        -.500",
        "dense    .500*   1.000+      –      –     – (1/2)      – (1/2)",
    ]


def test_signs_of_several_letters_stand_between_commas() -> None:
    """``aab`` could be a and ab, or aa and b: runs 0 to 27 are a to z, aa and ab."""
    runs = {f"run{place}": [place / 100] for place in range(29)}
    beaten = {("trec", "map", f"run{place}", "run28"): (0.1, 0.01) for place in (0, 1, 26, 27)}
    others = {("trec", "map", f"run{place}", "run27"): (0.1, 0.9) for place in range(27)}
    made = study(constant({"trec": runs}), ["map"], compared({**beaten, **others}))
    table = build(made)
    assert "<sup>a,b,aa,ab</sup>" in render(table, "markdown")
    assert "<sup>a,b,aa,ab</sup>" in render(table, "html")
    assert "a,b,aa,ab" in body(render(table, "text"))[-1]
    assert "$^{a,b,aa,ab}$" in render(table, "latex")
    assert rows(table)[-1]["trec map marks"] == "best a b aa ab"


def test_three_letters_and_more_that_follow_each_other_are_a_range() -> None:
    # the last run's signs are those of runs 1 to 3, 5, 6 and 25 to 27: b-d, f, g, z-ab
    runs = {f"run{place}": [place / 100] for place in range(29)}
    places = (1, 2, 3, 5, 6, 25, 26, 27)
    beaten = {("trec", "map", f"run{place}", "run28"): (0.1, 0.01) for place in places}
    others = {("trec", "map", f"run{place}", "run27"): (0.1, 0.9) for place in range(27)}
    table = build(study(constant({"trec": runs}), ["map"], compared({**beaten, **others})))
    assert "<sup>b–d,f,g,z–ab</sup>" in render(table, "markdown")
    assert "$^{b{-}d,f,g,z{-}ab}$" in render(table, "latex")
    assert rows(table)[-1]["trec map marks"] == "best b c d f g z aa ab"


def test_doubled_daggers_stand_between_commas() -> None:
    """Six baselines: the sixth has two daggers, and ``††`` alone would be the first one twice."""
    runs = {f"run{place}": [place / 100] for place in range(7)}
    outcomes = {("trec", "map", f"run{at}", "run6"): (0.1, 0.01) for at in (0, 1, 5)}
    outcomes |= {("trec", "map", f"run{at}", "run6"): (0.1, 0.9) for at in (2, 3, 4)}
    made = study(
        constant({"trec": runs}),
        ["map"],
        compared(outcomes, tuple(f"run{place}" for place in range(6))),
    )
    assert "<sup>†,‡,††</sup>" in render(build(made), "markdown")
    assert r"$^{\dagger,\ddagger,\dagger\dagger}$" in render(build(made), "latex")


def rows(table: PaperTable) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(table, "csv"))))


def test_csv_has_every_digit_and_the_marks() -> None:
    found = rows(TABLE)
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


def test_csv_marks_the_best_of_all_digits() -> None:
    values = {"a": [0.5001], "b": [0.4999], "c": [0.5002]}
    table = build(study(constant({"trec": values})), Settings(digits={"*": 1}))
    assert not any(row.cells[0].best for row in table.rows)  # all are .5
    assert [row["trec map marks"] for row in rows(table)] == ["second", "", "best"]


def test_csv_of_spreads_and_of_what_is_not_there() -> None:
    values = {"trec": {"a::1": [[0.1], [0.3]], "a::2": [[0.3], [0.5]], "b": [[math.nan]] * 2}}
    (first, second) = rows(build(study(values), Settings(spread="deviation", extras=("coverage",))))
    assert float(first["trec map deviation"]) == pytest.approx(0.2 / math.sqrt(2))
    assert first["trec coverage"] == "2/2"
    assert (second["trec map"], second["trec map deviation"], second["trec map n"]) == ("",) * 3
    (first, _) = rows(build(study(values), Settings(spread="interval")))
    assert float(first["trec map low"]) < 0.3 < float(first["trec map high"])


@pytest.mark.parametrize("name", ["=1+1", "+a", "-x", "@SUM(A1)", "\tx"])
def test_no_name_is_a_formula(name: str) -> None:
    table = build(study(constant({"trec": {name: [0.5], "x": [0.4]}})))
    assert rows(table)[0]["run"] == f"'{name}"


def test_extras_of_comparisons() -> None:
    (metric,) = MADE.board.metrics[:1]
    standings = (
        Standing("trec", "bm25", metric, 2, 0.4, 0.3, 0.5, 2, 1, 2, "1-2"),
        Standing("trec", "dense", metric, 2, 0.5, 0.45, 0.55, 1, 1, 1, "1"),
    )
    made = study(
        constant({"trec": VALUES}), ["map"] * 0 + ["map", "mse"], Comparisons(Plan(), (), standings)
    )
    table = build(made, Settings(extras=("tier", "rank"), spread="interval"))
    assert [column.key for column in table.columns] == ["map", "map tier", "map rank", "mse"]
    assert body(render(table, "text"))[:4] == [
        "                      map ↑  tier      rank    mse ↓",
        "bm25     .400+ [.300, .500]   1–2  2 [1, 2]  -2.000*",
        "dense    .500* [.450, .550]     1  1 [1, 1]   1.000+",
        "a|b_<i>  .333                   –  –         13.000",
    ]
    assert " 1--2 & " in render(table, "latex")
    assert ">1–2</td>" in render(table, "html")
    assert " 1–2 |" in render(table, "markdown")
    found = rows(table)
    assert (found[0]["trec map rank"], found[0]["trec map rank high"]) == ("2", "2")
    assert found[0]["trec map tier"] == "1-2"


def test_the_same_table_in_every_format() -> None:
    wanted = {"main": (Settings(), ("latex", "markdown", "html", "csv", "text", "csv"))}
    files = render_all(MADE, wanted)  # type: ignore[arg-type]
    assert list(files) == [f"tables/main.{end}" for end in ("tex", "md", "html", "csv", "txt")]
    for name in ("tex", "md", "html"):
        assert b"manifest sha256:" + b"ab12" * 16 in files[f"tables/main.{name}"].splitlines()[0]


class Reader(HTMLParser):
    """Collects text, and checks that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=8
).filter(lambda text: text == " ".join(text.split()) == legible(text))


@given(NAMES)
def test_html_shows_a_name_as_it_stands(name: str) -> None:
    made = study(constant({"trec": {name: [0.5], "other run": [0.25]}}))
    reader = Reader()
    reader.feed(render(build(made), "html"))
    assert reader.open == []
    assert "".join(reader.text).count(name) >= 1


@given(st.text("ab\\`*_[]|$~#<>&", max_size=10))
def test_markdown_breaks_no_cell_and_opens_no_tag(text: str) -> None:
    found = in_markdown(text)
    assert "<" not in found
    left = found.replace("\\\\", "")
    assert left.count("|") == left.count("\\|") == text.count("|")
    for sign in "`*[]$~#":
        assert left.count(sign) == left.count("\\" + sign)
