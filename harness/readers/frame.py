"""Arrow tables and data frames to qrels and runs, with every row checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import as_whole, equal, index_in, to_numpy
from ..core.hashing import string_views
from ..core.policy import Duplicates
from ..core.ragged import Array
from ..core.tables import GRADE_LIMIT, NOTHING, DuplicateRows, Qrels, Run, T
from ..errors import SHOWN, InputError, Problem
from .build import column, keep_one, lines_of_rows, repeated, warn_dropped, warn_scattered
from .column_roles import by_position, name_docnos, number_role, select_columns
from .format import IsDataLine
from .predictions import follow
from .source import Source
from .text import check_number

_EXACT = 2.0**63
_NARROW = 2**31 - 1
_OTHER_ROWS = (
    "save the scores before you sort them, with harness.save_predictions; or add a column 'row' "
    "with the number of each row"
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
    dataset: Qrels | None = None,
    duplicates: Duplicates = "error",
    name: str = "",
    fractions: bool = False,
) -> T:
    """Return qrels or a run from an Arrow table, with the column of each role in `chosen`.

    `where` is the file, or what a data frame is called. `is_row` tells whether a line is a row, if
    the file is text; `asked`, whether a run without docnos may follow a dataset that has docnos.
    """
    cells = _Cells(table, chosen, where, is_row)
    check_types(table.schema, chosen, cells.place)
    if "qid" not in chosen:
        return _by_row(cells, dataset, name)  # type: ignore[return-value]
    qids = cells.strings("qid")
    docnos = cells.strings("docno") if "docno" in chosen else None
    role = number_role(chosen)
    numbers = cells.numbers(role, whole=not (fractions or role == "score"))
    if docnos is None and issubclass(of, Run):
        told = asked or "row" in chosen or (dataset is not None and dataset.docnos.positional)
        if dataset is None or not (told or "grade" in chosen or not _is_sorted(qids, numbers)):
            what, fix = "no column of docnos found", name_docnos(where)
            raise InputError(Problem(cells.place, what, fix=fix, rule="columns"))
        numbers = join_rows(dataset, numbers, qids, cells)
        return Run.for_rows(dataset, numbers, name=name)  # type: ignore[return-value]
    if not issubclass(of, Run):  # of a run they are finite, and need no copy
        numbers = of.check_numbers(numbers, cells.place, fractions=fractions)
    try:
        made = of.from_columns(qids, docnos, numbers, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        if is_row is not None and isinstance(where, Source):
            raise repeated(where, of, error, is_row) from None
        fix = "keep one of them, or give duplicates='last'"
        fix = keep_one(of) if isinstance(where, Source) else fix
        problems = [
            Problem(
                cells.row(later),
                f"expected each docno once in a query, got row {earlier + 1}'s again",
                fix=fix,
                rule="duplicates",
            )
            for later, earlier in zip(error.rows, error.first, strict=True)
        ]
        raise InputError(problems, total=error.total) from None
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

    def row(self, position: int) -> str:
        """Return ``path:line`` for lines of text, ``path: row n`` otherwise."""
        if isinstance(self.where, str) or self.is_row is None:
            return f"{self.place}: row {position + 1}"
        found = lines_of_rows(self.where, np.array([position]), self.is_row)
        return f"{self.place}:{found[position][0]}"

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
                what = f"{role}: expected text ({error})"
                raise InputError(Problem(self.place, what)) from None
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
        is_plain = role == "grade" and values.num_chunks == 1 and pa.types.is_int32(values.type)
        try:
            values = values if is_plain else values.cast(pa.float64())
        except pa.ArrowException as error:
            what = f"{role}: expected a number ({error})"
            raise InputError(Problem(self.place, what)) from None
        numbers: Array = to_numpy(values) if values.num_chunks else np.zeros(0)
        limit = GRADE_LIMIT if role == "grade" else np.finfo(float).max
        sound = (numbers >= -limit) & (numbers <= limit)
        if whole and not is_plain:
            sound &= numbers == np.trunc(numbers)
        bad = np.flatnonzero(~sound)
        if bad.size:
            wrong = [
                (at, check_number(repr(float(numbers[at])), role, whole)) for at in bad[:SHOWN]
            ]
            problems = [replace(one, where=self.row(int(at))) for at, one in wrong if one]
            raise InputError(problems, total=bad.size)
        return -numbers if role == "rank" else numbers


def _is_sorted(qids: pa.Array, scores: Array) -> bool:
    """Return whether scores fall in every query, as in a ranking, whose documents have no names."""
    codes = to_numpy(qids.dictionary_encode().indices)
    return not (np.diff(scores)[codes[1:] == codes[:-1]] > 0).any()


def _by_row(cells: _Cells, dataset: Qrels | None, name: str) -> Run:
    """Return the run of scores in the order of a dataset's rows; row numbers must not contradict.

    Numbers that come twice tell no order, as in concatenated frames, unless they are qids.
    """
    qids = None
    if "index" in cells.chosen:
        index = cells.numbers("index", whole=True)
        down = np.flatnonzero(index[1:] < index[:-1])
        is_unique = np.unique(index).size == index.size
        if down.size and is_unique:
            at = int(down[0])
            what = f"expected row numbers that rise, got {index[at + 1]:.0f} after {index[at]:.0f}"
            fix = "sort by the index first; or, if rows follow the dataset's order, drop the index"
            raise InputError(Problem(cells.row(at + 1), what, fix=fix, rule="columns"))
        if dataset is not None and not is_unique:
            texts = cells.strings("index")
            qids = texts if (dataset.place(texts) >= 0).all() else None
    scores = cells.numbers("score" if "score" in cells.chosen else "rank")
    if dataset is not None and scores.size == (dataset.n_source or dataset.n_rows):
        scores = join_rows(dataset, scores, qids, cells)
    return follow(cells.where, dataset, scores, name)


def check_types(schema: pa.Schema, chosen: Mapping[str, str], where: str) -> None:
    """Raise if a column holds lists, structs or maps."""
    problems = [
        Problem(
            where,
            f"column '{name}': expected {'text or a whole number' if is_text else 'a number'}, "
            f"got {schema.field(name).type}",
            fix="write one value a row",
            rule="columns",
        )
        for role, name in chosen.items()
        for is_text in [role in ("qid", "docno")]
        if pa.types.is_nested(schema.field(name).type)
    ]
    if problems:
        raise InputError(problems)


def _decoded(categories: pa.DictionaryArray) -> pa.Array:
    """Return the values of categories; Arrow fails at the string views of polars' categories."""
    values = categories.dictionary
    if values.type == pa.string_view():
        values = values.cast(pa.large_string())
    return values.take(categories.indices)


