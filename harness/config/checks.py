"""What a config gets wrong beyond keys and types, found before any data are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..core.comparable import compared
from ..core.entries import grouped_by, sliced_name, slices, whole_name
from ..core.leaderboard import NOT_COMPARED
from ..core.metric import REGISTRY, Metric
from ..core.names import BOUNDS, parse, with_bounds
from ..core.settings import contradiction, find_convention
from ..core.systems import run_name
from ..errors import (
    HarnessError,
    Problem,
    UnknownNameError,
    check_known,
    did_you_mean,
)
from ..readers.files import wrong_with
from ..readers.format import FORMATS, Kind
from ..readers.groups import find_grouping, read_groups
from ..reports.paper_table.settings import TableSettings
from ..reports.paper_table.settings import problems as table_problems
from ..reports.plots.plot import problems as plot_problems
from ..reports.select import sort_metric
from ..stats.gate import OTHERS
from . import plugins
from .cells import Cell, find, run_entries, without_reference
from .model import Config, DatasetEntry, FileSettings
from .patterns import Pattern
from .yaml_file import Loc, ParsedYaml, is_metric, metric_sets

_OF_DATASETS = ("pool", "average")


class Names(NamedTuple):
    """What settings may name; None if some of them are wrong, so that not all are known."""

    metrics: Sequence[Metric] | None
    runs: Sequence[str] | None
    datasets: Sequence[str] | None


def check(config: Config, load_plugins: bool) -> list[Problem]:
    """Return what is wrong with names, formats, plugins, files, metrics and references to them."""
    source = config._source
    problems = [*_check_names(config), *_check_formats(config)]
    for place, name in enumerate(config.plugins if load_plugins else ()):
        try:
            plugins.load(name, config.base)
        except plugins.PluginError as error:
            problems.append(config.problem(("plugins", place), str(error)))
    all_loaded = not config.plugins or (load_plugins and plugins.allowed)

    complete = config._complete and not source.problems
    cells, wrong = find(config, complete)
    problems += wrong

    convention = config.convention
    if convention is not None:
        wrong_names = list(_unknown(config, ("convention",), find_convention, convention))
        problems += wrong_names
        convention = None if wrong_names else convention
    for place, name in enumerate(config.page.conventions):
        problems += _unknown(config, ("page", "conventions", place), find_convention, name)
    if overruled := contradiction(convention, config.to_policy()):
        loc = ("policy", overruled.where)
        problems.append(config.problem(loc, overruled.what, fix=overruled.fix))
    defaults = config.policy.metric_defaults(convention)
    problems += _check_metric_sets(source, defaults, all_loaded)
    entries: list[tuple[Loc, str]] = [
        (("metrics", place), name) for place, name in enumerate(config.metrics) if name
    ]
    metrics, unknown = _check_metrics(entries, source, defaults, all_loaded)
    problems += unknown
    datasets = systems = None
    if complete and not wrong:
        problems += _check_references(metrics, cells, config)
        problems += _check_summary(config, cells)
        problems += _check_select(config, cells)
        datasets, systems = names_of(config, cells)
        problems += _check_groups(config)
        if any(one.groups and one.groups.function for one in config.datasets.values()):
            datasets = None  # its groups are known when it is called
    every = None
    if config.metrics and len(metrics) == len(config.metrics):
        every = [one for _, some in metrics for one in some]
        every = list(with_bounds(every)) if config.policy.ties == BOUNDS else every
        problems += _unknown(config, ("sort",), sort_metric, every, config.sort)
    known = Names(every, systems, datasets)
    problems += _check_called(config, known)
    problems += _check_compare(config, known, all_loaded)
    if config.select is not None and every is not None:
        problems += _unknown(config, ("select", "by"), compared, every, [config.select.by])
    problems += _check_tables(config, known)
    problems += _check_plots(config, known)
    problems += _check_gate(config, known)
    return problems


def _unknown(
    config: Config, loc: Loc, find: Callable[..., object], *arguments: Any
) -> Iterator[Problem]:
    """Yield the problems of a name that `find` does not know."""
    try:
        find(*arguments)
    except UnknownNameError as error:
        yield from (config.problem(loc, one.what, fix=one.fix) for one in error.problems)


def names_of(config: Config, cells: Sequence[Cell]) -> tuple[list[str], list[str]]:
    """Return the names of the datasets and of the runs that are reported."""
    summary, parts, over = config.summary, config.summary.parts, set[str]()
    if config.select is not None:
        on, over = config.select.on, {*config.select.over}
        cells = [cell for cell in cells if cell.dataset_key != on]
    datasets = dict.fromkeys(
        whole_name(cell.dataset_key, cell.columns, parts) if parts else cell.dataset
        for cell in cells
    )
    runs = dict.fromkeys(
        run_name(
            cell.run, {k: v for k, v in cell.columns.items() if k not in over}, cell.dataset_key,
            summary,
        )
        for cell in cells
    )  # fmt: skip
    for cell in cells if any(one.groups for one in config.datasets.values()) else ():
        own = whole_name(cell.dataset_key, cell.columns, parts) if parts else cell.dataset
        datasets |= dict.fromkeys(sliced_name(own, one) for one in _groups_of(cell.dataset_entry))
    return list(datasets), list(runs)


def _groups_of(entry: DatasetEntry) -> list[str]:
    """Return the groups of a file; none if it is wrong, which evaluating reports."""
    groups = entry.groups
    if groups is None or groups.path is None:
        return []
    try:
        found = read_groups(Path(groups.path), groups.qid, groups.columns, groups.bins)
    except HarnessError:
        return []
    return [one.group for one in slices({name: own.values() for name, own in found.items()})]


def _check_groups(config: Config) -> Iterator[Problem]:
    """Yield functions that no plugin registered, and bins of columns that are left out."""
    for name, entry in config.datasets.items():
        groups, loc = entry.groups, ("datasets", name, "groups")
        if groups is None:
            continue
        if groups.function is not None and plugins.allowed:
            yield from _unknown(config, (*loc, "function"), find_grouping, groups.function)
        for column in groups.bins:
            if groups.columns and column not in groups.columns:
                what = f"expected bins of one of the columns, got '{column}'"
                yield config.problem((*loc, "bins"), what, fix=f"add '{column}' to 'columns:'")


def _check_names(config: Config) -> Iterator[Problem]:
    """Yield the name of a config that is not the name of a folder."""
    if type(config) is Config and (wrong := wrong_with(config.name)):
        yield config.problem(("name",), f"expected the name of a folder, got one that {wrong}")


def _check_formats(config: Config) -> Iterator[Problem]:
    """Yield formats that do not exist or hold something else, and options that they do not have."""
    entries: list[tuple[Loc, Kind, FileSettings]] = [
        (("datasets", key), "qrels", entry) for key, entry in config.datasets.items()
    ]
    entries += [(loc, "run", entry) for _, loc, entry in run_entries(config.runs)]
    for loc, kind, entry in entries:
        options = entry.options().keys() - {"format", "duplicates"}
        able = [name for name, known in FORMATS.items() if known.reader(kind) is not None]
        if entry.format is None:
            if not any(options <= {*FORMATS[name].options(kind)} for name in able):
                what = f"no format has the options {' and '.join(sorted(options))} together"
                yield config.problem(loc, what)
        elif entry.format not in able:
            what = f"unknown format '{entry.format}'{did_you_mean(entry.format, able)}"
            if entry.format in FORMATS:
                what = f"format {entry.format} holds no {kind}"
            yield config.problem((*loc, "format"), f"{what}  (all: {', '.join(able)})")
        else:
            allowed = FORMATS[entry.format].options(kind)
            for option in options - {*allowed}:
                has = ", ".join(allowed) or "none"
                what = f"format {entry.format} has no option '{option}'  (it has: {has})"
                yield config.problem((*loc, option), what)


def _check_metric_sets(
    source: ParsedYaml, defaults: dict[str, Any], all_loaded: bool
) -> Iterator[Problem]:
    """Yield sets with the name of a metric, and metrics in them that do not exist."""
    sets = metric_sets(source.data)
    for name, metrics in sets.items():
        if is_metric(name):
            what = f"expected a name that no metric has, got '{name}'"
            fix = "rename the set"
            yield source.problem(("metric_sets", name), what, fix=fix)
        entries = [
            (("metric_sets", name, place), metric)
            for place, metric in enumerate(metrics)
            if isinstance(metric, str) and metric not in source.data["metric_sets"]
        ]
        yield from _check_metrics(entries, source, defaults, all_loaded)[1]


def _check_metrics(
    entries: Sequence[tuple[Loc, str]],
    source: ParsedYaml,
    defaults: dict[str, Any],
    all_loaded: bool,
) -> tuple[list[tuple[Loc, list[Metric]]], list[Problem]]:
    """Return the metrics of each correct entry, and what is wrong with the others."""
    metrics: list[tuple[Loc, list[Metric]]] = []
    problems: list[Problem] = []
    sets = metric_sets(source.data)
    for loc, name in entries:
        try:
            metrics.append((loc, parse(name, defaults)))
            continue
        except UnknownNameError as error:
            what, fix = error.problems[0].what, error.problems[0].fix
        base = re.match(r"[A-Za-z_][A-Za-z0-9_-]*", name)
        if not all_loaded and base is not None and base[0] not in REGISTRY:
            continue  # a plugin may have it
        if " - " in name:
            what = f"expected one metric, got '{name}'"
            fix = "begin the '- ' of every entry in the same column"
        elif near := did_you_mean(name, sets):
            what = f"there is no metric or set '{name}'{near}  (sets: {', '.join(sets)})"
        problems.append(source.problem(loc, what, fix=fix))
    return metrics, problems


def _check_references(
    metrics: Iterable[tuple[Loc, Sequence[Metric]]], cells: Sequence[Cell], config: Config
) -> Iterator[Problem]:
    """Yield the metrics that compare with a run that does not exist."""
    runs = dict.fromkeys(cell.run for cell in cells)
    for loc, some in metrics:
        for name in (metric.reference for metric in some if metric.reference is not None):
            wrong = [*_unknown(config, loc, check_known, "run", name, runs)]
            errors = () if wrong else without_reference(cells, name)
            yield from (*wrong, *(config.problem(loc, str(error)) for error in errors))


def _check_compare(config: Config, names: Names, all_loaded: bool) -> Iterator[Problem]:
    """Yield what is wrong with the plan of comparisons."""
    plan, runs, metrics = config.compare, names.runs, names.metrics
    if plan is None:
        return
    if all_loaded:
        from ..stats.registry import find  # loads SciPy: only if runs are compared

        yield from _unknown(config, ("compare", "test"), find, plan.test)
    if runs is not None and len(runs) < 2:
        what = f"expected two runs or more to compare, got {', '.join(runs)}"
        yield config.problem(("compare",), what)
    for place, name in enumerate(plan.baselines if runs is not None else ()):
        loc = _item(("compare", "baseline"), place, plan.baselines)
        yield from _unknown(config, loc, check_known, "run", name, runs)
    if metrics is None:
        return
    for place, name in enumerate(plan.metrics):
        loc = _item(("compare", "metrics"), place, plan.metrics)
        yield from _unknown(config, loc, compared, metrics, [name])
    if metrics and not compared(metrics):
        listed = ", ".join(map(str, metrics))
        what = f"expected a metric that runs can be compared by, got {listed}"
        yield config.problem(("compare",), what, fix="add map or ndcg@10 to 'metrics'")


def _check_gate(config: Config, names: Names) -> Iterator[Problem]:
    """Yield a baseline that is no run, and rules of metrics that are not evaluated."""
    gate, runs, metrics = config.gate, names.runs, names.metrics
    if gate is None:
        return
    if runs is not None and gate.baseline not in runs:
        yield from _unknown(config, ("gate", "baseline"), check_known, "run", gate.baseline, runs)
    elif runs is not None and len(runs) < 2:
        what = f"expected a run besides the baseline '{gate.baseline}'"
        yield config.problem(("gate",), what, fix="add the candidate's run")
    if metrics is None:
        return

    def check_rule(name: str) -> None:
        compared(metrics, [str(one) for one in parse(name)])

    for name in gate.rules:
        if name != OTHERS:
            yield from _unknown(config, ("gate", "rules", name), check_rule, name)


def _item(loc: Loc, place: int, items: Sequence[str]) -> Loc:
    """Return the place of an item; a single one may be written without a list."""
    return loc if len(items) == 1 else (*loc, place)


def _check_plots(config: Config, names: Names) -> Iterator[Problem]:
    """Yield what is wrong with plots."""
    baselines = None if config.compare is None else config.compare.baselines
    for place, settings in enumerate(config.plots):
        wrong = plot_problems(settings, names.runs, names.datasets, names.metrics, baselines)
        for loc, what in wrong:
            yield config.problem(("plots", place, *loc), what)


def _check_called(config: Config, names: Names) -> Iterator[Problem]:
    """Yield `names` of nothing, and new names that two runs, datasets or metrics have."""
    if not config.names:
        return
    settings = TableSettings(names=config.names)
    for loc, what in table_problems(settings, names.runs, names.datasets, names.metrics, True):
        if loc[0] == "names":
            yield config.problem(loc, what)


def _check_tables(config: Config, names: Names) -> Iterator[Problem]:
    """Yield what is wrong with tables."""
    compares = config.compare is not None
    for name, table in config.tables.items():
        if wrong := wrong_with(name):
            what = f"expected the name of a file, got one that {wrong}"
            yield config.problem(("tables", name), what)
        found = table_problems(table, names.runs, names.datasets, names.metrics, compares)
        for loc, what in found:
            fix = "add 'compare:' to the config" if loc[0] in ("marks", "extras") else ""
            yield config.problem(("tables", name, *loc), what, fix=fix)


def _check_summary(config: Config, cells: Sequence[Cell]) -> Iterator[Problem]:
    """Yield columns that do not exist, occur twice, or cannot be summarised that way."""
    summary = config.summary
    of_dataset = dict.fromkeys(name for cell in cells for name in cell.of_dataset)
    of_run = dict.fromkeys(name for cell in cells for name in cell.of_run)
    seen: dict[str, str] = {}
    for key, names in vars(summary).items():
        is_dataset = key in _OF_DATASETS
        columns, others = (of_dataset, of_run) if is_dataset else (of_run, of_dataset)
        for place, name in enumerate(names):
            what, fix = "" if name in columns else _no_column(name, columns), ""
            if name in seen:
                what = f"column '{name}' is under {seen[name]} already"
            elif what and name in others:
                fix = f"put '{name}' under {'spread' if is_dataset else 'pool or average'}"
            if what:
                yield config.problem(_item(("summary", key), place, names), what, fix=fix)
            seen.setdefault(name, key)
    yield from _check_columns_in_names(seen, cells, config)
    if summary.pool and summary.average:
        yield config.problem(("summary", "average"), "folds are pooled or averaged, not both")
    if summary.average and config.compare is not None:
        yield config.problem(("compare",), NOT_COMPARED)


def _no_column(name: str, columns: Iterable[str]) -> str:
    there = ", ".join(columns) or "none"
    return f"no column '{name}'{did_you_mean(name, columns)}  (there are: {there})"


def _check_select(config: Config, cells: Sequence[Cell]) -> Iterator[Problem]:
    """Yield datasets and columns that do not exist, or cannot be chosen on, over or within."""
    settings = config.select
    if settings is None:
        return
    datasets = list(config.datasets)
    if settings.on not in datasets or len(datasets) == 1:
        near = did_you_mean(settings.on, datasets)
        what = f"expected one of two datasets or more, got '{settings.on}'{near}"
        fix = "write an entry of validation and one of test queries, and for each run a list: "
        fix += "[{dataset: VALI, path: ...}, {dataset: TEST, path: ...}]"
        what += f"  (there are: {', '.join(datasets)})"
        yield config.problem(("select", "on"), what, fix=fix)
    of_run = dict.fromkeys(name for cell in cells for name in cell.of_run)
    columns_of = (name for cell in cells for name in (*cell.of_dataset, *cell.of_run))
    every = dict.fromkeys(["model", *columns_of])  # runs that are named are kept apart too
    taken = {
        name: f"summary.{key}" for key, names in vars(config.summary).items() for name in names
    }
    wanted = (
        ("over", settings.over, of_run, taken),
        ("within", settings.within, every, dict.fromkeys(settings.over, "over")),
    )
    for key, names, columns, others in wanted:
        for place, name in enumerate(names):
            what = "" if name in columns else _no_column(name, columns)
            if not what and name in others:
                what = f"column '{name}' is under {others[name]} already"
            if what:
                yield config.problem(_item(("select", key), place, names), what)
    if not settings.over:
        yield config.problem(("select", "over"), "expected at least one column, got none")
    yield from _check_columns_in_names(dict.fromkeys(settings.over, ""), cells, config)


def _check_columns_in_names(
    columns: Mapping[str, str], cells: Sequence[Cell], config: Config
) -> Iterator[Problem]:
    """Yield runs whose names hold a column of `select` or, by key, of `summary`."""
    for key, some in grouped_by(cells, lambda cell: cell.run_key).items():
        for name in Pattern(key).names:
            values = {cell.all_columns.get(name) for cell in some}
            if name not in columns or len(values) == 1:
                continue
            cannot = f"summary.{columns[name]} cannot take them together"
            cannot = cannot if columns[name] else "select cannot choose between them"
            what = f"the name has {{{name}}}, so each value is a run of its own and {cannot}"
            fix = f"leave {{{name}}} out of the name; only the path needs it"
            yield config.problem(("runs", key), what, fix=fix)
