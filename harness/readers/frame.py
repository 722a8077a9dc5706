"""Arrow tables and data frames to qrels and runs, with every row checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import as_whole, equal, index_in, to_numpy
from ..core.hashing import string_views
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints
from ..core.tables import GRADE_LIMIT, NOTHING, DuplicateRows, Qrels, Run, T
from ..errors import SHOWN, InputError, Place, Problem
from .build import column, lines_of_rows, repeated, warn_dropped, warn_scattered
from .column_roles import by_position, name_docnos, number_role, select_columns
from .format import IsDataLine
from .predictions import follow
from .source import Source
from .text import check_number

_EXACT = 2.0**63
_NARROW = 2**31 - 1
_OTHER_ROWS = (
    "predict every row, and save the scores before you sort them, with harness.save_predictions; "
    "or add a column 'row'"
)


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

    Columns are found by their usual names, or by ``{"qid": ..., "docno": ..., "grade": ...}``;
    ``"docno": None`` declares that rows go by position. A run without docnos follows the rows of
    `dataset`.
    """
    where = name or "data frame"
    is_arrow = hasattr(frame, "__arrow_c_stream__")
    table = pa.table(frame) if is_arrow else pa.Table.from_pandas(frame, nthreads=1)
    chosen = select_columns(table.column_names, of.kind, columns, where, table.select)
    made = table_of(
        table, of, chosen, where, None, columns=columns,
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
    columns: Mapping[str, str | int | None] | None = None,
    dataset: Qrels | None = None,
    duplicates: Duplicates = "error",
    name: str = "",
    fractions: bool = False,
) -> T:
    """Return qrels or a run from an Arrow table, with the column of each role in `chosen`.

    `where` is the file, or what a data frame is called. `is_row` tells whether a line is a row, if
    the file is text; `columns` is what a config says of them.
    """
    cells = _Cells(table, chosen, where, is_row)
    if "qid" not in chosen:
        return _by_row(cells, dataset, name)  # type: ignore[return-value]
    qids = cells.strings("qid")
    docnos = cells.strings("docno") if "docno" in chosen else None
    role = number_role(chosen)
    numbers = cells.numbers(role, whole=not (fractions or role == "score"))
    if docnos is None and issubclass(of, Run):
        told = by_position(columns) or not chosen.keys().isdisjoint({"row", "grade"})
        if dataset is None or (
            not (told or dataset.docnos.positional) and _is_sorted(qids, numbers)
        ):
            what = "no column of docnos found"
            raise InputError(Problem(cells.place, what, fix=name_docnos(), rule="columns"))
        numbers = join_rows(dataset, numbers, qids, cells)
        return Run.for_rows(dataset, numbers, name=name)  # type: ignore[return-value]
    if not issubclass(of, Run):  # of a run they are finite, and need no copy
        numbers = of.check_numbers(numbers, cells.place, fractions=fractions)
    try:
        made = of.from_columns(qids, docnos, numbers, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        raise repeated(where, of, error, is_row) from None
    warn_dropped(cells.place, made.dropped or NOTHING, duplicates)
    if isinstance(where, Source):
        warn_scattered(where, made.scattered, is_row)
    return made


@dataclass(frozen=True)
class _Cells:
    """The columns of a table by their roles, with errors that name the row of a cell."""

    table: pa.Table
    chosen: Mapping[str, str]
    where: Source | str
    is_row: IsDataLine | None

    @property
    def place(self) -> str:
        return self.where if isinstance(self.where, str) else self.where.name

    def row(self, position: int) -> Place:
        """Return ``path:line`` for lines of text, ``path: row n`` otherwise."""
        if isinstance(self.where, str) or self.is_row is None:
            return Place(self.place, row=position + 1)
        found = lines_of_rows(self.where, np.array([position]), self.is_row)
        return Place(self.place, found[position][0])

    def check_missing(self, role: str, missing: Array) -> None:
        if missing.any():
            what = f"missing values of {role} (column '{self.chosen[role]}'): {missing.sum():,}"
            fix = "fill them or leave these rows out"
            raise InputError(Problem(self.row(int(missing.argmax())), what, fix=fix))

    def strings(self, role: str) -> pa.Array:
        """Return identifiers as strings; 7.0, as data frames write whole numbers, is 7.

        In text, as CSV has it, that holds for a column of qids that all end in .0.
        """
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
                what = f"{role}: expected text or a whole number ({error})"
                raise InputError(Problem(self.place, what, rule="columns")) from None
            if values.nbytes < _NARROW:
                values = values.cast(pa.string())
        strings = column(values)
        offsets, _ = string_views(strings)
        self.check_missing(role, offsets[1:] == offsets[:-1])
        return as_whole(strings) if role == "qid" else strings

    def numbers(self, role: str, *, whole: bool = False) -> Array:
        """Return grades, scores or negative ranks; raise if one is missing or not sound."""
        values = self.table[self.chosen[role]]
        if values.null_count:
            self.check_missing(role, values.is_null().to_numpy())
        try:
            values = values.cast(pa.float64())
        except pa.ArrowException as error:
            what = f"{role}: expected a number ({error})"
            raise InputError(Problem(self.place, what, rule="columns")) from None
        numbers: Array = to_numpy(values) if values.num_chunks else np.zeros(0)
        limit = GRADE_LIMIT if role == "grade" else np.finfo(float).max
        sound = (numbers >= -limit) & (numbers <= limit)
        if whole:
            sound &= numbers == np.trunc(numbers)
        if (bad := np.flatnonzero(~sound)).size:
            texts = {at: repr(float(numbers[at])) for at in bad[:SHOWN].tolist()}
            wrong = {at: check_number(text, role, whole) for at, text in texts.items()}
            problems = [replace(one, where=self.row(at)) for at, one in wrong.items() if one]
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
            at = int(down[0])
            what = f"expected row numbers that rise, got {index[at + 1]:.0f} after {index[at]:.0f}"
            fix = "sort by the index first; or, if rows follow the dataset's order, drop the index"
            raise InputError(Problem(cells.row(at + 1), what, fix=fix, rule="columns"))
    scores = cells.numbers("score" if "score" in cells.chosen else "rank")
    if dataset is not None and scores.size == (dataset.n_source or dataset.n_rows):
        scores = join_rows(dataset, scores, None, cells)
    return follow(cells.where, dataset, scores, name)


def _decoded(categories: pa.DictionaryArray) -> pa.Array:
    """Return the values of categories; Arrow fails at the string views of polars' categories."""
    values = categories.dictionary
    if values.type == pa.string_view():
        values = values.cast(pa.large_string())
    return values.take(categories.indices)


def join_rows(dataset: Qrels, scores: Array, qids: pa.Array | None, cells: _Cells) -> Array:
    """Return scores in the order of the dataset's rows.

    They are joined by the column of rows, or by qids if each query has the grades of the dataset,
    row by row. InputError names the first prediction that contradicts the dataset's row.
    """
    n, n_rows = scores.size, dataset.n_rows if dataset.n_source is None else dataset.n_source
    grades, rows = (cells.numbers(one) if one in cells.chosen else None for one in ("grade", "row"))
    order = np.arange(dataset.n_rows) if dataset.order is None else dataset.order
    kept = np.argsort(order)  # in the order of the file
    file_row, query, wanted = order[kept], dataset.row[kept], dataset.numbers[kept]
    from_row = np.arange(n)  # the prediction of each row of the file
    if rows is not None and n == n_rows:
        from_row = _by_number(rows, cells)
        qids, scores = None if qids is None else qids.take(pa.array(from_row)), scores[from_row]
        grades = None if grades is None else grades[from_row]
    present = file_row[file_row < n]
    names = dataset.qids.take(pa.array(query[: present.size]))
    differ = np.zeros(present.size, bool)
    if qids is not None:
        differ = ~equal(qids.take(pa.array(present)), names)
    if grades is not None:
        differ |= grades[present] != wanted[: present.size]
    if n == n_rows and not differ.any():
        return scores
    if n == n_rows == dataset.n_rows and rows is None and qids is not None and grades is not None:
        codes = index_in(qids, dataset.qids)
        own, theirs = np.argsort(query, kind="stable"), np.argsort(codes, kind="stable")
        if (query[own] == codes[theirs]).all() and (wanted[own] == grades[theirs]).all():
            joined = np.empty_like(own)
            joined[own] = theirs
            return scores[joined]
    first = int(present[differ.argmax()]) if differ.any() else min(n, n_rows)
    by_row = int(np.searchsorted(present, first))
    expected = found = "the end"
    if by_row < query.size:
        expected = f"query '{dataset.qids[int(query[by_row])]}'"
        expected += "" if grades is None else f" with grade {wanted[by_row]:g}"
    if first < n:
        found = f"query '{names[by_row] if qids is None else qids[first]}'"
        found += "" if grades is None else f" with grade {grades[first]:g}"
    of = f" of {dataset.name}" if dataset.name else ""
    what, rule = f"expected {expected}, as row {first + 1:,}{of} has, got {found}", "other-rows"
    if n != n_rows:
        count = f"expected {n_rows:,} predictions, one for each row{of}, got {n:,}"
        what, rule = f"{count}; first difference: expected {expected}, got {found}", "row-count"
    at = int(from_row[min(first, n - 1)])
    one = f"prediction {at + 1:,}: {scores[min(first, n - 1)]:.15g}"
    raise InputError(Problem(cells.row(at), what, one, _OTHER_ROWS, rule))


def _by_number(rows: Array, cells: _Cells) -> Ints:
    """Return the prediction of each row of the dataset; raise if not each row is there once."""
    from_row: Ints = np.argsort(rows, kind="stable")
    wanted = np.arange(rows.size) + min(1, rows.min())
    wrong = rows[from_row] != wanted
    if wrong.any():
        at = from_row[wrong.argmax()]
        what = "expected each row of the dataset once, counted from 0 or 1, got "
        what += f"{rows[at]:g} in place of {wanted[wrong.argmax()]}"
        fix = "write the number of each row, or name another column: columns: {row: none}"
        raise InputError(Problem(cells.row(int(at)), what, "", fix, "other-rows"))
    return from_row
