"""Predictions for the rows of a dataset, as a numpy array of one dimension."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import Any

import numpy as np

from ..core.policy import Duplicates
from ..core.ragged import Array
from ..core.tables import Qrels, Run
from ..errors import InputError, Problem, said_by
from ..files import check_room
from .compression import check_unpacked
from .format import Format, Head, Kind, name_it
from .predictions import follow
from .source import PLAIN_ARRAY, Source

_MAGIC, _ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"


class NoArrayError(Exception):
    """Bytes that are no array of numpy's; the text says why."""


def array_of(data: bytes) -> Array:
    """Return the array in the bytes of an ``.npy`` file; pickled objects are never loaded.

    Raises
    ------
    NoArrayError
        If they are none.
    """
    if not data.startswith(_MAGIC):
        raise NoArrayError("no file of numpy's")
    found: Array = _loaded(data)
    return found


def arrays_of(name: str, data: bytes) -> dict[str, Array]:
    """Return the arrays of an ``.npz`` archive by their names; `name` is the file, for messages.

    Raises
    ------
    NoArrayError
        If it is none, or one of its arrays is none.
    InputError
        If it unpacks to more than the free memory.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except Exception as error:
        raise NoArrayError(said_by(error)) from None
    check_unpacked(name, size)
    found: dict[str, Array] = _loaded(data)
    return found


def _loaded(data: bytes) -> Any:
    """Return the array, or the arrays by their names, that numpy reads."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = np.load(io.BytesIO(data), allow_pickle=False)
            return loaded if isinstance(loaded, np.ndarray) else dict(loaded)
    except Exception as error:  # at damaged bytes, numpy and zipfile raise a dozen kinds
        if isinstance(error, MemoryError):  # or the header asks for more than there can be
            check_room()
        what = "it holds Python objects" if "allow_pickle" in str(error) else said_by(error)
        raise NoArrayError(what) from None


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read one score for each row of `dataset`."""
    if source.head.startswith(_ARCHIVE):
        raise InputError(Problem(source.name, "an .npz archive", fix=name_it("run", "batch")))
    if not source.head.startswith(_MAGIC):
        source.check_text()
    try:
        scores = array_of(source.read())
    except NoArrayError as error:
        what = f"not an array of numbers ({error})"
        raise InputError(Problem(source.name, what, fix=PLAIN_ARRAY)) from None
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1 or scores.dtype.kind not in "iuf":
        what = f"expected numbers of shape (n,), got {scores.dtype} of shape {scores.shape}"
        raise InputError(Problem(source.name, what, fix="save one number for each row"))
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
