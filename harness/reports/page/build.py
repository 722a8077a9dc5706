"""A leaderboard, its comparisons and its manifest as the data of the report page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.comparison import Comparisons
from ...core.leaderboard import Leaderboard, numbers_of
from ...core.metric import Metric
from ...core.ragged import Floats
from ...core.systems import System, over_same_queries, systems_of
from ..leaderboard import grids

Interval = Callable[[System, Metric], tuple[float, float]]
COUNTS = ("queries", "missing", "empty", "tied")


def report(
    title: str,
    board: Leaderboard,
    rows: Leaderboard,
    comparisons: Comparisons | None,
    *,
    interval: Interval,
    provenance: Mapping[str, Any],
    note: str = "",
    metadata: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """Return the data of the page, named as in ``src/data.ts``.

    `board` has an entry a cell, `rows` are as printed: an entry a system if the config has a
    summary. `interval` is used for values without a comparison; `note` names the tests.
    `metadata` has further columns of each run by its name; ``link`` becomes a link of the name.
    """
    systems = systems_of(board)
    metrics = numbers_of(board.metrics)
    names = list(dict.fromkeys(one.run for one in systems))
    columns = _columns(systems, metadata or {})
    place = {name: i for i, name in enumerate(names)}
    datasets = list(dict.fromkeys(one.dataset for one in systems))
    boards = [
        _board(
            [one for one in systems if one.dataset == name], metrics, place, comparisons, interval
        )
        for name in datasets
    ]
    notes = {grid.title: list(grid.notes) for grid in grids(rows)}
    for one in boards:
        one["notes"] = notes.get(one["dataset"], [])
    return {
        "title": title,
        "metrics": [_metric(metric) for metric in metrics],
        "columns": columns,
        "systems": [_system(name, columns, systems, metadata or {}) for name in names],
        "boards": boards,
        "comparisons": _comparisons(comparisons, datasets, metrics, place),
        "comparisonNote": note,
        "rankings": {},
        "rankingFiles": {},
        "rankingDepth": 0,
        "conventions": [],
        "provenance": dict(provenance),
    }


def _metric(metric: Metric) -> dict[str, Any]:
    direction = {"higher": 1, "lower": -1}.get(metric.definition.direction or "", 0)
    return {
        "name": str(metric),
        "label": str(metric),
        "direction": direction,
        "digits": 0 if metric.definition.summary == "sum" else 4,
    }


def _columns(systems: Sequence[System], metadata: Mapping[str, Mapping[str, str]]) -> list[str]:
    found = dict.fromkeys(name for one in systems for name in _own(one))
    found |= dict.fromkeys(name for row in metadata.values() for name in row if name != "link")
    return list(found)


def _own(system: System) -> dict[str, str]:
    """Return the placeholders that all repetitions of a system share."""
    first = system.entries[0].columns
    return {name: value for name, value in first.items() if name not in system.varying}


def _system(
    name: str,
    columns: Sequence[str],
    systems: Sequence[System],
    metadata: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    own = {k: v for one in systems if one.run == name for k, v in _own(one).items()}
    row = {**own, **metadata.get(name, {})}
    link = row.get("link", "")
    safe = {"link": link} if link.startswith(("https://", "http://")) else {}
    return {"name": name, "columns": [row.get(column, "") for column in columns], **safe}


def _board(
    systems: Sequence[System],
    metrics: Sequence[Metric],
    place: Mapping[str, int],
    comparisons: Comparisons | None,
    interval: Interval,
) -> dict[str, Any]:
    counts = [one.entries[0].evaluation.counts.as_dict() for one in systems]
    return {
        "dataset": systems[0].dataset,
        "group": systems[0].group,
        "whole": systems[0].whole,
        "qids": systems[0].qids,
        "systems": [place[one.run] for one in systems],
        "columns": [_column(systems, metric, comparisons, interval) for metric in metrics],
        "counts": {
            name: np.array([each.get(name, math.nan) for each in counts], float) for name in COUNTS
        },
        "warned": [", ".join(one.warned) for one in systems],
    }


def _column(
    systems: Sequence[System],
    metric: Metric,
    comparisons: Comparisons | None,
    interval: Interval,
) -> dict[str, Any]:
    standings = {
        one.run: one
        for one in (comparisons.standings if comparisons else ())
        if one.dataset == systems[0].dataset and one.metric == metric
    }
    found = [standings.get(one.run) for one in systems]
    own = [
        None if each else interval(one, metric) for one, each in zip(systems, found, strict=True)
    ]
    queries = np.stack([one.values(metric) for one in systems])
    same = over_same_queries(
        metric, ((one.entries[0].evaluation.qids, one.values(metric)) for one in systems)
    )

    def numbers(name: str) -> Floats:
        return np.array([getattr(one, name) if one else math.nan for one in found], float)

    def bounds(name: str, side: int) -> Floats:
        pairs = zip(found, own, strict=True)
        return np.array([getattr(a, name) if a else b[side] for a, b in pairs])  # type: ignore[index]

    return {
        "value": np.array([one.value(metric) for one in systems], float),
        "low": bounds("low", 0),
        "high": bounds("high", 1),
        "rank": numbers("rank"),
        "rankLow": numbers("rank_low"),
        "rankHigh": numbers("rank_high"),
        "tier": [one.tier if one else "" for one in found],
        "n": np.array([one.n(metric) for one in systems], float),
        "queries": queries,
        "note": "" if same else "no best value: runs were scored on different queries",
    }


def _comparisons(
    comparisons: Comparisons | None,
    datasets: Sequence[str],
    metrics: Sequence[Metric],
    place: Mapping[str, int],
) -> dict[str, Floats]:
    """Return the tests as columns, one entry a test; systems and datasets are numbers."""
    rows = comparisons.rows if comparisons else ()
    numbers = {str(metric): i for i, metric in enumerate(metrics)}
    columns = {
        "dataset": [datasets.index(one.dataset) for one in rows],
        "metric": [numbers[str(one.metric)] for one in rows],
        "run": [place[one.run] for one in rows],
        "baseline": [place[one.baseline] for one in rows],
        "difference": [one.difference for one in rows],
        "low": [one.low for one in rows],
        "high": [one.high for one in rows],
        "p": [one.p for one in rows],
        "adjusted": [one.p_adjusted for one in rows],
        "significant": [bool(comparisons and comparisons.is_significant(one)) for one in rows],
    }
    return {name: np.array(values, np.float64) for name, values in columns.items()}
