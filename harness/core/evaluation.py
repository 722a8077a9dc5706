"""From aligned rankings to values, and from values to summaries."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
import pyarrow as pa

from ..errors import (
    AlignmentError,
    ArgumentError,
    InputError,
    Problem,
    UnknownNameError,
    counted,
    did_you_mean,
    fix_of_name,
)
from . import Printable
from .aligned import Aligned
from .arguments import TEXT, ArgumentKind, Count, check_arguments, instance_of
from .arrow import among, nan_as_null, repeated, select, take, to_arrow
from .metric import Metric
from .names import readable, tracker_names
from .pandas_frame import data_frame
from .policy import Policy
from .policy_views import Kernel, check_view, is_cut, sampled_together, shortened, view
from .ragged import Bools, Floats, frozen

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")
_NAMES = ArgumentKind("'canonical' or 'tracker'", lambda value: value in ("canonical", "tracker"))


@dataclass(frozen=True)
class Counts:
    """Counts of the inputs of an evaluation, and of the effects of policies."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "use_attribute_docstrings": True}

    queries: Count = 0
    """Queries with a row of values."""
    missing: Count = 0
    """Judged and not answered by the run; counted unless ``missing_queries: skip`` drops them."""
    extra: Count = 0
    """Answered but not judged; ignored."""
    empty: Count = 0
    """Without relevant documents, in the sense of at least one metric."""
    retrieved: Count = 0
    """Documents."""
    judged: Count = 0
    """Documents that are retrieved and judged."""
    judgements: Count = 0
    """Judgements of all queries."""
    tied: Count = 0
    """Retrieved documents that share their score with another document of the query."""
    empty_by_metric: Mapping[str, Count] = field(default_factory=dict)
    """Those without relevant documents by metric, if its own sense differs from another's."""

    @property
    def none_judged(self) -> bool:
        """Whether the run retrieved documents, and none of them is judged."""
        return self.retrieved > 0 and not self.judged

    @classmethod
    def combined(cls, counts: Sequence[Counts], combine: Callable[[Iterable[int]], int]) -> Counts:
        """Return the sum or the largest, by `combine`, of each count."""
        numbers = [count.as_dict() for count in counts]
        metrics = dict.fromkeys(name for count in counts for name in count.empty_by_metric)
        return cls(
            **{
                name: combine([numbers_of_part[name] for numbers_of_part in numbers])
                for name in numbers[0]
            },
            empty_by_metric={
                name: combine([count.empty_of(name) for count in counts]) for name in metrics
            },
        )

    def empty_of(self, metric: str) -> int:
        """Number of queries without relevant documents in the sense of a metric."""
        return self.empty_by_metric.get(metric, self.empty)

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name, which are columns of a table."""
        return {name: n for name, n in vars(self).items() if name != "empty_by_metric"}

    def as_plain_data(self) -> dict[str, Any]:
        """Return all counts, for a manifest."""
        by_metric = self.empty_by_metric
        return self.as_dict() | ({"empty_by_metric": dict(by_metric)} if by_metric else {})


_ARGUMENTS = {
    "values": instance_of("an array of numbers", np.ndarray),
    "qids": instance_of("an Arrow array of texts", pa.Array),
    "metrics": ArgumentKind(
        "a tuple of metrics",
        lambda value: isinstance(value, tuple) and all(isinstance(item, Metric) for item in value),
    ),
    "policy": instance_of("a Policy", Policy),
    "run": TEXT,
    "dataset": TEXT,
}


class ByMetric(dict[str, T]):
    """Values by canonical names of metrics, found under any spelling of a name.

    >>> ByMetric({"recip_rank@10": 0.5})["rr@10"]
    0.5
    """

    def __missing__(self, name: str) -> T:
        if (key := self._key(name)) is None:
            message, fix = f"this evaluation has no metric '{name}'", fix_of_name(str(name), self)
            raise UnknownMetricError(message, fix=fix)
        return super().__getitem__(key)

    def __contains__(self, name: object) -> bool:
        return self._key(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a metric, or `default` if there is none."""
        key = self._key(name)
        return default if key is None else super().__getitem__(key)

    def _key(self, name: object) -> str | None:
        if super().__contains__(name):
            return str(name)
        names = [*map(str, readable(name))] if isinstance(name, str) else []
        return names[0] if len(names) == 1 and super().__contains__(names[0]) else None


