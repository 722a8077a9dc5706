"""What qrels and runs share: validated columns, grouped by query.

Distinct qids, the rows of each (``offsets``), a docno and a number for each row. Rows keep the
order in which they came; a query whose rows are scattered is gathered.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import SHOWN, InputError, Problem
from .arrow import as_bytes, bytes_at, select, strings_of
from .docnos import Docnos
from .grouped import Columns, grouped, in_order, narrow
from .hashing import pair_keys
from .odd import NOTHING, Odd
from .policy import Duplicates
from .ragged import Array, Ints, frozen, offsets_of
from .same_docnos import PART, first_repeats, many_repeats, repeats, sorted_pairs


class DuplicateRows(Exception):  # noqa: N818 - a signal for the readers, not an error of its own
    """Rows of one query that name one docno twice; `rows` are positions in the columns given.

    They are the first of `total`; there may be more where these are `at_least` so many.
    """

    def __init__(
        self, rows: Array, first: Array, table: str, total: int, *, at_least: bool = False
    ) -> None:
        super().__init__(f"{total} duplicate rows in {table}")
        self.rows, self.first = rows[:SHOWN], first[:SHOWN]
        self.total, self.at_least = total, at_least


T = TypeVar("T", bound="Table")


@dataclass(frozen=True, eq=False, repr=False)
class Table(ABC):
    """What qrels and runs share: rows of (docno, number), grouped by query.

    Parameters
    ----------
    qids : pyarrow string array, shape (n_queries,)
        Distinct query identifiers, in the order of their first appearance.
    offsets : ndarray of int64, shape (n_queries + 1,)
        Rows of query ``i`` are ``offsets[i]:offsets[i + 1]``.
    docnos : Docnos
        Identifiers of the rows' documents.
    numbers : ndarray, shape (n_rows,)
        Grades or scores.
    name : str
        Name for messages and reports.
    scattered : Odd
        Queries that came back after another had begun, and were gathered.
    order : ndarray of int32 or int64, shape (n_rows,), optional
        Position of each row in the columns it came from, where that is not its position here
        (scattered or dropped rows). Predictions of a learning-to-rank file follow it.
    n_source : int, optional
        Number of rows that those columns had, where it is known.
    dropped : Odd, optional
        The rows that repeated a docno and are not here.
    """

    qids: pa.Array
    offsets: Ints
    docnos: Docnos
    numbers: Array
    name: str = ""
    scattered: Odd = NOTHING
    order: Array | None = None
    n_source: int | None = None
    dropped: Odd | None = None

    kind: ClassVar[str] = "table"
    dtypes: ClassVar[tuple[npt.DTypeLike, ...]] = (np.float64,)
    """How numbers are kept; those of any other type become the first."""

    def __post_init__(self) -> None:
        numbers = np.ascontiguousarray(self.numbers)
        if numbers.dtype not in self.dtypes:
            numbers = numbers.astype(self.dtypes[0])
        object.__setattr__(self, "offsets", frozen(np.asarray(self.offsets, dtype=np.int64)))
        object.__setattr__(self, "numbers", frozen(numbers))
        if len(self.qids) != self.offsets.size - 1 or self.offsets[-1] != numbers.size:
            raise ValueError("qids, offsets and numbers do not fit together")

    def __repr__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"<{type(self).__name__}{name}: {self.n_queries} queries, {self.n_rows} rows>"

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.qids)

    @property
    def n_rows(self) -> int:
        """Number of (qid, docno) rows."""
        return int(self.offsets[-1])

    @property
    def row(self) -> Ints:
        """Query of each row, ``(n_rows,)``."""
        return self.docnos.row

    @cached_property
    def keys(self) -> Array:
        """64-bit key of each (query, docno) pair, ``(n_rows,)``; queries by position."""
        return pair_keys(self.row, self.docnos.hashes)

    @classmethod
    def from_columns(
        cls: type[T],
        qids: pa.Array,
        docnos: pa.Array | None,
        numbers: npt.ArrayLike,
        *,
        name: str = "",
        duplicates: Duplicates = "error",
    ) -> T:
        """Group columns by query.

        Parameters
        ----------
        qids, docnos : pyarrow string array, shape (n_rows,)
            Identifiers of each row; without `docnos` the rows of a query are d0, d1, ... The
            qids may be run-end encoded.
        numbers : array_like, shape (n_rows,)
            Grades or scores.
        duplicates : {"error", "first", "last"}
            What to do with a docno that a query names twice.

        Raises
        ------
        DuplicateRows
            Where there are duplicates and they are an error. Readers turn it into an
            :class:`~harness.errors.InputError` with file and line.
        """
        columns = Columns(qids, docnos, np.asarray(numbers))
        return cls.from_held(columns, name=name, duplicates=duplicates)

    @classmethod
    def from_held(
        cls: type[T], columns: Columns, *, name: str = "", duplicates: Duplicates = "error"
    ) -> T:
        """Group columns by query; they are taken out, so that little is in memory twice.

        See :meth:`from_columns` for the rest.
        """
        n_rows = columns.n_rows
        if duplicates == "error" and (many := many_repeats(columns)) is not None:
            raise DuplicateRows(*many, name or cls.kind, many[0].size, at_least=True)
        distinct, offsets, order, scattered = grouped(columns)
        if order is not None:
            if columns.docnos is not None:
                columns.docnos = in_order(columns.docnos, order, columns.let_go)
                columns.let_go()
            columns.numbers = columns.numbers[order]
            columns.let_go()
        docnos, columns.docnos = columns.docnos, None
        table = cls(
            distinct, offsets, Docnos(docnos, offsets), columns.numbers, name, scattered, order,
            n_rows,
        )  # fmt: skip
        columns.numbers = _NONE
        if docnos is None:
            return table
        if duplicates == "error":
            rows, first, total = first_repeats(table._repeats())
            if not total:
                return table
            if order is not None:
                rows, first = order[rows], order[first]
            raise DuplicateRows(rows, first, name or cls.kind, total)
        rows, first = table.duplicate_rows()
        if not rows.size:
            return table
        gone = rows if duplicates == "first" else first
        keep = np.ones(table.n_rows, dtype=bool)
        keep[gone] = False
        return replace(table.filter(keep), dropped=table._odd(gone))

    def _odd(self, rows: Array) -> Odd:
        """Return how many rows these are, of how many queries, and the first of the source."""
        query = np.searchsorted(self.offsets, rows, "right") - 1
        held = np.zeros(self.n_queries, dtype=bool)
        held[query] = True
        places = rows if self.order is None else self.order[rows]
        at = int(places.argmin())
        words = bytes_at(self.qids, query[at : at + 1]) + as_bytes(
            self.docnos.take(rows[at : at + 1])
        )
        texts = tuple(word.decode("utf-8", "replace") for word in words)
        return Odd(rows.size, int(held.sum()), int(places[at]), texts)

    def duplicate_rows(self) -> tuple[Array, Array]:
        """Return the rows that repeat an earlier docno of their query, and the row before each.

        In four bytes each where they do; the second array holds, for each, the previous row with
        the same docno.
        """
        found = [*self._repeats()]
        if not found:
            return _NONE, _NONE
        later, earlier = (np.concatenate(rows) for rows in zip(*found, strict=True))
        del found
        if len(later) > 1 and (later[1:] < later[:-1]).any():
            later, earlier = sorted_pairs(later, earlier)
        return later, earlier

    def _repeats(self) -> Iterator[tuple[Array, Array]]:
        """Yield the rows of each part that repeat an earlier one of their query, and that row."""
        size = min(max(self.n_rows >> 7, PART >> 2), PART)  # what they take, beside a small table
        for part in self._bounds(size):
            found = repeats(self.docnos, *part)
            if found is not None:
                yield found

    def filter(self: T, keep: Array) -> T:
        """Return the table with only the rows for which `keep` is true."""
        offsets = offsets_of(np.bincount(self.row[keep], minlength=self.n_queries))
        strings = select(self.docnos.to_strings(), keep)
        n_rows = self.n_rows
        order = np.arange(n_rows, dtype=narrow(n_rows)) if self.order is None else self.order
        return replace(
            self,
            offsets=offsets,
            docnos=Docnos(strings, offsets),
            numbers=self.numbers[keep],
            order=order[keep],
            n_source=self.n_rows if self.n_source is None else self.n_source,
        )

    def part(self: T, first: int, stop: int, docnos: Docnos | None = None) -> T:
        """Return the table of the queries from `first` to before `stop`; nothing is copied.

        `docnos` are those of the part, where another table has them already.
        """
        begin, end = int(self.offsets[first]), int(self.offsets[stop])
        offsets = self.offsets[first : stop + 1] - begin
        if docnos is None:
            docnos = self.docnos.part(begin, end, offsets)
        return replace(
            self,
            qids=self.qids.slice(first, stop - first),
            offsets=offsets,
            docnos=docnos,
            numbers=self.numbers[begin:end],
            order=None,
            n_source=None,
        )

    def parts(self: T, size: int) -> Iterator[T]:
        """Yield parts of whole queries; each ends with the query that reaches a multiple of `size`.

        A table of no more rows than that comes as it is.
        """
        if self.n_rows <= size:
            yield self
            return
        for first, stop in self._bounds(size):
            yield self.part(first, stop)

    def _bounds(self, size: int) -> Iterator[tuple[int, int]]:
        """Yield the first query of each part of whole queries, and the one after its last."""
        starts = np.searchsorted(self.offsets, np.arange(0, self.n_rows, size))
        return pairwise(sorted({*starts.tolist(), self.n_queries}))  # unique imports numpy.ma

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{qid: {docno: number}}``, as pytrec_eval takes it."""
        docnos, numbers = self.docnos.to_strings().to_pylist(), self.numbers.tolist()
        bounds = self.offsets.tolist()
        return {
            qid: dict(zip(docnos[start:stop], numbers[start:stop], strict=True))
            for qid, start, stop in zip(self.qids.to_pylist(), bounds[:-1], bounds[1:], strict=True)
        }

    @classmethod
    def from_dict(
        cls: type[T],
        mapping: Mapping[str, Mapping[str, float]],
        *,
        name: str = "",
        fractions: bool = False,
    ) -> T:
        """Build a table from ``{qid: {docno: number}}``.

        Parameters
        ----------
        fractions : bool
            As :meth:`check_numbers` takes it.

        Raises
        ------
        InputError
            Where a key is not a string or a value is not a number.
        """
        rows = mapping.values()
        try:
            qids = strings_of(mapping.keys())
            docnos = strings_of(chain.from_iterable(rows))
            numbers = cls.check_numbers(
                list(chain.from_iterable(row.values() for row in rows)),
                name or cls.kind,
                fractions=fractions,
            )
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                Problem(
                    name or cls.kind,
                    f"not a mapping of qid to docno to number ({error})",
                    fix="give {'q1': {'d1': 1, 'd2': 0}}, with strings for qids and docnos",
                )
            ) from error
        offsets = offsets_of([len(row) for row in rows])
        return cls(qids, offsets, Docnos(docnos, offsets), numbers, name)

    @classmethod
    @abstractmethod
    def check_numbers(cls, numbers: npt.ArrayLike, where: str, *, fractions: bool = False) -> Array:
        """Return `numbers` as this table's kind of number.

        Parameters
        ----------
        fractions : bool
            Whether grades may be fractions, which :func:`~harness.core.grade_check.takes_fractions`
            tells of metrics; scores may always.

        Raises
        ------
        InputError
            Where a score is not finite, or a grade is not whole and `fractions` are not accepted.
        """


_NONE = np.zeros(0, dtype=np.int64)
