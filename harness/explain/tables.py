"""One run under every policy that is tried, and the values of metrics under them, each once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from ..core.align import align
from ..core.aligned import Aligned
from ..core.evaluate import EMPTY, empty_of, values_of
from ..core.grade_rule import GradeRule
from ..core.metric import Definition, Metric
from ..core.policy import Policy
from ..core.ragged import Array, Bools, Floats, frozen
from ..core.settings import Settings
from ..core.tables import Qrels, Run
from ..core.views import view
from ..errors import InputError
from .alike import meaning
from .space import After

_ANY = GradeRule(whole=False)
Params = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, eq=False)
class View:
    """A ranking of the run; two policies that give the same one have the same view.

    Parameters
    ----------
    number : int
    aligned : Aligned
    policy : Policy
        One that gives it.
    tied : bool
        Whether judged documents are tied.
    grades : ndarray
        Every grade of its judgements, each once.
    """

    number: int
    aligned: Aligned
    policy: Policy
    tied: bool
    grades: Array


@dataclass(frozen=True, eq=False)
class Values:
    """A metric's values, ``(n_cutoffs, n_queries)``, before anything is done about empty lists.

    Parameters
    ----------
    number : int
    metrics : tuple of Metric
        One a cutoff.
    view : View
    values : ndarray of float64, shape (n_cutoffs, n_queries)
    weights : ndarray of float64, shape (n_queries,), optional
    """

    number: int
    metrics: tuple[Metric, ...]
    view: View
    values: Floats
    weights: Floats | None

    def inert(self, empty: Bools) -> set[str]:
        """Names of what can be done afterwards and would change nothing here."""
        aligned, found = self.view.aligned, set()
        longest = max(metric.cutoff or 0 for metric in self.metrics)
        if aligned.n_retrieved.min(initial=longest) >= longest:
            found.add("short")
        if not empty.any():
            found.add("empty")
        if aligned.answered.all():
            found.add("missing_queries")
        return found

    def after(self, after: After, empty: Bools) -> Floats:
        """Return the values with those of empty, short and missing lists put in.

        Parameters
        ----------
        after : After
        empty : ndarray of bool, shape (n_queries,)
            Queries without anything that the metric takes for relevant.
        """
        aligned, definition = self.view.aligned, self.metrics[0].definition
        values: Floats = self.values.copy()
        if after.empty is not None:
            values[:, empty] = EMPTY[after.empty]
        if after.short != "cut":
            cutoffs = np.array([metric.cutoff or 0 for metric in self.metrics])
            lacking = aligned.n_retrieved < cutoffs[:, None]
            values[lacking] = np.nan if after.short == "nan" else 0.0
        if definition.missing is not None:
            values[:, ~aligned.answered] = definition.missing
        return values

    def summaries(self, values: Floats, after: After) -> Floats:
        """Return each row's summary, ``(n_cutoffs,)``; see :mod:`harness.core.evaluation`."""
        weights = np.ones(values.shape[1]) if self.weights is None else self.weights
        if after.missing_queries == "skip":
            kept = self.view.aligned.answered
            values, weights = values[:, kept], weights[kept]
        defined = ~np.isnan(values)
        if after.undefined == "zero":
            values, defined = np.where(defined, values, 0.0), np.ones_like(defined)
        elif after.undefined == "skip":
            values = np.where(defined, values, 0.0)
        total: Floats = values @ weights
        n = defined @ weights
        how = self.metrics[0].definition.summary
        if how == "sum":
            return total
        mean: Floats = np.divide(total, n, out=np.full(total.size, np.nan), where=n != 0)
        return np.exp(mean) if how == "gm" else mean


