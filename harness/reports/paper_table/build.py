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
from ...core.systems import over_same_queries as have_same_queries
from ...errors import Problem, UnknownNameError
from ...stats.intervals import clustered, t_interval
from ..numbers import ARROWS, UNDEFINED, fixed
from .caption import MARKUP, TEXT, Remarks, finished
from .marks import Signs, best_and_second, signs_of
from .model import Cell, Column, Group, PaperTable, Row
from .select import metric_spellings, select
from .settings import DEFAULT, Settings, as_label, problems, sort_key

AVERAGE = "mean over datasets"
LEVEL = 0.05
NOTHING = Cell(UNDEFINED)


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
        If the settings name a run, dataset or metric that the study does not hold.
    """
    # a run that failed has its row, and a dataset on which every run failed its block
    known_runs = list(dict.fromkeys([*study.runs, *(run for _, run in study.failed)]))
    known_datasets = list(dict.fromkeys([*study.datasets, *(one for one, _ in study.failed)]))
    # failed runs can leave nothing to compare: the table is made all the same
    is_compared = study.comparisons is not None or bool(study.failed)
    wrong = problems(settings, known_runs, known_datasets, study.board.metrics, is_compared)
    if found := [Problem(f"tables.{name}{_path(loc)}", what) for loc, what in wrong]:
        raise UnknownNameError(found)
    settings = replace(settings, names={**study.names, **settings.names})
    datasets = select(settings.datasets, known_datasets, "dataset")
    groups = _grouped(study, settings, datasets, known_runs, known_datasets)
    runs = [run for names in groups.values() for run in names]
    columns = [
        _with_fairness(study, column, datasets, runs)
        for column in _columns(study, settings, datasets)
    ]
    signs = signs_of(study.comparisons, settings.marks, runs)
    maker = Cells(study, settings, signs, columns)
    cells = [maker.column(column, runs) for column in columns]
    remarks = Remarks(study, settings, columns, runs, cells, signs)
    shown_signs = signs.of if remarks.is_any_significant else {}
    by_run = dict(zip(runs, zip(*cells, strict=True), strict=True))
    rows = {
        run: Row(
            run, settings.name(run), by_run[run], shown_signs.get(run, ""), run in remarks.warned
        )
        for run in runs
    }
    return PaperTable(
        name,
        tuple(columns),
        tuple(Group(title, tuple(rows[run] for run in names)) for title, names in groups.items()),
        finished(settings.caption.text),
        finished(settings.caption_latex),
        remarks.caption(MARKUP),
        remarks.caption(TEXT),
        remarks.footnotes(),
        settings.label or f"tab:{as_label(name)}",
        _source(study),
    )


def _path(loc: Sequence[str | int]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)


def _source(study: Study) -> str:
    """Return where a table came from: harness's version, the config's name, manifest's SHA-256."""
    config = study.manifest.get("config", {}).get("name", "")
    parts = [f"table made by harness {__version__}"]
    parts += [f"config {config}"] if config else []
    parts += [f"manifest sha256:{study.trace}"] if study.trace else []
    return ", ".join(parts)


def _grouped(
    study: Study,
    settings: Settings,
    datasets: Sequence[str],
    known: Sequence[str],
    known_datasets: Sequence[str],
) -> dict[str, list[str]]:
    """Return the runs of each group, in order; one group without a title if there are none.

    Runs that were neither evaluated nor failed on the `datasets` shown are left out.
    """
    groups = settings.groups or {"": settings.runs}
    taken: set[str] = set()
    members: dict[str, list[str]] = {}
    for title, patterns in groups.items():
        others = {name for key, names in settings.groups.items() if key != title for name in names}
        members[title] = list(select(patterns, known, "run", elsewhere=taken | others))
        taken |= set(members[title])
    tried = {(one.dataset, one.run) for one in study.systems} | set(study.failed)
    shown = {run for dataset, run in tried if dataset in datasets and run in taken} or taken
    if settings.sort is not None:
        dataset, (name,) = sort_key(settings.sort, known_datasets, study.board.metrics)
        metric = next(one for one in study.board.metrics if str(one) == name)
        sign = 1 if metric.definition.direction == "lower" else -1
        over = datasets if dataset is None else [dataset]
        values = {run: sign * mean(study, run, metric, over) for run in taken}
        for runs in members.values():
            runs.sort(key=lambda run: (math.isnan(values[run]), values[run]))
    rows = {title: [run for run in runs if run in shown] for title, runs in members.items()}
    return {title: runs for title, runs in rows.items() if runs}


