"""trec_eval's interpolated precision: iprec_at_recall and its average, 11pt_avg."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats, Ints
from ..core.settings import Range
from .trec_shared import LARGEST_SHARE, LEVELS, Rel, precision_at_hits, running

Level = Annotated[float, Range(0, LARGEST_SHARE)]


def best_from(aligned: Aligned, rel: int) -> Floats:
    """Return, for each relevant document retrieved, the largest precision from it downwards."""

    def make() -> Floats:
        row = aligned.row[aligned.relevant(rel)]
        backwards = running(np.maximum, row[::-1], precision_at_hits(aligned, rel)[::-1])
        return backwards[::-1]

    return aligned.memo(("best_from", rel), make)


def precision_from(aligned: Aligned, wanted: Ints, rel: int) -> Floats:
    """Return the largest precision from relevant document number `wanted` downwards.

    ``(n_queries,)``: 0 where it is not retrieved. Numbers below 1 ask for the largest precision
    anywhere, which trec_eval takes as 0/0 where the run answers with an empty list: NaN.
    """
    items = aligned.relevant(rel)
    at = aligned.hits(rel) == np.maximum(wanted, 1)[aligned.row[items]]
    values = aligned.sum(best_from(aligned, rel)[at], items[at])
    values[aligned.answered & (aligned.n_retrieved == 0) & (wanted <= 0)] = np.nan
    return values


@metric(
    "iprec_at_recall",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_iprec_at_recall.c",
    trec_name="iprec_at_recall",
    aliases=("IPrec",),
    cutoffs=LEVELS,
)
def interpolated_precision(aligned: Aligned, *, cutoff: Level, rel: Rel = 1) -> Floats:
    """Largest precision at any rank where recall has reached a level.

    With R relevant documents, the level x is reached at relevant document number
    floor(x R + 0.9): not rounded up, so x R = 3.05 asks for 3 documents. The value is the
    largest precision from that document's rank downwards, 0 where too few are retrieved.
    ``iprec_at_recall@0`` is the largest precision anywhere.

    Parameters
    ----------
    aligned : Aligned
    cutoff : float
        x, a level of recall.
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents. Where the run answers a query with
        an empty list and no relevant document is asked for, trec_eval divides 0 by 0, and the
        value is NaN.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 2}})
    >>> run = Run.from_dict({"q": {"x": 4.0, "a": 3.0, "c": 2.0}})      # precision 1/2, 2/3
    >>> interpolated_precision(align(qrels, run), cutoff=0.1).round(4).tolist()
    [0.6667]
    """
    wanted = (cutoff * aligned.n_relevant(rel) + 0.9).astype(np.int64)
    return precision_from(aligned, wanted, rel)


@metric(
    "11pt_avg",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_11pt_avg.c",
    trec_name="11pt_avg",
    trec_parameter="levels",
)
def eleven_point_average(
    aligned: Aligned,
    *,
    levels: Annotated[tuple[float, ...], Range(0, LARGEST_SHARE)] = LEVELS,
    rel: Rel = 1,
) -> Floats:
    """Mean of the interpolated precision at several levels of recall.

    The levels are 0, 0.1, ..., 1 by default; others are written ``11pt_avg(levels=0.2:0.5:0.8)``,
    which used to be called the three-point average. Their order does not matter (trec_eval
    wants them rising).

    Parameters
    ----------
    aligned : Aligned
    levels : tuple of float
        Levels of recall.
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents, NaN where
        ``iprec_at_recall`` is NaN at one of the levels.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0}})
    >>> eleven_point_average(align(qrels, run), levels=(0.5, 1.0)).tolist()     # (1 + 0) / 2
    [0.5]
    """
    total = np.zeros(aligned.n_queries)
    for level in sorted(levels, reverse=True):  # trec_eval adds from the highest level down
        total += interpolated_precision(aligned, cutoff=level, rel=rel)
    return total / len(levels)
