"""A finished study and a table's settings -> the table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ... import __version__
from ...core.comparison import Plan, Standing
from ...core.metric import Metric
from ...core.study import Study
from ...core.systems import System, incomplete
from ...core.systems import over_same_queries as alike
from ...errors import Problem, UnknownNameError
from ...stats.intervals import clustered, t_interval
from ..numbers import ARROWS, UNDEFINED, fixed
from .caption import MARKUP, TEXT, Remarks, finished
from .marks import Signs, best_and_second, signs_of
from .model import Cell, Column, Group, Kind, PaperTable, Row
from .select import metric_spellings, select
from .settings import DEFAULT, Settings, as_label, problems, sort_key


def _grouped(
    study: Study,
    settings: Settings,
    datasets: Sequence[str],
    known: tuple[Sequence[str], Sequence[str]],
) -> dict[str, list[str]]:
    """Return the runs of each group, in order; one group without a title where none is named.

    Runs that were neither evaluated nor failed on the `datasets` shown are left out.
    """
    known_runs, known_datasets = known
    groups = settings.groups or {"": settings.runs}
    taken: set[str] = set()
    found: dict[str, list[str]] = {}
    for title, patterns in groups.items():
        others = {name for key, names in settings.groups.items() if key != title for name in names}
        found[title] = list(select(patterns, known_runs, "run", elsewhere=taken | others))
        taken |= set(found[title])
    there = {(one.dataset, one.run) for one in study.systems} | set(study.failed)
    shown = {
        title: [run for run in runs if any((dataset, run) in there for dataset in datasets)]
        for title, runs in found.items()
    }
    if any(shown.values()):
        found = shown
    found = {title: runs for title, runs in found.items() if runs}
    if settings.sort is not None:
        dataset, (name,) = sort_key(settings.sort, known_datasets, study.board.metrics)
        metric = next(one for one in study.board.metrics if str(one) == name)
        sign = 1 if metric.definition.direction == "lower" else -1
        over = datasets if dataset is None else [dataset]
        values = {run: sign * mean(study, run, metric, over) for run in taken}
        for runs in found.values():
            runs.sort(key=lambda run: (math.isnan(values[run]), values[run]))
    return found


def over_same_queries(
    study: Study, runs: Sequence[str], metric: Metric, datasets: Sequence[str]
) -> bool:
    """Whether a metric's values of some runs are over the same queries of each dataset.

    A run that lacks one of the datasets has no mean over them, and takes no part.
    """
    there = [run for run in runs if all(study.system(one, run) is not None for one in datasets)]
    systems = (
        [one for run in there if (one := study.system(dataset, run)) is not None]
        for dataset in datasets
    )
    return all(
        alike(metric, ((one.entries[0].evaluation.qids, one.values(metric)) for one in some))
        for some in systems
    )


def mean(study: Study, run: str, metric: Metric, datasets: Sequence[str]) -> float:
    """Return the mean over the datasets of a run's values; NaN where it lacks one."""
    systems = [study.system(dataset, run) for dataset in datasets]
    values = [math.nan if system is None else system.value(metric) for system in systems]
    return math.fsum(values) / len(values) if values else math.nan


LEVEL = 0.05
NOTHING = Cell(UNDEFINED)


class Cells:
    """Makes the cells of a table, column by column; `columns` are all of the table."""

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
            return NOTHING if column.metric is None else self._average(column, column.metric, run)
        system = self.study.system(column.dataset, run)
        if system is None:
            return NOTHING
        if column.metric is None:
            return self._n(system) if column.kind == "n" else _coverage(system)
        if column.kind != "metric":
            return self._standing(column, column.metric, run)
        return self._value(column, column.metric, system)

    def _n(self, system: System) -> Cell:
        metrics = (one.metric for one in self.columns if one.dataset == system.dataset)
        counts = {system.n(metric) for metric in metrics if metric is not None}
        if len(counts) != 1:
            return Cell(f"{min(counts)}–{max(counts)}" if counts else UNDEFINED)
        n = counts.pop()
        return Cell(str(n), n)

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

    def _average(self, column: Column, metric: Metric, run: str) -> Cell:
        systems = [self.study.system(dataset, run) for dataset in self.datasets]
        here = [system for system in systems if system is not None]
        if len(here) < len(systems):
            return Cell(UNDEFINED, note=f"{len(here)}/{len(systems)}")
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
        """Return ``± .012`` of a deviation, ``[.41, .44]`` of an interval; nothing if undefined."""
        if not values or any(map(math.isnan, values)):
            return "", ()
        shown = [
            fixed(
                value,
                column.digits,
                percent=column.percent,
                leading_zero=self.settings.leading_zero,
            )
            for value in values
        ]
        return f"± {shown[0]}" if len(shown) == 1 else f"[{', '.join(shown)}]", values

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


