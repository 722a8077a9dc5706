"""Checks of a config beyond keys and types, made before any data are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..core.entries import grouped_by, sliced_name, slices
from ..core.metric import REGISTRY, Metric
from ..core.names import BOUNDS, compared, parse, unproven_bound, with_bounds
from ..core.settings import contradiction, find_convention
from ..core.systems import run_name
from ..errors import HarnessError, Problem, UnknownNameError, check_known
from ..readers.files import wrong_with
from ..readers.format import COMMON, Kind, able_formats, named_format, reader_of
from ..readers.groups import read_groups
from ..reports.page import check_link
from ..reports.paper_table.settings import TableSettings, comparison_fix
from ..reports.paper_table.settings import problems as table_problems
from ..reports.plots.plot import problems as plot_problems
from ..reports.select import Found, sort_metric
from ..stats.comparison import Plan, check_baselines
from ..stats.gate import OTHERS, GateSettings
from . import plugins
from .cells import Cell, find_cells, run_entries, without_reference
from .model import Config, DatasetEntry, RunEntry
from .patterns import Pattern
from .yaml_file import Loc

Texts = Mapping[str, str]


def config_problems(config: Config, load_plugins: bool) -> list[Problem]:
    """Return the problems of names, formats, plugins, files, metrics and references to them."""
    checks = _Checks(config)
    checks.check_entries()
    if config.plugins and load_plugins:
        checks.load_plugins(config.plugins)
    complete = config._complete and not config._source.problems
    cells, wrong = ([], []) if config._is_recorded else find_cells(config, complete)
    checks.problems += wrong
    checks.check_metrics()
    if cells and complete and not wrong:
        checks.check_cells(cells)
    checks.check_settings()
    return checks.problems


class _Checks:
    """Collects problems; the names of metrics, runs or datasets are None if not all are known."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.problems: list[Problem] = []
        self.all_loaded = not config.plugins
        self.by_entry: list[tuple[Loc, list[Metric]]] = []
        self.metrics: list[Metric] | None = None
        self.runs: list[str] | None = None
        self.datasets: list[str] | None = None

    def report(self, loc: Loc, message: str, fix: str = "") -> None:
        """Note something that is wrong at a place in the config."""
        self.problems.append(self.config.problem(loc, message, fix=fix))

    def call(self, loc: Loc, function: Callable[..., Any], *arguments: Any, fix: str = "") -> bool:
        """Call a function, report its error at a place, and return whether there was none."""
        try:
            function(*arguments)
        except HarnessError as error:
            for problem in error.problems:
                self.report(loc, problem.what, problem.fix or fix)
            return False
        return True

    def check_entries(self) -> None:
        """Check the config's name, and the formats and options of datasets and runs."""
        config = self.config
        if type(config) is Config and (wrong := wrong_with(config.name)):
            self.report(("name",), f"expected the name of a folder, got one that {wrong}")
        entries: list[tuple[Kind, Loc, Any]] = [
            ("qrels", ("datasets", key), entry) for key, entry in config.datasets.items()
        ]
        entries += [
            ("run", loc, entry)
            for _, loc, entry in run_entries(config.runs)
            if isinstance(entry, RunEntry)
        ]
        for kind, loc, entry in entries:
            options = sorted(entry.options().keys() - COMMON)
            if entry.format is None:
                forms = able_formats(kind) if options else []
                if options and not any({*options} <= {*form.options(kind)} for form in forms):
                    self.report(loc, f"no format has the options {' and '.join(options)} together")
            elif self.call((*loc, "format"), _find_reader, entry.format, kind):
                for option in options:
                    self.call((*loc, option), _find_reader, entry.format, kind, option)

    def load_plugins(self, names: Sequence[str]) -> None:
        """Load plugins, so that their metrics can be checked."""
        for place, name in enumerate(names):
            self.call(("plugins", place), plugins.load_plugin, name, self.config.base)
        self.all_loaded = plugins.allowed

    def check_metrics(self) -> None:
        """Check conventions, metrics, and how rows are sorted."""
        config, convention = self.config, self.config.convention
        if convention is not None and not self.call(("convention",), find_convention, convention):
            convention = None
        if config.page.link:
            self.call(("page", "link"), check_link, config.page.link)
        for place, name in enumerate(config.page.conventions):
            self.call(("page", "conventions", place), find_convention, name)
        policy = config.policy.for_runs()
        if convention is not None and (overruled := contradiction(convention, policy)):
            self.report(("policy", overruled.where), overruled.what, overruled.fix)
        for place, name in enumerate(config.metrics):
            if name and (parsed := self._parse(("metrics", place), name, convention)):
                self.by_entry.append((("metrics", place), parsed))
                for metric in (metric for metric in parsed if metric.label is not None):
                    if problem := unproven_bound(metric, config.policy.for_runs()):
                        self.report(("metrics", place), problem.what, problem.fix)
        if config.metrics and len(self.by_entry) == len(config.metrics):
            self.metrics = [metric for _, metrics in self.by_entry for metric in metrics]
            if config.policy.ties == BOUNDS:
                self.metrics = list(with_bounds(self.metrics, config.policy.for_runs()))
            if config.sort is not None:
                self.call(("sort",), sort_metric, self.metrics, config.sort)
            if config.page.metric is not None:
                self.call(("page", "metric"), sort_metric, self.metrics, config.page.metric)

    def _parse(self, loc: Loc, name: str, convention: str | None) -> list[Metric]:
        """Return the metrics of an entry; none if it is wrong, or may be a plugin's."""
        try:
            return parse(name, self.config.policy.metric_defaults(convention))
        except UnknownNameError as error:
            message, fix = error.problems[0].what, error.problems[0].fix
        base = re.match(r"[A-Za-z_][A-Za-z0-9_-]*", name)
        if not self.all_loaded and base is not None and base[0] not in REGISTRY:
            return []
        if " - " in name:
            message = f"expected one metric, got '{name}'"
            fix = "begin the '- ' of every entry in the same column"
        self.report(loc, message, fix)
        return []

    def check_cells(self, cells: Sequence[Cell]) -> None:
        """Check what needs the files on disk: references, columns, and names of groups."""
        config = self.config
        runs = dict.fromkeys(cell.run for cell in cells)
        for loc, metrics in self.by_entry:
            for name in (metric.reference for metric in metrics if metric.reference is not None):
                if self.call(loc, check_known, "run", name, runs):
                    for error in without_reference(cells, name):
                        self.report(loc, str(error))
        if config.summary or config.select is not None:
            self._check_columns(cells)
        sections = config.names, config.compare, config.tables, config.plots, config.gate
        if any(sections):
            self.datasets, self.runs = reported_names(config, cells)
        wholes = {cell.dataset: cell.dataset_key for cell in cells}
        grouped = {cell.dataset: cell for cell in cells if cell.dataset_entry.groups}
        for cell in grouped.values():
            for name in _slices_of(cell.dataset_entry, cell.dataset):
                if name in wholes:
                    message = f"a slice of '{cell.dataset}' is called '{name}' too"
                    loc = ("datasets", wholes[name])
                    self.report(loc, message, "give the dataset another name")
        for key, entry in config.datasets.items():
            if (groups := entry.groups) is None:
                continue
            loc = ("datasets", key, "groups")
            for column in groups.bins:
                if groups.columns and column not in groups.columns:
                    message = f"expected bins of one of the columns, got '{column}'"
                    self.report((*loc, "bins"), message, f"add '{column}' to 'columns:'")

    def _check_columns(self, cells: Sequence[Cell]) -> None:
        """Check the columns that `summary` and `select` name; each has one role."""
        config, summary, settings = self.config, self.config.summary, self.config.select
        of_dataset = dict.fromkeys(name for cell in cells for name in cell.of_dataset)
        of_run = dict.fromkeys(name for cell in cells for name in cell.of_run)
        roles: dict[str, str] = {}
        for key in (field.name for field in fields(summary)):
            names = getattr(summary, key)
            columns, misplaced, fix = of_run, of_dataset, "pool or average"
            if key in ("pool", "average"):
                columns, misplaced, fix = of_dataset, of_run, "spread"
            elif key == "spread":  # seeds of runs, assessors of datasets
                columns, misplaced = of_run | of_dataset, {}
            advice = {name: f"put '{name}' under {fix}" for name in misplaced}
            self._check_roles(("summary", key), names, columns, roles, advice)
            roles |= {name: f"summary.{key}" for name in names if name not in roles}
        cannot = {name: f"{role} cannot take them together" for name, role in roles.items()}
        if summary.pool and summary.average:
            self.report(("summary", "average"), "folds are pooled or averaged, not both")
        if settings is not None:
            datasets = list(config.datasets)
            if len(datasets) > 1:
                self.call(("select", "on"), check_known, "dataset", settings.on, datasets)
            else:
                message = f"expected one of two datasets or more, got '{settings.on}'"
                fix = "write an entry of validation and one of test queries, and for each run a "
                fix += "list: [{dataset: VALI, path: ...}, {dataset: TEST, path: ...}]"
                self.report(("select", "on"), message, fix)
            self._check_roles(("select", "over"), settings.over, of_run, roles)
            # runs that are named are kept apart too
            within = {"model": None, **of_dataset, **of_run}
            over = dict.fromkeys(settings.over, "over")
            self._check_roles(("select", "within"), settings.within, within, over)
            if not settings.over:
                self.report(("select", "over"), "expected at least one column, got none")
            cannot |= dict.fromkeys(settings.over, "select cannot choose between them")
        for run, group in grouped_by(cells, lambda cell: cell.run_key).items():
            for name in Pattern(run).names:
                if name in cannot and len({cell.all_columns.get(name) for cell in group}) > 1:
                    message = f"the name has {{{name}}}, so each value is a separate run and "
                    fix = f"leave {{{name}}} out of the name; only the path needs it"
                    self.report(("runs", run), message + cannot[name], fix)

    def _check_roles(
        self,
        loc: Loc,
        names: Sequence[str],
        columns: Iterable[str],
        roles: Texts,
        advice: Texts | None = None,
    ) -> None:
        """Check that columns exist, and that no other key has them; `advice` is by column."""
        taken = dict(roles)
        for place, name in enumerate(names):
            item_loc = _loc_of_item(loc, place, names)
            if name in taken:
                self.report(item_loc, f"column '{name}' is under {taken[name]} already")
            elif not [*columns] and name not in (advice or {}):
                noun = "dataset" if loc[-1] in ("pool", "average") else "run"
                fix = f"write {{{name}}} in the name and the path of the {noun}s, in quotes"
                self.report(item_loc, f"no name or path of a {noun} contains {{{name}}}", fix)
            else:
                fix = (advice or {}).get(name, "")
                self.call(item_loc, check_known, "column", name, columns, fix=fix)
            taken.setdefault(name, ".".join(map(str, loc)))

    def check_settings(self) -> None:
        """Check what comparisons, the choice, tables, plots and the gate name."""
        config, runs, metrics = self.config, self.runs, self.metrics
        plan = config.compare
        if config.names:
            renamed = TableSettings(names=config.names)
            wrong_parts = table_problems(renamed, runs, self.datasets, metrics, compared=True)
            self._report_all((), (part for part in wrong_parts if part[0][0] == "names"))
        if plan is not None:
            self._check_compare(plan)
        if config.select is not None and metrics is not None:
            self.call(("select", "by"), compared, metrics, [config.select.by])
        for name, table in config.tables.items():
            if wrong := wrong_with(name):
                message = f"expected the name of a file, got one that {wrong}"
                self.report(("tables", name), message)
            peers = () if plan is None else plan.baselines
            wrong_parts = table_problems(
                table, runs, self.datasets, metrics, plan is not None, peers
            )
            self._report_all(("tables", name), wrong_parts)
        for place, settings in enumerate(config.plots):
            baselines = None if plan is None else plan.baselines
            wrong_parts = plot_problems(settings, runs, self.datasets, metrics, baselines)
            self._report_all(("plots", place), wrong_parts)
        if config.gate is not None:
            self._check_gate(config.gate)

    def _report_all(self, section: Loc, wrong_parts: Found) -> None:
        for loc, problem in wrong_parts:
            plan = self.config.compare
            fix = comparison_fix(loc, None if plan is None else plan.baselines)
            self.report((*section, *loc), problem.what, problem.fix or fix)

    def _check_compare(self, plan: Plan) -> None:
        metrics, runs = self.metrics, self.runs
        if self.all_loaded:
            from ..stats.registry import (  # which loads SciPy
                check_corrected,
                check_plan,
                check_weighted,
                find,
            )

            if self.call(("compare", "test"), find, plan.test):
                self.call(("compare", "test"), check_plan, plan)
                for key in ("correction", "family"):
                    if self.config.is_given("compare", key):
                        self.call(("compare", key), check_corrected, plan.test, f"'{key}'")
                weighted = [key for key, entry in self.config.datasets.items() if entry.weights]
                for key in weighted[:1]:
                    self.call(("compare", "test"), check_weighted, plan.test, key)
        if runs is not None:
            if len(runs) < 2:
                message = f"expected two runs or more to compare, got {', '.join(runs)}"
                self.report(("compare",), message, fix="add a run, or leave 'compare' out")
            for place, name in enumerate(plan.baselines):
                loc = _loc_of_item(("compare", "baseline"), place, plan.baselines)
                self.call(loc, check_baselines, [name], runs)
        if metrics is not None:
            for place, name in enumerate(plan.metrics):
                loc = _loc_of_item(("compare", "metrics"), place, plan.metrics)
                self.call(loc, compared, metrics, [name])
            if metrics and not compared(metrics):
                listed = ", ".join(map(str, metrics))
                message = f"expected a metric that runs can be compared by, got {listed}"
                self.report(("compare",), message, "add map or ndcg@10 to 'metrics'")

    def _check_gate(self, gate: GateSettings) -> None:
        runs, metrics = self.runs, self.metrics
        if runs is not None:
            self.call(("gate", "baseline"), check_known, "run", gate.baseline, runs)
            if runs == [gate.baseline]:
                message = f"expected a run other than the baseline '{gate.baseline}'"
                self.report(("gate",), message, "add the candidate's run")
        for name in gate.rules if metrics is not None else ():
            if name != OTHERS:
                self.call(("gate", "rules", name), _check_rule, metrics, name)


