"""Metrics for XGBoost's training loop."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from ..core.arguments import TEXT, check_arguments, whole_from
from ..core.metric import Metric
from ..core.policy import Policy
from ..errors import InputError, Problem, not_installed, warn
from .training import QueryValues, RowEvaluator, directed


class XGBoostFeval(QueryValues):
    """Return value of `feval`: a metric, and a callback that keeps values by query."""

    __name__ = "feval"  # which XGBRanker asks for

    def __call__(self, scores: Any, data: Any) -> list[tuple[str, float]]:
        """Evaluate the scores of a DMatrix."""
        if not hasattr(data, "get_uint_info"):
            message = "expected scores and a DMatrix, got rows of one query, as XGBRanker gives"
            fix = "give XGBRanker eval_metric=harness.xgboost.scorer(metric, qid=...)"
            raise InputError(Problem("harness.xgboost.feval", message, fix=fix))
        group = np.diff(data.get_uint_info("group_ptr"))
        return list(self.evaluate(scores, data.get_label(), group).items())

    def before_training(self, model: Any) -> Any:
        """Raise InputError before a second training, whose values would mix with the first's."""
        self.check_new()
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Mapping[str, Any]) -> bool:
        """Store the values of this iteration, and check early stopping; training continues."""
        self.keep(list(evals_log))
        self._check_stopping(model, evals_log)
        return False

    def _check_stopping(self, model: Any, evals_log: Mapping[str, Any]) -> None:
        """Warn if early stopping keeps a worse model: XGBoost guesses the direction by name.

        Other callbacks are not visible from here, but the best iteration so far is. A later value
        may be better by less than the `min_delta` that a user gave, so 1% is allowed for that.
        """
        best = getattr(model, "attr", lambda name: None)("best_iteration")
        if best is None or self._warned:
            return
        score = float(model.attr("best_score"))
        for metric, logged in self._logged(evals_log):
            worth, threshold = metric.sign * np.array(logged), metric.sign * score
            is_followed = len(logged) > int(best) and logged[int(best)] == score
            if is_followed and (worth[:-1] > threshold + 0.01 * abs(threshold)).any():
                self._warned = True
                way = "highest" if metric.sign > 0 else "lowest"
                message = f"early stopping keeps a worse model: the {way} {metric} is best"
                fix = f"callbacks=[..., harness.xgboost.early_stopping('{metric}', rounds)]"
                warn(str(Problem("harness.xgboost.feval", message, fix=fix)))
                return

    def _logged(self, evals_log: Mapping[str, Any]) -> Iterator[tuple[Metric, list[float]]]:
        """Yield each metric with a direction and its values of each evaluation set."""
        for values in evals_log.values():
            for metric in self.metrics:
                logged = values.get(str(metric), [math.nan])
                if metric.definition.direction is not None and isinstance(logged[-1], float):
                    yield metric, logged


@functools.cache
def _class_of(name: str) -> Any:
    """Return a class of xgboost.callback; HarnessError if XGBoost is not installed."""
    try:
        return getattr(import_module("xgboost.callback"), name)
    except ImportError:
        raise not_installed("harness.xgboost", "xgboost") from None


@functools.cache
def _callback_class() -> type[XGBoostFeval]:
    """Return the metric as a callback of XGBoost's class."""
    bases = (XGBoostFeval, _class_of("TrainingCallback"))
    return type("XGBoostFeval", bases, {"__doc__": XGBoostFeval.__doc__})


