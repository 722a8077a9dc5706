"""A run with ir_metadata at its head, written beside the run as it was."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from .. import files as store
from .. import readers as readers
from ..core.arrow import as_bytes, unique
from ..errors import HarnessError, InputError, Problem, UnknownNameError
from ..readers import ir_metadata as ir_metadata
from ..readers.columns import Refused, read_block
from ..readers.ir_metadata import load
from ..readers.source import Source
from ..readers.trec import RUN, readable
from . import manifest as manifests

_FORMATS = ("trec", "msmarco", "scores")
_BOM = b"\xef\xbb\xbf"


def annotate(
    runs: Sequence[Path], output: Path, *, settings: Sequence[str] = (),
    template: Path | None = None, here: bool = False, force: bool = False,
) -> list[tuple[Path, dict[str, Any]]]:  # fmt: skip
    """Write runs with ir_metadata at their heads; every line of theirs stays as it is.

    What a run says of itself already stays where nothing else is given.

    Parameters
    ----------
    runs : sequence of Path
    output : Path
        A file, or a folder where there are several runs or it is one. ``.gz``, ``.bz2``, ``.xz``
        and ``.zst`` are compressed; the last without a checksum, of which Arrow writes none.
    settings : sequence of str
        ``"actor.name=A. Author"``: a key, with dots between its parts, and its value as YAML.
    template : Path, optional
        A YAML file with metadata; settings go before it.
    here : bool
        Whether the runs were made on this machine with the packages that are here: then platform
        and versions are added.
    force : bool
        Whether a file that is there may be written anew.

    Returns
    -------
    list of (Path, mapping)
        What was written, and its metadata.

    Raises
    ------
    HarnessError
        Where a run is none that can hold comments, or a file would be overwritten.
    """
    given = merged(_template(template), *map(setting, settings))
    found_here = machine() if here else {}
    several = len(runs) > 1 or output.is_dir()
    targets = [output / run.name if several else output for run in runs]
    _check(runs, targets, force)
    found = []
    for run, target in zip(runs, targets, strict=True):
        source = Source(run)
        _check_format(source)
        own = ir_metadata.header_of(source) or {}
        content = merged(_tag(source), found_here, own, given)
        _write(source, target, content)
        found.append((target, content))
    return found


def setting(text: str) -> dict[str, Any]:
    """Return ``"actor.name=A. Author"`` as nested mappings.

    >>> setting("research goal.venue.year=2024")
    {'research goal': {'venue': {'year': 2024}}}
    """
    keys, equals, value = text.partition("=")
    parts = keys.split(".")
    if not equals or not all(part.strip() for part in parts):
        what = f"--set takes KEY=VALUE, such as actor.name=Me, and is '{text}'"
        raise UnknownNameError(Problem("", what))
    try:
        found = load(value)
    except yaml.YAMLError:
        found = value
    *outer, last = (part.strip() for part in parts)
    content: dict[str, Any] = {last: found}
    for part in reversed(outer):
        content = {part: content}
    return content


def merged(*contents: Mapping[str, Any]) -> dict[str, Any]:
    """Return mappings put on top of each other, key by key; the last one counts.

    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})
    {'a': {'b': 3, 'c': 2}}
    """
    found: dict[str, Any] = {}
    for content in contents:
        for key, value in content.items():
            known = found.get(key)
            if isinstance(known, dict) and isinstance(value, Mapping):
                found[key] = merged(known, value)
            else:
                found[key] = deepcopy(value)
    return found


def machine() -> dict[str, Any]:
    """Return what this machine is and has: platform, in ir_metadata's keys."""
    versions = {name: said for name, said in manifests.versions().items() if said}
    python = versions.pop("python")
    libc = versions.pop("libc", None)
    system = {"kernel": f"{platform.system()} {platform.release()}"}
    return {
        "platform": {
            "hardware": {
                "cpu": {"architecture": platform.machine(), "number of cores": os.cpu_count()}
            },
            "operating system": system | ({"c library": libc} if libc else {}),
            "software": {
                "python": python,
                "libraries": {"python": [f"{name}=={said}" for name, said in versions.items()]},
            },
        }
    }


def _template(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found: Any = load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        what = f"cannot be read as YAML: {' '.join(str(error).split())}"
        raise InputError(Problem(str(path), what)) from error
    if not isinstance(found, dict):
        raise InputError(Problem(str(path), "holds no mapping of keys to values"))
    return found


def _check(runs: Sequence[Path], targets: Sequence[Path], force: bool) -> None:
    """Raise where a file would be overwritten that should not."""
    problems = []
    inputs = {run.resolve() for run in runs}
    for target in targets:
        if target.resolve() in inputs:
            problems.append(
                Problem(str(target), "is a run itself, which is never changed", fix="name another")
            )
        elif target.exists() and not force:
            problems.append(Problem(str(target), "is there already", fix="--force writes it anew"))
    twice = {str(target) for target in targets if targets.count(target) > 1}
    problems += [Problem(name, "would be written twice") for name in sorted(twice)]
    if problems:
        raise HarnessError(problems)


def _check_format(source: Source) -> None:
    name = readers.guess_format(Path(source.name), "run")
    if name not in _FORMATS:
        what = f"a run in format {name} holds no comment lines"
        fix = f"ir_metadata is for {', '.join(_FORMATS)}"
        raise InputError(Problem(source.name, what, fix=fix))


def _tag(source: Source) -> dict[str, Any]:
    """Return the tag of a TREC run, as far as its beginning has one only."""
    lines = source.head[: source.head.rfind(b"\n") + 1]
    try:
        tags = as_bytes(unique(read_block(lines, RUN)["tag"]))
    except Refused:
        return {}
    return {"tag": readable(tags[0])} if len(tags) == 1 else {}


def _write(source: Source, target: Path, content: Mapping[str, Any]) -> None:
    """Write the header and the run, whole or not at all."""
    mode = Path(source.file).stat().st_mode & 0o777
    pieces = _pieces(source)
    with store.writing(target, mode) as raw, _packed(raw, target.suffix) as out:
        out.write(ir_metadata.render(content))
        out.write(ir_metadata.split(next(pieces))[1])
        for piece in pieces:
            out.write(piece)


def _pieces(source: Source) -> Iterator[bytes]:
    """Yield the unpacked bytes; the first piece is long enough for any header."""
    with source.explained(), source.open() as stream:
        piece = stream.read(ir_metadata.LIMIT).removeprefix(_BOM)
        while piece:
            yield piece
            piece = stream.read(ir_metadata.LIMIT)


@contextlib.contextmanager
def _packed(raw: Any, suffix: str) -> Iterator[Any]:
    """Give a stream that compresses as a suffix says, the same bytes for the same text."""
    if suffix in (".zst", ".zstd"):
        own = os.fdopen(os.dup(raw.fileno()), "wb")  # Arrow closes what it writes to
        out: Any = pa.CompressedOutputStream(pa.PythonFile(own, "w"), "zstd")
    elif suffix == ".gz":
        out = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
    else:
        kinds: dict[str, Any] = {".bz2": bz2.BZ2File, ".xz": lzma.LZMAFile}
        out = kinds[suffix](raw, "wb") if suffix in kinds else contextlib.nullcontext(raw)
    with out as stream:
        yield stream
