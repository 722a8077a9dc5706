"""Blocks: the values of all runs by one metric on one dataset, paired by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..core.arrow import call, select, to_numpy
from ..core.comparable import compared
from ..core.comparison import Plan
from ..core.metric import Metric
from ..core.ragged import Bools, Floats, Ints, frozen
from ..core.systems import SHOWN, System, unlike
from ..errors import AlignmentError, HarnessError, Problem


@dataclass(frozen=True, eq=False)
class Block:
    """Values of runs x queries.

    Parameters
    ----------
    dataset : str
    metric : Metric
    systems : tuple of System
    values : ndarray, shape (n_systems, n_queries)
        A column is one query, in the order of their names, so that nothing hangs on that of the
        judgements; NaN where a run has no value for it.
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
    def valued(self) -> Ints:
        """Rows of the runs that have a value for any query; all rows where none has."""
        has = ~np.isnan(self.values).all(axis=1)
        return np.flatnonzero(has if has.any() else ~has)

    @cached_property
    def complete(self) -> Bools:
        """Which queries every run has a value for, but runs that have none, ``(n_queries,)``."""
        found: Bools = np.isnan(self.values[self.valued]).sum(axis=0) == 0
        return found

    @cached_property
    def oriented(self) -> Floats:
        """Values of the complete queries, higher the better, ``(n_systems, n_complete)``.

        The rows that are not in :attr:`valued` are NaN.
        """
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
    HarnessError
        Where a value to compare is infinite, with the queries.
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
                system.values(metric)[to_numpy(order)]  # numpy's own way would load pandas
                for system, order in zip(found, orders[dataset], strict=True)
            ]
            values = np.array(rows)
            if np.isinf(values).any():
                names = _qids(found[0]).take(orders[dataset][0])
                raise HarnessError(_infinite(found, metric, values, names))
            if metric.settings.undefined == "zero":
                values = np.nan_to_num(values, nan=0.0)
            yield Block(dataset, metric, tuple(found), frozen(values))


def _orders(systems: Sequence[System]) -> list[pa.Array]:
    """Return how each system's queries come into the order of their names."""
    first = _qids(systems[0])
    expected = call("array_sort_indices", first)
    orders: list[pa.Array] = []
    problems: list[Problem] = []
    for system in systems:
        qids = _qids(system)
        same = qids.equals(first)
        orders.append(expected if same else call("array_sort_indices", qids))
        if not same and qids.take(orders[-1]).to_pylist() != first.take(expected).to_pylist():
            problems.append(unlike(_name(system), first.to_pylist(), qids.to_pylist()))
    if problems:
        raise AlignmentError(problems)
    return orders


def _infinite(
    systems: Sequence[System], metric: Metric, values: Floats, qids: pa.Array
) -> list[Problem]:
    problems = []
    for system, row in zip(systems, values, strict=True):
        bad = select(qids, np.isinf(row)).to_pylist()
        if bad:
            more = f" and {len(bad) - SHOWN} more" * (len(bad) > SHOWN)
            what = f"{metric} is infinite on {', '.join(bad[:SHOWN])}{more}: no mean to compare"
            fix = "mend the scores, or name the metrics to compare without it"
            problems.append(Problem(_name(system), what, fix=fix))
    return problems


def _name(system: System) -> str:
    return " on ".join(filter(None, (system.run, system.dataset)))


def _qids(system: System) -> pa.Array:
    return system.entries[0].evaluation.qids
