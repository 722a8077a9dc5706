"""One run under many policies: each a view of what was aligned once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..errors import AlignmentError, InputError, Problem
from .aligned import Aligned
from .metric import Metric
from .policy import GradeRule, Policy, applied, refused
from .ragged import Array, Ragged
from .tables import Qrels
from .ties import How, first_documents, is_cut, reorder


def takes_fractions(metrics: Iterable[Metric], policy: Policy) -> bool:
    """Return whether a fraction is a grade to any of the metrics; if not, readers refuse it."""
    return any(rule.fractions for rule in _rules(metrics, policy))


def check_grades(qrels: Qrels, metrics: Iterable[Metric], policy: Policy) -> None:
    """Raise InputError if a metric does not accept a judgement, with the first in the input.

    Views refuse such grades too, but know no documents. If queries may be skipped, it is left to
    them: the skipped queries may have such grades.
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
            raise refusal(place, grade, wrong.size, f"{metric} takes {rule.text}")


def refusal(where: str, grade: float, n: int, accepted: str) -> InputError:
    """Return the error for a grade that is not accepted, the first of `n`."""
    fix = "choose another convention, or write labels=clip to move such grades to the bound"
    if grade != int(grade):
        fix = "round the grades, or choose a convention that takes fractions (harness metrics)"
    more = f", the first of {n}" if n > 1 else ""
    what = f"got the grade {grade if grade != int(grade) else int(grade)}{more}, but {accepted}"
    return InputError(Problem(where, what, fix=fix, rule="grade-values"))


def _rules(metrics: Iterable[Metric], policy: Policy) -> dict[GradeRule, Metric]:
    """Return each rule for judgements, and the first metric that has it."""
    rules: dict[GradeRule, Metric] = {}
    for metric in metrics:
        if metric.reference is None:  # else it looks at two runs and at no judgement
            rules.setdefault(policy.with_settings(metric.settings).grades, metric)
    return rules


def _place(qrels: Qrels, row: int, source_row: int) -> str:
    """Return the place of a judgement, with its row if its document has no name of its own."""
    qid, docno = qrels.qids[int(qrels.row[row])].as_py(), qrels.docnos.take(np.array([row]))[0]
    numbered = qrels.docnos.positional and qrels.n_source is not None
    at = f" (row {source_row + 1})" if numbered else ""
    name = f"{qrels.name}: " if qrels.name else ""
    return f"{name}query '{qid}', document '{docno}'{at}"


def policies_of(metrics: Iterable[Metric], policy: Policy) -> list[Policy]:
    """Return the policies that metrics are to be computed under, each once.

    They are what :func:`harness.core.align.align` takes as `also`.
    """
    return list(dict.fromkeys(policy.with_settings(metric.settings) for metric in metrics))


def view(aligned: Aligned, policy: Policy) -> Aligned:
    """Return the run under another policy: its grades, its order of ties, its depth.

    Made once for each policy, so that metrics share what they compute. Under ``average`` the
    documents are in any order; metrics look at the groups of ties then.
    """

    def make() -> Aligned | None:
        there = policy.alignment == aligned.policy.alignment
        if not there and policy.alignment not in aligned.views:
            kind = f"ties: {policy.alignment.ties}, scores: {policy.score_type}"
            what = f"the run was not aligned under {kind}"
            fix = "call align(..., also=policies_of(metrics, policy))"
            raise AlignmentError(Problem("", what, fix=fix))
        found = aligned if there else aligned.views[policy.alignment]
        found = _regraded(found, policy.grades)
        if policy.grades.positive_scores:
            found = _positive_only(found)
        if policy.ties == "average" and not is_cut(found, policy):
            found = shortened(found, policy)
        elif not policy.of_rows and policy.ties != "average":
            how: How = "best" if policy.ties == "best" else "worst"
            if policy.seed is not None:
                how = ("random", policy.seed)
            found = shortened(reorder(found, how), policy)
        # An alignment that held itself would stay in memory until garbage is collected.
        return None if found is aligned else found

    return aligned.memo(("view", policy), make) or aligned


def shortened(aligned: Aligned, policy: Policy) -> Aligned:
    """Return a run whose ties are in order with what depth and `judged_only` leave of it.

    Alignment does that by itself, except for depth if ties are ordered later.
    """
    return aligned if policy.depth is None else first_documents(aligned, policy)


def _regraded(aligned: Aligned, rule: GradeRule) -> Aligned:
    """Apply a rule for grades, or raise."""
    few = np.flatnonzero((aligned.n_retrieved < rule.documents) & (aligned.n_retrieved > 0))
    if few.size and rule.few == "error":
        n = aligned.n_retrieved[few[0]]
        what = f"expected at least {rule.documents} documents, got {n} ({few.size} such queries)"
        fix = "write few=nan to leave such queries out (or few=zero, few=one), or choose another"
        place = f"query '{aligned.qids[int(few[0])].as_py()}'"
        raise InputError(Problem(place, what, fix=f"{fix} convention"))
    grades, of_items = aligned.ideal.values, aligned.grade
    wrong = np.flatnonzero(refused(rule, grades))
    if wrong.size:
        qid = aligned.qids[int(aligned.ideal.row[wrong[0]])].as_py()
        place = f"query '{qid}'"
        raise refusal(place, grades[wrong[0]].item(), wrong.size, f"the metric takes {rule.text}")
    seen = applied(rule, grades)
    if seen is grades:
        return aligned
    return _with_grades(aligned, Ragged(aligned.ideal.offsets, seen), applied(rule, of_items))


def _positive_only(aligned: Aligned) -> Aligned:
    """Take documents with a score of 0 or below for not relevant, in the ideal order too.

    The ideal order is that of the retrieved documents, since only they have scores.
    """
    grade = np.where(aligned.score > 0, aligned.grade, np.minimum(aligned.grade, 0))
    ideal = grade[np.lexsort((-grade, aligned.row))]
    return _with_grades(aligned, Ragged(aligned.offsets, ideal), grade)


def _with_grades(aligned: Aligned, ideal: Ragged, grade: Array) -> Aligned:
    return replace(aligned, ideal=ideal, grade=grade, views={})
