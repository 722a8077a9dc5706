"""Lists: rows as records, named tuples or tuples, and the documents of a query in one list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from ..core.arguments import describe, is_number
from ..core.qrels_and_runs import LISTS
from ..errors import InputError, Place, Problem
from .batches import qids_of
from .column_roles import guess

_QIDS = (
    "give {qid: [docno, ...]}, or harness.evaluate(..., qids=[...]) with a qid for each list; "
    "rows are (qid, docno, number)"
)


def are_rows(value: Any) -> bool:
    """Whether a list has rows: records, named tuples, or ``(qid, docno, number)``."""
    first: Any = value[0] if isinstance(value, list) and value else None
    if isinstance(first, Mapping):  # not a run by query, of several
        return not all(isinstance(part, (Mapping, *LISTS)) for part in first.values())
    if hasattr(first, "_fields"):
        return True
    is_row = isinstance(first, (tuple, list)) and len(first) == 3 and is_number(first[2])
    return is_row and any(isinstance(name, str) for name in first[:2])


def are_docnos(by_query: Iterable[Any]) -> bool:
    """Whether there are lists, sets or arrays by query, empty or with texts."""
    documents = None
    for documents in by_query:
        if not (isinstance(documents, LISTS) or getattr(documents, "ndim", 0) == 1):
            return False
        if len(documents):
            return isinstance(next(iter(documents)), str)
    return documents is not None


def by_qid(value: Any, qids: Any) -> Any:
    """Return lists of docnos as a mapping, one for each of the qids; other objects as they are."""
    if hasattr(value, "sort_index") and not hasattr(value, "columns") and are_docnos(value):
        return value.to_dict()  # a series, whose index are the qids
    is_text = getattr(getattr(value, "dtype", None), "kind", "") == "U"
    lists = value.tolist() if is_text else value
    if not isinstance(lists, list) or are_rows(lists):
        return value
    if not are_docnos(lists) and not _are_hits(lists):
        return value
    if not any(map(len, lists)):  # of a batch
        return value
    if qids is None:
        message = f"expected a qid for each of {len(lists)} lists of documents, got none"
        raise InputError(Problem("qids", message, fix=_QIDS))
    return dict(zip(qids_of(qids, len(lists), 0).to_pylist(), lists, strict=True))


def _are_hits(by_query: Sequence[Any]) -> bool:
    """Whether there are lists of records by query, as a semantic search returns them."""
    are_lists = all(isinstance(documents, LISTS) for documents in by_query)
    first = next(iter(filter(None, by_query)), None) if are_lists else None
    return first is not None and isinstance(next(iter(first)), Mapping)


def rows_by_query(by_query: Mapping[Any, Any]) -> list[Any]:
    """Return the rows of ``{qid: [(docno, number), ...]}``, or of records; empty for others."""
    documents = next(iter(by_query.values()), None)
    first = documents[0] if isinstance(documents, (list, tuple)) and documents else None
    if isinstance(first, Mapping):
        return [{"qid": qid, **row} for qid, rows in by_query.items() for row in rows]
    if not (isinstance(first, (list, tuple)) and first and isinstance(first[0], str)):
        return []
    return [(qid, *row) for qid, rows in by_query.items() for row in rows]


def _unnested(records: Sequence[Any], kind: str) -> Sequence[Any]:
    """Return a row for each record in a list of a record; others, which have docnos, as they are.

    >>> _unnested([{"query": "7", "hits": [{"docno": "a", "score": 2}]}], "run")
    [{'query': '7', 'docno': 'a', 'score': 2}]
    """
    if not all(isinstance(record, Mapping) for record in records):
        return records
    keys = dict.fromkeys(chain.from_iterable(records))
    lists = {
        key: [part for record in records if isinstance(part := record.get(key), list) and part]
        for key in keys
    }
    nested = [key for key, parts in lists.items() if parts and isinstance(parts[0][0], Mapping)]
    if len(nested) != 1 or "docno" in guess([*keys], kind):
        return records
    (name,) = nested
    return [
        {**{key: part for key, part in record.items() if key != name}, **row}
        for record in records
        for row in record.get(name) or ()
    ]


def table_of_rows(rows: Sequence[Any], kind: str, place: str) -> pa.Table:
    """Return the columns of records, named tuples or tuples; see `are_rows`.

    Records may have a list of records, such as the hits of a query.
    """
    rows = _unnested(rows, kind)
    of_tuples = "qid", "docno", "grade" if kind == "qrels" else "score"
    names: Sequence[Any] = getattr(rows[0], "_fields", of_tuples)
    if (
        len({*map(type, rows)}) == 1
        and isinstance(rows[0], tuple)
        and {*map(len, rows)} == {len(names)}
    ):
        by_name = dict(zip(names, zip(*rows, strict=True), strict=True))
    else:
        records = [_record(row, number, of_tuples, place) for number, row in enumerate(rows, 1)]
        names = [key for key in dict.fromkeys(chain.from_iterable(records)) if isinstance(key, str)]
        by_name = {name: tuple(record.get(name) for record in records) for name in names}
    needed = {*guess(names, kind).values()}
    columns = {}
    for name, values in by_name.items():
        try:
            columns[name] = pa.array(values, from_pandas=True)
        except (pa.ArrowException, OverflowError) as error:
            if name in needed:
                kinds = sorted({type(value).__name__ for value in values if value is not None})
                got = f", got {' and '.join(kinds)}" if len(kinds) > 1 else f" ({error})"
                message = f"{name}: expected values of one type{got}"
                fix = "give text for each qid and docno, and a number for each grade or score"
                raise InputError(Problem(place, message, fix=fix, rule="columns")) from None
    return pa.table(columns)


def _record(row: Any, number: int, of_tuples: Sequence[str], place: str) -> Mapping[str, Any]:
    """Return a row with the names of its columns."""
    if hasattr(row, "_fields"):
        row = row._asdict()
    if isinstance(row, Mapping):
        return row
    if isinstance(row, (tuple, list)) and len(row) == 3:
        return dict(zip(of_tuples, row, strict=True))
    message = f"expected a record or ({', '.join(of_tuples)}), got {describe(row)}"
    fix = "give all rows in one form"
    raise InputError(Problem(Place(place, row=number), message, fix=fix, rule="columns"))
