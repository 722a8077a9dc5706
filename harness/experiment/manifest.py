"""Manifest of results: config, inputs, versions, policies, counts; and its JSON Schema."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StrictInt,
    StrictStr,
)

from .. import __version__
from ..core.cell_key import Keyed
from ..core.entries import Entry, Failed
from ..core.evaluation import Counts
from ..core.leaderboard import Leaderboard, Selection
from ..core.metric import Metric
from ..core.policy import USUAL
from ..errors import Finding, in_json
from ..guard.visits import Visit
from ..input_files import url_of
from ..stats.comparison import Plan
from .cache import Input, Notes, installed_code, sources, version_of
from .crosscheck import Audit
from .plugin_metrics import as_plain_data

if TYPE_CHECKING:
    from ..config.model import Config

PER_QUERY = "per_query.parquet"
SCHEMA, PER_QUERY_SCHEMA = "ranking-harness.per_query", "1"
"""Metadata of that file: the version of its columns, as docs/reference/outputs.md has them."""
"""The file with the value of each query."""
FORMAT = 4
"""Format of the manifests that this version writes and reads."""
PACKAGES = ("numpy", "pyarrow", "pydantic", "pytrec-eval-terrier", "pyyaml", "scipy")
PICTURES = "matplotlib"
SYSTEM = f"{platform.system()} {platform.machine()}"
"""The system and the processor."""


def as_bytes(manifest: Manifest) -> bytes:
    """Return a manifest as it is written; values that are defaults are left out."""
    return (in_json(manifest.model_dump(exclude_defaults=True), indent=1) + "\n").encode()


def input_records(
    inputs: Mapping[str, Input], visits: Iterable[Visit], paths: Paths
) -> tuple[InputRecord, ...]:
    """Return the files that were read, with the columns of tables that cells read or did not."""
    columns: dict[str, Mapping[str, str]] = {}
    unused: dict[str, list[str]] = {}
    for visit in visits:
        if (facts := visit.facts) is not None:
            dataset, run = visit.cell.dataset_entry.path, visit.cell.run_entry.path
            for path, table in ((dataset, facts.judgements), (run, facts.run)):
                columns[path] = table.columns
                left = unused.get(path, table.unused)
                unused[path] = [name for name in left if name in table.unused]
    return tuple(
        InputRecord(
            path=paths.names[path],
            bytes=read.state[0],
            sha256=read.digest,
            columns=columns.get(path, {}),
            unused_columns=tuple(unused.get(path, ())),
        )
        for path, read in sorted(inputs.items())
    )


def made_manifest(
    config: Config, board: Leaderboard, notes: Sequence[Notes], inputs: tuple[InputRecord, ...]
) -> Manifest:
    """Return the manifest of evaluated cells, without choices, findings and outputs.

    It contains nothing that changes between two runs on the same inputs with the same software: no
    time, and only relative paths. `notes` are those of the board's entries.
    """
    base, resolved, metrics = config.base, config.resolved(), config.parsed_metrics()
    output = resolved["output"]
    plugged = not all(metric.definition.is_built_in for metric in metrics)
    recorded = {
        entry: tuple(map(as_plain_data, metrics_of_entry))
        for entry, metrics_of_entry in (config.plugin_metrics() if plugged else {}).items()
    }
    return Manifest(
        manifest=FORMAT,
        config=json.loads(in_json(resolved)),
        base="." if url_of(output) else _relative(base.resolve(), (base / output).resolve()),
        inputs=inputs,
        versions=versions(pictures=bool(resolved.get("plots"))),
        code=sources(),
        packages=installed_packages(metrics) if plugged else {},
        plugin_metrics=json.loads(in_json(recorded)),
        platform=SYSTEM,
        git=_git(base),
        seeds=_seeds(config, board),
        cells=tuple(map(_cell_record, board.entries, notes)),
        failed=tuple(FailedCell(**_names_of(row), error=row.error) for row in board.failed),
        findings=(),
        outputs={},
    )


def installed_packages(metrics: Iterable[Metric]) -> dict[str, Package]:
    """Return the installed packages that metrics come from, by name."""
    return {
        name: Package.model_validate(package) for name, package in installed_code(metrics).items()
    }


def _cell_record(entry: Entry, notes: Notes) -> CellRecord:
    evaluation = entry.evaluation
    errors = evaluation.summary_errors() if evaluation.errors else {}
    return CellRecord(
        **_names_of(entry),
        warned=entry.warned,
        counts=evaluation.counts,
        unanswered=evaluation.unanswered if evaluation.groups else (),
        undefined=entry.undefined,
        standard_errors={name: error if error == error else None for name, error in errors.items()},
        ties=evaluation.policy.ties,
        weighted_by=evaluation.weighted_by,
        crosscheck=notes.audit,
        ir_metadata=notes.header,
    )


def _names_of(cell: Entry | Failed) -> dict[str, Any]:
    """Return the values of a `NamedCell`."""
    names = {name: getattr(cell, name) for name in ("dataset", "run", "pattern")}
    return {**names, "columns": dict(cell.columns)}


def chosen_settings(selection: Selection) -> tuple[ChosenSetting, ...]:
    """Return the settings that were chosen on validation queries."""
    return tuple(
        ChosenSetting(
            run=choice.run,
            within=dict(choice.within),
            datasets=choice.datasets,
            metric=choice.metric,
            setting=dict(choice.setting),
            value=choice.value,
            of=len(choice.ranked),
            tied=tuple(map(dict, choice.tied)),
            left_out=tuple(map(dict, choice.left_out)),
        )
        for choice in selection.choices
    )


def versions(*, pictures: bool = False) -> dict[str, str | None]:
    """Return the versions of the harness, Python, packages and the C library, by name.

    `pictures` adds the package that draws them.
    """
    packages = (*PACKAGES, PICTURES) if pictures else PACKAGES
    return {
        "harness": __version__,
        "python": platform.python_version(),
        **{name: version_of(name) for name in packages},
        "libc": " ".join(filter(None, platform.libc_ver())) or None,
    }


class Paths:
    """Names of files in ``inputs``: paths from `base`, the config's folder."""

    def __init__(self, paths: Iterable[str], base: Path) -> None:
        root = base.resolve()
        self.names = {
            path: url_of(path) or _relative(os.path.realpath(path), root) for path in paths
        }
        longest_first = sorted(self.names, key=len, reverse=True)
        either = "|".join(map(re.escape, longest_first)) or "(?!)"
        self._pattern = re.compile(rf"(?<![\w/.-])(?:{either})(?![\w/-]|\.\w)")

    def placed(self, text: str) -> str:
        """Replace paths in a text by those in ``inputs``, only as whole words."""
        return self._pattern.sub(lambda match: self.names[match[0]], text)

    def placed_finding(self, finding: Finding) -> Finding:
        """Replace paths in a finding by those in ``inputs``."""
        return replace(
            finding,
            place=finding.place.within(self.placed(finding.place.file)),
            what=self.placed(finding.what),
            examples=tuple(map(self.placed, finding.examples)),
            fix=self.placed(finding.fix),
            others=tuple(map(self.placed, finding.others)),
        )


