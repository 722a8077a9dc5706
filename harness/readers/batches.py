"""Lists, numpy arrays and tensors in memory to arrays, and padded batches to qrels and runs.

A *batch* is ``scores (B, L)``, ``relevance (B, L)`` and ``n (B,)``, the number of documents of
each query. Everything beyond ``n`` is padding and is never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from ..core.arguments import describe
from ..core.arrow import cast, string_column, to_arrow
from ..core.pandas_frame import conversion
from ..core.qrels_and_runs import Docnos, Qrels, Run, T
from ..core.ragged import Array, Ints, offsets_of
from ..core.rules import SHOWN, finding
from ..errors import Finding, InputError, Place, Problem, counted, warn_of
from .rows import Rows, report
from .source import Source
from .text import is_like_number

SHAPES = (
    "give scores and grades of shape (B, L) or (B, L, 1), and n of shape (B,) or a mask of "
    "shape (B, L); or both of shape (rows,), and as n the rows of each query"
)


def as_array(values: Any, name: str) -> Array:
    """Return anything array-like as a numpy array, and refuse other objects with their type."""
    is_listed = isinstance(values, (list, tuple)) or is_tensor(values)
    is_array = is_listed or hasattr(values, "__array__")
    call = "" if is_array or hasattr(values, "__dlpack__") else conversion(values)
    array = np.asarray(None) if call else _converted(values, name)
    if array.ndim == 0 and array.dtype.kind not in "iufb":
        fix = f"give one column: {call}['{name}'].tolist()"
        fix = fix if call else "give a list, an array or a tensor"
        raise InputError(Problem(name, f"expected an array, got {describe(values)}", fix=fix))
    return array


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of PyTorch; open files can be detached, too."""
    return hasattr(value, "detach") and hasattr(value, "cpu")


