"""What a table's caption and footnotes say: over what, with which test, by which rules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...core.comparison import Comparison, Comparisons
from ...core.metric import Metric
from ...core.study import Study
from ...core.systems import FEWER, UNLIKE, System, how_chosen, incomplete
from ..numbers import UNDEFINED
from ..phrases import CORRECTIONS, capitalised, counted, counts_of, listed, span
from ..wording import (
    consequences,
    empty_queries,
    rankings_in_words,
    values_of_empty,
    values_of_missing,
)
from .marks import Signs
from .model import Cell, Column
from .settings import Settings

SHOWN = 6
_FAMILIES = {"table": "", "metric": " of each metric and dataset", "dataset": " of each dataset"}


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


def metrics_of(columns: Iterable[Column]) -> list[Metric]:
    """Return the metrics of some columns, each once."""
    return list(dict.fromkeys(one.metric for one in columns if one.metric is not None))


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
        """All metrics shown."""
        return metrics_of(self.columns)

    @cached_property
    def datasets(self) -> list[str]:
        """All datasets shown."""
        return list(dict.fromkeys(one.dataset for one in self.columns if one.dataset is not None))

    @cached_property
    def systems(self) -> list[System]:
        """All systems shown."""
        return [
            one
            for one in self.study.systems
            if one.dataset in self.datasets and one.run in self.runs
        ]

    @cached_property
    def outcomes(self) -> list[Comparison]:
        """The comparisons, among those with a p-value, that the table shows the outcome of."""
        if self.signs.comparisons is None:
            return []
        cells = {(one.dataset, str(one.metric)) for one in self.columns if one.kind == "metric"}
        runs = {(system.dataset, system.run) for system in self.systems}
        return [
            one
            for one in self.signs.comparisons.rows
            if not math.isnan(one.p_adjusted)
            and (one.dataset, str(one.metric)) in cells
            and (one.dataset, one.run) in runs
            and self.signs.of.keys() & {one.baseline, one.run}
        ]

    @cached_property
    def is_any_significant(self) -> bool:
        """Whether the table shows a significant difference."""
        known = self.study.comparisons
        return known is not None and any(map(known.is_significant, self.outcomes))

    def _names(self, metrics: Iterable[Metric]) -> str:
        return listed(map(self._name, metrics))

    def _name(self, metric: Metric) -> str:
        return self.settings.name(str(metric))

    def _has(self, mark: str) -> bool:
        return any(getattr(cell, mark) for column in self.cells for cell in column)

    def caption(self, legend: Legend) -> tuple[str, ...]:
        """Return the sentences of a caption that come after the author's own."""
        return tuple(filter(None, self._sentences(legend)))

    def _sentences(self, legend: Legend) -> Iterator[str]:
        if self.systems:
            yield self._over()
            if chosen := how_chosen(self.systems):
                yield f"Each run is the {chosen}."
        yield self._percent()
        yield self._spread()
        if self._has("best"):
            second = [legend.second] if self._has("second") else []
            yield f"{', '.join([legend.best, *second])}."
        yield self._unlike()
        if self.signs.comparisons is not None and self.outcomes:
            test = self._test(self.signs.comparisons)
            if self.is_any_significant:
                yield f"{self._significance(legend)} ({test})."
            else:
                yield f"No difference is significant ({test})."
            yield from self._untested(self.signs.comparisons)
        if self.systems:
            yield from self._rules()
        meant = [
            f"{self._name(one)} is {one}"
            for one in self.metrics
            if self._name(one) != str(one) and "(" in str(one)
        ]
        yield f"{'; '.join(meant)}." if meant else ""

    def _over(self) -> str:
        sizes: dict[str, int] = {}
        for system in self.systems:
            name = self.settings.name(system.dataset)
            sizes[name] = max(sizes.get(name, 0), len(system.qids))
        is_mean = all(one.definition.summary == "mean" for one in self.metrics)
        if len(sizes) > SHOWN:
            where = f"the queries of {len(sizes)} datasets ({span(sizes.values())} each)"
        elif len(sizes) == 1:
            ((name, n),) = sizes.items()
            where = f"the {counted(n, 'query', 'queries')}" + (f" of {name}" if name else "")
        else:
            where = f"the queries of {counts_of(sizes)}"
        if parts := self.study.board.summary.average:
            where += f", whose parts ({listed(parts)}) count alike,"
        times = [len(system.entries) for system in self.systems]
        if max(times) > 1:
            names = dict.fromkeys(name for system in self.systems for name in system.varying)
            by = f" ({listed(names)})" if names else ""
            where += f" and over {span(times)} repetitions{by}"
        return f"{'Means' if is_mean else 'Summaries'} over {where}".rstrip(",") + "."

    def _percent(self) -> str:
        those = [one for one in self.metrics if self.settings.is_percent(one)]
        if not those:
            return ""
        if len(those) == len(self.metrics):
            return "Values are × 100."
        return f"{self._names(those)} {'is' if len(those) == 1 else 'are'} × 100."

    def _spread(self) -> str:
        repeated = [len(system.entries) > 1 for system in self.systems]
        if self.settings.spread == "deviation" and any(repeated):
            return "After ±: standard deviation over the repetitions."
        if self.settings.spread != "interval" or self.study.board.summary.average:
            return ""
        known = self.study.comparisons
        level = 0.05 if known is None else known.plan.level
        how = "BCa bootstrap" if known is not None and known.plan.interval == "bca" else "t"
        over = f"queries ({how})"
        if all(repeated):
            over = "queries and repetitions (clustered bootstrap)"
        elif any(repeated):
            over += ", of repeated runs over queries and repetitions (clustered bootstrap)"
        return f"In brackets: {100 * (1 - level):g} % interval of the mean over {over}."

    def _unlike(self) -> str:
        """Return of which columns no value is called the best."""
        unlike = [one for one in self.columns if not one.is_fair]
        if not unlike:
            return ""
        where = list(dict.fromkeys(one.block for one in unlike))
        on = f" on {listed(where)}" if len({one.block for one in self.columns}) > 1 else ""
        return f"{capitalised(UNLIKE)}: {self._names(metrics_of(unlike))}{on}."

    def _significance(self, legend: Legend) -> str:
        if self.signs.kind == "letters":
            return "A letter beside a value: significantly better than the system of that letter"
        (first, run), *others = ((sign, run) for run, sign in self.signs.of.items())
        parts = [f"{first} significantly better than {self.settings.name(run)}"]
        parts += [f"{sign} than {self.settings.name(run)}" for sign, run in others]
        worse = f"; {legend.worse}: significantly worse" if self._has("worse") else ""
        return ", ".join(parts) + worse

    def _test(self, found: Comparisons) -> str:
        plan = found.plan
        means = any(len(system.entries) > 1 for system in self.systems)
        parts = [found.title or plan.test]
        parts[0] += " of each query's mean over the repetitions" if means else ""
        if found.kind == "all-pairs":
            parts.append("corrected for all pairs of each metric and dataset")
        elif plan.correction != "none":
            parts.append(CORRECTIONS[plan.correction] + self._family(found))
        elif len(found.rows) > 1:
            parts.append("not corrected")
        if found.drawn:
            parts.append(f"{plan.draws:,} draws, seed {plan.seed}")
        return ", ".join([*parts, f"p ≤ {plan.level:g}"])

    def _family(self, found: Comparisons) -> str:
        sizes = {n for _, n in found.family_sizes}
        if not sizes:
            return ""
        noun = "comparison" if sizes == {1} else "comparisons"
        over = f" over {span(sizes)} {noun}{_FAMILIES[found.plan.family]}"
        shown = len(self.outcomes)
        if found.plan.family == "table" and len(sizes) == 1 and shown < max(sizes):
            over += f" of which {shown:,} {'is' if shown == 1 else 'are'} shown"
        return over

    def _untested(self, found: Comparisons) -> Iterator[str]:
        tested = {str(one.metric) for one in found.rows}
        if rest := [one for one in self.metrics if str(one) not in tested]:
            yield f"No test is made of {self._names(rest)}."
        shown = {one.dataset for one in self.columns}
        for baseline, datasets in found.absent:
            if lacking := [self.settings.name(name) for name in datasets if name in shown]:
                name = self.settings.name(baseline)
                yield f"No test against {name} is made on {listed(lacking)}, where it was not run."
        if None in shown:
            yield "No test is made of means over datasets."

    def _rules(self) -> Iterator[str]:
        policy = self.systems[0].entries[0].evaluation.policy
        for clause in rankings_in_words(self.metrics, policy, self._name):
            yield f"{capitalised(clause)}."
        counts = (
            (one.dataset, entry.evaluation.counts) for one in self.systems for entry in one.entries
        )
        most, n, _ = empty_queries(counts, self.metrics)
        words = ("counts", "is left out") if n == 1 else ("count", "are left out")
        values = values_of_empty(self.metrics, policy.empty_queries)
        if n and (rule := consequences(values, self._name, *words)):
            what = capitalised(f"{most}{counted(n, 'query', 'queries')}")
            yield f"{what} without relevant documents {rule}."

    def footnotes(self) -> tuple[str, ...]:
        """Return the notes below the table."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        yield from self._absent()
        yield from self._fewer()
        for dataset in self.datasets:
            systems = [one for run in self.runs if (one := self.study.system(dataset, run))]
            where = f" of {self.settings.name(dataset)}" if len(self.datasets) > 1 else ""
            yield from self._missing(systems, where)
            yield from self._undefined(dataset, systems, where)
        noted = {cell.text == UNDEFINED for column in self.cells for cell in column if cell.note}
        if False in noted:
            yield "n/N after a value: it is over n of the N queries, others over more."
        if True in noted:
            yield f"n/N after {UNDEFINED}: the run has n of the N datasets, so no mean over them."
        if self.settings.spread == "interval":
            yield from self._without_interval()
        averaged = [one.metric for one in self.columns if one.dataset is None]
        if averaged and (rest := [one for one in self.metrics if one not in averaged]):
            yield f"Not averaged over datasets: {self._names(rest)}."
        yield from self._without_p()

    def _absent(self) -> Iterator[str]:
        name = self.settings.name
        absent = [
            f"{name(run)} on {name(dataset)}"
            for dataset in self.datasets
            for run in self.runs
            if self.study.system(dataset, run) is None
        ]
        if len(absent) > SHOWN:
            what = f"{len(absent)} pairs of a run and a dataset, shown as {UNDEFINED}"
            yield f"Not evaluated: {what}."
        elif absent:
            yield f"Not evaluated: {listed(absent)}."

    def _fewer(self) -> Iterator[str]:
        known, name = incomplete(self.study.board), self.settings.name
        cells = ((dataset, run) for dataset in self.datasets for run in self.runs)
        each = [
            known[cell].called(name(cell[1]), name(cell[0]) if len(self.datasets) > 1 else "")
            for cell in cells
            if cell in known
        ]
        if each:
            yield f"{capitalised(FEWER)}: {listed(each)}."

    def _missing(self, systems: Sequence[System], where: str) -> Iterator[str]:
        found = [
            f"{self.settings.name(system.run)} {answered:,}/{queries:,}"
            for system in systems
            for answered, queries in [system.coverage]
            if answered < queries
        ]
        if not found:
            return
        rule = "are left out"
        if systems[0].entries[0].evaluation.policy.missing_queries == "zero":
            values = values_of_missing(self.metrics)
            rule = consequences(values, self._name, "count", "are left out") or "count alike"
        yield f"Queries{where} answered: {listed(found)}; the others {rule}."

    def _undefined(self, dataset: str, systems: Sequence[System], where: str) -> Iterator[str]:
        together: dict[str, list[Metric]] = {}
        for metric in metrics_of(one for one in self.columns if one.dataset == dataset):
            if metric.settings.undefined not in (None, "skip"):
                continue
            counts = {system.run: (system.n(metric), len(system.qids)) for system in systems}
            fewer = {run: f"{n:,}/{total:,}" for run, (n, total) in counts.items() if n < total}
            if fewer:
                text = listed(f"{self.settings.name(run)} {share}" for run, share in fewer.items())
                if len(set(counts.values())) == 1:
                    text = next(iter(fewer.values()))
                together.setdefault(text, []).append(metric)
        for text, metrics in together.items():
            verb = "is" if len(metrics) == 1 else "are"
            yield f"Queries{where} for which {self._names(metrics)} {verb} defined: {text}."

    def _without_interval(self) -> Iterator[str]:
        without = [
            column
            for column, cells in zip(self.columns, self.cells, strict=True)
            if column.kind == "metric"
            and column.dataset is not None
            and any(not math.isnan(cell.value) for cell in cells)
            and not any(cell.ends for cell in cells)
        ]
        if without:
            yield f"No interval over queries: {self._names(metrics_of(without))}."

    def _without_p(self) -> Iterator[str]:
        if self.signs.comparisons is None:
            return
        shown = set(map(str, self.metrics))
        notes = Counter(
            one.note or "no answer"
            for one in self.signs.comparisons.rows
            if math.isnan(one.p_adjusted)
            and one.dataset in self.datasets
            and one.run in self.runs
            and str(one.metric) in shown
        )
        for note, n in notes.items():
            yield f"No p-value for {counted(n, 'comparison')} ({note})."
