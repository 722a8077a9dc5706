"""The queries behind a cell that moved: which, by how much, and whether it is more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, index_in, select
from ..core.comparable import why_not
from ..core.comparison import Plan, family_of
from ..core.evaluation import Evaluation
from ..core.metric import Metric
from ..core.ragged import Floats
from ..errors import UnknownNameError
from ..stats.calling import outcome_of
from ..stats.corrections import adjust
from ..stats.differences import differences
from ..stats.pairs import interval_of
from ..stats.registry import Test, find
from ..stats.streams import Stream
from .board import Key

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
    """Values of the queries that both evaluations have, in one order."""

    qids: pa.Array
    old: Floats
    new: Floats
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()


def pairing(old: Evaluation, new: Evaluation, names: tuple[str, str]) -> Pairing:
    """Return the values of a metric paired by qid; a query without a value is in neither.

    Parameters
    ----------
    old, new : Evaluation
    names : (str, str)
        The metric's name in each.
    """
    first, second = (_named(one) for one in (old, new))
    values = [
        np.asarray(one.column(name), dtype=np.float64)
        for one, name in zip((old, new), names, strict=True)
    ]
    there = np.arange(len(first)) if first.equals(second) else index_in(first, second)
    moved = np.append(values[1], np.nan)[there]  # of the old queries; the last one is of no query
    both = ~np.isnan(values[0]) & ~np.isnan(moved)
    seen = np.zeros(len(second), dtype=bool)
    seen[there[both]] = True
    return Pairing(
        select(first, both),
        values[0][both],
        moved[both],
        tuple(select(first, ~np.isnan(values[0]) & ~both).to_pylist()),
        tuple(select(second, ~np.isnan(values[1]) & ~seen).to_pylist()),
    )


def _named(evaluation: Evaluation) -> pa.Array:
    qids = evaluation.qids
    return cast(qids, pa.string()) if pa.types.is_dictionary(qids.type) else qids


def paired(
    pairs: Pairing, key: Key, metric: Metric, plan: Plan, test: Test, most: int = MOST
) -> Paired:
    """Return what the queries of one cell say.

    Parameters
    ----------
    pairs : Pairing
    key : Key
    metric : Metric
    plan : Plan
        Its test and level; the correction comes last, see :func:`corrected`.
    test : Test
    most : int
        Queries listed in either direction.
    """
    moved = int((pairs.old != pairs.new).sum())
    found = Paired(len(pairs.qids), moved, only_old=pairs.only_old, only_new=pairs.only_new)
    if not moved:
        return found
    raw = pairs.new - pairs.old
    up = [place for place in np.argsort(-raw, kind="stable")[:most].tolist() if raw[place] > 0]
    down = [place for place in np.argsort(raw, kind="stable")[:most].tolist() if raw[place] < 0]

    def listed(places: Sequence[int]) -> tuple[QueryMove, ...]:
        return tuple(
            QueryMove(
                pairs.qids[at].as_py(), float(pairs.old[at]), float(pairs.new[at]), float(raw[at])
            )
            for at in places
        )

    found = replace(
        found, up=listed(up), down=listed(down), difference=math.fsum(raw.tolist()) / raw.size
    )
    if reason := why_not(metric):
        return replace(found, note=f"not tested: {reason}")
    difference = differences(pairs.new, pairs.old)
    names = (key.dataset, str(metric), str(key))
    outcome = outcome_of(test, difference, Stream((test.name, *names), plan.seed, plan.draws))
    interval = interval_of(difference, plan, Stream((plan.interval, *names), plan.seed, plan.draws))
    return replace(
        found, low=interval[0], high=interval[1], p=outcome.p, method=outcome.method,
        note=outcome.note,
    )  # fmt: skip


def test_of(plan: Plan) -> Test:
    """Return the plan's test.

    Raises
    ------
    UnknownNameError
        Where there is none of that name, or it is no paired one.
    """
    test = find(plan.test)
    if test.kind != "paired":
        what = f"'{plan.test}' tests several runs at once; old and new are a pair"
        raise UnknownNameError(f"{what}: take paired-t or randomization")
    return test


def corrected(
    found: Sequence[Paired | None], where: Sequence[tuple[str, Metric | None]], plan: Plan
) -> tuple[list[Paired | None], int]:
    """Return the comparisons with adjusted p-values, and how many have one.

    Parameters
    ----------
    found : sequence of Paired or None
        Of the cells that moved.
    where : sequence of (str, Metric or None)
        Dataset and metric of each.
    plan : Plan
        Its correction and family.
    """
    result = list(found)
    families: dict[str, list[int]] = {}
    for place, (one, (dataset, metric)) in enumerate(zip(found, where, strict=True)):
        if one is not None and metric is not None and not math.isnan(one.p):
            families.setdefault(family_of(dataset, metric, plan.family), []).append(place)
    for places in families.values():
        p = np.array([one.p for place in places if (one := found[place]) is not None])
        for place, adjusted in zip(places, adjust(p, plan.correction).tolist(), strict=True):
            one = found[place]
            result[place] = None if one is None else replace(one, p_adjusted=adjusted)
    return result, sum(map(len, families.values()))
