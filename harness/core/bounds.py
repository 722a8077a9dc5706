"""How far the order of tied documents can move a value: smallest, expected and largest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .metric import Metric

NAMES = ("min", "expected", "max")
BOUNDS = "bounds"
"""What stands for a policy for ties where bounds are asked for."""


def bound(metric: Metric, name: str) -> Metric:
    """Return a metric whose value is the smallest, expected or largest over orders of ties.

    Parameters
    ----------
    metric : Metric
    name : {"min", "expected", "max"}
        Its label is the metric's name with this at its end.

    Examples
    --------
    >>> from harness.core.names import parse
    >>> str(bound(parse("P@5")[0], "min")), str(parse("P@5_min")[0])
    ('P@5_min', 'P@5_min')
    """
    largest = "worst" if metric.definition.direction == "lower" else "best"
    smallest = "best" if metric.definition.direction == "lower" else "worst"
    ties = {"min": smallest, "expected": "average", "max": largest}[name]
    return replace(metric, settings=replace(metric.settings, ties=ties), label=f"{metric}_{name}")


def with_bounds(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return the metrics, each followed by its bounds, but for those with ties of their own.

    Where the best and the worst order of ties do not give a metric's extreme values, only the
    expected value follows.
    """
    found: list[Metric] = []
    for metric in metrics:
        found.append(metric)
        if metric.settings.ties is None or metric.convention is not None:
            names = NAMES if metric.bounded else ("expected",)
            found += [bound(metric, name) for name in names]
    return tuple(dict.fromkeys(found))


def without_bounds(ties: str) -> str:
    """Return the policy for ties that metrics are computed under beside their bounds."""
    return "trec_eval" if ties == BOUNDS else ties
