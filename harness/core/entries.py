"""The rows of a leaderboard: a run on a dataset, its slices, and systems of several seeds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from ..errors import HarnessError, first_of
from .aligned import Memo
from .arrow import call
from .cell_key import CellKey, Columns, Keyed, pairs
from .evaluation import ByMetric, Counts, Evaluation
from .metric import Metric
from .ragged import Bools, Floats, frozen

T = TypeVar("T")
K = TypeVar("K")
BELOW = "below "
"""Start of the label of the lowest bin."""


def grouped_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group items by their keys."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def natural(text: str) -> tuple[tuple[int, int, str, str], ...]:
    """Return a key that sorts numbers in text by size.

    >>> sorted(["fold10", "fold2", "fold1", "fold02"], key=natural)
    ['fold1', 'fold02', 'fold2', 'fold10']
    """
    pieces = re.findall(r"[0-9]+|[^0-9]+", text)
    return tuple(
        (0, len(size := p.lstrip("0")), size, p) if p[0] in "0123456789" else (1, 0, p, p)
        for p in pieces
    )


def whole_name(pattern: str, columns: Mapping[str, str], parts: Sequence[str]) -> str:
    """Return the name of the dataset that others are folds of.

    It is the dataset's name in the config (`pattern`) without the placeholders of the columns
    `parts` that tell folds apart, the words before them that say the same, and what joins them;
    empty if nothing else is left.

    >>> whole_name("mslr-fold{fold}", {"fold": "1"}, ["fold"])
    'mslr'
    >>> whole_name("{name}/part {part}", {"name": "news", "part": "2"}, ["part"])
    'news'
    >>> whole_name("fold={fold}", {"fold": "1"}, ["fold"])
    ''
    """
    for name in parts:
        word = re.escape(name)
        placeholder = rf"[-_. /,:=]*(?:{word})?[-_. :=]?\{{{word}\}}"
        pattern = re.sub(placeholder, "", pattern, flags=re.I).replace("[]", "").replace("()", "")
    for name, value in columns.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern.strip("-_. /,:=")


def sliced_name(dataset: str, group: str) -> str:
    """Return the name of a slice of a dataset.

    >>> sliced_name("letor", "length=short")
    'letor [length=short]'
    """
    return f"{dataset} [{group}]"


@dataclass(frozen=True)
class Slice:
    """One group of queries: those that have a label in a column."""

    column: str
    label: str

    @property
    def group(self) -> str:
        """Name of the slice: ``length=short``."""
        return f"{self.column}={self.label}"

    def of(self, evaluation: Evaluation) -> Evaluation | None:
        """Return an evaluation of the queries of this slice; None if it has none of them."""
        labels = evaluation.groups.get(self.column)
        if labels is None:
            return None
        keep = np.asarray(call("equal", [labels, self.label]).fill_null(False))
        if not keep.any():
            return None
        qids = evaluation.qids.filter(pa.array(keep))
        in_slice = {*qids.to_pylist()} if evaluation.unanswered else set()
        unanswered = tuple(qid for qid in evaluation.unanswered if qid in in_slice)
        return replace(
            evaluation,
            values=evaluation.values[keep],
            qids=qids,
            counts=Counts(queries=len(qids), missing=len(unanswered)),
            weights={column: values[keep] for column, values in evaluation.weights.items()},
            errors={column: values[keep] for column, values in evaluation.errors.items()},
            unanswered=unanswered,
            dataset=sliced_name(evaluation.dataset, self.group),
            groups={},
            group=self.group,
        )


def slices(labels: Mapping[str, Iterable[str]]) -> list[Slice]:
    """Return the slices of some labels by column: bins and numbers by size, before texts."""
    return [
        Slice(column, label)
        for column, texts in labels.items()
        for label in sorted({*texts}, key=_order)
    ]


def _order(label: str) -> tuple[int, float, str]:
    try:
        return not label.startswith(BELOW), float(label.removeprefix(BELOW).split(" ")[0]), label
    except ValueError:
        return 2, 0.0, label


@dataclass(frozen=True)
class Choice:
    """The setting chosen for one run on validation queries, with all candidates.

    `within` are the columns that the choice is for (fold, seed). `metric` chooses by its mean
    over the validation cells of a setting. `ranked` are the settings and their validation values,
    best first, equal ones in the board's order. `left_out` have no value on some validation cell.
    """

    run: str
    within: Columns
    datasets: tuple[str, ...]
    metric: str
    ranked: tuple[tuple[Columns, float], ...]
    left_out: tuple[Columns, ...] = ()

    @property
    def setting(self) -> Columns:
        """The setting chosen."""
        return self.ranked[0][0]

    @property
    def value(self) -> float:
        """Return the validation value of the setting."""
        return self.ranked[0][1]

    @property
    def tied(self) -> tuple[Columns, ...]:
        """Other settings with the same validation value."""
        return tuple(setting for setting, value in self.ranked[1:] if value == self.value)

    @property
    def name(self) -> str:
        """Run and columns of the choice: ``gbrt fold=1 seed=2``."""
        return CellKey("", self.run, self.within).run_with_columns

    def __str__(self) -> str:
        on = first_of(self.datasets)
        best = f"best of {len(self.ranked)} settings, chosen on {on} by {self.metric}"
        return f"{pairs(self.setting)}: {best}"


@dataclass(frozen=True)
class Failed(Keyed):
    """A run on a dataset that could not be evaluated, and why; `pattern` is as an entry's.

    `brief` are the first words of the error, if all of it is printed elsewhere; `cause` is the
    error itself, if the run was evaluated just now.
    """

    dataset: str
    run: str
    columns: Mapping[str, str]
    error: str
    pattern: str = ""
    brief: str = ""
    cause: HarnessError | None = field(default=None, compare=False, repr=False)


class Spread(NamedTuple):
    """Repetitions (seeds) taken together: how many, their deviation, an interval of the mean."""

    repetitions: int
    deviation: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Entry(Keyed):
    """One row: a run on a dataset, the values captured by placeholders, and its evaluation.

    `pattern` is the dataset's name with its placeholders, if it has any. `choices` say which
    settings were chosen on validation queries; they are not among `columns`. `warned` are the
    rules of the guard's warnings about the run's file.

    Summaries are computed from the evaluation's values, unless they are `known`, or means over
    `parts`, folds that count alike.
    """

    evaluation: Evaluation
    columns: Mapping[str, str] = field(default_factory=dict)
    pattern: str = ""
    _: KW_ONLY
    choices: tuple[Choice, ...] = ()
    warned: tuple[str, ...] = ()
    known: Mapping[str, float] | None = None
    parts: tuple[Entry, ...] = ()

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return self.evaluation.dataset

    @property
    def run(self) -> str:
        """Name of the run."""
        return self.evaluation.run

    @cached_property
    def summary(self) -> dict[str, float]:
        """Each metric over all queries, or the mean of such summaries."""
        if self.known is not None:
            return ByMetric(self.known)
        return _mean_summary(self.parts) if self.parts else self.evaluation.summary()

    def summary_over(self, metric: str, queries: Bools) -> float:
        """Return one metric's summary over some queries, a bool for each of the evaluation's."""
        if not self.parts:
            return self.evaluation.summary_over(metric, queries)
        ends = np.cumsum([len(part.evaluation.qids) for part in self.parts])
        split = zip(self.parts, np.split(queries, ends[:-1]), strict=True)
        return _mean(
            [part.summary_over(metric, counted) for part, counted in split if counted.any()]
        )

    def cut(self: E, query_slice: Slice) -> E | None:
        """Return the entry of a slice of the queries; None if it has none of them."""
        evaluation = query_slice.of(self.evaluation)
        if evaluation is None:
            return None
        pattern = sliced_name(self.pattern, query_slice.group) if self.pattern else ""
        return replace(
            self, evaluation=evaluation, pattern=pattern, parts=_cuts(self.parts, query_slice)
        )

    @property
    def spread(self) -> dict[str, Spread]:
        """Spread of each metric's summary over repetitions, if the entry has several."""
        return {}

    @property
    def chosen(self) -> str:
        """Description of the candidates, if the entry is the best of several; else empty."""
        return "; ".join(map(str, self.choices))

    @property
    def all_columns(self) -> dict[str, str]:
        """The columns of the cell itself: with those of the setting chosen."""
        return {
            **self.columns,
            **{name: value for choice in self.choices for name, value in choice.setting},
        }

    @cached_property
    def undefined(self) -> dict[str, int]:
        """Number of queries for which each metric is undefined, if any."""
        queries = len(self.evaluation.qids)
        return {name: queries - n for name, n in self.evaluation.n().items() if n < queries}


