"""Rank-biased overlap and average overlap, with the ideal order or with another run."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import ArgumentKind, check_arguments, is_number, whole_from
from ..core.policy_views import has_ties
from ..core.ragged import Bools, Floats, Ints, frozen
from ..errors import Problem, UnknownNameError
from .overlap import Depths, Overlap, Tied, depths, expected_sum, overlap_of
from .shared import Cutoff, Persistence, Rel, by_block, powers, share_metric

_MARGIN = 1024


def exp1(x: float) -> float:
    """Return E1(x), the integral of exp(-t) / t from x > 0 to infinity.

    SciPy has it too, but its import takes several times as long as RBO of a whole benchmark.
    Abramowitz and Stegun, 5.1.11 (up to 1) and 5.1.22.
    """
    if x <= 1:
        series, term = 1.0, 1.0
        for k in range(1, 26):
            term *= -k * x / (k + 1) ** 2
            series += term
        return -np.euler_gamma - math.log(x) + x * series
    fraction = 0.0
    for k in range(20 + int(80 / x), 0, -1):
        fraction = k / (1 + k / (x + fraction))
    return math.exp(-x) / (x + fraction)


@lru_cache(maxsize=8)
def _tails(p: float, size: int) -> Floats:
    """Return R(d) = sum over j >= d of p^j / j, for d = 0..size (R(0) is not used: 0).

    The sum runs from its far end: ln(1/(1-p)) minus the first terms loses digits if it is small.
    The rest beyond the far end is the integral with Euler and Maclaurin's corrections, exact to the
    last digits at depths over a thousand.
    """
    depths = np.arange(1, size + _MARGIN)
    end, rate = float(size + _MARGIN), -math.log(p)
    term = p**end / end
    cubic = rate**3 + 3 * rate**2 / end + 6 * rate / end**2 + 6 / end**3
    beyond = exp1(rate * end) + term * (0.5 + (rate + 1 / end) / 12 - cubic / 720)
    falling = np.concatenate([[beyond], (powers(p, depths) / depths)[::-1]])
    tails = np.cumsum(falling)[::-1][: size + 1]
    return frozen(np.concatenate([[0.0], tails[:size]]))


def tails_to(p: float, depth: int) -> Floats:
    """Return a table of R(d) = sum over j >= d of p^j / j that reaches at least to `depth`."""
    return _tails(float(p), 1 << max(10, depth.bit_length()))


def beyond(p: float, depth: Ints, tails: Floats) -> Floats:
    """Return the share of RBO's weight that lies beyond each depth, ``1 - W(p, depth)``."""
    share: Floats = powers(p, depth) / p - (1 - p) / p * depth * tails[depth]
    return np.maximum(share, 0.0)


Form = Literal["ext", "min", "res", "max", "ext-cut", "truncated"]
Gain = Callable[[Ints, Ints], Floats]
"""Contribution of documents to a value, by query and the depth from which they are shared."""


def gain_of(p: float, form: Form, pair: Overlap, tails: Floats, k: int | None = None) -> Gain:
    """Gain in RBO of a document in the overlap from depth m on: p^d / d at every d >= m.

    In the extrapolated forms the sum ends at the end of the shorter list (of the longer one if
    the document comes later), and its part of the agreement continues from there (equation 32, by
    document).
    """
    short, long = np.minimum(pair.first, pair.second), np.maximum(pair.first, pair.second)
    scale = (1 - p) / p
    if form == "min":
        return lambda row, depth: scale * tails[depth]
    if form == "truncated":
        stop = short if k is None else np.minimum(short, k)
        return lambda row, depth: scale * np.maximum(tails[depth] - tails[stop[row] + 1], 0.0)

    def extrapolated(row: Ints, depth: Ints) -> Floats:
        end = long[row]
        if form == "ext":
            end = np.where(depth <= short[row], short[row], end)
        gains: Floats = scale * (tails[depth] - tails[end + 1]) + powers(p, end) / end
        return gains

    return extrapolated


def residual(p: float, pair: Overlap, tails: Floats) -> Floats:
    """Return equation 30, with its sums as tails beyond s, l and f = l + s - X."""
    shared = np.bincount(pair.row, minlength=pair.first.size)
    all_found = pair.first + pair.second - shared
    s, l, f = (beyond(p, depth, tails) for depth in (pair.first, pair.second, all_found))  # noqa: E741
    return s + (l - f)


