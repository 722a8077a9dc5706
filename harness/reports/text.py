"""Aligned text for a terminal: tables, paragraphs, and names cut to fit."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import chain, groupby, zip_longest
from typing import Literal

from ..errors import legible, printable
from .grid import PLAIN, Column, Grid, GridCell, Group

_GAP = "  "
_LINE = 100
"""Characters of a line of a caption and of notes, at most."""
_LEAST = 40
"""Characters of a line of text in the narrowest terminal."""
_INSEPARABLE, _HARD_BLANK = re.compile(r"(?<!,) (?=[^(]*\))| (?=[↑↓]|p$)"), "\xa0"
"""Blanks in parentheses, but not behind commas; before an arrow; and in "adjusted p"."""
_NARROWEST = 8
"""Characters of a column in the narrowest terminal."""
LONGEST = 120
"""Characters of a name in a table for a terminal."""


Style = Literal["good", "mixed", "bad", "best", "note", ""]
Span = tuple[int, int, Style]
"""Where a text has a style: start and end."""


class Styled(str):
    """Text with the spans that a terminal shows in a style; anywhere else it is its characters."""

    spans: tuple[Span, ...]

    def __new__(cls, text: str, *spans: Span) -> Styled:
        """Return a text with spans that have a style."""
        styled = super().__new__(cls, text)
        styled.spans = tuple(span for span in spans if span[2])
        return styled

    def __add__(self, after: str) -> Styled:
        """Return both texts with the styles of both."""
        n = len(self)
        moved = ((n + a, n + b, style) for a, b, style in getattr(after, "spans", ()))
        return Styled(str(self) + str(after), *self.spans, *moved)


def styled_lines(lines: Iterable[str]) -> Styled:
    """Return lines, each with a line feed behind it, and their styles."""
    texts, spans, start = [*lines], list[Span](), 0
    for text in texts:
        spans += [(start + a, start + b, style) for a, b, style in getattr(text, "spans", ())]
        start += len(text) + 1
    return Styled("".join(f"{text}\n" for text in texts), *spans)


def render(grids: Iterable[Grid], *, width: int | None = None) -> Styled:
    """Return the tables with an empty line between them.

    A bold value has a star behind it, an underlined one a plus; then come the signs above the
    line, and after ``_`` those below it. Columns that do not fit into `width` characters go into
    further blocks below, and cells that do not fit are folded.
    """
    blocks = [["", *lines] for table in grids if (lines := [*_lines(table, width)])]
    return styled_lines(chain.from_iterable([blocks[0][1:], *blocks[1:]]) if blocks else [""])


def fitted(
    tables: Iterable[Grid], width: int | None, optional: Iterable[str]
) -> tuple[list[Grid], list[str]]:
    """Return tables without the columns that make them wider than `width`, and their titles.

    Only `optional` columns are left out, the first ones first, each from all tables.

    >>> from harness.reports.grid import grid
    >>> table = grid(["run", "map", "p"], [["bm25", "0.31", "0.5"]])
    >>> fitted([table], 10, ["p", "map"])[1], fitted([table], 20, ["p", "map"])[1]
    (['p'], [])
    """
    chosen, left_out = [*tables], list[str]()
    for title in optional if width is not None else ():
        having = [table for table in chosen if title in (column.title for column in table.columns)]
        if any(_room(_sizes(table, _texts(table))) > (width or 0) for table in having):
            chosen = [_without(table, title) for table in chosen]
            left_out.append(title)
    return chosen, left_out


def _without(table: Grid, title: str) -> Grid:
    places = [place for place, column in enumerate(table.columns) if column.title != title]
    groups = (
        Group(group.title, tuple(tuple(row[place] for place in places) for row in group.rows))
        for group in table.groups
    )
    columns = tuple(table.columns[place] for place in places)
    return replace(table, columns=columns, groups=tuple(groups))


def wrapped(text: str, width: int, indent: int, hanging: int) -> list[str]:
    """Return a paragraph's lines, those after the first `hanging` columns further in."""
    first, others = " " * indent, " " * (indent + hanging)
    wrapper = textwrap.TextWrapper(max(width, _LEAST), first, others, break_long_words=False)
    wrapper.break_on_hyphens = False
    return wrapper.wrap(legible(text))


def _lines(table: Grid, width: int | None) -> Iterator[str]:
    line = _LINE if width is None else max(min(width, _LINE), _LEAST)
    for answer in table.answers:
        lines = wrapped(answer.text, line, 0, 2)
        yield from (Styled(text, (0, len(text), answer.tone)) for text in lines)
    if table.title:
        yield from [legible(table.title)] if width is None else wrapped(table.title, width, 0, 2)
    if table.caption:
        yield from [*textwrap.wrap(printable(table.caption), line), ""]
    if table.columns:
        yield from _table(table, width)
    for note in table.notes:
        lines = wrapped(note, line, 2, 0)
        is_dim = bool(table.columns) or not table.title
        yield from (Styled(text, (2, len(text), "note" if is_dim else "")) for text in lines)


