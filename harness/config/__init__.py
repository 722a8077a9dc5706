"""YAML text -> frozen Config; every problem at once, each with its path and its line."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import metrics as _built_in
from ..core.bounds import BOUNDS, with_bounds
from ..core.convention import contradiction
from ..core.convention import find as find_convention
from ..core.file_names import readable_name, wrong_with
from ..core.metric import Metric
from ..core.names import parse
from ..errors import (
    ConfigError,
    HarnessWarning,
    Problem,
    UnknownNameError,
    did_you_mean,
    first_of,
)
from ..readers import FORMATS
from ..readers.format import Kind
from ..trust import plugins_allowed
from . import (
    comparing,
    extends,
    metric_sets,
    model,
    picturing,
    plugins,
    summing,
    sweep,
    tabling,
    twins,
)  # fmt: skip
from .patterns import natural
from .schema import Config, DatasetEntry, Entry, Policy, RunEntry
from .validation import MOST, Parts, validate
from .yamlfile import Loc, Source

__all__ = ["Config", "DatasetEntry", "Entry", "Policy", "RunEntry", "json_schema", "load", "loads"]

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
    if readable_name(way := os.path.abspath(path)) != way:
        what = f"the way to it, {readable_name(way)}, is not UTF-8"
        raise ConfigError(Problem("", what, fix="rename the folder or the file"), where=str(path))
    return loads(_text_of(path), str(path), path.parent, overrides)


def loads(
    text: str,
    where: str = "config",
    base: str | os.PathLike[str] = ".",
    overrides: Iterable[str] = (),
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
    """
    config, _, problems = _read(text, where, Path(base), overrides)
    if config is None or problems:
        raise ConfigError(problems, where=where)
    return config


def examine(
    path: str | os.PathLike[str], overrides: Iterable[str] = ()
) -> tuple[list[sweep.Cell], Parts, list[Problem]]:
    """Return what of a config is sound in spite of its problems, and these.

    Parameters
    ----------
    path, overrides
        As :func:`load` takes them.

    Returns
    -------
    cells : list of Cell
        Those whose files are there.
    parts : Parts
    problems : list of Problem

    Raises
    ------
    ConfigError
        Where the file cannot be read as YAML at all.
    """
    path = Path(path)
    _, parts, problems = _read(_text_of(path), str(path), path.parent, overrides)
    cells, _ = sweep.find(
        parts.datasets, parts.runs, path.parent, where=parts.where, complete=not problems
    )
    return cells, parts, problems


def _read(
    text: str, where: str, base: Path, overrides: Iterable[str]
) -> tuple[Config | None, Parts, list[Problem]]:
    """Return a config, its sound parts, and its problems in the order of their lines."""
    source = metric_sets.expand(extends.read(text, where, base, overrides))
    data = {"name": Path(where).stem, **source.data}
    config, parts, problems = validate(data, source)
    problems += [*source.problems, *_check(parts, source, base)]
    if config is not None and (wrong := wrong_with(config.name)):
        what = f"must be the name of a folder, and {wrong}"
        problems.append(source.problem(("name",), what))
    if config is not None:
        config = config.model_copy(update={"output": config.output.replace("{name}", config.name)})
        config._source, config._base = source, base
    return config, parts, sorted(dict.fromkeys(problems), key=_line)


