"""Metrics for LightGBM's training loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.metric import Metric
from ..core.policy import Policy
from .boosting import QueryValues


class Feval(QueryValues):
    """What :func:`feval` returns: ``feval=`` and, to keep values by query, a callback."""

    def __call__(self, *given: Any) -> list[tuple[str, float, bool]] | None:
        """Evaluate ``(scores, Dataset)``; or, as a callback, keep what this iteration gave."""
        if len(given) == 1:
            names = [str(metric) for metric in self.metrics]
            own = (one[0] for one in given[0].evaluation_result_list if one[1] in names)
            self.keep(list(dict.fromkeys(own)))
            return None
        scores, data = given
        found = self.evaluate(scores, data.get_label(), data.get_group())
        higher = {str(one): one.definition.direction == "higher" for one in self.metrics}
        return [(name, value, higher[name]) for name, value in found.items()]


def feval(*metrics: str | Metric, policy: Policy | Mapping[str, Any] | None = None) -> Feval:
    """Return metrics as ``lightgbm.train(..., feval=...)`` takes them.

    Parameters
    ----------
    *metrics : str or Metric
        Names in any spelling; early stopping follows the first.
    policy : Policy or mapping, optional
        Ties, missing and empty queries, depth.

    Returns
    -------
    Feval
        Give it as a callback too, and its `history` has an Evaluation of every iteration and
        evaluation set, with values by query: ``history[0]["valid"].values``.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> rows, labels = np.arange(12.0).reshape(6, 2), [0, 1, 2, 0, 0, 1]
    >>> data = lightgbm.Dataset(rows, labels, group=[3, 3])
    >>> metric = feval("ndcg(gain=exp)@10")
    >>> settings = {"objective": "lambdarank", "metric": "none", "verbose": -1}
    >>> _ = lightgbm.train(settings, data, 2, [data], ["seen"], metric, callbacks=[metric])
    >>> len(metric.history), metric.history[0]["seen"].values.shape
    (2, (2, 1))
    """
    return Feval(metrics, policy)
