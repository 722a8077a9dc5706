"""From aligned rankings to values: every metric, then what the policies say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..errors import AlignmentError, InputError, Problem, UnknownNameError, did_you_mean
from .aligned import Aligned
from .arrow import select
from .evaluation import Counts, Evaluation, joined
from .metric import Metric
from .policy import Policy
from .ragged import Array, Bools, Floats, Ints
from .ties import Kernel, is_cut, sampled_together
from .views import shortened, view


def evaluate(
    aligned: Aligned | Iterable[Aligned],
    metrics: Sequence[Metric],
    *,
    references: Mapping[str, Aligned] | None = None,
    run: str = "",
    dataset: str = "",
) -> Evaluation:
    """Compute every metric for every query."""
    parts = [aligned] if isinstance(aligned, Aligned) else aligned
    # by map, which lets go of a part before the next is aligned
    done = list(map(partial(_evaluate_part, metrics=metrics, references=references or {}), parts))
    if not done:
        what = "expected at least one part of a run, got none"
        raise AlignmentError(Problem("", what, fix="pass the result of align(qrels, run)"))
    empty = [qid for _, some in done for qid in some]
    if done[0][0].policy.empty_queries == "error" and empty:
        raise AlignmentError(
            Problem(
                dataset,
                f"{len(empty)} queries have no relevant document: {', '.join(empty[:5])}",
                fix="take them out of the dataset, or set empty_queries (--empty) to zero or skip",
                rule="refused-empty-queries",
            )
        )
    return replace(joined([part for part, _ in done]), run=run, dataset=dataset)


def _evaluate_part(
    aligned: Aligned, metrics: Sequence[Metric], references: Mapping[str, Aligned]
) -> tuple[Evaluation, list[str]]:
    """Return the values of some queries, and those of them without relevant documents."""
    empty = aligned.n_relevant(max((level_of(metric) for metric in metrics), default=1)) == 0
    values = np.empty((aligned.n_queries, len(metrics)))
    weights: dict[int, Floats] = {}
    errors: dict[int, Floats] = {}
    estimated: dict[Policy, list[int]] = defaultdict(list)
    for column, metric in enumerate(metrics):
        policy, source = _view(metric, aligned, references)
        found = values_of(metric, source, policy)
        if found is None:
            estimated[policy].append(column)
        else:
            values[:, column] = found
            _put_policies(metric, source, values[:, column], policy)
        weight = metric.weights(source)
        if weight is not None:
            weights[column] = weight
    for columns in estimated.values():
        for column, found, error in _sampled(columns, metrics, aligned, references):
            policy, source = _view(metrics[column], aligned, references)
            values[:, column] = found
            _put_policies(metrics[column], source, values[:, column], policy)
            errors[column] = error
    unanswered = tuple(select(aligned.qids, ~aligned.answered).to_pylist())
    evaluation = Evaluation(
        values, aligned.qids, tuple(metrics), aligned.policy, _counts(aligned, empty), weights,
        errors=errors, unanswered=unanswered,
    )  # fmt: skip
    return evaluation, select(aligned.qids, empty).to_pylist()


def _view(
    metric: Metric, aligned: Aligned, references: Mapping[str, Aligned]
) -> tuple[Policy, Aligned]:
    """Return the policy that a metric is computed under, and what it is a function of."""
    source = aligned
    if metric.reference is not None:
        if metric.reference not in references:
            near = did_you_mean(metric.reference, references)
            what = f"{metric}: no run '{metric.reference}'{near}"
            raise UnknownNameError(Problem("", what, fix="pass it in references"))
        source = references[metric.reference]
    policy = aligned.policy.with_settings(metric.settings)
    of_source = policy if source is aligned else source.policy.with_settings(metric.settings)
    try:
        return policy, view(source, of_source)
    except InputError as error:
        problems = [replace(one, where=f"{metric}: {one.where}") for one in error.problems]
        raise InputError(problems) from None


def values_of(metric: Metric, aligned: Aligned, policy: Policy) -> Floats | None:
    """Return the values of a view, before policies say anything of empty and missing queries.

    None if they are to be estimated from random orders of ties.
    """
    if policy.ties != "average":
        return metric(aligned)
    return None if is_cut(aligned, policy) else metric.expectation(aligned)


def _sampled(
    columns: Sequence[int],
    metrics: Sequence[Metric],
    aligned: Aligned,
    references: Mapping[str, Aligned],
) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield column, values and standard errors of metrics under one policy."""
    by_source: dict[str | None, list[int]] = defaultdict(list)
    for column in columns:
        by_source[metrics[column].reference].append(column)
    for together in by_source.values():
        policy, source = _view(metrics[together[0]], aligned, references)
        kernels = [_shortened_first(metrics[column], policy) for column in together]
        values, errors = sampled_together(kernels, source)
        yield from zip(together, values.T, errors.T, strict=True)


