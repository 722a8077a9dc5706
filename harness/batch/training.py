"""Metrics for the evaluation functions and callbacks of training libraries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.evaluation import Evaluation
from ..core.metric import Metric
from ..core.names import parse_all
from ..core.policy import Policy, policy_of
from ..errors import InputError, Problem, UnknownNameError
from .collector import BatchCollector


def directed(metric: str | Metric) -> Metric:
    """Return the metric of a name; UnknownNameError if it has no better direction."""
    parsed = parse_all([metric])
    if len(parsed) != 1 or parsed[0].definition.direction is None:
        message = f"expected one metric that has a better direction, got '{metric}'"
        raise UnknownNameError(Problem("metric", message, fix="give one such as 'ndcg@10'"))
    return parsed[0]


class RowEvaluator:
    """One metric over rows in any order; `qids` has the query of each row."""

    def __init__(
        self, metric: str | Metric, qids: Any, policy: Policy | Mapping[str, Any] | None
    ) -> None:
        self.metric, self.policy = directed(metric), policy_of(policy)
        _, self.codes, self.sizes = np.unique(
            np.asarray(qids), return_inverse=True, return_counts=True
        )
        self.order = np.argsort(self.codes, kind="stable")

    def summary(self, scores: Any, labels: Any) -> float:
        """Return the metric over all rows; InputError if it is defined for no query."""
        collector = BatchCollector()
        rows = np.asarray(scores).reshape(-1)[self.order], np.asarray(labels)[self.order]
        collector.add(*rows, self.sizes)
        value = collector.evaluate([self.metric], self.policy).summary()[str(self.metric)]
        if math.isnan(value):
            message = f"expected a number, got '{self.metric}', which is defined for no query here"
            fix = "give a metric that is defined for each query, such as 'ndcg@10'"
            raise InputError(Problem("metric", message, fix=fix))
        return value


class QueryValues:
    """Metrics of a training loop: reports summaries to the library, and keeps values by query.

    If you also pass it as a callback, `history` has ``{name of the evaluation set: Evaluation}``
    for each iteration.
    """

    def __init__(
        self, metrics: Sequence[str | Metric], policy: Policy | Mapping[str, Any] | None = None
    ) -> None:
        if not metrics:
            problem = Problem("feval", "expected a metric, got none", fix="write feval('ndcg@10')")
            raise InputError(problem)
        self.metrics = parse_all(metrics)
        self.policy = policy_of(policy)
        self.history: list[dict[str, Evaluation]] = []
        self._pending: list[Evaluation] = []
        self._warned = False

    def reset(self) -> None:
        """Remove the values of a training, before the next one."""
        self.history, self._pending, self._warned = [], [], False

    def check_new(self) -> None:
        """Raise InputError if `history` has the values of an earlier training."""
        if self.history:
            message = f"history has the {len(self.history):,} iterations of an earlier training"
            fix = "call reset() before the next training, or make another feval"
            raise InputError(Problem("feval", message, fix=fix))

    def evaluate(self, scores: Any, labels: Any, group: Any) -> dict[str, float]:
        """Return the summaries of rows; `group` has the rows of each query."""
        if group is None or not len(group):
            message = "expected the rows of each query, got a data set without groups"
            fix = "give the data set group=[...], or qid= in XGBoost"
            raise InputError(Problem("feval", message, fix=fix))
        collector = BatchCollector()
        collector.add(scores, labels, group)
        evaluation = collector.evaluate(self.metrics, self.policy)
        self._pending.append(evaluation)
        return evaluation.summary()

    def keep(self, names: Sequence[str]) -> None:
        """Store the values of this iteration, under the names of the evaluation sets."""
        values, self._pending = self._pending, []
        self.history.append(dict(zip(names, values[-len(names) :], strict=True)) if names else {})