def _coverage(system: System) -> Cell:
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


AVERAGE = "mean over datasets"


def build(study: Study, settings: Settings = DEFAULT, name: str = "table") -> PaperTable:
    """Return the table of a study.

    Parameters
    ----------
    study : Study
    settings : Settings
    name : str
        Its key in the config.

    Raises
    ------
    UnknownNameError
        Where the settings name a run, dataset or metric that the study does not hold.
    """
    # a run that failed has its row, and a dataset on which every run failed its block
    failed_datasets, failed_runs = zip(*study.failed, strict=True) if study.failed else ((), ())
    known_runs = list(dict.fromkeys([*study.runs, *failed_runs]))
    known_datasets = list(dict.fromkeys([*study.datasets, *failed_datasets]))
    # a run that could not be evaluated may leave nothing to compare, and loses no table
    is_compared = study.comparisons is not None or bool(study.failed)
    found = problems(settings, known_runs, known_datasets, study.board.metrics, is_compared)
    wrong = [Problem(f"tables.{name}{_path(loc)}", what) for loc, what in found]
    if wrong:
        raise UnknownNameError(wrong)
    datasets = select(settings.datasets, known_datasets, "dataset")
    columns = tuple(_columns(study, settings, datasets))
    groups = _grouped(study, settings, datasets, (known_runs, known_datasets))
    runs = [run for names in groups.values() for run in names]
    columns = tuple(_fair(study, column, datasets, runs) for column in columns)
    signs = signs_of(study.comparisons, settings.marks, runs)
    maker = Cells(study, settings, signs, columns)
    cells = [maker.column(column, runs) for column in columns]
    at = {run: tuple(column[place] for column in cells) for place, run in enumerate(runs)}
    remarks = Remarks(study, settings, columns, runs, cells, signs)
    named = signs.of if remarks.is_any_significant else {}
    rows = {run: Row(run, settings.name(run), at[run], named.get(run, "")) for run in runs}
    return PaperTable(
        name,
        columns,
        tuple(Group(title, tuple(rows[run] for run in names)) for title, names in groups.items()),
        finished(settings.caption),
        finished(settings.caption_latex),
        remarks.caption(MARKUP),
        remarks.caption(TEXT),
        remarks.footnotes(),
        settings.label or f"tab:{as_label(name)}",
        _source(study),
    )


def _path(loc: Sequence[str | int]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)


def _columns(study: Study, settings: Settings, datasets: Sequence[str]) -> Iterator[Column]:
    known = {str(metric): metric for metric in study.board.metrics}
    names = select(settings.metrics, list(known), "metric", metric_spellings(known))
    metrics = [known[name] for name in names]
    extras: list[Kind] = [one for one in settings.extras if one in ("tier", "rank")]
    for dataset in datasets:
        block = settings.name(dataset)
        for metric in metrics:
            yield _column(settings, metric, block, dataset)
            if _stands(study, dataset, metric):
                for extra in extras:
                    yield Column(extra, extra, block, dataset, metric)
        for extra in settings.extras:
            if extra in ("n", "coverage"):
                yield Column("answered" if extra == "coverage" else extra, extra, block, dataset)
    if settings.average and len(datasets) > 1:
        for metric in metrics:
            if metric.definition.summary == "mean":
                yield _column(settings, metric, AVERAGE, None)


def _column(settings: Settings, metric: Metric, block: str, dataset: str | None) -> Column:
    name = str(metric)
    title = f"{settings.name(name)} {ARROWS[metric.definition.direction]}".rstrip()
    digits, percent = settings.digits_of(metric), settings.is_percent(metric)
    return Column(title, "metric", block, dataset, metric, digits, percent)


def _fair(study: Study, column: Column, datasets: Sequence[str], runs: Sequence[str]) -> Column:
    """Return the column, with whether its values are over the same queries."""
    if column.direction is None or column.metric is None:
        return column
    over = datasets if column.dataset is None else [column.dataset]
    return replace(column, is_fair=over_same_queries(study, runs, column.metric, over))


def _stands(study: Study, dataset: str, metric: Metric) -> bool:
    known = study.comparisons
    return known is not None and any(
        known.standing(dataset, str(metric), run) is not None for run in study.runs
    )


def _source(study: Study) -> str:
    """Return where a table came from: harness's version, the config's name, manifest's SHA-256."""
    config = study.manifest.get("config", {}).get("name", "")
    parts = [f"table made by harness {__version__}"]
    parts += [f"config {config}"] if config else []
    parts += [f"manifest sha256:{study.trace}"] if study.trace else []
    return ", ".join(parts)
