"""Tables of the harness hold up to its own check; one slip put into them is found, and no other."""

from dataclasses import replace
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_means import BASELINE, study, verdict

from harness.audit.check_table import FORMATS, TableCheck
from harness.audit.table_names import Known, match
from harness.reports.leaderboard import Study
from harness.reports.paper_table.build import build
from harness.reports.paper_table.model import PaperCell, PaperTable, render
from harness.reports.paper_table.settings import Caption, TableSettings
from harness.stats.comparison import Plan

RENDERED = {
    ".tex": partial(render, format="latex"),
    ".md": partial(render, format="markdown"),
    ".html": partial(render, format="html"),
    ".csv": partial(render, format="csv"),
}
LETTERS = Plan(correction="none")
SETTINGS = {
    "plain": TableSettings(),
    "letters and intervals": TableSettings(marks="letters", spread="interval"),
    "percent": TableSettings(spread="deviation", percent=("*",), average=True),
    "extras": TableSettings(extras=("n", "tier", "rank", "coverage"), digits={"*": 2}),
    "long": TableSettings(longtable=True, siunitx=True, caption=Caption("Both", "short")),
    "groups": TableSettings(
        groups={"Sparse & co": ("bm25", "ql"), "Dense": ("ours",)},
        names={"bm25": "BM25 (k_1 = 1.2)", "ours": "Ours_{x}", "web": "Web 10%", "map": "MAP"},
        leading_zero=True, sort="map",
    ),
}  # fmt: skip


@cache
def of(seeds: int, letters: bool) -> Study:
    return study(LETTERS if letters else BASELINE, seeds=seeds)


@pytest.mark.parametrize("suffix", RENDERED)
@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("seeds", [1, 2])
def test_a_table_of_the_harness_is_right(suffix: str, kind: str, seeds: int) -> None:
    found = of(seeds, "letters" in kind)
    chosen = SETTINGS[kind]
    checked = verdict_of(build(found, chosen), found, suffix, chosen)
    assert checked.findings == []
    assert checked.unknown == []
    assert checked.notes == []
    # 3 runs x 2 datasets x 2 metrics, and their means over datasets
    assert checked.verified["numbers"] == (18 if chosen.average else 12)
    assert checked.verified["marks"] > 0


def verdict_of(table: PaperTable, found: Study, suffix: str, chosen: TableSettings) -> TableCheck:
    (grid,) = FORMATS[suffix](RENDERED[suffix](table))
    matched = match(grid, Known.of(found, chosen.names.items()))
    return TableCheck(matched, found, "1").run()


def changed(table: PaperTable, row: int, column: int, cell: PaperCell) -> PaperTable:
    rows = list(table.rows)
    cells = list(rows[row].cells)
    cells[column] = cell
    rows[row] = replace(rows[row], cells=tuple(cells))
    return replace(table, rows=tuple(rows))


@given(
    suffix=st.sampled_from([".tex", ".md", ".html"]),
    row=st.integers(0, 2),
    column=st.integers(0, 3),
    digit=st.integers(0, 2),
    by=st.integers(1, 9),
)
@settings(max_examples=60, deadline=None)
def test_one_digit(suffix: str, row: int, column: int, digit: int, by: int) -> None:
    found = of(1, False)
    table = build(found)
    cell = table.rows[row].cells[column]
    text = list(cell.text)  # .424
    text[digit + 1] = str((int(text[digit + 1]) + by) % 10)
    slipped = changed(table, row, column, replace(cell, text="".join(text)))
    (one,) = verdict_of(slipped, found, suffix, TableSettings()).findings
    assert one.kind in ("digits", "rounding")
    run, heading = table.rows[row].title, table.columns[column]
    assert (one.row, one.column) == (run, f"{heading.block} {heading.title}")
    assert (one.found, one.right) == ("".join(text), cell.text)


@given(
    suffix=st.sampled_from([".tex", ".md", ".html"]),
    row=st.integers(0, 2),
    column=st.integers(0, 3),
    what=st.sampled_from(["best", "second", "mark"]),
)
@settings(max_examples=60, deadline=None)
def test_one_mark(suffix: str, row: int, column: int, what: str) -> None:
    found = of(1, False)
    table = build(found)
    cell = table.rows[row].cells[column]
    if what == "mark":
        other = replace(cell, marks=() if cell.marks else ("†",))
    elif what == "best":
        other = replace(cell, best=not cell.best, second=False)
    else:
        other = replace(cell, second=not cell.second, best=False)
    slipped = changed(table, row, column, other)
    kinds = {one.kind for one in verdict_of(slipped, found, suffix, TableSettings()).findings}
    expected = {
        kind
        for kind, is_other in (
            ("bold", cell.best != other.best),
            # where two share the best value (MAP on news), no second best needs a mark
            ("underline", cell.second != other.second and not (cell.second and column == 2)),
            ("marker", cell.marks != other.marks),
        )
        if is_other
    }
    rows = {one.row for one in verdict_of(slipped, found, suffix, TableSettings()).findings}
    assert kinds == expected
    assert rows == ({table.rows[row].title} if expected else set())


def test_names_of_any_signs() -> None:
    runs = ("α-BM25 ≥ ½", "中文", "k²", "a|b*c`d", "my_run & 50%", '"dq" <b> ~', "[link](x)",
            "@u :v:", "<x>")  # fmt: skip
    odd = {run: (0.1 + place / 10, 0.95 - place / 10) for place, run in enumerate(runs)}
    found = study(Plan(baselines=runs[:2], correction="none"), means={"web": odd})
    for suffix in RENDERED:
        checked = verdict_of(build(found), found, suffix, TableSettings())
        assert (checked.findings, checked.unknown, checked.notes) == ([], [], []), suffix
        assert checked.verified["numbers"] == 18
    assert "\\geq" in render(build(found), "latex")
    text = r"\begin{tabular}{lc} & MAP \\ $\alpha$-BM25 $\ge$ \textonehalf{} & .100 \end{tabular}"
    assert verdict(text, study(means={"web": {"α-BM25": (0.1, 0.2)}})).verified["numbers"] == 1
