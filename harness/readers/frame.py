"""Arrow tables to qrels and runs: which column is which, and whether every row is sound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from ..core.arrow import call, equal, to_numpy
from ..core.grouped import Columns
from ..core.policy import Duplicates
from ..core.ragged import Array, Bools
from ..core.ragged import where as where_true
from ..core.table import DuplicateRows, T
from ..core.tables import GRADE_LIMIT, Qrels, Run
from ..errors import SHOWN, InputError, Problem, did_you_mean, first_of
from .build import column, dropped, qid_column, warn_dropped
from .format import Head
from .number_text import of_number
from .room import give_back
from .source import Source, no_rows
from .table_gaps import FIX

Names = Mapping[str, str | int]
_EXACT = 2.0**63
_IDENTIFIERS = "qid", "docno"

NAMES = {
    "qid": ("qid", "query_id", "query", "q", "topic"),
    "docno": ("docno", "doc_id", "docid", "document", "d"),
    "grade": ("grade", "relevance", "rel", "label"),
    "score": ("score", "s", "sim"),
    "rank": ("rank",),
}
"""Usual names of each column, in the order in which they are looked for."""


def guess(names: Sequence[str], kind: str) -> dict[str, str]:
    """Return ``{"qid": column, ...}`` by the usual names, whatever their case.

    >>> guess(["query_id", "query", "docId", "rel"], "qrels")
    {'qid': 'query_id', 'docno': 'docId', 'grade': 'rel'}
    """
    folded = {name.strip().lower(): name for name in reversed(names)}
    found = {}
    for role in ("qid", "docno", "grade") if kind == "qrels" else ("qid", "docno", "score", "rank"):
        usual = next((folded[name] for name in NAMES[role] if name in folded), None)
        if usual is not None:
            found[role] = usual
    return found


def choose(names: Sequence[str], kind: str, columns: Names | None, where: str) -> dict[str, str]:
    """Return which column holds what: as named in `columns`, else by the usual names.

    Raises
    ------
    InputError
        Where a named column is not there, or qid or the number cannot be found.
    """
    roles = ("qid", "docno", "grade") if kind == "qrels" else ("qid", "docno", "score", "rank")
    given = {role: str(name) for role, name in (columns or {}).items()}
    problems = [
        Problem(where, f"unknown entry '{role}' in columns{did_you_mean(role, roles)}")
        for role in given
        if role not in roles
    ] + [
        Problem(
            where, f"no column '{name}'{did_you_mean(name, names)}", f"columns: {first_of(names)}"
        )
        for name in given.values()
        if name not in names
    ]
    chosen = {**guess(names, kind), **given}
    number = "grade" if kind == "qrels" else "score" if "score" in chosen else "rank"
    problems += [
        Problem(
            where,
            f"no column of {'scores or ranks' if role == 'rank' else f'{role}s'} found",
            f"columns: {first_of(names)}",
            f"name it in a config: columns: {{{'score' if role == 'rank' else role}: ...}}; or "
            "rename the column",
        )
        for role in ("qid", number)
        if role not in chosen and not problems
    ]
    twice = [name for role, name in chosen.items() if names.count(name) > 1]
    problems += [
        Problem(where, f"the column '{name}' is there {names.count(name)} times", fix="rename one")
        for name in twice
        if not problems
    ]
    if problems:
        raise InputError(problems)
    if number == "score":
        chosen.pop("rank", None)
    return chosen


def check_types(schema: pa.Schema, chosen: Mapping[str, str], where: str) -> None:
    """Raise where a column holds lists, structs or maps, of which no text or number is made."""
    problems = [
        Problem(
            where,
            f"the column '{name}' is of type {schema.field(name).type}",
            fix=f"a {role} is {'text or a whole number' if role in _IDENTIFIERS else 'a number'}",
            rule="columns",
        )
        for role, name in chosen.items()
        if pa.types.is_nested(schema.field(name).type)
    ]
    if problems:
        raise InputError(problems)


def first_line(source: Source) -> bytes:
    """Return the first line of a text that is neither blank nor a comment."""
    source.check_text()
    lines = Head("", source.head).lines
    if not lines:
        raise no_rows(source.name)
    return lines[0]


def table_of(
    tables: list[pa.Table],
    of: type[T],
    columns: Names | None,
    *,
    dataset: Qrels | None,
    duplicates: Duplicates,
    name: str,
    where: str,
    row: Callable[[int], str],
    fractions: bool = False,
) -> T:
    """Return qrels or a run from an Arrow table.

    Parameters
    ----------
    tables : list of one pyarrow.Table
        It is taken out, so that no column of it is in memory for longer than it must be. None
        holds lists, structs or maps. Those of texts may be run-end encoded, in one piece and with
        no value missing.
    row : callable
        ``row(position)`` says where a row is, for messages; positions from 0.

    Raises
    ------
    DuplicateRows
        The caller knows how its rows are called.
    """
    table = tables.pop()
    chosen = choose(table.column_names, of.kind, columns, where)
    _no_nulls(table, chosen, row)
    qids = _strings(table[chosen["qid"]], "qid", where)
    docnos = _strings(table[chosen["docno"]], "docno", where) if "docno" in chosen else None
    number = next(role for role in ("grade", "score", "rank") if role in chosen)
    numbers = _numbers(table[chosen[number]], number, where)
    _all_sound(numbers, number, row, whole=not (fractions or number == "score"))
    if number == "rank":
        numbers = -numbers
    if docnos is None and issubclass(of, Run):
        return _for_rows(dataset, qids, numbers, name, where, row)  # type: ignore[return-value]
    del table
    if not issubclass(of, Run):  # of a run they are finite, and need no copy
        numbers = of.check_numbers(numbers, where, fractions=fractions)
    held = Columns(qids, docnos, numbers, give_back)
    del qids, docnos, numbers  # as large as what is made of them
    made = of.from_held(held, name=name, duplicates=duplicates)
    warn_dropped(where, dropped(made), duplicates)
    return made


def repeated_rows(where: str, error: DuplicateRows, fix: str) -> InputError:
    """Return the error for docnos that a query names twice, with the rows of both, from 1."""
    problems = [
        Problem(
            f"{where}: row {later + 1}",
            f"the docno stands already in row {earlier + 1}, for the same query",
            fix=fix,
            rule="duplicates",
        )
        for later, earlier in zip(error.rows, error.first, strict=True)
    ]
    return InputError(problems, total=error.total, at_least=error.at_least)


def _for_rows(
    dataset: Qrels | None,
    qids: pa.Array,
    scores: Array,
    name: str,
    where: str,
    row: Callable[[int], str],
) -> Run:
    """Return the run that gives the scores to the dataset's rows, whose qids must agree."""
    if dataset is None:
        fix = (
            "name it in a config: columns: {docno: ...}; or name the dataset whose rows the "
            "scores follow"
        )
        raise InputError(Problem(where, "no column of docnos found", fix=fix))
    if pa.types.is_run_end_encoded(qids.type):
        qids = call("run_end_decode", qids)
    expected = dataset.qids.take(pa.array(dataset.row))
    if dataset.order is not None:
        expected = expected.take(pa.array(np.argsort(dataset.order)))
        qids = qids.take(pa.array(np.sort(dataset.order[dataset.order < len(qids)])))
    n = min(len(qids), len(expected))
    differ = ~equal(qids.slice(0, n), expected.slice(0, n))
    if differ.any() or len(qids) != len(expected):
        at = int(differ.argmax()) if differ.any() else n
        has = f"query '{qids[at]}'" if at < len(qids) else "the end"
        wants = f"query '{expected[at]}'" if at < len(expected) else "the end"
        n_rows = f"{len(qids):,} predictions for {len(expected):,} rows"
        what = f"{n_rows}; {has} stands where {wants} belongs"
        fix = "predict the dataset's rows in their order"
        raise InputError(Problem(row(at), what, fix=fix, rule="row-count"))
    return Run.for_rows(dataset, scores, name=name)


