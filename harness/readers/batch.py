"""Batches saved as ``.npz``: scores, grades and list lengths of each query, padded or ragged."""

from __future__ import annotations

import io
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core.docnos import Docnos
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints, offsets_of
from ..core.table import DuplicateRows
from ..core.tables import Qrels, Run
from ..errors import InputError, Problem
from .format import Format, Head, Kind
from .rows import needed
from .source import Source

MARK = "harness-batch-1"
_MAGIC = b"PK\x03\x04"


def read_qrels(source: Source, *, duplicates: Duplicates, name: str) -> Qrels:
    """Read the grades; documents without names are d0, d1, ... by position."""
    arrays, qids, offsets = _read(source, "relevance")
    grades = Qrels.check_numbers(arrays["relevance"], source.name)
    return Qrels(qids, offsets, _docnos(source, arrays, offsets, Qrels, grades), grades, name)


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read the scores; with a `dataset`, documents without names are its rows, query by query."""
    arrays, qids, offsets = _read(source, "scores")
    scores = Run.check_numbers(arrays["scores"], source.name)
    if "docnos" in arrays or dataset is None:
        return Run(qids, offsets, _docnos(source, arrays, offsets, Run, scores), scores, name)
    return _for_dataset(source, needed(source, dataset), qids, offsets, scores, name)


def _for_dataset(
    source: Source, dataset: Qrels, qids: pa.Array, offsets: Ints, scores: Array, name: str
) -> Run:
    """Return the run over the rows of `dataset` that belong to these queries."""
    at = pc.index_in(qids, dataset.qids).fill_null(-1).to_numpy().astype(np.int64)
    lengths, expected = np.diff(offsets), np.diff(dataset.offsets)[at]
    wrong = np.flatnonzero((at < 0) | (lengths != expected))
    if wrong.size:
        first = int(wrong[0])
        qid = qids[first].as_py()
        what = f"query '{qid}' is not in the dataset"
        if at[first] >= 0:
            what = f"query '{qid}' has {lengths[first]} scores for {expected[first]} rows"
        more = f"; {wrong.size} of {len(qids)} queries do not fit" if wrong.size > 1 else ""
        raise InputError(
            Problem(source.name, what + more, fix="collect the batches over this dataset")
        )
    if len(qids) == dataset.n_queries:
        order = np.argsort(at)
        rows = np.arange(offsets[-1]) + np.repeat(
            offsets[order] - dataset.offsets[:-1], expected[order]
        )
        return Run(dataset.qids, dataset.offsets, dataset.docnos, scores[rows], name)
    rows = np.arange(offsets[-1]) + np.repeat(dataset.offsets[at] - offsets[:-1], lengths)
    return Run(qids, offsets, Docnos(dataset.docnos.take(rows), offsets), scores, name)


def _read(source: Source, column: str) -> tuple[dict[str, Any], pa.Array, Ints]:
    """Return the arrays (`column` ragged), the qids and the offsets."""
    try:
        with np.load(io.BytesIO(source.read()), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (ValueError, TypeError, AttributeError, OSError, BadZipFile) as error:
        raise InputError(Problem(source.name, f"not an .npz archive of arrays ({error})")) from None
    absent = [key for key in ("qids", "n", column) if key not in arrays]
    if absent:
        held = ", ".join(sorted(arrays)) or "nothing"
        raise InputError(
            Problem(
                source.name, f"no array '{absent[0]}'; the archive holds {held}",
                fix="save scores, relevance, n and qids",
            )
        )  # fmt: skip
    n = arrays["n"]
    if n.ndim != 1 or n.dtype.kind not in "iu" or (n < 0).any():
        raise InputError(Problem(source.name, "n must be one count for each query"))
    qids, offsets = pa.array(arrays["qids"].astype(str), pa.string()), offsets_of(n)
    if len(qids) != n.size or len(pc.unique(qids)) != n.size:
        raise InputError(
            Problem(source.name, f"{len(pc.unique(qids))} distinct qids for {n.size} queries")
        )
    for key in (column, "docnos"):
        if key in arrays:
            arrays[key] = _ragged(source, key, arrays[key], n)
    return arrays, qids, offsets


def _ragged(source: Source, key: str, values: Array, n: Ints) -> Array:
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
    names = pa.array(arrays["docnos"].astype(str), pa.string())
    qids = pa.array(np.repeat(np.arange(offsets.size - 1), np.diff(offsets))).cast(pa.string())
    try:
        kind.from_columns(qids, names, numbers)
    except DuplicateRows as error:
        docno = names[int(error.rows[0])]
        what = f"{error.rows.size} docnos stand twice in one query, the first is '{docno}'"
        raise InputError(Problem(source.name, what)) from None
    return Docnos(names, offsets)


def looks(head: Head, kind: Kind) -> bool:
    """Whether the file is a zip archive that is named as numpy's are."""
    return head.data.startswith(_MAGIC) and head.suffix == ".npz"


FORMAT = Format(
    name="batch",
    about="batches saved by BatchCollector (.npz: scores, relevance, n, qids), dataset and run",
    suffixes=(".npz",),
    looks=looks,
    qrels=read_qrels,
    run=read_run,
)
