"""DCG of rankings, of ideal orders, and its expectation over the orders of tied documents."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import get_args

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Floats, Ints, frozen, sum_by
from .gains import DISCOUNTS, Gain, Scale, gains_of
from .tied import mean_discounted, within
from .trec_gain_table import Gains, GainTable, gain_table, grades_as_gains

_OWN: dict[str, Callable[[Ints], Floats]] = {
    gain: partial(gains_of, gain=gain) for gain in get_args(Gain)
}
_OWN["linear"] = grades_as_gains  # shared with trec_eval's other metrics of gains


def list_dcg(aligned: Aligned, scale: Scale, cutoff: int | None = None) -> Floats:
    """Return the DCG of each query's ranking, ``(n_queries,)``."""

    def total() -> Floats:
        items, rank = scale.items(aligned)
        at, row = items.values, items.row
        if cutoff is not None:
            inside = np.flatnonzero(rank <= cutoff)
            at, row, rank = at[inside], row[inside], rank[inside]
        weights = scale.gains(aligned.grade[at]) / scale.discounts(rank)
        return frozen(sum_by(row, weights, aligned.n_queries))

    return aligned.memo(("dcg", scale, cutoff), total)


def expected_list_dcg(
    aligned: Aligned, scale: Scale, cutoff: int | None = None, spill: bool = False
) -> Floats:
    """Return the expected DCG over the orders of tied documents, ``(n_queries,)``.

    With `spill` a group that reaches past the cutoff counts whole, which is no expectation.
    """
    last = None if spill else cutoff

    def total() -> Floats:
        items = within(aligned, scale.items(aligned)[0].values, cutoff)
        gains = scale.gains(aligned.grade[items])
        weights = mean_discounted(aligned, items, gains, DISCOUNTS[scale.discount], last)
        return frozen(sum_by(aligned.row[items], weights, aligned.n_queries))

    return aligned.memo(("expected_dcg", scale, cutoff, spill), total)


def ideal_dcg(aligned: Aligned, gain: Gain | Scale = "linear", cutoff: int | None = None) -> Floats:
    """Return the DCG of each query's grades in the ideal order, ``(n_queries,)``.

    All judged documents count, retrieved or not; the first `cutoff` of them where that is given.
    """
    scale = gain if isinstance(gain, Scale) else Scale(gain)

    def total() -> Floats:
        row, at, rank = scale.ideal(aligned, cutoff)
        weights = scale.gains(aligned.ideal.values[at]) / scale.discounts(rank)
        return frozen(sum_by(row, weights, aligned.n_queries))

    return aligned.memo(("ideal_dcg", scale, cutoff), total)


def share_of_ideal(dcg: Floats, ideal: Floats) -> Floats:
    """Return ``dcg / ideal``, and 0 where the ideal DCG is 0."""
    return np.divide(dcg, ideal, out=np.zeros_like(dcg), where=ideal != 0)


def dcg_of_gains(aligned: Aligned, gains: Gains, scale: Scale, cutoff: int | None = None) -> Floats:
    """Return the DCG of each query's ranking where grades are given gains, ``(n_queries,)``."""
    item = _table(aligned, gains, scale).item
    here = np.flatnonzero(item if cutoff is None else item * (aligned.rank <= cutoff))
    return aligned.sum(item[here] / scale.discounts(aligned.rank[here]), here)


def expected_dcg_of_gains(
    aligned: Aligned, gains: Gains, scale: Scale, cutoff: int | None = None
) -> Floats:
    """Return the expectation of :func:`dcg_of_gains` over the orders of tied documents."""
    item = _table(aligned, gains, scale).item
    here = within(aligned, np.flatnonzero(item), cutoff)
    weights = mean_discounted(aligned, here, item[here], DISCOUNTS[scale.discount], cutoff)
    return aligned.sum(weights, here)


def ideal_dcg_of_gains(
    aligned: Aligned, gains: Gains, scale: Scale, cutoff: int | None = None
) -> Floats:
    """Return the DCG of each query's ideal order where grades are given gains."""
    ideal = _table(aligned, gains, scale).ideal
    best = ideal.values / scale.discounts(ideal.rank)
    return ideal.sum(best, None if cutoff is None else ideal.rank <= cutoff)


def _table(aligned: Aligned, gains: Gains, scale: Scale) -> GainTable:
    return gain_table(aligned, gains, _OWN[scale.gain])
