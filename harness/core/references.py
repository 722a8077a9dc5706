"""References: systems that are no run, but the median or the best of all on each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from .arrow import encode
from .entries import Entry, System
from .metric import Metric
from .ragged import Floats, frozen


def reference(name: str, systems: Sequence[System]) -> System:
    """Return the system with the median, or the best, of all systems' values on each query.

    The systems are those of one dataset. One without a value on a query is left out there. Values
    of seeds are averaged before.
    """
    first, columns = systems[0].evaluation, [system.evaluation.qids for system in systems]
    qids, places = encode(pa.concat_arrays(columns))
    of_systems = np.split(places, np.cumsum([*map(len, columns)])[:-1])
    values = np.full((len(qids), len(first.metrics)), np.nan)
    for column, metric in enumerate(first.metrics):
        table = np.full((len(systems), len(qids)), np.nan)
        for row, place, system in zip(table, of_systems, systems, strict=True):
            if str(metric) in map(str, system.metrics):
                row[place] = system.values(metric)
        values[:, column] = _of_queries(name, table, metric)
    is_shared = len(qids) == len(first.qids)
    evaluation = replace(
        first,
        run=name,
        values=frozen(values),
        qids=qids,
        weights=first.weights if is_shared else {},
        errors={},
        unanswered=(),
        groups={},
    )
    return System.of([Entry(evaluation, pattern=systems[0].pattern)], name)


def _of_queries(name: str, values: Floats, metric: Metric) -> Floats:
    """Return the median or best of the values ``(n_systems, n_queries)`` of each query."""
    if metric.settings.undefined == "zero":
        values = np.nan_to_num(values, nan=0.0)
    if name == "best":
        best: Floats = (np.fmin if metric.sign < 0 else np.fmax).reduce(values, axis=0)
        return best
    median = np.full(values.shape[1], np.nan)
    has_value = ~np.isnan(values).all(axis=0)
    median[has_value] = np.nanmedian(values[:, has_value], axis=0)
    return median
