"""Metrics of diversity: rankings that cover the subtopics of a query without repeating them."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import SHOWN, About, Range
from ..core.ragged import Array, Floats, Ints, Ragged
from .shared import Cutoff, log2_discount, share, share_metric

Alpha = Annotated[
    float,
    Range(0, 1),
    SHOWN,
    About("Share of its gain that a subtopic loses with each document about it."),
]
NDEVAL_CUTOFFS = (5, 10, 20)


@share_metric(
    "alpha_ndcg",
    title="α-nDCG",
    cite=("clarke2008",),
    source="Clarke et al., SIGIR 2008; ndeval of the TREC Web track",
    aliases=("alpha_nDCG",),
    cutoffs=NDEVAL_CUTOFFS,
    bounded=False,
)
def alpha_ndcg(aligned: Aligned, *, alpha: Alpha = 0.5, cutoff: Cutoff) -> Floats:
    """Novelty-biased nDCG: each further document about a subtopic gains less.

    alpha-DCG@k = sum over ranks i = 1..k of G_i / log2(i + 1), where G_i is the sum over the
    subtopics of document i of (1 - alpha)^c, and c counts the earlier documents about the subtopic.
    The metric is alpha-DCG divided by that of the ideal ranking, which has the document with the
    largest gain at each rank (the larger docno for ties), as in ndeval. Without subtopics in the
    qrels, the query is the only subtopic.

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"c": 1, "b": 1, "a": 1}})
    >>> qrels = replace(qrels, subtopics=np.array([0b10, 0b01, 0b01]))
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> alpha_ndcg(align(qrels, run), cutoff=2).round(4).tolist()  # (1 + .5 / 1.585) / 1.631
    [0.8066]
    """
    items = np.flatnonzero(aligned.rank <= cutoff)
    gains = _gains(aligned, alpha)[items] / log2_discount(aligned.rank[items])
    best = _ideal_gains(aligned, alpha, cutoff)
    ideal = (best / log2_discount(np.arange(1, best.shape[1] + 1))).cumsum(axis=1)
    return share(aligned.sum(gains, items), ideal[:, -1])


@share_metric(
    "err_ia",
    title="ERR-IA",
    cite=("chapelle2011",),
    source="Chapelle et al., Information Retrieval 14, 2011; ndeval of the TREC Web track",
    aliases=("ERR_IA",),
    cutoffs=NDEVAL_CUTOFFS,
    bounded=False,
)
def err_ia(aligned: Aligned, *, alpha: Alpha = 0.5, cutoff: Cutoff) -> Floats:
    """Intent-aware ERR: expected reciprocal rank, averaged over the subtopics of a query.

    ERR-IA@k = sum over ranks i = 1..k of G_i / i, with G_i as in ``alpha_ndcg``, divided by the
    same sum for a list of documents about all subtopics. ndeval does not divide ERR-IA@1. All
    subtopics with a relevant document have the same weight. Without subtopics in the qrels, the
    query is the only subtopic.

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"c": 1, "b": 1, "a": 1}})
    >>> qrels = replace(qrels, subtopics=np.array([0b10, 0b01, 0b01]))
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> err_ia(align(qrels, run), cutoff=2).tolist()  # (1 + .5 / 2) / (2 * (1 + .5 / 2))
    [0.5]
    """
    items = np.flatnonzero(aligned.rank <= cutoff)
    gained = aligned.sum(_gains(aligned, alpha)[items] / aligned.rank[items], items)
    judged = _judged(aligned)
    n_subtopics = np.zeros(aligned.n_queries)
    for bit in range(_bits(judged.values)):
        n_subtopics += judged.count((judged.values >> bit) & 1 > 0) > 0
    ranks = range(1, cutoff + 1)
    best = math.fsum((1 - alpha) ** (rank - 1) / rank for rank in ranks)
    return share(gained, n_subtopics * best)


def _bits(masks: Ints) -> int:
    """Number of subtopics in the masks."""
    return int(masks.max(initial=0)).bit_length()


def _judged(aligned: Aligned) -> Ragged:
    """Return the subtopics of every judgement, one mask each; one subtopic if there are none."""
    if aligned.judged_subtopics is not None:
        return aligned.judged_subtopics
    return Ragged(aligned.ideal.offsets, (aligned.ideal.values >= 1).astype(np.int64))


def _gains(aligned: Aligned, alpha: float) -> Floats:
    """Return the gain of each document in rank order, ``(n_items,)``."""

    def make() -> Floats:
        masks = aligned.subtopics
        if masks is None:
            masks = (aligned.grade >= 1).astype(np.int64)
        gains, begins = np.zeros(masks.size), aligned.offsets[aligned.row]
        for bit in range(_bits(masks)):
            has = (masks >> bit) & 1
            before = np.cumsum(has) - has
            gains += has * (1.0 - alpha) ** (before - before[begins])
        return gains

    return aligned.memo(("diversity gains", alpha), make)


def _ideal_gains(aligned: Aligned, alpha: float, cutoff: int) -> Floats:
    """Return the gain at each rank of the ideal ranking, ``(n_queries, n_ranks)``."""
    judged = _judged(aligned)
    positions = np.flatnonzero(judged.values)
    row, masks = judged.row[positions], judged.values[positions]
    about: Array = (masks[:, None] >> np.arange(_bits(masks))) & 1 > 0
    n_relevant = np.bincount(row, minlength=aligned.n_queries)
    n_ranks = min(cutoff, int(n_relevant.max(initial=0)))
    gains = np.zeros((aligned.n_queries, max(n_ranks, 1)))
    weights = np.ones((aligned.n_queries, about.shape[1]))
    left = np.ones(positions.size, dtype=bool)
    rows, starts = np.unique(row, return_index=True)
    for rank in range(n_ranks):
        score = np.where(left, (about * weights[row]).sum(axis=1), -1.0)
        best = np.full(aligned.n_queries, -1.0)
        best[rows] = np.maximum.reduceat(score, starts)
        candidates = np.flatnonzero(left & (score == best[row]))
        query, heads = np.unique(row[candidates], return_index=True)
        chosen = candidates[heads]
        gains[query, rank] = score[chosen]
        left[chosen] = False
        weights[query] *= np.where(about[chosen], 1.0 - alpha, 1.0)
    return gains