class UnknownMetricError(UnknownNameError, KeyError):
    """A metric that a mapping does not contain."""

    __str__ = UnknownNameError.__str__


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Printable):
    """Metric values of one run on one dataset: a row for each query, a column for each metric.

    Parameters
    ----------
    values : ndarray of float64, shape (n_queries, n_metrics)
        NaN means that the metric is not defined for that query.
    qids : pyarrow string array, shape (n_queries,)
    metrics : tuple of Metric
        Metric of each column; `names` has their names.
    policy : Policy
        Treatment of ties, missing and empty queries, and depth.
    counts : Counts
    weights : mapping of int to ndarray
        Query weights, shape (n_queries,), by column; only for metrics with unequal weights. A
        metric's own weights are multiplied by those of the dataset.
    run, dataset : str
        Names for reports.
    errors : mapping of int to ndarray
        Standard errors, shape (n_queries,), by column; only for metrics that are estimated from
        random orders of tied documents.
    unanswered : tuple of str
        Qids that the run does not answer. Results read from a folder have only their number, in
        `counts`.
    groups : mapping of str to pyarrow string array
        Labels of the queries, shape (n_queries,), by column of query groups; null without a label.
    group : str
        Column and label of a slice of queries, such as ``length=short``.
    weighted_by : str
        Name of the query weights of the dataset, such as ``impressions``.
    """

    values: Floats
    qids: pa.Array
    metrics: tuple[Metric, ...]
    policy: Policy = field(default_factory=Policy)
    counts: Counts = field(default_factory=Counts)
    weights: Mapping[int, Floats] = field(default_factory=dict)
    run: str = ""
    dataset: str = ""
    errors: Mapping[int, Floats] = field(default_factory=dict)
    unanswered: tuple[str, ...] = ()
    groups: Mapping[str, pa.Array] = field(default_factory=dict)
    group: str = ""
    weighted_by: str = ""

    def __post_init__(self) -> None:
        check_arguments(vars(self), **_ARGUMENTS)
        if self.values.shape != (len(self.qids), len(self.metrics)):
            expected = f"shape ({len(self.qids)}, {len(self.metrics)}): queries x metrics"
            message = f"expected {expected}, got {self.values.shape}"
            raise ArgumentError(Problem("values", message))
        object.__setattr__(self, "values", frozen(self.values))

    @property
    def coverage(self) -> tuple[int, int]:
        """Number of judged queries that the run answers, and number of judged queries."""
        queries, missing = self.counts.queries, self.counts.missing
        if self.policy.missing_queries == "skip":
            return queries, queries + missing
        return queries - missing, queries

    @property
    def names(self) -> list[str]:
        """Canonical name of each metric."""
        return [str(metric) for metric in self.metrics]

    def column(self, metric: str | Metric) -> Floats:
        """Return the values of one metric, ``(n_queries,)``.

        Raises
        ------
        UnknownNameError
            If the evaluation does not have that metric.
        """
        check_arguments(locals(), metric=instance_of("the name of a metric", str, Metric))
        columns = ByMetric((name, column) for column, name in enumerate(self.names))
        return self.values[:, columns[str(metric)]]

    def summary(self, names: Literal["canonical", "tracker"] = "canonical") -> dict[str, float]:
        """Summarise each metric over the queries by its mean, sum, median or geometric mean.

        Each metric has its own summary. With query weights, the summary is weighted. It leaves out
        undefined values (NaN), and `n` counts the others; if all are undefined, it is NaN, or 0 for
        a sum. Sums are rounded once (``math.fsum``), so the order of the queries does not matter.

        ``names="tracker"`` spells names without ``@`` and brackets, such as ``ndcg_at_10``, for
        MLflow and other trackers.

        Returns
        -------
        mapping of str to float
            Value of each metric. With canonical names, any spelling of a metric finds it.
        """
        check_arguments(locals(), names=_NAMES)
        values = {name: self._summary(column) for column, name in enumerate(self.names)}
        if names == "canonical":
            return ByMetric(values)
        return dict(zip(tracker_names(self.names), values.values(), strict=True))

    def summary_over(self, metric: str, queries: Bools) -> float:
        """Summarise one metric over some queries."""
        return self._summary(self.names.index(metric), queries)

    def _summary(self, column: int, queries: Bools | slice = slice(None)) -> float:
        metric, weights = self.metrics[column], self.weights.get(column)
        return summarise(
            self.values[queries, column],
            metric.definition.summary,
            None if weights is None else weights[queries],
            metric.settings.undefined or "skip",
        )

    def summary_errors(self) -> dict[str, float]:
        """Standard error of each mean that is estimated from random orders of tied documents."""
        by_metric = {}
        for column, errors in self.errors.items():
            is_defined = ~np.isnan(self.values[:, column])
            defined, weights = errors[is_defined], self.weights.get(column)
            whole: float = max(defined.size, 1)
            if weights is not None:
                defined = defined * weights[is_defined]
                whole = math.fsum(weights[is_defined].tolist()) or 1.0
            total = math.sqrt(math.fsum((defined * defined).tolist()))
            summed = self.metrics[column].definition.summary == "sum"
            by_metric[str(self.metrics[column])] = total / (1 if summed else whole)
        return by_metric

    def weighted(self, weights: Floats, by: str) -> Evaluation:
        """Return a copy with query weights, which multiply the weights of each metric."""
        columns = range(len(self.metrics))
        product = {
            column: frozen(weights * self.weights[column] if column in self.weights else weights)
            for column in columns
        }
        return replace(self, weights=product, weighted_by=by)

    def n(self) -> dict[str, int]:
        """Number of queries in the summary of each metric."""
        defined = (~np.isnan(self.values)).sum(axis=0).tolist()
        return ByMetric(zip(self.names, defined, strict=True))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{qid: {metric: value}}`` with canonical names, in the form of pytrec_eval."""
        names = self.names
        return {
            qid: ByMetric(zip(names, row, strict=True))
            for qid, row in zip(self.qids.to_pylist(), self.values.tolist(), strict=True)
        }

    def to_arrow(self) -> pa.Table:
        """Return a long table with the columns dataset, run, qid, metric and value.

        If queries have unequal weights for a metric, a column ``weight`` follows; it is empty for
        the other metrics.
        """
        n_queries, n_metrics = self.values.shape
        which = np.tile(np.arange(n_metrics, dtype=np.int32), n_queries)
        query = np.repeat(np.arange(n_queries, dtype=np.int64), n_metrics)
        columns = {
            "dataset": repeated(self.dataset, self.values.size),
            "run": repeated(self.run, self.values.size),
            "qid": take(self.qids, query),
            **{name: take(labels, query) for name, labels in self.groups.items()},
            "metric": among(which, self.names),
            "value": to_arrow(self.values.reshape(-1)),
        }
        if self.weights:
            weights = np.full((n_queries, n_metrics), np.nan)
            for column, column_weights in self.weights.items():
                weights[:, column] = column_weights
            columns["weight"] = nan_as_null(weights.reshape(-1))
        return pa.table(columns)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame: a row for each query, a column for each metric (needs pandas)."""
        frame = data_frame(self.values.copy(), index=self.qids.to_pylist(), columns=self.names)
        return frame.rename_axis("qid")

    @property
    def notes(self) -> str:
        """Counts of queries and documents on one line, with the policies applied to them."""
        counts, policy = self.counts, self.policy
        touched = (
            (counts.missing, f"not answered ({policy.missing_queries})"),
            (counts.empty, f"without relevant documents ({policy.empty_queries})"),
            (counts.extra, "answered but not judged (ignored)"),
            (counts.tied, f"tied documents ({policy.ties})"),
        )
        queries = f"{counts.queries} queries"
        queries += f" weighted by {self.weighted_by}" if self.weighted_by else ""
        return ", ".join([queries, *(f"{n} {text}" for n, text in touched if n)])

    def __repr__(self) -> str:
        return f"<Evaluation of {self.run or 'a run'}: {self.notes}; {', '.join(self.names)}>"


