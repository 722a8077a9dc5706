"""trec_eval's two measures that are no numbers: relstring and runid."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats
from ..core.settings import Range


@metric(
    "relstring",
    direction=None,
    bounds=(0, 0),
    source="trec_eval 9.0.8, m_relstring.c",
    empty=None,
    trec_name="relstring",
    trec_parameter="length",
    expected="itself",
)
def relstring(aligned: Aligned, *, length: Annotated[int, Range(0, None)] = 10) -> Floats:
    """Return 0: trec_eval prints the first grades as text here, and pytrec_eval gives 0.

    No 0 is printed: tables, CSV and JSON lines leave it out and say so. It exists so that the
    nickname ``all_trec`` means the same as there.

    Parameters
    ----------
    aligned : Aligned
    length : int
        How many grades trec_eval prints.

    Returns
    -------
    ndarray, shape (n_queries,)
        0.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels, run = Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": {"a": 3.0}})
    >>> relstring(align(qrels, run)).tolist()
    [0.0]
    """
    return np.zeros(aligned.n_queries)


@metric(
    "runid",
    direction=None,
    bounds=(0, 0),
    source="trec_eval 9.0.8, m_runid.c",
    empty=None,
    trec_name="runid",
    expected="itself",
)
def runid(aligned: Aligned) -> Floats:
    """Return 0: trec_eval prints the run's tag here, and pytrec_eval gives 0.

    No 0 is printed: tables, CSV and JSON lines leave it out and say so; trec_eval's three columns
    have the run's name. It exists so that the nicknames ``official`` and ``set`` mean the same as
    there.

    Parameters
    ----------
    aligned : Aligned

    Returns
    -------
    ndarray, shape (n_queries,)
        0.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels, run = Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": {"a": 3.0}})
    >>> runid(align(qrels, run)).tolist()
    [0.0]
    """
    return np.zeros(aligned.n_queries)
