"""Runs x metrics: what every report renders; slices of queries are datasets of their own."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from .aligned import Memo
from .arguments import Names
from .arrow import call, repeated
from .evaluation import ByMetric, Counts, Evaluation, rendered
from .metric import Metric
from .ragged import Bools

if TYPE_CHECKING:
    from .selection import Choice, Selection
    from .systems import Incomplete, System

NOT_COMPARED = (
    "runs are compared query by query, and average weighs queries by the size of their part; "
    "pool the parts, or leave compare out"
)
"""Why there are no comparisons next to an average."""


@dataclass(frozen=True)
class Summary:
    """What becomes of captured columns: the leaderboard has one row a system then."""

    pool: Names = ()
    """Columns of datasets that are parts of one (folds): their queries are taken together."""
    average: Names = ()
    """Such columns whose parts count alike, with any number of queries: the summary is the
    mean of the parts' summaries."""
    spread: Names = ()
    """Columns of repetitions (seeds): mean, deviation, and an interval over seeds and queries."""
    best: Names = ()
    """Columns whose best value alone is shown, chosen by the first metric on the reported queries.
    Such results are too good, so they are made on request only."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns that tell the parts of a dataset apart."""
        return (*self.pool, *self.average)

    def __bool__(self) -> bool:
        return bool(self.pool or self.average or self.spread or self.best)


T = TypeVar("T")
K = TypeVar("K")
BELOW = "below "
"""How the label of the lowest bin begins."""
PART = 1 << 15
"""Rows of a part of all values, a group of its Parquet file: writing takes 1 kB for each."""


@dataclass(frozen=True)
class Slice:
    """One group of queries: those that have a label in a column."""

    column: str
    label: str

    @property
    def group(self) -> str:
        """What it is called: ``length=short``."""
        return f"{self.column}={self.label}"

    def of(self, evaluation: Evaluation) -> Evaluation | None:
        """Return an evaluation of the queries of this slice; None if it has none of them."""
        labels = evaluation.groups.get(self.column)
        if labels is None:
            return None
        keep = np.asarray(call("equal", labels, self.label).fill_null(False))
        if not keep.any():
            return None
        qids = evaluation.qids.filter(pa.array(keep))
        own = {*qids.to_pylist()} if evaluation.unanswered else set()
        unanswered = tuple(qid for qid in evaluation.unanswered if qid in own)
        return replace(
            evaluation, values=evaluation.values[keep], qids=qids, unanswered=unanswered,
            counts=Counts(queries=len(qids), missing=len(unanswered)),
            weights={column: found[keep] for column, found in evaluation.weights.items()},
            errors={column: found[keep] for column, found in evaluation.errors.items()},
            dataset=sliced_name(evaluation.dataset, self.group), groups={}, group=self.group,
        )  # fmt: skip


def sliced_name(dataset: str, group: str) -> str:
    """Return the name of a slice of a dataset.

    >>> sliced_name("letor", "length=short")
    'letor [length=short]'
    """
    return f"{dataset} [{group}]"


def whole_of(dataset: str, group: str) -> str:
    """Return the dataset that a slice is of; the dataset itself if `group` is empty."""
    return dataset.removesuffix(f" [{group}]") if group else dataset


def slices(labels: Mapping[str, Iterable[str]]) -> list[Slice]:
    """Return the slices of some labels by column: bins and numbers by size, before texts."""
    return [
        Slice(column, label)
        for column, some in labels.items()
        for label in sorted({*some}, key=_order)
    ]


def _order(label: str) -> tuple[int, float, str]:
    try:
        return not label.startswith(BELOW), float(label.removeprefix(BELOW).split(" ")[0]), label
    except ValueError:
        return 2, 0.0, label


