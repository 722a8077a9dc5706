"""Arrow tables and data frames to qrels and runs, with every row checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import to_numpy
from ..core.hashing import string_views
from ..core.policy import Duplicates
from ..core.ragged import Array
from ..core.tables import GRADE_LIMIT, NOTHING, DuplicateRows, Qrels, Run, T
from ..errors import SHOWN, InputError, Problem
from .build import column, keep_one, repeated, row_names, warn_dropped, warn_scattered
from .column_roles import by_position, name_docnos, number_role, select_columns
from .format import IsDataLine
from .number_text import check_number
from .predictions import follow
from .row_join import join_rows
from .source import Source

_EXACT = 2.0**63
_NARROW = 2**31 - 1


def from_frame(
    frame: Any,
    of: type[T],
    columns: Mapping[str, str | None] | None = None,
    *,
    dataset: Qrels | None = None,
    duplicates: Duplicates = "error",
    name: str = "",
    fractions: bool = False,
) -> T:
    """Return qrels or a run from an Arrow table, a pandas or a polars data frame.

    Parameters
    ----------
    frame : table or data frame
        Columns qid, docno and grade or score, found by their usual names.
    of : Qrels or Run
        Which of them to make.
    columns : mapping, optional
        ``{"qid": ..., "docno": ..., "grade": ...}`` for other names. ``"docno": None`` says that
        no column names the documents: rows go by their position.
    dataset : Qrels, optional
        For a run without docnos: its rows are those that the scores follow.
    fractions : bool
        Whether grades may be fractions.

    Raises
    ------
    InputError
        If a column is absent, a value is missing, or a query has a docno twice.

    Examples
    --------
    >>> table = pa.table({"query_id": ["q1", "q1"], "docid": ["a", "b"], "label": [2, 0]})
    >>> from_frame(table, Qrels).to_dict()
    {'q1': {'a': 2, 'b': 0}}
    """
    where = name or "data frame"
    is_arrow = hasattr(frame, "__arrow_c_stream__")
    table = pa.table(frame) if is_arrow else pa.Table.from_pandas(frame, nthreads=1)
    chosen = select_columns(table.column_names, of.kind, columns, where, table.select)
    made = table_of(
        table, of, chosen, where, None, asked=by_position(table.column_names, columns),
        dataset=dataset, duplicates=duplicates, name=name, fractions=fractions,
    )  # fmt: skip
    return replace(made, numbers=made.numbers.copy())  # the frame's own may change


def table_of(
    table: pa.Table,
    of: type[T],
    chosen: Mapping[str, str],
    where: Source | str,
    is_row: IsDataLine | None,
    *,
    asked: bool,
    dataset: Qrels | None,
    duplicates: Duplicates,
    name: str,
    fractions: bool,
) -> T:
    """Return qrels or a run from an Arrow table.

    Parameters
    ----------
    chosen : mapping
        Column of each role, as :func:`~harness.readers.column_roles.select_columns` gives it.
    where : Source or str
        The file, or what a data frame is called.
    is_row : callable, optional
        Whether a line of the source is a row, if it is text.
    asked : bool
        Whether a run without docnos may follow a dataset that has docnos.
    """
    place = where if isinstance(where, str) else where.name
    row = _row_of(where) if isinstance(where, str) else row_names(where, is_row)
    check_types(table.schema, chosen, place)
    if "qid" not in chosen:
        return _by_row(table, chosen, where, row, dataset, name)  # type: ignore[return-value]
    qids = _strings(table, "qid", chosen, place, row)
    docnos = _strings(table, "docno", chosen, place, row) if "docno" in chosen else None
    role = number_role(chosen)
    numbers = _numbers(table, role, chosen, place, row, whole=not (fractions or role == "score"))
    if docnos is None and issubclass(of, Run):
        if dataset is None or not (asked or "row" in chosen or dataset.docnos.positional):
            what, fix = "no column of docnos found", name_docnos(where)
            raise InputError(Problem(place, what, fix=fix, rule="columns"))
        numbers = _joined(table, chosen, numbers, qids, dataset, where, row)
        return Run.for_rows(dataset, numbers, name=name)  # type: ignore[return-value]
    if not issubclass(of, Run):  # of a run they are finite, and need no copy
        numbers = of.check_numbers(numbers, place, fractions=fractions)
    try:
        made = of.from_columns(qids, docnos, numbers, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        if is_row is not None and isinstance(where, Source):
            raise repeated(where, of, error, is_row) from None
        fix = "keep one of them, or give duplicates='last'" if place is where else keep_one(of)
        problems = [
            Problem(
                row(later),
                f"expected each docno once in a query, got that of row {earlier + 1}",
                fix=fix,
                rule="duplicates",
            )
            for later, earlier in zip(error.rows, error.first, strict=True)
        ]
        raise InputError(problems, total=error.total) from None
    warn_dropped(place, made.dropped or NOTHING, duplicates)
    if isinstance(where, Source):
        warn_scattered(where, made.scattered, is_row)
    return made


def _by_row(
    table: pa.Table,
    chosen: Mapping[str, str],
    where: Source | str,
    row: Callable[[int], str],
    dataset: Qrels | None,
    name: str,
) -> Run:
    """Return the run of scores in the order of a dataset's rows; row numbers must not contradict.

    Numbers that come twice tell no order, as in concatenated frames, unless they are qids.
    """
    place, qids = where if isinstance(where, str) else where.name, None
    if "index" in chosen:
        index = _numbers(table, "index", chosen, place, row, whole=True)
        down = np.flatnonzero(index[1:] < index[:-1])
        if down.size and np.unique(index).size == index.size:
            at = int(down[0])
            what = f"expected row numbers that rise, got {index[at + 1]:.0f} after {index[at]:.0f}"
            fix = "sort by the index first; or, if rows follow the dataset's order, drop the index"
            raise InputError(Problem(row(at + 1), what, fix=fix, rule="columns"))
        if dataset is not None and np.unique(index).size < index.size:
            texts = _strings(table, "index", chosen, place, row)
            qids = texts if (dataset.place(texts) >= 0).all() else None
    role = "score" if "score" in chosen else "rank"
    scores = _numbers(table, role, chosen, place, row, whole=False)
    if dataset is not None and scores.size == (dataset.n_source or dataset.n_rows):
        scores = _joined(table, chosen, scores, qids, dataset, where, row)
    return follow(where, dataset, scores, name)


def _joined(
    table: pa.Table, chosen: Mapping[str, str], scores: Array, qids: pa.Array | None,
    dataset: Qrels, where: Source | str, row: Callable[[int], str],
) -> Array:  # fmt: skip
    """Return scores in the order of the dataset's rows, by the columns that tell it."""
    place = where if isinstance(where, str) else where.name
    grades, rows = (
        _numbers(table, one, chosen, place, row, whole=False) if one in chosen else None
        for one in ("grade", "row")
    )
    return join_rows(dataset, scores, qids, grades, rows, isinstance(where, Source), row)


