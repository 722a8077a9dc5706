"""A table of a paper: columns, rows, cells, the marks in them, and the table in each format."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from ...core.entries import grouped_by
from ...core.metric import Direction, Metric
from ...stats.comparison import UNCOMPARED, Comparisons, between
from .. import formats, grid, latex
from ..phrases import listed
from .settings import Format, Marks, Spread, TableSettings

Kind = Literal["metric", "n", "tier", "rank", "coverage", "p"]
DAGGERS, STAR = "†‡§¶‖", "*"
MOST_MARKED = 20
"""Systems of a table up to which significance is marked by default."""
FEWEST_FOR_SECOND = 3
"""With two systems the second best is the other one, which needs no mark."""


@dataclass(frozen=True)
class PaperCell:
    """One cell: the number as it is shown (with an ASCII minus, or ``–``), and what belongs to it.

    `value` and `ends` (the deviation, or low and high) have every digit; `spread` shows the ends:
    ``± .012`` or ``[.41, .44]``, `delta` the `change` against the baseline. `marks` are the signs
    of the systems that this one is significantly better than, `worse` the daggers of the baselines
    that it is worse than. `best` and `second` are at the precision shown, `mark` at that of CSV.
    `note` is ``17/20`` at a value of fewer queries than others of its column, and ``1/2`` in place
    of a mean over datasets. `n` of all `of` queries have a value; `repetitions` is ``1 of 3`` if
    some are missing.
    """

    text: str
    value: float = math.nan
    spread: str = ""
    ends: tuple[float, ...] = ()
    marks: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    best: bool = False
    second: bool = False
    mark: str = ""
    delta: str = ""
    change: float = math.nan
    note: str = ""
    n: int = 0
    of: int = 0
    repetitions: str = ""


EMPTY = PaperCell("")


@dataclass(frozen=True)
class PaperColumn:
    """One column of values: of a metric on a dataset, or of the mean over datasets (None).

    `metric` is None for a column about the dataset: n, coverage. `baseline` is that of a column of
    p-values. Columns of one dataset share the title `block`. No value is the best unless `is_fair`:
    all runs were scored on the same queries.
    """

    title: str
    kind: Kind = "metric"
    block: str = ""
    dataset: str | None = None
    metric: Metric | None = None
    digits: int = 3
    percent: bool = False
    is_fair: bool = True
    baseline: str = ""

    @property
    def direction(self) -> Direction | None:
        """The better direction; None if no value is the best."""
        if self.kind != "metric" or self.metric is None or not self.is_fair:
            return None
        return self.metric.definition.direction

    @property
    def key(self) -> str:
        """The metric's canonical name, and the kind of a further column: ``map tier``."""
        name = "" if self.metric is None else str(self.metric)
        kind = "" if self.kind == "metric" else self.kind
        return " ".join(filter(None, (name, kind, self.baseline)))


@dataclass(frozen=True)
class PaperRow:
    """One system: its own name, its title, its cells, and its sign in the cells of others.

    Rows of one `group` are under its title, which may be empty.
    """

    run: str
    title: str
    cells: tuple[PaperCell, ...]
    sign: str = ""
    group: str = ""


@dataclass(frozen=True)
class PaperTable:
    """A table with its caption, ready to be rendered.

    The caption is the author's text or `title`, then `sentences` on data, test and conventions.
    `source` is harness's version, the config's name and the SHA-256 of manifest.json; `findings`
    are those of the guard, for the author. A table `is_sparse` if many systems are not in all
    datasets. `sort` is the metric whose means over the datasets sort its rows.
    """

    name: str
    settings: TableSettings
    columns: tuple[PaperColumn, ...]
    rows: tuple[PaperRow, ...]
    sentences: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    source: str = ""
    title: str = ""
    findings: tuple[str, ...] = ()
    is_sparse: bool = False
    sort: str = ""

    @property
    def signs(self) -> Iterator[str]:
        """Every sign next to a name or a value."""
        for row in self.rows:
            yield row.sign
            for cell in row.cells:
                yield from (*cell.marks, *cell.worse)


