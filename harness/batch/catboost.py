"""Metrics for CatBoost's training loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.metric import Metric
from ..core.policy import Policy
from ..errors import InputError, Problem
from .training import RowEvaluator, directed


class CatBoostMetric:
    """Return value of `metric`: ``eval_metric=`` of CatBoost's classes."""

    no_jit = True  # else CatBoost warns that numba cannot compile it

    def __init__(self, metric: Metric, pools: Sequence[Any], policy: Any) -> None:
        self._metric = metric
        self._by_labels: dict[bytes, RowEvaluator] = {}
        for pool in pools:
            qids, labels = pool.get_group_id_hash(), _bytes(pool.get_label())
            if qids is None or not len(qids):
                fix = "write Pool(rows, labels, group_id=qids)"
                raise InputError(Problem("pools", "expected a Pool with groups", fix=fix))
            rows = RowEvaluator(metric, qids, policy)
            if not np.array_equal(self._by_labels.setdefault(labels, rows).codes, rows.codes):
                message = "two pools have the same labels and other groups"
                raise InputError(Problem("pools", message, fix="give one of them"))

    def is_max_optimal(self) -> bool:
        """Whether higher is better."""
        return self._metric.definition.direction == "higher"

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Return the value and weight of the pool with these labels."""
        if (rows := self._by_labels.get(_bytes(target))) is None:
            message = f"expected the labels of a pool, got {len(target):,} others"
            fix = "write harness.catboost.metric(name, train, valid) with the pools of fit"
            raise InputError(Problem("harness.catboost.metric", message, fix=fix))
        return rows.summary(approxes[0], target), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value that CatBoost logs."""
        return error / weight


def _bytes(labels: Any) -> bytes:
    return np.asarray(labels, dtype=np.float32).tobytes()


def metric(
    name: str | Metric, *pools: Any, policy: Policy | Mapping[str, Any] | None = None
) -> CatBoostMetric:
    """Make a metric for ``CatBoostRanker(eval_metric=...)``.

    CatBoost does not pass groups to a metric, so give all pools of ``fit`` here. Early stopping
    follows the metric's direction.

    Parameters
    ----------
    name : str or Metric
        A metric with a better direction.
    *pools : catboost.Pool
        The training pool, and the pools of ``eval_set``.
    policy : Policy or mapping, optional
        Treatment of ties, missing and empty queries, and depth.

    Raises
    ------
    InputError
        If a pool has no groups, or ``fit`` gets a pool that is not in `pools`.

    Examples
    --------
    >>> import catboost, numpy as np
    >>> pool = catboost.Pool(np.arange(8.0)[:, None], [0, 1] * 4, group_id=[7, 7, 7, 2, 2, 1, 1, 1])
    >>> model = catboost.CatBoostRanker(5, eval_metric=metric("ndcg@10", pool), verbose=False,
    ...                                 allow_writing_files=False)
    >>> _ = model.fit(pool)
    >>> list(model.get_evals_result()["learn"])[-1]
    'ndcg@10'
    """
    parsed = directed(name)
    # CatBoost logs a metric under the name of its class.
    kind = type(str(parsed), (CatBoostMetric,), {"__doc__": CatBoostMetric.__doc__})
    created: CatBoostMetric = kind(parsed, pools, policy)
    return created
