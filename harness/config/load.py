"""YAML text -> frozen Config; every problem at once, each with its path and its line."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .. import metrics as _built_in
from ..core.convention import contradiction
from ..core.convention import find as find_convention
from ..core.metric import REGISTRY, Metric
from ..core.names import BOUNDS, parse, with_bounds
from ..core.text import readable_name, wrong_with
from ..errors import ConfigError, HarnessWarning, Problem, UnknownNameError, did_you_mean, first_of
from ..readers.choice import FORMATS
from ..readers.format import Kind
from . import checks, plugins, sweep
from .cells import Cell, without_reference
from .layers import expand_sets, fix_of, is_metric, metric_sets, read, text_of
from .model import Config, DatasetEntry, Entry, Policy, RunEntry, json_schema
from .patterns import natural
from .validation import MOST_PROBLEMS, Draft, validate
from .yaml_file import Loc, PlacedProblem, Source

__all__ = [
    "MOST_PROBLEMS", "Config", "DatasetEntry", "Entry", "Policy", "RunEntry", "json_schema", "load",
    "loads",
]  # fmt: skip

del _built_in


def load(path: str | os.PathLike[str], overrides: Iterable[str] = ()) -> Config:
    """Read a config file and check everything that can be checked without reading data.

    Parameters
    ----------
    path : path
        A YAML file. Its folder is where the paths in it start.
    overrides : iterable of str
        ``"policy.ties=stable"``: values put in place of the file's.

    Returns
    -------
    Config

    Raises
    ------
    ConfigError
        With every problem: keys, types, metrics, plugins, files that are not there.
    """
    path = Path(path)
    check_way(path)
    return loads(_text_of(path), str(path), path.parent, overrides)


def check_way(path: Path) -> None:
    """Raise ConfigError if the path of a config is not UTF-8."""
    if readable_name(way := os.path.abspath(path)) != way:
        what = f"the way to it, {readable_name(way)}, is not UTF-8"
        raise ConfigError(Problem("", what, fix="rename the folder or the file"), where=str(path))


def loads(
    text: str,
    where: str = "config",
    base: str | os.PathLike[str] = ".",
    overrides: Iterable[str] = (),
    *,
    load_plugins: bool = True,
) -> Config:
    """Read a config from text; see :func:`load`.

    Parameters
    ----------
    text : str
        The YAML.
    where : str
        What to call it in messages; its stem is the default name.
    base : path
        Folder where its paths start.
    overrides : iterable of str
    load_plugins : bool
        False for a config that comes with results, which are data: names that its plugins may
        define are then not checked.
    """
    config, problems = _read(text, where, Path(base), overrides, load_plugins)
    if problems:
        raise ConfigError(problems, where=where)
    return config


def examine(
    path: str | os.PathLike[str], overrides: Iterable[str] = ()
) -> tuple[list[sweep.Cell], Config, list[Problem]]:
    """Return what of a config is sound in spite of its problems, and these.

    Parameters
    ----------
    path, overrides
        As :func:`load` takes them.

    Returns
    -------
    cells : list of Cell
        Those whose files are there.
    config : Config
        Without the parts that are wrong.
    problems : list of Problem

    Raises
    ------
    ConfigError
        Where the file cannot be read as YAML at all.
    """
    path = Path(path)
    config, problems = _read(_text_of(path), str(path), path.parent, overrides)
    cells, _ = sweep.find(
        config.datasets, config.runs, path.parent, where=config.where, complete=not problems
    )
    return cells, config, problems


def _read(
    text: str, where: str, base: Path, overrides: Iterable[str], load_plugins: bool = True
) -> tuple[Config, list[Problem]]:
    """Return a config, or what of it is sound, and its problems in the order of their lines."""
    source = expand_sets(read(text, where, base, overrides))
    config, problems = validate({"name": Path(where).stem, **source.data}, source)
    output = config.output.replace("{name}", config.name)
    found = config.model_copy(update={"output": output})
    found._source, found._base = source, base
    problems += [*source.problems, *_check(found, load_plugins)]
    return found, sorted(dict.fromkeys(problems), key=_line)


def _text_of(path: Path) -> str:
    try:
        return text_of(path)
    except LookupError as error:
        fix = fix_of(error)
        rule = "" if path.exists() else "missing-file"
        if rule:
            fix = "give the name of a config; harness init writes one"
        if path.is_dir():
            held = sorted(
                (*path.glob("*.yaml"), *path.glob("*.yml")), key=lambda one: natural(str(one))
            )
            fix = f"harness init {path} writes one for what it holds"
            if held:
                fix = f"give a config in it: {first_of([readable_name(str(one)) for one in held])}"
        raise ConfigError(Problem("", str(error), fix=fix, rule=rule), where=str(path)) from error


def _check(config: Config, load_plugins: bool) -> list[Problem]:
    """Return what is wrong beyond keys and types: plugins, files, metrics, references."""
    source = config._source
    problems = _check_names(config) + _check_formats(config)
    if load_plugins:
        problems += _check_plugins(config)
    all_loaded = (load_plugins and plugins.plugins_allowed()) or not config.plugins

    complete = config._complete and not source.problems
    cells, findings = sweep.find(
        config.datasets, config.runs, config.base, where=config.where, whole=config.complete,
        complete=complete,
    )  # fmt: skip
    problems += [config.problem(one.loc, one.what, fix=one.fix) for one in findings]
    for text in checks.similar_names(cells):
        warnings.warn(text, HarnessWarning, stacklevel=5)
    known_cells = None if findings or not complete else cells

    convention = config.convention
    try:
        convention and find_convention(convention)
    except UnknownNameError as error:
        problems += [config.problem(("convention",), one.what) for one in error.problems]
        convention = None
    overruled = contradiction(convention, config.to_policy())
    if overruled is not None:
        problems.append(config.problem(("policy", overruled[0]), overruled[1]))
    defaults = config.policy.metric_defaults(convention)
    problems += _check_metric_sets(source, defaults, all_loaded)
    entries = [(("metrics", place), name) for place, name in config.items_of("metrics")]
    metrics, unknown = _check_metrics(entries, source, defaults, all_loaded)
    problems += unknown
    datasets, systems = None, None
    if known_cells is not None:
        problems += _check_references(metrics, known_cells, source)
        problems += checks.check_summary(config, known_cells)
        datasets, systems = checks.names(config.summary, known_cells)
    known: list[Metric] | None = [one for _, found in metrics for one in found]
    if unknown or len(metrics) < len(entries) or not entries:
        known = None
    elif known and config.policy.ties == BOUNDS:
        known = list(with_bounds(known))
    names = checks.KnownNames(known, systems, datasets)
    problems += checks.check_compare(config, names, all_loaded)
    problems += checks.check_tables(config, names)
    problems += checks.check_plots(config, names)
    return problems


def _check_plugins(config: Config) -> list[Problem]:
    """Load the plugins, and return why some could not be loaded."""
    problems = []
    for place, name in config.items_of("plugins"):
        try:
            plugins.load(name, config.base)
        except plugins.PluginError as error:
            problems.append(config.problem(("plugins", place), str(error)))
    return problems


def _check_metric_sets(source: Source, defaults: dict[str, Any], complete: bool) -> list[Problem]:
    """Return sets that are called like a metric, and metrics in them that do not exist."""
    sets, problems = metric_sets(source.data), []
    for name, metrics in sets.items():
        if is_metric(name):
            what = f"'{name}' is the name of a metric, and would never be taken for the set"
            fix = "call the set something else"
            problems.append(source.problem(("metric_sets", name), what, fix=fix))
        entries = [
            (("metric_sets", name, place), metric)
            for place, metric in enumerate(metrics)
            if isinstance(metric, str) and metric not in source.data["metric_sets"]
        ]
        problems += _check_metrics(entries, source, defaults, complete)[1]
    return problems


def _check_metrics(
    entries: Sequence[tuple[Loc, str]], source: Source, defaults: dict[str, Any], complete: bool
) -> tuple[list[tuple[Loc, list[Metric]]], list[Problem]]:
    """Return the metrics of each entry that has some, and what is wrong with the others.

    Unless plugins are `complete`, a name that no metric has may be one of theirs.
    """
    found: list[tuple[Loc, list[Metric]]] = []
    problems: list[Problem] = []
    n_unknown = 0
    for number, (loc, name) in enumerate(entries):
        if n_unknown == MOST_PROBLEMS:
            more = len(entries) - number
            problems.append(Problem("", f"{more:,} more metrics of {loc[0]} were not looked at"))
            break
        try:
            found.append((loc, parse(name, defaults)))
        except UnknownNameError as error:
            n_unknown += 1
            if complete or not _may_be_of_plugin(name):
                problems.append(source.problem(loc, _unknown_metric(name, error, source)))
    return found, problems


def _may_be_of_plugin(name: str) -> bool:
    match = re.match(r"[A-Za-z_][A-Za-z0-9_-]*", name)
    return match is not None and match[0] not in REGISTRY


def _unknown_metric(name: str, error: UnknownNameError, source: Source) -> str:
    """Return what is wrong with the name of a metric, with the set that may be meant."""
    sets = metric_sets(source.data)
    if " - " in name:
        return f"'{name}' is one text: begin the '- ' of every entry in the same column"
    if near := did_you_mean(name, sets):
        return f"there is no metric or set '{name}'{near}  (sets: {', '.join(sets)})"
    return error.problems[0].what


def _check_references(
    metrics: Iterable[tuple[Loc, Sequence[Metric]]], cells: Sequence[Cell], source: Source
) -> list[Problem]:
    """Return the metrics that compare with a run that is missing."""
    runs, problems = dict.fromkeys(cell.run for cell in cells), []
    for loc, found in metrics:
        for name in (metric.reference for metric in found if metric.reference is not None):
            if name in runs:
                wrong = [str(error) for error in without_reference(cells, name)]
            else:
                near = did_you_mean(name, runs)
                wrong = [f"there is no run '{name}'{near}  (there are: {', '.join(runs)})"]
            problems += [source.problem(loc, what) for what in wrong]
    return problems


def _check_names(config: Config) -> list[Problem]:
    """Return which datasets and runs have no name, and why the config's own is no folder's."""
    keys = [("datasets", key) for key in config.datasets] + [("runs", key) for key in config.runs]
    fix = "give it a name; tables show it"
    problems = [
        config.problem(loc, "the name is empty", fix=fix) for loc in keys if not loc[1].strip()
    ]
    if not isinstance(config, Draft) and (wrong := wrong_with(config.name)):
        what = f"must be the name of a folder, and {wrong}"
        problems.append(config.problem(("name",), what))
    return problems


def _check_formats(config: Config) -> list[Problem]:
    """Return which formats do not exist, hold something else, or lack an option given."""
    entries: list[tuple[Loc, Kind, Entry]] = [
        (("datasets", key), "qrels", entry) for key, entry in config.datasets.items()
    ]
    entries += [(loc, "run", entry) for _, loc, entry in sweep.run_entries(config.runs)]
    return [
        config.problem((*loc, *key), what)
        for loc, kind, entry in entries
        for key, what in _wrong_format(kind, entry)
    ]


def _wrong_format(kind: Kind, entry: Entry) -> list[tuple[tuple[str, ...], str]]:
    """Return what is wrong with the format of an entry and its options, and which key."""
    options = entry.options().keys() - {"format", "duplicates"}
    able = [name for name, known in FORMATS.items() if known.reader(kind) is not None]
    if entry.format is None:
        if any(options <= {*FORMATS[name].options(kind)} for name in able):
            return []
        return [((), f"no format has the options {' and '.join(sorted(options))} together")]
    if entry.format not in able:
        what = f"unknown format '{entry.format}'{did_you_mean(entry.format, able)}"
        if entry.format in FORMATS:
            what = f"format {entry.format} holds no {kind}"
        return [(("format",), f"{what}  (all: {', '.join(able)})")]
    allowed = FORMATS[entry.format].options(kind)
    has = ", ".join(allowed) or "none"
    return [
        ((option,), f"format {entry.format} has no option '{option}'  (it has: {has})")
        for option in options - {*allowed}
    ]


def _line(problem: Problem) -> tuple[str, float]:
    """Return a key that sorts problems by file, this one first, and line."""
    if isinstance(problem, PlacedProblem) and problem.line:
        return problem.file, problem.line
    return "\uffff", math.inf
