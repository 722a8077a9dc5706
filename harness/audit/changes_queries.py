"""Two leaderboards query by query: which queries moved, and how well one reproduces the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, index_in, select
from ..core.comparison import Plan
from ..core.evaluation import Evaluation
from ..core.metric import Metric
from ..core.ragged import Bools, Floats
from ..core.systems import why_not
from ..errors import Problem, UnknownNameError
from ..stats.blocks import interval_of
from ..stats.differences import differences
from ..stats.paired_t import paired_t
from ..stats.registry import Test, find, outcome_of
from ..stats.reproduction import delta_ri, effect_ratio, nrmse, rmse, unpaired_t
from ..stats.streams import Stream
from .changes_board import Board, Key

MOST = 5
"""Queries listed in either direction."""


class QueryMove(NamedTuple):
    """One query's value in both leaderboards."""

    qid: str
    old: float
    new: float
    difference: float


@dataclass(frozen=True)
class Paired:
    """A run in both folders by one metric, query by query.

    `n` queries have a value in both, and `moved` of them differ; `up` and `down` are the largest
    differences. `difference`, `low` and `high` are the mean of new minus old and its interval.
    `p` is NaN if nothing moved, or the test has no answer (`note` says why).
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

    `in_old` and `in_new` mark these queries in each evaluation.
    """

    qids: pa.Array
    old: Floats
    new: Floats
    in_old: Bools
    in_new: Bools
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]

    @property
    def differ(self) -> bool:
        """Whether a query has a value in one evaluation only."""
        return bool(self.only_old or self.only_new)


def pairing(old: Evaluation, new: Evaluation, names: tuple[str, str]) -> Pairing:
    """Return the values of a metric paired by qid, without queries that have no value.

    A metric with ``undefined=zero`` has a value for every query.
    """
    first, second = qids_of(old), qids_of(new)
    before, after = _values(old, names[0]), _values(new, names[1])
    at = np.arange(len(first)) if first.equals(second) else index_in(first, second)
    moved = np.append(after, np.nan)[at]  # the last one is for queries that are not there
    both = ~np.isnan(before) & ~np.isnan(moved)
    in_new = np.zeros(len(second), dtype=bool)
    in_new[at[both]] = True
    return Pairing(
        select(first, both),
        before[both],
        moved[both],
        both,
        in_new,
        tuple(select(first, ~np.isnan(before) & ~both).to_pylist()),
        tuple(select(second, ~np.isnan(after) & ~in_new).to_pylist()),
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
    """Return which queries of a cell moved, and a test of them that is not corrected yet."""
    raw = pairs.new - pairs.old
    moved = int((pairs.old != pairs.new).sum())
    result = Paired(len(raw), moved, only_old=pairs.only_old, only_new=pairs.only_new)
    if not moved:
        return result

    def largest(sign: int) -> tuple[QueryMove, ...]:
        order = np.argsort(-sign * raw, kind="stable")[:MOST]
        columns = pairs.qids.take(pa.array(order)), pairs.old[order], pairs.new[order], raw[order]
        moves = map(QueryMove, *(column.tolist() for column in columns))
        return tuple(one for one in moves if sign * one.difference > 0)

    mean = math.fsum(raw.tolist()) / raw.size
    result = replace(result, up=largest(1), down=largest(-1), difference=mean)
    if reason := why_not(metric):
        return replace(result, note=f"not tested: {reason}")
    difference = differences(pairs.new, pairs.old)
    tested, interval = (
        Stream((name, key.dataset, str(metric), str(key)), plan.seed, plan.draws)
        for name in (test.name, plan.interval)
    )
    low, high = interval_of(difference, plan, interval)
    found = outcome_of(test, difference, tested)
    return replace(result, low=low, high=high, p=found.p, method=found.method, note=found.note)


def paired_test(plan: Plan) -> Test:
    """Return the plan's test; raise UnknownNameError if it is not a paired one."""
    test = find(plan.test)
    if test.kind != "paired":
        what = f"expected a test of two runs, got '{plan.test}', which tests several at once"
        raise UnknownNameError(Problem("test", what, fix="use paired-t or randomization"))
    return test


@dataclass(frozen=True)
class Reproduced:
    """One run by one metric, original and reproduction (:mod:`harness.stats.reproduction`).

    `n` queries are in both, over which `rmse`, `nrmse` and the paired t-test are; Welch's is over
    the queries of each. The effects are over the run `baseline`, if any.
    """

    key: Key
    metric: str
    n: int = 0
    rmse: float = math.nan
    nrmse: float = math.nan
    p_paired: float = math.nan
    p_welch: float = math.nan
    baseline: str = ""
    effect_ratio: float = math.nan
    delta_ri: float = math.nan
    note: str = ""


def reproduced(
    old: Board, new: Board, metrics: Sequence[str], keys: Sequence[Key], baselines: Sequence[str]
) -> Iterator[Reproduced]:
    """Yield each run by each metric: over each baseline with the same dataset and columns."""
    for metric in metrics:
        for key in keys:
            errors = _errors(old, new, metric, key)
            bases = [
                base for base in keys
                if base.run in baselines and base.run != key.run
                and (base.dataset, base.columns) == (key.dataset, key.columns)
            ]  # fmt: skip
            yield from [_effect(errors, old, new, base) for base in bases] or [errors]


def _errors(old: Board, new: Board, name: str, key: Key) -> Reproduced:
    before, after, metric = old.rows[key].entry, new.rows[key].entry, old.metrics[name]
    if before is None or after is None or metric is None:
        return Reproduced(key, name)
    evaluations, names = (
        (before.evaluation, after.evaluation),
        (str(metric), str(new.metrics[name])),
    )
    pairs = pairing(*evaluations, names)
    result = Reproduced(key, name, len(pairs.qids), rmse(pairs.old, pairs.new))
    if metric.definition.summary != "mean":
        return result
    columns = [
        np.asarray(one.column(own), dtype=np.float64)
        for one, own in zip(evaluations, names, strict=True)
    ]
    return replace(
        result,
        nrmse=nrmse(pairs.old, pairs.new, metric.definition.bounds),
        p_paired=paired_t(differences(pairs.new, pairs.old), Stream()).p,
        p_welch=unpaired_t(*(each[~np.isnan(each)] for each in columns)),
        note="" if len(pairs.qids) else "no query in both",
    )


def _effect(errors: Reproduced, old: Board, new: Board, base: Key) -> Reproduced:
    metric = old.metrics[errors.metric]
    reason = why_not(metric) if metric is not None else ""
    means = [
        board.rows[key].values[errors.metric] for board in (old, new) for key in (errors.key, base)
    ]
    ratio = relative = math.nan
    if reason or any(map(math.isnan, means)):
        notes = [f"no effect: {reason or 'a value is missing'}"]
    else:
        ratio, relative = effect_ratio(*means), delta_ri(*means)
        notes = ["the original effect is 0"] if math.isnan(ratio) else []
        notes += ["a baseline is 0"] if math.isnan(relative) else []
    note = "; ".join(filter(None, (errors.note, *notes)))
    return replace(errors, baseline=base.run, effect_ratio=ratio, delta_ri=relative, note=note)
