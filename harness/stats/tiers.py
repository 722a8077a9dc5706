"""Tiers: which systems, in the order of their means, cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtr

from ..core.ragged import Bools, Floats, Ints
from .blocks import Block
from .comparison import Comparison, Plan
from .corrections import adjust
from .differences import EPS
from .registry import SMALLEST, AllPairs


def groups(apart: Bools) -> Ints:
    """Return the first and last system of each group that cannot be told apart.

    A group is a longest run of neighbours, in the order of the mean, that cannot be told
    apart pairwise: the bars of a critical-difference diagram. A system that can be told apart from
    its neighbour, but not from one further off (whose differences to it vary more), is not in a
    group with the latter, as the neighbour between them would be in it too.

    Demsar, JMLR 2006, section 3.2.2.
    """
    n = apart.shape[0]
    later = np.triu(apart, 1)
    # The group that begins at i ends before the first system that differs from any from i on.
    first_apart = np.where(later.any(axis=1), later.argmax(axis=1), n)
    last = np.minimum.accumulate(first_apart[::-1])[::-1] - 1
    starts = np.flatnonzero(np.diff(last, prepend=-1) > 0)
    return np.column_stack([starts, last[starts]]).astype(np.int64)


def tiers(apart: Bools) -> tuple[str, ...]:
    """Return the tier of each system: the numbers of the groups that it is in.

    ``1``, ``2``, or ``1-2`` for a system of both. Two systems have a number in common exactly
    if no two can be told apart of them and those between them. Going down the order of the
    means neither number ever falls.
    """
    first, last = groups(apart).T
    system = np.arange(apart.shape[0])
    low = np.searchsorted(last, system) + 1
    high = np.searchsorted(first, system, side="right")
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return tuple(f"{one}" if one == other else f"{one}-{other}" for one, other in pairs)


def told_apart(
    block: Block, rows: Sequence[Comparison], plan: Plan, found: AllPairs | None = None
) -> Bools:
    """Return which runs of a block can be told apart.

    By the plan's own test if that is one of all pairs; by the plan's comparisons if these
    are of every pair; otherwise by :func:`paired_t_of_pairs`, corrected as the plan has it over
    the pairs of the block, besides the plan's comparisons. So no pair that the plan finds
    significant is left together.
    """
    if found is not None:
        return np.asarray(found.p <= plan.level)
    n_systems = len(block.runs)
    apart: Bools = np.zeros((n_systems, n_systems), dtype=bool)
    if len(rows) < math.comb(n_systems, 2):
        above = np.triu_indices(n_systems, 1)
        p = np.full((n_systems, n_systems), np.nan)
        p[np.ix_(block.valued, block.valued)] = paired_t_of_pairs(block.oriented[block.valued])
        apart[above] = adjust(p[above], plan.correction) <= plan.level
    place = {run: at for at, run in enumerate(block.runs)}
    for one in rows:
        if one.p_adjusted <= plan.level:
            apart[place[one.baseline], place[one.run]] = True
    apart |= apart.T
    return apart


def paired_t_of_pairs(values: Floats) -> Floats:
    """Return the two-sided p-value of the paired t-test of each pair of systems.

    ``t = mean / (s / sqrt(n))`` of the pair's own differences, so that a noisy system does not
    hide the differences between others, as the common variance of ``tukey`` does. It is
    :func:`harness.stats.paired_t.paired_t` for all pairs at once, and not corrected.
    """
    n_systems, n_queries = values.shape
    p = np.ones((n_systems, n_systems))
    if n_queries < 2:
        p[~np.eye(n_systems, dtype=bool)] = np.nan
        return p
    size = np.abs(values)
    for first in range(n_systems - 1):
        larger = np.maximum(size[first + 1 :], size[first])
        floor = np.minimum(larger.max(axis=1, keepdims=True), 1.0)
        noise = EPS * np.maximum(larger, floor)  # as that of differences, a pair a row
        p[first, first + 1 :] = _paired_t(values[first + 1 :] - values[first], noise)
        p[first + 1 :, first] = p[first, first + 1 :]
    return p


def _paired_t(differences: Floats, noise: Floats) -> Floats:
    """Return the p-value of each row; `noise` is how much of a difference may be rounding."""
    differences[np.abs(differences) <= noise] = 0.0
    n_queries = differences.shape[1]
    largest = np.abs(differences).max(axis=1, keepdims=True)
    # the difference that is known best, to see whether all of them are that one
    best = noise.argmin(axis=1)[:, None]
    known, error = (np.take_along_axis(one, best, axis=1) for one in (differences, noise))
    is_constant = (np.abs(differences - known) <= noise + error).all(axis=1)
    scaled = differences / np.where(largest > 0, largest, 1.0)  # or tiny squares would vanish
    deviation = scaled.std(axis=1, ddof=1)
    deviation[is_constant] = np.nan
    t = scaled.mean(axis=1) / (deviation / math.sqrt(n_queries))
    p = np.clip(2 * stdtr(n_queries - 1, -np.abs(t)), SMALLEST, 1.0)
    return np.where(largest[:, 0] == 0, 1.0, p)
