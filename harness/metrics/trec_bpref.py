"""trec_eval's metrics on judged documents only: bpref and gm_bpref."""

from __future__ import annotations

import math

import numpy as np

from ..core.aligned import Aligned
from ..core.exact import log_of
from ..core.metric import metric
from ..core.ragged import Array, Floats, Ints, Ragged, offsets_of
from ..core.ties import tied_groups
from .trec_average import SMALLEST
from .trec_shared import Rel, share


def _nonrelevant(aligned: Aligned, rel: int) -> Ragged:
    """Return 1 for each document that was judged non-relevant, and 0 for the others."""
    return Ragged(aligned.offsets, ((aligned.grade >= 0) & (aligned.grade < rel)).astype(np.int64))


def _nonrelevant_above(aligned: Aligned, rel: int) -> Ints:
    """Return min(n, R) of each relevant document retrieved: of n non-relevant ones above it."""
    found, unjudged = aligned.found(rel), aligned.unjudged
    above: Ints = found.values - found.spread(aligned.offsets[:-1]) - found.rank + 1
    if unjudged.size:
        above -= np.searchsorted(unjudged, found.values)
        above += found.spread(aligned.by_query(unjudged).offsets[:-1])
    return np.minimum(above, found.spread(aligned.n_relevant(rel)), out=above)


def _mean_preference(aligned: Aligned, rel: int, above: Array) -> Floats:
    """Return bpref from min(n, R) of each relevant document retrieved."""
    found, n_relevant = aligned.found(rel), aligned.n_relevant(rel)
    bound = np.minimum(aligned.n_judged - n_relevant, n_relevant)
    # Where no document is non-relevant, none stands above either.
    kept = 1.0 - above / found.spread(np.maximum(bound, 1.0))
    return share(found.sum(kept), n_relevant)


def _expected(aligned: Aligned, *, rel: int = 1) -> Floats:
    """Return the expectation of ``bpref`` over the orders of tied documents.

    In a random order a relevant document stands below 0, 1, ... m of the m non-relevant ones
    that it is tied with, each with probability 1 / (m + 1); so min(n, R) becomes the mean of
    min(n, R), ... min(n + m, R), n of them being above the group.
    """
    nonrelevant = _nonrelevant(aligned, rel)
    so_far, above = nonrelevant.cumsum(), _nonrelevant_above(aligned, rel).astype(np.float64)
    at, groups = tied_groups(aligned, rel).at, tied_groups(aligned)
    if at.size:
        heads = groups.items[offsets_of(groups.found)[:-1]]
        n = so_far[heads] - nonrelevant.values[heads]
        m = np.bincount(groups.group[nonrelevant.values[groups.items] > 0], minlength=n.size)
        group = groups.group[aligned.grade[groups.items] >= rel]
        n, m, most = n[group], m[group], aligned.n_relevant(rel)[aligned.found(rel).row[at]]
        rising = np.clip(most - n, 0, m + 1)  # how many of n, n + 1, ... n + m are below R
        total = n * rising + rising * (rising - 1) // 2 + (m + 1 - rising) * most
        above[at] = total / (m + 1)
    return _mean_preference(aligned, rel, above)


@metric(
    "bpref",
    title="bpref",
    cite=("buckley2004",),
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_bpref.c; Buckley and Voorhees 2004",
    trec_name="bpref",
    aliases=("Bpref", "BPref"),
    expected=_expected,
)
def binary_preference(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """How seldom a document judged non-relevant stands above a relevant one.

    bpref = (1/R) sum over relevant documents retrieved of 1 - min(n, R) / min(N, R), with R
    relevant and N judged non-relevant documents, n of the latter above; unjudged documents do
    not count. The denominator min(N, R) is trec_eval's; the paper has R.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant. Grades from 0 to below it are non-relevant;
        below 0 is unjudged.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 1, "d": 0}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}})
    >>> binary_preference(align(qrels, run)).tolist()       # (1 + (1 - 1/2)) / 2
    [0.75]
    """
    return _mean_preference(aligned, rel, _nonrelevant_above(aligned, rel))


@metric(
    "gm_bpref",
    title="the geometric mean of bpref",
    cite=("buckley2004",),
    direction="higher",
    bounds=(math.log(SMALLEST), 0),
    source="trec_eval 9.0.8, m_gm_bpref.c",
    summary="gm",
    empty=math.log(SMALLEST),
    missing=None,
    trec_name="gm_bpref",
)
def geometric_binary_preference(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Logarithm of ``bpref``, whose summary is the geometric mean over queries.

    gm_bpref = ln(max(bpref, 0.00001)); see ``gm_map``.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [ln(0.00001), 0]; the former for a query without relevant documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 4.0}})
    >>> geometric_binary_preference(align(qrels, run)).tolist()         # ln(0.5)
    [-0.6931471805599453]
    """
    return log_of(np.maximum(binary_preference(aligned, rel=rel), SMALLEST))
