"""Where a result came from: config, inputs, versions, policies, counts."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import __version__
from .core.leaderboard import Failed, Leaderboard
from .core.plan import Plan
from .core.policy import Policy
from .crosscheck import Audit
from .escaping import in_json
from .guard.finding import Finding
from .manifest_format import FORMAT

PACKAGES = ("numpy", "pyarrow", "pydantic", "pytrec-eval-terrier", "pyyaml", "scipy")
PICTURES = "matplotlib"


def manifest(
    config: Mapping[str, Any], inputs: Iterable[Mapping[str, Any]], base: Path, board: Leaderboard,
    warnings: Iterable[str], audits: Sequence[Audit], outputs: Mapping[str, bytes], code: str,
    headers: Sequence[Mapping[str, Any] | None] = (), findings: Iterable[Finding] = (),
    packages: Mapping[str, Any] | None = None,
) -> bytes:  # fmt: skip
    """Return the manifest of a result as JSON.

    It holds nothing that changes between two runs on the same inputs with the same software:
    no time, and only paths that say how to get from one file to another.

    Parameters
    ----------
    config : mapping
        The config as resolved. Where its folder is, seen from the results, is recorded beside it.
    inputs : iterable of mapping
        ``path``, ``bytes`` and ``sha256`` of every file that was read; see :func:`names_of`.
    base : Path
        The config's folder.
    board : Leaderboard
        Whose counts are recorded.
    warnings : iterable of str
        What was said while reading.
    audits : sequence of Audit
        The cross-check of each entry.
    outputs : mapping of str to bytes
        The files of values written beside it, of which the SHA-256 is recorded.
    code : str
        SHA-256 of the harness's own code.
    headers : sequence of mapping, optional
        What each entry's run says of itself; None where it says nothing.
    findings : iterable of Finding
        What the guard found; paths in them as in ``inputs``.
    packages : mapping, optional
        Installed packages that metrics come from; see
        :func:`~harness.cells.plugged.installed_code`.
    """
    content = {
        "manifest": FORMAT,
        "config": config,
        "base": _relative(base.resolve(), (base / config["output"]).resolve()),
        "inputs": list(inputs),
        "versions": versions(pictures="plots" in config and bool(config["plots"])),
        "code": code,
        **({"packages": packages} if packages else {}),
        "platform": system(),
        "git": _git(base),
        "seeds": _seeds(config, board),
        "cells": [
            {
                "dataset": entry.dataset,
                "run": entry.run,
                **({"columns": dict(entry.columns)} if entry.columns else {}),
                **({"pattern": entry.pattern} if entry.pattern else {}),
                "counts": entry.evaluation.counts.as_dict(),
                "undefined": entry.undefined,
                "standard_errors": entry.evaluation.summary_errors(),
                "ties": entry.evaluation.policy.ties,
                "crosscheck": audit.as_dict(),
                **({"ir_metadata": header} if header is not None else {}),
            }
            for entry, audit, header in zip(
                board.entries, audits, headers or [None] * len(audits), strict=True
            )
        ],
        **({"failed": list(map(_failed, board.failed))} if board.failed else {}),
        "warnings": list(warnings),
        "findings": [one.as_dict() for one in findings],
        "outputs": {name: sha256(content).hexdigest() for name, content in outputs.items()},
    }
    return (in_json(content, indent=1) + "\n").encode()


def versions(*, pictures: bool = False) -> dict[str, str | None]:
    """Return what computes here: the harness, Python, packages and the C library, by name.

    Parameters
    ----------
    pictures : bool
        Whether what draws them counts too.
    """
    packages = (*PACKAGES, PICTURES) if pictures else PACKAGES
    return {
        "harness": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in packages},
        "libc": " ".join(filter(None, platform.libc_ver())) or None,
    }


def system() -> str:
    """Return the system and the processor."""
    return f"{platform.system()} {platform.machine()}"


def timing(
    began: float, cells: int, cached: int, files: Mapping[str, bytes], removed: Mapping[str, str]
) -> bytes:
    """Return how long a run took, which the manifest must not say: it would never be the same.

    Parameters
    ----------
    began : float
        Seconds since 1970.
    cells, cached : int
        How many were evaluated, and how many of those before this run.
    files : mapping of str to bytes
        Tables and pictures, which carry the manifest's hash, so that it cannot hold theirs.
    removed : mapping of str to str
        SHA-256 of the files of earlier runs that go once these are written: should this run be
        killed before, the next one knows them.
    """
    start = datetime.fromtimestamp(began, timezone.utc).isoformat(timespec="seconds")
    content = {
        "began": start,
        "seconds": max(0.0, round(time.time() - began, 3)),  # the clock may have been set back
        "cells": cells,
        "from_cache": cached,
        "files": {name: sha256(content).hexdigest() for name, content in files.items()},
        "removed": dict(removed),
    }
    return (json.dumps(content, indent=1) + "\n").encode()


def names_of(paths: Iterable[str], base: Path) -> dict[str, str]:
    """Return what files are called in ``inputs``: how to get to each from the config's folder.

    Parameters
    ----------
    paths : iterable of str
        As they were opened.
    base : Path
        The config's folder.
    """
    root = base.resolve()
    folders: dict[str, str] = {}
    found = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:  # most files share theirs
            folders[folder] = os.path.realpath(folder)
        real = os.path.join(folders[folder], name)
        if os.path.islink(real):
            real = os.path.realpath(real)
        found[path] = _relative(real, root)
    return found


def placed(texts: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """Return texts whose paths are as in ``inputs``, wherever the command was given.

    Parameters
    ----------
    texts : iterable of str
        Warnings and errors.
    names : mapping of str to str
        What the files that they may name are called there, by path as it was opened; see
        :func:`names_of`. Of several at one place the longest is meant.
    """
    # a pattern of all paths would take longer to compile than the texts to read
    start = os.path.commonprefix([*names])  # noqa: RUF071 - of names, not of folders
    lengths = sorted({*map(len, names)}, reverse=True)

    def put(text: str) -> str:
        parts, done, at = [], 0, text.find(start) if names else -1
        while 0 <= at < len(text):
            path = next((some for n in lengths if (some := text[at : at + n]) in names), "")
            if path:
                parts += [text[done:at], names[path]]
                done = at + len(path)
            at = text.find(start, max(done, at + 1))
        return "".join([*parts, text[done:]])

    return [put(text) for text in texts]


def _seeds(config: Mapping[str, Any], board: Leaderboard) -> dict[str, Any]:
    """Return the seeds of all that draws at random, by what draws with them."""
    compare, ties = config.get("compare") or {}, str(config.get("policy", {}).get("ties", ""))
    found: dict[str, Any] = {"compare": compare["seed"]} if "seed" in compare else {}
    if board.summary and not board.summary.average:  # which has intervals
        said = {name: compare[name] for name in ("seed", "draws", "level") if name in compare}
        plan = Plan(**said)
        found["summary"] = {"seed": plan.seed, "draws": plan.summary_draws, "level": plan.level}
    metrics = board.entries[0].evaluation.metrics if board.entries else ()
    seeds = {str(metric): Policy().with_settings(metric.settings).seed for metric in metrics}
    if seeds := {name: seed for name, seed in seeds.items() if seed is not None}:
        found["metrics"] = seeds
    random = re.fullmatch(r"random\((.*)\)", ties)
    return found | ({"ties": random[1]} if random else {})


def _failed(one: Failed) -> dict[str, Any]:
    return {
        "dataset": one.dataset,
        "run": one.run,
        "columns": dict(one.columns),
        "error": one.error,
    }


def _relative(path: str | Path, start: Path) -> str:
    """Return how to get to `path` from `start`, both real, wherever the command was given."""
    return Path(os.path.relpath(path, start)).as_posix()


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