def _table(table: Grid, width: int | None) -> Iterator[str]:
    texts = _texts(table)
    marks = [[False, *(row[place].bold for row in table.rows)] for place in range(len(texts))]
    titles = readable([group.title for group in table.groups])
    headings = readable([title for title, _ in table.blocks])
    heading_of = [0, *(k for k, (_, n) in enumerate(table.blocks) for _ in range(n))]
    sizes = _sizes(table, texts)
    left = next((index for index, column in enumerate(table.columns) if not column.left), 1)
    if width is not None and _room(sizes) > width:
        narrowed = _narrowed(texts, left, width)
        blocks = [*_blocks_that_fit(sizes, table.columns, left, width)]
        fit = all(_room([sizes[index] for index in block]) <= width for block in blocks)
        if not fit or len(blocks) > len([*_blocks_that_fit(narrowed, table.columns, left, width)]):
            sizes = narrowed
    for place, block in enumerate(_blocks_that_fit(sizes, table.columns, left, width)):
        if place:
            yield ""
        rooms, titled = [*sizes], list[tuple[str, int]]()
        for number, group in groupby(block[1:] if headings else (), heading_of.__getitem__):
            columns = [*group]
            room = _room([rooms[index] for index in columns])
            spare = max(len(headings[number]) - room, 0)
            if width is not None:
                spare = min(spare, max(width - _room([rooms[index] for index in block]), 0))
            rooms[columns[-1]] += spare  # the last column of a block gives its title room
            titled.append((cut(headings[number], room + spare), room + spare))
        if titled:
            yield _block_titles(rooms[block[0]], titled)
        padded = [_cells(texts[k], rooms[k], table.columns[k].left) for k in block]
        is_bold = zip(*(marks[k] for k in block), strict=True)
        rows = map(_row, zip(*padded, strict=True), is_bold)
        yield from next(rows)
        for title, group_of_rows in zip(titles, table.groups, strict=True):
            yield from [title] if title else []
            for _ in group_of_rows.rows:
                yield from filter(None, next(rows))  # a shorter part has empty rows below


def _texts(table: Grid) -> list[list[str]]:
    cells = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    return [_column(*pair, table.is_paper) for pair in zip(table.columns, cells, strict=True)]


def _sizes(table: Grid, texts: Sequence[Sequence[str]]) -> list[int]:
    first, *others = (max(map(len, column)) for column in texts)
    return [max([first, *(len(group.title) for group in table.groups)]), *others]


def _cells(texts: Sequence[str], room: int, left: bool) -> list[str]:
    """Return the cells of a column, padded; the lines of one that does not fit are separated."""
    flush = str.ljust if left else str.rjust
    if max(map(len, texts)) <= room:
        return [flush(text, room) for text in texts]
    return ["\n".join(flush(line, room) for line in _folded(text, room)) for text in texts]


def _row(cells: Sequence[str], is_bold: Sequence[bool]) -> list[str]:
    """Return the lines of a row; cells of fewer lines than others end earlier."""
    row = _GAP.join(cells)
    if "\n" not in row and True not in is_bold:
        return [row.rstrip()]
    parts = [cell.split("\n") for cell in cells]
    rooms = [len(lines[0]) for lines in parts]
    lines = [
        [" " * room if text is None else text for text, room in zip(line, rooms, strict=True)]
        for line in zip_longest(*parts)
    ]
    return [_styled_line(line, is_bold) for line in lines]


def _styled_line(cells: Sequence[str], is_bold: Sequence[bool]) -> Styled:
    spans, start = list[Span](), 0
    for cell, bold in zip(cells, is_bold, strict=True):
        begin, end = start + len(cell) - len(cell.lstrip()), start + len(cell.rstrip())
        spans += [(begin, end, "best")] if bold and begin < end else []
        start += len(cell) + len(_GAP)
    return Styled(_GAP.join(cells).rstrip(), *spans)


def _folded(text: str, room: int) -> list[str]:
    """Return the lines of a cell, its inseparable words together.

    >>> _folded("RBO (p = 0.9) ↑", 11), _folded("detectable, adjusted p", 11)
    (['RBO', '(p = 0.9) ↑'], ['detectable,', 'adjusted p'])
    """
    if len(text) <= room:
        return [text]
    lines = textwrap.wrap(_INSEPARABLE.sub(_HARD_BLANK, text), room)
    return [line.replace(_HARD_BLANK, " ") for line in lines]


