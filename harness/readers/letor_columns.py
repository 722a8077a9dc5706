"""The columns of a LETOR file, put together while it is read, so that none is held twice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ..core.arrow import run_ends
from ..core.ragged import Array
from .gathered import Runs
from .grown import Numbers, Texts
from .letor_lines import Rows


class LetorColumns(NamedTuple):
    """What the rows of a file hold.

    Parameters
    ----------
    grades : ndarray, shape (n_rows,)
        Of the smallest integer type that holds them all, or float64.
    qids : pyarrow run-end encoded array, shape (n_rows,), optional
    docnos : pyarrow string array, shape (n_rows,), optional
        None where not every row has one.
    docids : int
        How many docnos are given as ``docid = X``.
    marks : ndarray of uint64, shape (n_rows,), optional
        As :class:`~harness.readers.letor_lines.Rows` has them.
    """

    grades: Array
    qids: pa.Array | None
    docnos: pa.Array | None
    docids: int
    marks: Array | None


class Growing:
    """Columns to which rows are added."""

    def __init__(self) -> None:
        self._grades: list[Array] = []
        self._qids, self._marks = Runs(), Numbers(np.uint64)
        self._docnos: Texts | None = Texts()
        self._docids = 0

    def add(self, rows: Rows) -> None:
        """Add some rows at the end."""
        self._grades.append(rows.grades)
        self._docids += rows.docids
        if rows.qids is not None:
            self._qids.add_runs(rows.qids)
        if rows.docnos is None or rows.docnos.null_count:
            self._docnos = None
        elif self._docnos is not None:
            self._docnos.add_column(rows.docnos)
        if rows.marks is not None:
            self._marks.add(rows.marks)

    def columns(self) -> LetorColumns | None:
        """Return the columns; None where there is no row. Nothing can be added then."""
        if not self._grades:
            return None
        grades, self._grades = np.concatenate(self._grades), []
        docnos = None if self._docnos is None else self._docnos.column()
        ends, qids = self._qids.parts()
        marks = self._marks.array()
        return LetorColumns(
            grades, run_ends(ends, qids) if ends.size else None, docnos, self._docids,
            marks if marks.size else None,
        )  # fmt: skip