def _find_reader(format: str, kind: Kind, *options: str) -> None:
    reader_of("", named_format(format, ""), kind, options)


def _check_rule(metrics: Sequence[Metric], name: str) -> None:
    compared(metrics, [str(metric) for metric in parse(name)])


def _loc_of_item(loc: Loc, place: int, items: Sequence[str]) -> Loc:
    """Return the place of an item; a single one may be written without a list."""
    return loc if len(items) == 1 else (*loc, place)


def reported_names(config: Config, cells: Sequence[Cell]) -> tuple[list[str], list[str]]:
    """Return the names of the datasets and of the runs that are reported."""
    summary, over = config.summary, set[str]()
    if config.select is not None:
        on, over = config.select.on, {*config.select.over}
        cells = [cell for cell in cells if cell.dataset_key != on]
    datasets: dict[str, DatasetEntry] = {}
    runs: dict[str, None] = {}
    for cell in cells:
        key = cell.dataset_key
        name = summary.whole(key, cell.columns, cell.dataset)
        datasets.setdefault(name, cell.dataset_entry)
        columns = {column: text for column, text in cell.columns.items() if column not in over}
        runs[run_name(cell.run, columns, key, summary)] = None
    grouped = {name: entry for name, entry in datasets.items() if entry.groups}
    slices_of = [piece for name, entry in grouped.items() for piece in _slices_of(entry, name)]
    return [*dict.fromkeys((*datasets, *slices_of))], list(runs)


def _slices_of(entry: DatasetEntry, dataset: str) -> list[str]:
    """Return the names of a dataset's slices; none if its file of groups is wrong.

    Evaluating reports what is wrong with it.
    """
    groups = entry.groups
    if groups is None:
        return []
    try:
        columns = read_groups(Path(groups.path), groups.qid, groups.columns, groups.bins)
    except HarnessError:
        return []
    labels = {name: column.values() for name, column in columns.items()}
    return [sliced_name(dataset, piece.group) for piece in slices(labels)]
