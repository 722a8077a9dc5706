"""A paper table from the values of systems: its cells with their signs, and its caption."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ... import __version__
from ...core.entries import System, grouped_by
from ...core.evaluation import Counts
from ...core.metric import Direction, Metric
from ...core.names import over_same_queries as have_same_queries
from ...errors import UnknownNameError, counted, first_of, warn
from ...stats.comparison import (
    REFERENCE_RUNS,
    UNCOMPARED,
    Comparison,
    Comparisons,
    Standing,
    between,
)
from ...stats.intervals import summary_interval
from .. import notes
from ..leaderboard import Study, plan_of
from ..methods import (
    SHOWN,
    data_in_words,
    fused_in_words,
    mean_intervals,
    parts_in_words,
    settings_in_words,
    weights_of_systems,
)
from ..notes import (
    WARNED,
    absent_baselines,
    repeated_over,
    repetitions_in_words,
    tested_parts,
    warned_of,
)
from ..phrases import (
    ARROWS,
    UNDEFINED,
    at_most,
    confidence,
    correction,
    cutoffs_together,
    fixed,
    listed,
)
from ..select import select, select_datasets, select_metrics, sort_metric
from .model import (
    MOST_MARKED,
    NO_SIGNS,
    STAR,
    PaperCell,
    PaperColumn,
    PaperRow,
    PaperTable,
    Signs,
    best_and_second,
    misfits,
    render,
    signs_of,
)
from .settings import (
    DEFAULT,
    SUFFIXES,
    Name,
    TableSettings,
    comparison_fix,
    problems,
    renamed,
    sort_key,
)

AVERAGE = "Average"
Names = Sequence[str]
NOTHING = PaperCell(UNDEFINED)


def build(study: Study, settings: TableSettings = DEFAULT, name: str = "table") -> PaperTable:
    """Return the table of a study; `name` is its key in the config.

    Raises UnknownNameError if the settings name a run, dataset or metric that the study does not
    have.
    """
    # failed runs keep their row, and datasets with failed runs only keep their block
    known_runs = list(dict.fromkeys([*study.runs, *(run for _, run in study.failed)]))
    known_datasets = list(dict.fromkeys([*study.datasets, *(name for name, _ in study.failed)]))
    is_compared = study.comparisons is not None or bool(study.failed)
    baselines = baselines_of(study)
    checked = known_runs, known_datasets, study.board.metrics, is_compared, baselines
    wrong = problems(settings, *checked)
    compared_with = baselines if is_compared else None
    mistakes = [
        replace(
            problem,
            where=".".join(["tables", name, str(loc[0])]),
            fix=problem.fix or comparison_fix(loc, compared_with),
        )
        for loc, problem in wrong
    ]
    if mistakes:
        raise UnknownNameError(mistakes)
    settings = replace(settings, names=renamed(names_of(study), settings.names))
    datasets = select_datasets(settings.datasets, known_datasets, study.slices)
    groups, n_tried = _grouped(study, settings, datasets, known_runs)
    runs = [run for names in groups.values() for run in names]
    columns = list(_columns(study, settings, datasets, runs))
    signs = signs_of(study.comparisons, settings.marks, runs)
    titles = [title for title, names in groups.items() for _ in names]
    draft = TableDraft(study, settings, columns, runs, titles, n_tried, signs)
    run_signs = signs.of if draft.is_any_significant and signs.kind != "stars" else {}
    rows = (
        PaperRow(run, settings.name(run), cells, run_signs.get(run, ""), title)
        for run, cells, title in zip(runs, zip(*draft.cells, strict=True), titles, strict=True)
    )
    texts = draft.caption(), draft.footnotes(), source_of(study), draft.title(), draft.findings()
    by = sorted_by(settings, study)
    sort = str(by[1]) if by is not None and by[0] is None else ""
    return PaperTable(name, settings, tuple(columns), tuple(rows), *texts, draft.is_sparse, sort)


def render_all(study: Study, wanted: Mapping[str, TableSettings]) -> dict[str, bytes]:
    """Return every table in its formats by path, and warn of those that do not fit their page."""
    tables = [build(study, settings, name) for name, settings in wanted.items()]
    for misfit in (m for t in tables if "latex" in t.settings.formats for m in misfits(t)):
        warn(misfit)
    return {
        f"tables/{table.name}{SUFFIXES[format]}": render(table, format).encode()
        for table in tables
        for format in table.settings.formats
    }


def names_of(study: Study) -> dict[str, Name]:
    """Return the names and citations that the config has for all tables."""
    keys = {**study.names, **study.citations}
    return {key: Name(study.names.get(key, ""), study.citations.get(key, "")) for key in keys}


def baselines_of(study: Study) -> Names:
    """Return the baselines that runs are compared with."""
    return () if study.comparisons is None else study.comparisons.plan.baselines


def source_of(study: Study) -> str:
    """Return harness's version, the config's name and the SHA-256 of the manifest."""
    parts = [f"table made by harness {__version__}"]
    parts += [f"config {study.name}"] if study.name else []
    parts += [f"manifest sha256:{study.trace}"] if study.trace else []
    return " ".join(", ".join(parts).split())


def _grouped(
    study: Study, settings: TableSettings, datasets: Names, known: Names
) -> tuple[dict[str, list[str]], int]:
    """Return the runs of each group, in order, and the number of runs before the cut at the top.

    There is one group without a title if there are none. Runs that were neither evaluated nor
    failed on the `datasets` shown are left out.
    """
    groups = settings.groups or {"": settings.runs}
    taken: set[str] = set()
    members: dict[str, list[str]] = {}
    for title, patterns in groups.items():
        grouped = {name for key, names in settings.groups.items() if key != title for name in names}
        members[title] = list(select(patterns, known, "run", elsewhere=taken | grouped))
        taken |= set(members[title])
    tried = {(system.dataset, system.run) for system in study.systems} | set(study.failed)
    present = {run for dataset, run in tried if dataset in datasets and run in taken} or taken
    if (by := sorted_by(settings, study)) is not None:
        dataset, metric = by
        over = datasets if dataset is None else [dataset]

        def place(run: str) -> list[float]:
            """Return the mean to sort by; runs that miss a dataset follow, by each dataset."""
            ways = (over, *([dataset] for dataset in over))
            values = [-metric.sign * mean(study, run, metric, datasets) for datasets in ways]
            return [math.inf if math.isnan(value) else value for value in values]

        for runs in members.values():
            runs.sort(key=place)
    rows = {title: [run for run in runs if run in present] for title, runs in members.items()}
    shown = {title: runs[: settings.top] for title, runs in rows.items() if runs}
    return shown, sum(map(len, rows.values()))


def sorted_by(settings: TableSettings, study: Study) -> tuple[str | None, Metric] | None:
    """Return the dataset (None for all) and metric of the order; with `top`, the first shown."""
    sort = settings.sort or (None if settings.top is None else first_key(settings, study))
    if sort is None:
        return None
    by_name = {str(metric): metric for metric in study.board.metrics}
    datasets = [*study.datasets, *(name for name, _ in study.failed)]
    dataset, (name,) = sort_key(sort, datasets, [*by_name])
    return dataset, by_name[name]


def first_key(settings: TableSettings, study: Study, sort: str | None = None) -> str | None:
    """Return `sort`, or else the first metric that is shown and has a direction; None without."""
    shown = select_metrics(settings.metrics, study.board.metrics)
    deciding = [sort_metric(study.board.metrics, sort)] if sort else []
    chosen = (m for m in (*deciding, *shown) if m and m in shown and m.definition.direction)
    return next(map(str, chosen), None)


def _columns(
    study: Study, settings: TableSettings, datasets: Names, runs: Names
) -> Iterator[PaperColumn]:
    shown = select_metrics(settings.metrics, study.board.metrics)
    baselines = baselines_of(study)

    def of_metric(metric: Metric, block: str, dataset: str | None) -> PaperColumn:
        arrow = ARROWS[metric.definition.direction]
        name = settings.metric_name(metric, shown)
        title = f"{name} {arrow}" if arrow and settings.arrows else name
        digits, percent = settings.digits_of(metric), settings.is_percent(metric)
        over = datasets if dataset is None else [dataset]
        is_fair = not arrow or over_same_queries(study, runs, metric, over)
        return PaperColumn(title, "metric", block, dataset, metric, digits, percent, is_fair)

    standing = (study.comparisons or UNCOMPARED).standing
    for dataset in datasets:
        block = settings.name(dataset)
        for metric in shown:
            yield of_metric(metric, block, dataset)
            has_ranks = any(standing(dataset, str(metric), run) for run in study.runs)
            for extra in settings.extras:
                if has_ranks and extra in ("tier", "rank"):
                    yield PaperColumn(extra.capitalize(), extra, block, dataset, metric)
            for baseline in baselines if "p" in settings.extras else ():
                is_adjusted = study.comparisons and study.comparisons.plan.correction != "none"
                title = "adjusted p" if is_adjusted else "p"
                title += "" if len(baselines) == 1 else f" ({settings.name(baseline)})"
                yield PaperColumn(title, "p", block, dataset, metric, baseline=baseline)
        for extra in settings.extras:
            if extra in ("n", "coverage"):
                title = "Answered" if extra == "coverage" else extra
                yield PaperColumn(title, extra, block, dataset)
    if settings.average and len(datasets) > 1:
        means = (metric for metric in shown if metric.definition.summary == "mean")
        yield from (of_metric(metric, AVERAGE, None) for metric in means)


def over_same_queries(
    study: Study, runs: Sequence[str], metric: Metric, datasets: Sequence[str]
) -> bool:
    """Whether a metric's values of some runs are over the same queries of each dataset.

    A run without one of the datasets has no mean over them, and takes no part.
    """
    rows = [[study.system(dataset, run) for dataset in datasets] for run in runs]
    complete = [[system for system in row if system is not None] for row in rows if None not in row]
    values = [
        [(system.entries[0].evaluation.qids, system.values(metric)) for system in systems]
        for systems in zip(*complete, strict=True)
    ]
    return all(have_same_queries(metric, of_dataset) for of_dataset in values)


def _metrics_of(columns: Iterable[PaperColumn]) -> list[Metric]:
    return list(dict.fromkeys(column.metric for column in columns if column.metric is not None))


def mean(study: Study, run: str, metric: Metric, datasets: Sequence[str]) -> float:
    """Return the mean over the datasets of a run's values; NaN if one is missing."""
    systems = [study.system(dataset, run) for dataset in datasets]
    values = [math.nan if system is None else system.value(metric) for system in systems]
    return math.fsum(values) / len(values) if values else math.nan