def _seeds(config: Config, board: Leaderboard) -> dict[str, Any]:
    """Return the seeds of all that draws at random, by what draws with them."""
    found: dict[str, Any] = {} if config.compare is None else {"compare": config.compare.seed}
    if board.summary and not board.summary.average:  # which has intervals
        plan = config.compare or Plan()
        found["summary"] = {"seed": plan.seed, "draws": plan.summary_draws, "level": plan.level}
    metrics = board.entries[0].evaluation.metrics if board.entries else ()
    seeds = {str(metric): USUAL.with_settings(metric.settings).seed for metric in metrics}
    if drawn := {name: seed for name, seed in seeds.items() if seed is not None}:
        found["metrics"] = drawn
    seed = config.policy.for_runs().seed
    return found if seed is None else {**found, "ties": str(seed)}


def _relative(path: str | Path, start: Path) -> str:
    """Return `path` relative to `start`, both real, whatever the current folder is."""
    return Path(os.path.relpath(path, start)).as_posix()


def _git(folder: Path) -> Git | None:
    """Return commit and dirty flag of the working directory, None outside git."""

    command = ["git", "-C", str(folder), "status", "--porcelain=2", "--branch", "-uno"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    lines = answer.splitlines()
    commit = next(line for line in lines if line.startswith("# branch.oid ")).split()[-1]
    if commit == "(initial)":
        return None
    return Git(commit=commit, dirty=any(not line.startswith("#") for line in lines))


Sha256 = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[StrictInt, Field(ge=0)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class InputRecord(_Model):
    """A file that was read."""

    path: StrictStr
    """Seen from the config's folder, or a URL."""
    bytes: Count
    """Size of the file."""
    sha256: Sha256
    """Hash of the file's bytes, as they are, compressed or not."""
    columns: Mapping[StrictStr, StrictStr] = {}
    """Columns of a table that were read, by role: {"score": "y_pred"}."""
    unused_columns: tuple[StrictStr, ...] = ()
    """Columns of a table that no cell read."""


class NamedCell(_Model, Keyed):
    """A run on a dataset."""

    dataset: StrictStr
    run: StrictStr
    columns: Mapping[StrictStr, StrictStr] = Field(default_factory=dict)
    """Placeholders and their values."""
    pattern: StrictStr = ""
    """The dataset's name with its placeholders, if it has any."""


class CellRecord(NamedCell):
    """A run on a dataset that was evaluated."""

    warned: tuple[StrictStr, ...] = ()
    """Rules of the guard's warnings about the run's file."""
    counts: Annotated[Counts, PlainSerializer(Counts.as_plain_data)]
    unanswered: tuple[StrictStr, ...] = ()
    """Queries that the run does not answer, if the dataset has groups."""
    undefined: Mapping[StrictStr, Count]
    """Queries for which a metric is NaN, if there are any."""
    standard_errors: Mapping[StrictStr, float | None]
    """Standard errors of summaries estimated from random orders of ties."""
    ties: StrictStr
    """Policy that ordered them."""
    weighted_by: StrictStr = ""
    """Column that weights the queries, if the dataset has `weights`."""
    crosscheck: Annotated[Audit, PlainSerializer(asdict)]
    ir_metadata: Mapping[StrictStr, Any] | None = None
    """The run's ir_metadata, from comment lines at its head."""


class FailedCell(NamedCell):
    """A run on a dataset that could not be evaluated."""

    error: StrictStr
    """The reason; paths as in `inputs`."""


class ChosenSetting(_Model):
    """The setting of a run that was chosen on validation queries."""

    run: StrictStr
    within: Mapping[StrictStr, StrictStr] = Field(default_factory=dict)
    """The columns that the choice is for, such as fold and seed."""
    datasets: tuple[StrictStr, ...]
    """The validation datasets."""
    metric: StrictStr
    """The metric that chose."""
    setting: Mapping[StrictStr, StrictStr]
    """The columns of the setting chosen, such as lr."""
    value: float
    """Mean over the validation datasets."""
    of: Count
    """Number of settings compared."""
    tied: tuple[Mapping[StrictStr, StrictStr], ...] = ()
    """Other settings with the same value."""
    left_out: tuple[Mapping[StrictStr, StrictStr], ...] = ()
    """Settings without a value on each validation cell, which were no candidates."""


class Git(_Model):
    """The working directory that the config lies in."""

    commit: StrictStr
    dirty: StrictBool
    """Whether files that git knows had changes that were not committed."""


class Package(_Model):
    """An installed package that metrics come from."""

    distribution: StrictStr | None
    """The package that installed it."""
    version: StrictStr | None
    """Version of that package."""
    sha256: Sha256
    """Hash of the loaded code."""


class Manifest(_Model):
    """Origin of a results folder.

    Nothing in it changes between two runs on the same inputs with the same software.
    """

    manifest: Annotated[StrictInt, Field(ge=FORMAT, le=FORMAT)]
    """Version of this format."""
    config: Mapping[StrictStr, Any]
    """The config as resolved; policies, metrics and plans of comparison are in it."""
    base: StrictStr
    """Folder of the config, seen from this one; paths in the config start there. Of results at a
    URL, which no path leads to: the current folder."""
    inputs: tuple[InputRecord, ...]
    """Every file that values follow from; of cells that failed, those that could be read."""
    versions: Mapping[StrictStr, StrictStr | None]
    """Versions of the harness, Python, packages and the C library."""
    code: Sha256
    """Hash of the harness's code, which is more exact than its version."""
    packages: Mapping[StrictStr, Package] = Field(default_factory=dict)
    """Installed packages that metrics of the config come from, by name."""
    plugin_metrics: Mapping[StrictStr, tuple[Mapping[StrictStr, Any], ...]] = Field(
        default_factory=dict
    )
    """Metrics of plugins, by the entry of the config's `metrics` that they come from: what reports
    need of them, without their code."""
    platform: StrictStr
    """System and processor."""
    git: Git | None
    seeds: Mapping[StrictStr, Any]
    """Seeds of everything that draws at random: compare (resampling), summary (its intervals, with
    draws and level), ties (a policy), metrics (by name, the ties of their own)."""
    cells: Annotated[tuple[CellRecord, ...], Field(json_schema_extra={"minItems": 1})]
    failed: tuple[FailedCell, ...] = ()
    choices: tuple[ChosenSetting, ...] = ()
    """The settings chosen on validation queries."""
    findings: tuple[Annotated[Finding, PlainSerializer(Finding.as_dict)], ...]
    """Findings of the guard, and errors and warnings of readers; notes of one rule in several
    files are one."""
    outputs: Mapping[StrictStr, Sha256]
    """SHA-256 of the files of values in this folder. Tables and pictures carry the manifest's hash
    instead, and timing.json differs for each run."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of manifest.json."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Manifest.model_json_schema(),
        "title": "manifest.json of a folder of results",
    }
