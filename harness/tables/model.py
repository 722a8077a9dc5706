"""A table of a paper, before it is written in any format."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Literal

from ..core.metric import Direction, Metric
from .marks import ranges

UNDEFINED = "–"
"""Shown where there is no value."""
Kind = Literal["metric", "n", "tier", "rank", "coverage"]


@dataclass(frozen=True)
class Cell:
    """One cell.

    Parameters
    ----------
    text : str
        The number as it is shown (``.423``, ``-1.20``, with an ASCII minus), or :data:`UNDEFINED`.
    value : float
        The number with every digit; NaN where there is none.
    spread : str
        What stands beside it: ``± .012`` or ``[.41, .44]``.
    ends : tuple of float
        The same with every digit: the deviation, or low and high; empty where there is none.
    marks : tuple of str
        Letters or daggers of the systems that this one is significantly better than.
    worse : tuple of str
        Daggers of the baselines that it is significantly worse than.
    best, second : bool
        Whether it is the best, the second best of its column at the precision shown.
    note : str
        Shown beside a value that fewer queries have than others of its column, ``17/20``; or in
        place of a mean over datasets of a run that lacks some, ``1/2``.
    n : int
        Queries that the number is taken over; 0 where it is taken over none.
    of : int
        All queries of its dataset, also those left out as the run does not answer them.
    repetitions : str
        Of how many repetitions it is over how many, where some lack: ``1 of 3``.
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
    """One column of values.

    Parameters
    ----------
    title : str
        As it is shown, with the arrow that points to better.
    kind : {"metric", "n", "tier", "rank", "coverage"}
    block : str
        Title of the block that it belongs to: a dataset's.
    dataset : str or None
        The dataset's own name; None for the mean over datasets.
    metric : Metric or None
        None for a column that is about the dataset: n, coverage.
    digits : int
        Decimals shown.
    percent : bool
        Whether values are shown x 100.
    is_fair : bool
        Whether its values are over the same queries; none of them is the best where they are not.
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
        """Which way is better; None where no value is the best, for whatever reason."""
        if self.kind != "metric" or self.metric is None or not self.is_fair:
            return None
        return self.metric.definition.direction

    @property
    def key(self) -> str:
        """The metric's canonical name, and the kind where it is no value: ``map tier``."""
        name = "" if self.metric is None else str(self.metric)
        return " ".join(filter(None, (name, "" if self.kind == "metric" else self.kind)))


@dataclass(frozen=True)
class Row:
    """One system.

    Parameters
    ----------
    run : str
        Its own name.
    title : str
        What it is called in the table.
    cells : tuple of Cell
        One for each column.
    sign : str
        The letter or dagger that stands for it in other systems' cells; empty where none does.
    """

    run: str
    title: str
    cells: tuple[Cell, ...]
    sign: str = ""


@dataclass(frozen=True)
class Group:
    """Rows under one title, which may be empty."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Trace:
    """Where a table came from: SHA-256 of manifest.json, the config's name, harness's version."""

    manifest: str = ""
    config: str = ""
    version: str = ""

    def __str__(self) -> str:
        made = " ".join(filter(None, ("harness", self.version)))
        parts = [f"table made by {made}"]
        parts += [f"config {self.config}"] if self.config else []
        parts += [f"manifest sha256:{self.manifest}"] if self.manifest else []
        return ", ".join(parts)


@dataclass(frozen=True)
class PaperTable:
    """A table with its caption, ready to be rendered.

    Parameters
    ----------
    name : str
        Its key in the config's ``tables:``.
    columns : tuple of Column
        Those of one block stand together.
    groups : tuple of Group
    own_caption : str
        The author's sentences, which come first.
    own_latex : str
        The same as LaTeX, where it is not merely to be escaped.
    said : tuple of str
        Further sentences of the caption: test, level, conventions.
    footnotes : tuple of str
        What a reader must know of single cells: missing queries, undefined values.
    label : str
        LaTeX's.
    trace : Trace
    """

    name: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    own_caption: str = ""
    own_latex: str = ""
    said: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    label: str = ""
    trace: Trace = field(default_factory=Trace)

    @property
    def caption(self) -> tuple[str, ...]:
        """All sentences of the caption, the author's own first."""
        return tuple(filter(None, (self.own_caption, *self.said)))

    @property
    def rows(self) -> Iterator[Row]:
        """All rows, group after group."""
        return (row for group in self.groups for row in group.rows)

    @property
    def blocks(self) -> list[tuple[str, int]]:
        """Title and number of columns of each block."""
        found = groupby(self.columns, key=lambda column: column.block)
        return [(title, len(list(columns))) for title, columns in found]

    @property
    def has_blocks(self) -> bool:
        """Whether columns must say which dataset they belong to."""
        return len(self.blocks) > 1

    @cached_property
    def separator(self) -> str:
        """What stands between two signs: nothing, or a comma where one has several characters.

        ``ab`` would be read as a and b where it stands for the 28th system.
        """
        cells = (cell for row in self.rows for cell in row.cells)
        signs = {sign for cell in cells for sign in (*cell.marks, *cell.worse)}
        signs |= {row.sign for row in self.rows}
        return "," if any(len(sign) > 1 for sign in signs) else ""

    def joined(self, signs: Iterable[str]) -> str:
        """Return the signs that stand beside a value as one text: ``ab``, ``a,c–f,ab``."""
        return self.separator.join(ranges(signs) if self.separator else signs)

    def cell(self, run: str, dataset: str | None, key: str) -> Cell | None:
        """Return the cell of a run under a column's dataset and key, None where there is none."""
        for place, column in enumerate(self.columns):
            if (column.dataset, column.key) == (dataset, key):
                return next((row.cells[place] for row in self.rows if row.run == run), None)
        return None
