"""Metrics for XGBoost's training loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.metric import Metric
from ..core.policy import Policy
from ..errors import HarnessError, Problem
from .collector import QueryValues

try:
    from xgboost.callback import TrainingCallback
except ImportError:
    _WHAT = "expected xgboost to be installed, got no module of that name"
    raise HarnessError(Problem("harness.xgboost", _WHAT, fix="run: pip install xgboost")) from None


class XGBoostFeval(QueryValues, TrainingCallback):  # type: ignore[misc,unused-ignore]
    """What :func:`feval` returns: ``custom_metric=`` and, to keep values by query, a callback."""

    def __call__(self, scores: Any, data: Any) -> list[tuple[str, float]]:
        """Evaluate the scores of a DMatrix."""
        group = np.diff(data.get_uint_info("group_ptr"))
        return list(self.evaluate(scores, data.get_label(), group).items())

    def after_iteration(self, model: Any, epoch: int, evals_log: Mapping[str, Any]) -> bool:
        """Keep what this iteration gave; training goes on."""
        self.keep(list(evals_log))
        return False


def feval(*metrics: str | Metric, policy: Policy | Mapping[str, Any] | None = None) -> XGBoostFeval:
    """Return metrics as ``xgboost.train(..., custom_metric=...)`` takes them.

    For early stopping give ``EarlyStopping(..., maximize=True)``, since XGBoost does not know
    which way is better. As :func:`harness.lightgbm.feval` otherwise.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> rows, labels = np.arange(12.0).reshape(6, 2), [0, 1, 2, 0, 0, 1]
    >>> data = xgboost.DMatrix(rows, labels, qid=[2, 2, 2, 10, 10, 10])
    >>> metric = feval("ndcg(gain=exp)@10")
    >>> settings = {"objective": "rank:ndcg", "disable_default_eval_metric": 1}
    >>> evals = {"evals": [(data, "seen")], "verbose_eval": False, "custom_metric": metric}
    >>> _ = xgboost.train(settings, data, 2, callbacks=[metric], **evals)
    >>> len(metric.history), metric.history[0]["seen"].values.shape
    (2, (2, 1))
    """
    return XGBoostFeval(metrics, policy)
