"""From aligned rankings to values, and from values to summaries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa

from ..errors import ArgumentError, Problem, UnknownNameError, did_you_mean
from .arguments import TEXT, Count, Kind, check_arguments, instance_of
from .arrow import among, nan_as_null, repeated, take, to_arrow
from .metric import Metric
from .names import parse
from .policy import Policy
from .ragged import Bools, Floats, frozen
from .text import rendered

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")


@dataclass(frozen=True)
class Counts:
    """What went into an evaluation, and what the policies touched."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "use_attribute_docstrings": True}

    queries: Count = 0
    """In the values."""
    missing: Count = 0
    """Judged and not answered by the run; counted unless ``missing_queries: skip`` drops them."""
    extra: Count = 0
    """Answered but not judged; ignored."""
    empty: Count = 0
    """Without relevant documents, at the highest relevance level that a metric asks for."""
    retrieved: Count = 0
    """Documents."""
    judged: Count = 0
    """Documents that are retrieved and judged."""
    judgements: Count = 0
    """Of all queries."""
    tied: Count = 0
    """Retrieved documents whose score another of the query shares."""

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return dict(vars(self))


_VALUES = instance_of("an array of numbers", np.ndarray)
_QIDS = instance_of("an Arrow array of texts", pa.Array)
_METRICS = Kind(
    "a tuple of metrics",
    lambda given: isinstance(given, tuple) and all(isinstance(one, Metric) for one in given),
)


class ByMetric(dict[str, T]):
    """Values by canonical names of metrics, found under any spelling of a name.

    >>> ByMetric({"recip_rank@10": 0.5})["rr@10"]
    0.5
    """

    def __missing__(self, name: str) -> T:
        if (key := self._key(name)) is None:
            raise _no_metric(str(name), self)
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
        found = names_of(name) if isinstance(name, str) else []
        return found[0] if len(found) == 1 and super().__contains__(found[0]) else None


class UnknownMetricError(UnknownNameError, KeyError):
    """A name of a metric that a mapping does not hold."""

    __str__ = UnknownNameError.__str__


