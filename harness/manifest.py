"""Where a result came from: config, inputs, versions, policies, counts."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import __version__
from .core.leaderboard import Leaderboard
from .crosscheck import Audit

FORMAT = 1
PACKAGES = ("numpy", "pyarrow", "pytrec-eval-terrier", "scipy")


def manifest(
    config: Mapping[str, Any], inputs: Mapping[str, str], base: Path, board: Leaderboard,
    warnings: Iterable[str], audits: Sequence[Audit], outputs: Mapping[str, bytes],
) -> bytes:  # fmt: skip
    """Return the manifest of a result as JSON.

    It holds nothing that changes between two runs on the same inputs with the same software:
    no time, and only paths that say how to get from one file to another.

    Parameters
    ----------
    config : mapping
        The config as resolved. Where its folder is, seen from the results, is recorded beside it.
    inputs : mapping of str to str
        SHA-256 of every file that was read, by path.
    base : Path
        The config's folder; inputs are named relative to it.
    board : Leaderboard
        Whose counts are recorded.
    warnings : iterable of str
        What was said while reading.
    audits : sequence of Audit
        The cross-check of each entry.
    outputs : mapping of str to bytes
        The files of values written beside it, of which the SHA-256 is recorded.
    """
    content = {
        "manifest": FORMAT,
        "config": config,
        "base": _relative(base, base / config["output"]),
        "inputs": [_input(Path(path), digest, base) for path, digest in sorted(inputs.items())],
        "versions": {
            "harness": __version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in PACKAGES},
        },
        "platform": f"{platform.system()} {platform.machine()}",
        "git": _git(base),
        "cells": [
            {
                "dataset": entry.dataset,
                "run": entry.run,
                **({"columns": dict(entry.columns)} if entry.columns else {}),
                "counts": entry.evaluation.counts.as_dict(),
                "undefined": entry.undefined,
                "standard_errors": entry.evaluation.summary_errors(),
                "ties": entry.evaluation.policy.ties,
                "crosscheck": audit.as_dict(),
            }
            for entry, audit in zip(board.entries, audits, strict=True)
        ],
        **({"failed": [asdict(one) for one in board.failed]} if board.failed else {}),
        "warnings": list(warnings),
        "outputs": {name: sha256(content).hexdigest() for name, content in outputs.items()},
    }
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _input(path: Path, digest: str, base: Path) -> dict[str, Any]:
    name = _relative(path, base.resolve().parent)
    return {"path": name, "bytes": path.stat().st_size, "sha256": digest}


def _relative(path: Path, start: Path) -> str:
    """Return how to get to `path` from `start`, wherever the command was given."""
    return Path(os.path.relpath(path.resolve(), start.resolve())).as_posix()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(folder: Path) -> dict[str, Any] | None:
    """Return commit and dirty flag of the working directory, None outside git."""

    def ask(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        commit = ask("rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(ask("status", "--porcelain", "-uno"))}
    except (OSError, subprocess.CalledProcessError):
        return None