def grouped_by(some: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return some things by their keys."""
    found: dict[K, list[T]] = {}
    for one in some:
        found.setdefault(key(one), []).append(one)
    return found


def with_slices(
    items: Sequence[T], evaluation: Callable[[T], Evaluation], cut: Callable[[T, Slice], T | None]
) -> list[T]:
    """Return entries or systems, those of each dataset followed by those of its slices."""
    if not any(evaluation(one).groups for one in items):
        return list(items)
    found = []
    for some in grouped_by(items, lambda one: evaluation(one).dataset).values():
        found += some
        labels: dict[str, set[str]] = {}
        for groups in (evaluation(one).groups for one in some):
            for column, texts in groups.items():
                labels.setdefault(column, set()).update(filter(None, texts.unique().to_pylist()))
        for each in slices(labels):
            found += [part for one in some if (part := cut(one, each)) is not None]
    return found


class Spread(NamedTuple):
    """Repetitions (seeds) taken together: how many, their deviation, an interval of the mean."""

    repetitions: int
    deviation: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Entry:
    """One row: a run on a dataset, the values captured by placeholders, and its evaluation.

    `pattern` is the dataset's name with its placeholders, if it has any. `choices` say which
    settings were chosen on validation queries; they are not among `columns`. `warned` are the
    rules of the guard's warnings about the run's file.

    Summaries are computed from the evaluation's values, unless they are `known`, or means: over
    `parts`, folds that count alike, or over the repetitions of a `system`. That has `intervals`
    by metric, is `best_of` several if it was chosen, and `incomplete` if repetitions are missing.
    """

    evaluation: Evaluation
    columns: Mapping[str, str] = field(default_factory=dict)
    pattern: str = ""
    _: KW_ONLY
    choices: tuple[Choice, ...] = ()
    warned: tuple[str, ...] = ()
    known: Mapping[str, float] | None = None
    parts: tuple[Entry, ...] = ()
    system: System | None = None
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    best_of: str = ""
    incomplete: Incomplete | None = None

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
        some = self.parts if self.system is None else self.system.entries
        if not some:
            return self.evaluation.summary()
        found = [one.summary for one in some]
        return ByMetric(
            {name: _mean([one.get(name, math.nan) for one in found]) for name in found[0]}
        )

    def summary_over(self, metric: str, queries: Bools) -> float:
        """Return one metric's summary over some queries, a bool for each of the evaluation's."""
        if self.system is not None:
            return _mean([one.summary_over(metric, queries) for one in self.system.entries])
        if not self.parts:
            return self.evaluation.summary_over(metric, queries)
        ends = np.cumsum([len(part.evaluation.qids) for part in self.parts])
        split = zip(self.parts, np.split(queries, ends[:-1]), strict=True)
        return _mean([part.summary_over(metric, some) for part, some in split if some.any()])

    def cut(self, one: Slice) -> Entry | None:
        """Return the entry of a slice of the queries; None if it has none of them."""
        part = one.of(self.evaluation)
        pattern = sliced_name(self.pattern, one.group) if self.pattern else ""
        if part is None:
            return None
        parts = tuple(cut for each in self.parts if (cut := each.cut(one)) is not None)
        return Entry(
            part, self.columns, pattern, choices=self.choices, warned=self.warned, parts=parts
        )

    @cached_property
    def spread(self) -> dict[str, Spread]:
        """How far each metric's summary is from certain, if the entry is several repetitions."""
        if (system := self.system) is None:
            return {}
        n, nothing = len(system.entries), (math.nan, math.nan)
        return {
            str(one): Spread(n, system.deviation(one), *self.intervals.get(str(one), nothing))
            for one in system.metrics
        }

    @property
    def chosen(self) -> str:
        """What the entry is the best of, if it was chosen from several; else empty."""
        return "; ".join(map(str, self.choices)) if self.system is None else self.best_of

    @property
    def all_columns(self) -> dict[str, str]:
        """The columns of the cell itself: with those of the setting chosen."""
        return {
            **self.columns,
            **{name: one for each in self.choices for name, one in each.setting},
        }

    @cached_property
    def undefined(self) -> dict[str, int]:
        """How many queries each metric is undefined for, if any."""
        queries = len(self.evaluation.qids)
        return {name: queries - n for name, n in self.evaluation.n().items() if n < queries}


def _mean(found: Sequence[float]) -> float:
    return math.fsum(found) / len(found)


TEXTS = {"relstring": "the first grades as text", "runid": "the run's tag"}
"""Metrics that are text in trec_eval, and what it prints; their 0 here has no meaning."""


def numbers_of(metrics: Iterable[Metric]) -> list[Metric]:
    """Return the metrics that have numbers to show."""
    return [metric for metric in metrics if metric.definition.name not in TEXTS]


UNKNOWN = ("extra", "empty", "retrieved", "judged", "judgements", "tied")
"""Counts that slices of the queries do not have."""
FAILED = "error"
"""Column that says why a run could not be evaluated, if there is such a run."""
CHOSEN = "chosen_from"
"""Column that says what a row is the best of, if there is such a row."""


@dataclass(frozen=True)
class Failed:
    """A run on a dataset that could not be evaluated, and why; `pattern` is as an entry's.

    `brief` are the first words of the error, if all of it is printed elsewhere.
    """

    dataset: str
    run: str
    columns: Mapping[str, str]
    error: str
    pattern: str = ""
    brief: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Memo):
    """Runs x metrics, in the order of the config.

    `summary` says which entries make one system; `selection` is what the entries were chosen
    from on validation queries, if they were.
    """

    entries: tuple[Entry, ...]
    failed: tuple[Failed, ...] = ()
    summary: Summary = field(default_factory=Summary)
    selection: Selection | None = None

    def __repr__(self) -> str:
        return f"<Leaderboard: {len(self.entries)} rows, {', '.join(map(str, self.metrics))}>"

    def __str__(self) -> str:
        return rendered("printed", self)

    def _repr_html_(self) -> str:
        return rendered("in_notebook", self)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """Every metric of any entry that has numbers, in order of first appearance."""
        found: dict[str, Metric] = {}
        for entry in self.entries:
            found.update((str(metric), metric) for metric in entry.evaluation.metrics)
        return tuple(numbers_of(found.values()))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the captured columns, in order of first appearance."""
        return tuple(dict.fromkeys(name for entry in self.entries for name in entry.columns))

    def by_dataset(self) -> Iterator[tuple[str, list[Entry]]]:
        """Yield each dataset's name and entries."""
        for dataset in dict.fromkeys(entry.dataset for entry in self.entries):
            yield dataset, [entry for entry in self.entries if entry.dataset == dataset]

    def unsettled(self, metric: Metric, entries: Sequence[Entry]) -> set[int]:
        """Return which of `entries` could change places by the order of tied documents alone.

        With bounds of the metric (``ties: bounds``) two entries can, if the smallest value of the
        better one is not above the largest value of the other.
        """
        low, high = f"{metric}_min", f"{metric}_max"
        known = [entry.summary for entry in entries]
        if not all({low, high, str(metric)} <= summary.keys() for summary in known):
            return set()
        ranges = [(summary[low], summary[str(metric)], summary[high]) for summary in known]
        found = set()
        for (one, (a_low, a, a_high)), (two, (b_low, b, b_high)) in combinations(
            enumerate(ranges), 2
        ):
            if a == b:
                moves = a_low != b_high or a_high != b_low
            else:
                moves = a_low <= b_high if a > b else b_low <= a_high
            if moves:
                found |= {one, two}
        return found

    def per_query_parts(self, most: int = PART) -> Iterator[pa.Table]:
        """Yield every value: dataset, run, captured columns, qid, metric, value.

        Each table has whole entries, of `most` rows together, or one entry.
        """
        part: list[Entry] = []
        n_rows = 0
        for entry in self.entries:
            size = entry.evaluation.values.size
            if part and n_rows + size > most:
                yield _one_table([*map(self._values_of, part)])
                part, n_rows = [], 0
            part.append(entry)
            n_rows += size
        yield _one_table([*map(self._values_of, part)])

    def sliced(self) -> Leaderboard:
        """Return the leaderboard with an entry for each slice of the queries."""
        entries = with_slices(self.entries, lambda one: one.evaluation, Entry.cut)
        return replace(self, entries=tuple(entries))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Names of the columns that group queries, in order of first appearance."""
        return tuple(dict.fromkeys(name for one in self.entries for name in one.evaluation.groups))

    def _values_of(self, entry: Entry) -> pa.Table:
        table = entry.evaluation.to_arrow()
        for name in self.groups:  # other datasets have others
            if name not in table.column_names:
                column = pa.nulls(table.num_rows, pa.string())
                table = table.add_column(table.column_names.index("metric"), name, column)
        for place, name in enumerate(self.columns, start=2):
            column = repeated(entry.columns.get(name), table.num_rows)
            table = table.add_column(place, name, column)
        return table

    def rows(self) -> list[dict[str, str | int | float]]:
        """Return one flat row an entry: names, captured columns, counts, then every metric.

        Runs that could not be evaluated follow, with the reason in the last column.
        """
        rows: list[dict[str, str | int | float]] = []
        is_chosen = any(entry.chosen for entry in self.entries)
        has_bounds = any(str(metric).endswith("_max") for metric in self.metrics)
        unsettled: dict[int, list[str]] = defaultdict(list)
        for metric in self.metrics if has_bounds else ():
            for _, entries in self.by_dataset():
                for place in self.unsettled(metric, entries):
                    unsettled[id(entries[place])].append(str(metric))
        for entry in self.entries:
            row: dict[str, str | int | float] = {"dataset": entry.dataset, "run": entry.run}
            row |= {name: entry.columns.get(name, "") for name in self.columns}
            row |= entry.evaluation.counts.as_dict()
            if entry.evaluation.group:
                row |= dict.fromkeys(UNKNOWN, math.nan)
            row["undefined"] = " ".join(f"{name}={n}" for name, n in entry.undefined.items())
            if has_bounds:
                row["unsettled"] = " ".join(unsettled[id(entry)])
            if is_chosen:
                row[CHOSEN] = entry.chosen
            spread = entry.spread
            if spread:
                row["repetitions"] = max(each.repetitions for each in spread.values())
            for metric in self.metrics:
                name = str(metric)
                value = entry.summary.get(name, math.nan)
                whole = metric.definition.summary == "sum" and value.is_integer()
                row[name] = int(value) if whole else value
                if name in spread:
                    _, sd, low, high = spread[name]
                    row |= {f"{name} sd": sd, f"{name} low": low, f"{name} high": high}
            rows.append(row)
        for one in self.failed:
            where = {"dataset": one.dataset, "run": one.run}
            where |= {name: one.columns.get(name, "") for name in self.columns}
            rows.append({**dict.fromkeys(rows[0], math.nan), **where, FAILED: one.error})
        if self.failed:
            rows = [{**row, FAILED: row.get(FAILED, "")} for row in rows]
        return rows


def _one_table(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).unify_dictionaries()


def warned_runs(entries: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Return the runs that each rule of the guard warns of, by pairs of a run and its rules."""
    found: dict[str, list[str]] = {}
    for run, rules in dict.fromkeys((run, tuple(rules)) for run, rules in entries):
        for rule in rules:
            found.setdefault(rule, []).append(run)
    return {rule: [*dict.fromkeys(found[rule])] for rule in sorted(found)}


def best(metric: Metric, values: list[float], digits: int = 4) -> set[int]:
    """Return which of `values` are the best at the precision shown; none for a mere count."""
    direction = metric.definition.direction
    shown = [round(value, digits) for value in values]
    defined = [value for value in shown if not math.isnan(value)]
    if direction is None or len(values) < 2 or not defined:
        return set()
    target = max(defined) if direction == "higher" else min(defined)
    return {place for place, value in enumerate(shown) if value == target}
