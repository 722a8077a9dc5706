"""The order of a leaderboard's rows: by its first metric, best first, or as ``sort`` says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from ..core.leaderboard import Entry, Leaderboard
from ..core.metric import Metric
from ..core.systems import System
from ..errors import UnknownNameError, did_you_mean
from .paper_table.select import metric_spellings

T = TypeVar("T", Entry, System)
NONE = "none"
"""Keeps the order of the config."""


def sort_metric(metrics: Sequence[Metric], sort: str | None = None) -> Metric | None:
    """Return the metric that rows are sorted by; None if they keep their order.

    Raises
    ------
    UnknownNameError
        If `sort` is no metric of these.

    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["num_q", "map", "ndcg@10"])
    >>> str(sort_metric(metrics)), str(sort_metric(metrics, "ndcg_cut_10"))
    ('map', 'ndcg@10')
    """
    if sort == NONE:
        return None
    if sort is None:
        return next((one for one in metrics if one.definition.direction is not None), None)
    by_name = {str(one): one for one in metrics}
    names = [sort] if sort in by_name else list(metric_spellings(by_name)(sort))
    if len(names) != 1:
        near = did_you_mean(sort, [*by_name, NONE])
        listed = ", ".join([*by_name, NONE])
        raise UnknownNameError(f"there is no metric '{sort}'{near}  (there are: {listed})")
    return by_name[names[0]]


def best_first(items: Iterable[T], metric: Metric | None) -> list[T]:
    """Return entries or systems by a metric, best first; those without a value last."""
    if metric is None:
        return list(items)
    sign = 1 if metric.definition.direction == "lower" else -1

    def key(one: T) -> tuple[bool, float]:
        value = (
            one.summary.get(str(metric), math.nan) if isinstance(one, Entry) else one.value(metric)
        )
        return (True, 0.0) if math.isnan(value) else (False, sign * value)

    return sorted(items, key=key)


def in_order(board: Leaderboard, sort: str | None = None) -> Leaderboard:
    """Return a leaderboard whose entries of each dataset are in order."""
    metric = sort_metric(board.metrics, sort)
    if metric is None:
        return board
    entries = [one for _, some in board.by_dataset() for one in best_first(some, metric)]
    return replace(board, entries=tuple(entries))
