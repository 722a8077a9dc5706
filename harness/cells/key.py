"""What a cell's values follow from, as one hash: where that is the same, so are they."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parents[1]
_COMPUTES = ("core", "metrics", "readers", "convert", "crosscheck.py", "direct.py")
_ARITHMETIC = ("numpy", "pyarrow")


@functools.cache
def code() -> str:
    """Return the hash of the code that computes values, and of the packages it computes with."""
    digest = hashlib.sha256()
    for name in _COMPUTES:
        path = _PACKAGE / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(f"{file.relative_to(_PACKAGE)}\0".encode())
            digest.update(file.read_bytes())
    for package in _ARITHMETIC:
        digest.update(f"{package} {version(package)}\0".encode())
    return digest.hexdigest()


def cell_key(inputs: Mapping[str, str], choices: Mapping[str, Any]) -> str:
    """Return the name under which a cell's values are kept.

    Parameters
    ----------
    inputs : mapping of str to str
        SHA-256 of each file by its part: ``qrels``, ``group``, ``run``, plugins.
    choices : mapping
        How the files are read, and the policies in force; plain data.
    """
    said = {"code": code(), "inputs": dict(inputs), "choices": choices}
    text = json.dumps(said, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(paths: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of small files, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
