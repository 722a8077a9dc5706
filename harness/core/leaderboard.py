"""Leaderboards: runs x metrics, which every report renders; a slice of queries is a dataset."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import pyarrow as pa

from ..errors import first_of
from . import Printable
from .aligned import Memo
from .arguments import Names
from .arrow import repeated
from .cell_key import pairs
from .entries import Choice, Entry, Failed, grouped_by, whole_name, with_slices
from .metric import Metric
from .pandas_frame import data_frame

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Summary:
    """Summary over captured columns, which gives the leaderboard one row for each system."""

    pool: Names = ()
    """Columns of the parts of a dataset (folds); their queries are pooled."""
    average: Names = ()
    """Columns of parts with equal weights, for any number of queries: the summary is the mean of
    those of the parts. Tests pool the queries of all parts."""
    spread: Names = ()
    """Columns of repetitions (seeds, assessors): mean, deviation, and an interval over repetitions
    and queries."""
    best: Names = ()
    """Columns of which only the best value is shown, by the first metric on the reported queries.
    Such results are too good, so they need this key."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns that distinguish the parts of a dataset."""
        return (*self.pool, *self.average)

    def called(self, name: str) -> Summary:
        """Return the summary with the name of the experiment, for datasets without a name."""
        own = replace(self)
        vars(own).update(name=name)
        return own

    def whole(self, pattern: str, columns: Mapping[str, str], dataset: str) -> str:
        """Return the name of the dataset that others are parts or repetitions of."""
        joint = [name for name in (*self.parts, *self.spread) if f"{{{name}}}" in pattern]
        if not joint:
            return dataset
        return whole_name(pattern, columns, joint) or vars(self).get("name", "all")

    def __bool__(self) -> bool:
        return bool(self.pool or self.average or self.spread or self.best)


PART = 1 << 15
"""Rows of a part of all values, a group of its Parquet file: writing takes 1 kB for each."""


def numbers_of(metrics: Iterable[Metric]) -> list[Metric]:
    """Return the metrics that have numbers to show."""
    return [metric for metric in metrics if not metric.definition.is_text]


UNKNOWN = ("extra", "empty", "retrieved", "judged", "judgements", "tied")
"""Counts that slices of the queries do not have."""
FAILED = "error"
"""Column with the reason why a run could not be evaluated, if there is such a run."""
CHOSEN = "chosen_from"
"""Column with the candidates of a row that is the best of several, if there is such a row."""
WEIGHTED = "weighted_by"
"""Column with the name of the query weights, if any row has them."""


@dataclass(frozen=True)
class Select:
    """Selection of the best setting of each run on validation queries."""

    on: str
    """The dataset of validation queries, by its name in the config."""
    by: str
    """The metric that chooses; one of `metrics`."""
    over: Names
    """Columns of runs that make a setting, such as lr and leaves."""
    within: Names = ()
    """Columns that each have a choice of their own, such as model, fold and seed; all but `over` if
    left out. Validation values are averaged over columns that are not named here."""

    @property
    def shown(self) -> str:
        """Name of the validation queries without placeholders: ``vali``."""
        return whole_name(self.on, {}, re.findall(r"\{(\w+)\}", self.on)) or "validation"


