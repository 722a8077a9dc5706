"""Rank-biased overlap and average overlap, with the ideal order or with another run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.pairs import group_keys
from ..core.parameter import SHOWN, Range
from ..core.ragged import Floats, Ints, frozen, sum_by
from ..errors import UnknownNameError

Cutoff = Annotated[int, Range(1, None)]
Rel = Annotated[int, Range(1, None)]
Persistence = Annotated[float, Range(0, 1, open=True), SHOWN]

_MARGIN = 1024


@dataclass(frozen=True)
class Overlap:
    """Two lists for each query, as far as overlap needs them.

    ``first`` and ``second`` are the lists' lengths, ``(n_queries,)``. Each document on both
    lists is in the overlap from a certain depth on, the larger of its two ranks: ``depth``,
    ``(n_shared,)``, for the query ``row``.
    """

    first: Ints
    second: Ints
    row: Ints
    depth: Ints

    def sum(self, weights: Floats) -> Floats:
        """Sum a number for each shared document by query, ``(n_queries,)``."""
        return sum_by(self.row, weights, self.first.size)

    def count(self, depth: Ints) -> Ints:
        """Return the overlap of each query at its depth, ``(n_queries,)``."""
        return np.bincount(self.row[self.depth <= depth[self.row]], minlength=self.first.size)


def overlap_of(aligned: Aligned, rel: int = 1) -> Overlap:
    """Lay each query's ranking beside its ideal order.

    The ideal order holds the documents with a grade of at least `rel`, by falling grade. Those
    of one grade stand in the ranking's own order, the retrieved before the others.
    """
    return aligned.memo(("overlap", rel), lambda: _overlap(aligned, rel))


def _overlap(aligned: Aligned, rel: int) -> Overlap:
    items, ideal = aligned.relevant(rel), aligned.ideal
    row, rank = aligned.row[items], aligned.rank[items]
    wanted = np.flatnonzero(ideal.values >= rel)
    # One key for each (query, grade), rising as the ideal order goes on.
    keys = group_keys(
        np.concatenate([ideal.row[wanted], row]),
        -np.concatenate([ideal.values[wanted], aligned.grade[items]]),
    )
    of_ideal, of_items = keys[: wanted.size], keys[wanted.size :]
    size = int(keys.max(initial=-1)) + 1
    sizes = np.bincount(of_ideal, minlength=size)
    before = np.cumsum(sizes) - sizes
    lengths = aligned.n_relevant(rel)
    ideal_rank = before[of_items] - (np.cumsum(lengths) - lengths)[row] + 1
    if sizes.max(initial=0) > 1:
        order = np.argsort(of_items, kind="stable")
        retrieved = np.bincount(of_items, minlength=size)
        earlier = (np.cumsum(retrieved) - retrieved)[of_items[order]]
        ideal_rank[order] += np.arange(order.size) - earlier
    return Overlap(aligned.n_retrieved, lengths, row, np.maximum(rank, ideal_rank))


@lru_cache(maxsize=8)
def _tails(p: float, size: int) -> Floats:
    """Return R(d) = sum over j >= d of p^j / j, for d = 0..size (R(0) is not used: 0).

    Summed from its far end: as ln(1/(1-p)) minus the first terms it would lose its digits where
    it is small. What lies beyond the far end is the integral with Euler and Maclaurin's
    corrections, exact to the last digits at depths over a thousand.
    """
    from scipy.special import exp1

    depths = np.arange(1, size + _MARGIN, dtype=np.float64)
    end, rate = float(size + _MARGIN), -math.log(p)
    term = p**end / end
    cubic = rate**3 + 3 * rate**2 / end + 6 * rate / end**2 + 6 / end**3
    beyond = float(exp1(rate * end)) + term * (0.5 + (rate + 1 / end) / 12 - cubic / 720)
    falling = np.concatenate([[beyond], (p**depths / depths)[::-1]])
    tails = np.cumsum(falling)[::-1][: size + 1]
    return frozen(np.concatenate([[0.0], tails[:size]]))


def tails_to(p: float, depth: int) -> Floats:
    """Return a table of R(d) = sum over j >= d of p^j / j that reaches at least to `depth`."""
    return _tails(float(p), 1 << max(10, depth.bit_length()))


def rbo_weight(p: float, d: int) -> float:
    """Return the share of RBO's weight that the first `d` ranks carry.

    W(p, d) = 1 - p^(d-1) + ((1-p)/p) d (ln(1/(1-p)) - sum over i < d of p^i / i).

    Parameters
    ----------
    p : float
        Persistence, between 0 and 1 (both outside).
    d : int
        Depth, at least 1.

    Returns
    -------
    float
        In (0, 1].

    Raises
    ------
    UnknownNameError
        Where p or d is out of range.

    Notes
    -----
    Webber, Moffat and Zobel, TOIS 28(4), 2010, equation 21.

    Examples
    --------
    >>> round(rbo_weight(0.9, 10), 12)
    0.855585446747
    """
    if not 0 < p < 1:
        raise UnknownNameError(f"rbo_weight: p must lie in (0, 1), and is {p:g}")
    if d < 1:
        raise UnknownNameError(f"rbo_weight: d must be at least 1, and is {d}")
    return 1.0 - float(_beyond(p, np.array([d]), tails_to(p, d))[0])


def _beyond(p: float, depth: Ints, tails: Floats) -> Floats:
    """Return the share of RBO's weight that lies beyond each depth, ``1 - W(p, depth)``."""
    beyond: Floats = p ** (depth - 1.0) - (1 - p) / p * depth * tails[depth]
    return np.maximum(beyond, 0.0)


