"""trec_eval's experimental metrics on gains: G, binG, ndcg_rel, Rndcg.

A document's gain is its grade, 0 where that is negative or missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.aligned import Aligned
from ..core.discount import log2_discount, log2_of
from ..core.metric import metric
from ..core.ragged import Floats, Ints, Ragged, sum_by
from .trec_shared import Rel, running, share


@dataclass(frozen=True)
class Gains:
    """Discounted cumulative gains of the ranking and of the ideal order.

    Per query: ``n_ideal`` documents with a gain, ``dcg`` and ``ideal_dcg`` of the whole lists.
    ``items`` are the retrieved documents with a gain, and ``dcg_so_far`` is the gain up to
    each. ``ideal_so_far`` runs over the judgements of ``aligned.ideal``.
    """

    items: Ints
    dcg_so_far: Floats
    dcg: Floats
    n_ideal: Ints
    ideal_so_far: Floats
    ideal_dcg: Floats


def _gains(aligned: Aligned) -> Gains:
    def make() -> Gains:
        items, ideal = aligned.relevant(1), aligned.ideal
        gain = aligned.grade[items] / log2_discount(aligned.rank[items])
        ideal_gain = np.maximum(ideal.values, 0) / log2_discount(ideal.rank)
        return Gains(
            items,
            running(np.add, aligned.row[items], gain),
            aligned.sum(gain, items),
            aligned.n_relevant(1),
            running(np.add, ideal.row, ideal_gain),
            ideal.sum(ideal_gain),
        )

    return aligned.memo("gains", make)


@metric(
    "G",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_G.c",
    trec_name="G",
)
def normalised_gain(aligned: Aligned) -> Floats:
    """Gain of each document, discounted by what was missed above it.

    G = sum over documents of gain / log2(2 + cost - gains) / (sum of all gains), where *gains*
    is the sum of gains up to and including the document, and *cost* the largest it could have
    been, each rank counting at least 1. The ideal order has 1.

    Parameters
    ----------
    aligned : Aligned

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2}})
    >>> run = Run.from_dict({"q": {"x": 2.0, "a": 1.0}})
    >>> normalised_gain(align(qrels, run)).round(4).tolist()    # 2 / log2(2 + 2 + 1 - 2) / 2
    [0.6309]
    """
    items, ideal = aligned.relevant(1), aligned.ideal
    row, rank, gain = aligned.row[items], aligned.rank[items], aligned.grade[items]
    so_far = Ragged(aligned.offsets, np.maximum(aligned.grade, 0)).cumsum()[items]
    above_one = Ragged(ideal.offsets, np.maximum(ideal.values - 1, 0)).cumsum()
    cost = rank + above_one[ideal.offsets[row] + np.minimum(rank, ideal.lengths[row]) - 1]
    total = aligned.sum(gain / log2_of(2 + cost - so_far), items)
    return share(total, ideal.sum(np.maximum(ideal.values, 0)))


@metric(
    "binG",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_binG.c",
    trec_name="binG",
)
def binary_gain(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Relevant documents, each discounted by the others that stand above it.

    binG = (1/R) sum over relevant documents retrieved of 1 / log2(2 + documents above that
    are not relevant), with R relevant documents.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2}})
    >>> run = Run.from_dict({"q": {"x": 2.0, "a": 1.0}})
    >>> binary_gain(align(qrels, run)).round(4).tolist()        # 1 / log2(3)
    [0.6309]
    """
    items = aligned.relevant(rel)
    others_above = aligned.rank[items] - aligned.hits(rel)
    return share(aligned.sum(1.0 / log2_of(2 + others_above), items), aligned.n_relevant(rel))


@metric(
    "ndcg_rel",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_ndcg_rel.c",
    trec_name="ndcg_rel",
)
def ndcg_at_relevant(aligned: Aligned) -> Floats:
    """Mean over the documents with a gain of nDCG at their ranks.

    A document with a gain that is not retrieved has the DCG of the whole list divided by the
    ideal DCG of all judgements. Gains are linear. Unlike ``ndcg``, it does not depend on one
    cutoff.

    Parameters
    ----------
    aligned : Aligned

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1}})
    >>> run = Run.from_dict({"q": {"x": 2.0, "a": 1.0}})
    >>> ndcg_at_relevant(align(qrels, run)).round(4).tolist()   # (1 / log2(3)) / 1
    [0.6309]
    """
    gains, ideal = _gains(aligned), aligned.ideal
    row = aligned.row[gains.items]
    last = np.minimum(aligned.rank[gains.items], gains.n_ideal[row]) - 1
    found = aligned.sum(
        gains.dcg_so_far / gains.ideal_so_far[ideal.offsets[row] + last], gains.items
    )
    n_missed = gains.n_ideal - aligned.count(gains.items)
    return share(found + share(n_missed * gains.dcg, gains.ideal_dcg), gains.n_ideal)


@metric(
    "Rndcg",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_Rndcg.c",
    trec_name="Rndcg",
)
def ndcg_at_levels(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Mean of nDCG at the ranks where the ideal order goes from one grade to the next.

    With 5 documents of grade 2 and 3 of grade 1 these are ranks 5 and 8. The whole list is one
    more point where it is longer than the ideal order by at least two documents: at one more
    document trec_eval leaves the point out. Gains are linear.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        A query without a document of this grade has value 0; it changes nothing else.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1}})
    >>> run = Run.from_dict({"q": {"x": 3.0, "a": 2.0, "y": 1.0}})
    >>> ndcg_at_levels(align(qrels, run)).round(4).tolist()     # (0 + (1 / log2(3)) / 1) / 2
    [0.3155]
    """
    gains, ideal = _gains(aligned), aligned.ideal
    following = np.append(ideal.values[1:], 0)
    ends = ideal.rank == ideal.lengths[ideal.row]
    points = np.flatnonzero((ideal.values > 0) & (ends | (following != ideal.values)))
    row = ideal.row[points]
    dcg = _dcg_at(aligned, gains, row, ideal.rank[points])
    total = sum_by(row, dcg / gains.ideal_so_far[points], aligned.n_queries)
    count = np.bincount(row, minlength=aligned.n_queries)
    longer = aligned.n_retrieved > gains.n_ideal + 1
    total += np.where(longer, share(gains.dcg, gains.ideal_dcg), 0.0)
    values = share(total, count + longer)
    values[aligned.n_relevant(rel) == 0] = 0.0
    return values


def _dcg_at(aligned: Aligned, gains: Gains, row: Ints, rank: Ints) -> Floats:
    """Return the DCG of the ranking of query `row` up to `rank`, for each pair of them."""
    items = gains.items
    # pairs (query, rank) as one rising number, so that one search finds all
    span = int(max(aligned.rank.max(initial=0), rank.max(initial=0))) + 1
    at = np.searchsorted(
        aligned.row[items] * span + aligned.rank[items], row * span + rank, "right"
    )
    first = np.searchsorted(aligned.row[items], row)
    return np.where(at > first, np.append(gains.dcg_so_far, 0.0)[at - 1], 0.0)
