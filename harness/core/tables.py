"""Qrels and runs: validated columns, grouped by query.

Both are one shape: distinct qids, the rows of each (``offsets``), a docno and a number for each
row. Rows keep the order in which they came; a query whose rows are scattered is gathered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError, Problem
from .arrow import index_in, string_column, to_arrow, to_numpy
from .hashing import hash_strings, pair_keys
from .policy import Duplicates as Duplicates
from .ragged import Array, Ints, Ragged, frozen, offsets_of, positions_of, rows_of


class DuplicateRows(Exception):  # noqa: N818 - a signal for the readers, not an error of its own
    """Rows of one query that name one docno twice; `rows` are positions in the columns given."""

    def __init__(self, rows: Ints, first: Ints, table: str) -> None:
        super().__init__(f"{rows.size} duplicate rows in {table}")
        self.rows, self.first = rows, first


class Docnos:
    """The docnos of a table: an Arrow string column, or positions that stand for d0, d1, ...

    Learning-to-rank rows and batches have no names of their own; ``Docnos(None, offsets)``
    names the row at position ``i`` of its query ``d{i}`` without making the strings.
    """

    __slots__ = ("_keys", "_row", "offsets", "strings")

    def __init__(self, strings: pa.Array | None, offsets: Ints) -> None:
        self.strings, self.offsets = strings, offsets
        self._keys: Array | None = None
        self._row: Ints | None = None

    @property
    def positional(self) -> bool:
        """Whether the docnos are d0, d1, ... by position."""
        return self.strings is None

    def take(self, rows: Ints) -> pa.Array:
        """Return the docnos of these rows as strings."""
        if self.strings is not None:
            return self.strings.take(to_arrow(rows))
        positions = positions_of(self.offsets)[rows]
        return _position_names(positions).take(to_arrow(positions))

    def to_strings(self) -> pa.Array:
        """Return all docnos as strings."""
        if self.strings is not None:
            return self.strings
        return self.take(np.arange(int(self.offsets[-1]), dtype=np.int64))

    def byte_order(self, rows: Ints) -> Ints:
        """Return numbers that sort these rows as their docnos sort by bytes, ``(n,)`` int64."""
        if self.strings is None:
            positions = positions_of(self.offsets)[rows]
            return _ranks(_position_names(positions))[positions]
        return _ranks(self.take(rows))

    @property
    def row(self) -> Ints:
        """Query of each row, ``(n_rows,)``; computed once for all tables that share the docnos."""
        if self._row is None:
            self._row = frozen(rows_of(self.offsets))
        return self._row

    @property
    def hashes(self) -> Array:
        """64-bit hash of each docno, computed once."""
        if self._keys is None:
            self._keys = hash_strings(self.to_strings())
        return self._keys


def _position_names(positions: Ints) -> pa.Array:
    """Return d0, d1, ... up to the largest of the positions."""
    return string_column(f"d{at}" for at in range(int(positions.max(initial=-1)) + 1))


def _ranks(strings: pa.Array) -> Ints:
    """Return numbers that sort as the strings do by bytes; equal strings, equal numbers."""
    encoded = strings.dictionary_encode()
    order = to_numpy(pc.sort_indices(encoded.dictionary.cast(pa.large_binary())))
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    ranks: Ints = rank[to_numpy(encoded.indices)]
    return ranks


T = TypeVar("T", bound="Table")


@dataclass(frozen=True, eq=False)
class Table:
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
    scattered : int
        How many queries came back after another had begun, and were gathered.
    order : ndarray of int64, shape (n_rows,), optional
        Position of each row in the columns it came from, where that is not its position here
        (scattered or dropped rows). Predictions of a learning-to-rank file follow it.
    n_source : int, optional
        Number of rows that those columns had, where it is known.
    """

    qids: pa.Array
    offsets: Ints
    docnos: Docnos
    numbers: Array
    name: str = ""
    scattered: int = 0
    order: Ints | None = None
    n_source: int | None = None

    kind: ClassVar[str] = "table"
    dtype: ClassVar[npt.DTypeLike] = np.float64

    def __post_init__(self) -> None:
        numbers = np.ascontiguousarray(self.numbers, dtype=self.dtype)
        object.__setattr__(self, "offsets", frozen(np.asarray(self.offsets, dtype=np.int64)))
        object.__setattr__(self, "numbers", frozen(numbers))
        if len(self.qids) != self.offsets.size - 1 or self.offsets[-1] != numbers.size:
            raise ValueError("qids, offsets and numbers do not fit together")

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
            Identifiers of each row; without `docnos` the rows of a query are d0, d1, ...
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
        numbers = np.asarray(numbers)
        distinct, codes, scattered = _group(qids)
        order = np.argsort(codes, kind="stable") if scattered else None
        if order is not None:
            codes, numbers = codes[order], numbers[order]
            docnos = None if docnos is None else docnos.take(to_arrow(order))
        offsets = offsets_of(np.bincount(codes, minlength=len(distinct)))
        table = cls(
            distinct, offsets, Docnos(docnos, offsets), numbers, name, scattered, order, len(qids)
        )
        rows, first = table.duplicate_rows() if docnos is not None else (_NONE, _NONE)
        if not rows.size:
            return table
        if duplicates == "error":
            back = np.arange(table.n_rows) if order is None else order
            raise DuplicateRows(back[rows], back[first], name or cls.kind)
        keep = np.ones(table.n_rows, dtype=bool)
        keep[rows if duplicates == "first" else first] = False
        return table.filter(keep)

    def duplicate_rows(self) -> tuple[Ints, Ints]:
        """Return the rows that repeat an earlier docno of their query, and the row before each.

        The second array holds, for each, the previous row with the same docno.
        """
        keys = self.keys
        ordered = np.sort(keys)
        if not (ordered[1:] == ordered[:-1]).any():
            return _NONE, _NONE
        suspect = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        rows = np.flatnonzero(np.isin(keys, suspect))
        docno = _ranks(self.docnos.take(rows))
        query = self.row[rows]
        order = np.lexsort((rows, docno, query))
        same = (np.diff(query[order]) == 0) & (np.diff(docno[order]) == 0)
        later, earlier = rows[order[1:][same]], rows[order[:-1][same]]
        by_row = np.argsort(later)
        return later[by_row], earlier[by_row]

    def filter(self: T, keep: Array) -> T:
        """Return the table with only the rows for which `keep` is true."""
        offsets = offsets_of(np.bincount(self.row[keep], minlength=self.n_queries))
        strings = self.docnos.to_strings().filter(to_arrow(keep))
        order = np.arange(self.n_rows) if self.order is None else self.order
        return replace(
            self,
            offsets=offsets,
            docnos=Docnos(strings, offsets),
            numbers=self.numbers[keep],
            order=order[keep],
            n_source=self.n_rows if self.n_source is None else self.n_source,
        )

    def part(self: T, first: int, stop: int) -> T:
        """Return the table of the queries from `first` to before `stop`; nothing is copied."""
        begin, end = int(self.offsets[first]), int(self.offsets[stop])
        offsets = self.offsets[first : stop + 1] - begin
        strings = self.docnos.strings
        return replace(
            self,
            qids=self.qids.slice(first, stop - first),
            offsets=offsets,
            docnos=Docnos(None if strings is None else strings.slice(begin, end - begin), offsets),
            numbers=self.numbers[begin:end],
            order=None,
            n_source=None,
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{qid: {docno: number}}``, as pytrec_eval takes it."""
        docnos, numbers = self.docnos.to_strings().to_pylist(), self.numbers.tolist()
        bounds = self.offsets.tolist()
        return {
            qid: dict(zip(docnos[start:stop], numbers[start:stop], strict=True))
            for qid, start, stop in zip(self.qids.to_pylist(), bounds[:-1], bounds[1:], strict=True)
        }

    @classmethod
    def from_dict(cls: type[T], mapping: Mapping[str, Mapping[str, float]], *, name: str = "") -> T:
        """Build a table from ``{qid: {docno: number}}``.

        Raises
        ------
        InputError
            Where a key is not a string or a value is not a number.
        """
        rows = mapping.values()
        try:
            qids = pa.array(mapping.keys(), pa.string())
            docnos = pa.array(list(chain.from_iterable(rows)), pa.string())
            numbers = cls.check_numbers(
                list(chain.from_iterable(row.values() for row in rows)), name or cls.kind
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
    def check_numbers(cls, numbers: npt.ArrayLike, where: str) -> Array:
        """Return `numbers` as this table's kind of number.

        Raises
        ------
        InputError
            Where a score is not finite or a grade is not whole.
        """
        raise NotImplementedError


_NONE = np.zeros(0, dtype=np.int64)


def _group(qids: pa.Array) -> tuple[pa.Array, Ints, int]:
    """Return the distinct qids, the code of each row, and how many queries were scattered."""
    if len(qids) == 0:
        return string_column([]), _NONE, 0
    changes = to_numpy(pc.not_equal(qids.slice(1), qids.slice(0, len(qids) - 1)))
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    heads = qids.take(to_arrow(starts)).dictionary_encode()
    code_of_block = to_numpy(heads.indices).astype(np.int64)
    codes = np.repeat(code_of_block, np.diff(np.append(starts, len(qids))))
    blocks = np.bincount(code_of_block)
    return heads.dictionary, codes, int((blocks > 1).sum())


@dataclass(frozen=True, eq=False)
class Qrels(Table):
    """All judgements of a dataset.

    ``numbers`` are the grades, int64; a grade below 0 means unjudged, as in trec_eval.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 2, "d2": 0}, "q2": {"d9": 1}})
    >>> qrels.n_queries, qrels.n_rows, qrels.grades.tolist()
    (2, 3, [2, 0, 1])
    """

    kind: ClassVar[str] = "qrels"
    dtype: ClassVar[npt.DTypeLike] = np.int64

    @property
    def grades(self) -> Ints:
        """Grade of each judgement, ``(n_rows,)`` int64."""
        return self.numbers

    @cached_property
    def ideal(self) -> Ragged:
        """Grades of each query in descending order."""
        if not self.n_rows:
            return Ragged(self.offsets, self.grades)
        top = int(self.grades.max())
        span = top - int(self.grades.min()) + 1
        base = self.row * span
        ordered = base + (top - self.grades)
        ordered.sort()
        return Ragged(self.offsets, top - (ordered - base))

    @cached_property
    def lookup(self) -> tuple[pa.Array, Ints, Ints]:
        """Distinct docnos, and the sorted pair codes with the row of each; see :meth:`find`."""
        encoded = self.docnos.to_strings().dictionary_encode()
        codes = to_numpy(encoded.indices).astype(np.int64)
        pairs = self.row * len(encoded.dictionary) + codes
        order = np.argsort(pairs, kind="stable")
        return encoded.dictionary, pairs[order], order

    def find(self, query: Ints, docnos: pa.Array) -> tuple[Ints, Ints]:
        """Return which of the given pairs are judged, and the judgement's row of each of those.

        Parameters
        ----------
        query : ndarray of int64, shape (n,)
            Position of the pair's query in `qids`, or -1 where it is not here.
        docnos : pyarrow string array, shape (n,)
        """
        distinct, pairs, rows = self.lookup
        codes = index_in(docnos, distinct)
        known = np.flatnonzero((codes >= 0) & (query >= 0))
        wanted = query[known] * len(distinct) + codes[known]
        at = np.minimum(np.searchsorted(pairs, wanted), max(pairs.size - 1, 0))
        judged = pairs[at] == wanted if pairs.size else np.zeros(0, dtype=bool)
        return known[judged], rows[at[judged]]

    @classmethod
    def check_numbers(cls, numbers: npt.ArrayLike, where: str) -> Array:
        """Return whole grades as int64; see :meth:`Table.check_numbers`."""
        grades = np.asarray(numbers)
        if grades.size == 0:
            return np.zeros(0, dtype=np.int64)
        if grades.dtype.kind in "iub":
            return grades.astype(np.int64)
        if grades.dtype.kind != "f":
            raise TypeError(f"grades must be whole numbers, not {grades.dtype}")
        whole = np.isfinite(grades) & (grades == np.trunc(grades))
        if not whole.all():
            bad = grades[~whole]
            raise InputError(
                Problem(
                    where,
                    f"{bad.size} grades are not whole numbers, the first is {float(bad[0])!r}",
                    fix="judgements are integers; scale or round them before",
                )
            )
        return grades.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Run(Table):
    """One system's scores for all queries.

    ``numbers`` are the scores, float64, all finite. `tags` are the distinct values of a TREC
    file's last column.

    Examples
    --------
    >>> run = Run.from_dict({"q1": {"d1": 0.5, "d2": 1.5}}, name="bm25")
    >>> run.scores.tolist()
    [0.5, 1.5]
    """

    tags: tuple[str, ...] = field(default=())

    kind: ClassVar[str] = "run"
    dtype: ClassVar[npt.DTypeLike] = np.float64

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """Score of each row, ``(n_rows,)`` float64."""
        return self.numbers

    @classmethod
    def check_numbers(cls, numbers: npt.ArrayLike, where: str) -> Array:
        """Return finite scores as float64; see :meth:`Table.check_numbers`."""
        given = np.asarray(numbers)
        if given.size and given.dtype.kind not in "iufb":
            raise TypeError(f"scores must be numbers, not {given.dtype}")
        scores = given.astype(np.float64)
        if not np.isfinite(scores).all():
            bad = scores[~np.isfinite(scores)]
            raise InputError(
                Problem(
                    where,
                    f"{bad.size} scores are not finite, the first is {float(bad[0])!r}",
                    fix="repair the system's output; a ranking cannot be read from NaN or inf",
                )
            )
        return scores

    @classmethod
    def for_rows(cls, qrels: Qrels, scores: npt.ArrayLike, *, name: str = "") -> Run:
        """Return the run that gives one score for each row of `qrels`, in its order.

        This is how predictions for a learning-to-rank file become a run: no docno is looked
        up, since both tables share their rows.

        Parameters
        ----------
        qrels : Qrels
            The dataset that the scores follow.
        scores : array_like, shape (n_rows,)
            One finite score a row.
        """
        checked = cls.check_numbers(scores, name or "scores")
        n_rows = qrels.n_rows if qrels.n_source is None else qrels.n_source
        if checked.shape != (n_rows,):
            raise InputError(
                Problem(
                    name or "scores",
                    f"{checked.size} scores for {n_rows} rows of the dataset",
                    fix="give one score for each row of the dataset, in its order",
                )
            )
        if qrels.order is not None:
            checked = checked[qrels.order]
        return cls(qrels.qids, qrels.offsets, qrels.docnos, checked, name)


def concat(tables: Iterable[T]) -> T:
    """Return one table from several that hold different queries, in their order."""
    parts = list(tables)
    first = parts[0]
    if len(parts) == 1:
        return first
    strings = pa.concat_arrays([part.docnos.to_strings().cast(pa.large_string()) for part in parts])
    offsets = offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]))
    qids = pa.concat_arrays([part.qids for part in parts])
    numbers = np.concatenate([part.numbers for part in parts])
    return type(first)(qids, offsets, Docnos(strings, offsets), numbers, first.name)
