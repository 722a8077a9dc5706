"""Arrow tables and data frames to qrels and runs, with every row checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import to_numpy
from ..core.hashing import string_views
from ..core.policy import Duplicates, RunDuplicates, ScoreOrder
from ..core.qrels_and_runs import GRADE_LIMIT, NO_ROWS, Qrels, Run, T
from ..core.ragged import Array
from ..errors import SHOWN, InputError, Problem
from .column_roles import (
    OF_ROWS,
    Names,
    by_position,
    hold_features,
    name_docnos,
    number_role,
    select_columns,
)
from .columns import column
from .predictions import follow, join_rows, n_source
from .rows import Rows, best_first, build, policy_of_rows, warn_dropped, warn_scattered
from .source import Source
from .text import check_number

_EXACT = 2.0**63
_NARROW = 2**31 - 1


def from_frame(
    frame: Any,
    rows_type: type[T],
    columns: Names | None = None,
    *,
    dataset: Qrels | None = None,
    duplicates: RunDuplicates = "error",
    order: ScoreOrder = "descending",
    name: str = "",
) -> T:
    """Return qrels or a run from an Arrow table, a pandas or a polars data frame.

    Columns are found by their usual names, or by ``{"qid": ..., "docno": ..., "grade": ...}``;
    ``"docno": None`` declares that rows go by position. A run without docnos follows the rows of
    `dataset`. `order` is as `read_run` has it.
    """
    is_arrow = hasattr(frame, "__arrow_c_stream__")
    try:
        table = pa.table(frame) if is_arrow else pa.Table.from_pandas(frame, nthreads=1)
    except (pa.ArrowException, TypeError, ValueError) as error:
        message = f"expected columns of one type each, with distinct names, got {error.args[-1]}"
        fix = "give the needed columns alone, each of one type: df.astype({'qid': str})"
        raise InputError(Problem(name or "data frame", message, fix=fix, rule="columns")) from None
    where, row_policy = name or "data frame", policy_of_rows(duplicates, order)
    chosen = select_columns(table.column_names, rows_type.kind, columns, where, table.select)
    table_read = table_of(
        table, rows_type, chosen, Rows(where), columns=columns, dataset=dataset,
        duplicates=row_policy, name=name,
    )  # fmt: skip
    if order == "ascending":
        return best_first(table_read, where, "rank" in chosen)
    return replace(table_read, numbers=table_read.numbers.copy())  # the frame's own may change


def from_table(
    table: pa.Table, rows_type: type[T], where: Source | str, columns: Names | None, **settings: Any
) -> T:
    """Return qrels or a run from a whole table, whose columns are found; see `table_of`."""
    chosen = select_columns(table.column_names, rows_type.kind, columns, where, table.select)
    return table_of(table, rows_type, chosen, Rows(where), columns=columns, **settings)


def table_of(
    table: pa.Table,
    rows_type: type[T],
    chosen: Mapping[str, str],
    rows: Rows,
    *,
    columns: Names | None = None,
    dataset: Qrels | None = None,
    duplicates: Duplicates = "error",
    name: str = "",
) -> T:
    """Return qrels or a run from an Arrow table, with the column of each role in `chosen`.

    `rows` are their places in a file or frame; `columns` is what a config says of them.
    """
    cells = _Cells(table, chosen, rows)
    if "qid" not in chosen:
        return _by_row(cells, dataset, name)  # type: ignore[return-value]
    qids = cells.strings("qid")
    docnos = cells.strings("docno") if "docno" in chosen else None
    role = number_role(chosen)
    numbers = cells.numbers(role, whole=role == "rank")
    if docnos is None and issubclass(rows_type, Run):
        told = by_position(columns) or not chosen.keys().isdisjoint({"row", "grade"})
        if dataset is None or (
            not (told or dataset.docnos.positional) and _is_sorted(qids, numbers)
        ):
            fix = name_docnos(is_file=isinstance(rows.where, Source))
            raise InputError(Problem(rows.name, "no column of docnos", fix=fix, rule="columns"))
        scores = join_rows(rows, dataset, numbers, qids, *cells.of_rows)
        return Run.for_rows(dataset, scores, name=name)  # type: ignore[return-value]
    if not issubclass(rows_type, Run):  # of a run they are finite, and need no copy
        numbers = rows_type.check_numbers(numbers, rows.name)
    table_read = build(rows_type, rows, qids, docnos, numbers, duplicates, name)
    if isinstance(table_read, Qrels) and docnos is not None:
        table_read = replace(table_read, learning_to_rank=_has_features(table, chosen, rows.where))
    warn_dropped(Rows(rows.where), table_read.dropped or NO_ROWS, duplicates)
    if isinstance(rows.where, Source):
        warn_scattered(rows, table_read.scattered)
    return table_read


def _has_features(table: pa.Table, chosen: Mapping[str, str], where: Source | str) -> bool:
    """Whether the columns that are not read are the features of learning-to-rank rows."""
    if isinstance(where, Source):
        return where.has_features
    left = [name for name in table.column_names if name not in chosen.values()]
    return hold_features(left, table.select)


@dataclass(frozen=True)
class _Cells:
    """The columns of a table by their roles, with errors that name the row of a cell."""

    table: pa.Table
    chosen: Mapping[str, str]
    rows: Rows

    @property
    def of_rows(self) -> tuple[Array | None, Array | None]:
        """The grade and the number of the dataset's row that each row of scores is for."""
        grade, row = (self.numbers(role) if role in self.chosen else None for role in OF_ROWS)
        return grade, row

    def check_missing(self, role: str, missing: Array) -> None:
        if missing.any():
            message = f"missing values of {role} (column '{self.chosen[role]}'): {missing.sum():,}"
            fix = "fill them or leave these rows out"
            raise InputError(Problem(self.rows.place(int(missing.argmax())), message, fix=fix))

    def strings(self, role: str) -> pa.Array:
        """Return identifiers as strings; the number 7.0 is 7, and the text 7.0 stays."""
        values = self.table[self.chosen[role]]
        if pa.types.is_dictionary(values.type):
            chunks = [_decoded(chunk) for chunk in values.chunks]
            values = pa.chunked_array(chunks, None if chunks else pa.string())
        if values.null_count:
            self.check_missing(role, values.is_null().to_numpy())
        if pa.types.is_floating(values.type):
            numbers = values.to_numpy()
            if (numbers == np.trunc(numbers)).all() and (np.abs(numbers) < _EXACT).all():
                values = values.cast(pa.int64())
        if not pa.types.is_string(values.type):
            try:
                values = values.cast(pa.large_string())
            except pa.ArrowException as error:
                message = f"{role}: expected text or a whole number ({error})"
                raise InputError(Problem(self.rows.name, message, rule="columns")) from None
            if values.nbytes < _NARROW:
                values = values.cast(pa.string())
        strings = column(values)
        offsets, _ = string_views(strings)
        self.check_missing(role, offsets[1:] == offsets[:-1])
        return strings

    def numbers(self, role: str, *, whole: bool = False) -> Array:
        """Return grades, scores or negative ranks; raise if one is missing or not sound."""
        values = self.table[self.chosen[role]]
        if values.null_count:
            self.check_missing(role, values.is_null().to_numpy())
        try:
            values = values.cast(pa.float64())
        except pa.ArrowException as error:
            message = f"{role}: expected a number ({error})"
            raise InputError(Problem(self.rows.name, message, rule="columns")) from None
        numbers: Array = to_numpy(values) if values.num_chunks else np.zeros(0)
        limit = GRADE_LIMIT if role == "grade" else np.finfo(float).max
        sound = (numbers >= -limit) & (numbers <= limit)
        if whole:
            sound &= numbers == np.trunc(numbers)
        if (bad := np.flatnonzero(~sound)).size:
            texts = {row: repr(float(numbers[row])) for row in bad[:SHOWN].tolist()}
            wrong = {row: check_number(text, role, whole) for row, text in texts.items()}
            problems = [
                replace(problem, where=self.rows.place(row))
                for row, problem in wrong.items()
                if problem
            ]
            raise InputError(problems, total=bad.size)
        return -numbers if role == "rank" else numbers


