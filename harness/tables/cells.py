"""A run's cell in each column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..core.comparison import Plan, Standing
from ..core.incomplete import incomplete
from ..core.metric import Metric
from ..core.study import Study
from ..core.systems import System
from ..stats.clustered import clustered
from ..stats.intervals import t_interval
from .marks import best_and_second
from .model import UNDEFINED, Cell, Column
from .numbers import deviation, fixed, interval
from .rows import mean
from .settings import Settings
from .signs import Signs

LEVEL = 0.05
NOTHING = Cell(UNDEFINED)


class Cells:
    """Makes the cells of a table, column by column.

    Parameters
    ----------
    study : Study
    settings : Settings
    signs : Signs
    columns : sequence of Column
        All of the table.
    """

    def __init__(
        self, study: Study, settings: Settings, signs: Signs, columns: Sequence[Column]
    ) -> None:
        self.study, self.settings, self.signs, self.columns = study, settings, signs, columns
        self.datasets = tuple(
            dict.fromkeys(one.dataset for one in columns if one.dataset is not None)
        )

    def column(self, column: Column, runs: Iterable[str]) -> list[Cell]:
        """Return the cells of one column, with the best and the second best marked."""
        cells = [self._cell(column, run) for run in runs]
        if column.kind != "metric":
            return cells
        best, second = best_and_second([cell.text for cell in cells], column.direction)
        most = max((cell.n for cell in cells), default=0)
        return [
            replace(
                cell,
                best=place in best,
                second=place in second,
                # beside means over other queries, it must be seen that this one is over fewer
                note=f"{cell.n}/{cell.of}" if 0 < cell.n < most else cell.note,
            )
            for place, cell in enumerate(cells)
        ]

    def _cell(self, column: Column, run: str) -> Cell:
        if column.dataset is None:
            return self._average(column, run)
        system = self.study.system(column.dataset, run)
        if system is None:
            return NOTHING
        if column.metric is None:
            return (
                _n(system, self._metrics(column.dataset)) if column.kind == "n" else _cover(system)
            )
        if column.kind != "metric":
            return self._standing(column, column.metric, run)
        return self._value(column, column.metric, system)

    def _metrics(self, dataset: str) -> list[Metric]:
        here = [one.metric for one in self.columns if one.dataset == dataset]
        return list(dict.fromkeys(metric for metric in here if metric is not None))

    def _value(self, column: Column, metric: Metric, system: System) -> Cell:
        value = system.value(metric)
        text = self._text(column, metric, value)
        better, worse = self.signs.beside(system.dataset, str(metric), system.run)
        spread: tuple[float, ...] = ()
        if self.settings.spread == "deviation":
            spread = (system.deviation(metric),)
        elif self.settings.spread == "interval":
            spread = self._interval(metric, system)
        fewer = incomplete(self.study.board).get((system.dataset, system.run))
        return Cell(
            text,
            value,
            *self._spread(column, spread),
            better,
            worse,
            n=system.n(metric),
            of=system.coverage[1],
            repetitions="" if fewer is None else fewer.share,
        )

    def _average(self, column: Column, run: str) -> Cell:
        systems = [self.study.system(dataset, run) for dataset in self.datasets]
        here = [system for system in systems if system is not None]
        if len(here) < len(systems):
            return Cell(UNDEFINED, note=f"{len(here)}/{len(systems)}")
        metric = column.metric
        if metric is None:
            return NOTHING
        value = mean(self.study, run, metric, self.datasets)
        spread = (_deviation(here, metric),) if self.settings.spread == "deviation" else ()
        return Cell(self._text(column, metric, value), value, *self._spread(column, spread))

    def _text(self, column: Column, metric: Metric, value: float) -> str:
        if metric.definition.summary == "sum" and value.is_integer():
            return str(int(value))
        return fixed(
            value, column.digits, percent=column.percent, leading_zero=self.settings.leading_zero
        )

    def _spread(self, column: Column, values: tuple[float, ...]) -> tuple[str, tuple[float, ...]]:
        values = () if any(map(math.isnan, values)) else values
        how = (column.digits, column.percent, self.settings.leading_zero)
        if len(values) == 1:
            return deviation(values[0], *how), values
        return interval(values[0], values[1], *how) if values else "", values

    def _interval(self, metric: Metric, system: System) -> tuple[float, ...]:
        known = self._stands(system.dataset, metric, system.run)
        if known is not None:
            return known.low, known.high
        definition, values = metric.definition, system.values(metric)
        if self.study.board.summary.average:  # a mean of parts, which is none over queries
            return ()
        if definition.summary != "mean" or definition.weight is not None:
            return ()
        if len(system.entries) > 1:
            plan = Plan() if self.study.comparisons is None else self.study.comparisons.plan
            return clustered(system, metric, plan)
        return t_interval(values[~np.isnan(values)], LEVEL)

    def _stands(self, dataset: str, metric: Metric, run: str) -> Standing | None:
        known = self.study.comparisons
        return None if known is None else known.standing(dataset, str(metric), run)

    def _standing(self, column: Column, metric: Metric, run: str) -> Cell:
        known = self._stands(column.dataset or "", metric, run)
        if known is None or not known.rank:
            return NOTHING
        if column.kind == "tier":
            return Cell(known.tier.replace("-", "–") or UNDEFINED)
        if not known.rank_high:  # one query says nothing of how sure a rank is
            return Cell(str(known.rank), known.rank)
        ends = (known.rank_low, known.rank_high)
        return Cell(str(known.rank), known.rank, f"[{ends[0]}, {ends[1]}]", ends)


def _n(system: System, metrics: Iterable[Metric]) -> Cell:
    counts = {system.n(metric) for metric in metrics}
    if len(counts) != 1:
        return Cell(f"{min(counts)}–{max(counts)}" if counts else UNDEFINED)
    n = counts.pop()
    return Cell(str(n), n)


def _cover(system: System) -> Cell:
    answered, queries = system.coverage
    return Cell(f"{answered}/{queries}", answered / queries if queries else math.nan)


def _deviation(systems: Sequence[System], metric: Metric) -> float:
    """Return the deviation of means over datasets, over the repetitions that all have."""
    repeated = [_repetitions(system, metric) for system in systems]
    if any(one.keys() != repeated[0].keys() for one in repeated) or len(repeated[0]) < 2:
        return math.nan
    means = [math.fsum(one[key] for one in repeated) / len(repeated) for key in repeated[0]]
    return float(np.std(means, ddof=1))


def _repetitions(system: System, metric: Metric) -> dict[tuple[tuple[str, str], ...], float]:
    """Return each repetition's value by the columns that tell it from the others."""
    return {
        tuple((name, entry.columns.get(name, "")) for name in system.varying): (
            entry.summary.get(str(metric), math.nan)
        )
        for entry in system.entries
    }
