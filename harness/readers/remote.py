"""Files in object stores and on servers, opened by their URLs through fsspec.

A file is copied to this machine for as long as something reads it.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import functools
import hashlib
import os
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from ..errors import (
    HarnessError,
    InputError,
    Problem,
    first_of,
    nearest,
    not_installed,
    said_by,
    shortage,
)
from ..input_files import COPY_FIRST
from .temporary import Temporary

_CREDENTIALS = {
    "s3": "set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; "
    "FSSPEC_S3_ANON=true for a public bucket",
    "gs": "run: gcloud auth application-default login; FSSPEC_GS_TOKEN=anon for a public bucket",
    "hf": "set HF_TOKEN, or run: hf auth login",
}
"""Fixes that give the credentials of a store, by scheme."""
_EXTRA = ("fsspec", "s3fs", "gcsfs", "huggingface_hub", "aiohttp", "requests")
"""The packages of the extra `remote`."""
_SECRET = re.compile(r"[?&](x-(amz|goog)-signature|signature|sig|\w*token|\w*key)=", re.I)
_VERSION = ("ETag", "etag", "generation", "blob_id")
"""Names of the mark that stores give a file's content."""
_FOLDERS = ("file", "hdfs", "memory", "sftp", "smb", "ssh", "webhdfs")
"""Schemes whose folders must exist before a file is written into them."""
_NEVER = 1 << 62
"""Nanoseconds of a file without such a mark, later than now: its hash is never reused."""
_KEPT = 8
"""Copies that stay on this machine though nothing reads them at the moment."""


