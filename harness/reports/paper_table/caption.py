"""A table's caption and footnotes: which data, which test, which rules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...core.leaderboard import grouped_by, warned_runs
from ...core.metric import Metric
from ...core.systems import FEWER, System, how_chosen, incomplete
from ...errors import first_of
from ...stats.comparison import Comparison, Comparisons, Study
from ..methods import (
    SHOWN,
    data_in_words,
    missing_in_words,
    parts_in_words,
    repetitions_in_words,
    treatment,
)
from ..phrases import (
    NO_BEST,
    UNDEFINED,
    absent_baselines,
    capitalised,
    confidence,
    correction,
    counted,
    listed,
    spelled,
    warned_of,
)
from .model import MOST_MARKED, Cell, Column, Signs
from .settings import Settings


class Legend(NamedTuple):
    """How a format shows the best value, the second best, and signs of better baselines."""

    best: str
    second: str
    worse: str


MARKUP = Legend(
    "The best value of a column is in bold", "the second best underlined", "below the line"
)
TEXT = Legend("* the best value of a column", "+ the second best", "after _")


def finished(text: str | None) -> str:
    """Return the author's own words with a full stop.

    >>> finished("Both folds"), finished("Both folds!"), finished(None)
    ('Both folds.', 'Both folds!', '')
    """
    own = (text or "").strip()
    return own if own.endswith((".", "!", "?")) or not own else f"{own}."


@dataclass(frozen=True, eq=False)
class Remarks:
    """Writes the sentences above and below a table; `cells` are its columns."""

    study: Study
    settings: Settings
    columns: Sequence[Column]
    runs: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    signs: Signs

    @cached_property
    def metrics(self) -> list[Metric]:
        """Return the metrics shown."""
        return _metrics_of(self.columns)

    @cached_property
    def datasets(self) -> list[str]:
        """Return the datasets shown."""
        return list(dict.fromkeys(one.dataset for one in self.columns if one.dataset is not None))

    @cached_property
    def systems(self) -> list[System]:
        """Return the systems shown."""
        pairs = ((dataset, run) for dataset in self.datasets for run in self.runs)
        return [one for pair in pairs if (one := self.study.system(*pair)) is not None]

    @cached_property
    def outcomes(self) -> list[Comparison]:
        """The comparisons with a p-value whose outcome the table shows."""
        cells = {(one.dataset, str(one.metric)) for one in self.columns if one.kind == "metric"}
        runs = {(system.dataset, system.run) for system in self.systems}
        return [
            one
            for one in (self.signs.comparisons.rows if self.signs.comparisons else ())
            if not math.isnan(one.p_adjusted)
            and (one.dataset, str(one.metric)) in cells
            and (one.dataset, one.run) in runs
            and self.signs.of.keys() & {one.baseline, one.run}
        ]

    @cached_property
    def is_any_significant(self) -> bool:
        """Whether the table shows a significant difference."""
        comparisons = self.signs.comparisons
        return comparisons is not None and any(map(comparisons.is_significant, self.outcomes))

    @cached_property
    def warned(self) -> set[str]:
        """The runs that the guard warns of on the datasets shown."""
        return {one.run for one in self.systems if one.warned}

    def caption(self, legend: Legend) -> tuple[str, ...]:
        """Return the sentences of a caption that come after the author's own."""
        details = self.settings.caption.details
        if details == "none":
            return ()
        sentences = [*self._data(), *self._values(legend), *self._tested(legend), *self._ranks()]
        return (*sentences, *(self._treatment() if details == "full" else ()))

    def footnotes(self) -> tuple[str, ...]:
        """Return the notes below the table."""
        query_notes = (note for dataset in self.datasets for note in self._query_notes(dataset))
        return (*self._run_notes(), *query_notes, *self._column_notes())

    def _names(self, metrics: Iterable[Metric]) -> str:
        return listed(map(self.settings.metric_name, metrics))

    def _has(self, mark: str) -> bool:
        return any(getattr(cell, mark) for column in self.cells for cell in column)

    def _data(self) -> Iterator[str]:
        if not self.systems:
            return
        is_mean = all(one.definition.summary == "mean" for one in self.metrics)
        data = data_in_words(self.systems, self.settings.name)
        over = " and ".join(filter(None, (data, repetitions_in_words(self.systems))))
        parts = parts_in_words(self.study.board.summary)
        yield f"{'Means' if is_mean else 'Summaries'} over {over}{parts}."
        selection = self.study.board.selection
        choices = [c for one in self.systems for entry in one.entries for c in entry.choices]
        if selection is not None and choices:
            by = {str(one): self.settings.metric_name(one) for one in self.study.board.metrics}
            words = selection.in_words(choices, by.get(choices[0].metric, ""))
            yield f"Each tuned system is the {words}."
        elif chosen := how_chosen(self.systems):
            yield f"Each run is the {chosen}."

    def _values(self, legend: Legend) -> Iterator[str]:
        """Yield what numbers, spreads, bold and underlined values are."""
        if percent := [one for one in self.metrics if self.settings.is_percent(one)]:
            is_all = len(percent) == len(self.metrics)
            yield "Values are × 100." if is_all else f"× 100: {self._names(percent)}."
        repeated = [len(system.entries) > 1 for system in self.systems]
        if self.settings.spread == "deviation" and any(repeated):
            yield "After ±: standard deviation over the repetitions."
        if self.settings.spread == "interval" and not self.study.board.summary.average:
            plan = None if self.study.comparisons is None else self.study.comparisons.plan
            over_queries = "BCa bootstrap" if plan and plan.interval == "bca" else "t"
            hows = [] if all(repeated) else [over_queries]
            hows += ["clustered bootstrap over queries and repetitions"] if any(repeated) else []
            share = confidence(plan.level if plan else 0.05)
            yield f"In brackets: {share} interval of the mean ({listed(hows)})."
        if self._has("best"):
            second = [legend.second] if self._has("second") else []
            yield f"{', '.join([legend.best, *second])}."
        if unfair := [one for one in self.columns if not one.is_fair]:
            where = listed(dict.fromkeys(one.block for one in unfair))
            yield f"{capitalised(NO_BEST)}: {self._names(_metrics_of(unfair))} on {where}."

    def _tested(self, legend: Legend) -> Iterator[str]:
        """Yield the test, its correction, what its signs mean, and what was not tested."""
        comparisons = self.signs.comparisons
        if self.signs.are_too_many:
            yield (
                f"Significance is not marked, as the table has more than {MOST_MARKED} systems; "
                "significance.csv has every comparison."
            )
        if comparisons is None or not self.outcomes:
            return
        plan = comparisons.plan
        parts = [comparisons.title or plan.test]
        if repetitions_in_words(self.systems):
            parts[0] += " on per-query means over repetitions"
        parts.append(correction(comparisons))
        if len(self.outcomes) < sum(size for _, size in comparisons.family_sizes):
            parts.append(f"{len(self.outcomes):,} shown")
        if comparisons.drawn:
            parts.append(f"{plan.draws:,} draws, seed {plan.seed}")
        test = ", ".join([*parts, f"p ≤ {plan.level:g}"])
        result = self._signs(legend) if self.is_any_significant else "No difference is significant"
        yield f"{result} ({test})."
        tested = {str(one.metric) for one in comparisons.rows}
        untested = [self._names([one]) for one in self.metrics if str(one) not in tested]
        if any(one.dataset is None for one in self.columns):
            untested.append("means over datasets")
        if untested:
            yield f"Not tested: {listed(untested)}."
        absent = absent_baselines(comparisons, self.datasets, self.settings.name)
        yield from (f"{capitalised(one)}." for one in absent)

    def _signs(self, legend: Legend) -> str:
        if self.signs.kind == "letters":
            return "A letter next to a value: significantly better than the system of that letter"
        (first, run), *others = ((sign, run) for run, sign in self.signs.of.items())
        parts = [f"{first} significantly better than {self.settings.name(run)}"]
        parts += [f"{sign} than {self.settings.name(run)}" for sign, run in others]
        worse = f"; {legend.worse}: significantly worse" if self._has("worse") else ""
        return ", ".join(parts) + worse

    def _ranks(self) -> Iterator[str]:
        """Yield what tier and rank columns hold."""
        kinds = {one.kind for one in self.columns}
        comparisons: Comparisons | None = self.signs.comparisons or self.study.comparisons
        level = comparisons.plan.level if comparisons else 0
        if comparisons and "tier" in kinds:
            yield f"Tier: systems that share a number cannot be told apart at p ≤ {level:g}."
        if comparisons and "rank" in kinds:
            yield f"Rank: in brackets, its {confidence(level)} interval by bootstrap over queries."

    def _treatment(self) -> Iterator[str]:
        name = self.settings.metric_name
        if self.systems:
            entries = [entry for one in self.systems for entry in one.entries]
            counts = [(one.dataset, one.evaluation.counts) for one in entries]
            yield from treatment(self.metrics, entries[0].evaluation.policy, counts, name)
        for one in self.metrics:
            if name(one) != spelled(one) and "(" in str(one):
                yield f"{name(one)} is {one}."

    def _run_notes(self) -> Iterator[str]:
        name = self.settings.name
        runs = warned_runs((name(one.run), one.warned) for one in self.systems)
        yield from (f"{note}." for note in warned_of(runs))
        pairs = [(dataset, run) for dataset in self.datasets for run in self.runs]
        absent = [pair for pair in pairs if self.study.system(*pair) is None]
        if absent:
            each = [f"{name(run)} on {name(dataset)}" for dataset, run in absent]
            yield f"Not evaluated: {first_of(each, SHOWN)}."
        fewer = incomplete(self.study.board)
        several = len(self.datasets) > 1
        rows = [
            fewer[dataset, run].called(name(run), name(dataset) if several else "")
            for dataset, run in pairs
            if (dataset, run) in fewer
        ]
        if rows:
            yield f"{capitalised(FEWER)}: {listed(rows)}."

    def _query_notes(self, own: str) -> Iterator[str]:
        """Yield which queries of a dataset are not answered, and for which values are undefined."""
        name, dataset = self.settings.name, self.settings.name(own)
        systems = [one for one in self.systems if one.dataset == own]
        answered = [
            f"{name(one.run)} {one.coverage[0]:,}/{one.coverage[1]:,}"
            for one in systems
            if one.coverage[0] < one.coverage[1]
        ]
        if answered:
            policy = systems[0].entries[0].evaluation.policy
            rule = missing_in_words(self.metrics, policy, self.settings.metric_name)
            yield f"Queries of {dataset} answered: {listed(answered)}; the others {rule}."
        shown: dict[Metric, str] = {}
        for metric in self.metrics:
            counts = {name(one.run): (one.n(metric), len(one.qids)) for one in systems}
            shares = {run: f"{n:,}/{of:,}" for run, (n, of) in counts.items() if n < of}
            if shares and metric.settings.undefined in (None, "skip"):
                shown[metric] = listed(f"{run} {share}" for run, share in shares.items())
                if len({*counts.values()}) == 1:
                    shown[metric] = next(iter(shares.values()))
        for text, some in grouped_by(shown, shown.__getitem__).items():
            yield f"Queries of {dataset} with a value of {self._names(some)}: {text}."

    def _column_notes(self) -> Iterator[str]:
        noted = {cell.text == UNDEFINED for column in self.cells for cell in column if cell.note}
        if False in noted:
            yield "n/N after a value: it is over n of the N queries, others over more."
        if True in noted:
            yield f"n/N after {UNDEFINED}: the run has n of the N datasets, so no mean over them."
        shown = {*map(str, self.metrics)}
        notes = Counter(
            one.note or "no answer"
            for one in (self.signs.comparisons.rows if self.signs.comparisons else ())
            if math.isnan(one.p_adjusted) and one.dataset in self.datasets
            and one.run in self.runs and str(one.metric) in shown
        )  # fmt: skip
        for note, n in notes.items():
            yield f"No p-value for {counted(n, 'comparison')} ({note})."


def _metrics_of(columns: Iterable[Column]) -> list[Metric]:
    return list(dict.fromkeys(one.metric for one in columns if one.metric is not None))
