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
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from .. import __version__
from ..core.comparison import Plan
from ..core.leaderboard import Failed, Leaderboard
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.recorded_metric import as_plain_data
from ..errors import Finding, in_json
from .cache_key import installed_code, sources

if TYPE_CHECKING:
    from ..config.model import Config
    from .cells import Evaluated

FORMAT = 3
"""Of the manifests that are written now."""

FROM_CONFIG = 3
"""The first whose paths of inputs start at the config's folder; before, at the one above it."""


PACKAGES = ("numpy", "pyarrow", "pydantic", "pytrec-eval-terrier", "pyyaml", "scipy")
PICTURES = "matplotlib"


def manifest(
    config: Config, evaluated: Evaluated, board: Leaderboard, inputs: Iterable[Mapping[str, Any]],
    warnings: Sequence[str], findings: Sequence[Finding], outputs: Mapping[str, bytes],
) -> bytes:  # fmt: skip
    """Return the manifest of a result as JSON.

    It holds nothing that changes between two runs on the same inputs with the same software:
    no time, and only paths that say how to get from one file to another.

    Parameters
    ----------
    config : Config
    evaluated : Evaluated
        Cross-check and header of each entry.
    board : Leaderboard
        Whose counts are recorded.
    inputs : iterable of mapping
        ``path``, ``bytes`` and ``sha256`` of every file that was read; see :func:`names_of`.
    warnings, findings : sequence of str, of Finding
        Paths in them as in `inputs`.
    outputs : mapping of str to bytes
        The files of values, whose SHA-256 is recorded.
    """
    base, resolved, metrics = config.base, config.resolved(), config.parsed_metrics()
    packages, plugin_metrics = installed_code(metrics), config.plugin_metrics()
    content = {
        "manifest": FORMAT,
        "config": resolved,
        "base": _relative(base.resolve(), (base / resolved["output"]).resolve()),
        "inputs": list(inputs),
        "versions": versions(pictures=bool(resolved.get("plots"))),
        "code": sources(),
        **({"packages": packages} if packages else {}),
        **({"plugin_metrics": _recorded(plugin_metrics)} if plugin_metrics else {}),
        "platform": system(),
        "git": _git(base),
        "seeds": _seeds(resolved, board),
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
                board.entries, evaluated.audits, evaluated.headers, strict=True
            )
        ],
        **({"failed": list(map(_failed, board.failed))} if board.failed else {}),
        "warnings": list(warnings),
        "findings": [one.as_dict() for one in findings],
        "outputs": {name: sha256(content).hexdigest() for name, content in outputs.items()},
    }
    return (in_json(content, indent=1) + "\n").encode()


