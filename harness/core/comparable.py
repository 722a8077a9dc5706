"""Which metrics runs can be compared by, and whether their means are over the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa

from ..errors import Problem, UnknownNameError, did_you_mean
from .metric import Metric
from .names import NAMES, each_cutoff, parse
from .ragged import Floats

NOT_COMPARABLE = "runs were scored on different queries"
"""Why no best value of a metric is marked."""


def over_same_queries(metric: Metric, runs: Iterable[tuple[pa.Array, Floats]]) -> bool:
    """Whether the summaries of several runs, (qids, values) each, are over the same queries.

    Undefined values (NaN) count as the metric's setting `undefined` says. Runs without any value
    are left out.
    """
    some = [(qids, np.isnan(values)) for qids, values in runs]
    some = [(qids, undefined) for qids, undefined in some if not undefined.all()]
    is_counted = metric.settings.undefined not in (None, "skip")
    return all(
        qids.equals(some[0][0]) and (is_counted or np.array_equal(undefined, some[0][1]))
        for qids, undefined in some[1:]
    )


def why_not(metric: Metric) -> str:
    """Return why runs cannot be compared by a metric; empty if they can."""
    definition = metric.definition
    if definition.summary == "sum":
        return "it is a sum over the queries, not a mean"
    if definition.summary == "gm":
        return "its values are logarithms, summarised by a geometric mean"
    if definition.direction is None:
        return "it has no better and no worse"
    if definition.weight is not None and dict(metric.params).get("over", "queries") != "queries":
        return "its queries have different weights"
    return ""


def compared(metrics: Sequence[Metric], names: Sequence[str] = ()) -> tuple[Metric, ...]:
    """Return which of the evaluated `metrics` runs are compared by.

    `names` may have any spelling and may leave out settings that all metrics share; without names
    it is every metric that can be compared, without the bounds of ties. Raises UnknownNameError
    for a name that was not evaluated or cannot be compared.
    """
    if not names:
        return tuple(one for one in metrics if not why_not(one) and not _is_bound(one))
    found: dict[Metric, None] = {}
    for name in chain.from_iterable(map(each_cutoff, names)):
        same = [one for one in metrics if str(one) == name] or _spelt(name, metrics)
        if not same:
            known = [str(one) for one in metrics]
            what = f"no metric '{name}' was evaluated{did_you_mean(name, known)}"
            raise UnknownNameError(f"{what}  (there are: {', '.join(known)})")
        if reason := why_not(same[0]):
            what = f"runs cannot be compared by {same[0]}: {reason}"
            raise UnknownNameError(Problem("", what, fix="choose another metric, such as ndcg@10"))
        found[same[0]] = None
    return tuple(found)


def _is_bound(metric: Metric) -> bool:
    return metric.label is not None and metric.label.endswith(tuple(f"_{name}" for name in NAMES))


def _spelt(name: str, metrics: Sequence[Metric]) -> list[Metric]:
    """Return the one metric that a name in another spelling means, in a list."""
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