def joined(parts: Sequence[Evaluation], qids: pa.Array | None = None) -> Evaluation:
    """Join evaluations of different queries; `qids` replace theirs."""
    shared_groups = [name for name in parts[0].groups if all(name in part.groups for part in parts)]

    def columns(mappings: Sequence[Mapping[int, Floats]]) -> dict[int, Floats]:
        return {
            column: np.concatenate([mapping[column] for mapping in mappings])
            for column in mappings[0]
        }

    return replace(
        parts[0],
        values=np.concatenate([part.values for part in parts]),
        qids=pa.concat_arrays([part.qids for part in parts]) if qids is None else qids,
        counts=Counts.combined([part.counts for part in parts], sum),
        weights=columns([part.weights for part in parts]),
        errors=columns([part.errors for part in parts]),
        unanswered=tuple(qid for part in parts for qid in part.unanswered),
        groups={
            name: pa.concat_arrays([part.groups[name] for part in parts]) for name in shared_groups
        },
    )


def summarise(
    values: Floats, how: str, weights: Floats | None = None, undefined: str = "skip"
) -> float:
    """Return one number for the values of all queries.

    Parameters
    ----------
    how : {"mean", "sum", "gm", "median"}
        ``gm``: the values are logarithms, and the result is exp of their mean.
    weights : ndarray, shape (n_queries,), optional
        Weights of the queries in it.
    undefined : {"skip", "zero", "nan"}
        Leave undefined (NaN) values out, count them as 0, or return NaN.

    Returns
    -------
    float
        NaN if no value is defined (0 for a sum).

    >>> summarise(np.array([1.0, np.nan, 0.5]), "mean")
    0.75
    """
    defined = ~np.isnan(values)
    if undefined == "nan" and not defined.all():
        return math.nan
    if undefined == "zero":
        values, defined = np.where(defined, values, 0.0), np.ones(values.size, dtype=bool)
    defined_values = values if defined.all() else values[defined]
    total: float = defined_values.size
    if weights is not None:
        defined = defined & (weights != 0)  # a query without weight counts nowhere, if infinite too
        defined_values, weights = values[defined], weights[defined]
        total = math.fsum(weights.tolist())
    if how == "median" and total:
        return _median(defined_values, weights)
    if weights is not None:
        defined_values = defined_values * weights
    if how == "sum":
        return math.fsum(defined_values.tolist())
    if not total:
        return math.nan
    mean = math.fsum(defined_values.tolist()) / total
    return math.exp(mean) if how == "gm" else mean


