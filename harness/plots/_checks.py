"""What is wrong with a picture's settings, before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.metric import Metric
from ..errors import UnknownNameError, did_you_mean
from ..tables.select import metric_spellings, select
from ..tables.select import problems as of_patterns
from ._kinds import find
from ._settings import Settings

Found = Iterator[tuple[tuple[str | int, ...], str]]
COMPARE = "draws comparisons, and the config asks for none; add such as 'compare: {baseline: bm25}'"


def problems(
    settings: Settings,
    runs: Sequence[str] | None,
    datasets: Sequence[str] | None,
    metrics: Sequence[Metric] | None,
    baselines: Sequence[str] | None,
) -> Found:
    """Yield each problem with its place in the settings, such as ``("metrics", 1)``.

    Parameters
    ----------
    settings : Settings
    runs, datasets : sequence of str or None
        The names there are; None where they are not known yet, and then not checked.
    metrics : sequence of Metric or None
        Those evaluated; None where some of them are wrong.
    baselines : sequence of str or None
        Those of the comparisons; None where nothing is compared.
    """
    kind = find(settings.kind)
    if datasets is not None:
        for place, what in of_patterns(settings.datasets, datasets, "dataset"):
            yield ("datasets", place), what
    if runs is not None:
        for place, what in of_patterns(settings.runs, runs, "run"):
            yield ("runs", place), what
        if settings.baseline is not None and settings.baseline not in runs:
            near = did_you_mean(settings.baseline, runs)
            there = ", ".join(runs)
            yield (
                ("baseline",),
                f"there is no run '{settings.baseline}'{near}  (there are: {there})",
            )
    if kind.needs_comparisons and baselines is None:
        yield (), f"{settings.kind} {COMPARE}"
    elif kind.needs_baseline and settings.baseline is None and not baselines:
        yield (), f"{settings.kind} {no_baseline(runs or ())}"
    if metrics is None:
        return
    names = [str(metric) for metric in metrics]
    wrong = list(of_patterns(settings.metrics, names, "metric", metric_spellings(names)))
    for place, what in wrong:
        yield ("metrics", place), what
    if wrong:
        return
    groups = kind.groups(chosen(metrics, settings))
    if not groups:
        yield (("metrics",) if settings.metrics else ()), f"{settings.kind} {kind.lacking}"
    if runs is not None:
        known = [*runs, *names, *(name for group in groups for name in kind.file_names(group))]
        for key in settings.names:
            if key not in known:
                what = f"there is no run or metric '{key}'{did_you_mean(key, known)}"
                yield ("names", key), what


def check(settings: Settings, runs: Sequence[str], datasets: Sequence[str],
          metrics: Sequence[Metric], baselines: Sequence[str] | None) -> None:  # fmt: skip
    """Raise where :func:`problems` finds any.

    Raises
    ------
    UnknownNameError
    """
    found = [what for _, what in problems(settings, runs, datasets, metrics, baselines)]
    if found:
        raise UnknownNameError([f"plots: {what}" for what in found])


def chosen(metrics: Sequence[Metric], settings: Settings) -> tuple[Metric, ...]:
    """Return the metrics asked for; where none are, those that have a direction and a mean."""
    by_name = {str(metric): metric for metric in metrics}
    if settings.metrics:
        names = select(settings.metrics, tuple(by_name), "metric", metric_spellings(by_name))
        return tuple(by_name[name] for name in names)
    usual = [
        metric
        for metric in metrics
        if metric.definition.direction is not None
        and metric.definition.summary == "mean"
        and metric.label is None  # the bounds over orders of ties
    ]
    return tuple(usual or metrics)


def no_baseline(runs: Sequence[str]) -> str:
    """Return what to say where a baseline is needed and none is given."""
    there = f"  (there are: {', '.join(runs)})" if runs else ""
    return f"needs a baseline; say 'baseline: RUN' there or under 'compare:'{there}"
