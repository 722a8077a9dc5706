"""What a cell's values follow from, as one hash: where that is the same, so are they."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..core.metric import Metric

_PACKAGE = Path(__file__).resolve().parents[1]
COMPUTES = (
    "core", "metrics", "readers", "convert", "compat", "crosscheck.py", "direct.py",
    "cells/columns.py", "cells/lines.py", "cells/record.py", "cells/said.py", "cells/work.py",
    "guard/ahead.py", "guard/docnos.py", "guard/facts.py", "guard/first.py", "guard/fits.py",
    "guard/following.py", "guard/grade_scores.py", "guard/judged.py", "guard/moments.py",
    "guard/part.py", "guard/queries.py", "guard/rank_scores.py", "guard/respelled.py",
    "guard/said.py", "guard/scores.py", "guard/slips.py", "guard/spelling.py", "guard/splits.py",
    "guard/ties.py", "guard/topics.py", "guard/watch.py",
)  # fmt: skip
"""Files and folders whose code makes what is kept of a cell."""
_ARITHMETIC = ("numpy", "pyarrow")


@functools.cache
def code() -> str:
    """Return the hash of the code that computes values, and of what it computes with.

    That is the packages that do the arithmetic, and the C library and kind of processor, whose
    logarithms may differ in the last bit. Python's version changes none.
    """
    return _joined([*map(_source, COMPUTES), *computes_with()])


def computes_with() -> list[str]:
    """Return what the harness's code computes with, whose values may differ by it."""
    packages = [f"{package} {version(package)}" for package in _ARITHMETIC]
    return [*packages, *platform.libc_ver(), platform.system(), platform.machine()]


@functools.cache
def sources() -> str:
    """Return the hash of the code that computes values and comparisons, for the manifest."""
    return _joined([*map(_source, COMPUTES), _source("stats")])


@functools.cache
def _source(name: str) -> str:
    """Return the hash of a file or folder of the package: names and contents."""
    digest, path = hashlib.sha256(), _PACKAGE / name
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
        digest.update(f"{file.relative_to(_PACKAGE)}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _joined(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def follows_from(inputs: Mapping[str, str], choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that a cell's values follow from, as plain data.

    Parameters
    ----------
    inputs : mapping of str to str
        SHA-256 of each file by its part: ``file 0``, ..., plugins.
    choices : mapping
        How the files are read, and the policies in force; plain data.
    """
    return {"code": code(), "inputs": dict(inputs), "choices": dict(choices)}


def cell_key(said: Mapping[str, Any]) -> str:
    """Return the name of what follows from plain data; see :func:`follows_from`."""
    text = json.dumps(said, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def known_as(metric: Metric, digest: str, options: Mapping[str, Any]) -> str:
    """Return the name under which values that compare to another run are kept.

    It is the metric's, with what the other run is in place of what it is called.

    Parameters
    ----------
    metric : Metric
    digest : str
        SHA-256 of the other run's file.
    options : mapping
        How it is read; plain data.
    """
    other = cell_key({"run": digest, "options": options})
    if metric.label is not None:
        return f"{metric} {other}"

    def put(pairs: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
        return tuple((name, other if name == "reference" else value) for name, value in pairs)

    return str(replace(metric, params=put(metric.params), given=put(metric.given)))
