"""trec_eval's utility of the retrieved set."""

from __future__ import annotations

import math
from typing import Annotated

from ..core.aligned import Aligned
from ..core.metric import Range, metric
from ..core.ragged import Floats
from .trec_shared import Rel, n_hits


@metric(
    "utility",
    direction="higher",
    bounds=(-math.inf, math.inf),
    source="trec_eval 9.0.8, m_utility.c",
    unit="utility",
    empty=None,
    trec_name="utility",
    trec_parameter="coefficients",
    expected="itself",
)
def utility(
    aligned: Aligned,
    *,
    coefficients: tuple[float, float, float, float] = (1.0, -1.0, 0.0, 0.0),
    documents: Annotated[int, Range(0, None)] = 0,
    rel: Rel = 1,
) -> Floats:
    """Weighted sum of the four cells of the table retrieved x relevant.

    utility = c1 (relevant retrieved) + c2 (others retrieved) + c3 (relevant not retrieved) +
    c4 (others not retrieved). The last cell needs the size of the collection (trec_eval -N);
    it is negative where that is not given.

    Parameters
    ----------
    aligned : Aligned
    coefficients : tuple of four floats
        c1 to c4, written ``utility(coefficients=1:-1:0:0)``.
    documents : int
        Documents in the collection.
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        Any number. A query that the run does not answer counts 0, as with ``trec_eval -c``.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0}})
    >>> utility(align(qrels, run), coefficients=(2.0, -1.0, -0.5, 0.0)).tolist()    # 2 - 2 - 0.5
    [-0.5]
    """
    found, retrieved, relevant = n_hits(aligned, rel), aligned.n_retrieved, aligned.n_relevant(rel)
    cells = (
        found,
        retrieved - found,
        relevant - found,
        documents + found - retrieved - relevant,
    )
    c1, c2, c3, c4 = (c * cell for c, cell in zip(coefficients, cells, strict=True))
    values: Floats = c1 + c2 + c3 + c4
    return values