def _median(values: Floats, weights: Floats | None) -> float:
    """Return the median; with weights, the value that half of the weight does not exceed.

    If exactly half of the weight lies below a value, it is the mean of the two around it.
    """
    if weights is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    half = reached[-1] / 2
    low, high = (np.searchsorted(reached, half, side=side) for side in ("left", "right"))
    return float(np.mean(values[order][[low, high]]))


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
    empty = [qid for _, qids in done for qid in qids]
    if done[0][0].policy.empty_queries == "error" and empty:
        raise AlignmentError(
            Problem(
                dataset,
                f"{counted(len(empty), 'query has', 'queries have')} no relevant document: "
                f"{', '.join(empty[:5])}",
                fix="take them out of the dataset, or set empty_queries to zero or skip",
                rule="refused-empty-queries",
            )
        )
    evaluation = done[0][0] if len(done) == 1 else joined([part for part, _ in done])
    counts = evaluation.counts
    if {*counts.empty_by_metric.values()} <= {counts.empty}:  # all metrics agree
        counts = replace(counts, empty_by_metric={})
    return replace(evaluation, counts=counts, run=run, dataset=dataset)


def _evaluate_part(
    aligned: Aligned, metrics: Sequence[Metric], references: Mapping[str, Aligned]
) -> tuple[Evaluation, list[str]]:
    """Return the values of some queries, and a mask of queries without relevant documents."""
    empty: dict[str, Bools] = {}
    values = np.empty((aligned.n_queries, len(metrics)))
    weights: dict[int, Floats] = {}
    errors: dict[int, Floats] = {}
    estimated: dict[Policy, list[int]] = defaultdict(list)
    for column, metric in enumerate(metrics):
        policy, source = _view(metric, aligned, references)
        if metric.has_empty_queries:
            judged = _judged(source, policy) if policy.grades.positive_scores else source
            empty[str(metric)] = metric.empty_queries(judged)
        metric_values = (
            metric(source) if policy.ties != "average" else _expected(metric, source, policy)
        )
        if metric_values is None:
            estimated[policy].append(column)
        else:
            values[:, column] = metric_values
            _put_policies(metric, source, values[:, column], policy)
        if metric.definition.weight is not None and (weight := metric.weights(source)) is not None:
            weights[column] = weight
    for columns in estimated.values():
        for column, metric_values, error in _sampled(columns, metrics, aligned, references):
            policy, source = _view(metrics[column], aligned, references)
            values[:, column] = metric_values
            _put_policies(metrics[column], source, values[:, column], policy)
            errors[column] = error
    any_empty = np.any([*empty.values()], axis=0) if empty else aligned.without_grades
    unanswered: list[str] = []
    if not aligned.answered.all():
        unanswered = select(aligned.qids, ~aligned.answered).to_pylist()
    counted_run = aligned
    if not aligned.policy.of_rows:  # else alignment has left the first documents alone
        any_grades = replace(aligned.policy, grades=Policy.grades)
        counted_run = shortened(view(aligned, any_grades), aligned.policy)
    counts = Counts(
        queries=aligned.n_queries,
        missing=aligned.unanswered.size + aligned.n_left_out,
        extra=aligned.n_extra,
        empty=int(np.count_nonzero(any_empty)),
        retrieved=int(counted_run.n_retrieved.sum()),
        judged=int(np.count_nonzero(counted_run.grade >= 0)),
        judgements=int(np.count_nonzero(aligned.ideal.values >= 0)),
        tied=int(aligned.n_tied.sum()),
        empty_by_metric={name: int(np.count_nonzero(is_empty)) for name, is_empty in empty.items()},
    )
    evaluation = Evaluation(
        values,
        aligned.qids,
        tuple(metrics),
        aligned.policy,
        counts,
        weights,
        errors=errors,
        unanswered=tuple(unanswered),
    )
    return evaluation, select(aligned.qids, any_empty).to_pylist() if any_empty.any() else []