def _recorded(metrics: Mapping[str, Sequence[Metric]]) -> dict[str, list[dict[str, Any]]]:
    return {entry: [*map(as_plain_data, some)] for entry, some in metrics.items()}


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
    began: float, cells: int, cached: int, files: Mapping[str, bytes], earlier: Mapping[str, str],
    drawn: Mapping[str, str],
) -> bytes:  # fmt: skip
    """Return ``timing.json``: how long a run took, and the hashes of the files in its folder.

    The manifest has no times, as it must be the same for each run on the same inputs, and not all
    hashes, as tables and pictures carry its own.

    Parameters
    ----------
    began : float
        Seconds since 1970.
    cells, cached : int
        How many were evaluated, and how many of those before this run.
    files : mapping of str to bytes
        All that the run writes, but for this file.
    earlier : mapping of str to str
        SHA-256 of the files of earlier runs that this one replaces or removes: if it is killed
        before that, the next run knows whose they are.
    drawn : mapping of str to str
        SHA-256 of pictures that ``harness plot`` drew, and that this run leaves.
    """
    start = datetime.fromtimestamp(began, timezone.utc).isoformat(timespec="seconds")
    content = {
        "began": start,
        "seconds": max(0.0, round(time.time() - began, 3)),  # the clock may have been set back
        "cells": cells,
        "from_cache": cached,
        "files": {name: sha256(content).hexdigest() for name, content in files.items()},
        "earlier": dict(earlier),
        "drawn": dict(drawn),
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


Sha256 = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[StrictInt, Field(ge=0)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Input(_Model):
    """A file that was read."""

    path: StrictStr
    """Seen from the config's folder; in formats 1 and 2, from the one above it."""
    bytes: Count
    """Its size."""
    sha256: Sha256
    """Of its bytes, compressed as they are."""
    unused_columns: tuple[StrictStr, ...] = ()
    """Columns of a table that no cell read."""


class Crosscheck(_Model):
    """What pytrec_eval evaluated again."""

    mode: StrictStr
    """How its queries were chosen: sample, all or none."""
    queries: Count
    values: Count
    largest_difference: float
    """Between its values and ours; 0, or the run stops."""


class Counts(_Model):
    """What went into an evaluation, and what the policies touched."""

    queries: Count
    """In the values."""
    missing: Count
    """Judged and not answered by the run: of these, but where ``missing_queries: skip`` leaves them
    out."""
    extra: Count
    """Answered but not judged; ignored."""
    empty: Count
    """Without relevant documents, at the highest level that a metric asks for."""
    retrieved: Count
    """Documents."""
    judged: Count
    """Documents that are retrieved and judged."""
    judgements: Count
    """Of all queries."""
    tied: Count
    """Retrieved documents whose score another of the query shares."""


class EvaluatedCell(_Model):
    """A run on a dataset that was evaluated."""

    dataset: StrictStr
    run: StrictStr
    columns: Mapping[StrictStr, StrictStr] = Field(default_factory=dict)
    """What placeholders captured."""
    pattern: StrictStr = ""
    """The dataset's name with its placeholders, where it has any."""
    counts: Counts
    undefined: Mapping[StrictStr, Count]
    """Queries for which a metric is NaN, where there are any."""
    standard_errors: Mapping[StrictStr, float | None] = Field(default_factory=dict)
    """Of summaries that are estimated from random orders of ties."""
    ties: StrictStr
    """Policy that ordered them."""
    crosscheck: Crosscheck
    ir_metadata: Mapping[StrictStr, Any] | None = None
    """What the run says of itself in comment lines at its head (ir_metadata)."""


class FailedCell(_Model):
    """A run on a dataset that could not be evaluated."""

    dataset: StrictStr
    run: StrictStr
    columns: Mapping[StrictStr, StrictStr] = Field(default_factory=dict)
    """What placeholders captured."""
    error: StrictStr
    """Why; paths in it as in `inputs`."""


class Git(_Model):
    """The working directory that the config lies in."""

    commit: StrictStr
    dirty: StrictBool
    """Whether files that git knows had changes that were not committed."""


class Package(_Model):
    """An installed package that metrics come from."""

    distribution: StrictStr | None
    """What it was installed by."""
    version: StrictStr | None
    """Of that."""
    sha256: Sha256
    """Of the code of it that was loaded."""


Number = float | Literal["nan", "inf", "-inf"]
Plain = StrictBool | StrictInt | float | StrictStr | None


class PluginMetric(_Model):
    """A metric that a plugin of the config defines: what reports need of it, without its code."""

    name: StrictStr
    """Name in files and tables."""
    definition: StrictStr
    """Name that the plugin registers."""
    title: StrictStr
    """First sentence of its docstring."""
    direction: Literal["higher", "lower"] | None
    """Which way is better; null for counts."""
    bounds: tuple[Number, Number]
    """Smallest and largest value."""
    source: StrictStr
    """Paper or program that defines it."""
    unit: StrictStr
    """Unit of a value; empty for shares."""
    summary: Literal["mean", "sum", "gm"]
    """How values become one: mean, sum, or exp of the mean."""
    empty: Number | None
    """Value of a query without relevant documents; null if such a query is no special case."""
    missing: Number | None
    """Value of a query that the run does not answer; null for that of an empty list."""
    weighted: StrictBool
    """Whether queries have weights of their own in the mean."""
    reference: StrictBool
    """Whether it can compare with another run."""
    bounded: StrictBool
    """Whether the best and the worst order of tied documents give its extreme values."""
    cutoff: StrictInt | float | None
    """The number after @."""
    parameters: Mapping[StrictStr, Plain]
    """Its parameters and their defaults."""
    given: Mapping[StrictStr, Plain]
    """The parameters that differ from their defaults, or are always shown."""
    settings: Mapping[StrictStr, StrictStr]
    """What it does differently from the policy, as written in its name."""


class Manifest(_Model):
    """Where a folder of results came from.

    Nothing in it changes between two runs on the same inputs with the same software.
    """

    manifest: Annotated[StrictInt, Field(ge=1, le=FORMAT)]
    """Version of this format. 1 may lack outputs, code and seeds; 1 and 2 lack
    findings."""
    config: Mapping[StrictStr, Any]
    """The config as resolved; policies, metrics and plans of comparison are in it."""
    base: StrictStr
    """Folder of the config, seen from this one; paths in the config start there."""
    inputs: tuple[Input, ...]
    """Every file that values follow from; of cells that failed, those that could be read."""
    versions: Mapping[StrictStr, StrictStr | None]
    """Of the harness, Python, packages and the C library."""
    code: Sha256 | None = None
    """Of the harness's own code, where its version says too little."""
    packages: Mapping[StrictStr, Package] = Field(default_factory=dict)
    """Installed packages that metrics of the config come from, by name."""
    plugin_metrics: Mapping[StrictStr, tuple[PluginMetric, ...]] = Field(default_factory=dict)
    """Metrics of plugins, by the entry of the config's `metrics` that they come from."""
    platform: StrictStr
    """System and processor."""
    git: Git | None
    seeds: Mapping[StrictStr, Any] = Field(default_factory=dict)
    """Of everything that draws at random: compare (resampling), summary (its intervals, with draws
    and level), ties (a policy), metrics (by name, the ties of their own)."""
    cells: Annotated[tuple[EvaluatedCell, ...], Field(min_length=1)]
    failed: tuple[FailedCell, ...] = ()
    warnings: tuple[StrictStr, ...]
    """What was said while reading; paths in them as in `inputs`."""
    findings: tuple[Finding, ...] = ()
    """What the guard found, and what readers refused or warned of; notes of one rule in several
    files as one. Before format 3, nothing."""
    outputs: Mapping[StrictStr, Sha256] = Field(default_factory=dict)
    """SHA-256 of the files of values beside it. Tables and pictures carry the manifest's instead,
    and timing.json, which is another for each run, has none."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of manifest.json."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Manifest.model_json_schema(),
        "title": "manifest.json of a folder of results",
    }
