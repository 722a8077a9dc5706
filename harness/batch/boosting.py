"""What LightGBM's and XGBoost's training loops share: evaluate rows, keep values by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.evaluation import Evaluation
from ..core.metric import Metric
from ..core.names import parse_all
from ..core.policy import Policy, policy_of
from ..errors import InputError, Problem
from .collector import BatchCollector


class QueryValues:
    """Metrics of a training loop: a summary for the library, values by query for you.

    `history` has, for each iteration, ``{name of the evaluation set: Evaluation}``; it is filled
    if the object is also given as a callback.
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

    def evaluate(self, scores: Any, labels: Any, group: Any) -> dict[str, float]:
        """Return the summaries of rows; `group` has the rows of each query."""
        if group is None or not len(group):
            what = "expected the rows of each query, got a data set without groups"
            fix = "give the data set group=[...], or qid= in XGBoost"
            raise InputError(Problem("feval", what, fix=fix))
        collector = BatchCollector()
        collector.add(scores, labels, group)
        found = collector.evaluate(self.metrics, self.policy)
        self._pending.append(found)
        return found.summary()

    def keep(self, names: Sequence[str]) -> None:
        """Keep what was evaluated in this iteration, under the names of the evaluation sets."""
        found, self._pending = self._pending, []
        self.history.append(dict(zip(names, found[-len(names) :], strict=True)) if names else {})