def _columns(study: Study, settings: Settings, datasets: Sequence[str]) -> Iterator[Column]:
    known = {str(metric): metric for metric in study.board.metrics}
    names = select(settings.metrics, list(known), "metric", metric_spellings(known))
    metrics = [known[name] for name in names]
    for dataset in datasets:
        block = settings.name(dataset)
        for metric in metrics:
            yield _column(settings, metric, block, dataset)
            has_ranks = study.comparisons is not None and any(
                study.comparisons.standing(dataset, str(metric), run) for run in study.runs
            )
            for extra in settings.extras:
                if has_ranks and extra in ("tier", "rank"):
                    yield Column(extra, extra, block, dataset, metric)
        for extra in settings.extras:
            if extra in ("n", "coverage"):
                yield Column("answered" if extra == "coverage" else extra, extra, block, dataset)
    if settings.average and len(datasets) > 1:
        for metric in metrics:
            if metric.definition.summary == "mean":
                yield _column(settings, metric, AVERAGE, None)


def _column(settings: Settings, metric: Metric, block: str, dataset: str | None) -> Column:
    title = f"{settings.metric_name(metric)} {ARROWS[metric.definition.direction]}".rstrip()
    digits, percent = settings.digits_of(metric), settings.is_percent(metric)
    return Column(title, "metric", block, dataset, metric, digits, percent)


def _with_fairness(
    study: Study, column: Column, datasets: Sequence[str], runs: Sequence[str]
) -> Column:
    """Return the column, with whether its values are over the same queries."""
    if column.direction is None or column.metric is None:
        return column
    over = datasets if column.dataset is None else [column.dataset]
    return replace(column, is_fair=over_same_queries(study, runs, column.metric, over))


def over_same_queries(
    study: Study, runs: Sequence[str], metric: Metric, datasets: Sequence[str]
) -> bool:
    """Whether a metric's values of some runs are over the same queries of each dataset.

    A run without one of the datasets has no mean over them, and takes no part.
    """
    rows = [[study.system(dataset, run) for dataset in datasets] for run in runs]
    complete = [[one for one in row if one is not None] for row in rows if None not in row]
    return all(
        have_same_queries(
            metric, ((one.entries[0].evaluation.qids, one.values(metric)) for one in systems)
        )
        for systems in zip(*complete, strict=True)
    )


def mean(study: Study, run: str, metric: Metric, datasets: Sequence[str]) -> float:
    """Return the mean over the datasets of a run's values; NaN if one is missing."""
    systems = [study.system(dataset, run) for dataset in datasets]
    values = [math.nan if system is None else system.value(metric) for system in systems]
    return math.fsum(values) / len(values) if values else math.nan