def _text_of(path: Path) -> str:
    try:
        return extends.text_of(path)
    except LookupError as error:
        fix = extends.fix_of(error)
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


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a config, for editors."""
    schema = model.json_schema(Config)
    schema["required"].remove("name")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "A config of the ranking harness",
    }


def _check(parts: Parts, source: Source, base: Path) -> list[Problem]:
    """Return what is wrong beyond keys and types: plugins, files, metrics, references."""
    problems = []
    for place, name in parts.plugins.items():
        try:
            plugins.load(name, base)
        except plugins.PluginError as error:
            problems.append(source.problem(("plugins", place), str(error)))
    all_loaded = plugins_allowed() or not parts.plugins

    problems += _check_names(parts, source)
    problems += _check_formats(parts, source)
    complete = parts.complete and not source.problems
    cells, findings = sweep.find(
        parts.datasets, parts.runs, base, where=parts.where, whole=parts.whole, complete=complete
    )
    problems += [source.problem(one.loc, one.what, fix=one.fix) for one in findings]
    for said in twins.shown(cells):
        warnings.warn(said, HarnessWarning, stacklevel=5)
    runs = None if findings or not complete else dict.fromkeys(cell.run for cell in cells)

    convention = parts.convention
    try:
        convention and find_convention(convention)
    except UnknownNameError as error:
        problems += [source.problem(("convention",), one.what) for one in error.problems]
        convention = None
    overruled = contradiction(convention, parts.policy.to_core())
    if overruled is not None:
        problems.append(source.problem(("policy", overruled[0]), overruled[1]))
    defaults = parts.policy.metric_defaults(convention)
    problems += metric_sets.check(source, defaults, all_loaded)
    metrics: list[Metric] | None = [] if parts.metrics else None
    n_unknown = 0
    for at, (place, name) in enumerate(parts.metrics.items()):
        if n_unknown == MOST:
            more = len(parts.metrics) - at
            problems.append(Problem("", f"{more:,} more metrics were not looked at"))
            break
        try:
            found = parse(name, defaults)
        except UnknownNameError as error:
            metrics, n_unknown = None, n_unknown + 1
            if all_loaded or not metric_sets.is_unknown(error):  # else a plugin may define it
                what = metric_sets.unknown(name, error, source)
                problems.append(source.problem(("metrics", place), what))
            continue
        if metrics is not None:
            metrics += found
        for metric in found:
            if runs is not None and metric.reference is not None and metric.reference not in runs:
                near = did_you_mean(metric.reference, runs)
                what = f"there is no run '{metric.reference}'{near}  (there are: {', '.join(runs)})"
                problems.append(source.problem(("metrics", place), what))
    systems, datasets = None, None
    if runs is not None:
        problems += summing.check(parts.summary, cells, source, parts.compare is not None)
        datasets, systems = summing.names(parts.summary, cells)
    known = with_bounds(metrics) if metrics and parts.policy.ties == BOUNDS else metrics
    if parts.compare is not None:
        problems += comparing.check(parts.compare, known, systems, source)
    if parts.tables:
        compared = parts.compare is not None
        problems += tabling.check(parts.tables, known, systems, datasets, compared, source)
    if parts.plots:
        problems += picturing.check(parts.plots, known, systems, datasets, parts.compare, source)
    return problems


def _check_names(parts: Parts, source: Source) -> list[Problem]:
    """Return which datasets and runs have no name."""
    keys = [("datasets", key) for key in parts.datasets] + [("runs", key) for key in parts.runs]
    fix = "give it a name; tables show it"
    return [
        source.problem((kind, key), "the name is empty", fix=fix)
        for kind, key in keys
        if not key.strip()
    ]


def _check_formats(parts: Parts, source: Source) -> list[Problem]:
    """Return which formats do not exist, hold something else, or lack an option given."""
    entries: list[tuple[Loc, Kind, Entry]] = [
        (("datasets", key), "qrels", entry) for key, entry in parts.datasets.items()
    ]
    for key, given in parts.runs.items():
        if isinstance(given, tuple):
            entries += [(("runs", key, place), "run", entry) for place, entry in enumerate(given)]
        else:
            entries.append((("runs", key), "run", given))
    problems = []
    for loc, kind, entry in entries:
        given_options = entry.options().keys() - {"format", "duplicates"}
        able = [name for name, known in FORMATS.items() if known.reader(kind) is not None]
        if entry.format is None:
            if not any(given_options <= {*FORMATS[name].options(kind)} for name in able):
                what = f"no format has the options {' and '.join(sorted(given_options))} together"
                problems.append(source.problem(loc, what))
            continue
        if entry.format not in able:
            what = f"unknown format '{entry.format}'{did_you_mean(entry.format, able)}"
            if entry.format in FORMATS:
                what = f"format {entry.format} holds no {kind}"
            problems.append(source.problem((*loc, "format"), f"{what}  (all: {', '.join(able)})"))
            continue
        allowed = FORMATS[entry.format].options(kind)
        for option in given_options - {*allowed}:
            has = ", ".join(allowed) or "none"
            what = f"format {entry.format} has no option '{option}'  (it has: {has})"
            problems.append(source.problem((*loc, option), what))
    return problems


def _line(problem: Problem) -> tuple[str, float]:
    """Return a key that sorts problems by file, this one first, and line."""
    found = re.search(r"\((?:(.*), )?line (\d+)\)$", problem.where)
    return (found[1] or "", int(found[2])) if found else ("\uffff", math.inf)
