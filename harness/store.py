"""Files out: written whole or not at all."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import HarnessError, Problem

_BLOCK = 1 << 20


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write several files into `folder`, each whole or not at all.

    Every file is first written beside its place and flushed to the disk; only when all of them
    are there are they moved into place, in the order given. The last one (the manifest) is the
    mark that the others belong together.

    Parameters
    ----------
    folder : Path
        Made where it does not exist.
    files : mapping of str to bytes
        Contents by relative path.

    Raises
    ------
    HarnessError
        Where the folder cannot be written.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        for name, content in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            waiting.append((Path(beside), target))
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(beside).chmod(0o666 & ~_umask())
        while waiting:
            beside_path, target = waiting[0]
            beside_path.replace(target)
            waiting.pop(0)
    except OSError as error:
        raise HarnessError(
            Problem(
                str(error.filename or folder),
                f"cannot write the results: {error.strerror}",
                fix="free space or write to another folder; nothing was left half written",
            )
        ) from error
    finally:
        for beside_path, _ in waiting:
            beside_path.unlink(missing_ok=True)


def check_writable(folder: Path) -> None:
    """Raise where `folder` could not be written to, before any work is done; makes nothing.

    Raises
    ------
    HarnessError
    """
    there = folder.resolve()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        what, fix = "is a file, not a folder", "name another folder, or move the file away"
    elif not os.access(there, os.W_OK | os.X_OK):
        what, fix = "may not be written to", "name another folder, or change its permissions"
    else:
        return
    raise HarnessError(Problem(str(folder), f"no place for the results: {there} {what}", fix=fix))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def parquet(table: pa.Table) -> bytes:
    """Return `table` as the bytes of a Parquet file (zstd)."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