def _narrowed(texts: Sequence[Sequence[str]], left: int, width: int) -> list[int]:
    """Return sizes of columns that fit: headings are folded first, then the first `left` columns.

    All columns fit into one line, or else each of the others fits next to the first ones. Words
    stay whole if they have room.
    """
    longest = [
        [max(map(len, _INSEPARABLE.sub("_", text).split(" "))) for text in column]
        for column in texts
    ]
    words, headings = [*map(max, longest)], [column[0] for column in longest]
    sizes = [
        max([size, *map(len, column[1:])]) for size, column in zip(headings, texts, strict=True)
    ]
    others, least, free = sizes[left:], words[:left], width - _room([*sizes[left:], 0])
    if _room(least) > free and others:
        free = width - len(_GAP) - min(max(others), width // 2)
    if _room(least) > free:
        least = [min(word, _NARROWEST) for word in least]
    firsts = sizes[:left]
    while _room(firsts) > free and firsts != least:
        firsts[max(range(left), key=lambda k: (firsts[k] > least[k], firsts[k]))] -= 1
    room = max(width - _room(firsts) - len(_GAP), _NARROWEST)
    return [*firsts, *(min(size, room) for size in others)]


def _room(sizes: Sequence[int]) -> int:
    return sum(sizes) + len(_GAP) * (len(sizes) - 1)


def _blocks_that_fit(
    sizes: Sequence[int], columns: Sequence[Column], left: int, width: int | None
) -> Iterator[list[int]]:
    """Yield the columns of each block of lines; the names of the rows are part of every one.

    Names are the first `left` columns, and for rows side by side, the next column of names.
    """
    names = block = [*range(left)]
    starts = [k for k in range(left, len(columns)) if columns[k].left and not columns[k - 1].left]
    for index in range(left, len(sizes)):
        end = index + 1
        if index in starts:  # further rows stay together if they can
            names, end = [index], min([k for k in starts if k > index], default=len(sizes))
        room = _room([sizes[place] for place in (*block, *range(index, end))])
        if width is not None and room > width and len(block) > len(names):
            yield block
            block = names
        block = [*block, index] if index not in block else block
    yield block


def _column(column: Column, cells: Sequence[GridCell], is_paper: bool) -> list[str]:
    title, *texts = readable(
        [f"{column.title} {column.above}".rstrip(), *(cell.text for cell in cells)]
    )
    if all(cell[1:] == PLAIN for cell in cells):
        return [title, *texts]
    parts = [(text, *_signs(cell)) for text, cell in zip(texts, cells, strict=True)]
    if column.left:
        return [title, *map("".join, parts)]
    width, *rest = (max(map(len, part)) for part in zip(*parts, strict=True))
    padded = [text.rjust(width) + "".join(map(str.ljust, signs, rest)) for text, *signs in parts]
    return [title + " " * (0 if is_paper else sum(rest)), *padded]


def _signs(cell: GridCell) -> Iterator[str]:
    yield cell.sign + ("^" if cell.bold else "+" if cell.underlined else "")
    below = f"_{legible(cell.below)}" if cell.below else ""
    yield " ".join(["", *filter(None, (legible(cell.above), below))])
    yield f" {legible(cell.spread)}" if cell.spread else ""
    yield f" ({legible(cell.note)})" if cell.note else ""


def _block_titles(first: int, blocks: Sequence[tuple[str, int]]) -> str:
    """Return the line of titles above their columns; `first` is the room of the first column."""
    parts = [" " * first]
    for title, room in blocks:
        free = room - len(title)
        before, after = free // 2, (free + 1) // 2
        line = ("-" * (before - 1) + " " if before else "") + title
        line += " " + "-" * (after - 1) if after > 1 else " " * after
        parts.append(line if title else " " * free)
    return _GAP.join(parts).rstrip()


def cut(text: str, width: int) -> str:
    """Return `text` in at most `width` characters, its middle left out."""
    text = legible(" ".join(text.split()))
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def cut_all(texts: Sequence[str], width: int) -> list[str]:
    """Return the texts cut; those that look the same then are cut around their first difference."""
    short = [cut(text, width) for text in texts]
    for name in [name for name, times in Counter(short).items() if times > 1]:
        places = [place for place, text in enumerate(short) if text == name]
        group = [legible(" ".join(texts[place].split())) for place in places]
        columns = enumerate(zip(*group, strict=False))
        start = max(next((index for index, signs in columns if len({*signs}) > 1), 0) - 1, 0)
        labels = [f"{text[:2]}…{text[start : start + width - 4]}…" for text in group]
        if len({*labels}) < len(group):
            labels = [f"{name} {number}" for number in range(1, len(group) + 1)]
        for place, text in zip(places, labels, strict=True):
            short[place] = text
    return short


def readable(texts: Sequence[str]) -> list[str]:
    """Return `harness.errors.legible` texts, long ones cut to what still differs."""
    labels = list(map(legible, texts))
    long = [text for text in dict.fromkeys(labels) if len(text) > LONGEST]
    short = dict(zip(long, cut_all(long, LONGEST), strict=True))
    return [short.get(text, text) for text in labels]


class Shown:
    """A value that shows its text: `print` it, or end a notebook's cell with it."""

    def _repr_html_(self) -> str:
        return f'<pre style="font-family: monospace">{escape(str(self))}</pre>'