def _is_sorted(qids: pa.Array, scores: Array) -> bool:
    """Return whether scores fall in every query, as in a ranking, whose documents have no names."""
    codes = to_numpy(qids.dictionary_encode().indices)
    return not (np.diff(scores)[codes[1:] == codes[:-1]] > 0).any()


def _by_row(cells: _Cells, dataset: Qrels | None, name: str) -> Run:
    """Return the run of scores in the order of a dataset's rows; an index must not fall."""
    if "index" in cells.chosen:
        index = cells.numbers("index", whole=True)
        down = np.flatnonzero(index[1:] < index[:-1])
        if down.size and np.unique(index).size == index.size:  # else of concatenated frames
            row = int(down[0])
            before, after = index[row : row + 2]
            message = f"expected row numbers that rise, got {after:.0f} after {before:.0f}"
            fix = "sort by the index first; or, if rows follow the dataset's order, drop the index"
            raise InputError(Problem(cells.rows.place(row + 1), message, fix=fix, rule="columns"))
    scores = cells.numbers("score" if "score" in cells.chosen else "rank")
    if dataset is not None and scores.size == n_source(dataset):
        scores = join_rows(cells.rows, dataset, scores, None, *cells.of_rows)
    return follow(cells.rows.where, dataset, scores, name)


def _decoded(categories: pa.DictionaryArray) -> pa.Array:
    """Return the values of categories; Arrow fails at the string views of polars' categories."""
    values = categories.dictionary
    if values.type == pa.string_view():
        values = values.cast(pa.large_string())
    return values.take(categories.indices)
