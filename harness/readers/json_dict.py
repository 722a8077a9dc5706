"""JSON as pytrec_eval takes it: ``{qid: {docno: number}}``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import numpy as np

from ..core.arrow import encode, select, take
from ..core.docnos import Docnos
from ..core.hashing import pair_keys
from ..core.heads import are_distinct
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints, offsets_of, rows_of
from ..core.table import T, Table
from ..core.tables import GRADE_LIMIT, Qrels, Run
from ..errors import SHOWN, InputError, Problem, shorten
from .build import keep_one, warn
from .format import Format, Head, Kind
from .grown import Numbers, Texts
from .json_pieces import no_mapping, pieces
from .json_text import is_finite
from .number_text import of_number
from .room import give_back
from .source import Source, no_rows
from .wrong_lines import LIMIT

_PIECES = 16
"""Pieces of the text after which memory is given back: growing columns leave holes."""
_LOOK = 1 << 18
"""Rows that are looked through for names that are there twice before all are."""
_PART = 1 << 16
"""Rows, and those of one query, that are looked through for such names at a time."""


def read_qrels(
    source: Source, *, duplicates: Duplicates, name: str, fractions: bool = False
) -> Qrels:
    """Read ``{qid: {docno: grade}}``."""
    return _table(
        Qrels, source, _read(Qrels, source, duplicates, whole=not fractions), duplicates, name,
        fractions,
    )  # fmt: skip


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read ``{qid: {docno: score}}``."""
    return _table(Run, source, _read(Run, source, duplicates, whole=False), duplicates, name)


@dataclass
class _Columns:
    """The rows of all queries."""

    qids: Texts = field(default_factory=Texts)
    lengths: Numbers = field(default_factory=lambda: Numbers(np.int32))
    """Rows of each query; of the last one so far in `last`."""
    docnos: Texts = field(default_factory=Texts)
    numbers: Numbers = field(default_factory=lambda: Numbers(np.float64))
    are_whole: bool = True
    """Whether all numbers are integers as they are written."""
    last: int = -1

    def add(self, goes_on: bool, queries: list[tuple[str, Any]], numbers: Array) -> None:
        """Add the rows of some queries, the first of which may go on with the last one's."""
        *lengths, last = (len(rows) for _, rows in queries)
        if goes_on and lengths:
            lengths[0] += self.last
        elif goes_on:
            last += self.last
        elif self.last >= 0:
            lengths.insert(0, self.last)
        self.last = last
        self.lengths.add(np.array(lengths, np.int32))
        self.qids.add(qid for qid, _ in queries[goes_on:])
        self.docnos.add(docno for _, rows in queries for docno, _ in rows)
        self.are_whole &= numbers.dtype.kind == "i"
        self.numbers.add(numbers)


def _read(
    of: type[Qrels | Run], source: Source, duplicates: Duplicates, *, whole: bool
) -> _Columns:
    """Return the columns; raise where a value is not a finite number, or whole and should be."""
    columns, is_mapping, word = _Columns(), True, "grade" if of is Qrels else "score"
    problems: list[Problem] = []
    again: list[str] = []
    n_wrong, qid = 0, ""
    for n, (goes_on, queries) in enumerate(pieces(source), 1):
        if n % _PIECES == 0:
            give_back()
        if goes_on:
            queries[0] = qid, queries[0][1]
        if not queries or not is_mapping:
            continue
        qid = queries[-1][0]
        is_mapping = all(type(rows) is tuple for _, rows in queries)
        if not is_mapping:
            continue
        numbers = _numbers([value for _, rows in queries for _, value in rows])
        if numbers is None or (whole and not (numbers == np.trunc(numbers)).all()):
            wrong = [*_wrong(queries, whole)]
            n_wrong += len(wrong)
            shown = wrong[: SHOWN - len(problems)]
            problems += [_problem(source, word, *one) for one in shown]
        elif not n_wrong:
            columns.add(goes_on, queries, numbers)
            if duplicates == "error" and len(again) < LIMIT:
                again += _repeated(queries)
                if len(again) >= LIMIT:  # before rows are kept of which few are
                    raise _refused(of, source, again, len(again), at_least=True)
    if not is_mapping:
        raise no_mapping(source.name)
    if n_wrong:
        raise InputError(problems, total=n_wrong)
    return columns


def _repeated(queries: list[tuple[str, Any]]) -> Iterator[str]:
    """Yield the keys that stand in one object already, of some queries in a row."""
    for rows in (queries, *(rows for _, rows in queries)):
        if len(dict(rows)) < len(rows):
            seen: set[str] = set()
            for key, _ in rows:
                if key in seen:
                    yield key
                seen.add(key)


def _refused(
    of: type[Table], source: Source, again: Iterable[Any], total: int, *, at_least: bool = False
) -> InputError:
    """Return the error for keys that stand in one object already."""
    problems = [
        Problem(
            source.name, "a key stands twice in one object", shorten(str(key)), keep_one(of),
            "duplicates",
        )
        for key in islice(again, SHOWN)
    ]  # fmt: skip
    return InputError(problems, total=total, at_least=at_least)


def _numbers(values: list[Any]) -> Array | None:
    """Return the values as an array where all are finite numbers: of integers, or of floats."""
    kinds = {*map(type, values)}
    if not kinds <= {int, float}:
        return None
    try:
        numbers = np.array(values, np.float64 if float in kinds else np.int64)
    except OverflowError:  # an integer of more than 64 bits
        if not all(map(is_finite, values)):
            return None
        numbers = np.array(values, np.float64)
    return numbers if np.isfinite(numbers).all() else None


