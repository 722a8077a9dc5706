"""Rank-biased overlap and average overlap, with the ideal order or with another run."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.blocks import by_block
from ..core.metric import metric
from ..core.parameter import SHOWN, Range
from ..core.ragged import Floats, Ints
from ..errors import UnknownNameError
from .overlap import Overlap, overlap_of
from .overlap_expected import expected_sum
from .overlap_ties import Tied, depths, tied_lists, undefined
from .rbo_forms import Form, Gain, gain_of, residual, untied, with_ties
from .rbo_tails import beyond, tails_to

Cutoff = Annotated[int, Range(1, None)]
Rel = Annotated[int, Range(1, None)]
Persistence = Annotated[float, Range(0, 1, open=True), SHOWN]


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
    return 1.0 - float(beyond(p, np.array([d]), tails_to(p, d))[0])


def _pair(aligned: Aligned, rel: int) -> tuple[Overlap, Floats]:
    """Return the lists without ties, and 0 or NaN (a list is empty) to add to each value.

    Queries with an empty list get lists of length 1, to be computed without harm.
    """
    pair = overlap_of(aligned, rel)
    undefined: Floats = np.where((pair.first > 0) & (pair.second > 0), 0.0, np.nan)
    first, second = np.maximum(pair.first, 1), np.maximum(pair.second, 1)
    return pair._replace(first=first, second=second), undefined


def _with_ties(
    aligned: Aligned, p: float, form: Form, rel: int, tied: Tied, k: int | None
) -> Floats:
    def of(part: Aligned) -> Floats:
        lists = tied_lists(part, rel)
        values = with_ties(p, form, depths(lists, tied), lists.shared, k)
        return _within(values) + undefined(lists)

    return by_block(aligned, of)


def _average_with_ties(aligned: Aligned, rel: int, tied: Tied, cutoff: int | None) -> Floats:
    def values(part: Aligned) -> Floats:
        lists = tied_lists(part, rel)
        at = depths(lists, tied)
        stop = at.short if cutoff is None else np.minimum(at.short, cutoff)
        total = at.sum(np.where(at.depth <= np.repeat(stop, at.long), at.agreement, 0.0))
        return _within(total / stop) + undefined(lists)

    return by_block(aligned, values)


def _within(values: Floats) -> Floats:
    clipped: Floats = np.clip(values, 0.0, 1.0)
    return clipped


def _check(form: Form, k: int | None) -> None:
    if k is not None and form != "truncated":
        raise UnknownNameError(
            f"rbo: k={k} is for form=truncated, and form is {form}; leave k out, or cut the "
            "ranking with depth"
        )


def _expected(
    aligned: Aligned,
    *,
    p: Persistence = 0.9,
    form: Form = "ext",
    rel: Rel = 1,
    tied: Tied = "none",
    k: Cutoff | None = None,
) -> Floats:
    """Return the expectation over the orders of tied documents."""
    _check(form, k)
    if tied != "none":  # no order plays a part
        return _with_ties(aligned, p, form, rel, tied, k)
    pair, nothing = _pair(aligned, rel)
    values = np.zeros(aligned.n_queries)
    if form in ("res", "max"):
        values += residual(p, pair)
    if form != "res":
        gain = gain_of(p, "min" if form == "max" else form, pair, k)
        values += expected_sum(aligned, rel, gain)
    return _within(values) + nothing


@metric(
    "rbo",
    direction="higher",
    bounds=(0, 1),
    source="Webber, Moffat and Zobel, ACM TOIS 28(4), 2010; ties: Corsi and Urbano, SIGIR 2024",
    empty=np.nan,
    aliases=("RBO",),
    reference=True,
    expected=_expected,
)
def rbo(
    aligned: Aligned,
    *,
    p: Persistence = 0.9,
    form: Form = "ext",
    rel: Rel = 1,
    tied: Tied = "none",
    k: Cutoff | None = None,
) -> Floats:
    """Rank-biased overlap of the ranking and the ideal order.

    RBO = (1-p) * sum over depths d of p^(d-1) X_d / d, where X_d documents are common to the
    first d of both lists; the lists end, so it is extrapolated (equation 32) or bounded
    (equations 11 and 30, to the end of the longer list). With ``reference`` the second list is
    the other run's ranking.

    The ranking holds every retrieved document, unjudged ones too. The ideal order holds the
    query's documents with a grade of at least `rel`, by falling grade; those of one grade stand
    in the ranking's own order, retrieved before not retrieved, so that equal grades are never
    disagreement and a ranking in ideal order has RBO 1. With `tied` equal grades are ties, as
    equal scores are; against another run, the scores that it ties.

    Parameters
    ----------
    aligned : Aligned
    p : float
        Persistence, in (0, 1): the chance that a reader goes on to the next rank. At .9 the
        first ten ranks carry 86 % of the weight (see :func:`rbo_weight`).
    form : {"ext", "min", "res", "max", "ext-cut", "truncated"}
        ``ext``: the agreement found so far goes on. ``min`` and ``max``: the least and the
        largest value that longer lists could give; ``res``: the difference of the two, which is
        no quality but what is left open. ``ext-cut``: as ``ext``, but a list that is shorter
        than the other is taken to end there. ``truncated``: the sum to the end of the shorter
        list alone; identical lists of ten documents then have 0.65 at p = .9.
    rel : int
        Smallest grade in the ideal order.
    tied : {"none", "w", "a", "b"}
        ``none``: the order that the policy gave; ties play no part. Otherwise a document counts
        at depth d in each list by its group of ties, from rank t to rank b, and no order plays
        a part. ``w``: 1 from t on, the agreement being 2 X_d over the documents so far in both
        lists: equal ranks that are real. ``a``: (d - t + 1) / (b - t + 1) inside the group, the
        agreement X_d / d: ties as uncertainty, the mean of RBO over all orders of both lists'
        ties. ``b``: as ``a``, over the square root of the sums of squares of both lists, so that
        a list with ties has RBO 1 with itself.
    k : int, optional
        For ``truncated`` alone: sum to depth k, where that comes before the shorter list's end.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]: 0 nothing in common, 1 the same order. NaN where either list is empty.

    Raises
    ------
    UnknownNameError
        Where k is given with another form.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 1}})
    >>> run = Run.from_dict({"q": {"b": 3.0, "a": 2.0}})    # X_1 = 0, X_2 = 2
    >>> round(rbo(align(qrels, run), p=0.5).item(), 12)     # .5 * (0 + .5 * 1) + .5^2
    0.5
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 1}})    # X_1 = 1/2 on average, X_2 = 2
    >>> round(rbo(align(qrels, run), p=0.5, tied="a").item(), 12)   # .5 * 1/2 + .25 + .25
    0.75
    """
    _check(form, k)
    if tied == "none":
        pair, nothing = _pair(aligned, rel)
        return _within(untied(p, form, pair, k)) + nothing
    return _with_ties(aligned, p, form, rel, tied, k)


def _average_gain(pair: Overlap, cutoff: int | None) -> Gain:
    """Return what a document in the overlap from depth m on adds: H(end) - H(m - 1), over end."""
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


def _expected_average(
    aligned: Aligned, *, rel: Rel = 1, tied: Tied = "none", cutoff: Cutoff | None = None
) -> Floats:
    """Return the expectation over the orders of tied documents."""
    if tied != "none":
        return _average_with_ties(aligned, rel, tied, cutoff)  # no order plays a part
    pair, nothing = _pair(aligned, rel)
    return _within(expected_sum(aligned, rel, _average_gain(pair, cutoff))) + nothing


@metric(
    "ao",
    direction="higher",
    bounds=(0, 1),
    source="Fagin, Kumar and Sivakumar, SIAM J. Discrete Math. 17(1), 2003; Webber et al., 2010",
    empty=np.nan,
    aliases=("AO",),
    reference=True,
    expected=_expected_average,
)
def ao(
    aligned: Aligned, *, rel: Rel = 1, tied: Tied = "none", cutoff: Cutoff | None = None
) -> Floats:
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
    tied : {"none", "w", "a", "b"}
        How ties count, as in ``rbo``: the mean of the same agreements over the depths.
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
    if tied == "none":
        pair, nothing = _pair(aligned, rel)
        gain = _average_gain(pair, cutoff)
        return _within(pair.sum(gain(pair.row, pair.depth))) + nothing
    return _average_with_ties(aligned, rel, tied, cutoff)