def _no_nulls(table: pa.Table, chosen: dict[str, str], row: Callable[[int], str]) -> None:
    for role, name in chosen.items():
        if table[name].null_count:
            at = int(table[name].is_null().to_numpy().argmax())
            n, of = table[name].null_count, f"of {role} (column '{name}')"
            what = f"1 value {of} is missing" if n == 1 else f"{n:,} values {of} are missing"
            raise InputError(Problem(row(at), what, fix=FIX))


def _strings(values: pa.ChunkedArray, role: str, where: str) -> pa.Array:
    """Return identifiers as strings; 7.0, as data frames write whole numbers, is 7.

    Those of queries stay run-end encoded where they are.
    """
    if pa.types.is_run_end_encoded(values.type):
        return qid_column(values) if role == "qid" else column(values)
    if pa.types.is_dictionary(values.type):
        chunks = [_decoded(chunk) for chunk in values.chunks]
        values = pa.chunked_array(chunks, None if chunks else pa.string())
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy()
        if (numbers == np.trunc(numbers)).all() and (np.abs(numbers) < _EXACT).all():
            values = values.cast(pa.int64())
    if not pa.types.is_string(values.type):
        try:
            values = values.cast(pa.large_string())
        except pa.ArrowException as error:
            raise InputError(Problem(where, f"a {role} is no text ({error})")) from None
        if values.nbytes < 2**31 - 1:
            values = values.cast(pa.string())
    return column(values)