def with_ties(p: float, form: Form, lists: Depths, k: int | None) -> Floats:
    """Return RBO of lists with ties, ``(n_queries,)``, from their overlap at every depth."""
    tails = tails_to(p, int((lists.short + lists.long).max(initial=0)) + 1)
    weights = (1 - p) * powers(p, lists.depth - 1)
    agreement = lists.agreement
    if form == "truncated":
        stop = lists.short if k is None else np.minimum(lists.short, k)
        return lists.sum(
            np.where(lists.depth <= np.repeat(stop, lists.long), weights * agreement, 0.0)
        )
    if form == "res":
        return _residual(p, lists, weights, tails)
    if form == "ext":
        agreement = _carried_on(lists, agreement)
    least = lists.sum(weights * agreement)
    if form in ("ext", "ext-cut"):
        final: Floats = lists.at(agreement, lists.long) * powers(p, lists.long)
        return least + final
    least += (1 - p) / p * lists.shared * tails[lists.long + 1]
    return least if form == "min" else least + _residual(p, lists, weights, tails)


def _past_short(lists: Depths) -> Floats:
    """Distance of each depth past the shorter list's end from that end."""
    excess = lists.depth[lists.past] - np.repeat(lists.short, lists.long - lists.short)
    return excess.astype(np.float64)


def _carried_on(lists: Depths, agreement: Floats) -> Floats:
    """Extend the shorter list with documents of the longer one, with the agreement so far."""
    # Of the documents in reach that only the longer list holds, what one counts on average.
    mean = (lists.full + lists.partial * lists.share) / (lists.full + lists.partial)
    so_far = np.repeat(lists.at(agreement, lists.short), lists.long - lists.short)
    agreement = agreement.copy()
    agreement[lists.past] += _past_short(lists) * so_far * mean / lists.norm[lists.past]
    return agreement


def _residual(p: float, lists: Depths, weights: Floats, tails: Floats) -> Floats:
    """Residual: the largest possible agreement beyond the lists' ends, less the smallest."""
    largest, excess = np.zeros(lists.depth.size), _past_short(lists)
    # The shorter list goes on with the first documents that only the longer one holds.
    full = np.minimum(lists.full, excess)
    largest[lists.past] = (
        weights[lists.past] * (full + (excess - full) * lists.share) / lists.norm[lists.past]
    )
    all_found = lists.short + lists.long - lists.shared
    past_long = powers(p, lists.long) - (1 - p) / p * lists.short * tails[lists.long + 1]
    beyond_ends = beyond(p, lists.long, tails) - beyond(p, all_found, tails)
    open_part: Floats = lists.sum(largest) + np.maximum(past_long, 0.0) + beyond_ends
    return open_part


PERSISTENCE = ArgumentKind(
    "a number between 0 and 1 (both excluded)", lambda p: is_number(p) and 0 < p < 1
)


def rbo_weight(p: float, d: int) -> float:
    """Compute the share of RBO's weight on the first `d` ranks.

    W(p, d) = 1 - p^(d-1) + ((1-p)/p) d (ln(1/(1-p)) - sum over i < d of p^i / i).

    Parameters
    ----------
    p : float
        Persistence, above 0 and below 1.
    d : int
        Depth, at least 1.

    Returns
    -------
    float
        A share above 0, at most 1.

    Raises
    ------
    ArgumentError
        If p or d is out of range.

    Notes
    -----
    Webber, Moffat and Zobel, TOIS 28(4), 2010, equation 21.

    >>> round(rbo_weight(0.9, 10), 12)
    0.855585446747
    """
    check_arguments(locals(), p=PERSISTENCE, d=whole_from(1))
    return 1.0 - float(beyond(p, np.array([d]), tails_to(p, d))[0])


def _undefined(aligned: Aligned, rel: float) -> Floats:
    """Return NaN for queries with an empty list, and 0 for the others."""
    return np.where((aligned.n_retrieved > 0) & (aligned.n_relevant(rel) > 0), 0.0, np.nan)


def _pair(aligned: Aligned, rel: float) -> Overlap:
    """Return the lists without ties; empty ones have length 1, to avoid a division by 0."""
    pair = overlap_of(aligned, rel)
    return pair._replace(first=np.maximum(pair.first, 1), second=np.maximum(pair.second, 1))