class Tables:
    """The run under every policy that is asked for, and every metric's values.

    Parameters
    ----------
    qrels : Qrels
    run : Run
    policies : iterable of Policy
        All that :meth:`view` will be asked for.
    """

    def __init__(self, qrels: Qrels, run: Run, policies: Iterable[Policy]) -> None:
        first = Policy(ties="stable", scores="float32")
        self._first = align(qrels, run, first)
        self._rules: dict[GradeRule, bool] = {}
        self._untied = not self._first.n_tied.any()
        unjudged = self._first.n_retrieved > self._first.count(self._first.relevant(0))
        self._judged = not unjudged.any()
        wanted = dict.fromkeys(self._plain(policy) for policy in policies)
        self.aligned = align(qrels, run, first, wanted)
        self._views: dict[bytes, View] = {}
        self._by_policy: dict[Policy, View | InputError] = {}
        self._values: dict[Any, Values | InputError | None] = {}

    def _plain(self, policy: Policy) -> Policy:
        """Return a policy that gives the same ranking, one for as many as can be told at once."""
        if policy.scores != "none" and self._untied:
            policy = replace(policy, ties="stable", scores="float32")
        if policy.grades not in self._rules:
            self._rules[policy.grades] = self._changes(policy.grades)
        return replace(
            policy,
            grades=policy.grades if self._rules[policy.grades] else _ANY,
            judged_only=policy.judged_only and not self._judged,
        )

    def _changes(self, rule: GradeRule) -> bool:
        """Whether a rule for grades refuses or changes any."""
        if rule.documents > 1:
            return True
        try:
            return view(self._first, replace(self._first.policy, grades=rule)) is not self._first
        except InputError:
            return True

    def view(self, policy: Policy) -> View:
        """Return the run under a policy.

        Raises
        ------
        InputError
            Where the policy does not accept a grade.
        """
        policy = self._plain(policy)
        if policy not in self._by_policy:
            self._by_policy[policy] = self._find(policy)
        found = self._by_policy[policy]
        if isinstance(found, InputError):
            raise found
        return found

    def _find(self, policy: Policy) -> View | InputError:
        try:
            aligned = view(self.aligned, policy)
        except InputError as error:
            return error
        tied = bool((aligned.tie_last > aligned.tie_first).any())
        average = policy.ties == "average" and tied
        digest = blake2b(b"average" if average else b"")
        for array in (
            aligned.offsets, aligned.rank, aligned.grade, aligned.tie_first, aligned.tie_last,
            aligned.ideal.offsets, aligned.ideal.values, aligned.n_retrieved,
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(array).data)
        if policy.ties == "average" and not average:
            policy = replace(policy, ties="stable")
        if (key := digest.digest()) not in self._views:
            grades = np.unique(aligned.ideal.values)
            self._views[key] = View(len(self._views), aligned, policy, tied, grades)
        return self._views[key]

    def values(
        self, definition: Definition, params: Params, seen: View, cutoffs: tuple[float | None, ...]
    ) -> Values | None:
        """Return a metric's values; None where ties have no expectation in closed form.

        Raises
        ------
        InputError
            Where the metric does not accept a grade.
        """
        average = seen.policy.ties == "average"
        means = meaning(definition, dict(params), seen.grades, seen.tied, average)
        key = (definition.name, means, seen.number, cutoffs)
        if key not in self._values:
            self._values[key] = self._compute(definition, params, seen, cutoffs)
        found = self._values[key]
        if isinstance(found, InputError):
            raise found
        return found

    def _compute(
        self, definition: Definition, params: Params, seen: View, cutoffs: tuple[float | None, ...]
    ) -> Values | InputError | None:
        metrics = tuple(Metric(definition, cutoff, params, Settings()) for cutoff in cutoffs)
        rows = []
        try:
            for metric in metrics:
                row = values_of(metric, seen.aligned, seen.policy)
                if row is None:
                    return None
                rows.append(row)
            weights = metrics[0].weights(seen.aligned)
        except InputError as error:
            return error
        return Values(len(self._values), metrics, seen, frozen(np.stack(rows)), weights)

    def empty(self, definition: Definition, params: Params, seen: View) -> Bools:
        """Return the queries without anything that a metric takes for relevant."""
        given = tuple(item for item in params if item[0] in ("rel", "above", "top", "target"))
        key = ("rel" in definition.parameters, given)

        def make() -> Bools:
            return empty_of(Metric(definition, None, given), seen.aligned)

        return seen.aligned.memo(("empty", key), make)

    @property
    def tied(self) -> tuple[int, int]:
        """How many retrieved documents are tied, scores compared as float32, and how many are."""
        return int(self._first.n_tied.sum()), int(self._first.n_retrieved.sum())

    @property
    def computed(self) -> int:
        """How many different metrics under different rankings were computed."""
        return sum(isinstance(each, Values) for each in self._values.values())
