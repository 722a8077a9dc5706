"""Files of numpy: predictions as one array (``.npy``), and saved batches (``.npz``)."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import index_in, unique
from ..core.ragged import Array, Ints, offsets_of
from ..core.tables import Docnos, DuplicateRows, Qrels, Run
from ..errors import InputError, Problem, first_of, said_by
from ..files import check_room
from .format import Format, name_it
from .predictions import follow
from .source import PLAIN_ARRAY, Source, check_unpacked

_MAGIC, _ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"
_MOST = 2**40  # Documents of a query, at most; more would not add up
GIVE_QIDS = "give qids to collector.add, so that batches in another order still find their queries"


class NoArrayError(Exception):
    """Bytes that are no array of numpy's; the text says why."""


def array_of(data: bytes) -> Array:
    """Return the array in the bytes of an ``.npy`` file, or raise :class:`NoArrayError`."""
    if not data.startswith(_MAGIC):
        raise NoArrayError("not a file of numpy")
    found: Array = _loaded(data)
    return found


def _loaded(data: bytes, name: str = "") -> Any:
    """Return the array, or the arrays by their names; pickled objects are never loaded."""
    try:
        if data.startswith(_ARCHIVE):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                check_unpacked(name, sum(member.file_size for member in archive.infolist()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = np.load(io.BytesIO(data), allow_pickle=False)
            return loaded if isinstance(loaded, np.ndarray) else dict(loaded)
    except InputError:
        raise
    except Exception as error:  # at damaged bytes, numpy and zipfile raise a dozen kinds
        if isinstance(error, MemoryError):  # or the header asks for more than there can be
            check_room()
        raise NoArrayError(said_by(error)) from None


def read_predictions(source: Source, *, dataset: Qrels | None = None, name: str, **how: Any) -> Run:
    """Read one score for each row of `dataset`."""
    if source.head.startswith(_ARCHIVE):
        raise source.error("an .npz archive", name_it("run", "batch"))
    if not source.head.startswith(_MAGIC):
        source.check_text()
    try:
        scores = array_of(source.read())
    except NoArrayError as error:
        raise source.error(f"not an array of numbers ({error})", PLAIN_ARRAY) from None
    return _by_rows(source, dataset, scores, name)


def _by_rows(source: Source, dataset: Qrels | None, scores: Array, name: str) -> Run:
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1 or scores.dtype.kind not in "iuf":
        what = f"expected numbers of shape (n,), got {scores.dtype} of shape {scores.shape}"
        raise source.error(what, "save one number for each row")
    return follow(source, dataset, scores, name)


def read_qrels(source: Source, *, name: str, fractions: bool = False, **how: Any) -> Qrels:
    """Read the grades of a batch; documents without names are d0, d1, ... by position."""
    return qrels_of(source, _arrays(source), name, fractions)


def qrels_of(source: Source, arrays: dict[str, Any], name: str, fractions: bool) -> Qrels:
    """Return the grades of a batch's arrays."""
    qids, offsets = _unpadded(source, arrays, "relevance")
    grades = Qrels.check_numbers(arrays["relevance"], source.name, fractions=fractions)
    return Qrels(qids, offsets, _docnos(source, arrays, offsets, Qrels, grades), grades, name)


def read_run(source: Source, *, dataset: Qrels | None = None, name: str, **how: Any) -> Run:
    """Read the scores of a batch; with a `dataset`, documents without names are its rows.

    An archive of one array, as ``np.savez(path, scores)`` writes, has a score for each of its rows.
    """
    arrays = _arrays(source)
    if dataset is not None and len(arrays) == 1:
        (scores,) = arrays.values()
        return _by_rows(source, dataset, scores, name)
    return run_of(source, arrays, dataset, name)


def run_of(source: Source, arrays: dict[str, Any], dataset: Qrels | None, name: str) -> Run:
    """Return the scores of a batch's arrays; relevance in them must be the dataset's."""
    qids, offsets = _unpadded(source, arrays, "scores")
    scores = Run.check_numbers(arrays["scores"], source.name)
    if "docnos" in arrays or dataset is None:
        return Run(qids, offsets, _docnos(source, arrays, offsets, Run, scores), scores, name)
    at = index_in(qids, dataset.qids)
    lengths, expected = np.diff(offsets), np.diff(dataset.offsets)[at]
    wrong = np.flatnonzero((at < 0) | (lengths != expected))
    if wrong.size:
        first = int(wrong[0])
        what = f"query '{qids[first]}': "
        what += "expected a query of the dataset" if at[first] < 0 else (
            f"expected {expected[first]} scores, one for each row, got {lengths[first]}"
        )  # fmt: skip
        fix = f"collect the batches over this dataset; {GIVE_QIDS}"
        raise source.error(what, fix, "row-count")
    rows = np.arange(offsets[-1]) + np.repeat(dataset.offsets[at] - offsets[:-1], lengths)
    if "relevance" in arrays:
        relevance, grades = arrays["relevance"], dataset.grades[rows]
        if relevance.dtype.kind == "f":  # 0.1 of a file is 0.1 of half precision too
            grades = grades.astype(relevance.dtype)
        differ = np.flatnonzero(relevance != grades)
        if differ.size:
            row = int(differ[0])
            query = int(np.searchsorted(offsets, row, side="right")) - 1
            what = (
                f"relevance of query '{qids[query]}', document {row - int(offsets[query]) + 1}: "
                f"expected the dataset's {grades[row]}, got {relevance[row]}"
            )
            raise source.error(what, GIVE_QIDS)
    if len(qids) == dataset.n_queries:
        ordered = np.empty(dataset.n_rows)
        ordered[rows] = scores
        return Run(dataset.qids, dataset.offsets, dataset.docnos, ordered, name)
    return Run(qids, offsets, Docnos(dataset.docnos.take(rows), offsets), scores, name)


def _arrays(source: Source) -> dict[str, Any]:
    try:
        return dict(_loaded(source.read(), source.name))
    except (NoArrayError, TypeError) as error:
        what = f"not an .npz archive of arrays ({error})"
        fix = "save plain arrays: scores.astype(float), qids.astype(str)"
        raise source.error(what, fix) from None


def _unpadded(source: Source, arrays: dict[str, Any], column: str) -> tuple[pa.Array, Ints]:
    """Make `column` ragged in place; return the qids and the offsets."""

    def refused(what: str, fix: str = "") -> InputError:
        return source.error(what, fix)

    absent = [key for key in ("qids", "n", column) if key not in arrays]
    if absent:
        what = f"no array '{absent[0]}'; the archive holds {first_of(sorted(arrays)) or 'nothing'}"
        fix = "save predictions alone with np.save(path, scores); a batch has qids, n and " + column
        raise refused(what, fix)
    n = arrays["n"]
    if n.ndim != 1 or n.dtype.kind not in "iu" or (n < 0).any() or (n > _MOST).any():
        raise refused("n must be one count for each query")
    qids, offsets = _texts(source, "qids", arrays["qids"]), offsets_of(n.astype(np.int64))
    if len(qids) != n.size or len(unique(qids)) != n.size:
        raise refused(f"{len(unique(qids)):,} distinct qids for {n.size:,} queries")
    for key in dict.fromkeys((column, "relevance", "docnos")):
        values = arrays.get(key)
        if values is None:
            continue
        if key != "docnos" and values.dtype.kind not in "iufb":
            raise refused(f"{key}: expected numbers, got {values.dtype}")
        if values.ndim == 3 and values.shape[2] == 1:
            values = values[:, :, 0]
        if values.ndim == 2 and values.shape[0] == n.size and n.max(initial=0) <= values.shape[1]:
            values = values[np.arange(values.shape[1]) < n[:, None]]
        if values.ndim != 1 or values.size != offsets[-1]:
            shape = f"{key} of shape {values.shape}"
            raise refused(f"{shape} do not fit {n.size} queries with {offsets[-1]} rows")
        arrays[key] = values
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
        raise source.error(what) from None


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


FORMATS = (
    Format(
        name="npy",
        about="predictions as a numpy array of one dimension, in the order of the dataset's rows",
        suffixes=(".npy",),
        looks=lambda head, kind: kind == "run" and head.data.startswith(_MAGIC),
        run=read_predictions,
        needs_dataset=True,
        magic=(_MAGIC,),
        has_rows=True,
    ),
    Format(
        name="batch",
        about="batches, as BatchCollector.save writes them: an .npz that holds qids, n (documents "
        "of each query), and scores (a run) or relevance (a dataset); or one array of predictions",
        suffixes=(".npz",),
        looks=lambda head, kind: head.data.startswith(_ARCHIVE) and head.suffix == ".npz",
        qrels=read_qrels,
        run=read_run,
        magic=(_ARCHIVE,),
    ),
)
