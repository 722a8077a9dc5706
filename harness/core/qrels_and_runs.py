"""Qrels and runs, the two input tables.

Distinct qids, the rows of each (``offsets``), a docno and a number for each row. Rows keep the
order in which they came; a query whose rows are scattered is gathered.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, pairwise
from numbers import Real
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import SHOWN, InputError, Place, Problem, counted
from .arguments import (
    MAPPING,
    MOST,
    TEXT,
    ArrowStream,
    JudgedData,
    LazyFrame,
    PathLike,
    check_arguments,
    describe,
)
from .arrow import (
    bytes_at,
    call,
    cast,
    encode,
    encode_narrow,
    equal,
    select,
    string_column,
    take,
    to_doubles,
    to_numpy,
)
from .hashing import Index, Sieve, hash_strings, pair_keys
from .policy import Duplicates
from .ragged import (
    Array,
    Bools,
    Floats,
    Ints,
    Ragged,
    frozen,
    lengths_of,
    offsets_of,
    positions_of,
    rows_of,
)


class Docnos:
    """The docnos of a table: an Arrow string column, or positions for d0, d1, ...

    Learning-to-rank rows and batches have no names of their own; ``Docnos(None, offsets)``
    names the row at position ``i`` of its query ``d{i}`` without making the strings; they are
    `positional` then.
    """

    def __init__(self, strings: pa.Array | None, offsets: Ints) -> None:
        self.strings, self.offsets = strings, offsets
        self.positional = strings is None

    def take(self, rows: Ints) -> pa.Array:
        """Return the docnos of these rows as strings."""
        if self.strings is not None:
            return take(self.strings, rows)
        positions = rows - self.offsets[np.searchsorted(self.offsets, rows, side="right") - 1]
        return take(_position_names(positions), positions)

    def to_strings(self) -> pa.Array:
        """Return all docnos as strings."""
        if self.strings is not None:
            return self.strings
        return self.take(np.arange(int(self.offsets[-1]), dtype=np.int64))

    def byte_order(self, rows: Ints) -> Ints:
        """Return numbers that sort these rows as their docnos sort by bytes, ``(n,)`` int64."""
        if self.strings is None:
            positions = positions_of(self.offsets)[rows]
            return byte_ranks(_position_names(positions))[positions]
        return byte_ranks(self.take(rows))

    def part(self, begin: int, end: int, offsets: Ints) -> Docnos:
        """Return those of whole queries, from a row to before another; hashes are not lost."""
        strings = None if self.strings is None else self.strings.slice(begin, end - begin)
        part = Docnos(strings, offsets)
        if "hashes" in self.__dict__:
            part.hashes = self.hashes[begin:end]
        return part

    @cached_property
    def row(self) -> Ints:
        """Query of each row, ``(n_rows,)``; computed once for all tables that share the docnos."""
        return frozen(rows_of(self.offsets))

    @cached_property
    def hashes(self) -> Array:
        """64-bit hash of each docno, computed once."""
        if self.strings is not None:
            return hash_strings(self.strings)
        positions = positions_of(self.offsets)
        return hash_strings(_position_names(positions))[positions]


def _position_names(positions: Ints) -> pa.Array:
    """Return d0, d1, ... up to the largest of the positions."""
    return string_column(f"d{position}" for position in range(int(positions.max(initial=-1)) + 1))


def byte_ranks(strings: pa.Array) -> Ints:
    """Return numbers that sort as the strings do by bytes; equal strings, equal numbers."""
    distinct, which = encode(strings)
    order = to_numpy(call("array_sort_indices", [cast(distinct, pa.large_binary())]))
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    ranks: Ints = rank[which]
    return ranks


class RowCount(NamedTuple):
    """Scattered or dropped rows: how many, of how many queries, and the first of them.

    `row` is its position in the file, from 0, or -1 if it is unknown; `words` are its qid, and
    its docno if that matters.
    """

    rows: int = 0
    queries: int = 0
    row: int = -1
    words: tuple[str, ...] = ()

    def more(self, later: RowCount) -> RowCount:
        """Return these and later ones."""
        earlier = later if self.row < 0 else self
        rows, queries = self.rows + later.rows, self.queries + later.queries
        return RowCount(rows, queries, earlier.row, earlier.words)

    def after(self, rows: int) -> RowCount:
        """Return them with their place in a file with this many rows before them."""
        return self if self.row < 0 else self._replace(row=self.row + rows)


NO_ROWS = RowCount()
"""The count of a table without such rows."""


def group_rows(qids: pa.Array) -> tuple[pa.Array, Ints, Ints | None, RowCount]:
    """Return distinct qids, the rows of each, and the place in the columns of each row gathered.

    The places are None if no row moves. The queries that came back are counted. `qids` may be
    run-end encoded.
    """
    encoded = pa.types.is_run_end_encoded(qids.type)
    values = qids.values if encoded else qids
    stops = np.zeros(0, np.int64)
    if len(values):  # one for each stretch of rows that have the same qid, and where it ends
        ends = to_numpy(qids.run_ends) if encoded else np.arange(1, len(values) + 1)
        begins = np.append(0, 1 + np.flatnonzero(~equal(values[1:], values[:-1])))
        stops = ends[np.append(begins[1:], len(values)) - 1].astype(np.int64)
        if begins.size < len(values):
            values = take(values, begins)
    distinct, query = encode_narrow(values)  # numbered as they first come
    lengths = lengths_of(np.append(0, stops))
    offsets = offsets_of(np.bincount(query, lengths, len(distinct)).astype(np.int64))
    if len(distinct) == len(values):
        return distinct, offsets, None, NO_ROWS
    back = np.flatnonzero(query[1:] <= np.maximum.accumulate(query)[:-1]) + 1
    (qid,) = bytes_at(distinct, query[back[:1]])
    returned = int(np.unique(query[back]).size)
    returned_at = int(stops[back[0] - 1])
    scattered = RowCount(returned, returned, returned_at, (qid.decode("utf-8", "replace"),))
    order = np.argsort(np.repeat(query, lengths), kind="stable")
    return distinct, offsets, order, scattered


class DuplicateRows(Exception):  # noqa: N818 - a signal for the readers, not an error of its own
    """Rows of one query that name one docno twice; `rows` are positions in the columns given.

    `first` are the rows before with the same docno; both are the first few of `total`.
    """

    def __init__(self, rows: Array, first: Array, table: str) -> None:
        super().__init__(f"{rows.size} duplicate rows in {table}")
        self.rows, self.first, self.total = rows[:SHOWN], first[:SHOWN], rows.size


T = TypeVar("T", bound="QueryRows")


@dataclass(frozen=True, eq=False, repr=False)
class QueryRows(ABC):
    """Base of qrels and runs: rows of (docno, number), grouped by query.

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
    scattered : RowCount
        Queries that came back after another had begun, and were gathered.
    order : ndarray of int32 or int64, shape (n_rows,), optional
        Position of each row in the columns it came from, if that is not its position here
        (scattered or dropped rows). Predictions of a learning-to-rank file follow it.
    n_source : int, optional
        Number of rows that those columns had, if it is known.
    dropped : RowCount, optional
        The rows that repeated a docno and are not here.
    rows_of_documents : ndarray of int64, optional
        Row of the file for each row of those columns, if rows of the file have several documents.
    """

    qids: pa.Array
    offsets: Ints
    docnos: Docnos
    numbers: Array
    name: str = ""
    scattered: RowCount = NO_ROWS
    order: Array | None = None
    n_source: int | None = None
    dropped: RowCount | None = None
    rows_of_documents: Ints | None = None

    kind: ClassVar[str] = "table"
    dtypes: ClassVar[tuple[npt.DTypeLike, ...]] = (np.float64,)
    """Types of the stored numbers; other types become the first one."""

    def __post_init__(self) -> None:
        numbers = np.ascontiguousarray(self.numbers)
        if numbers.dtype not in self.dtypes:
            numbers = self._converted(numbers)
        object.__setattr__(self, "offsets", frozen(np.asarray(self.offsets, dtype=np.int64)))
        object.__setattr__(self, "numbers", frozen(numbers))
        if len(self.qids) != self.offsets.size - 1 or self.offsets[-1] != numbers.size:
            raise ValueError("qids, offsets and numbers do not fit together")

    def _converted(self, numbers: Array) -> Array:
        """Return numbers of another type as they are stored."""
        return numbers.astype(self.dtypes[0])

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
        duplicates : {"error", "first", "last", "best", "lowest"}
            What to do with a docno that a query names twice; "best" keeps the highest number.

        Raises
        ------
        DuplicateRows
            If there are duplicates and they are an error. Readers turn it into an
            `harness.errors.InputError` with file and line.
        """
        numbers = np.asarray(numbers)
        distinct, offsets, order, scattered = group_rows(qids)
        if order is not None:
            docnos, numbers = None if docnos is None else take(docnos, order), numbers[order]
        docnos_of = Docnos(docnos, offsets)
        table = cls(distinct, offsets, docnos_of, numbers, name, scattered, order, len(numbers))
        repeated = table.duplicate_rows()
        return table._without_duplicates(*repeated, duplicates) if repeated[0].size else table

    def _without_duplicates(self: T, rows: Ints, earlier_rows: Ints, duplicates: Duplicates) -> T:
        """Return the table with each docno of a query once; see `from_columns`."""
        if duplicates == "error":
            if self.order is not None:
                rows, earlier_rows = self.order[rows], self.order[earlier_rows]
            raise DuplicateRows(rows, earlier_rows, self.name or self.kind)
        gone = rows if duplicates == "first" else earlier_rows
        if duplicates in ("best", "lowest"):
            rows = np.union1d(rows, earlier_rows)
            sort_keys = self.numbers[rows] if duplicates == "lowest" else -self.numbers[rows]
            _, later = self._neighbours(rows, sort_keys)  # of equal ones, the first is kept
            gone = np.sort(later)
        return replace(self._without(gone), dropped=self._count_of(gone))

    def _count_of(self, rows: Array) -> RowCount:
        """Count rows and their queries, with the first row of the source."""
        query = np.searchsorted(self.offsets, rows, "right") - 1
        held = np.zeros(self.n_queries, dtype=bool)
        held[query] = True
        places = rows if self.order is None else self.order[rows]
        place = int(places.argmin())
        words = (
            self.qids[int(query[place])].as_py(),
            self.docnos.take(rows[place : place + 1])[0].as_py(),
        )
        return RowCount(rows.size, int(held.sum()), int(places[place]), words)

    def duplicate_rows(self) -> tuple[Ints, Ints]:
        """Return the rows that repeat an earlier docno of their query, and the row before each."""
        if self.docnos.positional:
            return _NONE, _NONE
        keys = pair_keys(self.row, self.docnos.hashes)
        in_order = np.sort(keys)
        if not (in_order[1:] == in_order[:-1]).any():
            return _NONE, _NONE
        order = np.argsort(keys, kind="stable")
        repeated = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
        rows = np.unique(np.append(order[repeated], order[repeated + 1]))
        earlier, later = self._neighbours(rows, rows)
        by_row = np.argsort(later)
        return later[by_row], earlier[by_row]

    def _neighbours(self, rows: Ints, sort_keys: Array) -> tuple[Ints, Ints]:
        """Return neighbours with one docno in a query, if its rows are in the order of the keys."""
        docno, query = byte_ranks(self.docnos.take(rows)), self.row[rows]
        order = np.lexsort((sort_keys, docno, query))
        repeated = np.flatnonzero((np.diff(query[order]) == 0) & (np.diff(docno[order]) == 0))
        return rows[order[repeated]], rows[order[repeated + 1]]

    def filter(self: T, keep: Array) -> T:
        """Return the table with only the rows for which `keep` is true."""
        offsets = offsets_of(np.bincount(self.row[keep], minlength=self.n_queries))
        docnos = Docnos(select(self.docnos.to_strings(), keep), offsets)
        order = np.arange(self.n_rows) if self.order is None else self.order
        n_source = self.n_rows if self.n_source is None else self.n_source
        columns = {**self._of_rows(keep), "order": order[keep], "n_source": n_source}
        return replace(self, offsets=offsets, docnos=docnos, **columns)

    def _without(self: T, rows: Array) -> T:
        """Return the table without these rows."""
        keep = np.ones(self.n_rows, dtype=bool)
        keep[rows] = False
        return self.filter(keep)

    def _of_rows(self, rows: slice | Bools) -> dict[str, Any]:
        """Return the columns of these rows except the docnos, by field."""
        return {"numbers": self.numbers[rows]}

    def without_identical_ids(self: T) -> T:
        """Return the table without rows with the qid as docno; the same table without such rows."""
        identical = self.identical_ids()
        return self._without(identical) if identical.size else self

    def identical_ids(self, shift: int = 0) -> Ints:
        """Return the rows with the qid as docno; none if docnos are d0, d1, ...

        With a `shift`, the qid of a query that many places further up is taken in its place.
        """
        if self.docnos.positional:
            return _NONE
        query = (self.row - shift) % self.n_queries if shift else self.row
        rows = np.flatnonzero(hash_strings(self.qids)[query] == self.docnos.hashes)
        is_equal = equal(
            cast(take(self.qids, query[rows]), pa.large_string()),
            cast(self.docnos.take(rows), pa.large_string()),
        )
        return rows[is_equal]

    def part(self: T, first: int, stop: int, docnos: Docnos | None = None) -> T:
        """Return the table of the queries from `first` to before `stop`; nothing is copied.

        `docnos` are those of the part, if another table has them already.
        """
        begin, end = int(self.offsets[first]), int(self.offsets[stop])
        offsets = self.offsets[first : stop + 1] - begin
        docnos = docnos or self.docnos.part(begin, end, offsets)
        columns = {**self._of_rows(slice(begin, end)), "order": None, "n_source": None}
        columns["rows_of_documents"] = None
        qids = self.qids.slice(first, stop - first)
        return replace(self, qids=qids, offsets=offsets, docnos=docnos, **columns)

    def parts(self: T, size: int) -> Iterator[T]:
        """Yield parts of whole queries; each ends with the query that reaches a multiple of `size`.

        A table of no more rows than that comes as it is.
        """
        if self.n_rows <= size:
            yield self
            return
        starts = np.searchsorted(self.offsets, np.arange(0, self.n_rows, size))
        for start, stop in pairwise(sorted({*starts.tolist(), self.n_queries})):
            yield self.part(start, stop)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{qid: {docno: number}}``, as pytrec_eval takes it."""
        docnos, numbers = self.docnos.to_strings().to_pylist(), self.numbers.tolist()
        bounds = self.offsets.tolist()
        return {
            qid: dict(zip(docnos[start:stop], numbers[start:stop], strict=True))
            for qid, start, stop in zip(self.qids.to_pylist(), bounds[:-1], bounds[1:], strict=True)
        }

    def of_query(self, place: int) -> dict[str, float]:
        """Return ``{docno: number}`` of the query at a place in `qids`."""
        begin, end = self.offsets[place : place + 2].tolist()
        strings = self.docnos.strings
        if strings is None:
            names = [f"d{position}" for position in range(end - begin)]
        else:
            names = strings.slice(begin, end - begin).to_pylist()
        return dict(zip(names, self.numbers[begin:end].tolist(), strict=True))

    @classmethod
    def from_dict(
        cls: type[T],
        mapping: Mapping[str, Any],
        *,
        name: str = "",
        duplicates: Duplicates = "error",
    ) -> T:
        """Build a table from ``{qid: {docno: number}}`` or ``{qid: [docno, ...]}``.

        Lists of a run are rankings, the best document first: n documents have the scores n, n - 1,
        ..., 1. Lists or sets of qrels are the relevant documents, with grade 1.

        Parameters
        ----------
        mapping : mapping of str to mapping, list or set
            The documents of each qid.
        duplicates : {"error", "first", "last", "best", "lowest"}
            What to do with a docno that a list contains twice: refuse it, or keep the first, the
            last, the one with the best number or the one with the lowest.

        Raises
        ------
        InputError
            If a key or docno is not a string, a value is not a number, a list names a docno twice,
            or a run has sets, which have no order.
        """
        check_arguments(locals(), mapping=_NESTED, name=TEXT)
        rows, place = mapping.values(), name or cls.kind
        has_lists = any(isinstance(row, LISTS) for row in rows)
        wrong = _wrong_row(mapping, cls.kind) if has_lists else ""
        try:
            if wrong:
                raise TypeError
            docnos_by_query = [sorted(row) if isinstance(row, AbstractSet) else row for row in rows]
            qids = string_column(mapping.keys())
            docnos = string_column(chain.from_iterable(docnos_by_query))
            offsets = offsets_of([len(row) for row in rows])
            if has_lists:
                numbers = cls.numbers_of_lists(offsets)
            else:
                flat = list(chain.from_iterable(row.values() for row in rows))
                numbers = cls.check_numbers(flat, place)
            if numbers.ndim != 1:
                raise TypeError("a list in the place of a number")
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, AttributeError) as error:
            form = "{qid: [docno, ...]}" if has_lists else "{qid: {docno: number}}"
            message = f"expected {form}, got {wrong or _wrong_part(mapping) or error}"
            fix = "give {'q1': {'d1': 1, 'd2': 0}}, with strings for qids and docnos"
            if has_lists:
                fix = "give {'q1': ['d1', 'd2']}, of a run the best first, with strings for both"
            parts = chain.from_iterable(row.values() for row in rows if isinstance(row, Mapping))
            if any(isinstance(part, Mapping) for part in parts):
                message = f"expected {form}, got {{name: {form}}}"
                fix = "give several runs to harness.compare(qrels, {name: run}, metrics)"
            raise InputError(Problem(place, message, fix=fix)) from error
        table = cls(qids, offsets, Docnos(docnos, offsets), numbers, name)
        if not has_lists or not (repeated := table.duplicate_rows())[0].size:
            return table
        try:
            return table._without_duplicates(*repeated, duplicates)
        except DuplicateRows as error:
            problems = [*map(partial(table._repeated, place), error.rows, error.first)]
            raise InputError(problems, total=error.total) from None

    def _repeated(self, place: str, row: int, earlier_row: int) -> Problem:
        """Return the error of a docno that a list names twice."""
        query, (docno,) = int(self.row[row]), self.docnos.take(np.array([row])).to_pylist()
        first, again = (at - int(self.offsets[query]) + 1 for at in (earlier_row, row))
        message = f"docno '{docno}' occurs twice, at positions {first} and {again}"
        where = Place(place, key=f"query '{self.qids[query]}'")
        return Problem(where, message, fix="name each document once", rule="duplicates")

    @classmethod
    def numbers_of_lists(cls, offsets: Ints) -> Array:
        """Return the numbers of documents in lists: grades 1, or scores n, n - 1, ..., 1."""
        if cls.kind == "qrels":
            return np.ones(int(offsets[-1]), dtype=np.int32)
        lengths = lengths_of(offsets)
        scores: Array = (np.repeat(lengths, lengths) - positions_of(offsets)).astype(np.float64)
        return scores

    @classmethod
    @abstractmethod
    def check_numbers(cls, numbers: npt.ArrayLike, where: str) -> Array:
        """Return `numbers` as this table's kind of number.

        Raises
        ------
        InputError
            If a number is not finite, or a grade is beyond `GRADE_LIMIT`.
        """


_NONE = np.zeros(0, dtype=np.int64)
_NESTED = MAPPING._replace(
    fix="give {'q1': {'d1': 1}} or {'q1': ['d1']}; harness.evaluate takes data frames too"
)


LISTS = (list, tuple, AbstractSet)
"""Types of the documents of a query without numbers."""


def _wrong_row(mapping: Mapping[Any, Any], kind: str) -> str:
    """Return the first query with a set in a run, or without a list although others have one."""
    for qid, row in mapping.items():
        if not isinstance(row, LISTS):
            return f"query {describe(qid)}: expected a list, got {describe(row)}"
        if kind == "run" and isinstance(row, AbstractSet):
            return f"query {describe(qid)}: expected a list, got a set, which has no order"
    return ""


def _wrong_part(mapping: Mapping[Any, Any]) -> str:
    """Return the first part that has the wrong type, for a message."""
    for qid, row in mapping.items():
        if not isinstance(qid, str):
            return f"qid: expected text, got {describe(qid)}"
        if not isinstance(row, (Mapping, *LISTS)):
            return f"query {describe(qid)}: expected a mapping, got {describe(row)}"
        for docno in row:
            if not isinstance(docno, str):
                return f"docno in query {describe(qid)}: expected text, got {describe(docno)}"
            if isinstance(row, Mapping) and not isinstance(row[docno], (Real, np.generic)):
                where = f"document {describe(docno)} of query {describe(qid)}"
                return f"{where}: expected a number, got {describe(row[docno])}"
    return ""


GRADE_LIMIT = MOST
"""The largest grade, and with a sign the smallest; beyond it are identifiers in a wrong column."""


def rows_in_file(table: QueryRows, rows: Ints) -> Ints:
    """Return the positions of some rows of a table in its file, from 0."""
    for places in (table.order, table.rows_of_documents):
        rows = rows if places is None else places[np.minimum(rows, places.size - 1)]
    return rows


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(QueryRows):
    """The judgements of a dataset.

    A grade below 0 means unjudged, as in trec_eval. Not every metric accepts fractions.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 2, "d2": 0}, "q2": {"d9": 1}})
    >>> qrels.n_queries, qrels.n_rows, qrels.grades.tolist()
    (2, 3, [2, 0, 1])

    Attributes
    ----------
    numbers : ndarray, shape (n_rows,)
        The grades in the smallest integer type that fits them, or float64 for fractions.
    subtopics : ndarray of int64, shape (n_rows,), optional
        Subtopics for which each document is relevant: bit s is subtopic s of its query.
    learning_to_rank : bool
        The rows come from a learning-to-rank file, so a run must score every row.
    unnamed : Problem, optional
        Reason for the docnos d0, d1, ... by position if such a file names documents.
    """

    subtopics: Ints | None = None
    learning_to_rank: bool = False
    unnamed: Problem | None = None

    kind: ClassVar[str] = "qrels"
    dtypes: ClassVar[tuple[npt.DTypeLike, ...]] = (np.int64, np.int32, np.int16, np.int8)

    def _converted(self, numbers: Array) -> Array:
        whole = super()._converted(numbers)
        is_whole = numbers.dtype.kind != "f" or np.array_equal(numbers, whole)
        return whole if is_whole else _in_double(numbers)

    @property
    def grades(self) -> Ints:
        """Grade of each judgement, ``(n_rows,)``: int64, or float64 if some are fractions."""
        if self.numbers.dtype.kind == "f":
            return self.numbers
        return frozen(self.numbers.astype(np.int64, copy=False))

    def check_named(self, run: Run) -> None:
        """Raise InputError if a run names documents and the names in the file are not distinct."""
        if self.unnamed is not None and not run.docnos.positional:
            raise InputError(self.unnamed)

    def _of_rows(self, rows: slice | Bools) -> dict[str, Any]:
        subtopics = None if self.subtopics is None else self.subtopics[rows]
        return {**super()._of_rows(rows), "subtopics": subtopics}

    @cached_property
    def ideal(self) -> Ragged:
        """Grades of each query in descending order."""
        grades = self.grades
        if not self.n_rows:
            return Ragged(self.offsets, grades)
        if grades.dtype.kind == "f":
            return Ragged(self.offsets, grades[np.lexsort((-grades, self.row))])
        top = int(grades.max())
        span = top - int(grades.min()) + 1
        # numbers that rise from query to query, and as grades fall
        tops = np.repeat(top + span * np.arange(self.n_queries), lengths_of(self.offsets))
        levels = tops - grades
        if self.n_queries * span <= self.n_rows:  # few levels: count the rows of each
            counts = np.bincount(levels, minlength=self.n_queries * span)
            falling = np.tile(np.arange(top, top - span, -1), self.n_queries)
            return Ragged(self.offsets, np.repeat(falling, counts))
        levels.sort()
        return Ragged(self.offsets, tops - levels)

    @cached_property
    def _indexes(self) -> tuple[Index, Sieve, Index]:
        """Indexes that find qids, docnos that may be judged, and pairs of both."""
        hashes = self.docnos.hashes
        return Index(hash_strings(self.qids)), Sieve(hashes), Index(pair_keys(self.row, hashes))

    def place(self, qids: pa.Array) -> Ints:
        """Return the position of each qid in `qids`, -1 if it is not judged, ``(n,)``."""
        place = np.full(len(qids), -1)

        def equal_qids(rows: Ints, known_rows: Ints) -> Bools:
            return equal(take(qids, rows), take(self.qids, known_rows))

        judged, matches = self._indexes[0].find(hash_strings(qids), equal_qids)
        place[judged] = matches
        return place

    def find(self, query: Ints, docnos: Docnos) -> tuple[Ints, Ints]:
        """Find the judged pairs of query and docno: their positions, and the row of each judgement.

        `query` has the position of each pair's query in `qids`, -1 if it is absent, ``(n,)``.
        """
        _, sieve, index = self._indexes
        rows = sieve.pass_on(docnos.hashes)
        rows = rows[query[rows] >= 0]

        def equal_pairs(pair_rows: Ints, known_rows: Ints) -> Bools:
            names = equal(docnos.take(rows[pair_rows]), self.docnos.take(known_rows))
            pairs: Bools = names & (query[rows[pair_rows]] == self.row[known_rows])
            return pairs

        judged, judgement = index.find(pair_keys(query[rows], docnos.hashes[rows]), equal_pairs)
        return rows[judged], judgement

    @cached_property
    def _docno_hashes(self) -> Array:
        return np.sort(self.docnos.hashes)

    @property
    def n_documents(self) -> int:
        """Number of distinct judged documents, counted by their hashes."""
        sorted_hashes = self._docno_hashes
        return int((sorted_hashes[1:] != sorted_hashes[:-1]).sum()) + 1 if sorted_hashes.size else 0

    def knows(self, hashes: Array) -> Bools:
        """Mask of hashes of docnos that are judged for any query, ``(n,)``."""
        is_judged = np.zeros(hashes.size, dtype=bool)
        rows = self._indexes[1].pass_on(hashes)
        if rows.size:
            unsure = hashes[rows]
            order = np.argsort(unsure)  # sorted hashes are found three times as fast
            sorted_hashes, unsure = self._docno_hashes, unsure[order]
            position = np.minimum(np.searchsorted(sorted_hashes, unsure), sorted_hashes.size - 1)
            is_judged[rows[order]] = sorted_hashes[position] == unsure
        return is_judged

    @classmethod
    def check_numbers(cls, numbers: npt.ArrayLike, where: str) -> Array:
        """Return grades as int32, or as float64 if some are fractions."""
        grades = np.asarray(numbers)
        if grades.size == 0:
            return np.zeros(0, dtype=np.int32)
        if grades.dtype.kind not in "iubf":
            raise TypeError(f"grades must be numbers, not {grades.dtype}")
        is_whole, fix = True, "grades are small numbers; scale or round them before"
        if grades.dtype.kind == "f":
            if not (finite := np.isfinite(grades)).all():
                raise _refusal(where, "grade", grades[~finite], "finite", fix, "not-finite")
            is_whole = np.array_equal(grades, np.trunc(grades))
        if grades.dtype == np.float16:  # the limit is beyond it
            grades = _in_double(grades)
        if (large := ~((grades >= -GRADE_LIMIT) & (grades <= GRADE_LIMIT))).any():
            limits = f"between -{GRADE_LIMIT} and {GRADE_LIMIT}"
            raise _refusal(where, "grade", grades[large], limits, fix)
        return grades.astype(np.int32) if is_whole else _in_double(grades)


def _in_double(grades: Array) -> Array:
    """Return grades as float64; those of fewer digits as they are printed.

    Grades in float64 that are all in single precision were stored so before: 0.7 of a model's
    float32 is to reach ``rel=0.7`` in any file.
    """
    if grades.dtype != np.float16 and np.array_equal(singles := grades.astype(np.float32), grades):
        return to_numpy(to_doubles(pa.array(singles)))
    return (grades.astype(str) if grades.dtype == np.float16 else grades).astype(np.float64)


def _refusal(
    where: str, noun: str, bad: Array, expected: str, fix: str, rule: str = ""
) -> InputError:
    """Return the error of `bad` numbers; `expected` describes the others."""
    number = bad[0].item()
    # an identifier of 11 digits is 99999999999, not 99999999999.0
    number = int(number) if abs(number) < 1e15 and number == int(number) else number
    n_such = counted(bad.size, f"such {noun}")
    text = f"expected {noun}s that are {expected}, got {number!r} ({n_such})"
    return InputError(Problem(where, text, fix=fix, rule=rule))


@dataclass(frozen=True, eq=False, repr=False)
class Run(QueryRows):
    """Scores of one system for all queries.

    Examples
    --------
    >>> run = Run.from_dict({"q1": {"d1": 0.5, "d2": 1.5}}, name="bm25")
    >>> run.scores.tolist()
    [0.5, 1.5]

    Attributes
    ----------
    tags : tuple of str
        Distinct values in the last column of a TREC file, a thousand at most.
    """

    tags: tuple[str, ...] = field(default=())

    kind: ClassVar[str] = "run"

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """Score of each row, ``(n_rows,)`` float64, all finite."""
        return self.numbers

    @cached_property
    def extremes(self) -> tuple[Floats, Floats]:
        """Smallest and largest score of each answered query, ``(n_answered,)`` each."""
        # Empty queries share their start with the next one and are left out.
        starts = self.offsets[:-1][lengths_of(self.offsets) > 0]
        if not starts.size:
            return np.zeros(0), np.zeros(0)
        return np.minimum.reduceat(self.scores, starts), np.maximum.reduceat(self.scores, starts)

    @classmethod
    def check_numbers(cls, numbers: npt.ArrayLike, where: str) -> Array:
        """Return finite scores as float64."""
        array = np.asarray(numbers)
        if array.size and array.dtype.kind not in "iufb":
            raise TypeError(f"scores must be numbers, not {array.dtype}")
        scores = array.astype(np.float64)
        if not (finite := np.isfinite(scores)).all():
            fix = "correct the system's output; a ranking cannot be read from NaN or inf"
            raise _refusal(where, "score", scores[~finite], "finite", fix, "not-finite")
        return scores

    @classmethod
    def for_rows(cls, qrels: Qrels, scores: npt.ArrayLike, *, name: str = "") -> Run:
        """Make a run from scores in the order of the rows of `qrels`.

        Use it for predictions of a learning-to-rank file. It matches rows, not docnos.

        Parameters
        ----------
        scores : array_like, shape (n_rows,)
            One finite score for each row of `qrels`.
        """
        checked = cls.check_numbers(scores, name or "scores")
        n_rows = qrels.n_rows if qrels.n_source is None else qrels.n_source
        if checked.shape != (n_rows,):
            message = wrong_row_count(n_rows, checked.size, qrels.name or "the dataset")
            fix = "give one score for each row of the dataset, in its order"
            raise InputError(Problem(name or "scores", message, fix=fix, rule="row-count"))
        if qrels.order is not None:
            checked = checked[qrels.order]
        return cls(qrels.qids, qrels.offsets, qrels.docnos, checked, name)


def wrong_row_count(n_rows: int, n: int, dataset: str = "") -> str:
    """Return the mistake of more or fewer predictions than a dataset has rows."""
    of_dataset = f" of {'/'.join(dataset.rsplit('/', 2)[-2:])}" if dataset else ""
    return f"expected {n_rows:,} predictions, one for each row{of_dataset}, got {n:,}"


Ranked = (
    QueryRows | PathLike | Mapping[Any, Any] | Iterable[Any] | ArrowStream | LazyFrame | JudgedData
)
"""Sources of qrels and runs: a path, a mapping, a list, an array, a frame, an iterator."""
