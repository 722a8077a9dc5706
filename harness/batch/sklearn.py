"""Metrics for scikit-learn's cross-validation and searches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

from ..core.metric import Metric
from ..core.policy import Policy
from ..errors import InputError, Problem, not_installed
from .training import RowEvaluator, directed


def _value(labels: Any, scores: Any, *, metric: Metric, policy: Any, groups: Any = None) -> float:
    """Return the metric of rows; `groups` has the qid of each."""
    if groups is None:
        message = "expected the qid of each row, got no groups"
        fix = "write params={'groups': qids}, or groups=qids in the scorer's call"
        raise InputError(Problem("harness.sklearn.scorer", message, fix=fix))
    return RowEvaluator(metric, groups, policy).summary(scores, labels)


def scorer(metric: str | Metric, *, policy: Policy | Mapping[str, Any] | None = None) -> Any:
    """Make a scorer for ``cross_validate(scoring=...)`` and ``GridSearchCV``.

    It needs ``groups``, the qid of each row, as ``GroupKFold`` does. scikit-learn passes them on if
    metadata routing is enabled.

    Parameters
    ----------
    metric : str or Metric
        A metric with a better direction; if lower is better, the value is negated.
    policy : Policy or mapping, optional
        Treatment of ties, missing and empty queries, and depth.

    Raises
    ------
    InputError
        If metadata routing is not enabled.

    Examples
    --------
    >>> import numpy as np, sklearn
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import GroupKFold, cross_validate
    >>> rows, labels, qids = np.arange(8.0)[:, None], [0, 1] * 4, [7, 7, 2, 2, 10, 10, 1, 1]
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     found = cross_validate(LinearRegression(), rows, labels, cv=GroupKFold(2),
    ...                            scoring=scorer("recip_rank"), params={"groups": qids})
    >>> found["test_score"].tolist()
    [1.0, 1.0]
    """
    parsed = directed(metric)
    try:
        package, metrics = import_module("sklearn"), import_module("sklearn.metrics")
    except ImportError:
        raise not_installed("harness.sklearn", "scikit-learn") from None
    if not package.get_config()["enable_metadata_routing"]:
        message = "scikit-learn passes groups to a scorer only with metadata routing"
        fix = "call sklearn.set_config(enable_metadata_routing=True) first"
        raise InputError(Problem("harness.sklearn.scorer", message, fix=fix))
    value = partial(_value, metric=parsed, policy=policy)
    is_higher = parsed.definition.direction == "higher"
    return metrics.make_scorer(value, greater_is_better=is_higher).set_score_request(groups=True)
