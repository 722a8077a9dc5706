"""A finished study and a table's settings -> the table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ... import __version__
from ...core.metric import Metric
from ...core.systems import System, incomplete
from ...core.systems import over_same_queries as have_same_queries
from ...errors import HarnessWarning, Problem, UnknownNameError
from ...stats.comparison import Plan, Standing, Study
from ...stats.intervals import clustered, t_interval
from ..phrases import ARROWS, UNDEFINED, fixed
from ..select import metric_spellings, select
from .caption import MARKUP, TEXT, Remarks, finished
from .model import (
    Cell,
    Column,
    PaperTable,
    Row,
    Signs,
    best_and_second,
    render,
    signs_of,
    too_wide,
)
from .settings import DEFAULT, Settings, as_label, paths, problems, sort_key

AVERAGE = "mean over datasets"
LEVEL = 0.05
NOTHING = Cell(UNDEFINED)


def build(study: Study, settings: Settings = DEFAULT, name: str = "table") -> PaperTable:
    """Return the table of a study; `name` is its key in the config.

    Raises UnknownNameError if the settings name a run, dataset or metric that the study does not
    hold.
    """
    # failed runs keep their row, and datasets with failed runs only keep their block
    known_runs = list(dict.fromkeys([*study.runs, *(run for _, run in study.failed)]))
    known_datasets = list(dict.fromkeys([*study.datasets, *(one for one, _ in study.failed)]))
    is_compared = study.comparisons is not None or bool(study.failed)
    wrong = problems(settings, known_runs, known_datasets, study.board.metrics, is_compared)
    found = []
    for loc, what in wrong:
        at = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
        found.append(Problem(f"tables.{name}{at}", what))
    if found:
        raise UnknownNameError(found)
    settings = replace(settings, names={**study.names, **settings.names})
    datasets = select(settings.datasets, known_datasets, "dataset")
    groups = _grouped(study, settings, datasets, known_runs, known_datasets)
    runs = [run for names in groups.values() for run in names]
    columns = list(_columns(study, settings, datasets, runs))
    signs = signs_of(study.comparisons, settings.marks, runs)
    maker = Cells(study, settings, signs, columns)
    cells = [maker.column(column, runs) for column in columns]
    remarks = Remarks(study, settings, columns, runs, cells, signs)
    shown = signs.of if remarks.is_any_significant else {}
    titles = [title for title, names in groups.items() for _ in names]
    rows = (
        Row(run, settings.name(run), own, shown.get(run, ""), run in remarks.warned, title)
        for run, own, title in zip(runs, zip(*cells, strict=True), titles, strict=True)
    )
    return PaperTable(
        name,
        tuple(columns),
        tuple(rows),
        finished(settings.caption.text),
        finished(settings.caption_latex),
        remarks.caption(MARKUP),
        remarks.caption(TEXT),
        remarks.footnotes(),
        settings.label or f"tab:{as_label(name)}",
        _source(study),
    )


def render_all(study: Study, wanted: Mapping[str, Settings]) -> dict[str, bytes]:
    """Return every table in its formats by path; one that is too wide for LaTeX is a warning."""
    found = {}
    for name, settings in wanted.items():
        table = build(study, settings, name)
        if "latex" in settings.formats and (wide := too_wide(table, settings)):
            warnings.warn(wide, HarnessWarning, stacklevel=4)
        for path, format in paths(name, settings).items():
            found[path] = render(table, format, settings).encode()
    return found


def _source(study: Study) -> str:
    """Return harness's version, the config's name and the SHA-256 of the manifest."""
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
        metrics = {str(metric): metric for metric in study.board.metrics}
        dataset, (name,) = sort_key(settings.sort, known_datasets, list(metrics))
        over = datasets if dataset is None else [dataset]
        values = {run: -metrics[name].sign * mean(study, run, metrics[name], over) for run in taken}
        for runs in members.values():
            runs.sort(key=lambda run: (math.isnan(values[run]), values[run]))
    rows = {title: [run for run in runs if run in shown] for title, runs in members.items()}
    return {title: runs for title, runs in rows.items() if runs}


def _columns(
    study: Study, settings: Settings, datasets: Sequence[str], runs: Sequence[str]
) -> Iterator[Column]:
    known = {str(metric): metric for metric in study.board.metrics}
    names = select(settings.metrics, list(known), "metric", metric_spellings(known))

    def of_metric(metric: Metric, block: str, dataset: str | None) -> Column:
        arrow = ARROWS[metric.definition.direction]
        title = f"{settings.metric_name(metric)} {arrow}".rstrip()
        digits, percent = settings.digits_of(metric), settings.is_percent(metric)
        over = datasets if dataset is None else [dataset]
        is_fair = not arrow or over_same_queries(study, runs, metric, over)
        return Column(title, "metric", block, dataset, metric, digits, percent, is_fair)

    for dataset in datasets:
        block = settings.name(dataset)
        for name in names:
            yield of_metric(known[name], block, dataset)
            has_ranks = study.comparisons is not None and any(
                study.comparisons.standing(dataset, name, run) for run in study.runs
            )
            for extra in settings.extras:
                if has_ranks and extra in ("tier", "rank"):
                    yield Column(extra, extra, block, dataset, known[name])
        for extra in settings.extras:
            if extra in ("n", "coverage"):
                yield Column("answered" if extra == "coverage" else extra, extra, block, dataset)
    if settings.average and len(datasets) > 1:
        means = (known[name] for name in names if known[name].definition.summary == "mean")
        yield from (of_metric(metric, AVERAGE, None) for metric in means)


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
                # a mean over fewer queries than its column's others shows its number of queries
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
            return self._counts(system, column.kind == "n")
        compared = self.study.comparisons
        standing = compared.standing(column.dataset, str(metric), run) if compared else None
        if column.kind != "metric":
            return _rank(column, standing) if standing and standing.rank else NOTHING
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
            *self.signs.better_and_worse(system.dataset, str(metric), run),
            n=system.n(metric),
            of=system.coverage[1],
            repetitions="" if fewer is None else fewer.share,
        )

    def _counts(self, system: System, is_n: bool) -> Cell:
        """Return over how many queries the means of a dataset are, or how many are answered."""
        if not is_n:
            answered, queries = system.coverage
            return Cell(f"{answered}/{queries}", answered / queries if queries else math.nan)
        metrics = (one.metric for one in self.columns if one.dataset == system.dataset)
        counts = sorted({system.n(metric) for metric in metrics if metric is not None})
        if len(counts) != 1:
            return Cell(f"{counts[0]}–{counts[-1]}" if counts else UNDEFINED)
        return Cell(str(counts[0]), counts[0])

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
        # intervals need a plain mean over queries, not a sum or a mean of parts
        is_mean = definition.summary == "mean" and definition.weight is None
        if self.study.board.summary.average or not is_mean:
            return ()
        if len(system.entries) > 1:
            plan = Plan() if self.study.comparisons is None else self.study.comparisons.plan
            return clustered(system, metric, plan)
        return t_interval(values[~np.isnan(values)], LEVEL)


def _rank(column: Column, standing: Standing) -> Cell:
    if column.kind == "tier":
        return Cell(standing.tier.replace("-", "–") or UNDEFINED)
    # one query says nothing about how certain a rank is
    ends = (standing.rank_low, standing.rank_high) if standing.rank_high else ()
    spread = f"[{standing.rank_low}, {standing.rank_high}]" if ends else ""
    return Cell(str(standing.rank), standing.rank, spread, ends)


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
