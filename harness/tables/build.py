"""A finished study and a table's settings -> the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .. import __version__
from ..core.metric import Metric
from ..core.study import Study
from ..errors import Problem, UnknownNameError
from ..reports._cells import ARROWS
from .caption import caption, finished, shown_of
from .cells import Cells
from .checks import as_label, problems
from .footnotes import footnotes
from .model import Column, Group, Kind, PaperTable, Row, Trace
from .rows import grouped, known_datasets, known_runs, over_same_queries
from .select import metric_spellings, select
from .settings import DEFAULT, Settings
from .signs import signs_of

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
    wrong = [
        Problem(f"tables.{name}{_path(loc)}", what)
        for loc, what in problems(
            settings,
            known_runs(study),
            known_datasets(study),
            study.board.metrics,
            # a run that could not be evaluated may leave nothing to compare, and loses no table
            study.comparisons is not None or bool(study.failed),
        )
    ]
    if wrong:
        raise UnknownNameError(wrong)
    datasets = select(settings.datasets, known_datasets(study), "dataset")
    columns = tuple(_columns(study, settings, datasets))
    groups = grouped(study, settings, datasets)
    runs = [run for _, names in groups for run in names]
    columns = tuple(_fair(study, column, datasets, runs) for column in columns)
    signs = signs_of(study.comparisons, settings.marks, runs)
    maker = Cells(study, settings, signs, columns)
    cells = [maker.column(column, runs) for column in columns]
    at = {run: tuple(column[place] for column in cells) for place, run in enumerate(runs)}
    shown = [system for system in study.systems if system.dataset in datasets and system.run in at]
    marked = {
        what
        for what in ("best", "second", "worse")
        if any(getattr(cell, what) for column in cells for cell in column)
    }
    known = study.comparisons
    if known is not None and any(map(known.is_significant, shown_of(signs, columns, shown))):
        marked.add("signs")
    return PaperTable(
        name,
        columns,
        tuple(
            Group(
                title,
                tuple(
                    Row(
                        run,
                        settings.name(run),
                        at[run],
                        signs.of.get(run, "") * ("signs" in marked),
                    )
                    for run in names
                ),
            )
            for title, names in groups
        ),
        finished(settings.caption),
        finished(settings.caption_latex),
        caption(study, settings, columns, shown, signs, marked),
        footnotes(study, settings, columns, runs, signs, cells),
        settings.label or f"tab:{as_label(name)}",
        _trace(study),
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


def _trace(study: Study) -> Trace:
    config = study.manifest.get("config", {})
    return Trace(study.trace, str(config.get("name", "")), __version__)
