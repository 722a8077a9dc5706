"""Sums over the first ranks that no rank discounts: hits@k and nCG@k."""

from __future__ import annotations

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Array, Floats, Ints, sum_by
from .gains import Gain, Scale
from .shared import Cutoff, Rel, hits_at, share
from .tied import expected_hits_at, mean_discounted, within


@metric(
    "hits",
    title="hits",
    direction="higher",
    bounds=(0, np.inf),
    source="ranx 0.3.21, metrics/hits.py",
    unit="documents",
    cutoffs=(1, 5, 10),
    expected="average",
)
def hits(aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False) -> Floats:
    """Relevant documents among the first k.

    hits@k = k P@k. Whether there is any ("hit rate", which some papers call hits@k) is
    ``success``; the share of all relevant documents is ``recall``.

    Returns
    -------
    ndarray, shape (n_queries,)
        From 0 to k; 0 for a query without relevant documents.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> hits(align(qrels, run), cutoff=2).tolist(), hits(align(qrels, run), cutoff=3).tolist()
    ([1.0], [2.0])
    """
    counted = expected_hits_at if average else hits_at
    return counted(aligned, cutoff, rel).astype(np.float64)


@metric(
    "ncg",
    title="nCG",
    cite=("jarvelin2002",),
    direction="higher",
    bounds=(0, 1),
    source="Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; TREC Deep Learning track (NCG@100)",
    aliases=("NCG", "nCG"),
    cutoffs=(100,),
    expected="average",
    unbounded_with=("gain=letor", "gain=mslr"),
)
def ncg(
    aligned: Aligned, *, gain: Gain = "linear", cutoff: Cutoff, average: bool = False
) -> Floats:
    """Cumulated gain of the first k, divided by that of the ideal ranking.

    nCG@k = sum of gain(g_i) over ranks i = 1..k / the same sum of the ideal ranking: nDCG
    without a discount, for a first stage whose order a reranker changes.

    Parameters
    ----------
    gain
        As in ``ndcg``.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> ncg(align(qrels, run), cutoff=1).tolist(), ncg(align(qrels, run), cutoff=3).tolist()
    ([0.5], [1.0])
    """
    scale = Scale(gain)
    items = scale.items(aligned)[0].values
    if average:
        items = within(aligned, items, cutoff)
        gains = scale.gains(aligned.grade[items])
        gains = mean_discounted(aligned, items, gains, _undiscounted, cutoff)
    else:
        items = items[aligned.rank[items] <= cutoff]
        gains = scale.gains(aligned.grade[items])
    row, at, _ = scale.ideal(aligned, cutoff)
    best = sum_by(row, scale.gains(aligned.ideal.values[at]), aligned.n_queries)
    return share(aligned.sum(gains, items), best)


def _undiscounted(rank: Ints) -> Array:
    return np.ones(rank.shape)
