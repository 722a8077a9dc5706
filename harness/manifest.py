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
    config: Mapping[str, Any], inputs: Mapping[str, str], base: Path, board: Leaderboard,
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
    root = base.resolve()
    content = {
        "manifest": FORMAT,
        "config": config,
        "base": _relative(base, (base / config["output"]).resolve()),
        "inputs": [_input(path, digest, root) for path, digest in sorted(inputs.items())],
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


def placed(texts: Iterable[str], paths: Iterable[str], base: Path) -> list[str]:
    """Return texts whose paths are as in ``inputs``, wherever the command was given.

    Parameters
    ----------
    texts : iterable of str
        Warnings and errors.
    paths : iterable of str
        Files that they may name, as these were opened.
    base : Path
        The config's folder.
    """
    texts = list(texts)
    names = {}
    if texts:
        root = base.resolve()
        names = {path: _relative(path, root) for path in sorted(paths, key=len, reverse=True)}
    if not names:
        return texts
    pattern = re.compile("|".join(map(re.escape, names)))
    return [pattern.sub(lambda found: names[found[0]], text) for text in texts]


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


def _input(path: str, digest: str, root: Path) -> dict[str, Any]:
    return {"path": _relative(path, root), "bytes": os.stat(path).st_size, "sha256": digest}


def _relative(path: str | Path, start: Path) -> str:
    """Return how to get to `path` from `start`, a real path, wherever the command was given."""
    return Path(os.path.relpath(os.path.realpath(path), start)).as_posix()


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