def _sum_of(gain: Gain, aligned: Aligned, rel: float, pair: Overlap, *, average: bool) -> Floats:
    """Sum the gains of shared documents, in this order or on average over orders of ties."""
    return expected_sum(aligned, rel, gain) if average else pair.sum(gain(pair.row, pair.depth))


def _by_depth(
    aligned: Aligned,
    rel: float,
    tied: Tied,
    value: Callable[[Depths], Floats],
    *,
    whole_lists: bool,
) -> Floats:
    """Return a value of each query from its overlaps with ties.

    With `whole_lists`, lists that agree at every depth have exactly 1.
    """

    def of_part(part: Aligned) -> Floats:
        lists = depths(part, rel, tied)
        values = np.clip(value(lists), 0.0, 1.0)
        if whole_lists:
            n_apart = lists.sum((lists.agreement < 1 - _ROUNDING).astype(np.float64))
            values[(n_apart == 0) & (lists.short == lists.long)] = 1.0
        return values

    return by_block(aligned, of_part) + _undefined(aligned, rel)


_ROUNDING = 1e-12
"""Largest rounding error of an agreement of 1."""
_WHOLE = ("ext", "ext-cut", "max")
"""Forms in which identical lists have 1."""


def _are_same(aligned: Aligned, pair: Overlap, *, average: bool) -> Bools:
    """Return a mask of the queries whose two lists have equal documents in equal order.

    Every document is then shared from its own rank on, so the depths sum to 1 + 2 + ... + n.
    """
    n_shared, n = pair.sum(np.ones(pair.row.size)), pair.first
    equal: Bools = (n == pair.second) & (n_shared == n)
    equal &= pair.sum(pair.depth.astype(np.float64)) == n * (n + 1) / 2
    return equal & ~has_ties(aligned) if average else equal


def _check(*, form: Form = "ext", k: int | None = None, **_: object) -> None:
    if k is not None and form != "truncated":
        fix = f"write form=truncated, or rbo(depth={k}) to cut the ranking"
        raise UnknownNameError(
            Problem(f"k={k}", f"expected form=truncated, got form={form}", fix=fix)
        )


