"""Batches saved as ``.npz``: scores, grades and list lengths of each query, padded or ragged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import index_in, unique
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints, offsets_of
from ..core.tables import Docnos, DuplicateRows, Qrels, Run
from ..errors import InputError, Problem, first_of, said_by
from .format import Format, Head, Kind
from .npy import NoArrayError, arrays_of
from .source import Source

_MOST = 2**40
"""Documents of a query, at most; more would not add up."""
_MAGIC = b"PK\x03\x04"
GIVE_QIDS = (
    "give qids to collector.add, so that batches saved in another order still meet their queries"
)


def read_qrels(
    source: Source, *, duplicates: Duplicates, name: str, fractions: bool = False
) -> Qrels:
    """Read the grades; documents without names are d0, d1, ... by position."""
    return qrels_of(source, _arrays(source), name, fractions)


def qrels_of(source: Source, arrays: dict[str, Any], name: str, fractions: bool) -> Qrels:
    """Return the grades of a batch's arrays."""
    qids, offsets = _unpadded(source, arrays, "relevance")
    grades = Qrels.check_numbers(arrays["relevance"], source.name, fractions=fractions)
    return Qrels(qids, offsets, _docnos(source, arrays, offsets, Qrels, grades), grades, name)


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read the scores; with a `dataset`, documents without names are its rows, query by query.

    The relevance in the file, if there is any, must be the dataset's.
    """
    return run_of(source, _arrays(source), dataset, name)


def run_of(source: Source, arrays: dict[str, Any], dataset: Qrels | None, name: str) -> Run:
    """Return the scores of a batch's arrays."""
    qids, offsets = _unpadded(source, arrays, "scores")
    scores = Run.check_numbers(arrays["scores"], source.name)
    if "docnos" in arrays or dataset is None:
        return Run(qids, offsets, _docnos(source, arrays, offsets, Run, scores), scores, name)
    at = _places(source, dataset, qids, offsets)
    rows = np.arange(offsets[-1]) + np.repeat(dataset.offsets[at] - offsets[:-1], np.diff(offsets))
    if "relevance" in arrays:
        _check_grades(source, dataset.grades[rows], arrays["relevance"], qids, offsets)
    if len(qids) == dataset.n_queries:
        ordered = np.empty(dataset.n_rows)
        ordered[rows] = scores
        return Run(dataset.qids, dataset.offsets, dataset.docnos, ordered, name)
    return Run(qids, offsets, Docnos(dataset.docnos.take(rows), offsets), scores, name)


def _places(source: Source, dataset: Qrels, qids: pa.Array, offsets: Ints) -> Ints:
    """Return the position of each query in `dataset`, which must have as many rows."""
    at = index_in(qids, dataset.qids)
    lengths, expected = np.diff(offsets), np.diff(dataset.offsets)[at]
    wrong = np.flatnonzero((at < 0) | (lengths != expected))
    if wrong.size:
        first = int(wrong[0])
        what = f"query '{qids[first].as_py()}' is not in the dataset"
        if at[first] >= 0:
            rows = f"expected {expected[first]} scores, one for each row, got {lengths[first]}"
            what = f"query '{qids[first].as_py()}': {rows}"
        what += f" ({wrong.size:,} of {len(qids):,} queries do not fit)"
        fix = f"collect the batches over this dataset; {GIVE_QIDS}"
        raise InputError(Problem(source.name, what, fix=fix, rule="row-count"))
    return at


def _check_grades(
    source: Source, expected: Ints, relevance: Array, qids: pa.Array, offsets: Ints
) -> None:
    """Raise if a query's grades, row by row, are not the dataset's: it is another query."""
    if relevance.dtype.kind == "f":  # 0.1 of a file is 0.1 of half precision too
        expected = expected.astype(relevance.dtype)
    wrong = np.flatnonzero(relevance != expected)
    if not wrong.size:
        return
    queries = np.unique(np.searchsorted(offsets, wrong, side="right") - 1)
    row, query = int(wrong[0]), int(queries[0])
    what = (
        f"relevance of query '{qids[query]}', document {row - int(offsets[query]) + 1}: expected "
        f"the dataset's {expected[row]}, got {relevance[row]} ({queries.size:,} of {len(qids):,} "
        "queries differ)"
    )
    raise InputError(Problem(source.name, what, fix=GIVE_QIDS))