def join_rows(dataset: Qrels, scores: Array, qids: pa.Array | None, cells: _Cells) -> Array:
    """Return scores in the order of the dataset's rows.

    They are joined by the column of rows, or by qids and grades if these determine the order: in
    each query the grades are those of the dataset, row by row, or all differ. InputError names
    the first prediction that contradicts the dataset's row.
    """
    n, n_rows = scores.size, dataset.n_rows if dataset.n_source is None else dataset.n_source
    grades, rows = (cells.numbers(one) if one in cells.chosen else None for one in ("grade", "row"))
    order = np.arange(dataset.n_rows) if dataset.order is None else dataset.order
    kept = np.argsort(order)  # in the order of the file
    file_row, query, wanted = order[kept], dataset.row[kept], dataset.numbers[kept]
    is_file, place = isinstance(cells.where, Source), None
    if rows is not None and n == n_rows:
        place = _row_places(rows, is_file, cells.row)
        back = np.argsort(place)
        qids, scores = None if qids is None else qids.take(pa.array(back)), scores[back]
        grades = None if grades is None else grades[back]
    present = file_row[file_row < n]
    names = dataset.qids.take(pa.array(query[: present.size]))
    differ = np.zeros(present.size, bool)
    if qids is not None:
        differ = ~equal(qids.take(pa.array(present)), names)
    if grades is not None:
        differ |= grades[present] != wanted[: present.size]
    if n == n_rows and not differ.any():
        return scores
    is_whole = n == n_rows == dataset.n_rows and place is None
    if is_whole and qids is not None and grades is not None:
        joined = _by_grade(index_in(qids, dataset.qids), grades, query, wanted)
        if joined is not None:
            return scores[joined]
    first = int(present[differ.argmax()]) if differ.any() else min(n, n_rows)
    by_row = int(np.searchsorted(present, first))
    of = f" of {dataset.name}" if dataset.name else ""
    expected = found = "the end"
    if by_row < query.size:
        expected = f"query '{dataset.qids[int(query[by_row])]}'"
        expected += "" if grades is None else f" with grade {wanted[by_row]:g}"
    if first < n:
        found = f"query '{names[by_row] if qids is None else qids[first]}'"
        found += "" if grades is None else f" with grade {grades[first]:g}"
    if n != n_rows and qids is not None:
        what = f"expected {n_rows:,} predictions, one for each row{of}, got {n:,}"
        fix = "predict every row of that file, in its order, and nothing else"
        one = qids[min(first, n - 1)]
        count = int(equal(qids, one).sum())
        size = int((dataset.row == dataset.place(pa.array([one]))).sum())
        if first < n and 0 < count < size:
            what += f"; {count:,} of {size:,} rows of query '{one}'"
            fix += "; a cut list needs a column docno or row"
        else:
            what += f"; first difference: expected {expected}, got {found}"
        raise InputError(Problem(cells.row(min(first, n - 1)), what, fix=fix, rule="row-count"))
    fix = _OTHER_ROWS
    if grades is not None:
        fix += "; columns: {grade: none} for other labels" * is_file
    what = f"expected {expected}, as row {first + 1:,}{of} has, got {found}"
    seen = first if place is None else int(np.flatnonzero(place == first)[0])
    one = f"prediction {seen + 1:,}: {scores[first]:.15g}"
    raise InputError(Problem(cells.row(seen), what, one, fix, "other-rows"))


