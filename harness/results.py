"""A folder of results, read back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from . import origin
from .config import Config, plugins
from .config.patterns import Pattern
from .core.arrow import to_floats
from .core.comparison import Comparisons, Plan
from .core.evaluation import Counts, Evaluation
from .core.incomplete import failed_systems, incomplete
from .core.leaderboard import FAILED, Entry, Failed, Leaderboard
from .core.metric import Metric
from .core.ragged import Floats
from .core.repeated import of_systems
from .core.study import Study
from .core.summary import NOT_COMPARED
from .core.systems import chosen_of, systems_of
from .errors import HarnessError, InputError, Problem
from .origin import MANIFEST
from .store import sha256
from .system import check_room

LEADERBOARD, CELLS, PER_QUERY = "leaderboard.csv", "leaderboard_cells.csv", "per_query.parquet"
_AGAIN = "run the config again, which writes them together"


@dataclass(frozen=True, eq=False)
class Results:
    """What a folder holds.

    Parameters
    ----------
    folder : Path
    config : Config
        As it was resolved then; :attr:`~harness.config.Config.base` is its folder.
    study : Study
        Evaluations as they were computed. Nothing is compared yet; see
        :func:`with_comparisons`.
    """

    folder: Path
    config: Config
    study: Study


def read(folder: Path, *, but: Collection[str] = ()) -> Results:
    """Read the results that ``harness run`` wrote into a folder.

    Parameters
    ----------
    folder : Path
    but : Collection[str], optional
        Files that are not needed, and of which the caller says himself what was edited.

    Raises
    ------
    InputError
        Where it holds none, or a file is not the one that was written with the others, also one
        that is not needed: ``significance.csv``. One that is gone is none.
    """
    content = origin.read_bytes(folder / MANIFEST)
    manifest = origin.read_manifest(folder, content)
    config = _config(manifest, folder)
    cells = CELLS if config.summary.to_core() else LEADERBOARD
    written = {name: origin.read_bytes(folder / name) for name in (cells, PER_QUERY)}
    if other := list(_not_as_written(folder, manifest, written, but)):
        what = f"is not the file that {MANIFEST} was written with: edited, or a run was stopped"
        raise InputError([Problem(str(folder / name), what, fix=_AGAIN) for name in other])
    entries = _entries(manifest, config, written[cells], written[PER_QUERY])
    failed = tuple(_failed(manifest, config))
    board = Leaderboard(tuple(entries), failed, config.summary.to_core())
    trace = hashlib.sha256(content).hexdigest()
    return Results(folder, config, Study(board, None, manifest, trace))


def _not_as_written(
    folder: Path, manifest: Mapping[str, Any], read: Mapping[str, bytes], but: Collection[str]
) -> Iterator[str]:
    """Yield the files whose hash is not the manifest's: of those read, and of all that are there.

    What no one reads here is what a reader of the folder sees, and must say the same.
    """
    outputs = manifest.get("outputs")
    if outputs is None and manifest["manifest"] == 1:
        return
    expected = outputs or {}
    for name, data in read.items():
        if expected.get(name) != hashlib.sha256(data).hexdigest():
            yield name
    for name in sorted(expected.keys() - read.keys() - set(but)):
        path = folder / name
        if Path(name).name == name and path.is_file() and sha256(path) != expected[name]:
            yield name


def _config(manifest: Mapping[str, Any], folder: Path) -> Config:
    base = folder / manifest["base"]
    try:
        config = Config.model_validate(manifest["config"])
        for name in config.plugins:
            plugins.load(name, base)
    except (ValueError, plugins.PluginError) as error:
        raise InputError(Problem(str(folder / MANIFEST), f"its config: {error}")) from error
    config._base = base
    return config


def _failed(manifest: Mapping[str, Any], config: Config) -> Iterator[Failed]:
    """Yield the cells that failed, each with the dataset's name as the config has it."""
    for one in manifest.get("failed", ()):
        columns = one.get("columns", {})
        patterns = [pattern for pattern in map(Pattern, config.datasets) if pattern.names]
        fitting = (pattern for pattern in patterns if {*pattern.names} <= columns.keys())
        named = {pattern.fill(columns): pattern.text for pattern in fitting}
        pattern = named.get(one["dataset"], "")
        yield Failed(one["dataset"], one["run"], columns, one["error"], pattern)


