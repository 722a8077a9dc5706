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
from ..core.names import parse
from ..core.policy import Policy
from ..errors import InputError, Problem, UnknownNameError, not_installed, warn
from .collector import QueryValues


class XGBoostFeval(QueryValues):
    """What `feval` returns: ``custom_metric=`` and, to keep values by query, a callback."""

    __name__ = "feval"  # which XGBRanker asks for

    def __call__(self, scores: Any, data: Any) -> list[tuple[str, float]]:
        """Evaluate the scores of a DMatrix."""
        if not hasattr(data, "get_uint_info"):
            message = "expected scores and a DMatrix, got rows of one query, as XGBRanker gives"
            fix = "use xgboost.train(..., custom_metric=feval(...)) in place of XGBRanker"
            raise InputError(Problem("harness.xgboost.feval", message, fix=fix))
        group = np.diff(data.get_uint_info("group_ptr"))
        return list(self.evaluate(scores, data.get_label(), group).items())

    def before_training(self, model: Any) -> Any:
        """Refuse a second training, whose values would follow those of the first."""
        self.check_new()
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Mapping[str, Any]) -> bool:
        """Keep what this iteration gave, and look at early stopping; training goes on."""
        self.keep(list(evals_log))
        self._check_stopping(model, evals_log)
        return False

    def _check_stopping(self, model: Any, evals_log: Mapping[str, Any]) -> None:
        """Warn if early stopping keeps a worse model: XGBoost guesses the direction by name.

        Other callbacks are not visible from here, but the best iteration so far is. A later value
        may be better by less than the `min_delta` that a user gave, so 1 % is allowed for that.
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
    """Return the metric as a callback, which XGBoost asks to be of its own class."""
    bases = (XGBoostFeval, _class_of("TrainingCallback"))
    return type("XGBoostFeval", bases, {"__doc__": XGBoostFeval.__doc__})


def feval(*metrics: str | Metric, policy: Policy | Mapping[str, Any] | None = None) -> XGBoostFeval:
    """Return metrics as ``xgboost.train(..., custom_metric=...)`` takes them.

    As `harness.lightgbm.feval` otherwise. For early stopping give
    `early_stopping` as a callback: XGBoost's own does not know which way is better.

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
    """Return the callback that stops XGBoost's training when a metric no longer improves.

    It knows whether higher or lower is better. XGBoost's ``early_stopping_rounds`` guesses it
    from the metric's name, and minimises ``recip_rank``, ``P``, ``err`` and others.

    Parameters
    ----------
    metric : str or Metric
        One of those given to `feval`.
    rounds : int
        Iterations without an improvement after which training stops.
    data_name : str, optional
        The evaluation set that decides; the last one by default.
    min_delta : float
        Smallest change that counts as an improvement.

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
    parsed = [metric] if isinstance(metric, Metric) else parse(metric, {})
    if len(parsed) != 1 or parsed[0].definition.direction is None:
        message = f"expected one metric that has a better direction, got '{metric}'"
        raise UnknownNameError(Problem("metric", message, fix="give one such as 'ndcg@10'"))
    return _class_of("EarlyStopping")(
        rounds=rounds,
        metric_name=str(parsed[0]),
        data_name=data_name,
        maximize=parsed[0].definition.direction == "higher",
        min_delta=min_delta,
    )