@dataclass(frozen=True, eq=False)
class TableDraft:
    """Makes the cells of a table from its columns and runs, and the sentences around them."""

    study: Study
    settings: TableSettings
    columns: Sequence[PaperColumn]
    runs: Sequence[str]
    groups: Sequence[str]
    n_tried: int
    signs: Signs = NO_SIGNS

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics shown."""
        return _metrics_of(self.columns)

    @cached_property
    def datasets(self) -> list[str]:
        """The datasets shown."""
        names = dict.fromkeys(column.dataset for column in self.columns)
        return [name for name in names if name is not None]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Dataset and run of each row in each block of columns."""
        return list(product(self.datasets, self.runs))

    @cached_property
    def absent(self) -> list[tuple[str, str]]:
        """Dataset and run of those that were not evaluated."""
        return [pair for pair in self.pairs if self.study.system(*pair) is None]

    @property
    def is_sparse(self) -> bool:
        """Whether more than a quarter of the runs and datasets were not evaluated."""
        return not self.settings.average and 4 * len(self.absent) > len(self.pairs)

    @cached_property
    def systems(self) -> list[System]:
        """The systems shown."""
        return [system for pair in self.pairs if (system := self.study.system(*pair)) is not None]

    @cached_property
    def cells(self) -> list[list[PaperCell]]:
        """The cells of each column."""
        return list(map(self.column, self.columns))

    @cached_property
    def comparisons(self) -> Comparisons:
        """Comparisons with an outcome in the table, as signs or p-values."""
        has_p = any(column.kind == "p" for column in self.columns)
        return (self.study.comparisons or UNCOMPARED) if has_p else self.signs.comparisons

    @cached_property
    def outcomes(self) -> list[Comparison]:
        """Comparisons with a p-value and an outcome in the table."""
        peers = {*self.signs.of, *(column.baseline for column in self.columns)}
        shown = [column for column in self.columns if column.kind == "metric"]
        cells = {(column.dataset, str(column.metric)) for column in shown}
        runs = {(system.dataset, system.run) for system in self.systems}
        return [
            row
            for row in self.comparisons.rows
            if not math.isnan(row.p_adjusted)
            and (row.dataset, str(row.metric)) in cells
            and (row.dataset, row.run) in runs
            and peers & {row.baseline, row.run}
        ]

    @cached_property
    def is_any_significant(self) -> bool:
        """Whether the table shows a significant difference."""
        return any(map(self.comparisons.is_significant, self.outcomes))

    def column(self, column: PaperColumn) -> list[PaperCell]:
        """Return the cells of one column, with the best and the second best marked."""
        cells = [self._cell(column, run) for run in self.runs]
        if column.kind != "metric":
            return cells
        direction = None if self.settings.best == "none" else column.direction
        groups = self.groups if self.settings.best == "group" else [""] * len(cells)
        parts = list(grouped_by(range(len(cells)), groups.__getitem__).values())
        shown = _best_of_parts([cell.text for cell in cells], parts, direction)
        # CSV has every digit but the last ones, in which equal means may differ
        exact = _best_of_parts([f"{cell.value:.12g}" for cell in cells], parts, direction)
        largest = max((cell.n for cell in cells), default=0)
        return [
            replace(
                cell,
                best=shown.get(place) == "best",
                second=shown.get(place) == "second",
                mark=exact.get(place, ""),
                # a mean over fewer queries than its column's others shows its number of queries
                note=f"{cell.n}/{cell.of}" if 0 < cell.n < largest else cell.note,
            )
            for place, cell in enumerate(cells)
        ]

    def _cell(self, column: PaperColumn, run: str) -> PaperCell:
        metric = column.metric
        if column.dataset is None:
            return NOTHING if metric is None else self._average(column, metric, run)
        system = self.study.system(column.dataset, run)
        if system is None:
            return NOTHING
        if metric is None:
            return self._counts(system, column.kind == "n")
        compared = self.study.comparisons or UNCOMPARED
        standing = compared.standing(column.dataset, str(metric), run)
        if column.kind == "p":
            outcome, _ = between(compared, column.dataset, str(metric), column.baseline, run)
            return NOTHING if outcome is None else self._p_value(outcome.p_adjusted)
        if column.kind != "metric":
            return _rank(column, standing) if standing and standing.rank else NOTHING
        value = system.value(metric)
        ends: tuple[float, ...] = ()
        if self.settings.spread == "deviation":
            ends = (system.deviation(metric),)
        elif self.settings.spread == "error" and not self.study.board.summary.average:
            ends = (standard_error(metric, system),)
        elif self.settings.spread == "interval":
            ends = self._interval(metric, system, standing)
        fewer = system.incomplete
        return PaperCell(
            self._text(column, value),
            value,
            *self._spread(column, ends),
            *self.signs.better_and_worse(system.dataset, str(metric), run),
            n=system.n(metric),
            of=system.coverage[1],
            repetitions="" if fewer is None else fewer.share,
            **self._change(column, value, self._baseline_value(metric, run, [system.dataset])),
        )

    def _p_value(self, p: float) -> PaperCell:
        if math.isnan(p):
            return NOTHING
        zero = self.settings.leading_zero
        text = (
            fixed(p, 3, leading_zero=zero)
            if p >= 0.001
            else f"<{fixed(0.001, 3, leading_zero=zero)}"
        )
        return PaperCell(text, p)

    @property
    def reference(self) -> str:
        """The baseline that changes are against; empty if none is shown."""
        return "" if self.settings.delta == "none" else baselines_of(self.study)[0]

    def _baseline_value(self, metric: Metric, run: str, datasets: Names) -> float:
        """Return the baseline's mean over the datasets; NaN for the baseline itself."""
        baseline = self.reference
        if not baseline or run == baseline:
            return math.nan
        if baseline in self.study.runs:
            return mean(self.study, baseline, metric, datasets)
        compared = self.study.comparisons or UNCOMPARED
        outcomes = [compared.get(dataset, str(metric), baseline, run) for dataset in datasets]
        values = [math.nan if row is None else row.baseline_value for row in outcomes]
        return math.fsum(values) / len(values)

    def _change(self, column: PaperColumn, value: float, base: float) -> dict[str, Any]:
        """Return the change of a value against the baseline's, as it is shown and exactly."""
        if self.settings.delta == "absolute":
            change = value - base
            text = self._text(replace(column, metric=None), change)
        else:
            change = 100 * (value - base) / abs(base) if base else math.nan
            text = f"{fixed(change, 1, leading_zero=True)}%"
        if not math.isfinite(change):
            return {}
        return {"delta": text if text.startswith("-") else f"+{text}", "change": change}

    def _counts(self, system: System, is_n: bool) -> PaperCell:
        if not is_n:
            answered, queries = system.coverage
            return PaperCell(f"{answered}/{queries}", answered / queries if queries else math.nan)
        metrics = (column.metric for column in self.columns if column.dataset == system.dataset)
        counts = sorted({system.n(metric) for metric in metrics if metric is not None})
        if len(counts) != 1:
            return PaperCell(f"{counts[0]}–{counts[-1]}" if counts else UNDEFINED)
        return PaperCell(str(counts[0]), counts[0])

    def _average(self, column: PaperColumn, metric: Metric, run: str) -> PaperCell:
        systems = [self.study.system(dataset, run) for dataset in self.datasets]
        present = [system for system in systems if system is not None]
        if len(present) < len(systems):
            return PaperCell(UNDEFINED, note=f"{len(present)}/{len(systems)}")
        value = mean(self.study, run, metric, self.datasets)
        ends = (_deviation(present, metric),) if self.settings.spread == "deviation" else ()
        change = self._change(column, value, self._baseline_value(metric, run, self.datasets))
        return PaperCell(self._text(column, value), value, *self._spread(column, ends), **change)

    def _text(self, column: PaperColumn, value: float) -> str:
        if column.metric and column.metric.definition.summary == "sum" and value.is_integer():
            return str(int(value))
        zero = self.settings.leading_zero
        return fixed(value, column.digits, percent=column.percent, leading_zero=zero)

    def _spread(
        self, column: PaperColumn, ends: tuple[float, ...]
    ) -> tuple[str, tuple[float, ...]]:
        """Return ``± .012`` of a deviation, ``[.41, .44]`` of an interval; nothing if undefined."""
        if not ends or any(map(math.isnan, ends)):
            return "", ()
        texts = [self._text(replace(column, metric=None), value) for value in ends]
        return f"± {texts[0]}" if len(texts) == 1 else f"[{', '.join(texts)}]", ends

    def _interval(
        self, metric: Metric, system: System, standing: Standing | None
    ) -> tuple[float, ...]:
        if standing is not None:
            return standing.low, standing.high
        definition = metric.definition
        # intervals need a plain mean over queries, not a sum or a mean of parts
        is_mean = definition.summary == "mean" and definition.weight is None
        if self.study.board.summary.average or not is_mean:
            return ()
        return summary_interval(system, metric, plan_of(self.study))

    def title(self) -> str:
        """Return the default sentence of a caption."""
        datasets = list(map(self.settings.name, self.datasets))
        where = listed(datasets) if len(datasets) <= SHOWN else f"{len(datasets)} datasets"
        names = self.settings.metric_list(self.metrics, self.metrics)
        return f"{names} on {where}." if self.metrics and datasets else ""

    def caption(self) -> tuple[str, ...]:
        """Return the sentences of a caption that come after the author's own."""
        details = self.settings.caption.details
        return tuple(self._details()) if details in ("full", "short") else ()

    def footnotes(self) -> tuple[str, ...]:
        """Return the notes below the table."""
        query_notes = (note for dataset in self.datasets for note in self._query_notes(dataset))
        details = self._details() if self.settings.caption.details == "note" else ()
        return (*details, *self._run_notes(), *query_notes, *self._column_notes())

    def findings(self) -> tuple[str, ...]:
        """Return warnings of the guard on the systems shown."""
        warned = warned_of(
            (self.settings.name(system.run), system.warned) for system in self.systems
        )
        return tuple(note.removeprefix(WARNED).strip() for note in warned)

    def _details(self) -> Iterator[str]:
        yield from (*self._data(), *self._values(), *self._tested(), *self._ranks())
        if self.settings.caption.details != "short":
            yield from self._treatment()

    def _name(self, metric: Metric) -> str:
        return self.settings.metric_in_sentence(metric, self.metrics)

    def _heading(self, metric: Metric) -> str:
        return self.settings.metric_name(metric, self.metrics)

    def _shared(self, metrics: Sequence[Metric]) -> str:
        """Return names of metrics; without cutoffs if they are all of three or more."""
        stems = {self._name(metric).partition("@")[0] for metric in metrics}
        others = {self._name(m).partition("@")[0] for m in self.metrics if m not in metrics}
        is_one = len(metrics) > 2 and len(stems) == 1 and not stems & others
        return stems.pop() if is_one else self._names(metrics)

    def _names(self, metrics: Iterable[Metric]) -> str:
        return listed(cutoffs_together(map(self._name, metrics)))

    def _has(self, mark: str) -> bool:
        return any(getattr(cell, mark) for column in self.cells for cell in column)

    def _data(self) -> Iterator[str]:
        if not self.systems:
            return
        is_mean = all(metric.definition.summary == "mean" for metric in self.metrics)
        data = data_in_words(self.systems, self.settings.name)
        over = " and ".join(filter(None, (data, repetitions_in_words(self.systems))))
        parts = parts_in_words(self.study, self.systems)
        weighted = weights_of_systems(self.systems, self.settings.name)
        yield f"{'Means' if is_mean else 'Summaries'} over {over}{parts}{weighted}."
        metrics = self.study.board.metrics
        titles = {str(metric): self.settings.metric_name(metric, metrics) for metric in metrics}
        yield from notes.chosen(self.study.board, self.systems, lambda text: titles.get(text, text))
        yield from self.study.readings
        yield from fused_in_words(self.study, self.systems, self.settings.name, lambda _: "")

    def _values(self) -> Iterator[str]:
        if len(self.runs) < self.n_tried:
            by = ", sorted by " + self._sorted_by() if self._sorted_by() else ""
            several = " of each group" if len({*self.groups}) > 1 else ""
            yield f"The first {self.settings.top}{several} of {self.n_tried} systems{by}."
        if percent := [metric for metric in self.metrics if self.settings.is_percent(metric)]:
            is_all = len(percent) == len(self.metrics)
            of = "Values" if is_all else f"Values of {self._names(percent)}"
            yield f"{of} are × 100."
        if self.settings.spread == "deviation":
            yield from notes.deviation(self.systems)
        if self.settings.spread == "error" and self._has("spread"):
            yield "The number after ± is the standard error over queries."
        if self.reference:
            unit = " in per cent" if self.settings.delta == "percent" else ""
            against = self._against(self.reference)
            yield f"The number in parentheses is the change{unit} against {against}."
        if self.settings.spread == "interval" and not self.study.board.summary.average:
            share = confidence(plan_of(self.study).level)
            kinds = listed(mean_intervals(self.study, self.systems))
            yield f"Brackets contain unadjusted {share} {kinds} of the mean."
        if self._has("best"):
            second = ", the second best underlined" if self._has("second") else ""
            whole = " of each metric" if len(self.metrics) > 1 else ""
            whole += " on each dataset" if len(self.datasets) > 1 else ""
            whole += " within each group" if self.settings.best == "group" else ""
            yield f"The best value{whole} is in bold{second}."
        if self.settings.best != "none" and (
            unfair := [column for column in self.columns if not column.is_fair]
        ):
            where = listed(dict.fromkeys(column.block for column in unfair))
            yield notes.no_best(map(self._name, _metrics_of(unfair)), where)

    def _sorted_by(self) -> str:
        by = sorted_by(self.settings, self.study)
        if by is None:
            return ""
        title = self._names([by[1]])
        return title if by[0] is None else f"{title} on {self.settings.name(by[0])}"

    def _tested(self) -> Iterator[str]:
        comparisons = self.comparisons
        if self.signs.are_too_many and not self.outcomes:
            pairs = f"all pairs of more than {MOST_MARKED} systems"
            yield f"Significance is not marked, as {pairs} were compared."
        if not self.outcomes:
            return
        plan = comparisons.plan
        parts = [comparisons.title or plan.test]
        if over := repeated_over(self.systems):
            parts[0] += f" on per-query means over {over}"
        parts.append(correction(comparisons))
        if len(self.outcomes) < sum(size for _, size in comparisons.family_sizes):
            parts.append(f"{len(self.outcomes):,} shown")
        if comparisons.drawn:
            parts.append(f"{plan.draws:,} draws, seed {plan.seed}")
        if self.signs.kind != "stars":  # which say each level
            parts.append(at_most(plan.level))
        test = ", ".join(parts)
        result = self._signs() if self.signs.of else "P-values are adjusted"
        if not self.is_any_significant:
            result = "No difference is significant"
        yield f"{result} ({test})."
        tested = {str(row.metric) for row in comparisons.rows}
        missing = [metric for metric in self.metrics if str(metric) not in tested]
        untested = [*map(self._heading, missing[:1]), *map(self._name, missing[1:])]
        if any(column.dataset is None for column in self.columns):
            untested.append(AVERAGE)
        if untested:
            yield f"{listed(untested)} {'is' if len(untested) == 1 else 'are'} not tested."
        yield from tested_parts(comparisons)
        yield from absent_baselines(comparisons, self.datasets, self.settings.name)

    def _against(self, run: str) -> str:
        return REFERENCE_RUNS.get(run) or self.settings.name(run)

    def _signs(self) -> str:
        if self.signs.kind == "letters":
            return "A letter marks values significantly better than the system of that letter"
        worse = "; subscripts mark significantly worse ones" if self._has("worse") else ""
        if self.signs.kind == "stars":
            stars = (f"{STAR * n} {at_most(level)}" for n, level in enumerate(self.signs.levels, 1))
            baseline = self._against(next(iter(self.signs.of)))
            return (
                f"Stars mark values significantly better than {baseline}: {', '.join(stars)}{worse}"
            )
        (sign_of_first, run), *rest = ((sign, run) for run, sign in self.signs.of.items())
        parts = [f"{sign_of_first} marks values significantly better than {self._against(run)}"]
        parts += [f"{sign} than {self._against(run)}" for sign, run in rest]
        return ", ".join(parts) + worse

    def _ranks(self) -> Iterator[str]:
        kinds = {column.kind for column in self.columns}
        level = plan_of(self.study).level
        if "tier" in kinds:
            yield notes.tiers(level)
        if "rank" in kinds:
            share = confidence(level)
            yield f"Brackets after a rank contain its {share} interval, by bootstrap over queries."

    def _treatment(self) -> Iterator[str]:
        name = self._name
        if self.systems:
            entries = [entry for system in self.systems for entry in system.entries]
            counts = [(entry.dataset, entry.evaluation.counts) for entry in entries]
            sliced = {system.whole for system in self.systems} - {*self.datasets}
            counts += [  # slices do not know their ties
                (entry.dataset, Counts(tied=entry.evaluation.counts.tied))
                for entry in self.study.board.entries
                if entry.dataset in sliced
            ]
            yield from notes.treatment(self.metrics, entries[0].evaluation.policy, counts, name)
        facts = {metric: text for metric in self.metrics if (text := settings_in_words(metric))}
        texts = grouped_by(facts, facts.__getitem__).items()
        if texts:
            (_, of_first), *_ = texts
            is_one = len(of_first) == 1 or self._shared(of_first) != self._names(of_first)
            parts = [f"{self._shared(those)} with {text}" for text, those in texts]
            verb = " is computed with " if is_one else " are computed with "
            parts[0] = f"{self._shared(of_first)}{verb}{facts[of_first[0]]}"
            first = self.settings.metric_name(of_first[0], self.metrics)[0]
            yield f"{first}{listed(parts)[1:]}."

    def _run_notes(self) -> Iterator[str]:
        name = self.settings.name
        absent = [p for p in self.absent if not self.is_sparse or p in self.study.failed]
        if absent:
            missing = [f"{name(run)} on {name(dataset)}" for dataset, run in absent]
            verb = "was" if len(missing) == 1 else "were"
            yield f"{first_of(missing, SHOWN)} {verb} not evaluated."
        several = len(self.datasets) > 1
        yield from notes.missing_repetitions(
            (system.incomplete for system in self.systems),
            lambda gap: gap.called(name(gap.run), name(gap.dataset) if several else ""),
        )

    def _query_notes(self, dataset_name: str) -> Iterator[str]:
        on = self.settings.name(dataset_name) if len(self.datasets) > 1 else ""
        systems = [system for system in self.systems if system.dataset == dataset_name]
        if not systems:
            return
        name, policy = self._name, systems[0].entries[0].evaluation.policy
        names = {self.settings.name(system.run): system for system in systems}
        coverages = {run: system.coverage for run, system in names.items()}
        yield from notes.unanswered(coverages, self.metrics, policy, name, on=on)
        sizes = {(system.n(m), len(system.qids)) for system in systems for m in self.metrics}
        if len(sizes) > 1 or self.settings.caption.details == "none":
            numbers = notes.without_value(names, self.metrics)
            yield from notes.undefined(numbers, self._heading, name, on=on)

    def _column_notes(self) -> Iterator[str]:
        noted = [cell for cells in self.cells for cell in cells if cell.note]
        for is_missing, note in {cell.text == UNDEFINED: cell.note for cell in noted}.items():
            share = note.replace("/", " of ")
            if is_missing:
                yield f"{UNDEFINED} ({note}): values on {share} datasets, so no mean."
            else:
                yield f"({note}): mean over {share} queries; other values use more."
        names = {*map(str, self.metrics)}
        rows = [row for row in self.comparisons.rows if math.isnan(row.p_adjusted)]
        shown = [row for row in rows if (row.dataset, row.run) in self.pairs]
        reasons = Counter(row.note or "no answer" for row in shown if str(row.metric) in names)
        for reason, n in reasons.items():
            yield f"{counted(n, 'comparison has', 'comparisons have')} no p-value ({reason})."


