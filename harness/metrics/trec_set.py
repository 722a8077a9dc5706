"""trec_eval's metrics on the retrieved set, whatever its order."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import Range, metric
from ..core.ragged import Floats
from .trec_shared import Rel, n_hits, share


@metric(
    "set_P",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_set_P.c",
    trec_name="set_P",
    aliases=("SetP",),
    expected="itself",
)
def set_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Share of the retrieved documents that are relevant.

    set_P = (relevant retrieved) / (retrieved): the list's own length is the denominator, unlike
    in ``P@k``.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 where nothing is retrieved.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}})
    >>> set_precision(align(qrels, run)).tolist()
    [0.25]
    """
    return share(n_hits(aligned, rel), aligned.n_retrieved)


@metric(
    "set_recall",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_set_recall.c",
    trec_name="set_recall",
    aliases=("SetR",),
    expected="itself",
)
def set_recall(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Share of the relevant documents that are retrieved.

    set_recall = (relevant retrieved) / (relevant): ``recall`` at the length of the list.

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
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}})
    >>> set_recall(align(qrels, run)).tolist()
    [0.5]
    """
    return share(n_hits(aligned, rel), aligned.n_relevant(rel))


@metric(
    "set_relative_P",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_set_rel_P.c",
    trec_name="set_relative_P",
    aliases=("SetRelP",),
    expected="itself",
)
def set_relative_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Precision of the retrieved set as a share of the best that its size allows.

    set_relative_P = (relevant retrieved) / min(retrieved, relevant).

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 where nothing is retrieved or nothing relevant.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0}})
    >>> set_relative_precision(align(qrels, run)).tolist()
    [1.0]
    """
    return share(n_hits(aligned, rel), np.minimum(aligned.n_retrieved, aligned.n_relevant(rel)))


@metric(
    "set_map",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_set_map.c",
    trec_name="set_map",
    aliases=("SetAP",),
    expected="itself",
)
def set_average_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Precision times recall of the retrieved set.

    set_map = (relevant retrieved)^2 / (retrieved x relevant): ``map`` where each relevant
    document had the precision of the whole set.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 where nothing is retrieved or nothing relevant.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}})
    >>> set_average_precision(align(qrels, run)).tolist()           # 1 / (4 * 2)
    [0.125]
    """
    hits = n_hits(aligned, rel)
    return share(hits * hits, aligned.n_retrieved * aligned.n_relevant(rel))


@metric(
    "set_F",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_set_F.c; van Rijsbergen 1979",
    trec_name="set_F",
    trec_parameter="beta",
    aliases=("SetF",),
    expected="itself",
)
def set_f(
    aligned: Aligned, *, beta: Annotated[float, Range(0, None)] = 1.0, rel: Rel = 1
) -> Floats:
    """Weighted harmonic mean of precision and recall of the retrieved set.

    set_F = (beta + 1) P R / (beta P + R). This is trec_eval's beta; the beta of the
    usual F_beta, where recall counts beta times as much, is its square root: F_2 is
    ``set_F(beta=4)``.

    Parameters
    ----------
    aligned : Aligned
    beta : float
        Importance of recall relative to precision, at least 0.
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 where no relevant document is retrieved.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}})
    >>> set_f(align(qrels, run)).round(4).tolist()          # 2 * 1/4 * 1/2 / (1/4 + 1/2)
    [0.3333]
    """
    p, r = set_precision(aligned, rel=rel), set_recall(aligned, rel=rel)
    return share((beta + 1.0) * p * r, beta * p + r)