E = TypeVar("E", bound=Entry)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _mean_summary(entries: Sequence[Entry]) -> dict[str, float]:
    summaries = [entry.summary for entry in entries]
    return ByMetric(
        {
            name: _mean([summary.get(name, math.nan) for summary in summaries])
            for name in summaries[0]
        }
    )


def _cuts(entries: Iterable[E], query_slice: Slice) -> tuple[E, ...]:
    return tuple(cut for entry in entries if (cut := entry.cut(query_slice)) is not None)


def with_slices(entries: Sequence[E]) -> list[E]:
    """Return entries or systems, those of each dataset followed by those of its slices."""
    if not any(entry.evaluation.groups for entry in entries):
        return list(entries)
    sliced = []
    for members in grouped_by(entries, lambda entry: entry.dataset).values():
        labels: dict[str, set[str]] = {}
        for member in members:
            for column, texts in member.evaluation.groups.items():
                labels.setdefault(column, set()).update(filter(None, texts.unique().to_pylist()))
        sliced += [
            *members,
            *(cut for query_slice in slices(labels) for cut in _cuts(members, query_slice)),
        ]
    return sliced


def notes_of(entries: Sequence[Entry | System]) -> dict[str, Any]:
    """Return the choices and the warnings of any of the entries, for an entry made of them."""
    return {
        "choices": tuple(dict.fromkeys(choice for entry in entries for choice in entry.choices)),
        "warned": tuple(dict.fromkeys(rule for entry in entries for rule in entry.warned)),
    }