class Cells:
    """Makes the cells of a table, column by column; `columns` are all of the table."""

    def __init__(
        self, study: Study, settings: Settings, signs: Signs, columns: Sequence[Column]
    ) -> None:
        self.study, self.settings, self.signs, self.columns = study, settings, signs, columns
        datasets = (one.dataset for one in columns if one.dataset is not None)
        self.datasets = tuple(dict.fromkeys(datasets))

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
        metric = column.metric
        if column.dataset is None:
            return NOTHING if metric is None else self._average(column, metric, run)
        system = self.study.system(column.dataset, run)
        if system is None:
            return NOTHING
        if metric is None:
            return self._n(system) if column.kind == "n" else _coverage(system)
        standing = self._standing(column.dataset, metric, run)
        if column.kind != "metric":
            return NOTHING if standing is None else _rank(column, standing)
        value = system.value(metric)
        ends: tuple[float, ...] = ()
        if self.settings.spread == "deviation":
            ends = (system.deviation(metric),)
        elif self.settings.spread == "interval":
            ends = self._interval(metric, system, standing)
        fewer = incomplete(self.study.board).get((system.dataset, run))
        return Cell(
            self._text(column, value),
            value,
            *self._spread(column, ends),
            *self.signs.beside(system.dataset, str(metric), run),
            n=system.n(metric),
            of=system.coverage[1],
            repetitions="" if fewer is None else fewer.share,
        )

    def _n(self, system: System) -> Cell:
        metrics = (one.metric for one in self.columns if one.dataset == system.dataset)
        counts = {system.n(metric) for metric in metrics if metric is not None}
        if len(counts) != 1:
            return Cell(f"{min(counts)}–{max(counts)}" if counts else UNDEFINED)
        n = counts.pop()
        return Cell(str(n), n)

    def _average(self, column: Column, metric: Metric, run: str) -> Cell:
        systems = [self.study.system(dataset, run) for dataset in self.datasets]
        present = [system for system in systems if system is not None]
        if len(present) < len(systems):
            return Cell(UNDEFINED, note=f"{len(present)}/{len(systems)}")
        value = mean(self.study, run, metric, self.datasets)
        ends = (_deviation(present, metric),) if self.settings.spread == "deviation" else ()
        return Cell(self._text(column, value), value, *self._spread(column, ends))

    def _text(self, column: Column, value: float) -> str:
        if column.metric and column.metric.definition.summary == "sum" and value.is_integer():
            return str(int(value))
        zero = self.settings.leading_zero
        return fixed(value, column.digits, percent=column.percent, leading_zero=zero)

    def _spread(self, column: Column, ends: tuple[float, ...]) -> tuple[str, tuple[float, ...]]:
        """Return ``± .012`` of a deviation, ``[.41, .44]`` of an interval; nothing if undefined."""
        if not ends or any(map(math.isnan, ends)):
            return "", ()
        shown = [self._text(replace(column, metric=None), value) for value in ends]
        return f"± {shown[0]}" if len(shown) == 1 else f"[{', '.join(shown)}]", ends

    def _interval(
        self, metric: Metric, system: System, standing: Standing | None
    ) -> tuple[float, ...]:
        if standing is not None:
            return standing.low, standing.high
        definition, values = metric.definition, system.values(metric)
        # a mean of parts, a sum and a weighted mean are no means over queries
        is_mean = definition.summary == "mean" and definition.weight is None
        if self.study.board.summary.average or not is_mean:
            return ()
        if len(system.entries) > 1:
            plan = Plan() if self.study.comparisons is None else self.study.comparisons.plan
            return clustered(system, metric, plan)
        return t_interval(values[~np.isnan(values)], LEVEL)

    def _standing(self, dataset: str, metric: Metric, run: str) -> Standing | None:
        comparisons = self.study.comparisons
        return None if comparisons is None else comparisons.standing(dataset, str(metric), run)


def _rank(column: Column, standing: Standing) -> Cell:
    if not standing.rank:
        return NOTHING
    if column.kind == "tier":
        return Cell(standing.tier.replace("-", "–") or UNDEFINED)
    if not standing.rank_high:  # one query says nothing about how certain a rank is
        return Cell(str(standing.rank), standing.rank)
    ends = (standing.rank_low, standing.rank_high)
    return Cell(str(standing.rank), standing.rank, f"[{ends[0]}, {ends[1]}]", ends)


def _coverage(system: System) -> Cell:
    answered, queries = system.coverage
    return Cell(f"{answered}/{queries}", answered / queries if queries else math.nan)


def _deviation(systems: Sequence[System], metric: Metric) -> float:
    """Return the deviation of means over datasets, over the repetitions that all have."""
    repeated = [
        {
            tuple((name, entry.columns.get(name, "")) for name in system.varying): (
                entry.summary.get(str(metric), math.nan)
            )
            for entry in system.entries
        }
        for system in systems
    ]
    if any(one.keys() != repeated[0].keys() for one in repeated) or len(repeated[0]) < 2:
        return math.nan
    means = [math.fsum(one[key] for one in repeated) / len(repeated) for key in repeated[0]]
    return float(np.std(means, ddof=1))
