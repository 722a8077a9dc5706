"""Whether the judgements of a dataset are grades that the metrics accept, told before the work."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..errors import InputError, Problem
from .convention import CONVENTIONS
from .grade_rule import GradeRule
from .grades import refused
from .metric import Metric
from .policy import Policy
from .tables import Qrels


def takes_fractions(metrics: Iterable[Metric], policy: Policy) -> bool:
    """Return whether a fraction is a grade to any of the metrics; readers refuse it otherwise.

    >>> import harness.metrics
    >>> from .names import parse
    >>> takes_fractions(parse("ndcg"), Policy())
    False
    >>> takes_fractions(parse("ndcg(convention=catboost)"), Policy())
    True
    """
    return any(rule.fractions for rule in _rules(metrics, policy))


def check_grades(qrels: Qrels, metrics: Iterable[Metric], policy: Policy) -> None:
    """Raise where a metric does not accept a judgement, naming the first in the input's order.

    Views refuse such grades too (:func:`harness.core.views.view`), but know no documents. Where
    queries may be skipped, it is left to them: those with such grades may be among the skipped.

    Raises
    ------
    InputError
        With the document, the grade, the metric and what it takes.
    """
    if policy.missing_queries == "skip":
        return
    for rule, metric in _rules(metrics, policy).items():
        wrong = np.flatnonzero(refused(rule, qrels.numbers))
        if wrong.size:
            source = wrong if qrels.order is None else qrels.order[wrong]
            first = int(source.argmin())
            grade = qrels.numbers[wrong[first]].item()
            place = _place(qrels, int(wrong[first]), int(source[first]))
            raise refusal(place, grade, wrong.size, f"{metric} takes {rule.text}", metric)


def refusal(
    where: str, grade: float, n: int, accepted: str, metric: Metric | None = None
) -> InputError:
    """Return the error for a grade that is not accepted, the first of `n`."""
    whole = grade == int(grade)
    more = f", the first of {n}" if n > 1 else ""
    what = f"a judgement of {int(grade) if whole else grade}{more}, where {accepted}"
    fix = "choose another convention, or say labels=clip to put such grades at the bound"
    if not whole:
        fix = _with_fractions(None if metric is None else metric.definition.name)
    return InputError(Problem(where, what, fix=fix, rule="grade-values"))


def _rules(metrics: Iterable[Metric], policy: Policy) -> dict[GradeRule, Metric]:
    """Return each rule for judgements, and the first metric that has it."""
    rules: dict[GradeRule, Metric] = {}
    for metric in metrics:
        if metric.reference is None:  # else it looks at two runs and at no judgement
            rules.setdefault(policy.with_settings(metric.settings).grades, metric)
    return rules


def _place(qrels: Qrels, row: int, source_row: int) -> str:
    """Return where a judgement is; by its row too where its document has no name of its own."""
    qid, docno = qrels.qids[int(qrels.row[row])].as_py(), qrels.docnos.take(np.array([row]))[0]
    numbered = qrels.docnos.positional and qrels.n_source is not None
    at = f" (row {source_row + 1})" if numbered else ""
    name = f"{qrels.name}: " if qrels.name else ""
    return f"{name}query '{qid}', document '{docno}'{at}"


def _with_fractions(metric: str | None) -> str:
    """Return what to do about a fraction."""
    as_it_is: list[str] = []
    cut_off: list[str] = []
    for convention in CONVENTIONS.values():
        if metric is None or metric in convention.metrics:
            own = {} if metric is None else convention.metrics[metric]
            rule = {**convention.common, **own}.get("grades", GradeRule())
            if rule.fractions:
                (cut_off if rule.truncate else as_it_is).append(convention.name)
    some = as_it_is or cut_off
    if not some:
        return f"no convention takes fractions for {metric}; scale or round the grades"
    return f"choose a convention that takes fractions ({', '.join(some)}), or round the grades"
