"""A paper table in each of its formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from ...core.systems import Study
from .. import csv, grid, html, latex, markdown, text
from ..phrases import WARNED
from .build import build
from .model import Cell, Column, PaperTable, best_and_second
from .settings import DEFAULT, Format, Settings

MOST_ROWS = 40
"""Rows of a float in LaTeX by default; a page has room for about 50."""
_SUFFIXES = {"latex": ".tex", "markdown": ".md", "html": ".html", "csv": ".csv", "text": ".txt"}
Record = dict[str, csv.Value]


def render(
    table: PaperTable, format: Format, settings: Settings = DEFAULT, *, standalone: bool = False
) -> str:
    """Return a table in one of the formats; `standalone` makes LaTeX a whole document.

    `settings` are those that `table` was built with: LaTeX needs `siunitx`, `width`, `longtable`.
    """
    if format == "csv":
        return csv.render(records(table))
    shown = grid_of(table, format)
    if format == "text":
        return text.render([shown], paper=True)
    if format == "markdown":
        return markdown.render([shown], aligned=True)
    if format == "html":
        return html.render([shown])
    long, siunitx = is_long(table, settings), settings.siunitx
    if standalone:
        return latex.document(shown, siunitx=siunitx, long=long)
    return latex.render(shown, siunitx=siunitx, wide=settings.width == "page", long=long)


def is_long(table: PaperTable, settings: Settings) -> bool:
    """Return whether a table is LaTeX's longtable: by the settings, or by its rows."""
    return len(list(table.rows)) > MOST_ROWS if settings.longtable is None else settings.longtable


def names(tables: Mapping[str, Iterable[Format]]) -> list[str]:
    """Return the paths of all tables in their formats: ``tables/main.tex``."""
    return [
        f"tables/{name}{_SUFFIXES[format]}"
        for name, formats in tables.items()
        for format in dict.fromkeys(formats)
    ]


def render_all(
    study: Study, tables: Mapping[str, Settings], warn: Callable[[str], None]
) -> dict[str, bytes]:
    """Return every table in its formats by path, and `warn` of those too wide for LaTeX."""
    files = {}
    for name, settings in tables.items():
        table, formats = build(study, settings, name), tuple(dict.fromkeys(settings.formats))
        if "latex" in formats and (wide := too_wide(table, settings)):
            warn(wide)
        for format, path in zip(formats, names({name: formats}), strict=True):
            files[path] = render(table, format, settings).encode()
    return files


def too_wide(table: PaperTable, settings: Settings) -> str | None:
    """Return a warning if the table is wider than its column or page in LaTeX."""
    room = "page" if is_long(table, settings) else settings.width
    has, width = latex.ROOM[room], latex.width(grid_of(table, "latex"))
    if width <= has:
        return None
    fits_page = width <= latex.ROOM["page"] and room == "column"
    page = "'width: page', " if fits_page else ""
    return (
        f"table '{table.name}' is about {width:.0f} pt wide in LaTeX, and a {room} has "
        f"about {has:.0f} pt; give it {page}fewer metrics, datasets or extras or shorter 'names'"
    )


def grid_of(table: PaperTable, format: Format) -> grid.Grid:
    """Return a table as a grid of text for one of the formats."""
    sentences = " ".join(table.text_sentences if format == "text" else table.sentences)
    latex_caption = f"{table.own_latex} {latex.escape(sentences)}" if table.own_latex else ""

    def shown(text: str) -> str:
        """Return text with minus signs in HTML; the hyphen of a tier, 1-2, stays."""
        return re.sub(r"(?<!\w)-", "\N{MINUS SIGN}", text) if format == "html" else text

    def cell_of(cell: Cell) -> grid.Cell:
        return grid.Cell(
            shown(cell.text), bold=cell.best, underlined=cell.second,
            above=table.joined(cell.marks), below=table.joined(cell.worse),
            spread=shown(cell.spread), note=cell.note,
        )  # fmt: skip

    groups = [
        grid.Group(
            group.title,
            tuple(
                (
                    grid.Cell(row.title, WARNED if row.warned else "", above=row.sign),
                    *map(cell_of, row.cells),
                )
                for row in group.rows
            ),
        )
        for group in table.groups
    ]
    has_blocks = len(table.blocks) > 1
    columns = (
        grid.Column(one.title, block=one.block if has_blocks else "") for one in table.columns
    )
    return grid.Grid(
        (grid.Column("", left=True), *columns),
        tuple(groups),
        caption=" ".join(f"{table.own_caption} {sentences}".split()),
        caption_latex=latex_caption.strip(),
        notes=table.footnotes,
        source=table.source,
        label=table.label,
    )


def records(table: PaperTable) -> list[Record]:
    """Return a record for each system, as CSV has them.

    Keys: ``group``, ``run`` (its own name), ``name`` (in the table), ``sign``; then for each
    column of the table its value, named by dataset and metric (``trec map``), with ``deviation``
    or ``low`` and ``high``, ``n``, ``repetitions`` if a system has fewer than others (``1 of
    3``), and ``marks``: ``best``, ``second``, the signs of the systems that it is significantly
    better than, and with ``_`` before them of those that it is worse than. The best is that of
    all digits.
    """
    found: list[Record] = [
        {"group": group.title, "run": row.run, "name": row.title, "sign": row.sign}
        for group in table.groups
        for row in group.rows
    ]
    rows = list(table.rows)
    for place, column in enumerate(table.columns):
        fields = _fields(column, [row.cells[place] for row in rows])
        for record, own in zip(found, fields, strict=True):
            record |= own
    return found


def _fields(column: Column, cells: list[Cell]) -> Iterator[Record]:
    """Yield for each cell of a column its value and what belongs to it, by its key."""
    dataset = column.block if column.dataset is None else column.dataset
    own = " ".join(filter(None, (dataset, column.key)))
    best, second = best_and_second([csv.field(one.value) for one in cells], column.direction)
    ends = ([], ["deviation"], ["low", "high"])[max((len(cell.ends) for cell in cells), default=0)]
    for place, cell in enumerate(cells):
        value: csv.Value = cell.value
        if column.kind not in ("metric", "rank"):
            value = cell.text.replace("–", "-") if column.kind == "tier" else cell.text
        fields: Record = {own: value}
        known = cell.ends or (None,) * len(ends)
        fields |= {f"{own} {name}": end for name, end in zip(ends, known, strict=True)}
        if column.kind == "metric":
            if any(one.n for one in cells):
                fields[f"{own} n"] = cell.n or None
            if any(one.repetitions for one in cells):
                fields[f"{own} repetitions"] = cell.repetitions
            marks = [name for name, at in (("best", best), ("second", second)) if place in at]
            marks += [*cell.marks, *(f"_{sign}" for sign in cell.worse)]
            fields[f"{own} marks"] = " ".join(marks)
        yield fields
