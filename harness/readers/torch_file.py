"""Files of ``torch.save``: a tensor of scores, or a dict of tensors. Only plain data are loaded."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..batch.arrays import as_array
from ..core.ragged import Array
from ..core.tables import Qrels, Run, T
from ..errors import first_of
from . import numpy_files
from .column_roles import Names, by_position, guess, select_columns
from .format import Format
from .frame import table_of
from .predictions import follow, follow_queries
from .source import TORCH, Source, is_torch

_WHAT = "save a tensor with one score for each row, or a dict of such tensors: {'scores': scores}"


def read(of: type[T], source: Source, *, columns: Names | None = None, **how: Any) -> T:
    """Read a tensor of scores or a list of them, a dict of columns, or a batch: a dict with `n`."""
    loaded, dataset, name = _loaded(source), how.get("dataset"), how["name"]
    if not isinstance(loaded, Mapping):
        if of is not Run:
            what = "expected a dict of tensors with qids and grades, got one tensor"
            raise source.error(what, "name a file of judgements")
        parts = loaded if isinstance(loaded, (list, tuple)) else [loaded]
        scores = np.concatenate([_column(source, "scores", one) for one in parts])
        return follow(source, dataset, scores, name)  # type: ignore[return-value]
    if "n" in loaded:
        arrays = {str(key): as_array(one, str(key)) for key, one in loaded.items()}
        if of is Qrels:
            return numpy_files.qrels_of(source, arrays, name, how["fractions"])  # type: ignore[return-value]
        return numpy_files.run_of(source, arrays, dataset, name)  # type: ignore[return-value]
    found = {
        str(key): _column(source, str(key), one)
        for key, one in loaded.items()
        if not isinstance(one, (int, float))  # as of an epoch
    }
    sizes = dict.fromkeys(f"{one.size:,}" for one in found.values())
    if of is Run and dataset is not None:
        is_query = dataset.place(pa.array([*found], pa.string())) >= 0
        if is_query.any() and not guess([*found], of.kind):
            return follow_queries(source.name, dataset, found, name)  # type: ignore[return-value]
    if len(sizes) != 1:
        what = f"expected tensors of one length, got {first_of([*sizes]) or 'no tensor'}"
        what += "; no key is a query of the dataset" * (len(sizes) > 1 and dataset is not None)
        raise source.error(what, _WHAT)
    table = pa.table(found)
    names = table.column_names
    chosen = select_columns(names, of.kind, columns, source, table.select)
    return table_of(table, of, chosen, source, None, asked=by_position(names, columns), **how)


def _loaded(source: Source) -> Any:
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
        raise source.error(what, _WHAT) from None


def _column(source: Source, key: str, values: Any) -> Array:
    """Return an entry as an array of one dimension."""
    array = as_array(values, key)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind not in "iufUS":
        what = f"{key}: expected numbers of shape (n,), got {array.dtype} of shape {array.shape}"
        raise source.error(what, _WHAT)
    return array


FORMAT = Format(
    name="torch",
    about="torch.save of a tensor of scores, in the order of the dataset's rows, or of a dict of "
    "tensors with the names of columns or queries; needs torch",
    suffixes=(".pt", ".pth"),
    looks=lambda head, kind: is_torch(head.data),
    qrels=partial(read, Qrels),
    run=partial(read, Run),
    magic=TORCH,
    has_rows=True,
)
