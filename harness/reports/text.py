"""Aligned text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ..core.text import flush_left, flush_right, readable
from ..core.text import width as width_of
from ..errors import for_terminal, legible
from .grid import PLAIN, Cell, Column, Grid, grid

_GAP = "  "
_LINE = 100
"""Characters of a line of a paper table's caption and notes."""


def render(grids: Iterable[Grid], *, width: int | None = None, paper: bool = False) -> str:
    """Return the tables with an empty line between them.

    A bold value has a star behind it, an underlined one a plus; then come the signs above the
    line, and after ``_`` those below it.

    Parameters
    ----------
    grids : iterable of Grid
    width : int, optional
        Characters a line may take; columns that do not fit go into further blocks below.
    paper : bool
        Notes are wrapped, and headings end above the signs, not above the numbers.
    """
    blocks = ("\n".join(_lines(one, width, paper)) for one in grids)
    return for_terminal("\n\n".join(blocks)) + "\n"


def columns(
    rows: Sequence[Sequence[str]],
    *,
    width: int | None = None,
    left: int = 1,
    pad_stars: bool = False,
) -> str:
    """Return rows as aligned columns: the first `left` flush left, the others flush right.

    What controls a terminal is shown, and long names lose their middle; those that differ still do.

    >>> print(columns([["run", "map"], ["bm25", "0.31"]]))
    run    map
    bm25  0.31
    """
    header, *body = rows
    cells = [[_with_sign(text) if pad_stars else Cell(text) for text in row] for row in body]
    return "\n".join(_table(grid(header, cells, left=left), width))


def _with_sign(text: str) -> Cell:
    number = text.rstrip("*~")
    return Cell(number, text[len(number) :])


def _lines(one: Grid, width: int | None, paper: bool) -> Iterator[str]:
    if one.title:
        yield legible(one.title)
    if one.caption:
        yield from [*textwrap.wrap(one.caption, _LINE), ""]
    if one.columns:
        yield from _table(one, width, paper)
    for note in one.notes:
        if paper:
            yield from textwrap.wrap(note, _LINE, initial_indent="  ", subsequent_indent="  ")
        else:
            yield f"  {legible(note)}"


def _table(one: Grid, width: int | None, paper: bool = False) -> Iterator[str]:
    titles, cells = readable([group.title for group in one.groups]), one.rows
    aligned = [
        _column(column, [row[at] for row in cells], paper) for at, column in enumerate(one.columns)
    ]
    sizes = [max(map(width_of, texts)) for texts in aligned]
    sizes[0] = max([sizes[0], *map(width_of, titles)])
    blocks = _shown_blocks(one)
    _widen(sizes, blocks)
    for at, column in enumerate(one.columns):
        flush = flush_left if column.left else flush_right
        aligned[at] = [flush(text, sizes[at]) for text in aligned[at]]
    left = next((at for at, column in enumerate(one.columns) if not column.left), len(sizes))
    for place, shown in enumerate(_blocks_that_fit(sizes, left, width)):
        if place:
            yield ""
        if blocks:
            yield _block_titles(blocks, sizes)
        rows = zip(*(aligned[at] for at in shown), strict=True)
        lines = (_GAP.join(row).rstrip() for row in rows)
        yield next(lines)
        for title, group in zip(titles, one.groups, strict=True):
            yield from [title] if title else []
            yield from islice(lines, len(group.rows))


def _blocks_that_fit(sizes: Sequence[int], left: int, width: int | None) -> Iterator[list[int]]:
    """Yield the columns of each block of lines; the first `left` are part of every one."""
    names, rest = list(range(left)), list(range(left, len(sizes)))
    while True:
        used, n = sum(sizes[at] + len(_GAP) for at in names), 0
        while n < len(rest) and (width is None or n == 0 or used + sizes[rest[n]] <= width):
            used += sizes[rest[n]] + len(_GAP)
            n += 1
        yield names + rest[:n]
        rest = rest[n:]
        if not rest:
            return


def _column(column: Column, cells: Sequence[Cell], paper: bool) -> list[str]:
    """Return the heading and the cells of a column, their numbers and signs below each other."""
    texts = readable([column.title, *(cell.text for cell in cells)])
    if all(cell[1:] == PLAIN for cell in cells):
        return texts
    parts = [[text, *_signs(cell)] for text, cell in zip(texts[1:], cells, strict=True)]
    if column.left:
        return [texts[0], *("".join(part) for part in parts)]
    sizes = [max(map(width_of, part)) for part in zip(*parts, strict=True)]
    shown = [
        flush_right(part[0], sizes[0]) + "".join(map(flush_left, part[1:], sizes[1:]))
        for part in parts
    ]
    return [texts[0] + " " * (0 if paper else sum(sizes[1:])), *shown]


def _signs(cell: Cell) -> Iterator[str]:
    yield cell.sign + ("*" if cell.bold else "+" if cell.underlined else "")
    below = f"_{legible(cell.below)}" if cell.below else ""
    yield " ".join(["", *filter(None, (legible(cell.above), below))])
    yield f" {legible(cell.spread)}" if cell.spread else ""
    yield f" ({legible(cell.note)})" if cell.note else ""


def _shown_blocks(one: Grid) -> list[tuple[str, int]]:
    titles = readable([title for title, _ in one.blocks])
    return list(zip(titles, [n for _, n in one.blocks], strict=True))


def _widen(sizes: list[int], blocks: Sequence[tuple[str, int]]) -> None:
    """Give the last column of each block room for the block's title."""
    at = 1
    for title, n in blocks:
        has = sum(sizes[at : at + n]) + len(_GAP) * (n - 1)
        sizes[at + n - 1] += max(0, width_of(title) - has)
        at += n


def _block_titles(blocks: Sequence[tuple[str, int]], sizes: Sequence[int]) -> str:
    parts, at = [" " * sizes[0]], 1
    for title, n in blocks:
        room = sum(sizes[at : at + n]) + len(_GAP) * (n - 1)
        before, after = (room - width_of(title)) // 2, (room - width_of(title) + 1) // 2
        line = "-" * (before - 1) + " " * (before > 0) + title
        parts.append(line + (" " + "-" * (after - 1) if after > 1 else " " * after))
        at += n
    return _GAP.join(parts).rstrip()


def wrapped(text: str, width: int = _LINE, indent: int = 0, hanging: int = 2) -> list[str]:
    """Return a paragraph's lines, those after the first `hanging` columns further in."""
    return textwrap.wrap(
        legible(text), max(width, 40), initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hanging), break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