def _row_of(where: str) -> Callable[[int], str]:
    return lambda position: f"{where}: row {position + 1}"


def check_types(schema: pa.Schema, chosen: Mapping[str, str], where: str) -> None:
    """Raise if a column holds lists, structs or maps."""
    problems = [
        Problem(
            where,
            f"column '{name}': expected {'a number' if is_number else 'text or a whole number'}, "
            f"got {schema.field(name).type}",
            fix="write one value a row",
            rule="columns",
        )
        for role, name in chosen.items()
        for is_number in [role not in ("qid", "docno")]
        if pa.types.is_nested(schema.field(name).type)
    ]
    if problems:
        raise InputError(problems)


def _check_missing(
    missing: Array, role: str, chosen: Mapping[str, str], row: Callable[[int], str]
) -> None:
    if missing.any():
        n, name = int(missing.sum()), chosen[role]
        what = f"missing values of {role} (column '{name}'): {n:,}"
        fix = "fill them or leave these rows out"
        raise InputError(Problem(row(int(missing.argmax())), what, fix=fix))


def _strings(
    table: pa.Table, role: str, chosen: Mapping[str, str], where: str, row: Callable[[int], str]
) -> pa.Array:
    """Return identifiers as strings; 7.0, as data frames write whole numbers, is 7."""
    values = table[chosen[role]]
    if pa.types.is_dictionary(values.type):
        chunks = [_decoded(chunk) for chunk in values.chunks]
        values = pa.chunked_array(chunks, None if chunks else pa.string())
    if values.null_count:
        _check_missing(values.is_null().to_numpy(), role, chosen, row)
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy()
        if (numbers == np.trunc(numbers)).all() and (np.abs(numbers) < _EXACT).all():
            values = values.cast(pa.int64())
    if not pa.types.is_string(values.type):
        try:
            values = values.cast(pa.large_string())
        except pa.ArrowException as error:
            raise InputError(Problem(where, f"{role}: expected text ({error})")) from None
        if values.nbytes < _NARROW:
            values = values.cast(pa.string())
    strings = column(values)
    offsets, _ = string_views(strings)
    _check_missing(offsets[1:] == offsets[:-1], role, chosen, row)
    return strings


def _decoded(categories: pa.DictionaryArray) -> pa.Array:
    """Return the values of categories; Arrow fails at the string views of polars' categories."""
    values = categories.dictionary
    if values.type == pa.string_view():
        values = values.cast(pa.large_string())
    return values.take(categories.indices)


def _numbers(
    table: pa.Table, role: str, chosen: Mapping[str, str], where: str, row: Callable[[int], str],
    *, whole: bool,
) -> Array:  # fmt: skip
    """Return grades, scores or negative ranks; raise if one is missing or not sound."""
    values = table[chosen[role]]
    if values.null_count:
        _check_missing(values.is_null().to_numpy(), role, chosen, row)
    is_plain = role == "grade" and values.num_chunks == 1 and pa.types.is_int32(values.type)
    try:
        values = values if is_plain else values.cast(pa.float64())
    except pa.ArrowException as error:
        raise InputError(Problem(where, f"{role}: expected a number ({error})")) from None
    numbers: Array = to_numpy(values) if values.num_chunks else np.zeros(0)
    limit = GRADE_LIMIT if role == "grade" else np.finfo(float).max
    sound = (numbers >= -limit) & (numbers <= limit)
    if whole and not is_plain:
        sound &= numbers == np.trunc(numbers)
    bad = np.flatnonzero(~sound)
    if bad.size:
        wrong = [(at, check_number(repr(float(numbers[at])), role, whole)) for at in bad[:SHOWN]]
        problems = [replace(one, where=row(int(at))) for at, one in wrong if one is not None]
        raise InputError(problems, total=bad.size)
    return -numbers if role == "rank" else numbers
