"""Blocks: the values of all runs by one metric on one dataset, paired by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..core.comparable import compared
from ..core.comparison import Plan
from ..core.metric import Metric
from ..core.ragged import Bools, Floats, frozen
from ..core.systems import System, unlike
from ..errors import AlignmentError, Problem


@dataclass(frozen=True, eq=False)
class Block:
    """Values of runs x queries.

    Parameters
    ----------
    dataset : str
    metric : Metric
    systems : tuple of System
    values : ndarray, shape (n_systems, n_queries)
        A column is one query; NaN where a run has no value for it.
    """

    dataset: str
    metric: Metric
    systems: tuple[System, ...]
    values: Floats

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs, a row each."""
        return tuple(system.run for system in self.systems)

    @cached_property
    def complete(self) -> Bools:
        """Which queries every run has a value for, ``(n_queries,)``."""
        found: Bools = np.isnan(self.values).sum(axis=0) == 0
        return found

    @cached_property
    def oriented(self) -> Floats:
        """Values of the complete queries, higher the better, ``(n_systems, n_complete)``."""
        kept = self.values[:, self.complete]
        return frozen(-kept if self.metric.definition.direction == "lower" else kept)


def blocks_of(systems: Sequence[System], plan: Plan) -> Iterator[Block]:
    """Yield a block for each dataset and metric compared, in order.

    Raises
    ------
    AlignmentError
        Where runs of a dataset were evaluated on different queries, which it lists.
    UnknownNameError
        Where a metric of the plan was not evaluated, or runs cannot be compared by it.
    """
    together: dict[str, list[System]] = {}
    for system in systems:
        together.setdefault(system.dataset, []).append(system)
    orders = {dataset: _orders(found) for dataset, found in together.items()}
    for dataset, found in together.items():
        known = found[0].metrics
        for other in found[1:]:
            names = set(map(str, other.metrics))
            known = tuple(one for one in known if str(one) in names)
        for metric in compared(known, plan.metrics):
            rows = [
                system.values(metric)[order]
                for system, order in zip(found, orders[dataset], strict=True)
            ]
            values = np.array(rows)
            if metric.settings.undefined == "zero":
                values = np.nan_to_num(values, nan=0.0)
            yield Block(dataset, metric, tuple(found), frozen(values))


def _orders(systems: Sequence[System]) -> list[slice | list[int]]:
    """Return how each system's queries come into the order of the first's."""
    first = _qids(systems[0])
    orders: list[slice | list[int]] = []
    problems: list[Problem] = []
    for system in systems:
        qids = _qids(system)
        if qids.equals(first):
            orders.append(slice(None))
            continue
        place = {qid: at for at, qid in enumerate(qids.to_pylist())}
        expected = first.to_pylist()
        if place.keys() == set(expected):
            orders.append([place[qid] for qid in expected])
        else:
            where = " on ".join(filter(None, (system.run, system.dataset)))
            problems.append(unlike(where, expected, place))
    if problems:
        raise AlignmentError(problems)
    return orders


def _qids(system: System) -> pa.Array:
    return system.entries[0].evaluation.qids
