"""Arrays of numpy's files, read without a pickle and without belief in what a header promises."""

from __future__ import annotations

import contextlib
import io
import math
import tokenize
import warnings
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.lib import format as npy

from ..core.ragged import Array
from ..errors import said_by, shorten
from ..system import check_room
from .unpacking import check_ratio

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_BAD_HEADER = (
    ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError, KeyError,
    AttributeError, OverflowError, EOFError, IndexError,
)  # fmt: skip
"""What numpy raises at bytes that are no header."""
_BAD_ARCHIVE = (
    zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError,
    ValueError, KeyError, OverflowError,
)  # fmt: skip


_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How numpy packs, and of which no more is unpacked than is asked for."""
_MOST_MEMBERS = 1000
_DIRECTORY = 1 << 20
"""Bytes of an archive's directory, at most: the names of so many members, of 1,000 bytes each."""


class NoArrayError(Exception):
    """Bytes that are no array of numpy's; the text says why."""


class ObjectsError(NoArrayError):
    """An array of Python objects, which only a pickle could bring back; none is ever loaded."""


def array_of(data: bytes) -> Array:
    """Return the array that the bytes of an ``.npy`` file hold; no copy is made.

    Raises
    ------
    NoArrayError
        Where they are none, or of another size than the header says.
    MemoryError
        Where there is no room for them.
    """
    if not data.startswith(npy.MAGIC_PREFIX):
        raise NoArrayError("no file of numpy's")
    stream = io.BytesIO(data)
    try:
        read_header = _HEADERS.get(npy.read_magic(stream))
        if read_header is None:
            raise NoArrayError("a version of numpy's format that holds no plain numbers")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, is_fortran, dtype = read_header(stream)
    except _BAD_HEADER as error:
        if isinstance(error, MemoryError):  # Python's parser raises it at nested signs, too
            check_room()
        raise NoArrayError(said_by(error)) from None
    if dtype.hasobject:
        raise ObjectsError
    if not all(type(side) is int for side in shape):  # True is one to numpy's reader of headers
        raise NoArrayError(f"its header says shape {shorten(str(shape), 60)}, which is none")
    start = stream.tell()
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(data) - start:
        said = f"shape {shorten(str(shape), 60)} of {dtype.itemsize} bytes each"
        raise NoArrayError(f"its header says {said}, and {len(data) - start:,} bytes follow")
    if not dtype.itemsize:
        raise NoArrayError(f"values of type {dtype}, which take no room")
    flat = np.frombuffer(data, dtype, count, start)
    return flat.reshape(shape, order="F" if is_fortran else "C")


def arrays_of(name: str, data: bytes) -> dict[str, Array]:
    """Return the arrays of an ``.npz`` archive by their names.

    Parameters
    ----------
    name : str
        What the file is called in messages.
    data : bytes

    Raises
    ------
    NoArrayError
        Where it is none, or one of its arrays is none.
    InputError
        Where it unpacks to far more than its own size.
    MemoryError
        Where there is no room for that.
    """
    try:
        file = _Archive(data)
        with contextlib.closing(zipfile.ZipFile(file)) as archive:
            file.most = -1
            members: list[Any] = archive.infolist()
            if len(members) > _MOST_MEMBERS:
                what = f"{len(members):,} arrays, where {_MOST_MEMBERS:,} are the most"
                raise NoArrayError(what)
            check_ratio(name, len(data), sum(member.file_size for member in members))
            return {
                member.filename.removesuffix(".npy"): array_of(_member(archive, member))
                for member in members
            }
    except _BAD_ARCHIVE as error:
        raise NoArrayError(said_by(error)) from None


class _Archive(io.BytesIO):
    """The bytes of an archive, of which no more is read at once than `most`, if that is not -1.

    The directory is read at once, and objects are made of all of it.
    """

    most = _DIRECTORY

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes."""
        if size is not None and size > self.most >= 0:
            what = f"a directory of {size:,} bytes, where {self.most:,} are the most"
            raise NoArrayError(what)
        return super().read(size)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return one file of an archive; no more is unpacked than the archive says it is."""
    if member.compress_type not in _METHODS:
        # bzip2 and lzma unpack all that is in a piece of input at once, whatever is asked for
        raise NoArrayError(f"'{shorten(member.filename, 60)}' is neither stored nor deflated")
    with archive.open(member) as stream:
        return stream.read(member.file_size)