def _least(p: float, pair: Overlap, tails: Floats) -> Floats:
    # A document in the overlap from depth m on adds p^d / d at every depth d >= m.
    return (1 - p) / p * pair.sum(tails[pair.depth])


def _residual(p: float, pair: Overlap, tails: Floats) -> Floats:
    # Equation 30, its sums gathered into what lies beyond s, l and f = l + s - X.
    shared = np.bincount(pair.row, minlength=pair.first.size)
    all_found = pair.first + pair.second - shared
    s, l, f = (_beyond(p, depth, tails) for depth in (pair.first, pair.second, all_found))  # noqa: E741
    return s + (l - f)


def _extrapolated(p: float, pair: Overlap, tails: Floats, *, cut: bool) -> Floats:
    # Equation 32, gathered by document: one that is shared from depth m on adds p^d / d from m
    # to the end of the shorter list (of the longer one where it comes later than that), and
    # then its part of the agreement that is taken to go on.
    short, long = np.minimum(pair.first, pair.second), np.maximum(pair.first, pair.second)
    end = long[pair.row]
    if not cut:
        end = np.where(pair.depth <= short[pair.row], short[pair.row], end)
    return pair.sum((1 - p) / p * (tails[pair.depth] - tails[end + 1]) + p**end / end)


Form = Literal["ext", "min", "res", "max", "ext-cut"]