def _row_places(rows: Array, is_file: bool, at: Callable[[int], str]) -> Array:
    """Return the row of each prediction, from 0; raise if they are not each row once."""
    place: Array = (rows - min(1, rows.min())).astype(np.int64)
    once = np.zeros(place.size, bool)
    once[np.unique(place, return_index=True)[1]] = True
    wrong = np.flatnonzero(~once | (place < 0) | (place >= place.size) | (rows % 1 != 0))
    if wrong.size:
        what = f"expected each row of the dataset once, got {rows[wrong[0]]:g}"
        fix = "write the number of each row from 0" + ", or columns: {row: none}" * is_file
        one = f"prediction {wrong[0] + 1:,}"
        raise InputError(Problem(at(int(wrong[0])), what, one, fix, "other-rows"))
    return place


def _by_grade(codes: Array, grades: Array, query: Array, wanted: Array) -> Array | None:
    """Return the prediction of each row of the dataset; None if its order is not determined."""
    for keys in ((), (grades, wanted)):
        own = np.lexsort((wanted, query)) if keys else np.argsort(query, kind="stable")
        theirs = np.lexsort((grades, codes)) if keys else np.argsort(codes, kind="stable")
        pairs = np.stack([query[own], wanted[own]])
        if not np.array_equal(pairs, np.stack([codes[theirs], grades[theirs]])):
            continue
        if not keys or (np.diff(pairs) != 0).any(axis=0).all():
            joined = np.empty_like(own)
            joined[own] = theirs
            return joined
    return None
