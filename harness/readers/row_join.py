"""Predictions in a table without docnos to the rows of their dataset, by row, or qid and grade."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from ..core.arrow import equal, index_in
from ..core.ragged import Array
from ..core.tables import Qrels
from ..errors import InputError, Problem

FIX = "use harness.save_predictions, or add a column 'row' with the number of each row from 0"


def join_rows(
    dataset: Qrels,
    scores: Array,
    qids: pa.Array | None,
    grades: Array | None,
    rows: Array | None,
    is_file: bool,
    at: Callable[[int], str],
) -> Array:
    """Return scores in the order of the dataset's rows.

    They are joined by `rows`, or by qids and grades if these determine the order: in each query
    the grades are those of the dataset, row by row, or all differ.

    Parameters
    ----------
    qids : pyarrow string array, optional
        Of each prediction; None if the table has none, and as many rows as the dataset.
    grades : ndarray, optional
        Of each prediction, as the table has them.
    rows : ndarray, optional
        The row of each prediction in the dataset's file, from 0 or from 1.
    is_file : bool
        Whether the table is a file, whose columns a config can name.
    at : callable
        Returns the place of a prediction.

    Raises
    ------
    InputError
        At the first prediction that contradicts the dataset's row.
    """
    n, n_rows = scores.size, dataset.n_rows if dataset.n_source is None else dataset.n_source
    order = np.arange(dataset.n_rows) if dataset.order is None else dataset.order
    kept = np.argsort(order)  # in the order of the file
    file_row = order[kept]
    query, wanted = dataset.row[kept], dataset.numbers[kept]
    place = None
    if rows is not None and n == n_rows:
        place = (rows - min(1, rows.min())).astype(np.int64)
        place = _checked_rows(place, rows, is_file, at)
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
    seen = first if place is None else int(np.flatnonzero(place == first)[0])
    of = f" of {dataset.name}" if dataset.name else ""
    if n != n_rows and qids is not None:
        what = f"expected {n_rows:,} predictions, one for each row{of}, got {n:,}"
        theirs = f"query '{qids[first]}'" if first < n else "the end"
        own = f"query '{names[by_row]}'" if by_row < len(names) else "the end"
        what += f"; first difference: expected {own}, got {theirs}"
        fix = "predict every row of that file, in its order, and nothing else"
        raise InputError(Problem(at(min(first, n - 1)), what, fix=fix, rule="row-count"))
    expected = f"query '{names[by_row]}'"
    found = expected if qids is None else f"query '{qids[first]}'"
    fix = FIX
    if grades is not None:
        expected += f" with grade {wanted[by_row]:g}"
        found += f" with grade {grades[first]:g}"
        fix += "; columns: {grade: none} for other labels" * is_file
    what = f"expected {expected}, as row {first + 1:,}{of} has, got {found}"
    one = f"prediction {seen + 1:,}: {scores[first]:.15g}"
    raise InputError(Problem(at(seen), what, one, fix, "other-rows"))


def _checked_rows(place: Array, rows: Array, is_file: bool, at: Callable[[int], str]) -> Array:
    """Return the row of each prediction; raise if they are not each row once."""
    _, first = np.unique(place, return_index=True)
    once = np.zeros(place.size, bool)
    once[first] = True
    wrong = np.flatnonzero(~once | (place < 0) | (place >= place.size) | (rows % 1 != 0))
    if wrong.size:
        what = f"expected each row of the dataset once, got {rows[wrong[0]]:g}"
        fix = "write the number of each row from 0" + ", or say columns: {row: none}" * is_file
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