def letter(place: int) -> str:
    """Return the letter of a system by its place, from 0: a ... z, aa, ab ... zz, aaa.

    >>> [letter(place) for place in (0, 25, 26, 27, 701, 702)]
    ['a', 'z', 'aa', 'ab', 'zz', 'aaa']
    """
    text, rest = "", place + 1
    while rest:
        rest, digit = divmod(rest - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def dagger(place: int) -> str:
    """Return the sign of a baseline by its place, from 0; each is doubled after the last.

    >>> [dagger(place) for place in (0, 1, 4, 5, 11)]
    ['†', '‡', '‖', '††', '‡‡‡']
    """
    times, which = divmod(place, len(DAGGERS))
    return DAGGERS[which] * (times + 1)


def best_and_second(texts: Sequence[str], direction: Direction | None) -> tuple[set[int], set[int]]:
    """Return the places of the best values, and of the second best, at the precision shown.

    `texts` are the cells of one column. All that share a value share its mark. Nothing is best
    without a direction or if all values are equal, and nothing second among fewer than
    `FEWEST_FOR_SECOND` values.

    >>> best_and_second([".42", ".40", ".42", "–", ".40"], "higher")
    ({0, 2}, {1, 4})
    >>> best_and_second(["1.5", "2.0"], "lower")
    ({0}, set())
    """
    is_number = re.compile(r"-?\.?\d").match
    numbers = {place: Decimal(text) for place, text in enumerate(texts) if is_number(text)}
    order = sorted({*numbers.values()}, reverse=direction == "higher")
    if direction is None or len(order) < 2:
        return set(), set()
    best, second = ({k for k, number in numbers.items() if number == top} for top in order[:2])
    return best, second if len(numbers) >= FEWEST_FOR_SECOND else set()


@dataclass(frozen=True, eq=False)
class Signs:
    """Signs of a table, of each baseline in order."""

    kind: Marks = "none"
    of: dict[str, str] = field(default_factory=dict)
    comparisons: Comparisons = UNCOMPARED
    are_too_many: bool = False

    def better_and_worse(
        self, dataset: str, metric: str, run: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the signs of the systems that a run is significantly better, and worse, than.

        The latter for daggers and stars: with letters, the better system's own value has the sign.
        """
        better: list[str] = []
        worse: list[str] = []
        for peer, sign in self.of.items():
            comparison, way = between(self.comparisons, dataset, metric, peer, run)
            if comparison and comparison.difference and self.comparisons.is_significant(comparison):
                n = sum(comparison.p_adjusted <= level for level in self.levels)
                shown = sign * n if self.kind == "stars" else sign
                (better if comparison.is_better == (way == 1) else worse).append(shown)
        return tuple(better), tuple(worse if self.kind != "letters" else ())

    @property
    def levels(self) -> list[float]:
        """The levels of one, two and three stars: the plan's, and smaller ones."""
        level = self.comparisons.plan.level
        return [level, *(smaller for smaller in (0.01, 0.001) if smaller < level)]


NO_SIGNS = Signs()


def signs_of(comparisons: Comparisons | None, marks: Marks | None, runs: Sequence[str]) -> Signs:
    """Assign a sign to each system; `runs` are the rows, in order.

    By default daggers if there are baselines; otherwise letters, and none above `MOST_MARKED`.
    """
    if comparisons is None or not comparisons.rows or marks == "none":
        return NO_SIGNS
    baselines = comparisons.plan.baselines
    if marks is None and not baselines and len(runs) > MOST_MARKED:
        return Signs(are_too_many=True)
    kind = marks or ("daggers" if baselines else "letters")
    compared = {name for row in comparisons.rows for name in (row.run, row.baseline)}
    named = [name for name in baselines or runs if name in compared]
    sign = dagger if kind == "daggers" else letter
    signs = {n: STAR if kind == "stars" else sign(place) for place, n in enumerate(named)}
    return Signs(kind, signs, comparisons)


MOST_ROWS = 40
"""Rows in LaTeX up to which a table is not split by default; a page has room for about 50."""
_SUBSCRIPT = "_ means a subscript"
SIGNS: Mapping[str, Mapping[str, str]] = {
    "text": {"best": "^ means bold", "second": "+ means underlined", "worse": _SUBSCRIPT},
    "plain-markdown": {"second": "italics mean underlined", "worse": _SUBSCRIPT},
    "excel": {"best": "best means bold", "second": "second means underlined", "worse": _SUBSCRIPT},
}
"""Replacements for marks of a cell that a format does not have."""
JsonRow = dict[str, formats.Value]


def render(table: PaperTable, format: Format, *, width: int | None = None) -> str:
    """Return a table in one of the formats; a line of text takes at most `width` characters."""
    rows = records(table) if format == "csv" else ()
    return formats.render([grid_of(table, format)], format, rows, width=width)


def misfits(table: PaperTable) -> Iterator[str]:
    """Yield the reasons why a table in LaTeX does not fit its page, with fixes."""
    for misfit in latex.misfits(grid_of(table, "latex")):
        yield f"{table.name}.tex: {misfit}"


def finished(text: str | None) -> str:
    """Return the author's own words with a full stop.

    >>> finished("Both folds"), finished("Both folds!"), finished(None)
    ('Both folds.', 'Both folds!', '')
    """
    sentence = (text or "").strip()
    return sentence if sentence.endswith((".", "!", "?")) or not sentence else f"{sentence}."


def _signs_of(table: PaperTable, format: Format) -> Iterator[str]:
    cells = [cell for row in table.rows for cell in row.cells]
    signs = SIGNS.get(format, {}).items()
    if texts := [text for mark, text in signs if any(getattr(cell, mark) for cell in cells)]:
        yield f"{listed(texts)}."


def grid_of(table: PaperTable, format: Format) -> grid.Grid:
    """Return a table as a grid of text for one of the formats.

    Datasets are side by side, or below each other if many systems are not in all of them. If a
    table is too wide for LaTeX's page, they are below each other, or systems are columns.
    """
    if table.settings.transpose:
        return _grid_of(table, format, _transposed(table, format))
    shapes = [_stacked] if table.is_sparse else [_upright]
    if not table.is_sparse and len({column.block for column in table.columns}) > 1:
        shapes.append(_stacked)
    if format != "latex":
        return _grid_of(table, format, shapes[0](table, format))
    grids = [_grid_of(table, format, shape(table, format)) for shape in (*shapes, _transposed)]
    fitting = (made for made in grids if latex.layout_of(made).fits)
    return next(fitting, grids[len(shapes) - 1])


def _grid_of(table: PaperTable, format: Format, made: grid.Grid) -> grid.Grid:
    settings, is_latex = table.settings, format == "latex"
    sentences = " ".join(table.sentences)
    caption, own_latex = finished(settings.caption.text), finished(settings.caption_latex)
    latex_caption = f"{own_latex} {latex.escape(sentences)}" if own_latex else ""
    parts = settings.columns
    if parts is None:
        parts = 2 if is_latex and len(made.rows) > MOST_ROWS and not settings.longtable else 1
    rendered = replace(
        made,
        caption=" ".join(f"{caption or table.title} {sentences}".split()),
        caption_latex=latex_caption.strip(),
        notes=(*_signs_of(table, format), *table.footnotes),
        source="\n".join([table.source, *(table.findings if is_latex else ())]),
        label=settings.label or f"tab:{table.name}",
        is_paper=True,
        wide=settings.is_wide,
        long=settings.longtable,
        document_class=settings.document_class,
    )
    return grid.side_by_side(rendered, parts) if parts > 1 else rendered


def _upright(table: PaperTable, format: Format) -> grid.Grid:
    blocks = _blocks([column.block for column in table.columns])
    columns = [_heading(table, format, *pair) for pair in zip(table.columns, blocks, strict=True)]
    groups = []
    for title, rows in grouped_by(table.rows, lambda row: row.group).items():
        cells = [(_system(table, format, row), *_cells(table, format, row.cells)) for row in rows]
        groups.append(grid.Group(title, tuple(cells)))
    return grid.Grid((grid.Column("", left=True), *columns), tuple(groups))


def _stacked(table: PaperTable, format: Format) -> grid.Grid:
    """Return a table with a part for each dataset, of the systems that have values there."""
    blocks = grouped_by(range(len(table.columns)), lambda place: table.columns[place].block)
    columns = {
        table.columns[place].key: table.columns[place] for place in range(len(table.columns))
    }
    groups: dict[str, list[tuple[grid.GridCell, ...]]] = {}
    for block, places in blocks.items():
        place_of = {table.columns[place].key: place for place in places}
        for row in _sorted_by(place_of.get(table.sort), table):
            own = [row.cells[place_of[key]] if key in place_of else EMPTY for key in columns]
            if any(not math.isnan(cell.value) for cell in own):
                title = ", ".join(filter(None, (block, row.group)))
                cells = (_system(table, format, row), *_cells(table, format, own))
                groups.setdefault(title, []).append(cells)
    headings = (_heading(table, format, column, "") for column in columns.values())
    parts = (grid.Group(title, tuple(rows)) for title, rows in groups.items())
    return grid.Grid((grid.Column("", left=True), *headings), tuple(parts))


def _sorted_by(place: int | None, table: PaperTable) -> list[PaperRow]:
    """Return the rows of each group by the values of a column; as they are without one."""
    metric = None if place is None else table.columns[place].metric
    if place is None or metric is None:
        return list(table.rows)
    worth = {row.run: metric.sign * row.cells[place].value for row in table.rows}
    order = list(dict.fromkeys(row.group for row in table.rows))

    def key(row: PaperRow) -> tuple[int, float]:
        value = worth[row.run]
        return order.index(row.group), math.inf if math.isnan(value) else -value

    return sorted(table.rows, key=key)


def _transposed(table: PaperTable, format: Format) -> grid.Grid:
    names = [_system(table, format, row) for row in table.rows]
    titles = _blocks([row.group for row in table.rows])
    columns = [
        grid.Column(name.text, block=block, above=name.above, citation=name.citation)
        for name, block in zip(names, titles, strict=True)
    ]
    blocks, rows = _blocks([column.block for column in table.columns]), []
    for place, (column, block) in enumerate(zip(table.columns, blocks, strict=True)):
        cells = _cells(table, format, [row.cells[place] for row in table.rows])
        title = _heading(table, format, column, block)
        rows.append((block, (grid.GridCell(title.title, citation=title.citation), *cells)))
    groups = grouped_by(rows, lambda row: row[0]).items()
    return grid.Grid(
        (grid.Column("", left=True), *columns),
        tuple(grid.Group(title, tuple(cells for _, cells in members)) for title, members in groups),
    )


def _blocks(titles: list[str]) -> list[str]:
    """Return the titles of blocks; a single one is not shown."""
    return titles if len({*titles}) > 1 else [""] * len(titles)


def _named(table: PaperTable, format: Format, own: str, title: str) -> tuple[str, str]:
    """Return a name, and its citation: LaTeX's, or in brackets as part of the name."""
    keys = table.settings.citation(own)
    if not keys:
        return title, ""
    if format == "latex":
        return title, rf"~\{table.settings.cite}{{{keys}}}"
    return f"{title} [{keys}]", ""


def _heading(table: PaperTable, format: Format, column: PaperColumn, block: str) -> grid.Column:
    is_metric = column.kind == "metric" and column.metric is not None
    title, citation = column.title, ""
    if is_metric:
        title, citation = _named(table, format, str(column.metric), title)
    return grid.Column(title, block=block, citation=citation)


def _system(table: PaperTable, format: Format, row: PaperRow) -> grid.GridCell:
    title, citation = _named(table, format, row.run, row.title)
    return grid.GridCell(title, above=row.sign, citation=citation)


def _cells(
    table: PaperTable, format: Format, cells: Sequence[PaperCell]
) -> Iterator[grid.GridCell]:
    between = "," if any(len(sign) > 1 for sign in table.signs) else ""

    def as_text(text: str) -> str:
        """Return text with minus signs in HTML; the hyphen of a tier, 1-2, stays."""
        return re.sub(r"(?<!\w)-", "\N{MINUS SIGN}", text) if format == "html" else text

    for cell in cells:
        signs = between.join(cell.marks), between.join(cell.worse)
        extras = [cell.spread, f"({cell.delta})" if cell.delta else ""]
        behind = as_text(" ".join(filter(None, extras))), cell.note
        yield grid.GridCell(as_text(cell.text), "", cell.best, cell.second, *signs, *behind)


def records(table: PaperTable) -> list[JsonRow]:
    """Return a record for each system, as CSV has them.

    Keys: ``group``, ``run`` (its own name), ``name`` (in the table), ``sign``; then for each
    column of the table its value, named by dataset and metric (``trec map``), with ``deviation``
    or ``low`` and ``high``, ``n``, ``repetitions`` if a system has fewer than others (``1 of
    3``), ``delta``, and ``marks``: ``best``, ``second``, the signs of the systems that it is
    significantly better than, and with ``_`` before them of those that it is worse than. The best
    is that of the values here, which other formats round.
    """
    rows: list[JsonRow] = [
        {"group": row.group, "run": row.run, "name": row.title, "sign": row.sign}
        for row in table.rows
    ]
    for place, column in enumerate(table.columns):
        fields = _fields(column, [row.cells[place] for row in table.rows], table.settings.spread)
        for record, values in zip(rows, fields, strict=True):
            record |= values
    return rows


def _fields(column: PaperColumn, cells: list[PaperCell], spread: Spread) -> Iterator[JsonRow]:
    """Yield for each cell of a column its value and what belongs to it, by its key."""
    dataset = column.block if column.dataset is None else column.dataset
    label = " ".join(filter(None, (dataset, column.key)))
    ends = ([], [spread], ["low", "high"])[max((len(cell.ends) for cell in cells), default=0)]
    has_change = any(cell.delta for cell in cells)
    for cell in cells:
        value: formats.Value = cell.value
        if column.kind not in ("metric", "rank", "p"):
            value = cell.text.replace("–", "-") if column.kind == "tier" else cell.text
        fields: JsonRow = {label: value}
        bounds = cell.ends or (None,) * len(ends)
        fields |= {f"{label} {name}": end for name, end in zip(ends, bounds, strict=True)}
        if column.kind == "metric":
            if any(cell.n for cell in cells):
                fields[f"{label} n"] = cell.n or None
            if any(cell.repetitions for cell in cells):
                fields[f"{label} repetitions"] = cell.repetitions
            if has_change:
                fields[f"{label} delta"] = cell.change
            marks = [cell.mark] if cell.mark else []
            marks += [*cell.marks, *(f"_{sign}" for sign in cell.worse)]
            fields[f"{label} marks"] = " ".join(marks)
        yield fields
