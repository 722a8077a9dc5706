"""The one-way flow: cells of a config -> each run read and aligned once -> every way to compute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from tqdm import tqdm

from .. import readers
from ..config.sweep import Cell
from ..core.aligned import Aligned
from ..core.bounds import BOUNDS
from ..core.convention import find as find_convention
from ..core.evaluate import evaluate
from ..core.evaluation import summarise
from ..core.grade_check import takes_fractions
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.views import policies_of
from ..errors import HarnessError, InputError, UnknownNameError
from . import source
from .plan import Plan, plans, to_audit
from .spread import BASE, Matrix, Row, effect, ranked
from .steps import walk
from .variants import Variant, plain

Found = dict[Metric, float | str]
"""A summary for each metric, or why there is none."""


@dataclass(frozen=True, eq=False)
class Audited:
    """What :func:`audit` found.

    Parameters
    ----------
    matrices : tuple of Matrix
        One a dataset and metric; metrics of the config that differ in the way to compute alone
        share one.
    left_out : tuple of str
        Metrics of the config that no convention compared has, or that are mere counts.
    bounds : bool
        Whether the config asks for bounds over the orders of ties, which are not audited.
    """

    matrices: tuple[Matrix, ...]
    left_out: tuple[str, ...] = ()
    bounds: bool = False


def audit(
    path: str | Path,
    *,
    overrides: Sequence[str] = (),
    metrics: Sequence[str] = (),
    conventions: Sequence[str] = (),
) -> Audited:
    """Compute every metric of a config under every convention that has it.

    Parameters
    ----------
    path : path
        A YAML config, or a folder that ``harness run`` wrote.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the config's.
    metrics : sequence of str
        Metrics in place of the config's.
    conventions : sequence of str
        Conventions to compare with; all where there are none.

    Raises
    ------
    ConfigError, InputError, AlignmentError
        Where the config, a file, or a pair of files is wrong.
    UnknownNameError
        Where no metric is left to audit, or a name is not known.
    """
    conventions = list(dict.fromkeys(find_convention(name).name for name in conventions))
    config, cells = source.find(Path(path), overrides)
    policy = config.to_policy()
    wanted, left_out = to_audit(config, metrics, conventions)
    planned = plans(wanted, policy, conventions)
    every = list(dict.fromkeys(metric for plan in planned for metric in plan.every()))
    matrices = []
    with tqdm(total=len(cells), unit="run", disable=None) as bar:
        for dataset, group in groupby(cells, key=lambda cell: cell.dataset):
            here = list(group)
            found = []
            for each in _summaries(here, every, policy):
                found.append(each)
                bar.update()
            systems = _names(here)
            matrices += [_matrix(dataset, plan, systems, found) for plan in planned]
    return Audited(tuple(matrices), left_out, config.policy.ties == BOUNDS)


def _names(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return a name for each system of a dataset: its run, and what tells it from others."""
    varying = [
        name
        for name in dict.fromkeys(name for cell in cells for name in cell.columns)
        if len({cell.columns.get(name) for cell in cells}) > 1
    ]
    return tuple(
        " ".join([cell.run, *(f"{n}={cell.columns[n]}" for n in varying if n in cell.columns)])
        for cell in cells
    )


def _summaries(cells: Iterable[Cell], metrics: Sequence[Metric], policy: Policy) -> Iterator[Found]:
    """Yield what is found for each run on one dataset, which is read once."""
    also, fractions = policies_of(metrics, policy), takes_fractions(metrics, policy)
    qrels = None
    refused: set[Metric] = set()
    for cell in cells:
        entry = cell.dataset_entry
        if qrels is None:
            qrels = readers.read_qrels(
                entry.path, name=cell.dataset, fractions=fractions, **entry.options()
            )
        run = cell.run_entry
        aligned = readers.align_run(qrels, run.path, policy, also, name=cell.run, **run.options())
        parts = list(aligned)
        found: Found = {}
        for metric in refused:  # what one run met most likely meets the next, so it comes apart
            found |= summaries(parts, [metric])
        found |= summaries(parts, [metric for metric in metrics if metric not in refused])
        refused |= {metric for metric, value in found.items() if isinstance(value, str)}
        yield found


def summaries(parts: Sequence[Aligned], metrics: Sequence[Metric]) -> Found:
    """Return each metric's summary over one aligned run, or why it has none.

    Parameters
    ----------
    parts : sequence of Aligned
        The run, aligned for all of the metrics, in parts that hold different queries each.
    metrics : sequence of Metric
    """
    try:
        return _values(parts, metrics)
    except (InputError, UnknownNameError) as error:
        if len(metrics) == 1:
            return {metrics[0]: _reason(error, metrics[0])}
    half = len(metrics) // 2
    return summaries(parts, metrics[:half]) | summaries(parts, metrics[half:])


def _values(parts: Sequence[Aligned], metrics: Sequence[Metric]) -> Found:
    done = evaluate(parts, metrics)
    return {
        metric: summarise(
            done.values[:, column],
            metric.definition.summary,
            done.weights.get(column),
            metric.settings.undefined or "skip",
        )
        for column, metric in enumerate(metrics)
    }


def _reason(error: HarnessError, metric: Metric) -> str:
    """Return what is wrong, without the metric's name: the row has a name of its own."""
    problem = error.problems[0]
    text = ": ".join(filter(None, (problem.where, problem.what)))
    return text.removeprefix(f"{metric}: ")


def _matrix(dataset: str, plan: Plan, systems: tuple[str, ...], found: Sequence[Found]) -> Matrix:
    """Put the summaries of one metric together."""
    metric = plan.metric
    base = _row(Variant(BASE, metric), found)
    effects = [
        effect(metric, choice, own, base.values, [_row(each, found) for each in others])
        for choice, (own, others) in plan.choices.items()
    ]
    rows = tuple(_row(variant, found) for variant in plan.conventions)
    walks = tuple(
        walk(
            name, base, [(step.name, _row(Variant(step.name, step.metric), found)) for step in way]
        )
        for name, way in plan.walks.items()
    )
    arrived = tuple(each for each in walks if not np.isnan(each.values).all())
    return Matrix(dataset, metric, systems, base, rows, ranked(effects), arrived)


def _row(variant: Variant, found: Sequence[Found]) -> Row:
    if variant.metric is None:
        none = np.full(len(found), np.nan)
        return Row(variant.name, none, (variant.refused,) * len(found), variant.own)
    key = plain(variant.metric)
    each = [summary[key] for summary in found]
    values = np.array([value if isinstance(value, float) else np.nan for value in each])
    refused = tuple(value if isinstance(value, str) else "" for value in each)
    return Row(variant.name, values, refused, variant.own, variant.convention)