@dataclass(frozen=True, eq=False)
class Selection:
    """All choices of a leaderboard.

    `cells` is everything that was evaluated: all settings, on validation queries too. `absent`
    could not be chosen, or has no predictions of the setting chosen.
    """

    settings: Select
    cells: Leaderboard
    choices: tuple[Choice, ...]
    absent: tuple[Failed, ...] = ()

    def in_words(self, choices: Sequence[Choice], metric: str = "") -> str:
        """Return a phrase with the number of settings behind choices, and the scope of each.

        `metric` is what the metric that chooses is called, if not by its name.
        """
        numbers = [len(choice.ranked) for choice in choices]
        low, high = min(numbers), max(numbers)
        n = f"{high}" if low == high else f"{low} to {high}"
        names = ["run", *dict.fromkeys(name for choice in choices for name, _ in choice.within)]
        within = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        over, plan = " and ".join(self.settings.over), self.settings
        return (
            f"best of {n} settings of {over} for each {within}, chosen on {plan.shown} by "
            f"{metric or choices[0].metric}"
        )

    def notes(self, choices: Sequence[Choice]) -> Iterator[str]:
        """Yield notes on tied choices, and on settings that were left out."""
        ties = [
            f"{choice.name}: {', '.join(map(pairs, (choice.setting, *choice.tied)))}"
            for choice in choices
            if choice.tied
        ]
        if ties:
            yield (
                f"{len(ties)} of {len(choices)} choices are ties; the first setting is taken: "
                f"{first_of(ties)}."
            )
        out = [
            f"{choice.name}: {', '.join(map(pairs, choice.left_out))}"
            for choice in choices
            if choice.left_out
        ]
        if out:
            yield f"Settings without all validation values are left out: {first_of(out)}."


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Printable, Memo):
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

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """Every metric of any entry that has numbers, in order of first appearance."""
        by_name: dict[str, Metric] = {}
        for entry in self.entries:
            by_name.update((str(metric), metric) for metric in entry.evaluation.metrics)
        return tuple(numbers_of(by_name.values()))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the captured columns, in order of first appearance."""
        return tuple(dict.fromkeys(name for entry in self.entries for name in entry.columns))

    def by_dataset(self) -> Iterator[tuple[str, list[Entry]]]:
        """Yield each dataset's name and entries."""
        yield from grouped_by(self.entries, lambda entry: entry.dataset).items()

    def unsettled(self, metric: Metric, entries: Sequence[Entry]) -> set[int]:
        """Positions of `entries` that could change places by the order of tied documents alone.

        With bounds of the metric (``ties: bounds``) two entries can, if the smallest value of the
        better one is not above the largest value of the other.
        """
        low, high = f"{metric}_min", f"{metric}_max"
        summaries = [entry.summary for entry in entries]
        if not all({low, high, str(metric)} <= summary.keys() for summary in summaries):
            return set()
        ranges = [(summary[low], summary[str(metric)], summary[high]) for summary in summaries]
        movable = set()
        for (first_entry, (a_low, a, a_high)), (second_entry, (b_low, b, b_high)) in combinations(
            enumerate(ranges), 2
        ):
            if a == b:
                moves = a_low != b_high or a_high != b_low
            else:
                moves = a_low <= b_high if a > b else b_low <= a_high
            if moves:
                movable |= {first_entry, second_entry}
        return movable

    def per_query_parts(self) -> Iterator[pa.Table]:
        """Yield every value: dataset, run, captured columns, qid, metric, value.

        Each table has whole entries, of `PART` rows together, or one entry.
        """
        part: list[pa.Table] = []
        for entry in self.entries:
            size = entry.evaluation.values.size
            if part and sum(map(len, part)) + size > PART:
                yield pa.concat_tables(part).unify_dictionaries()
                part = []
            part.append(self._values_of(entry))
        yield pa.concat_tables(part).unify_dictionaries()

    def to_frame(self) -> pandas.DataFrame:
        """Return every value as a tidy data frame (needs pandas).

        Columns: dataset, run, captured columns, qid, columns of query groups, metric, value, and
        weight if queries have weights.
        """
        table = pa.concat_tables(self.per_query_parts(), promote_options="default")
        texts = [
            pa.string() if pa.types.is_dictionary(kind) else kind for kind in table.schema.types
        ]
        plain = pa.schema(list(zip(table.column_names, texts, strict=True)))
        return data_frame(table.cast(plain))

    def sliced(self) -> Leaderboard:
        """Return the leaderboard with an entry for each slice of the queries."""
        return replace(self, entries=tuple(with_slices(self.entries)))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Names of the columns that group queries, in order of first appearance."""
        return tuple(
            dict.fromkeys(name for entry in self.entries for name in entry.evaluation.groups)
        )

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
        is_weighted = any(entry.evaluation.weighted_by for entry in self.entries)
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
            if is_weighted:
                row[WEIGHTED] = entry.evaluation.weighted_by
            if has_bounds:
                row["unsettled"] = " ".join(unsettled[id(entry)])
            if is_chosen:
                row[CHOSEN] = entry.chosen
            spread = entry.spread
            if spread:
                row["repetitions"] = max(
                    spread_of_metric.repetitions for spread_of_metric in spread.values()
                )
            for metric in self.metrics:
                name = str(metric)
                value = entry.summary.get(name, math.nan)
                is_whole = metric.definition.summary == "sum" and value.is_integer()
                row[name] = int(value) if is_whole else value
                if name in spread:
                    _, sd, low, high = spread[name]
                    row |= {f"{name} sd": sd, f"{name} low": low, f"{name} high": high}
            rows.append(row)
        for failed in self.failed:
            where = {"dataset": failed.dataset, "run": failed.run}
            where |= {name: failed.columns.get(name, "") for name in self.columns}
            rows.append({**dict.fromkeys(rows[0], math.nan), **where, FAILED: failed.error})
        if self.failed:
            rows = [{**row, FAILED: row.get(FAILED, "")} for row in rows]
        return rows


def best(metric: Metric, values: list[float], digits: int = 4) -> set[int]:
    """Positions of the best `values` at the precision shown; empty for a mere count."""
    direction = metric.definition.direction
    rounded = [round(value, digits) for value in values]
    defined = [value for value in rounded if not math.isnan(value)]
    if direction is None or len(values) < 2 or not defined:
        return set()
    target = max(defined) if direction == "higher" else min(defined)
    return {place for place, value in enumerate(rounded) if value == target}
