"""Arrow tables and data frames to qrels and runs, with every row checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import call, take, to_arrow, to_numpy, unique
from ..core.hashing import string_views
from ..core.policy import Duplicates, RunDuplicates, ScoreOrder
from ..core.qrels_and_runs import GRADE_LIMIT, NO_ROWS, Qrels, QueryRows, Run, T
from ..core.ragged import Array, Ints, offsets_of
from ..errors import SHOWN, InputError, Problem, counted, first_of
from .batches import with_documents
from .column_roles import (
    OF_ROWS,
    Names,
    by_position,
    hold_features,
    is_list_type,
    name_docnos,
    name_it,
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
        return best_first(table_read, where, "score" not in chosen)
    return replace(table_read, numbers=table_read.numbers.copy())  # the frame's own may change


def from_table(
    table: pa.Table, rows_type: type[T], where: Source | str, columns: Names | None, **settings: Any
) -> T:
    """Return qrels or a run from a whole table, with detected columns; see `table_of`."""
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

    `rows` are their places in a file or frame; `columns` is that key of a config.
    """
    cells = _Cells(table, chosen, rows)
    if "qid" not in chosen:
        return rows_as(rows_type, _by_row(cells, dataset, name))
    if "docno" in chosen:
        cells = cells.with_numbers(rows_type)
        rows = cells.rows
    qids = cells.strings("qid")
    docnos = cells.strings("docno") if "docno" in chosen else None
    role = number_role(cells.chosen)
    numbers = cells.numbers(role, whole=role == "rank")
    if isinstance(rows.where, Source):
        rows.where.has_ranks |= role == "rank"
    if docnos is None and issubclass(rows_type, Run):
        told = by_position(columns) or not chosen.keys().isdisjoint({"row", "grade"})
        if dataset is None or (
            not (told or dataset.docnos.positional) and _is_sorted(qids, numbers)
        ):
            fix = name_docnos(is_file=isinstance(rows.where, Source))
            raise InputError(Problem(rows.name, "no column of docnos", fix=fix, rule="columns"))
        scores = join_rows(rows, dataset, numbers, qids, *cells.of_rows)
        return rows_as(rows_type, Run.for_rows(dataset, scores, name=name))
    if not issubclass(rows_type, Run):  # of a run they are finite, and need no copy
        numbers = rows_type.check_numbers(numbers, rows.name)
    table_read = build(rows_type, rows, qids, docnos, numbers, duplicates, name)
    if isinstance(table_read, Qrels) and docnos is not None:
        table_read = replace(table_read, learning_to_rank=_has_features(table, chosen, rows.where))
    if rows.of_documents is not None:
        table_read = replace(table_read, rows_of_documents=rows.of_documents)
    warn_dropped(replace(rows, is_data=None), table_read.dropped or NO_ROWS, duplicates)
    if isinstance(rows.where, Source):
        warn_scattered(rows, table_read.scattered)
    return table_read


