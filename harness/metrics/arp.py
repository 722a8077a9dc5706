"""Average relevant position."""

from __future__ import annotations

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats


@metric(
    "arp",
    direction="lower",
    bounds=(1, np.inf),
    source="Joachims, Swaminathan and Schnabel, WSDM 2017; PyTorchLTR",
    unit="ranks",
    empty=np.nan,
    missing=np.nan,
    aliases=("ARP",),
)
def arp(aligned: Aligned) -> Floats:
    """Average rank of the relevant documents, weighted by their grades.

    ARP = sum of g_i * i / sum of g_i over the retrieved documents, i the rank and g_i the grade
    there. Lower is better. Documents that were not retrieved have no rank and do not count, so
    it compares rankings of the same documents. PyTorchLTR gives 0, which is below the best
    value there can be, to a list without relevant documents; here that is NaN.

    Parameters
    ----------
    aligned : Aligned

    Returns
    -------
    ndarray, shape (n_queries,)
        In ranks, at least 1; NaN where nothing relevant is retrieved.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 3}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> arp(align(qrels, run)).tolist()     # (1 * 1 + 3 * 3) / (1 + 3)
    [2.5]
    """
    items = aligned.relevant(1)
    grades = aligned.grade[items]
    total = aligned.sum(grades, items)
    weighted = aligned.sum(grades * aligned.rank[items], items)
    values: Floats = np.divide(weighted, total, out=np.full(total.size, np.nan), where=total > 0)
    return values