def _no_metric(name: str, names: Iterable[str]) -> UnknownNameError:
    held = ", ".join(names)
    return UnknownMetricError(
        f"this evaluation holds no metric '{name}'{did_you_mean(name, names)}  (it holds: {held})"
    )


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Values of one run on one dataset: a row a query, a column a metric.

    Parameters
    ----------
    values : ndarray of float64, shape (n_queries, n_metrics)
        NaN means that the metric is not defined for that query.
    qids : pyarrow string array, shape (n_queries,)
    metrics : tuple of Metric
    policy : Policy
        The choices in force.
    counts : Counts
    weights : mapping of int to ndarray
        For a metric (by column) whose queries do not weigh the same: their weights.
    run, dataset : str
        Names for reports.
    errors : mapping of int to ndarray
        For a metric (by column) whose values are estimated from random orders of tied
        documents: their standard errors.
    unanswered : tuple of str
        Queries of the values that the run does not answer; results read back know their number
        alone, which is in `counts`.
    groups : mapping of str to pyarrow string array
        Columns that group the queries, with the label of each query; null if it has none.
    group : str
        Of a slice: its column and label, as ``length=short``.
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

    def __post_init__(self) -> None:
        check_arguments(
            vars(self), values=_VALUES, qids=_QIDS, metrics=_METRICS,
            policy=instance_of("a Policy", Policy), run=TEXT, dataset=TEXT,
        )  # fmt: skip
        if self.values.shape != (len(self.qids), len(self.metrics)):
            expected = f"shape ({len(self.qids)}, {len(self.metrics)}): queries x metrics"
            what = f"expected {expected}, got {self.values.shape}"
            raise ArgumentError(Problem("values", what))
        object.__setattr__(self, "values", frozen(self.values))

    @property
    def coverage(self) -> tuple[int, int]:
        """How many of the judged queries the run answers, and how many there are."""
        queries, missing = self.counts.queries, self.counts.missing
        if self.policy.missing_queries == "skip":
            return queries, queries + missing
        return queries - missing, queries

    @property
    def names(self) -> list[str]:
        """Canonical name of each metric."""
        return [str(metric) for metric in self.metrics]

    def column(self, metric: str | Metric) -> Floats:
        """Return one metric's values, ``(n_queries,)``; its name in any spelling.

        Raises
        ------
        UnknownNameError
            If the evaluation does not hold that metric.
        """
        check_arguments(locals(), metric=instance_of("the name of a metric", str, Metric))
        columns = ByMetric((name, column) for column, name in enumerate(self.names))
        return self.values[:, columns[str(metric)]]

    def summary(self) -> dict[str, float]:
        """Return each metric over all queries: mean, sum or geometric mean, as it defines.

        Queries where the metric is undefined are left out; :meth:`n` counts the others. Sums
        are rounded once (``math.fsum``), so the order of the queries does not matter. A metric
        that is defined nowhere is NaN. A metric is found under any spelling of its name.
        """
        return ByMetric((name, self._summary(column)) for column, name in enumerate(self.names))

    def summary_over(self, metric: str, queries: Bools) -> float:
        """Return the :meth:`summary` of one metric (its name) over some queries."""
        return self._summary(self.names.index(metric), queries)

    def _summary(self, column: int, queries: Bools | slice = slice(None)) -> float:
        found, weights = self.metrics[column], self.weights.get(column)
        return summarise(
            self.values[queries, column],
            found.definition.summary,
            None if weights is None else weights[queries],
            found.settings.undefined or "skip",
        )

    def summary_errors(self) -> dict[str, float]:
        """Return the standard error of each mean whose values come from random orders of ties."""
        found = {}
        for column, errors in self.errors.items():
            kept = errors[~np.isnan(self.values[:, column])]
            total = math.sqrt(math.fsum((kept * kept).tolist()))
            summed = self.metrics[column].definition.summary == "sum"
            found[str(self.metrics[column])] = total / (1 if summed else max(kept.size, 1))
        return found

    def n(self) -> dict[str, int]:
        """Return how many queries each metric's summary is taken over."""
        defined = (~np.isnan(self.values)).sum(axis=0).tolist()
        return ByMetric(zip(self.names, defined, strict=True))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{qid: {metric: value}}``, as pytrec_eval does, under canonical names."""
        names = self.names
        return {
            qid: ByMetric(zip(names, row, strict=True))
            for qid, row in zip(self.qids.to_pylist(), self.values.tolist(), strict=True)
        }

    def to_arrow(self) -> pa.Table:
        """Return a long table: dataset, run, qid, metric, value.

        If a metric's queries do not weigh the same there is a column ``weight``, empty for the
        other metrics.
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
            for column, found in self.weights.items():
                weights[:, column] = found
            columns["weight"] = nan_as_null(weights.reshape(-1))
        return pa.table(columns)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row a query and a column a metric (needs pandas)."""
        import pandas

        index = pandas.Index(self.qids.to_pylist(), name="qid")
        return pandas.DataFrame(self.values.copy(), index=index, columns=self.names)

    @property
    def notes(self) -> str:
        """The counts in one line, with the policies that they met."""
        counts, policy = self.counts, self.policy
        touched = (
            (counts.missing, f"not answered ({policy.missing_queries})"),
            (counts.empty, f"without relevant documents ({policy.empty_queries})"),
            (counts.extra, "answered but not judged (ignored)"),
            (counts.tied, f"tied documents ({policy.ties})"),
        )
        return ", ".join(
            [f"{counts.queries} queries", *(f"{n} {what}" for n, what in touched if n)]
        )

    def __repr__(self) -> str:
        return f"<Evaluation of {self.run or 'a run'}: {self.notes}; {', '.join(self.names)}>"

    def __str__(self) -> str:
        return rendered("as_text", self)

    def _repr_html_(self) -> str:
        return rendered("as_html", self)


def joined(parts: Sequence[Evaluation], qids: pa.Array | None = None) -> Evaluation:
    """Return the evaluation of all queries of some parts, whose `qids` are put in their place."""
    first = parts[0]

    def columns(each: Sequence[Mapping[int, Floats]]) -> dict[int, Floats]:
        return {column: np.concatenate([one[column] for one in each]) for column in each[0]}

    return replace(
        first,
        values=np.concatenate([part.values for part in parts]),
        qids=pa.concat_arrays([part.qids for part in parts]) if qids is None else qids,
        counts=Counts(*map(sum, zip(*(astuple(part.counts) for part in parts), strict=True))),
        weights=columns([part.weights for part in parts]),
        errors=columns([part.errors for part in parts]),
        unanswered=tuple(qid for part in parts for qid in part.unanswered),
        groups={
            name: pa.concat_arrays([part.groups[name] for part in parts])
            for name in first.groups if all(name in part.groups for part in parts)
        },
    )  # fmt: skip


def names_of(text: str) -> list[str]:
    """Return the canonical names of the metrics that `text` stands for; none if it is wrong."""
    try:
        return [str(metric) for metric in parse(text)]
    except UnknownNameError:
        return []


def summarise(
    values: Floats, how: str, weights: Floats | None = None, undefined: str = "skip"
) -> float:
    """Return one number for the values of all queries.

    Parameters
    ----------
    how : {"mean", "sum", "gm"}
        ``gm``: the values are logarithms, and the result is exp of their mean.
    weights : ndarray, shape (n_queries,), optional
        Weights of a mean.
    undefined : {"skip", "zero", "nan"}
        What becomes of undefined (NaN) values: they are left out, count as 0, or make the
        result NaN.

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
    kept = values if defined.all() else values[defined]
    if how == "sum":
        return math.fsum(kept.tolist())
    if not kept.size:
        return math.nan
    if weights is not None:
        weights = weights[defined]
        total = math.fsum(weights.tolist())
        return math.fsum((kept * weights).tolist()) / total if total else math.nan
    mean = math.fsum(kept.tolist()) / kept.size
    return math.exp(mean) if how == "gm" else mean
