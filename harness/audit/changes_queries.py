"""The queries behind a cell that moved: which, by how much, and whether it is more than chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, index_in, select
from ..core.comparison import Plan
from ..core.evaluation import Evaluation
from ..core.metric import Metric
from ..core.ragged import Bools, Floats
from ..core.systems import why_not
from ..errors import UnknownNameError
from ..stats.blocks import interval_of
from ..stats.differences import differences
from ..stats.registry import Test, find, outcome_of
from ..stats.streams import Stream
from .changes_board import Key

MOST = 5
"""Queries listed in either direction."""


@dataclass(frozen=True)
class QueryMove:
    """One query's value in both."""

    qid: str
    old: float
    new: float
    difference: float


@dataclass(frozen=True)
class Paired:
    """A run in both folders by one metric, query by query.

    Parameters
    ----------
    n : int
        Queries that have a value in both.
    moved : int
        Those of them whose value is another one, by any digit.
    up, down : tuple of QueryMove
        The largest differences above and below 0, the largest first.
    only_old, only_new : tuple of str
        Queries that have a value in one of them alone.
    difference, low, high : float
        Mean of new minus old over the paired queries, and its interval.
    p, p_adjusted : float
        NaN where nothing moved, or the test has no answer (`note` says why).
    method, note : str
    """

    n: int
    moved: int
    up: tuple[QueryMove, ...] = ()
    down: tuple[QueryMove, ...] = ()
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    method: str = ""
    note: str = ""


@dataclass(frozen=True, eq=False)
class Pairing:
    """Values of the queries that both evaluations have, in one order.

    `in_old` and `in_new` tell which queries of each evaluation these are.
    """

    qids: pa.Array
    old: Floats
    new: Floats
    in_old: Bools
    in_new: Bools
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()

    @property
    def differ(self) -> bool:
        """Whether a query has a value in one evaluation alone."""
        return bool(self.only_old or self.only_new)


def pairing(old: Evaluation, new: Evaluation, names: tuple[str, str]) -> Pairing:
    """Return the values of a metric paired by qid; a query without a value is in neither.

    A metric with ``undefined=zero`` has a value for every query.
    """
    first, second = (qids_of(one) for one in (old, new))
    values = [_values(one, name) for one, name in zip((old, new), names, strict=True)]
    there = np.arange(len(first)) if first.equals(second) else index_in(first, second)
    moved = np.append(values[1], np.nan)[there]  # of the old queries; the last one is of no query
    both = ~np.isnan(values[0]) & ~np.isnan(moved)
    seen = np.zeros(len(second), dtype=bool)
    seen[there[both]] = True
    return Pairing(
        select(first, both),
        values[0][both],
        moved[both],
        both,
        seen,
        tuple(select(first, ~np.isnan(values[0]) & ~both).to_pylist()),
        tuple(select(second, ~np.isnan(values[1]) & ~seen).to_pylist()),
    )


def _values(evaluation: Evaluation, name: str) -> Floats:
    values = np.asarray(evaluation.column(name), dtype=np.float64)
    undefined = evaluation.metrics[evaluation.names.index(name)].settings.undefined
    return np.nan_to_num(values, nan=0.0) if undefined == "zero" else values


def qids_of(evaluation: Evaluation) -> pa.Array:
    """Return the queries of an evaluation as strings."""
    qids = evaluation.qids
    return cast(qids, pa.string()) if pa.types.is_dictionary(qids.type) else qids


def paired(pairs: Pairing, key: Key, metric: Metric, plan: Plan, test: Test) -> Paired:
    """Return what the queries of one cell say, with a p-value that is not adjusted yet."""
    raw = pairs.new - pairs.old
    n, moved = len(pairs.qids), int((pairs.old != pairs.new).sum())
    found = Paired(n, moved, only_old=pairs.only_old, only_new=pairs.only_new)
    if not moved:
        return found

    def largest(sign: int) -> tuple[QueryMove, ...]:
        order = np.argsort(-sign * raw, kind="stable")[:MOST].tolist()
        return tuple(
            QueryMove(
                pairs.qids[at].as_py(), float(pairs.old[at]), float(pairs.new[at]), float(raw[at])
            )
            for at in order
            if sign * raw[at] > 0
        )

    mean = math.fsum(raw.tolist()) / raw.size
    found = replace(found, up=largest(1), down=largest(-1), difference=mean)
    if reason := why_not(metric):
        return replace(found, note=f"not tested: {reason}")
    difference = differences(pairs.new, pairs.old)
    tested, interval = (
        Stream((name, key.dataset, str(metric), str(key)), plan.seed, plan.draws)
        for name in (test.name, plan.interval)
    )
    low, high = interval_of(difference, plan, interval)
    outcome = outcome_of(test, difference, tested)
    return replace(found, low=low, high=high, p=outcome.p, method=outcome.method, note=outcome.note)


def paired_test(plan: Plan) -> Test:
    """Return the plan's test; raise UnknownNameError where it is not a paired one."""
    test = find(plan.test)
    if test.kind != "paired":
        what = f"'{plan.test}' tests several runs at once; old and new are a pair"
        raise UnknownNameError(f"{what}: take paired-t or randomization")
    return test
