"""Metrics for LightGBM's training loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.metric import Metric
from ..core.policy import Policy
from .training import QueryValues


class LightGBMFeval(QueryValues):
    """Return value of `feval`: a metric, and a callback that keeps values by query."""

    def __deepcopy__(self, memo: Any) -> LightGBMFeval:
        """Return the metric itself: LGBMRanker copies metrics, but not callbacks."""
        return self

    def __call__(
        self, first: Any, second: Any = None, weight: Any = None, group: Any = None
    ) -> list[tuple[str, float, bool]] | None:
        """Evaluate ``(scores, Dataset)``, or ``(labels, scores, weight, group)`` in LGBMRanker.

        As a callback, store the values of this iteration. LGBMRanker counts the parameters.
        """
        if second is None:
            if first.iteration == first.begin_iteration:
                self.check_new()
            names = [str(metric) for metric in self.metrics]
            reported = (entry[0] for entry in first.evaluation_result_list if entry[1] in names)
            self.keep(list(dict.fromkeys(reported)))
            return None
        if hasattr(second, "get_label"):
            values = self.evaluate(first, second.get_label(), second.get_group())
        else:
            values = self.evaluate(second, first, group)
        higher = {str(metric): metric.definition.direction == "higher" for metric in self.metrics}
        return [(name, value, higher[name]) for name, value in values.items()]


def feval(
    *metrics: str | Metric, policy: Policy | Mapping[str, Any] | None = None
) -> LightGBMFeval:
    """Make metrics for ``lightgbm.train(feval=...)`` and ``LGBMRanker.fit(eval_metric=...)``.

    Write ``metric="none"``, or LightGBM adds its own nDCG to these metrics. For early stopping on
    the first metric, pass ``lightgbm.early_stopping(rounds, first_metric_only=True)`` in
    ``callbacks=``. Without ``first_metric_only``, training stops as soon as any metric stalls.

    Parameters
    ----------
    *metrics : str or Metric
        Names in any spelling.
    policy : Policy or mapping, optional
        Treatment of ties, missing and empty queries, and depth.

    Returns
    -------
    LightGBMFeval
        The metrics. Pass it as a callback too to keep values by query: ``history[0]["valid"]`` is
        the Evaluation of the set ``valid`` in the first iteration.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> rows, labels = np.arange(12.0).reshape(6, 2), [0, 1, 2, 0, 0, 1]
    >>> data = lightgbm.Dataset(rows, labels, group=[3, 3])
    >>> metric = feval("ndcg(gain=exp)@10")
    >>> settings = {"objective": "lambdarank", "metric": "none", "verbose": -1}
    >>> _ = lightgbm.train(
    ...     settings, data, num_boost_round=2, valid_sets=[data], valid_names=["seen"],
    ...     feval=metric, callbacks=[metric],
    ... )
    >>> len(metric.history), metric.history[0]["seen"].values.shape
    (2, (2, 1))
    """
    return LightGBMFeval(metrics, policy)