def systems(board: Leaderboard, config: Config) -> Leaderboard:
    """Return the leaderboard with a row a system; as it is where the config has no summary."""
    if not board.summary:
        return board
    from .stats.clustered import clustered  # which loads SciPy

    plan = Plan() if config.compare is None else config.compare.to_core()
    return of_systems(board, partial(clustered, plan=plan))


def compare(board: Leaderboard, config: Config, plan: Plan | None = None) -> Comparisons | None:
    """Return the comparisons of a leaderboard, as its config plans them; None where it does not.

    Parameters
    ----------
    board : Leaderboard
    config : Config
        Whose ``compare`` is the plan, where no other is given.
    plan : Plan, optional
    """
    if plan is None:
        if config.compare is None:
            return None
        plan = config.compare.to_core()
    if board.summary.average:
        raise HarnessError(Problem("compare", NOT_COMPARED))
    from .stats.compare import compare as compare_systems  # which loads SciPy

    some = systems_of(board)
    found = compare_systems(some, plan, os.cpu_count() or 1)
    return replace(
        found, lost=tuple(incomplete(board).values()), failed=failed_systems(board),
        chosen=chosen_of(some),
    )  # fmt: skip


def with_comparisons(results: Results, plan: Plan | None = None) -> Results:
    """Return results whose study has its comparisons, made anew from the values.

    Parameters
    ----------
    results : Results
    plan : Plan, optional
        Another one than the config's.
    """
    study = results.study
    return replace(
        results, study=replace(study, comparisons=compare(study.board, results.config, plan))
    )


def _entries(
    manifest: Mapping[str, Any], config: Config, leaderboard: bytes, per_query: bytes
) -> Iterator[Entry]:
    metrics, policy = config.parsed_metrics(), config.to_policy()
    # without threads: one that is not done when an error ends the process would abort it
    check_room(len(per_query))
    table = pq.ParquetFile(pa.BufferReader(per_query)).read(use_threads=False)
    alone = pacsv.ReadOptions(use_threads=False)
    within = pacsv.ParseOptions(newlines_in_values=True)  # a name may hold one
    board = pacsv.read_csv(pa.BufferReader(leaderboard), alone, within).to_pylist()
    board = [row for row in board if not row.get(FAILED)]
    values = to_floats(table["value"])
    weights = to_floats(table["weight"]) if "weight" in table.column_names else None
    qids, at = table["qid"].combine_chunks(), 0
    for cell, row in zip(manifest["cells"], board, strict=True):
        counts = Counts(**cell["counts"])
        stop, shape = at + counts.queries * len(metrics), (counts.queries, len(metrics))
        evaluation = Evaluation(
            values[at:stop].reshape(shape), qids[at : stop : len(metrics)], metrics, policy, counts,
            _weights(None if weights is None else weights[at:stop].reshape(shape)),
            cell["run"], cell["dataset"],
        )  # fmt: skip
        yield _Read(
            evaluation, cell.get("columns", {}), cell.get("pattern", ""),
            summaries=_summaries(row, metrics),
        )  # fmt: skip
        at = stop
    if at != len(values):
        raise HarnessError(Problem(PER_QUERY, "holds more values than the manifest says"))


def _weights(found: Floats | None) -> dict[int, Floats]:
    """Return the weights of each column that has any."""
    if found is None or not len(found):
        return {}
    return {at: found[:, at] for at in range(found.shape[1]) if not np.isnan(found[:, at]).all()}


def _summaries(row: Mapping[str, Any], metrics: tuple[Metric, ...]) -> dict[str, float]:
    """Return the summaries as they were written: some weigh queries, which values alone lack."""
    found = {str(metric): row.get(str(metric)) for metric in metrics}  # texts have no column
    return {name: float("nan") if value is None else float(value) for name, value in found.items()}


@dataclass(frozen=True, eq=False)
class _Read(Entry):
    """An entry whose summaries are known."""

    summaries: Mapping[str, float] | None = None

    @cached_property
    def summary(self) -> dict[str, float]:
        return dict(self.summaries or {})
