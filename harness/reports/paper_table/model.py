"""A table of a paper, before it is written in any format."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Literal

from ...core.metric import Direction, Metric
from .marks import ranges

Kind = Literal["metric", "n", "tier", "rank", "coverage"]


@dataclass(frozen=True)
class Cell:
    """One cell: the number as it is shown (with an ASCII minus, or ``–``), and what belongs to it.

    `value` and `ends` (the deviation, or low and high) have every digit; `spread` is the latter as
    shown: ``± .012`` or ``[.41, .44]``. `marks` are the signs of the systems that this one is
    significantly better than, `worse` the daggers of the baselines that it is worse than. `note`
    is ``17/20`` at a value of fewer queries than others of its column, and ``1/2`` in place of a
    mean over datasets. `n` of all `of` queries have a value; `repetitions` is ``1 of 3`` if
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
    note: str = ""
    n: int = 0
    of: int = 0
    repetitions: str = ""


@dataclass(frozen=True)
class Column:
    """One column of values: of a metric on a dataset, or of the mean over datasets (None).

    `metric` is None for a column that is about the dataset: n, coverage. `block` is the title that
    columns of one dataset share. No value is the best if `is_fair` is False, as runs were scored
    on different queries.
    """

    title: str
    kind: Kind = "metric"
    block: str = ""
    dataset: str | None = None
    metric: Metric | None = None
    digits: int = 3
    percent: bool = False
    is_fair: bool = True

    @property
    def direction(self) -> Direction | None:
        """Which way is better; None if no value is the best."""
        if self.kind != "metric" or self.metric is None or not self.is_fair:
            return None
        return self.metric.definition.direction

    @property
    def key(self) -> str:
        """The metric's canonical name, and the kind of a further column: ``map tier``."""
        name = "" if self.metric is None else str(self.metric)
        return " ".join(filter(None, (name, "" if self.kind == "metric" else self.kind)))


@dataclass(frozen=True)
class Row:
    """One system: its own name, its title, its cells, and its sign in the cells of others.

    `warned` is whether the guard warns of it.
    """

    run: str
    title: str
    cells: tuple[Cell, ...]
    sign: str = ""
    warned: bool = False


@dataclass(frozen=True)
class Group:
    """Rows under one title, which may be empty."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class PaperTable:
    """A table with its caption, ready to be rendered.

    The caption is the author's own sentences (`own_latex` is not escaped), then `sentences` on
    data, test and conventions; `text_sentences` are those of plain text, which has signs for bold
    and underlined values. `source` is where the table came from: harness's version, the config's
    name, SHA-256 of manifest.json.
    """

    name: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    own_caption: str = ""
    own_latex: str = ""
    sentences: tuple[str, ...] = ()
    text_sentences: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    label: str = ""
    source: str = ""

    @property
    def caption(self) -> tuple[str, ...]:
        """All sentences of the caption, the author's own first."""
        return tuple(filter(None, (self.own_caption, *self.sentences)))

    @property
    def rows(self) -> Iterator[Row]:
        """All rows, group after group."""
        return (row for group in self.groups for row in group.rows)

    @property
    def blocks(self) -> list[tuple[str, int]]:
        """Title and number of columns of each block."""
        found = groupby(self.columns, key=lambda column: column.block)
        return [(title, len(list(columns))) for title, columns in found]

    @cached_property
    def separator(self) -> str:
        """What is between two signs: a comma if any sign has several characters.

        ``ab`` would be read as a and b, and can be the 28th system.
        """
        cells = (cell for row in self.rows for cell in row.cells)
        signs = {sign for cell in cells for sign in (*cell.marks, *cell.worse)}
        signs |= {row.sign for row in self.rows}
        return "," if any(len(sign) > 1 for sign in signs) else ""

    def joined(self, signs: Iterable[str]) -> str:
        """Return the signs beside a value as one text: ``ab``, ``a,c–f,ab``."""
        return self.separator.join(ranges(signs) if self.separator else signs)

    def cell(self, run: str, dataset: str | None, key: str) -> Cell | None:
        """Return the cell of a run under a column's dataset and key, None if there is none."""
        for place, column in enumerate(self.columns):
            if (column.dataset, column.key) == (dataset, key):
                return next((row.cells[place] for row in self.rows if row.run == run), None)
        return None