def _wrong(queries: list[tuple[str, Any]], whole: bool) -> Iterator[tuple[str, str, Any, str]]:
    """Yield query, docno and value where it is not what it should be, and what that is."""
    for qid, rows in queries:
        for docno, value in rows:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                yield qid, docno, value, "a number"
            elif not is_finite(value):
                yield qid, docno, value, "a finite number"
            elif whole and value != int(value):
                yield qid, docno, value, "a whole number"


def _problem(source: Source, word: str, qid: str, docno: str, value: Any, what: str) -> Problem:
    at = f"query '{shorten(qid)}', docno '{shorten(docno)}'"
    said = shorten(json.dumps(_plain(value)), 60)
    rule = "" if what == "a number" else of_number(word, what == "a whole number")
    return Problem(f"{source.name}: {at}", f"{word} {said} is not {what}", rule=rule)


def _plain(value: Any) -> Any:
    """Return a value whose objects, tuples of their members, are mappings again."""
    if isinstance(value, tuple):
        return {key: _plain(of) for key, of in value}
    return [*map(_plain, value)] if isinstance(value, list) else value


def _table(
    of: type[T], source: Source, columns: _Columns, duplicates: Duplicates, name: str,
    fractions: bool = False,
) -> T:  # fmt: skip
    """Return the table of the columns, which are used up."""
    columns.lengths.add(np.array([columns.last] if columns.last >= 0 else [], np.int32))
    qids = columns.qids.column()
    differ = are_distinct(qids)  # before the offsets are made: it takes as much room
    offsets, numbers = offsets_of(columns.lengths.array()), columns.numbers.array()
    if not numbers.size:
        raise no_rows(source.name)
    if of is Qrels:
        beyond = max(numbers.max(), -numbers.min()) > GRADE_LIMIT
        if beyond and columns.are_whole:  # they are shown as they are written
            numbers = numbers.astype(np.int64)
        columns.numbers = Numbers(np.float64)
        numbers = of.check_numbers(numbers, name, fractions=fractions)
    docnos = Docnos(columns.docnos.column(), offsets)
    del columns
    give_back()
    table = of(qids, offsets, docnos, numbers, name)
    return _once(source, table, duplicates, differ=differ)


def _once(source: Source, table: T, duplicates: Duplicates, *, differ: bool) -> T:
    """Return the table with each query, and each docno of a query, once.

    JSON allows a key twice, of which Python's reader keeps the last in silence.
    """
    if duplicates == "error":
        for part in (_LOOK, 4 * _LOOK):
            if table.n_rows >= 4 * part:  # to list all rows takes ten times their room
                begin = _first_rows(table, part)
                rows = _twice(begin)[0]
                if rows.size >= LIMIT:
                    keys = begin.docnos.take(rows[:SHOWN])
                    raise _refused(type(table), source, keys, rows.size, at_least=True)
    later, earlier = _twice(table)
    if not later.size and differ:
        return table
    where = np.arange(table.n_queries)
    distinct, which = encode(table.qids)
    first, last = np.full((2, len(distinct)), -1)
    first[which[::-1]], last[which] = where[::-1], where
    n = later.size + where.size - len(distinct)
    if not n:
        return table
    if duplicates == "error":
        again = [*table.docnos.take(later[:SHOWN]), *take(table.qids, where[first[which] < where])]
        raise _refused(type(table), source, again, n)
    stand = "1 key stands" if n == 1 else f"{n:,} keys stand"
    what = f"{stand} twice in one object; the {duplicates} of each is kept"
    warn(source, what, "dropped-rows", n)
    stays = np.zeros(where.size, bool)
    stays[first if duplicates == "first" else last] = True
    keep = np.ones(table.n_rows, bool)
    keep[later if duplicates == "first" else earlier] = False
    keep &= stays[table.row]
    offsets = offsets_of(np.bincount(table.row[keep], minlength=where.size)[stays])
    docnos = Docnos(select(table.docnos.to_strings(), keep), offsets)
    return type(table)(select(table.qids, stays), offsets, docnos, table.numbers[keep], table.name)


def _first_rows(table: T, n: int) -> T:
    """Return the table of the first `n` rows."""
    n_queries = int(np.searchsorted(table.offsets, n))
    offsets = np.minimum(table.offsets[: n_queries + 1], n)
    docnos = Docnos(table.docnos.to_strings().slice(0, n), offsets)
    return type(table)(table.qids.slice(0, n_queries), offsets, docnos, table.numbers[:n])


def _twice(table: Table) -> tuple[Ints, Ints]:
    """Return the rows whose docno their query has already, and the row before each."""
    by_rows = np.searchsorted(table.offsets, np.arange(0, table.n_rows, _PART))
    by_queries = np.arange(0, table.n_queries, _PART)  # of which some have no rows
    parts = sorted({*by_rows.tolist(), *by_queries.tolist(), table.n_queries})
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for first, stop in pairwise(parts):
        begin, end = table.offsets[[first, stop]].tolist()
        keys = table.docnos.hashes_of(begin, end)
        if stop > first + 1:
            keys = pair_keys(rows_of(table.offsets[first : stop + 1] - begin), keys)
        keys.sort()
        if (keys[1:] == keys[:-1]).any():
            later, earlier = table.part(first, stop).duplicate_rows()
            found.append((later + begin, earlier + begin))
    return np.concatenate([of for of, _ in found]), np.concatenate([of for _, of in found])


def looks(head: Head, kind: Kind) -> bool:
    """Whether an object begins whose first value is an object."""
    start = b"".join(head.data[:4096].split())
    return start.startswith(b'{"') and b'":{' in start.partition(b",")[0]


FORMAT = Format(
    name="json",
    about="JSON as pytrec_eval takes it: {qid: {docno: number}}",
    suffixes=(".json",),
    looks=looks,
    qrels=read_qrels,
    run=read_run,
)