def _best_of_parts(
    texts: Sequence[str], parts: Iterable[Sequence[int]], direction: Direction | None
) -> dict[int, str]:
    ranks: dict[int, str] = {}
    for places in parts:
        tops = best_and_second([texts[place] for place in places], direction)
        for rank, top in zip(("best", "second"), tops, strict=True):
            ranks |= {places[index]: rank for index in top}
    return ranks


def standard_error(metric: Metric, system: System) -> float:
    """Return the standard error of a mean over queries; NaN for other summaries."""
    definition, values = metric.definition, system.values(metric)
    values = values[~np.isnan(values)]
    is_mean = definition.summary == "mean" and definition.weight is None
    if not is_mean or system.weights(metric) is not None or len(values) < 2:
        return math.nan
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))


def _rank(column: PaperColumn, standing: Standing) -> PaperCell:
    if column.kind == "tier":
        return PaperCell(standing.tier.replace("-", "–") or UNDEFINED)
    # one query says nothing about how certain a rank is
    ends = (standing.rank_low, standing.rank_high) if standing.rank_high else ()
    spread = f"[{standing.rank_low}, {standing.rank_high}]" if ends else ""
    return PaperCell(str(standing.rank), standing.rank, spread, ends)


def _deviation(systems: Sequence[System], metric: Metric) -> float:
    """Return the deviation of means over datasets, over the repetitions that all have."""
    repeated: list[dict[tuple[tuple[str, str], ...], float]] = [{} for _ in systems]
    for system, values in zip(systems, repeated, strict=True):
        for entry in system.entries:
            key = tuple((name, entry.columns.get(name, "")) for name in system.varying)
            values[key] = entry.summary.get(str(metric), math.nan)
    if any(values.keys() != repeated[0].keys() for values in repeated) or len(repeated[0]) < 2:
        return math.nan
    means = [math.fsum(values[key] for values in repeated) / len(repeated) for key in repeated[0]]
    return float(np.std(means, ddof=1))
