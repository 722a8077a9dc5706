"""Files of arrays: one of predictions (``.npy``), saved batches (``.npz``), and torch.save."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..batch.arrays import as_array
from ..core.arrow import index_in, unique
from ..core.ragged import Array, Ints, lengths_of, offsets_of
from ..core.tables import Docnos, DuplicateRows, Qrels, Run, T
from ..errors import InputError, Problem, first_of, said_by
from .column_roles import Names, by_position, guess, select_columns
from .files import check_room
from .format import Format, add_formats, name_it
from .frame import table_of
from .predictions import follow, follow_queries
from .source import PLAIN_ARRAY, TORCH, Source, check_unpacked

_MAGIC, _ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"
_MOST = 2**40  # Documents of a query, at most; more would not add up
GIVE_QIDS = "give qids to collector.add, so that batches in another order still find their queries"
_TENSORS = "save one score for each row, as an array or tensor, or as {'scores': scores}"


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
    return follow(source, dataset, _column(source, "scores", scores, "iuf"), name)


def qrels_of(source: Source, arrays: dict[str, Any], name: str, fractions: bool) -> Qrels:
    """Return the grades of a batch's arrays."""
    qids, offsets = _unpadded(source, arrays, "relevance")
    grades = Qrels.check_numbers(arrays["relevance"], source.name, fractions=fractions)
    return Qrels(qids, offsets, _docnos(source, arrays, offsets, Qrels, grades), grades, name)


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


def _load_archive(source: Source) -> dict[str, Any]:
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

    absent = [key for key in ("qids", column) if key not in arrays]
    if absent:
        what = f"no array '{absent[0]}' next to n; it holds {first_of(sorted(arrays))}"
        raise refused(what, f"a batch has qids, n and {column}")
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


def read_arrays(
    of: type[T], load: Callable[[Source], Any], source: Source, *,
    columns: Names | None = None, **how: Any,
) -> T:  # fmt: skip
    """Read an array of scores or a list of them, a dict of columns, or a batch: a dict with `n`."""
    loaded, dataset, name = load(source), how.get("dataset"), how["name"]
    if not isinstance(loaded, Mapping):
        if of is not Run:
            what = "expected a dict with qids and grades, got one array"
            raise source.error(what, "name a file of qrels")
        parts = loaded if isinstance(loaded, (list, tuple)) else [loaded]
        scores = np.concatenate([_column(source, "scores", one, "iuf") for one in parts])
        return follow(source, dataset, scores, name)  # type: ignore[return-value]
    if "n" in loaded:
        arrays = {str(key): as_array(one, str(key)) for key, one in loaded.items()}
        if of is Qrels:
            return qrels_of(source, arrays, name, how["fractions"])  # type: ignore[return-value]
        return run_of(source, arrays, dataset, name)  # type: ignore[return-value]
    found = {
        str(key): _column(source, str(key), one)
        for key, one in loaded.items()
        if np.ndim(one)  # not the number of an epoch
    }
    if of is Run and dataset is not None:
        _drop_group(source, found, dataset)
    sizes = dict.fromkeys(f"{one.size:,}" for one in found.values())
    if of is Run and dataset is not None:
        is_query = dataset.place(pa.array([*found], pa.string())) >= 0
        if is_query.any() and not guess([*found], of.kind):
            return follow_queries(source.name, dataset, found, name)  # type: ignore[return-value]
    if len(sizes) != 1:
        what = f"expected arrays of one length, got {first_of([*sizes]) or 'none'}"
        what += "; no key is a query of the dataset" * (len(sizes) > 1 and dataset is not None)
        raise source.error(what, _TENSORS)
    table = pa.table(found)
    names = table.column_names
    chosen = select_columns(names, of.kind, columns, source, table.select)
    return table_of(table, of, chosen, source, None, asked=by_position(names, columns), **how)


def _drop_group(source: Source, found: dict[str, Array], dataset: Qrels) -> None:
    """Take LightGBM's group sizes out of the columns; raise if they are not the dataset's."""
    group, own = found.get("group"), lengths_of(dataset.offsets)
    if group is None or group.size == max(one.size for one in found.values()):
        return
    del found["group"]
    if not np.array_equal(group, own):
        what = f"expected the dataset's group sizes ({first_of([*map(str, own)])})"
        what += f", got {first_of([*map(str, group)])}"
        raise source.error(what, "save the qid of each row in place of group", "group-sizes")


def _load_torch(source: Source) -> Any:
    """Return what a file holds: tensors, numbers, texts, lists and dicts."""
    try:
        import torch
    except ImportError:
        what = "a file of torch.save, which only torch can read"
        fix = "install torch, or save the scores with np.save(path, scores.numpy())"
        raise source.error(what, fix) from None
    content = io.BytesIO(source.read())
    try:
        return torch.load(content, map_location="cpu", weights_only=True)
    except Exception:  # at damaged bytes, torch raises a dozen kinds
        what = "cannot be read: it is damaged, or holds Python objects, which are never loaded"
        raise source.error(what, _TENSORS) from None


def _column(source: Source, key: str, values: Any, kinds: str = "iufUS") -> Array:
    """Return an entry as an array of one dimension."""
    array = as_array(values, key)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind not in kinds:
        what = f"{key}: expected numbers of shape (n,), got {array.dtype} of shape {array.shape}"
        raise source.error(what, _TENSORS)
    return array


add_formats(
    Format(
        name="npy",
        about="predictions as a numpy array of one dimension, in the order of the dataset's rows",
        suffixes=(".npy",),
        run=read_predictions,
        needs_dataset=True,
        magic=re.compile(_MAGIC),
        has_rows=True,
    ),
    Format(
        name="batch",
        about="batches, as BatchCollector.save writes them: an .npz that holds qids, n (documents "
        "of each query), and scores (a run) or relevance (a dataset); or an array of scores, or "
        "named columns",
        suffixes=(".npz",),
        qrels=partial(read_arrays, Qrels, _load_archive),
        run=partial(read_arrays, Run, _load_archive),
        magic=re.compile(_ARCHIVE),
        looks=lambda head, kind: head.suffix == ".npz",
    ),
    Format(
        name="torch",
        about="torch.save of a tensor of scores, in the order of the dataset's rows, or of a dict "
        "of tensors with the names of columns or queries; needs torch",
        suffixes=(".pt", ".pth"),
        qrels=partial(read_arrays, Qrels, _load_torch),
        run=partial(read_arrays, Run, _load_torch),
        magic=TORCH,
        has_rows=True,
    ),
)
