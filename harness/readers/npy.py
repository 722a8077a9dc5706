"""Predictions for the rows of a dataset, as a numpy array of one dimension."""

from __future__ import annotations

from ..core.policy import Duplicates
from ..core.tables import Qrels, Run
from ..errors import InputError, Problem
from .format import Format, Head, Kind, name_it
from .numpy_files import NoArrayError, ObjectsError, array_of
from .rows import follow
from .source import PLAIN_ARRAY, Source

_MAGIC, _ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read one score for each row of `dataset`; pickled objects are never loaded."""
    if source.head.startswith(_ARCHIVE):
        raise InputError(Problem(source.name, "an .npz archive", fix=name_it("run", "batch")))
    if not source.head.startswith(_MAGIC):
        source.check_text()
    try:
        scores = array_of(source.read())
    except ObjectsError:
        what = "holds Python objects"
        raise InputError(Problem(source.name, what, fix=PLAIN_ARRAY)) from None
    except NoArrayError as error:
        what = f"not an array of numbers ({error})"
        raise InputError(Problem(source.name, what, fix=PLAIN_ARRAY)) from None
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1 or scores.dtype.kind not in "iuf":
        what = f"an array of shape {scores.shape} and type {scores.dtype}"
        raise InputError(Problem(source.name, what, fix="save one number for each row: shape (n,)"))
    return follow(source, dataset, scores, name)


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
    has_rows=True,
)