def _judged(aligned: Aligned, policy: Policy) -> Aligned:
    """Return a view in which no score decides whether a document is relevant."""
    return view(aligned, replace(policy, grades=replace(policy.grades, positive_scores=False)))


def _view(
    metric: Metric, aligned: Aligned, references: Mapping[str, Aligned]
) -> tuple[Policy, Aligned]:
    """Return the policy of a metric, and the alignment under it."""
    source = aligned
    if metric.reference is not None:
        if metric.reference not in references:
            near = did_you_mean(metric.reference, references)
            message = f"{metric}: no run '{metric.reference}'{near}"
            raise UnknownNameError(message, fix="pass it in references")
        source = references[metric.reference]
    policy = aligned.policy.with_settings(metric.settings)
    of_source = policy if source is aligned else source.policy.with_settings(metric.settings)
    try:
        if metric.reference is None:
            check_view(source, metric, policy)
        return policy, view(source, of_source)
    except InputError as error:
        problems = [
            replace(problem, where=f"{metric}: {problem.where}") for problem in error.problems
        ]
        raise InputError(problems) from None


def _expected(metric: Metric, aligned: Aligned, policy: Policy) -> Floats | None:
    """Return the expected values of a view; None if random orders of ties estimate them."""
    cutoff, is_open = metric.cutoff, is_cut(aligned, policy)
    if isinstance(cutoff, int) and cutoff <= (policy.depth or 0) and not policy.judged_only:
        is_open = False  # the depth cuts off no rank that the metric uses
    return None if is_open else metric.expectation(aligned)


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


EMPTY = {"zero": 0.0, "one": 1.0, "nan": np.nan}
"""Value of a query without relevant documents, by setting ``empty``."""


def _put_policies(metric: Metric, aligned: Aligned, values: Floats, policy: Policy) -> None:
    """Write the values that the policies give empty and missing queries into `values`."""
    definition, unanswered = metric.definition, aligned.unanswered
    if metric.settings.empty is not None:
        empty = metric.empty_queries(aligned) & ~metric.short_lists(aligned)
        values[empty & aligned.answered] = EMPTY[metric.settings.empty]
    elif definition.skips_empty and metric.reference is None:
        if policy.empty_queries == "skip":
            empty = metric.empty_queries(aligned)
            values[empty] = np.nan
            unanswered = unanswered[~empty[unanswered]]
        elif policy.empty_queries == "one" and definition.bounds == (0.0, 1.0):
            values[metric.empty_queries(aligned) & aligned.answered] = 1.0
    rule = policy.grades
    if rule.documents > 1 and rule.few != "error":
        values[(aligned.n_retrieved < rule.documents) & (aligned.n_retrieved > 0)] = EMPTY[rule.few]
    if definition.missing is not None:
        values[unanswered] = definition.missing