def feval(*metrics: str | Metric, policy: Policy | Mapping[str, Any] | None = None) -> XGBoostFeval:
    """Make metrics for ``xgboost.train(..., custom_metric=...)``.

    For early stopping, pass `early_stopping` as a callback: XGBoost's own does not know the
    direction of these metrics. For the arguments and `history` see `harness.lightgbm.feval`.

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
    return _callback_class()(metrics, policy)


def early_stopping(
    metric: str | Metric, rounds: int, *, data_name: str | None = None, min_delta: float = 0.0
) -> Any:
    """Make a callback that stops XGBoost's training when a metric no longer improves.

    It follows the metric's direction. XGBoost's ``early_stopping_rounds`` guesses the direction
    from the name, and minimises ``recip_rank``, ``P``, ``err`` and others.

    Parameters
    ----------
    metric : str or Metric
        One of the metrics of `feval`.
    rounds : int
        Number of iterations without an improvement before training stops.
    data_name : str, optional
        Evaluation set that decides; the last one by default.
    min_delta : float
        Smallest improvement that counts.

    Returns
    -------
    xgboost.callback.EarlyStopping

    Raises
    ------
    UnknownNameError
        If neither higher nor lower is better.

    Examples
    --------
    >>> early_stopping("recip_rank", 5).maximize, early_stopping("mse", 5).maximize
    (True, False)
    """
    check_arguments(locals(), rounds=whole_from(1), data_name=TEXT.or_none())
    parsed = directed(metric)
    return _class_of("EarlyStopping")(
        rounds=rounds,
        metric_name=str(parsed),
        data_name=data_name,
        maximize=parsed.definition.direction == "higher",
        min_delta=min_delta,
    )


@functools.cache
def _is_mean_of_rows() -> bool:
    """Whether XGBRanker weighs each query by its rows, as XGBoost 3.2 does."""
    module = import_module("xgboost.sklearn")
    data = import_module("xgboost").DMatrix(np.zeros((6, 1)), qid=[1, 1, 2, 2, 2, 2])
    data.set_label(np.zeros(6))

    def rows(labels: Any, scores: Any) -> int:
        return len(labels)

    return bool(module.ltr_metric_decorator(rows, 1)(np.zeros(6), data)[1] != 3)


class XGBoostScorer(RowEvaluator):
    """Return value of `scorer`: ``eval_metric=`` of XGBoost's classes for scikit-learn."""

    def __init__(self, metric: str | Metric, qid: Any, policy: Any) -> None:
        super().__init__(metric, qid, policy)
        self.__name__ = str(self.metric)
        self._given = policy

    def __call__(self, labels: Any, scores: Any) -> float:
        """Return the metric over all rows or, in XGBRanker, over the rows of one query."""
        if len(labels) == len(self.order):
            return self.summary(scores, labels)
        if len(labels) not in self.sizes:
            message = f"expected the {len(self.order):,} rows of qid, got {len(labels):,} rows"
            fix = "give qid= of the evaluation set, and no other evaluation set"
            raise InputError(Problem("harness.xgboost.scorer", message, fix=fix))
        if 1 in self.sizes or self.metric.definition.summary != "mean":
            message = "XGBRanker counts a query with one document as 1, and averages the queries"
            fix = "use xgboost.train(..., custom_metric=harness.xgboost.feval(...))"
            raise InputError(Problem("harness.xgboost.scorer", message, fix=fix))
        one_query = RowEvaluator(self.metric, np.zeros(len(labels)), self._given)
        # makes XGBRanker's mean over rows the mean over queries
        weight = self.sizes.mean() / len(labels) if _is_mean_of_rows() else 1.0
        return float(one_query.summary(scores, labels) * weight)


def scorer(
    metric: str | Metric, *, qid: Any, policy: Policy | Mapping[str, Any] | None = None
) -> XGBoostScorer:
    """Make a metric for ``XGBRanker(eval_metric=...)`` and ``XGBRegressor``.

    XGBRanker calls it for each query, which is slow for many queries; `feval` evaluates them
    together. For early stopping pass `early_stopping` in ``callbacks=``.

    Parameters
    ----------
    metric : str or Metric
        A metric with a better direction.
    qid : array_like, shape (n_rows,)
        Qid of each row of the evaluation set.
    policy : Policy or mapping, optional
        Treatment of ties, missing and empty queries, and depth.

    Raises
    ------
    InputError
        In training, if the rows are not those of `qid`, or XGBRanker would not report the mean of
        all queries, for example because a query has a single document.

    Examples
    --------
    >>> scorer("recip_rank", qid=[2, 2, 10, 10])([1, 0, 0, 1], [0.1, 0.2, 0.3, 0.4])
    0.75
    """
    return XGBoostScorer(metric, qid, policy)