def rows_as(rows_type: type[T], table: QueryRows) -> T:
    """Return a table of a type that the caller knows and mypy does not."""
    assert isinstance(table, rows_type)
    return table


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

    def with_numbers(self, kind: type[QueryRows]) -> _Cells:
        """Return cells with one document a row and its number.

        Their docnos may be lists, and their numbers lists of the same lengths. Documents without
        numbers get those of `QueryRows.from_dict`.
        """
        role, docnos, rows = number_role(self.chosen), self.table[self.chosen["docno"]], self.rows
        if role and not is_list_type(docnos.type):
            return self
        columns, lengths = {"qid": self.strings("qid"), "docno": docnos}, np.array([len(docnos)])
        if is_list_type(docnos.type):
            lengths = self._lengths("docno")
            self._check_lists(role, columns["qid"], lengths, kind)
            row = np.repeat(np.arange(lengths.size), lengths)
            columns = {"qid": take(columns["qid"], row), "docno": column(docnos).flatten()}
            rows = replace(rows, of_documents=row)
        if role:
            columns[role] = column(self.table[self.chosen[role]]).flatten()
        else:
            role = "grade" if issubclass(kind, Qrels) else "score"
            columns[role] = to_arrow(kind.numbers_of_lists(offsets_of(lengths)))
        if isinstance(rows.where, Source):
            rows.where.has_ranks |= role not in self.chosen
        return _Cells(pa.table(columns), {name: name for name in columns}, rows)

    def _lengths(self, role: str) -> Ints:
        """Return the length of each list of a column; of other values it is 1."""
        values = self.table[self.chosen[role]]
        if values.null_count:
            self.check_missing(role, values.is_null().to_numpy())
        if not is_list_type(values.type):
            return np.ones(len(values), np.int64)
        return to_numpy(call("list_value_length", [column(values)])).astype(np.int64)

    def _check_lists(self, role: str, qids: pa.Array, lengths: Ints, kind: type[QueryRows]) -> None:
        """Raise if lists of numbers have other lengths, or a query has two rankings."""
        other = np.flatnonzero(self._lengths(role) != lengths) if role else np.zeros(0, np.int64)
        if other.size:
            message = f"expected a {role} for each of {lengths[other[0]]} documents, got others"
            fix = f"give a list of {role}s that is as long as that of docnos"
            place = self.rows.place(int(other[0]))
            raise InputError(Problem(place, message, fix=fix, rule="columns"))
        if issubclass(kind, Qrels):
            empty = qids.filter(to_arrow(lengths == 0)).to_pylist()
            with_documents(kind, dict.fromkeys(empty, ()), self.rows.where)
        elif not role and len(unique(qids)) < len(qids):
            message, fix = "expected one ranking of each query, got several", "join them"
            raise InputError(Problem(self.rows.name, message, fix=fix, rule="duplicates"))

    def check_missing(self, role: str, missing: Array) -> None:
        if missing.any():
            message = f"expected a {role} (column '{self.chosen[role]}'), got none or NaN in "
            message += counted(int(missing.sum()), "row")
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
                raise self._uncast(role, "text or a whole number", error) from None
            if values.nbytes < _NARROW:
                values = values.cast(pa.string())
        strings = column(values)
        offsets, _ = string_views(strings)
        self.check_missing(role, offsets[1:] == offsets[:-1])
        return strings

    def _uncast(self, role: str, expected: str, error: pa.ArrowException) -> InputError:
        """Return the error of a column with objects, lists or another type."""
        name, kind = self.chosen[role], self.table[self.chosen[role]].type
        fix, got = "", f" ({error})"
        if pa.types.is_struct(kind):
            got = f", got objects with the keys {first_of(field.name for field in kind)}"
            fix = f"write {expected} instead of each object"
        elif is_list_type(kind):
            got, fix = ", got lists", "write a row for each value"
            if role in ("grade", "score", "rank"):
                got += ", but no lists of docnos"
                side, is_file = (
                    "qrels" if role == "grade" else "run",
                    isinstance(self.rows.where, Source),
                )
                fix = name_it("docno", is_file=is_file, kind=side)
        message = f"{role} (column '{name}'): expected {expected}{got}"
        return InputError(Problem(self.rows.name, message, fix=fix, rule="columns"))

    def numbers(self, role: str, *, whole: bool = False) -> Array:
        """Return grades, scores or negative ranks; raise if one is missing or not sound."""
        values = self.table[self.chosen[role]]
        if values.null_count:
            self.check_missing(role, values.is_null().to_numpy())
        try:
            if role == "grade" and values.type == pa.float16():
                values = pa.chunked_array([values.to_numpy().astype(str).astype(np.float64)])
            values = values.cast(pa.float64())
        except pa.ArrowException as error:
            raise self._uncast(role, "a number", error) from None
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
    """Whether scores fall in every query, as in a ranking without docnos."""
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