@metric(
    "rbo",
    direction="higher",
    bounds=(0, 1),
    source="Webber, Moffat and Zobel, ACM TOIS 28(4), 2010",
    empty=np.nan,
    aliases=("RBO",),
    reference=True,
)
def rbo(aligned: Aligned, *, p: Persistence = 0.9, form: Form = "ext", rel: Rel = 1) -> Floats:
    """Rank-biased overlap of the ranking and the ideal order.

    RBO = (1-p) * sum over depths d of p^(d-1) X_d / d, where X_d documents are common to the
    first d of both lists; the lists end, so it is extrapolated (equation 32) or bounded
    (equations 11 and 30, to the end of the longer list). With ``reference`` the second list is
    the other run's ranking.

    The ranking holds every retrieved document, unjudged ones too. The ideal order holds the
    query's documents with a grade of at least `rel`, by falling grade; those of one grade stand
    in the ranking's own order, retrieved before not retrieved, so that equal grades are never
    disagreement and a ranking in ideal order has RBO 1.

    Parameters
    ----------
    aligned : Aligned
    p : float
        Persistence, in (0, 1): the chance that a reader goes on to the next rank. At .9 the
        first ten ranks carry 86 % of the weight (see :func:`rbo_weight`).
    form : {"ext", "min", "res", "max", "ext-cut"}
        ``ext``: the agreement found so far goes on. ``min`` and ``max``: the least and the
        largest value that longer lists could give; ``res``: the difference of the two, which is
        no quality but what is left open. ``ext-cut``: as ``ext``, but a list that is shorter
        than the other is taken to end there.
    rel : int
        Smallest grade in the ideal order.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]: 0 nothing in common, 1 the same order. NaN where either list is empty.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 1}})
    >>> run = Run.from_dict({"q": {"b": 3.0, "a": 2.0}})    # X_1 = 0, X_2 = 2
    >>> round(rbo(align(qrels, run), p=0.5).item(), 12)     # .5 * (0 + .5 * 1) + .5^2
    0.5
    """
    pair = overlap_of(aligned, rel)
    tails = tails_to(p, int((pair.first + pair.second).max(initial=0)) + 1)
    filled = (pair.first > 0) & (pair.second > 0)
    # Queries with an empty list get depth 1 here, to be computed without harm and put out below.
    pair = Overlap(np.maximum(pair.first, 1), np.maximum(pair.second, 1), pair.row, pair.depth)
    if form == "min":
        values = _least(p, pair, tails)
    elif form == "res":
        values = _residual(p, pair, tails)
    elif form == "max":
        values = _least(p, pair, tails) + _residual(p, pair, tails)
    else:
        values = _extrapolated(p, pair, tails, cut=form == "ext-cut")
    return np.where(filled, np.clip(values, 0.0, 1.0), np.nan)


@metric(
    "ao",
    direction="higher",
    bounds=(0, 1),
    source="Fagin, Kumar and Sivakumar, SIAM J. Discrete Math. 17(1), 2003; Webber et al., 2010",
    empty=np.nan,
    aliases=("AO",),
    reference=True,
)
def ao(aligned: Aligned, *, rel: Rel = 1, cutoff: Cutoff | None = None) -> Floats:
    """Average overlap of the ranking and the ideal order.

    AO@k = (1/k) * sum over depths d = 1..k of X_d / d, where X_d documents are common to the
    first d of both lists: ``rbo`` with every depth weighing the same. The lists are those of
    ``rbo``. Where one of them ends before k, the average ends there too: what lies beyond is
    not known to differ.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade in the ideal order.
    cutoff : int, optional
        k; the length of the shorter list where left out.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; NaN where either list is empty.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 1}})
    >>> run = Run.from_dict({"q": {"b": 3.0, "a": 2.0}})    # (0/1 + 2/2) / 2
    >>> ao(align(qrels, run)).tolist()
    [0.5]
    """
    pair = overlap_of(aligned, rel)
    depth = np.minimum(pair.first, pair.second)
    if cutoff is not None:
        depth = np.minimum(depth, cutoff)
    end = depth[pair.row]
    inside = pair.depth <= end
    # H(d) = 1 + 1/2 + ... + 1/d: a document shared from depth m on adds H(end) - H(m - 1).
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, depth.max(initial=0) + 1.0))])
    shares = harmonic[end[inside]] - harmonic[pair.depth[inside] - 1]
    total = sum_by(pair.row[inside], shares, depth.size)
    values: Floats = np.divide(total, depth, out=np.full(depth.size, np.nan), where=depth > 0)
    return np.clip(values, 0.0, 1.0, out=values)
