"""Blocks: the values of all runs by one metric on one dataset, paired by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..core.arrow import call, select, to_numpy
from ..core.comparable import compared
from ..core.entries import System, grouped_by
from ..core.metric import Metric
from ..core.ragged import Bools, Floats, Ints, frozen
from ..core.systems import SHOWN, query_mismatch
from ..errors import AlignmentError, HarnessError, Problem, first_of
from .comparison import Plan
from .registry import Stream


@dataclass(frozen=True, eq=False)
class Block:
    """Values of runs x queries, ``(n_systems, n_queries)``; NaN if a run has no value for one.

    `qids` name the columns, sorted by name, so that results do not depend on the qrels' order.
    """

    dataset: str
    metric: Metric
    systems: tuple[System, ...]
    qids: pa.Array
    values: Floats

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs, a row each."""
        return tuple(system.run for system in self.systems)

    @cached_property
    def valued(self) -> Ints:
        """Rows of the runs that have a value for any query; all rows if none has."""
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
        return frozen(-kept if self.metric.sign < 0 else kept)

    def stream(self, plan: Plan, what: str, *runs: str) -> Stream:
        """Return the random numbers for one purpose, which depend on names alone.

        Which of two runs is the baseline does not matter.
        """
        names = (what, self.dataset, str(self.metric), *sorted(runs))
        return Stream(names, plan.seed, plan.draws)


def blocks_of(systems: Sequence[System], plan: Plan) -> Iterator[Block]:
    """Yield a block for each dataset and metric compared, in order."""
    together = grouped_by(systems, lambda system: system.dataset)
    orders = {dataset: _orders(found) for dataset, found in together.items()}
    for dataset, found in together.items():
        known = found[0].metrics
        qids = _qids(found[0]).take(orders[dataset][0])
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
                raise HarnessError(_infinite(found, metric, values, qids))
            if metric.settings.undefined == "zero":
                values = np.nan_to_num(values, nan=0.0)
            yield Block(dataset, metric, tuple(found), qids, frozen(values))


def _orders(systems: Sequence[System]) -> list[pa.Array]:
    """Return how each system's queries come into the order of their names."""
    first = _qids(systems[0])
    expected = sorted(first.to_pylist())
    orders: list[pa.Array] = []
    problems: list[Problem] = []
    for system in systems:
        qids = _qids(system)
        orders.append(call("array_sort_indices", qids))
        if qids.take(orders[-1]).to_pylist() != expected:
            problems.append(query_mismatch(_name(system), first.to_pylist(), qids.to_pylist()))
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
            what = f"{metric} is infinite on {first_of(bad, SHOWN)}: no mean to compare"
            fix = "repair the scores, or name the metrics to compare without it"
            problems.append(Problem(_name(system), what, fix=fix))
    return problems


def _name(system: System) -> str:
    return " on ".join(filter(None, (system.run, system.dataset)))


def _qids(system: System) -> pa.Array:
    return system.entries[0].evaluation.qids
