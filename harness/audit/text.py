"""An audit as aligned text: a summary, then a block a dataset and metric."""

from __future__ import annotations

import re
import textwrap

from ..core.widths import readable
from ..core.widths import width as width_of
from ..escaping import for_terminal, legible
from ..reports._cells import heading, number
from ..reports.table import columns
from . import words
from .flow import Audited
from .spread import BASE, Comparison, Matrix, Row, Walk

WIDTH = 100
_NARROW = 11


def render(audited: Audited, *, width: int = WIDTH) -> str:
    """Return the audit as text, conventions as rows and systems as columns.

    Parameters
    ----------
    audited : Audited
    width : int
        Characters a line may take; systems that do not fit go into further blocks below.
    """
    blocks = [_overview(audited, width)]
    blocks += ["\n".join(_block(matrix, width)) for matrix in audited.matrices]
    return for_terminal("\n\n\n".join(blocks)) + "\n"


def _overview(audited: Audited, width: int) -> str:
    rows = [
        [
            matrix.dataset, heading(matrix.metric), words.first_choice(matrix),
            number(words.widest(matrix), matrix.metric), *words.shares(matrix),
        ]
        for matrix in audited.matrices
    ]  # fmt: skip
    lines = [columns([list(words.OVERVIEW), *rows], left=3)]
    for note in words.left_out(audited):
        lines += ["", *_wrapped(note, width, "")]
    return "\n".join(lines)


def _block(matrix: Matrix, width: int) -> list[str]:
    n = len(matrix.systems)
    title = legible(f"{matrix.dataset}: {heading(matrix.metric)}".removeprefix(": "))
    lines = [title, "=" * min(width_of(title), width)]
    for sentence in words.verdict(matrix):
        lines += _wrapped(sentence, width, "")
    lines += ["", _values(matrix, width)]
    for note in words.notes(matrix):
        lines += _wrapped(note, width, "  ")
    if n and matrix.rows:
        lines += ["", _ranges(matrix)]
    if matrix.comparable:
        for walk in matrix.walks:
            lines += ["", *_walk(matrix, walk, width)]
        lines += ["", *_effects(matrix, width)]
    return lines


def _values(matrix: Matrix, width: int) -> str:
    """Return the matrix; names of systems may take several lines."""
    rows = [*_head(matrix, "convention", "order", "tau"), _row(matrix, matrix.base, matrix.own)]
    rows += map(_row, [matrix] * len(matrix.rows), matrix.rows, matrix.comparisons)
    return columns(rows, width=width, left=3, pad_stars=True)


def _head(matrix: Matrix, *first: str) -> list[list[str]]:
    """Return the lines of a heading: the first columns, then the systems."""
    names = [_folded(name) for name in readable(matrix.systems)]
    height = max(map(len, names), default=1)
    head = [
        [*[""] * len(first), *(name[line] if line < len(name) else "" for name in names)]
        for line in range(height)
    ]
    head[-1][: len(first)] = first
    return head


def _walk(matrix: Matrix, walk: Walk, width: int) -> list[str]:
    """Return what each setting adds on the way from the base to a convention."""
    rows = [*_head(matrix, f"{BASE} -> {walk.name}"), *words.walk(matrix, walk)]
    lines = columns(rows, width=width).splitlines()
    if walk.nothing:
        lines += _wrapped(f"no change by: {', '.join(walk.nothing)}", width, "  ")
    return lines


def _row(matrix: Matrix, row: Row, found: Comparison) -> list[str]:
    cells = [words.cell(row, system, matrix.metric) for system in range(len(matrix.systems))]
    cells = [f"{text}*" if at in found.best else text for at, text in enumerate(cells)]
    return [words.row_name(row), words.order(row, found), words.tau(found.tau), *cells]


def _folded(name: str) -> list[str]:
    """Return a name on lines of about a column's width, broken where it has a seam.

    >>> _folded("linear-regression seed=1"), _folded("bm25")
    (['linear-', 'regression', 'seed=1'], ['bm25'])
    """
    lines = [""]
    for gap, piece in re.findall(r"(\s*)([^\s_\-./+]*[_\-./+]*)", name):
        together = f"{lines[-1]}{' ' if gap and lines[-1] else ''}{piece}"
        if not lines[-1] or len(together) <= _NARROW:
            lines[-1] = together
        else:
            lines.append(piece)
    return lines


def _ranges(matrix: Matrix) -> str:
    rows = [list(words.RANGES)]
    for name, each in zip(matrix.systems, matrix.ranges, strict=True):
        low, high, wide = (
            number(value, matrix.metric) for value in (each.low, each.high, each.width)
        )
        lowest, highest = words.ends(each)
        rows.append([name, low, lowest, high, highest, wide])
    return columns(rows, left=6)


def _effects(matrix: Matrix, width: int) -> list[str]:
    """Return the table of choices, one at a time from the base."""
    rows = [words.choice(each, matrix) for each in matrix.effects if each.matters]
    lines = columns([list(words.CHOICES), *rows], left=len(words.CHOICES)).splitlines()
    lost = words.lost(matrix)
    if lost:
        lines += _wrapped(f"no value for some system with: {', '.join(lost)}", width, "  ")
    nothing = words.no_effect(matrix.effects)
    if nothing:
        lines += _wrapped(f"without effect here: {', '.join(nothing)}", width, "  ")
    return lines


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        legible(text), max(width, 40), initial_indent=indent, subsequent_indent=indent + "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
