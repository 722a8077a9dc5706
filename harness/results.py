"""A folder of results, read back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from . import origin
from .config import Config, plugins
from .core.comparison import Comparisons, Plan
from .core.evaluation import Counts, Evaluation
from .core.leaderboard import FAILED, Entry, Leaderboard
from .core.metric import Metric
from .core.study import Study
from .core.systems import systems_of
from .errors import HarnessError, InputError, Problem
from .origin import MANIFEST

LEADERBOARD, PER_QUERY = "leaderboard.csv", "per_query.parquet"
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


def read(folder: Path) -> Results:
    """Read the results that ``harness run`` wrote into a folder.

    Raises
    ------
    InputError
        Where it holds none, or a file is not the one that was written with the others.
    """
    content = origin.read_bytes(folder / MANIFEST)
    manifest = origin.read_manifest(folder, content)
    written = {name: origin.read_bytes(folder / name) for name in (LEADERBOARD, PER_QUERY)}
    outputs = manifest.get("outputs")
    for name, data in written.items() if outputs is not None or manifest["manifest"] > 1 else ():
        expected = (outputs or {}).get(name)
        if expected != hashlib.sha256(data).hexdigest():
            what = f"is not the file that {MANIFEST} was written with"
            raise InputError(Problem(str(folder / name), what, fix=_AGAIN))
    config = _config(manifest, folder)
    board = Leaderboard(tuple(_entries(manifest, config, written)))
    trace = hashlib.sha256(content).hexdigest()
    return Results(folder, config, Study(board, None, manifest, trace))


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
    from .stats.compare import compare as compare_systems  # which loads SciPy

    return compare_systems(systems_of(board), plan, os.cpu_count() or 1)


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
    manifest: Mapping[str, Any], config: Config, written: Mapping[str, bytes]
) -> Iterator[Entry]:
    metrics, policy = config.parsed_metrics(), config.to_policy()
    table = pq.read_table(pa.BufferReader(written[PER_QUERY]))
    board = pacsv.read_csv(pa.BufferReader(written[LEADERBOARD])).to_pylist()
    board = [row for row in board if not row.get(FAILED)]
    values = table["value"].to_numpy()
    qids, at = table["qid"].combine_chunks(), 0
    for cell, row in zip(manifest["cells"], board, strict=True):
        counts = Counts(**cell["counts"])
        stop = at + counts.queries * len(metrics)
        evaluation = Evaluation(
            values[at:stop].reshape(counts.queries, len(metrics)),
            qids[at : stop : len(metrics)],
            metrics, policy, counts, run=cell["run"], dataset=cell["dataset"],
        )  # fmt: skip
        yield _Read(evaluation, cell.get("columns", {}), summaries=_summaries(row, metrics))
        at = stop
    if at != len(values):
        raise HarnessError(Problem(PER_QUERY, "holds more values than the manifest says"))


def _summaries(row: Mapping[str, Any], metrics: tuple[Metric, ...]) -> dict[str, float]:
    """Return the summaries as they were written: some weigh queries, which values alone lack."""
    found = {str(metric): row[str(metric)] for metric in metrics}
    return {name: float("nan") if value is None else float(value) for name, value in found.items()}


@dataclass(frozen=True, eq=False)
class _Read(Entry):
    """An entry whose summaries are known."""

    summaries: Mapping[str, float] | None = None

    @cached_property
    def summary(self) -> dict[str, float]:
        return dict(self.summaries or {})
