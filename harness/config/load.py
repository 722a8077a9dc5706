"""YAML text -> frozen Config; every problem at once, each with its path and its line."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path

from .. import metrics as _built_in
from ..core.text import readable_name
from ..errors import ConfigError, Problem
from .cells import Cell
from .checks import check
from .layers import read, text_of
from .model import Config, DatasetEntry, Entry, Policy, RunEntry, json_schema
from .sweep import find
from .validation import validate
from .yaml_file import PlacedProblem

__all__ = ["Config", "DatasetEntry", "Entry", "Policy", "RunEntry", "json_schema", "load", "loads"]

del _built_in


def load(path: str | os.PathLike[str], overrides: Iterable[str] = ()) -> Config:
    """Read a config file and check everything that can be checked without reading data.

    Paths in it start at its folder. `overrides` such as ``"policy.ties=stable"`` replace values.
    Raises ConfigError with every problem: keys, types, metrics, plugins, missing files.
    """
    path = Path(path)
    check_name(path)
    return loads(_text_of(path), str(path), path.parent, overrides)


def loads(
    text: str,
    where: str = "config",
    base: str | os.PathLike[str] = ".",
    overrides: Iterable[str] = (),
    *,
    load_plugins: bool = True,
) -> Config:
    """Read a config from text; see :func:`load`.

    `where` is its name in messages, and its stem the default name; paths start at `base`. A config
    that comes with results is data and loads no plugins; names that its plugins may define are then
    not checked.
    """
    config, problems = _read(text, where, Path(base), overrides, load_plugins)
    if problems:
        raise ConfigError(problems, where=where)
    return config


def examine(
    path: str | os.PathLike[str], overrides: Iterable[str] = ()
) -> tuple[list[Cell], Config, list[Problem]]:
    """Return the cells whose files exist, the config without what is wrong, and the problems.

    Raises ConfigError if the file cannot be read as YAML at all.
    """
    path = Path(path)
    config, problems = _read(_text_of(path), str(path), path.parent, overrides)
    cells, _ = find(
        config.datasets, config.runs, path.parent, where=config.where, complete=not problems
    )
    return cells, config, problems


def check_name(path: Path) -> None:
    """Raise ConfigError if the path of a config is not UTF-8."""
    name = os.path.abspath(path)
    if (readable := readable_name(name)) != name:
        what = f"expected a path in UTF-8, got {readable}"
        raise ConfigError(Problem("", what, fix="rename the folder or the file"), where=str(path))


def _read(
    text: str, where: str, base: Path, overrides: Iterable[str], load_plugins: bool = True
) -> tuple[Config, list[Problem]]:
    """Return a config, or its correct parts, and its problems in the order of their lines."""
    source = read(text, where, base, overrides)
    config, problems = validate({"name": Path(where).stem, **source.data}, source)
    output = config.output.replace("{name}", config.name)
    config = config.model_copy(update={"output": output})
    config._source, config._base = source, base
    problems += [*source.problems, *check(config, load_plugins)]
    return config, sorted(dict.fromkeys(problems), key=_line)


def _text_of(path: Path) -> str:
    try:
        return text_of(path)
    except LookupError as error:
        what, fix = error.args
        rule = "" if path.exists() else "missing-file"
        if rule or path.is_dir():
            fix = "give the name of a config; harness init writes one"
        raise ConfigError(Problem("", what, fix=fix, rule=rule), where=str(path)) from error


def _line(problem: Problem) -> tuple[str, float]:
    """Return a key that sorts problems by file, the config itself first, and line."""
    if isinstance(problem, PlacedProblem) and problem.line:
        return problem.file, problem.line
    return "\uffff", math.inf