def _converted(values: Any, name: str) -> Array:
    """Return an object as a numpy array; torch is never imported here."""
    try:
        if is_tensor(values):
            values = values.detach().cpu()
            # numpy has no bfloat16; float64 holds every narrower float as it is
            return np.asarray((values.double() if values.is_floating_point() else values).numpy())
        if isinstance(values, (list, tuple)):
            parts = [as_array(part, name) if is_tensor(part) else part for part in values]
            return np.asarray(parts)
        if hasattr(values, "__array__") or not hasattr(values, "__dlpack__"):
            return np.asarray(values)
        return np.from_dlpack(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        rows = values if isinstance(values, (list, tuple)) else ()
        lengths = {len(row) if hasattr(row, "__len__") else -1 for row in rows}
        reason = "its rows differ in length" if len(lengths) > 1 else str(error)
        message = f"expected an array, got a {type(values).__name__}: {reason}"
        fix = "give numbers in a list, a numpy array or a tensor, all rows padded to one length; "
        fix += "write docnos as text"
        raise InputError(Problem(name, message, fix=fix)) from error


def one_column(values: Any, name: str) -> Array:
    """Return one value for each row, given in shape (n,) or (n, 1), as an array ``(n,)``."""
    array = as_array(values, name)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1:
        message = f"expected one number for each row, got shape {array.shape}"
        fix = "give shape (n,), or padded scores and grades of shape (B, L); several runs go to "
        fix += "harness.compare"
        raise InputError(Problem(name, message, fix=fix))
    return array


R = TypeVar("R", bound=Sized)


def with_documents(
    kind: type[T], by_query: Mapping[str, R], where: Source | str
) -> Mapping[str, R]:
    """Return the queries that have a document; those without are reported for qrels.

    A query of a run without a document is not answered, and counted as such.
    """
    empty = [qid for qid, rows in by_query.items() if not len(rows)]
    if not empty:
        return by_query
    if issubclass(kind, Qrels):
        report(where, empty_queries(Rows(where).name, empty))
    return {qid: rows for qid, rows in by_query.items() if len(rows)}


def empty_queries(place: str, qids: Sequence[str]) -> Finding:
    """Return the finding about queries without a document, which are left out."""
    message = f"no document in {counted(len(qids), 'query', 'queries')}"
    return finding("empty-groups", place, message, len(qids), [*map(str, qids[:SHOWN])])


class BatchTables(NamedTuple):
    """Qrels and run of a batch, and the number of documents of each of its rows, ``(B,)``."""

    qrels: Qrels
    run: Run
    lengths: Ints


def from_queries(kind: type[T], by_query: Mapping[str, Array], where: Source | str) -> T:
    """Return the table of ``{qid: numbers}``; the rows of each query are d0, d1, ..."""
    name = Rows(where).name
    by_query = with_documents(kind, by_query, where)
    offsets = offsets_of([column.size for column in by_query.values()])
    flat = numbers_of(np.concatenate([*by_query.values()]), name)
    numbers = kind.check_numbers(flat, name)
    return kind(string_column(by_query), offsets, Docnos(None, offsets), numbers)


def padded(values: Any, name: str) -> Array:
    """Return a padded batch of shape (B, L) or (B, L, 1) as an array ``(B, L)``."""
    array = as_array(values, name)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim != 2:
        message = f"expected a padded batch of two dimensions, got shape {array.shape}"
        raise InputError(Problem(name, message, fix=SHAPES))
    return array


def numbers_of(values: Array, name: str) -> Array:
    """Return `values`, without padding, as an array of numbers."""
    if values.dtype.kind == "O":
        values = np.array(values.tolist())
    if values.size == 0:
        return np.zeros(0)
    if values.dtype.kind == "V" and "float" in values.dtype.name:  # bfloat16 outside torch
        return values.astype(np.float64)
    if values.dtype.kind not in "iufb":
        first = values.ravel()[0]
        is_text = isinstance(first, str)
        message = f"expected numbers, got {'text such as ' * is_text}{describe(first)}"
        fix = "give numbers of one run; several go to harness.compare(qrels, {name: run}, metrics)"
        if is_text and is_like_number(first):
            fix = "convert the text to numbers: numpy.array(values, dtype=float)"
        raise InputError(Problem(name, message, fix=fix))
    return values


def _documents_of(
    scores: Any, relevance: Any, n: Any, mask: Any, names: tuple[str, str]
) -> tuple[Array, Array, Ints, Array | None]:
    """Return scores, grades, documents of each query, and a mask of the documents; None means all.

    Both `n` and `mask` may be given if they agree.
    """
    of_scores, of_grades = names
    if n is None and mask is None:
        fix = f"{SHAPES}; write docnos as text"
        raise InputError(Problem("n", "expected n or mask, got neither", fix=fix))
    flat_scores, flat_grades = as_array(scores, of_scores), as_array(relevance, of_grades)
    if flat_scores.ndim == flat_grades.ndim == 1 and mask is None:
        sizes = as_array(n, "n")
        lengths = lengths_of(n, sizes.shape[0] if sizes.ndim else 0, flat_scores.size)
        if flat_scores.size != flat_grades.size:
            message = f"expected a score for each of {counted(flat_grades.size, 'grade')}, got "
            message += f"{flat_scores.size:,}"
            fix = "give grades and scores of the same rows"
            raise InputError(Problem(of_scores, message, fix=fix))
        if lengths.sum() != flat_scores.size:
            message = f"expected group sizes with the sum {flat_scores.size:,}, got "
            message += f"{lengths.sum():,}"
            fix = "count the rows of each query, in the order of the rows"
            raise InputError(Problem("n", message, fix=fix))
        return flat_scores, flat_grades, lengths, None
    padded_scores, padded_grades = padded(flat_scores, of_scores), padded(flat_grades, of_grades)
    if padded_scores.shape != padded_grades.shape:
        message = f"expected the shape of {of_scores}, {padded_scores.shape}, "
        message += f"got {padded_grades.shape}"
        raise InputError(Problem(of_grades, message, fix=SHAPES))
    n_queries, width = padded_scores.shape
    if mask is None:
        lengths = lengths_of(n, n_queries, width)
        full = bool((lengths == width).all())
        return padded_scores, padded_grades, lengths, None if full else inside_of(lengths, width)
    places = padded(mask, "mask")
    if places.shape != padded_scores.shape or not np.isin(places, (0, 1)).all():
        shape = padded_scores.shape
        message = f"expected true or false for each of {shape}, got {places.dtype} of "
        fix = "give True for a document and False for padding"
        raise InputError(Problem("mask", f"{message}shape {places.shape}", fix=fix))
    places = places.astype(bool)
    if n is not None:
        wrong = (places != inside_of(lengths_of(n, n_queries, width), width)).any(axis=1)
        if wrong.any():
            query = int(wrong.argmax())
            message = f"expected True for the first n = {as_array(n, 'n')[query]} documents alone"
            fix = "give n or mask alone; mask is True for a document and False for padding"
            raise InputError(Problem(f"mask[{query}]", message, fix=fix))
    return padded_scores, padded_grades, places.sum(axis=1).astype(np.int64), places


def inside_of(n: Ints, width: int) -> Array:
    """Mask of the documents of a padded batch, ``(B, L)`` bool."""
    inside: Array = np.arange(width) < n[:, None]
    return inside


def lengths_of(n: Any, n_queries: int, width: int) -> Ints:
    """Return the documents of each query, ``(B,)`` int64: whole numbers from 0 to `width`."""
    lengths = as_array(n, "n")
    if lengths.shape != (n_queries,):
        shape = lengths.shape
        message = f"expected one length for each of the {n_queries} queries, got shape {shape}"
        raise InputError(Problem("n", message, fix=SHAPES))
    numbers = numbers_of(lengths, "n")
    is_whole = numbers == np.trunc(numbers)
    bad = np.flatnonzero(~(is_whole & (numbers >= 0) & (numbers <= width)))
    if bad.size:
        message = f"expected a whole number from 0 to {width}, the list size, got {numbers[bad[0]]}"
        fix = "n counts the documents of each query, without padding"
        raise InputError(Problem(f"n[{bad[0]}]", message, fix=fix))
    return numbers.astype(np.int64)


def qids_of(qids: Any, n_queries: int, first: int) -> pa.Array:
    """Return distinct qids as an Arrow string column; by default `first`, `first` + 1, ..."""
    if qids is None:
        return cast(to_arrow(np.arange(first, first + n_queries)), pa.string())
    # numpy would make strings of all if a list mixes numbers and strings; take them as they are
    items = qids if isinstance(qids, (list, tuple)) else as_array(qids, "qids").ravel().tolist()
    if len(items) != n_queries:
        message = f"expected one qid for each of the {n_queries} queries, got {len(items)}"
        raise InputError(Problem("qids", message, fix="give qids of shape (B,), or none"))
    row_of: dict[str, int] = {}
    for row, name in enumerate(map(_qid, items, range(n_queries))):
        if row_of.setdefault(name, row) != row:
            message = f"expected each query once, got '{name}' in rows {row_of[name]} and {row}"
            raise InputError(Problem("qids", message, fix="give each query a different qid"))
    return string_column(row_of)


def _qid(item: Any, row: int) -> str:
    if hasattr(item, "item"):  # a tensor or a scalar of numpy's
        item = item.item()
    if isinstance(item, str):
        return item
    if isinstance(item, bytes):
        return item.decode()
    if isinstance(item, int) and not isinstance(item, bool):
        return str(item)
    if isinstance(item, float) and item.is_integer():
        return str(int(item))
    message = f"expected a whole number or a string, got {item!r}"
    raise InputError(Problem(f"qids[{row}]", message, fix="give qids as integers or strings"))


def from_batch(
    scores: Any,
    relevance: Any,
    n: Any = None,
    qids: Any = None,
    *,
    mask: Any = None,
    first: int = 0,
    copy: bool = True,
    keep_empty: bool = False,
    arguments: tuple[str, str] = ("scores", "relevance"),
    source: Source | None = None,
) -> BatchTables:
    """Return the tables of a padded batch; both share their rows, so no docno is looked up.

    The arrays are as `harness.to_pytrec_eval` takes them; qids count from `first` by default.
    Queries without a document are reported and left out, unless `keep_empty`. Without `copy` the
    tables may share memory with the arrays. `arguments` are the caller's names of scores and
    relevance; `source` is the file of the arrays.

    >>> qrels, run, lengths = from_batch([[0.5, 2.0, 9.9]], [[1, 0, 7]], [2], qids=[31])
    >>> qrels.to_dict(), run.to_dict()
    ({'31': {'d0': 1, 'd1': 0}}, {'31': {'d0': 0.5, 'd1': 2.0}})
    """
    of_scores, of_grades = arguments
    documents = _documents_of(scores, relevance, n, mask, arguments)
    given_scores, given_grades, lengths, inside = documents
    names, sizes = qids_of(qids, lengths.size, first), lengths
    findings: list[Finding] = []
    if not (keep_empty or lengths.all()):
        empty = names.filter(lengths == 0).to_pylist()
        findings.append(empty_queries("n" if mask is None else "mask", empty))
        names, sizes = names.filter(lengths > 0), lengths[lengths > 0]
    offsets = offsets_of(sizes)

    def place(name: str, items: Ints) -> tuple[str, str]:
        position = items[0] if inside is None else np.flatnonzero(inside)[items[0]]
        row = int(np.searchsorted(offsets, items[0], side="right")) - 1
        index = ", ".join(map(str, np.unravel_index(position, given_scores.shape)))
        return f"{name}[{index}]", f"query '{names[row]}'"

    finite_scores = numbers_of(_unpadded(given_scores, inside, copy), of_scores)
    bad = np.flatnonzero(~np.isfinite(finite_scores))
    if bad.size:
        where, query = place(of_scores, bad)
        got = f"got '{finite_scores[bad[0]]}' ({bad.size} in all)"
        message = f"{query}: expected a finite score, {got}"
        fix = "look for the model's overflow; if it is padding, n is too large"
        raise InputError(Problem(where, message, fix=fix, rule="not-finite"))
    grades = numbers_of(_unpadded(given_grades, inside, copy), of_grades)
    if grades.dtype.kind in "fu":
        wide = grades.astype(np.float64)
        bad = np.flatnonzero(~(np.abs(wide) < 2**63))
        if bad.size:
            where, query = place(of_grades, bad)
            message = f"{query}: expected a finite grade, got '{grades[bad[0]]}'"
            fix = "round the grades, or exchange grades and scores if they are swapped"
            raise InputError(Problem(where, message, fix=fix, rule="not-finite"))
    below = np.flatnonzero(grades < 0)
    if below.size:
        where, query = place(of_grades, below)
        message = f"{query}: grades below 0: {below.size:,}; they count as unjudged; "
        message += f"for padding, give mask={of_grades} >= 0"
        negative = finding("negative-grades", where, message, below.size, severity="warning")
        findings.append(negative)
    if source is None:
        warn_of(findings)
    else:
        for problem in findings:
            source.findings.append(replace(problem, place=Place(source.name, key=problem.place)))
    qrels = Qrels(names, offsets, Docnos(None, offsets), grades)
    return BatchTables(qrels, Run(names, offsets, qrels.docnos, finite_scores), lengths)


def _unpadded(batch: Array, inside: Array | None, copy: bool) -> Array:
    """Return the values outside the padding, row after row; all if `inside` is None."""
    if inside is not None:
        return batch[inside]
    return batch.flatten() if copy else batch.reshape(-1)
