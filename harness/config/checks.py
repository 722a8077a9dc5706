"""What can be checked of comparisons, tables, plots and summaries before any data are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..core.leaderboard import NOT_COMPARED, Summary
from ..core.metric import Metric
from ..core.systems import compared, run_name, whole_name
from ..core.text import alike_warnings, folded, wrong_with
from ..errors import Problem, UnknownNameError, did_you_mean
from ..reports.paper_table.settings import problems as table_problems
from ..reports.plots.plot import problems as plot_problems
from ..reports.plots.plot import too_many
from .cells import Cell, columns_of
from .model import Config
from .patterns import Pattern
from .yaml_file import Loc


@dataclass(frozen=True)
class KnownNames:
    """What settings may name; None for names that are not known, as some of them are wrong."""

    metrics: Sequence[Metric] | None
    runs: Sequence[str] | None
    datasets: Sequence[str] | None


def check_compare(config: Config, known: KnownNames, all_loaded: bool) -> Iterator[Problem]:
    """Yield what is wrong with the plan of comparisons.

    Unless all plugins are loaded, an unknown test may be one of theirs.
    """
    plan, runs, metrics = config.compare, known.runs, known.metrics
    if plan is None:
        return
    if all_loaded:
        from ..stats.registry import find  # which loads SciPy: only where runs are compared

        try:
            find(plan.test)
        except UnknownNameError as error:
            yield from (config.problem(("compare", "test"), one.what) for one in error.problems)
    if runs is not None and len(runs) < 2:
        what = f"there is one run, {', '.join(runs)}; comparing takes two"
        yield config.problem(("compare",), what)
    for place, name in enumerate(plan.baselines):
        if runs is not None and name not in runs:
            near = did_you_mean(name, runs)
            what = f"there is no run '{name}'{near}  (there are: {', '.join(runs)})"
            yield config.problem(_item(("compare", "baseline"), place, plan.baselines), what)
    if metrics is None:
        return
    for place, name in enumerate(plan.metrics):
        try:
            compared(metrics, [name])
        except UnknownNameError as error:
            loc = _item(("compare", "metrics"), place, plan.metrics)
            yield from (config.problem(loc, one.what) for one in error.problems)
    if metrics and not compared(metrics):
        names = ", ".join(map(str, metrics))
        what = f"none of the metrics ({names}) is a mean of values that have a better and a worse"
        yield config.problem(("compare",), what)


def _item(loc: Loc, place: int, items: Sequence[str]) -> Loc:
    """Return the place of an item; a single one may be written without a list."""
    return loc if len(items) == 1 else (*loc, place)


def check_plots(config: Config, known: KnownNames) -> Iterator[Problem]:
    """Yield what is wrong with plots."""
    baselines = None if config.compare is None else config.compare.baselines
    for place, settings in config.items_of("plots"):
        wrong = list(plot_problems(settings, known.runs, known.datasets, known.metrics, baselines))
        for loc, what in wrong:
            yield config.problem(("plots", place, *loc), what)
        if wrong or known.datasets is None or known.metrics is None:
            continue
        if what := too_many(settings, known.datasets, known.metrics):
            fix = f"name fewer metrics or datasets: {{kind: {settings.kind}, metrics: [...]}}"
            yield config.problem(("plots", place), what, fix=fix)


def check_tables(config: Config, known: KnownNames) -> Iterator[Problem]:
    """Yield what is wrong with tables."""
    taken: dict[str, str] = {}
    compares = config.compare is not None
    for name, table in config.tables.items():
        if wrong := wrong_with(name):
            what = f"must be the name of a file, and {wrong}"
            yield config.problem(("tables", name), what)
        first = taken.setdefault(folded(name), name)
        if first != name:
            what = f"'{name}' and '{first}' are one file to some systems"
            yield config.problem(("tables", name), what, fix="give one of them another name")
        found = table_problems(table, known.runs, known.datasets, known.metrics, compares)
        for loc, what in found:
            fix = "add 'compare:' to the config" if loc[0] in ("marks", "extras") else ""
            yield config.problem(("tables", name, *loc), what, fix=fix)


_OF_DATASETS = ("pool", "average")


def check_summary(config: Config, cells: Sequence[Cell]) -> Iterator[Problem]:
    """Yield columns that do not exist, are named twice, or cannot be taken out that way."""
    summary = config.summary
    of_dataset = dict.fromkeys(name for cell in cells for name in cell.of_dataset)
    of_run = dict.fromkeys(name for cell in cells for name in cell.of_run)
    seen: dict[str, str] = {}
    for key, names in vars(summary).items():
        columns, others = (of_dataset, of_run) if key in _OF_DATASETS else (of_run, of_dataset)
        for place, name in enumerate(names):
            what, fix = "", ""
            if name in seen:
                what = f"column '{name}' stands under {seen[name]} already"
            elif name in others and name not in columns:
                what, fix = _of_the_others(name, key, list(columns))
            elif name not in columns:
                listed = ", ".join(columns) or "none"
                what = f"no column '{name}'{did_you_mean(name, columns)}  (there are: {listed})"
            if what:
                yield config.problem(_item(("summary", key), place, names), what, fix=fix)
            seen.setdefault(name, key)
    yield from _within_names(seen, cells, config)
    if summary.pool and summary.average:
        what = "folds are pooled or averaged, not both"
        yield config.problem(("summary", "average"), what)
    if summary.average and config.compare is not None:
        yield config.problem(("compare",), NOT_COMPARED)


def _of_the_others(name: str, key: str, columns: Sequence[str]) -> tuple[str, str]:
    """Return what is wrong with a column that belongs to the other side, and a fix."""
    there = f"there are: {', '.join(columns)}" if columns else "there are none"
    if key in _OF_DATASETS:
        what = f"column '{name}' is one of runs, and {key} takes those of datasets  ({there})"
        return what, f"seeds and other repetitions go under spread: 'spread: [{name}]'"
    what = f"column '{name}' is one of datasets, and {key} takes those of runs  ({there})"
    return what, f"folds and other parts go under pool or average: 'pool: [{name}]'"


def _within_names(
    columns: Mapping[str, str], cells: Sequence[Cell], config: Config
) -> Iterator[Problem]:
    """Yield runs whose names hold a column that a key of the summary takes out."""
    by_key: dict[str, list[Cell]] = {}
    for cell in cells:
        by_key.setdefault(cell.run_key, []).append(cell)
    for key, some in by_key.items():
        inside = [
            name
            for name in Pattern(key).names
            if name in columns and len({columns_of(cell).get(name) for cell in some}) > 1
        ]
        if not inside:
            continue
        runs = list(dict.fromkeys(cell.run for cell in some))
        keys = " and ".join(f"summary.{columns[name]}" for name in inside)
        parts = " and ".join(f"{{{name}}}" for name in inside)
        what = (
            f"the name has {parts}, so that {', '.join(runs[:3])} are separate runs and {keys} "
            "cannot take them together"
        )
        shorter = key
        for name in inside:
            shorter = re.sub(rf"[-_. ]*(?:[A-Za-z]+[-_. ]?)?\{{{name}\}}", "", shorter)
        fix = f'call them "{shorter}"' if shorter.strip("-_. ") else "give them one name"
        yield config.problem(("runs", key), what, fix=f"{fix}; the path alone needs {parts}")


def names(summary: Summary, cells: Sequence[Cell]) -> tuple[list[str], list[str]]:
    """Return the names of datasets and of runs, as a summary leaves them."""
    parts = summary.parts
    datasets = dict.fromkeys(
        whole_name(cell.dataset_key, cell.columns, parts) if parts else cell.dataset
        for cell in cells
    )
    runs = dict.fromkeys(
        run_name(cell.run, cell.columns, cell.dataset_key, summary) for cell in cells
    )
    return list(datasets), list(runs)


def similar_names(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield what is to be said of datasets and runs that look alike and are kept apart."""
    yield from alike_warnings("datasets", (one.dataset for one in cells))
    yield from alike_warnings("runs", (one.run for one in cells))
