"""What is wrong with a table's settings, before any table is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.metric import Metric
from ..errors import did_you_mean
from .select import metric_spellings
from .select import problems as of_patterns
from .settings import Settings

Found = Iterator[tuple[tuple[str | int, ...], str]]


def problems(
    settings: Settings,
    runs: Sequence[str] | None,
    datasets: Sequence[str] | None,
    metrics: Sequence[Metric],
) -> Found:
    """Yield each problem with its place in the settings, such as ``("metrics", 1)``.

    Parameters
    ----------
    settings : Settings
    runs, datasets : sequence of str or None
        The names there are; None where they are not known yet, and then not checked.
    metrics : sequence of Metric
        Those evaluated.
    """
    names = [str(metric) for metric in metrics]
    spellings = metric_spellings(names)
    for place, what in of_patterns(settings.metrics, names, "metric", spellings):
        yield ("metrics", place), what
    if datasets is not None:
        for place, what in of_patterns(settings.datasets, datasets, "dataset"):
            yield ("datasets", place), what
    if runs is not None:
        for place, what in of_patterns(settings.runs, runs, "run"):
            yield ("runs", place), what
        yield from _groups(settings, runs)
    if isinstance(settings.percent, tuple):
        for place, what in of_patterns(settings.percent, names, "metric", spellings):
            yield ("percent", place), what
    if settings.digits is not None and not isinstance(settings.digits, int):
        for key in settings.digits:
            for _, what in of_patterns([key], names, "metric", spellings):
                yield ("digits", key), what
    if runs is not None and datasets is not None:
        known = [*runs, *datasets, *names]
        for key in settings.names:
            if key not in known and not spellings(key):
                what = f"there is no run, dataset or metric '{key}'{did_you_mean(key, known)}"
                yield ("names", key), what
    if settings.sort is not None and datasets is not None:
        yield from _sort(settings.sort, datasets, metrics)


def sort_key(
    text: str, datasets: Sequence[str], metrics: Sequence[Metric]
) -> tuple[str | None, list[str]]:
    """Return the dataset and the metrics that ``metric`` or ``dataset: metric`` names.

    The dataset is None where none is named; no metric where there is none of that name.
    """
    names = [str(metric) for metric in metrics]
    dataset, colon, metric = text.partition(": ")
    own = dataset if colon and dataset in datasets else None
    metric = text if own is None else metric
    return own, [metric] if metric in names else list(metric_spellings(names)(metric))


def _sort(text: str, datasets: Sequence[str], metrics: Sequence[Metric]) -> Found:
    names = [str(metric) for metric in metrics]
    _, found = sort_key(text, datasets, metrics)
    if not found:
        near = did_you_mean(text.rpartition(": ")[2], names)
        what = f"must be a metric, or 'dataset: metric', and is '{text}'{near}"
        yield ("sort",), f"{what}  (metrics: {', '.join(names)}; datasets: {', '.join(datasets)})"
    elif len(found) > 1:
        yield ("sort",), f"must be one metric, and '{text}' is {', '.join(found)}"


def _groups(settings: Settings, runs: Sequence[str]) -> Found:
    named: dict[str, str] = {}
    for title, patterns in settings.groups.items():
        for place, what in of_patterns(patterns, runs, "run"):
            yield ("groups", title, place), what
        for place, name in enumerate(patterns):
            if name in runs and named.setdefault(name, title) != title:
                what = f"run '{name}' stands in the group '{named[name]}' already"
                yield ("groups", title, place), what
