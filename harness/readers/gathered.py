"""The rows of a file, put together while it is read, so that none is held twice.

Blocks that are kept and joined at the end take twice the room of the table; here each is copied
to the end of what is there and forgotten. qids and tags, which stay the same for many rows, are
run-end encoded: they take the room of a string a query. Where rows have each their own, which the
first of them tell, they are texts like docnos. Encoded ones are kept as bytes, since Arrow checks
that texts are UTF-8, which those of trec_eval need not be. Grades are int32 as long as all of them
are whole, so that they need not be made it when they are there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import pyarrow as pa

from ..core.arrow import call, equal, run_ends, to_arrow, to_numpy
from ..core.hashing import string_views
from ..core.ragged import Array
from .grown import Ends, Numbers, Texts

_RUNS = "qid", "tag"
_SOME, _FIRST = 64, 1024
"""Rows that tell whether a column has runs: at least, at most."""


class Rows:
    """Some columns of texts and of float64 numbers.

    Parameters
    ----------
    runs : collection of str
        Columns that are run-end encoded, unless most of the first rows begin a run.
    grade : str, optional
        A column of numbers that are int32 where all are whole and no larger; others are float64.

    Examples
    --------
    >>> rows = Rows()
    >>> rows.add(pa.table({"qid": ["1", "1"], "docno": ["a", "b"], "score": [0.5, 0.25]}))
    >>> rows.add(pa.table({"qid": ["1"], "docno": ["cc"], "score": [0.125]}))
    >>> rows.n_rows, rows.table()["docno"].to_pylist(), rows.table()["qid"].to_pylist()
    (3, ['a', 'b', 'cc'], [b'1', b'1', b'1'])
    """

    def __init__(self, runs: Collection[str] = _RUNS, grade: str = "grade") -> None:
        self.n_rows, self._runs, self._grade = 0, runs, grade
        self._columns: dict[str, _Numbers | _Texts | Runs] = {}

    def add(self, table: pa.Table) -> None:
        """Put the rows of a table after those that are here; its columns are those of the first."""
        self.n_rows += table.num_rows
        for name, chunks in zip(table.column_names, table.columns, strict=True):
            if name not in self._columns:
                is_number = pa.types.is_floating(chunks.type)
                self._columns[name] = (
                    _Numbers(name == self._grade) if is_number
                    else Runs() if name in self._runs and all(map(_has_runs, chunks.chunks[:1]))
                    else _Texts()
                )  # fmt: skip
            for chunk in chunks.chunks:
                self._columns[name].add(chunk)

    def table(self) -> pa.Table:
        """Return the rows, each column in one piece; nothing can be added after it."""
        return pa.table({name: column.array() for name, column in self._columns.items()})


def gathered(
    tables: Iterable[pa.Table], runs: Collection[str] = _RUNS, grade: str = "grade"
) -> pa.Table:
    """Return tables of the same columns as one, as :class:`Rows` puts them together."""
    rows = Rows(runs, grade)
    for table in tables:
        rows.add(table)
        del table  # before the next one is made
    return rows.table()


class _Numbers:
    def __init__(self, whole: bool) -> None:
        self._numbers, self._whole = Numbers(np.int32 if whole else float), whole

    def add(self, values: pa.Array) -> None:
        numbers = to_numpy(values)
        if self._whole:
            with np.errstate(invalid="ignore"):
                whole = numbers.astype(np.int32)
            if (whole == numbers).all():
                numbers = whole
            else:
                narrow, self._numbers, self._whole = self._numbers, Numbers(float), False
                self._numbers.add(narrow.array())
        self._numbers.add(numbers)

    def array(self) -> pa.Array:
        return to_arrow(self._numbers.array())


class _Texts:
    def __init__(self) -> None:
        self._texts = Texts()

    def add(self, values: pa.Array) -> None:
        self._texts.add_column(values)

    def array(self) -> pa.Array:
        return self._texts.column()


def _has_runs(texts: pa.Array) -> bool:
    """Whether half of the first rows, if there are some, have the text of the row before."""
    first = texts[:_FIRST]
    same = equal(first[1:], first[:-1])
    return bool(same.size < _SOME or 2 * same.sum() >= same.size)


class Runs:
    """A column of texts, run-end encoded."""

    def __init__(self) -> None:
        self._n_rows, self._ends, self._values = 0, Ends(), Texts()

    def add(self, values: pa.Array) -> None:
        """Add texts at the end."""
        if len(values):
            ends, texts = np.array([len(values)]), values[:1]
            if not are_one(values):
                encoded = call("run_end_encode", values)
                ends, texts = to_numpy(encoded.run_ends).astype(np.int64), encoded.values
            self._ends.add(ends + self._n_rows)
            self._values.add_column(texts)
            self._n_rows += len(values)

    def add_runs(self, encoded: pa.RunEndEncodedArray) -> None:
        """Add a whole run-end encoded column at the end."""
        self._ends.add(to_numpy(encoded.run_ends).astype(np.int64) + self._n_rows)
        self._values.add_column(encoded.values)
        self._n_rows += len(encoded)

    def parts(self) -> tuple[Array, pa.Array]:
        """Return where each run ends, and its text; none can be added then."""
        return self._ends.array(), self._values.column()

    def array(self) -> pa.Array:
        """Return all of them, as bytes; none can be added then."""
        ends, values = self.parts()
        is_wide = pa.types.is_large_string(values.type)
        values = values.view(pa.large_binary() if is_wide else pa.binary())
        return run_ends(ends, values)


def are_one(texts: pa.Array) -> bool:
    """Whether all texts are the same: of one length, and their bytes repeat with it.

    >>> are_one(pa.array(["ab", "ab"])), are_one(pa.array(["ab", "a", "b"]))
    (True, False)
    """
    offsets, data = string_views(texts)
    length, data = int(offsets[1] - offsets[0]), data[offsets[0] : offsets[-1]]
    if texts.null_count or not (np.diff(offsets) == length).all():
        return False
    return np.array_equal(data[length:], data[: data.size - length])