@dataclass(frozen=True)
class Chosen:
    """Choice of a system as the best of `of` values of the columns `names`, by `metric`.

    `on` is the validation dataset, or "" for the reported queries. `least` is the smallest number
    of values if its folds and seeds had different numbers.
    """

    names: tuple[str, ...]
    of: int
    metric: str
    on: str = ""
    least: int = 0


def best_of(choices: Sequence[Chosen], name: Callable[[str], str] = str) -> str:
    """Return the words "best of N on ... by ..."; empty if none was chosen.

    `name` is the name of a metric.
    """
    if all(choice.of == 1 for choice in choices):
        return ""
    low = min(choice.least or choice.of for choice in choices)
    high = max(choice.of for choice in choices)
    how_many = f"{high}" if low == high else f"{low} to {high}"
    metrics = " or ".join(dict.fromkeys(name(choice.metric) for choice in choices))
    names = " and ".join(choices[0].names)
    values, on = ("settings", choices[0].on) if choices[0].on else ("values", "these queries")
    return f"best of {how_many} {values} of {names}, chosen on {on} by {metrics}"


@dataclass(frozen=True)
class Incomplete:
    """A system with `n` of `of` expected repetitions.

    That is the most of any system of the dataset whose repetitions differ in the same columns
    `names` (``seed``), or its own number with those that failed.
    """

    dataset: str
    run: str
    n: int
    of: int
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.called(self.run, self.dataset)

    def called(self, run: str, dataset: str) -> str:
        """Text of the share with other names; without the dataset if it is empty."""
        columns = f" ({' and '.join(self.names)})" if self.names else ""
        return f"{run}{f' on {dataset}' if dataset else ''} has {self.share}{columns}"

    @property
    def share(self) -> str:
        """Return a share in words: ``1 of 3``."""
        return f"{self.n} of {self.of}"