def _opened(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path there; the only place that opens one."""
    parts = urlsplit(url)
    if parts.password or _SECRET.search(url):
        place = f"{parts.scheme}://{parts.hostname}{parts.path}"
        message = "expected a URL without secrets, which results would publish, got a key in it"
        raise InputError(Problem(place, message, fix="set them as environment variables instead"))
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise not_installed(url, "fsspec", "remote") from None
    system, path = url_to_fs(url)
    system.invalidate_cache()  # a listing of an earlier command
    return system, path


@contextlib.contextmanager
def _explained(url: str, verb: str = "read") -> Iterator[None]:
    """Turn errors of file systems into HarnessErrors, except for a missing file."""
    try:
        yield
    except HarnessError:
        raise
    except FileNotFoundError as error:
        cause = error.__cause__  # servers of https have one for every failure
        if cause is None or isinstance(cause, FileNotFoundError) or not url.startswith("http"):
            raise
        if getattr(cause, "status", None) in (404, 410):
            raise
        raise _refusal(url, verb, cause) from error
    except Exception as error:  # each package has its own
        if shortage(error) is not None or getattr(error, "errno", None) == errno.ENOSPC:
            raise
        raise _refusal(url, verb, error) from error


def _refusal(url: str, verb: str, error: BaseException) -> HarnessError:
    scheme, text = url.partition(":")[0].lower(), said_by(error)
    package = re.search(r'(?:nstall |requires )"?([\w-]+)', text)
    if isinstance(error, ImportError) and package:
        return not_installed(url, package[1], "remote" if package[1] in _EXTRA else "")
    if isinstance(error, ValueError) and "rotocol not known" in text:
        message = f"expected s3://, gs://, hf://, https:// or the like, got {scheme}://"
        return InputError(Problem(url, message, fix=f"correct it, or {COPY_FIRST}"))
    response = getattr(error, "response", None)
    status = getattr(error, "status", getattr(response, "status_code", None))
    denied = isinstance(error, PermissionError) or status in (401, 403)
    if denied or "Credential" in type(error).__name__:
        store = {"s3a": "s3", "gcs": "gs"}.get(scheme, scheme)
        named = f"set the credentials of {scheme}:// as fsspec takes them, or {COPY_FIRST}"
        fix = _CREDENTIALS.get(store, named)
        return InputError(Problem(url, f"access denied: {text}", fix=fix))
    message = f"cannot be {verb}: {type(error).__name__}: {text}"
    if isinstance(error, NotImplementedError) or status in (405, 501):
        return InputError(Problem(url, message, fix="name a bucket, or a folder on this machine"))
    fix = "check the network and the address, then run again"
    return InputError(Problem(url, message, fix=fix))


def _info(url: str) -> dict[str, Any]:
    """Return the store's record of a file; InputError if there is none."""
    try:
        with _explained(url):
            system, path = _opened(url)
            info: dict[str, Any] = system.info(path)
    except FileNotFoundError:
        raise missing(url) from None
    if info.get("type") == "directory":
        message = f"expected a file, got a folder with {', '.join(names_in(url)[:3]) or 'nothing'}"
        raise InputError(Problem(url, message, fix="name one file", rule="missing-file"))
    return info


check_there = _info


_FIX = "correct the path"


def missing(url: str) -> InputError:
    """Return the error of a file that does not exist, with similar names in its folder."""
    folder, _, name = url.rpartition("/")
    names: list[str] = []
    with contextlib.suppress(HarnessError):  # the message does without
        names = names_in(folder)
    if names:
        return missing_among(url, name, names)
    is_root = folder.endswith("/") or url.startswith("http")
    return missing_error(url, "" if is_root else f"there is no folder {folder}")


def missing_among(
    path: str | os.PathLike[str], name: str, names: list[str], fix: str = _FIX
) -> InputError:
    """Return the error of a missing file of a folder with `names`; the fix is the nearest."""
    near, place = nearest_file(name, names), os.fspath(path).removesuffix(name)
    similar = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    listed = similar or (names if len(names) <= 5 else [])
    why = f"the folder contains {first_of(listed) or 'no files'}" if listed or not names else ""
    return missing_error(path, why, f"use {place}{near}" if near else fix)


def nearest_file(name: str, names: Iterable[str]) -> str:
    """Return the file with the nearest name, without its extension, or ``""``.

    >>> nearest_file("qrel.txt", ["qrels.txt", "a.txt"]), nearest_file("nothere.ml", ["trec.ml"])
    ('qrels.txt', '')
    """
    names_of = {posixpath.splitext(known)[0]: known for known in names}
    return names_of.get(nearest(posixpath.splitext(name)[0], names_of), "")


def missing_error(path: str | os.PathLike[str], why: str, fix: str = _FIX) -> InputError:
    """Return the error of a file that does not exist."""
    what = "; ".join(filter(None, (f"no file {os.fspath(path)}", why)))
    return InputError(what, fix=fix, rule="missing-file")


def exists(url: str) -> bool:
    """Whether a file exists; InputError if the store does not answer."""
    try:
        with _explained(url):
            system, path = _opened(url)
            return bool(system.info(path)["type"] == "file")
    except FileNotFoundError:
        return False


def names_in(url: str) -> list[str]:
    """Return the names in a folder, those of folders with a slash; empty if it does not exist."""
    try:
        with _explained(url):
            system, path = _opened(url)
            entries = system.ls(path, detail=True)
    except (FileNotFoundError, NotADirectoryError):
        return []
    paths = [(str(entry["name"]).rstrip("/"), entry["type"] == "directory") for entry in entries]
    own, plain = path.rstrip("/"), unquote if url.startswith("http") else str
    names = [(plain(posixpath.basename(p)), is_folder) for p, is_folder in paths if p != own]
    return [f"{name}/" if is_folder else name for name, is_folder in names]


def state_of(url: str) -> tuple[int, ...]:
    """Return size, two times and a mark of a file, which change with its bytes."""
    info = _info(url)
    mark = next((str(info[key]) for key in _VERSION if info.get(key)), "")
    time = 0 if mark else _NEVER
    size = info.get("size")
    if size is None:  # some servers do not tell
        size = os.path.getsize(_Copy(url, None).path)
    return int(size), time, time, int(hashlib.sha256(mark.encode()).hexdigest()[:15], 16)


class _Copy(Temporary):
    """A temporary file with the content of a URL."""

    def __init__(self, url: str, size: int | None) -> None:
        def fill(file: IO[bytes], path: str) -> None:
            free = shutil.disk_usage(os.path.dirname(file.name)).free
            if size is not None and size > free:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            try:
                with _explained(url):
                    system, remote_path = _opened(url)
                    system.get_file(remote_path, path)
            except FileNotFoundError:
                raise missing(url) from None
            if size is not None and (n := os.path.getsize(path)) != size:
                message = f"expected {size:,} bytes, got {n:,}: the connection was cut"
                raise InputError(Problem(url, message, fix="run again", rule="truncated"))

        super().__init__(url, fill)


_copied = functools.lru_cache(_KEPT)(lambda url, size, mark: _Copy(url, size))


def fetched(url: str) -> Temporary:
    """Return a copy of a file on this machine, which is deleted when it is not referenced."""
    size, time, _, mark = state_of(url)
    return _Copy(url, size) if time else _copied(url, size, mark)


def read(url: str) -> bytes:
    """Return the content of a file; FileNotFoundError if there is none."""
    with _explained(url):
        system, path = _opened(url)
        content: bytes = system.cat_file(path)
        return content


def write(url: str, content: bytes) -> None:
    """Write a file; HarnessError if it cannot. A store shows it whole, or not at all."""
    try:
        with _explained(url, "written"):
            system, path = _opened(url)
            if url.partition(":")[0] in _FOLDERS:
                system.makedirs(posixpath.dirname(path), exist_ok=True)
            system.pipe_file(path, content)
    except FileNotFoundError as error:
        message, fix = f"cannot be written: {said_by(error)}", "name a bucket that exists"
        raise HarnessError(Problem(url, message, fix=fix)) from error


def delete(url: str) -> None:
    """Delete a file if it exists."""
    with contextlib.suppress(FileNotFoundError), _explained(url, "deleted"):
        system, path = _opened(url)
        system.rm_file(path)
