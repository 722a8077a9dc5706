"""Which metrics runs can be compared by: means of values that have a better and a worse."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UnknownNameError, did_you_mean
from .bounds import NAMES
from .metric import Metric
from .names import parse


def why_not(metric: Metric) -> str:
    """Return why runs cannot be compared by a metric; nothing where they can.

    >>> why_not(parse("num_ret")[0])
    'it is a sum over the queries, and no mean'
    >>> why_not(parse("map")[0])
    ''
    """
    definition = metric.definition
    if definition.summary == "sum":
        return "it is a sum over the queries, and no mean"
    if definition.summary == "gm":
        return "its values are logarithms, of which the summary is no mean"
    if definition.direction is None:
        return "it has no better and no worse"
    if definition.weight is not None and dict(metric.params).get("over", "queries") != "queries":
        return "its queries do not weigh the same"
    return ""


def compared(metrics: Sequence[Metric], names: Sequence[str] = ()) -> tuple[Metric, ...]:
    """Return which of `metrics` runs are compared by.

    Parameters
    ----------
    metrics : sequence of Metric
        Those evaluated.
    names : sequence of str
        Those asked for, in any spelling, without the settings that all of them take; every
        one that can be where empty, but for the bounds of ties.

    Raises
    ------
    UnknownNameError
        Where a name is none of the metrics, or runs cannot be compared by it.
    """
    if not names:
        return tuple(one for one in metrics if not why_not(one) and not _is_bound(one))
    return tuple(dict.fromkeys(_named(name, metrics) for name in names))


def _is_bound(metric: Metric) -> bool:
    return metric.label is not None and metric.label.endswith(tuple(f"_{name}" for name in NAMES))


def _named(name: str, metrics: Sequence[Metric]) -> Metric:
    found = [one for one in metrics if str(one) == name] or _spelt(name, metrics)
    if not found:
        known = [str(one) for one in metrics]
        raise UnknownNameError(
            f"no metric '{name}' was evaluated{did_you_mean(name, known)}  "
            f"(there are: {', '.join(known)})"
        )
    reason = why_not(found[0])
    if reason:
        raise UnknownNameError(f"runs cannot be compared by {found[0]}: {reason}")
    return found[0]


def _spelt(name: str, metrics: Sequence[Metric]) -> list[Metric]:
    """Return the one metric that a name in another spelling stands for, in a list."""
    try:
        (asked,) = parse(name)
    except (UnknownNameError, ValueError):
        return []
    same = [one for one in metrics if str(one) == str(asked)]
    if same or asked.params or asked.given:
        return same
    like = [
        one
        for one in metrics
        if (one.definition, one.cutoff) == (asked.definition, asked.cutoff) and not _is_bound(one)
    ]
    return like if len(like) == 1 else []