@share_metric(
    "rbo",
    title="RBO",
    cite=("webber2010",),
    variants={f"tied={form}": ("RBO", ("webber2010", "corsi2024")) for form in ("w", "a", "b")},
    source="Webber, Moffat and Zobel, ACM TOIS 28(4), 2010; ties: Corsi and Urbano, SIGIR 2024",
    empty=np.nan,
    aliases=("RBO",),
    reference=True,
    expected="average",
    unbounded_with=("judged_only",),
    check=_check,
)
def rbo(
    aligned: Aligned,
    *,
    p: Persistence = 0.9,
    form: Form = "ext",
    rel: Rel = 1,
    tied: Tied = "none",
    k: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """Rank-biased overlap of the ranking and the ideal ranking.

    RBO = (1-p) * sum over depths d of p^(d-1) X_d / d, with X_d documents in the first d of both
    lists. Because lists end, the value is extrapolated (equation 32) or bounded (equations 11 and
    30, to the end of the longer list). With ``reference`` the second list is the other run.

    The ranking has all retrieved documents, also unjudged ones. The ideal ranking has the documents
    with a grade of at least `rel`, in descending order of grade. Documents of equal grade keep the
    order of the ranking, retrieved ones first, so a ranking in ideal order has RBO 1. With `tied`,
    equal scores and equal grades (or the tied scores of the other run) are ties instead.

    Parameters
    ----------
    p : float
        Persistence: the chance that a reader continues to the next rank. At .9 the
        first ten ranks have 86% of the weight (see `rbo_weight`).
    form : {"ext", "min", "res", "max", "ext-cut", "truncated"}
        ``ext``: the agreement so far continues. ``min`` and ``max``: the smallest and the largest
        value of longer lists; ``res``: their difference, which measures uncertainty, not quality.
        ``ext-cut``: like ``ext``, but the shorter list ends. ``truncated``: the sum to the end of
        the shorter list; two identical lists of ten documents then have 0.65 at p = .9.
    rel : int
        Smallest grade in the ideal ranking.
    tied : {"none", "w", "a", "b"}
        ``none``: the policy orders ties. Otherwise a document counts at depth d by its tied group,
        from rank t to rank b. ``w``: it counts 1 from t on, and the agreement is 2 X_d over the
        number of documents so far in both lists; use it if equal ranks are real. ``a``: it counts
        (d - t + 1) / (b - t + 1) inside the group, and the agreement is X_d / d, so the value is
        the mean of RBO over all orders of ties. ``b``: as ``a``, divided by the square root of the
        sums of squares of both lists, so that a list with ties has RBO 1 with itself.
    k : int, optional
        Only for ``truncated``: sum to depth k, if the shorter list is longer.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1: 0 without shared documents, 1 for the same order; NaN if a list is empty.

    Raises
    ------
    UnknownNameError
        If k is given with another form.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 1}})
    >>> run = Run.from_dict({"q": {"b": 3.0, "a": 2.0}})    # X_1 = 0, X_2 = 2
    >>> round(rbo(align(qrels, run), p=0.5).item(), 12)     # .5 * (0 + .5 * 1) + .5^2
    0.5
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 1}})    # X_1 = 1/2 on average, X_2 = 2
    >>> round(rbo(align(qrels, run), p=0.5, tied="a").item(), 12)   # .5 * 1/2 + .25 + .25
    0.75
    """
    if tied != "none":  # no order matters
        value = partial(with_ties, p, form, k=k)
        return _by_depth(aligned, rel, tied, value, whole_lists=form in _WHOLE)
    pair = _pair(aligned, rel)
    tails = tails_to(p, int((pair.first + pair.second).max(initial=0)) + 1)
    values = residual(p, pair, tails) if form in ("res", "max") else np.zeros(aligned.n_queries)
    if form != "res":
        gain = gain_of(p, "min" if form == "max" else form, pair, tails, k)
        values += _sum_of(gain, aligned, rel, pair, average=average)
    values = np.clip(values, 0.0, 1.0)
    if form in _WHOLE:
        values[_are_same(aligned, pair, average=average)] = 1.0
    return values + _undefined(aligned, rel)


def _average_agreement(lists: Depths, cutoff: int | None) -> Floats:
    stop = lists.short if cutoff is None else np.minimum(lists.short, cutoff)
    return (
        lists.sum(np.where(lists.depth <= np.repeat(stop, lists.long), lists.agreement, 0.0)) / stop
    )


def _average_gain(pair: Overlap, cutoff: int | None) -> Gain:
    """Gain of a document in the overlap from depth m on: (H(end) - H(m - 1)) / end."""
    stop = np.minimum(pair.first, pair.second)
    if cutoff is not None:
        stop = np.minimum(stop, cutoff)
    # H(d) = 1 + 1/2 + ... + 1/d
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, stop.max(initial=0) + 1.0))])

    def gain(row: Ints, depth: Ints) -> Floats:
        end = stop[row]
        shares: Floats = (harmonic[end] - harmonic[np.minimum(depth, end + 1) - 1]) / end
        return shares

    return gain


@share_metric(
    "ao",
    title="average overlap",
    cite=("fagin2003",),
    source="Fagin, Kumar and Sivakumar, SIAM J. Discrete Math. 17(1), 2003; Webber et al., 2010",
    empty=np.nan,
    aliases=("AO",),
    reference=True,
    expected="average",
    unbounded_with=("judged_only",),
)
def ao(
    aligned: Aligned,
    *,
    rel: Rel = 1,
    tied: Tied = "none",
    cutoff: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """Average overlap of the ranking and the ideal ranking.

    AO@k = (1/k) * sum over depths d = 1..k of X_d / d, with X_d documents in the first d of both
    lists. It is ``rbo`` with equal weights of the depths, for the same lists. If a list ends before
    k, the average ends there too.

    Parameters
    ----------
    rel : int
        Smallest grade in the ideal ranking.
    tied : {"none", "w", "a", "b"}
        Ties, as in ``rbo``: the mean of the same agreements over the depths.
    cutoff : int, optional
        Depth k; by default the length of the shorter list.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; NaN if a list is empty.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 1}})
    >>> run = Run.from_dict({"q": {"b": 3.0, "a": 2.0}})    # (0/1 + 2/2) / 2
    >>> ao(align(qrels, run)).tolist()
    [0.5]
    """
    if tied != "none":  # no order matters
        value = partial(_average_agreement, cutoff=cutoff)
        return _by_depth(aligned, rel, tied, value, whole_lists=True)
    pair = _pair(aligned, rel)
    gain = _average_gain(pair, cutoff)
    values = np.clip(_sum_of(gain, aligned, rel, pair, average=average), 0.0, 1.0)
    values[_are_same(aligned, pair, average=average)] = 1.0
    return values + _undefined(aligned, rel)