def _decoded(categories: pa.DictionaryArray) -> pa.Array:
    """Return the values of categories; polars' are string views, at which Arrow itself fails."""
    values = categories.dictionary
    if values.type == pa.string_view():
        values = values.cast(pa.large_string())
    return values.take(categories.indices)


def _numbers(values: pa.ChunkedArray, role: str, where: str) -> Array:
    if pa.types.is_run_end_encoded(values.type):
        values = pa.chunked_array([column(values)])
    if role == "grade" and values.num_chunks == 1 and pa.types.is_int32(values.type):
        return to_numpy(values)
    try:
        floats = values.cast(pa.float64())
    except pa.ArrowException as error:
        raise InputError(Problem(where, f"a {role} is not a number ({error})")) from None
    return to_numpy(floats) if floats.num_chunks else np.zeros(0)


def _all_sound(numbers: Array, role: str, row: Callable[[int], str], *, whole: bool) -> None:
    """Raise where a number is not finite, or is not whole and should be."""
    bad = where_true(partial(_is_unsound, whole=whole), numbers)
    if bad.any():
        problems = [
            Problem(
                row(at),
                f"{role} '{float(numbers[at])!r}' is not a "
                f"{'whole' if np.isfinite(numbers[at]) else 'finite'} number",
                fix="repair the table",
                rule=of_number(role, bool(np.isfinite(numbers[at]))),
            )
            for at in np.flatnonzero(bad)[:SHOWN].tolist()
        ]
        raise InputError(problems, total=int(bad.sum()))
    beyond: Array = bad[:0]
    if role == "grade":
        beyond = np.flatnonzero(where_true(_is_beyond, numbers))
    if beyond.size:
        bounds = f"between -{GRADE_LIMIT} and {GRADE_LIMIT}"
        fix = "judgements are small integers; scale or round them before"
        problems = [
            Problem(row(at), f"grade '{numbers[at]:.17g}' is not a number {bounds}", fix=fix)
            for at in beyond[:SHOWN].tolist()
        ]
        raise InputError(problems, total=beyond.size)


def _is_beyond(grades: Array) -> Bools:
    inside: Bools = (grades >= -GRADE_LIMIT) & (grades <= GRADE_LIMIT)
    return ~inside


def _is_unsound(numbers: Array, *, whole: bool) -> Bools:
    unsound: Bools = ~np.isfinite(numbers)
    if whole:
        unsound |= numbers != np.trunc(numbers)
    return unsound
