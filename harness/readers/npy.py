"""Predictions for the rows of a dataset, as a numpy array of one dimension."""

from __future__ import annotations

import io

import numpy as np

from ..core.policy import Duplicates
from ..core.tables import Qrels, Run
from ..errors import InputError, Problem
from .format import Format, Head, Kind, name_it
from .rows import follow
from .source import Source

_MAGIC = b"\x93NUMPY"


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read one score for each row of `dataset`; pickled objects are never loaded."""
    try:
        scores = np.load(io.BytesIO(source.read()), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        if holds_objects(error):
            fix = "save plain numbers: np.save(path, scores.astype(float))"
            raise InputError(Problem(source.name, "holds Python objects", fix=fix)) from None
        what = f"not an array of numbers ({reason(error)})"
        raise InputError(Problem(source.name, what)) from None
    if not isinstance(scores, np.ndarray):
        raise InputError(Problem(source.name, "an .npz archive", fix=name_it("run", "batch")))
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1 or scores.dtype.kind not in "iuf":
        what = f"an array of shape {scores.shape} and type {scores.dtype}"
        raise InputError(Problem(source.name, what, fix="save one number for each row: shape (n,)"))
    return follow(source, dataset, scores, name)


def holds_objects(error: Exception) -> bool:
    """Whether numpy refused a file because it holds pickled objects."""
    return "Object arrays" in str(error)


def reason(error: Exception) -> str:
    """Return numpy's words on a file it cannot load, without its advice to load pickles."""
    return "no file of numpy's" if "pickle" in str(error) else str(error)


def looks(head: Head, kind: Kind) -> bool:
    """Whether the file begins as numpy's do."""
    return kind == "run" and head.data.startswith(_MAGIC)


FORMAT = Format(
    name="npy",
    about="predictions as a numpy array of one dimension, in the order of the dataset's rows",
    suffixes=(".npy",),
    looks=looks,
    run=read_run,
    needs_dataset=True,
    magic=(_MAGIC,),
)