def _shortened_first(metric: Metric, policy: Policy) -> Kernel:
    return metric if policy.depth is None else lambda drawn: metric(shortened(drawn, policy))


def level_of(metric: Metric) -> int:
    """Return the smallest grade that is relevant to a metric."""
    level: int = dict(metric.params).get("rel", 1)
    return level


def empty_of(metric: Metric, aligned: Aligned) -> Bools:
    """Return which queries have nothing that a metric takes for relevant, ``(n_queries,)``."""
    ideal, given = aligned.ideal, dict(metric.params)
    above, top = given.get("above"), given.get("top")
    if given.get("target") == "largest" or (
        above is None
        and ideal.values.dtype.kind == "f"
        and "rel" not in metric.definition.parameters
    ):
        above = 0
    relevant: Ints
    if above is None and top is None:
        relevant = aligned.n_relevant(level_of(metric))
    else:
        counted = ideal.values >= level_of(metric) if above is None else ideal.values > above
        relevant = ideal.count(counted if top is None else counted & (ideal.values <= top))
    return np.equal(relevant, 0)


EMPTY = {"zero": 0.0, "one": 1.0, "nan": np.nan}
"""What the setting ``empty`` puts in the place of a query without relevant documents."""


def _put_policies(metric: Metric, aligned: Aligned, values: Floats, policy: Policy) -> None:
    """Put what the policies say of empty and missing queries into `values`."""
    how, definition, unanswered = policy.empty_queries, metric.definition, aligned.unanswered
    if metric.settings.empty is not None:
        empty = empty_of(metric, aligned)
        if metric.cutoff is not None and dict(metric.params).get("short", "cut") != "cut":
            empty &= (
                aligned.n_retrieved >= metric.cutoff
            )  # short lists keep the value that `short` gives them
        values[empty & aligned.answered] = EMPTY[metric.settings.empty]
    elif definition.empty is not None and metric.reference is None:
        if how == "skip":
            empty = empty_of(metric, aligned)
            values[empty] = np.nan
            unanswered = unanswered[~empty[unanswered]]
        elif how == "one" and definition.bounds == (0.0, 1.0):
            values[empty_of(metric, aligned) & aligned.answered] = 1.0
    rule = policy.grades
    if rule.documents > 1 and rule.few != "error":
        values[(aligned.n_retrieved < rule.documents) & (aligned.n_retrieved > 0)] = EMPTY[rule.few]
    if definition.missing is not None:
        values[unanswered] = definition.missing


def _counts(aligned: Aligned, empty: Array) -> Counts:
    return Counts(
        queries=aligned.n_queries,
        missing=aligned.unanswered.size + aligned.n_left_out,
        extra=aligned.n_extra,
        empty=int(np.count_nonzero(empty)),
        retrieved=int(aligned.n_retrieved.sum()),
        judged=aligned.grade.size - aligned.unjudged.size,
        judgements=int(aligned.n_judged.sum()),
        tied=int(aligned.n_tied.sum()),
    )
