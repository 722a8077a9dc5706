"""Which runs are rows, in which groups and order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..core.metric import Metric
from ..core.same_queries import over_same_queries as alike
from ..core.study import Study
from .checks import sort_key
from .select import select
from .settings import Settings

Grouped = list[tuple[str, tuple[str, ...]]]


def known_runs(study: Study) -> tuple[str, ...]:
    """Return the runs that a table can name: also those that could not be evaluated anywhere."""
    return tuple(dict.fromkeys([*study.runs, *(run for _, run in study.failed)]))


def known_datasets(study: Study) -> tuple[str, ...]:
    """Return the datasets that a table can name: also those on which every run failed."""
    return tuple(dict.fromkeys([*study.datasets, *(dataset for dataset, _ in study.failed)]))


def grouped(study: Study, settings: Settings, datasets: Sequence[str]) -> Grouped:
    """Return the runs of each group, in order; one group without a title where none is named.

    Parameters
    ----------
    study : Study
    settings : Settings
        Without :func:`~harness.tables.checks.problems`.
    datasets : sequence of str
        Those shown.
    """
    found: Grouped = []
    if not settings.groups:
        found = [("", select(settings.runs, known_runs(study), "run"))]
    taken: set[str] = set()
    for title, patterns in settings.groups.items():
        others = {name for key, names in settings.groups.items() if key != title for name in names}
        runs = select(patterns, known_runs(study), "run", elsewhere=taken | others)
        taken |= set(runs)
        found += [(title, runs)] if runs else []
    found = _with_values(study, found, datasets)
    if settings.sort is None:
        return found
    metrics = {str(metric): metric for metric in study.board.metrics}
    dataset, (name,) = sort_key(settings.sort, known_datasets(study), study.board.metrics)
    of = datasets if dataset is None else [dataset]
    return [(title, _sorted(study, runs, metrics[name], of)) for title, runs in found]


def _with_values(study: Study, groups: Grouped, datasets: Sequence[str]) -> Grouped:
    """Leave out runs that nothing shown is about; one that failed there is not left out."""
    failed = set(study.failed)
    found = [
        (
            title,
            tuple(
                run
                for run in runs
                if any(
                    study.system(dataset, run) is not None or (dataset, run) in failed
                    for dataset in datasets
                )
            ),
        )
        for title, runs in groups
    ]
    return [(title, runs) for title, runs in found if runs] or groups


def _sorted(
    study: Study, runs: Sequence[str], metric: Metric, datasets: Sequence[str]
) -> tuple[str, ...]:
    sign = 1 if metric.definition.direction == "lower" else -1
    values = {run: sign * mean(study, run, metric, datasets) for run in runs}
    return tuple(sorted(runs, key=lambda run: (math.isnan(values[run]), values[run])))


def over_same_queries(
    study: Study, runs: Sequence[str], metric: Metric, datasets: Sequence[str]
) -> bool:
    """Whether a metric's values of some runs are over the same queries of each dataset.

    A run that lacks one of the datasets has no mean over them, and takes no part.
    """
    there = [run for run in runs if all(study.system(one, run) is not None for one in datasets)]
    systems = (
        [one for run in there if (one := study.system(dataset, run)) is not None]
        for dataset in datasets
    )
    return all(
        alike(metric, ((one.entries[0].evaluation.qids, one.values(metric)) for one in some))
        for some in systems
    )


def mean(study: Study, run: str, metric: Metric, datasets: Sequence[str]) -> float:
    """Return the mean over the datasets of a run's values; NaN where it lacks one."""
    systems = [study.system(dataset, run) for dataset in datasets]
    values = [math.nan if system is None else system.value(metric) for system in systems]
    return math.fsum(values) / len(values) if values else math.nan
