"""Copies of runs with ir_metadata at their heads; the runs themselves do not change."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from .. import readers as readers
from ..core.arrow import as_bytes, unique
from ..errors import HarnessError, InputError, Problem, UnknownNameError, said_by
from ..input_files import check_outputs, keeping_inputs
from ..readers import files as store
from ..readers import ir_metadata as ir_metadata
from ..readers.columns import Refused, read_block
from ..readers.source import Source
from ..readers.text import decoded
from ..readers.trec import RUN
from . import manifest as manifests

_FORMATS = ("trec", "msmarco", "scores")


def annotate(
    runs: Sequence[Path], output: Path, *, settings: Sequence[str] = (),
    template: Path | None = None, here: bool = False, force: bool = False,
) -> list[tuple[Path, dict[str, Any]]]:  # fmt: skip
    """Write runs with ir_metadata at their heads, and return what was written with its metadata.

    `output` is a file, or a folder for several runs. `settings`, such as ``"actor.name=Me"``,
    override those of `template`, a YAML file, and both override what a run has. `here` adds this
    machine's platform and versions, `force` replaces files. HarnessError if a run cannot hold
    comments, or a file would be overwritten.
    """
    given = reduce(merged, map(setting, settings), _template(template))
    several = len(runs) > 1 or output.is_dir()
    targets = [output / run.name if several else output for run in runs]
    with keeping_inputs(*runs, *([template] if template else [])):
        _check(targets, force)
        return [*_annotated(runs, targets, given, here)]


def _annotated(
    runs: Sequence[Path], targets: Sequence[Path], given: Mapping[str, Any], here: bool
) -> Iterator[tuple[Path, dict[str, Any]]]:
    for run, target in zip(runs, targets, strict=True):
        source = Source(run)
        name = readers.guess_format(run, "run")
        if name not in _FORMATS:
            what = f"expected a run in {', '.join(_FORMATS)}, got {name}, which has no comments"
            raise InputError(Problem(source.name, what))
        own = ir_metadata.header_of(source) or {}
        content: dict[str, Any] = reduce(
            merged, (machine() if here else {}, own, given), _tag(source)
        )
        _write(source, target, content)
        yield target, content


def setting(text: str) -> dict[str, Any]:
    """Return ``"actor.name=A. Author"`` as nested mappings.

    >>> setting("research goal.venue.year=2024")
    {'research goal': {'venue': {'year': 2024}}}
    """
    keys, equals, value = text.partition("=")
    parts = [part.strip() for part in keys.split(".")]
    if not equals or not all(parts):
        what = f"expected KEY=VALUE, such as actor.name=Me, got '{text}'"
        raise UnknownNameError(Problem("--set", what))
    try:
        content = ir_metadata.load(value)
    except yaml.YAMLError:
        content = value
    for part in reversed(parts):
        content = {part: content}
    return dict(content)


def merged(content: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return two mappings merged key by key; the second one counts.

    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})
    {'a': {'b': 3, 'c': 2}}
    """
    found = dict(content)
    for key, value in more.items():
        both = isinstance(found.get(key), Mapping) and isinstance(value, Mapping)
        found[key] = merged(found[key], value) if both else value
    return found


def machine() -> dict[str, Any]:
    """Return platform and versions of this machine, in ir_metadata's keys."""
    versions = {name: version for name, version in manifests.versions().items() if version}
    python, libc = versions.pop("python"), versions.pop("libc", None)
    system = {"kernel": f"{platform.system()} {platform.release()}"}
    cpu = {"architecture": platform.machine(), "number of cores": os.cpu_count()}
    libraries = [f"{name}=={version}" for name, version in versions.items()]
    return {
        "platform": {
            "hardware": {"cpu": cpu},
            "operating system": system | ({"c library": libc} if libc else {}),
            "software": {"python": python, "libraries": {"python": libraries}},
        }
    }


def _template(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found: Any = ir_metadata.load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        what = f"cannot be read as YAML: {said_by(error)}"
        raise InputError(Problem(str(path), what)) from error
    if not isinstance(found, dict):
        raise InputError(Problem(str(path), "expected a mapping of keys to values"))
    return found


def _check(targets: Sequence[Path], force: bool) -> None:
    """Raise HarnessError if a file would be overwritten."""
    problems = []
    for target in targets:
        check_outputs(target.parent, [target.name])
        if target.exists() and not force:
            problems.append(Problem(str(target), "the file exists", fix="replace it with --force"))
    twice = {str(target) for target in targets if targets.count(target) > 1}
    problems += [Problem(name, "would be written twice") for name in sorted(twice)]
    if problems:
        raise HarnessError(problems)


def _tag(source: Source) -> dict[str, Any]:
    """Return the tag of a TREC run, if its beginning has only one."""
    lines = source.head[: source.head.rfind(b"\n") + 1]
    try:
        tags = as_bytes(unique(read_block(lines, RUN)["tag"]))
    except Refused:
        return {}
    return {"tag": decoded(tags[0])} if len(tags) == 1 else {}


def _write(source: Source, target: Path, content: Mapping[str, Any]) -> None:
    """Write the header and the run, whole or not at all."""
    mode, pieces = Path(source.file).stat().st_mode & 0o777, _pieces(source)
    with store.writing(target, mode) as raw, _packed(raw, target.suffix) as out:
        out.write(ir_metadata.render(content))
        out.write(ir_metadata.split(next(pieces))[1])  # without the header that it has
        for piece in pieces:
            out.write(piece)


def _pieces(source: Source) -> Iterator[bytes]:
    """Yield the unpacked bytes; the first piece is long enough for any header."""
    with source.explained(), source.open() as stream:
        yield stream.read(ir_metadata.LIMIT).removeprefix(b"\xef\xbb\xbf")
        while piece := stream.read(ir_metadata.LIMIT):
            yield piece


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