@dataclass(frozen=True, eq=False)
class System(Entry, Memo):
    """One run on one dataset: the mean of an entry for each seed, or of the only one.

    The `entries` are over the same queries. It has `intervals` by metric, is `best_of` several if
    it was chosen, and `incomplete` if repetitions are missing.
    """

    entries: tuple[Entry, ...] = ()
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    best_of: Chosen | None = None
    incomplete: Incomplete | None = None

    @classmethod
    def of(
        cls,
        entries: Sequence[Entry],
        run: str,
        columns: Mapping[str, str] | None = None,
        best_of: Chosen | None = None,
    ) -> System:
        """Return the system of some entries, with the `columns` that belong to its own name.

        Counts are the largest of the repetitions; values are means over them, query by query.
        """
        parts = [entry.evaluation for entry in entries]
        values = parts[0].values if len(parts) == 1 else np.mean([p.values for p in parts], axis=0)
        counts = Counts.combined([part.counts for part in parts], max)
        evaluation = replace(parts[0], run=run, errors={}, values=values, counts=counts)
        notes = notes_of(entries) | {"entries": tuple(entries), "best_of": best_of}
        return cls(evaluation, columns or {}, entries[0].pattern, **notes)

    @cached_property
    def summary(self) -> dict[str, float]:
        """The mean of the repetitions' summaries."""
        return _mean_summary(self.entries)

    def summary_over(self, metric: str, queries: Bools) -> float:
        """See the base class."""
        return _mean([entry.summary_over(metric, queries) for entry in self.entries])

    def cut(self, query_slice: Slice) -> System | None:
        """See the base class."""
        entries = _cuts(self.entries, query_slice)
        if not entries:
            return None
        return System.of(entries, self.run, self.columns, self.best_of)

    @cached_property
    def spread(self) -> dict[str, Spread]:
        """See the base class."""
        n, nothing = len(self.entries), (math.nan, math.nan)
        return {
            str(metric): Spread(
                n, self.deviation(metric), *self.intervals.get(str(metric), nothing)
            )
            for metric in self.metrics
        }

    @property
    def chosen(self) -> str:
        """See the base class."""
        return how_chosen([self])

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics evaluated."""
        return self.evaluation.metrics

    @cached_property
    def qids(self) -> list[str]:
        """The queries, in the order of `values`."""
        qids: list[str] = self.evaluation.qids.to_pylist()
        return qids

    def values(self, metric: Metric | str) -> Floats:
        """Return each query's mean over the repetitions, ``(n_queries,)``; NaN if one has none."""
        columns = [entry.evaluation.column(metric) for entry in self.entries]
        return columns[0] if len(columns) == 1 else frozen(np.mean(columns, axis=0))

    def weights(self, metric: Metric | str) -> Floats | None:
        """Return the weight of each query in a metric's summary; None if all are equal."""
        return self.evaluation.weights.get(self.evaluation.names.index(str(metric)))

    def repetitions(self, metric: Metric | str) -> Floats:
        """Return the values of each repetition, ``(n_repetitions, n_queries)``."""
        return np.array([entry.evaluation.column(metric) for entry in self.entries])

    def value(self, metric: Metric | str) -> float:
        """Return the mean of the repetitions' summaries; NaN for a metric that they do not have."""
        return float(self.summary.get(str(metric), math.nan))

    def deviation(self, metric: Metric | str) -> float:
        """Return the standard deviation of the repetitions' summaries; NaN for a single one."""
        summaries = [entry.summary.get(str(metric), math.nan) for entry in self.entries]
        return float(np.std(summaries, ddof=1)) if len(summaries) > 1 else math.nan

    def n(self, metric: Metric | str) -> int:
        """Number of queries with a value in every repetition."""
        return int((~np.isnan(self.values(metric))).sum())

    @property
    def coverage(self) -> tuple[int, int]:
        """Number of judged queries that every repetition answered, and number of judged queries."""
        coverages = [entry.evaluation.coverage for entry in self.entries]
        return min(answered for answered, _ in coverages), coverages[0][1]

    @cached_property
    def varying(self) -> tuple[str, ...]:
        """Names of the captured columns that tell the repetitions apart: ``seed``."""
        names = dict.fromkeys(name for entry in self.entries for name in entry.columns)
        return tuple(
            name for name in names if len({entry.columns.get(name) for entry in self.entries}) > 1
        )

    @property
    def group(self) -> str:
        """Return column and label of a slice; empty for the whole dataset."""
        return self.evaluation.group

    @property
    def whole(self) -> str:
        """The dataset, without the group."""
        return self.dataset.removesuffix(f" [{self.group}]") if self.group else self.dataset


def how_chosen(systems: Iterable[System], name: Callable[[str], str] = str) -> str:
    """Return the words on chosen systems for a caption; empty if none was chosen."""
    return best_of([system.best_of for system in systems if system.best_of is not None], name)
