"""The values of all runs by one metric on one dataset, paired by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..core.arrow import call, select, take, to_numpy
from ..core.entries import System, grouped_by
from ..core.metric import Metric
from ..core.names import compared
from ..core.ragged import Bools, Floats, Ints, frozen
from ..core.systems import SHOWN, query_mismatch, reference
from ..errors import AlignmentError, HarnessError, Problem, first_of
from .comparison import REFERENCE_RUNS, Plan
from .registry import Stream


@dataclass(frozen=True, eq=False)
class PairedValues:
    """Values of runs x queries, ``(n_systems, n_queries)``; NaN without a value.

    `qids` name the columns, sorted by name, so that results do not depend on the qrels' order.
    `weights` are those of the queries, above 0, or None. The last
    `n_references` systems are references.
    """

    dataset: str
    metric: Metric
    systems: tuple[System, ...]
    qids: pa.Array
    values: Floats
    weights: Floats | None = None
    n_references: int = 0

    @cached_property
    def complete_weights(self) -> Floats | None:
        """Weights of the complete queries, ``(n_complete,)``."""
        return None if self.weights is None else self.weights[self.complete]

    @cached_property
    def of_runs(self) -> PairedValues:
        """The values without those of references."""
        n = len(self.systems) - self.n_references
        return replace(self, systems=self.systems[:n], values=self.values[:n], n_references=0)

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
        """Mask of queries for which all runs (that have any value) have one, ``(n_queries,)``."""
        is_complete: Bools = np.isnan(self.values[self.valued]).sum(axis=0) == 0
        return is_complete

    @cached_property
    def oriented(self) -> Floats:
        """Values of the complete queries, higher the better, ``(n_systems, n_complete)``.

        The rows that are not in `valued` are NaN.
        """
        values = self.values[:, self.complete]
        return frozen(-values if self.metric.sign < 0 else values)

    def stream(self, plan: Plan, purpose: str, *runs: str) -> Stream:
        """Return the random numbers for one purpose, which depend on names alone.

        Which of two runs is the baseline does not matter.
        """
        names = (purpose, self.dataset, str(self.metric), *sorted(runs))
        return Stream(names, plan.seed, plan.draws)


def paired_values(systems: Sequence[System], plan: Plan) -> Iterator[PairedValues]:
    """Yield the values of each dataset by each metric compared, in order.

    Baselines that are references come after the runs, unless the dataset has a single run.
    """
    references = [name for name in plan.baselines if name in REFERENCE_RUNS]
    for dataset, members in grouped_by(systems, lambda system: system.dataset).items():
        qids, orders = _in_order(members)
        added = [reference(name, members) for name in references if len(members) > 1]
        members, orders = members + added, orders + orders[:1] * len(added)
        shared = set.intersection(*({*map(str, system.metrics)} for system in members))
        defined = [metric for metric in members[0].metrics if str(metric) in shared]
        for metric in compared(defined, plan.metrics):
            pairs = zip(members, orders, strict=True)
            values = np.array([system.values(metric)[order] for system, order in pairs])
            _check_finite(members, metric, values, qids)
            if metric.settings.undefined == "zero":
                values = np.nan_to_num(values, nan=0.0)
            weights, columns = _weights(members, orders, metric), (qids, frozen(values))
            if weights is not None and not weights.all():  # such a query is not in the mean
                counted = weights > 0
                columns = select(qids, counted), frozen(values[:, counted])
                weights = weights[counted]
            yield PairedValues(dataset, metric, tuple(members), *columns, weights, len(added))


def _in_order(systems: Sequence[System]) -> tuple[pa.Array, list[Ints]]:
    """Return the queries by name, and how each system's queries come into that order."""
    expected, orders, problems = systems[0].qids, [], []
    for system in systems:
        orders.append(to_numpy(call("array_sort_indices", [system.evaluation.qids])))
        if sorted(system.qids) != sorted(expected):
            problems.append(query_mismatch(_name(system), expected, system.qids))
    if problems:
        raise AlignmentError(problems)
    return take(systems[0].evaluation.qids, orders[0]), orders


def _weights(systems: Sequence[System], orders: Sequence[Ints], metric: Metric) -> Floats | None:
    """Return the weights of the queries; AlignmentError if systems have different ones."""
    first, *others = (
        None if (weights := system.weights(metric)) is None else weights[order]
        for system, order in zip(systems, orders, strict=True)
    )
    for system, weights in zip(systems[1:], others, strict=True):
        if not same_weights(first, weights):
            message = f"expected the query weights of {_name(systems[0])}, got others"
            fix = "evaluate all runs with the same weights"
            raise AlignmentError(Problem(_name(system), message, fix=fix))
    return first


def same_weights(first: Floats | None, second: Floats | None) -> bool:
    """Whether two systems have the same query weights."""
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def _check_finite(
    systems: Sequence[System], metric: Metric, values: Floats, qids: pa.Array
) -> None:
    """Raise HarnessError with the queries on which a system's value is infinite."""
    problems = []
    for system, infinite in zip(systems, np.isinf(values), strict=True):
        if infinite.any():
            bad = first_of(select(qids, infinite).to_pylist(), SHOWN)
            message = f"{metric} is infinite on {bad}: no mean to compare"
            fix = "repair the scores, or name the metrics to compare without it"
            problems.append(Problem(_name(system), message, fix=fix))
    if problems:
        raise HarnessError(problems)


def _name(system: System) -> str:
    return " on ".join(filter(None, (system.run, system.dataset)))
