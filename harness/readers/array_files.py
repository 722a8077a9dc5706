"""Files of arrays: one of predictions (``.npy``), saved batches (``.npz``), and torch.save."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.qrels_and_runs import Qrels, Run, T
from ..core.ragged import Array
from ..errors import InputError, Place, first_of, said_by
from .batches import from_batch, from_queries, one_column
from .column_roles import Names, guess
from .format import Format, add_formats
from .frame import from_table, rows_as, table_of
from .memory_limit import check_fits
from .predictions import follow_queries, needed
from .rows import Rows
from .source import PLAIN_ARRAY, TORCH, Source

_MAGIC, _ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"
_TENSORS = "save one score for each row, as an array or tensor, or as {'scores': scores}"


def load_numpy(source: Source) -> Any:
    """Return the array of a file, or its arrays by their names; pickled objects are refused."""
    if not source.head.startswith((_MAGIC, _ARCHIVE)):
        source.check_text()
    data = io.BytesIO(source.read())
    try:
        if source.head.startswith(_ARCHIVE):
            with zipfile.ZipFile(data) as archive:
                check_fits(source.name, sum(entry.file_size for entry in archive.infolist()))
            data.seek(0)
        loaded = np.load(data, allow_pickle=False)
        return loaded if isinstance(loaded, np.ndarray) else dict(loaded)
    except InputError:
        raise
    except Exception as error:  # at damaged bytes, numpy and zipfile raise a dozen kinds
        raise source.error(f"not arrays of numbers ({said_by(error)})", PLAIN_ARRAY) from None


def _batch(
    rows_type: type[T], source: Source, arrays: Mapping[str, Any], dataset: Qrels | None, name: str
) -> T:
    """Return the grades of a saved batch, or its scores; grades next to these are the dataset's."""
    names = "relevance", "scores"
    name_read, name_skipped = names if rows_type is Qrels else names[::-1]
    if absent := [key for key in ("qids", name_read) if key not in arrays]:
        message = f"no array '{absent[0]}' next to n; the file contains {first_of(sorted(arrays))}"
        raise source.error(message, f"a batch has qids, n and {name_read}")
    if "docnos" in arrays:
        message = "docnos next to n are not read: documents of a batch are d0, d1, ..."
        raise source.error(message, "save a table with columns qid, docno and score")
    columns = {
        name_read: arrays[name_read],
        name_skipped: arrays.get(name_skipped, np.zeros(np.shape(arrays[name_read]))),
    }
    try:
        qrels, run, _ = from_batch(**columns, n=arrays["n"], qids=arrays["qids"], source=source)
    except InputError as error:
        places = [Place(source.name, key=problem.where) for problem in error.problems]
        problems = zip(error.problems, places, strict=True)
        raise InputError([replace(problem, where=place) for problem, place in problems]) from None
    if rows_type is Run and dataset is not None:
        grades = qrels.grades if name_skipped in arrays else None
        run = follow_queries(source, dataset, run, name, grades=grades)
    return replace(rows_as(rows_type, qrels if rows_type is Qrels else run), name=name)


def read_arrays(
    rows_type: type[T],
    load: Callable[[Source], Any],
    source: Source,
    *,
    columns: Names | None = None,
    **settings: Any,
) -> T:
    """Read an array of scores or a list of them, a dict of columns, or a batch: a dict with `n`."""
    loaded, dataset, name = load(source), settings.get("dataset"), settings["name"]
    if columns and (not isinstance(loaded, Mapping) or "n" in loaded):
        raise source.error("columns: expected named columns, got arrays", "leave 'columns' out")
    if not isinstance(loaded, Mapping):
        if rows_type is not Run:
            message = "expected a dict with qids and grades, got one array"
            raise source.error(message, "name a file of qrels")
        needed(source, dataset)
        parts = loaded if isinstance(loaded, (list, tuple)) else [loaded]
        scores = np.concatenate([_column(source, "scores", part, "iuf") for part in parts])
        table = pa.table({"score": scores.astype(np.float64)})
        return table_of(table, rows_type, {"score": "score"}, Rows(source), **settings)
    if "n" in loaded:
        return _batch(rows_type, source, loaded, dataset, name)
    columns_read = {
        str(key): _column(source, str(key), values)
        for key, values in loaded.items()
        if np.ndim(values)  # not the number of an epoch
    }
    if rows_type is Run and dataset is not None and not columns:
        is_query = dataset.place(pa.array([*columns_read], pa.string())) >= 0
        if is_query.any() and not guess([*columns_read], rows_type.kind):
            run = from_queries(Run, columns_read, source)
            return rows_as(rows_type, follow_queries(source, dataset, run, name, whole=True))
    sizes = dict.fromkeys(f"{values.size:,}" for values in columns_read.values())
    if len(sizes) != 1:
        message = f"expected arrays of one length, got {first_of([*sizes]) or 'none'}"
        raise source.error(message, _TENSORS)
    return from_table(pa.table(columns_read), rows_type, source, columns, **settings)


def _load_torch(source: Source) -> Any:
    """Return the contents of a file: tensors, numbers, texts, lists and dicts."""
    try:
        import torch
    except ImportError:
        message = "a file of torch.save, which only torch can read"
        fix = "install torch, or save the scores with np.save(path, scores.numpy())"
        raise source.error(message, fix) from None
    content = io.BytesIO(source.read())
    try:
        return torch.load(content, map_location="cpu", weights_only=True)
    except Exception:  # at damaged bytes, torch raises a dozen kinds
        message = (
            "cannot be read: it is damaged, or contains Python objects, which are never loaded"
        )
        raise source.error(message, _TENSORS) from None


def _column(source: Source, key: str, values: Any, kinds: str = "iufUS") -> Array:
    """Return an entry as an array of one dimension."""
    try:
        array = one_column(values, key)
    except InputError as error:
        raise source.error(f"{key}: {error.problems[0].what}", _TENSORS) from None
    if array.dtype.kind not in kinds:
        raise source.error(f"{key}: expected numbers of shape (n,), got {array.dtype}", _TENSORS)
    return array


add_formats(
    Format(
        name="npy",
        about="NumPy array of predictions, one for each row of the dataset, in its order",
        suffixes=(".npy",),
        run=partial(read_arrays, Run, load_numpy),
        needs_dataset=True,
        magic=re.compile(_MAGIC),
        has_rows=True,
    ),
    Format(
        name="batch",
        about="batches saved by BatchCollector.save: an .npz with qids, n (documents of each "
        "query), and scores (a run) or relevance (a dataset). Also an .npz with an array of "
        "scores, or with named columns",
        suffixes=(".npz",),
        qrels=partial(read_arrays, Qrels, load_numpy),
        run=partial(read_arrays, Run, load_numpy),
        magic=re.compile(_ARCHIVE),
        looks=lambda head, kind: head.suffix == ".npz",
    ),
    Format(
        name="torch",
        about="tensor of predictions from torch.save, in the order of the dataset's rows; or dict "
        "of tensors by column or by query. Needs torch",
        suffixes=(".pt", ".pth"),
        qrels=partial(read_arrays, Qrels, _load_torch),
        run=partial(read_arrays, Run, _load_torch),
        magic=TORCH,
        has_rows=True,
    ),
)
