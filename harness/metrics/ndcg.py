"""Discounted cumulative gain, plain and normalised, with the gains and discounts of many tools."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import Range, metric
from ..core.ragged import Floats
from .dcg_sums import dcg_of_gains, ideal_dcg, ideal_dcg_of_gains, list_dcg, share_of_ideal
from .gains import Discount, Floor, Gain, Negative, Scale
from .short_lists import Short, without_short_lists
from .tied_dcg import expected_dcg, expected_ndcg
from .trec_gain_table import Gains

Cutoff = Annotated[int, Range(1, None)]


@metric(
    "dcg",
    direction="higher",
    bounds=(0, np.inf),
    source="Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; Burges et al., ICML 2005 (gain=exp)",
    unit="gain",
    aliases=("DCG",),
    expected=expected_dcg,
    unbounded_with=("gain=letor", "gain=mslr"),
)
def dcg(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    negative: Negative = "zero",
    floor: Floor = 0.0,
    short: Short = "cut",
    cutoff: Cutoff | None = None,
) -> Floats:
    """Discounted cumulative gain: gains of the ranked documents, each by log2(rank + 1).

    DCG@k = sum over ranks i = 1..k of gain(g_i) / log2(i + 1). Unjudged documents and grades of
    0 or below gain nothing. Unlike ``ndcg`` it depends on how much there is to be found.

    Parameters
    ----------
    aligned : Aligned
    gain, discount, negative, floor, short
        As in ``ndcg``.
    cutoff : int, optional
        k; the whole list where left out.

    Returns
    -------
    ndarray, shape (n_queries,)
        At least 0 but for ``negative=value``, in units of gain; 0 where nothing relevant is
        retrieved.

    Raises
    ------
    InputError
        Where a grade is above 1000 and the gain is exponential, or a list is short and that is
        an error.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> dcg(align(qrels, run)).tolist(), dcg(align(qrels, run), gain="exp").tolist()
    ([2.5], [3.5])
    """
    values = list_dcg(aligned, Scale(gain, discount, negative, floor), cutoff)
    return without_short_lists(aligned, values, cutoff, short)


@metric(
    "ndcg",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_ndcg.c and m_ndcg_cut.c; Järvelin and Kekäläinen, ACM TOIS 20(4), "
    "2002; Burges et al., ICML 2005 (gain=exp)",
    trec_name="ndcg",
    aliases=("nDCG", "NDCG"),
    expected=expected_ndcg,
    unbounded_with=("gains", "gain=letor", "gain=mslr"),
)
def ndcg(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    gains: Gains = (),
    short: Short = "cut",
    ideal: Literal["cut", "full"] = "cut",
    discount: Discount = "log2",
    negative: Negative = "zero",
    floor: Floor = 0.0,
    spill: bool = False,
    cutoff: Cutoff | None = None,
) -> Floats:
    """Discounted cumulative gain as a share of the ideal order's.

    nDCG@k = DCG@k / ideal DCG@k, with DCG@k = sum over ranks i = 1..k of gain(g_i) / log2(i + 1)
    and the ideal taken over all judged documents in descending order of grade. With its default
    parameters it is trec_eval's ``ndcg`` and ``ndcg_cut_k`` to the last bit. Grades of 0 or
    below gain nothing.

    Parameters
    ----------
    aligned : Aligned
    gain : {"linear", "exp", "letor", "mslr", "exp-int32"}
        The grade itself; 2^grade - 1 (usual in learning to rank); 0, 1, 3 for grades 0, 1, 2
        and nothing beyond (the scripts of LETOR 3.0 and 4.0); 0, 1, 3, 7, 15 and nothing beyond
        (the script of MSLR); 2^grade - 1 in 32-bit arithmetic, in which a grade of 40 gains
        2^8 - 1 (RankLib).
    gains : tuple of (int, float)
        Gains of single grades, written ``ndcg(gains=1:3;2:9)`` (trec_eval's ``ndcg.1=3,2=9``);
        `gain` holds for all others. A grade of 0 can be given one, and gains can be negative.
    short : {"cut", "nan", "zero", "error"}
        What becomes of a list with fewer than k retrieved documents: ``cut`` computes with what
        is there, ``nan`` leaves the query out, ``zero`` gives it 0, ``error`` stops.
    ideal : {"cut", "full"}
        Whether the ideal DCG is cut at k too. With ``full`` a short cutoff cannot reach 1.
    discount : {"log2", "jarvelin", "position"}
        What a gain at rank i is divided by: log2(i + 1); 1 at ranks 1 and 2, then log2(i); or i.
    negative : {"zero", "value"}
        Whether grades below 0 gain nothing, as unjudged documents do, or what ``linear`` and
        ``exp`` give for them: -1 or 2^-1 - 1 = -0.5, in the ideal order too. Not with `gains`.
    floor : float
        Grades below it gain nothing; matters for grades that are fractions. Not with `gains`.
    spill : bool
        Under ``ties=average``, whether a tied group that reaches past k counts whole, so that
        values can exceed 1 (QuickRank's TNDCG). Not with `gains`.
    cutoff : int, optional
        k; the whole list where left out.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1], but for ``negative=value`` and ``gain=exp-int32``; 0 for a query without
        relevant documents.

    Raises
    ------
    InputError
        Where a grade is above 1000 and the gain is exponential, a list is short and that is an
        error, or `gains` are given and grades are fractions.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 0, "c": 3}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> ndcg(align(qrels, run)).tolist(), ndcg(align(qrels, run), cutoff=2).tolist()
    ([0.5], [0.0])
    """
    ideal_cutoff = cutoff if ideal == "cut" else None
    scale = Scale(gain, discount, negative, floor)
    if gains:
        actual = dcg_of_gains(aligned, gains, scale, cutoff)
        best = ideal_dcg_of_gains(aligned, gains, scale, ideal_cutoff)
    else:
        actual = list_dcg(aligned, scale, cutoff)
        best = ideal_dcg(aligned, scale, ideal_cutoff)
    return without_short_lists(aligned, share_of_ideal(actual, best), cutoff, short)
