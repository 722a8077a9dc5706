"""Predictions to a file that names the query and the document, or the row, of each score."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..batch.arrays import as_array, numbers_of
from ..core.arrow import as_bytes
from ..core.ragged import positions_of
from ..core.tables import Qrels, Run
from ..errors import ArgumentError, InputError, Problem
from .files import parquet, write_all
from .in_memory import as_table, check_index

DATASET = "dataset_or_qids"


def save_predictions(
    path: str | os.PathLike[str], scores: Any, dataset_or_qids: Any, docnos: Any = None
) -> None:
    """Write the predictions of one model so that no later reordering can misplace them.

    A path that ends in ``.parquet`` gets columns qid, row (from 0) and score. With docnos, docno
    replaces row. Any other path gets a TREC run, sorted by score within each query.

    Parameters
    ----------
    path : path
        Its folder is made if it does not exist.
    scores : array_like, shape (n,) or (n, 1)
        One score a row, as the model predicted the rows: a list, array, tensor or series.
    dataset_or_qids : path, Qrels or array_like, shape (n,)
        The learning-to-rank file, or the qid of each row in its order.
    docnos : array_like, shape (n,), optional
        The document of each row; those of the dataset by default, or d0, d1, ... in each query.

    Raises
    ------
    InputError
        If there is not one finite score for each row, a pandas series has shuffled rows, or a
        query has a docno twice.
    HarnessError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "model.run"
    >>> save_predictions(path, [0.2, 0.9, 0.5], ["q1", "q1", "q2"])
    >>> print(path.read_text(), end="")
    q1 Q0 d1 1 0.9 model
    q1 Q0 d0 2 0.2 model
    q2 Q0 d0 1 0.5 model
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(Problem("path", f"expected a path, got a {type(path).__name__}"))
    path = Path(path)
    if docnos is None:
        for one in (scores, dataset_or_qids):
            check_index(one)
    numbers = numbers_of(as_array(scores, "scores"), "scores")
    numbers = numbers[:, 0] if numbers.ndim == 2 and numbers.shape[1] == 1 else numbers
    if isinstance(dataset_or_qids, (str, os.PathLike, Qrels)):
        dataset = as_table(Qrels, dataset_or_qids, fractions=True)
        if dataset.n_source not in (None, dataset.n_rows):
            what = f"expected all {dataset.n_source:,} rows, got {dataset.n_rows:,} without doubles"
            raise InputError(Problem(DATASET, what, fix="remove the repeated rows from the file"))
        if docnos is not None:
            dataset = as_table(Qrels, (_qids(dataset), docnos, np.zeros(dataset.n_rows)))
    else:
        qids = as_array(dataset_or_qids, "qids")
        columns = (qids, *([] if docnos is None else [docnos]), np.zeros(qids.size))
        dataset = as_table(Qrels, columns)
    if numbers.shape != (dataset.n_rows,):
        got = f"{numbers.size:,}" if numbers.ndim == 1 else f"shape {numbers.shape}"
        what = f"expected {dataset.n_rows:,} numbers, one for each row, got {got}"
        raise InputError(Problem("scores", what, fix="predict every row, in the order of the file"))
    run = Run.for_rows(dataset, numbers)
    if path.suffix == ".parquet":
        key = {"docno": pa.array(docnos)} if docnos is not None else {}
        key = key or {"row": pa.array(np.arange(numbers.size))}
        table = pa.table({"qid": _qids(dataset), **key, "score": numbers.astype(np.float64)})
        content = parquet([table])
    else:
        content = _trec(run, "".join(path.stem.split()) or "run")
    write_all(path.parent, {path.name: content})


def _qids(dataset: Qrels) -> pa.Array:
    """Return the qid of each row in the order of the file."""
    order = dataset.order
    rows = dataset.row if order is None else dataset.row[np.argsort(order)]
    return dataset.qids.take(pa.array(rows))


def _trec(run: Run, tag: str) -> bytes:
    order = np.lexsort((-run.scores, run.row))
    qids = run.qids.take(pa.array(run.row)).to_pylist()
    docnos = [one.decode() for one in as_bytes(run.docnos.take(order))]
    for what, names in (("qid", run.qids.to_pylist()), ("docno", docnos)):
        blank = next((name for name in names if name.split() != [name]), None)
        if blank is not None:
            fix = "write Parquet: give a path that ends in .parquet"
            problem = Problem(what, "expected a name without blanks in a TREC run", blank, fix)
            raise InputError(problem)
    ranks = positions_of(run.offsets, 1).tolist()
    rows = zip(qids, docnos, ranks, run.scores[order].tolist(), strict=True)
    return "".join(f"{q} Q0 {d} {rank} {s!r} {tag}\n" for q, d, rank, s in rows).encode()