def _arrays(source: Source) -> dict[str, Any]:
    try:
        return arrays_of(source.name, source.read())
    except NoArrayError as error:
        what = f"not an .npz archive of arrays ({error})"
        fix = "save plain arrays: scores.astype(float), qids.astype(str)"
        raise InputError(Problem(source.name, what, fix=fix)) from None


def _unpadded(source: Source, arrays: dict[str, Any], column: str) -> tuple[pa.Array, Ints]:
    """Make `column` ragged in place; return the qids and the offsets."""
    absent = [key for key in ("qids", "n", column) if key not in arrays]
    if absent:
        what = f"no array '{absent[0]}'; the archive holds {first_of(sorted(arrays)) or 'nothing'}"
        fix = (
            "save qids, n (documents of each query), and scores (a run) or relevance (a dataset), "
            "as BatchCollector.save does"
        )
        raise InputError(Problem(source.name, what, fix=fix))
    n = arrays["n"]
    if n.ndim != 1 or n.dtype.kind not in "iu" or (n < 0).any() or (n > _MOST).any():
        raise InputError(Problem(source.name, "n must be one count for each query"))
    qids, offsets = _texts(source, "qids", arrays["qids"]), offsets_of(n.astype(np.int64))
    if len(qids) != n.size or len(unique(qids)) != n.size:
        what = f"{len(unique(qids)):,} distinct qids for {n.size:,} queries"
        raise InputError(Problem(source.name, what))
    for key in dict.fromkeys((column, "relevance", "docnos")):
        if key in arrays:
            if key != "docnos" and arrays[key].dtype.kind not in "iufb":
                what = f"{key}: expected numbers, got {arrays[key].dtype}"
                raise InputError(Problem(source.name, what))
            arrays[key] = _ragged(source, key, arrays[key], n)
    return qids, offsets


def _texts(source: Source, key: str, values: Array) -> pa.Array:
    """Return identifiers as strings."""
    try:
        if values.ndim != 1 or values.dtype.kind not in "iuUS":
            raise ValueError(f"shape {values.shape} and type {values.dtype}")
        texts = pa.array(values.astype(str), pa.string())
        texts.validate(full=True)
        return texts
    except (ValueError, OverflowError, pa.ArrowException) as error:
        what = f"{key}: expected one text or whole number each ({said_by(error)})"
        raise InputError(Problem(source.name, what)) from None


def _ragged(source: Source, key: str, values: Array, n: Ints) -> Array:
    """Return the values of all documents without padding."""
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    if values.ndim == 2 and values.shape[0] == n.size and n.max(initial=0) <= values.shape[1]:
        values = values[np.arange(values.shape[1]) < n[:, None]]
    if values.ndim != 1 or values.size != n.sum():
        what = f"{key} of shape {values.shape} do not fit {n.size} queries with {n.sum()} rows"
        raise InputError(Problem(source.name, what))
    return values


def _docnos(
    source: Source, arrays: dict[str, Any], offsets: Ints, kind: type[Qrels | Run], numbers: Array
) -> Docnos:
    if "docnos" not in arrays:
        return Docnos(None, offsets)
    names = _texts(source, "docnos", arrays["docnos"])
    qids = pa.array(np.repeat(np.arange(offsets.size - 1), np.diff(offsets))).cast(pa.string())
    try:
        kind.from_columns(qids, names, numbers)
    except DuplicateRows as error:
        docno = names[int(error.rows[0])]
        what = f"expected each docno once in a query, got '{docno}' twice ({error.total} in all)"
        raise InputError(Problem(source.name, what, rule="duplicates")) from None
    return Docnos(names, offsets)


def looks(head: Head, kind: Kind) -> bool:
    """Whether the file is a zip archive with numpy's suffix."""
    return head.data.startswith(_MAGIC) and head.suffix == ".npz"


FORMAT = Format(
    name="batch",
    about="batches, as BatchCollector.save writes them: an .npz that holds qids, n (documents of "
    "each query), and scores (a run) or relevance (a dataset)",
    suffixes=(".npz",),
    looks=looks,
    qrels=read_qrels,
    run=read_run,
    magic=(_MAGIC,),
)
