"""Whether runs were measured on the same queries, without which none of them is the best."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from .metric import Metric
from .ragged import Floats

UNLIKE = "not over the same queries, so none is the best"
"""What is said of a metric whose best value is not marked for that reason."""


def over_same_queries(metric: Metric, runs: Iterable[tuple[pa.Array, Floats]]) -> bool:
    """Whether the summaries of several runs are over the same queries.

    Undefined values (NaN) are over no query, but where the metric's setting `undefined` counts
    them. A run without any value takes no part.

    Parameters
    ----------
    metric : Metric
    runs : iterable of (pyarrow string array, ndarray), shapes (n_queries,)
        The queries of each run, and the metric's values for them.

    Examples
    --------
    >>> from harness.core.names import parse
    >>> metric, qids, nan = parse("P@5")[0], pa.array(["q1", "q2"]), np.nan
    >>> over_same_queries(metric, [(qids, np.array([nan, 1.0])), (qids, np.array([nan, 0.5]))])
    True
    >>> over_same_queries(metric, [(qids, np.array([nan, 1.0])), (qids, np.array([0.2, 0.5]))])
    False
    """
    some = [(qids, np.isnan(values)) for qids, values in runs]
    some = [(qids, undefined) for qids, undefined in some if not undefined.all()]
    if not some:
        return True
    first, lacking = some[0]
    is_counted = metric.settings.undefined not in (None, "skip")
    return all(
        qids.equals(first) and (is_counted or np.array_equal(undefined, lacking))
        for qids, undefined in some[1:]
    )
