"""YAML text -> frozen Config; all problems together, each with its path and its line."""

from __future__ import annotations

import copy
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from .. import metrics as _built_in
from ..errors import SITE, ConfigError, Place, Problem, fix_of_name, nearest
from ..readers.files import readable_name
from ..stats.gate import MarginRule
from .cells import Cell, find_cells
from .checks import config_problems
from .model import (
    SECTIONS,
    Config,
    DatasetEntry,
    FusedEntry,
    Groups,
    Leaks,
    RunEntry,
    Runs,
    Weights,
)
from .yaml_file import SET, Loc, ParsedYaml, describe_value, read_layers, text_of

__all__ = ["Config", "DatasetEntry", "RunEntry", "load", "loads"]

del _built_in


def load(path: str | os.PathLike[str], overrides: Iterable[str] = ()) -> Config:
    """Read a config file and check everything that can be checked without reading data.

    Paths in it start at its folder. `overrides` such as ``"policy.ties=stable"`` replace values.
    Raises ConfigError with every problem: keys, types, metrics, plugins, missing files.
    """
    path = Path(path)
    check_name(path)
    config = loads(text_of(path), str(path), path.parent, overrides)
    config._path = Path(os.path.abspath(path))
    return config


def loads(
    text: str,
    where: str = "config",
    base: str | os.PathLike[str] = ".",
    overrides: Iterable[str] = (),
    *,
    load_plugins: bool = True,
    is_recorded: Callable[[Cell], bool] | None = None,
) -> Config:
    """Read a config from text; see `load`.

    `where` is its name in messages, and its stem the default name; paths start at `base`. A config
    that comes with results is data and loads no plugins; names that its plugins may define are then
    not checked, and its cells are those that `is_recorded` keeps.
    """
    config, problems = _read_config(text, where, Path(base), overrides, load_plugins, is_recorded)
    if problems:
        raise ConfigError(problems, where=where)
    return config


def examine_config(
    path: str | os.PathLike[str], overrides: Iterable[str]
) -> tuple[list[Cell], Config, list[Problem]]:
    """Return the cells with existing files, the config without its mistakes, and the problems.

    Raises ConfigError if the file cannot be read as YAML at all.
    """
    path = Path(path)
    config, problems = _read_config(text_of(path), str(path), path.parent, overrides)
    cells, _ = find_cells(config, complete=not problems)
    return cells, config, problems


def check_name(path: Path) -> None:
    """Raise ConfigError if the path of a config is not UTF-8."""
    name = os.path.abspath(path)
    if (readable := readable_name(name)) != name:
        message = f"expected a path in UTF-8, got {readable}"
        problem = Problem("", message, fix="rename the folder or the file")
        raise ConfigError(problem, where=str(path))


def _read_config(
    text: str, where: str, base: Path, overrides: Iterable[str], load_plugins: bool = True,
    is_recorded: Callable[[Cell], bool] | None = None,
) -> tuple[Config, list[Problem]]:  # fmt: skip
    """Return a config, or its correct parts, and its problems in the order of their lines."""
    source = read_layers(text, where, base, overrides)
    config, problems = validate_config({"name": Path(where).stem, **source.data}, source)
    output = config.output.replace("{name}", config.name)
    config = config.model_copy(update={"output": output})
    config._source, config._base = source, base
    config._is_recorded = is_recorded
    problems += [*source.problems, *config_problems(config, load_plugins)]
    return config, sorted(dict.fromkeys(problems), key=_line_order)


def _line_order(problem: Problem) -> tuple[str, float]:
    """Return a key that sorts problems by file, the config itself first, and line."""
    where = Place.of(problem.where)
    return (where.base, where.line) if where.line else ("\uffff", math.inf)


_EXPECTED = {
    "string": "text",
    "int": "a whole number",
    "bool": "true or false",
    "float": "a number",
    "tuple": "a list",
    **dict.fromkeys(("dict", "mapping", "model", "dataclass"), "a mapping"),
}
_LIMITS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
}
"""The value that pydantic expects, by the type of its error."""
_UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
_EXAMPLES = {
    "datasets": "{trec: qrels.txt}",
    "runs": "{bm25: runs/bm25.run}",
    "metrics": "[map, ndcg@10]",
}
"""Values by key."""
_Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]


class Draft(Config):
    """The correct parts of a config with problems; wrong items of `metrics` are empty."""

    model_config = ConfigDict(defer_build=True)

    name: str = ""
    datasets: Mapping[str, DatasetEntry] = {}
    runs: Mapping[str, Runs] = {}
    metrics: tuple[_Text, ...] = ()


def validate_config(data: Mapping[str, Any], source: ParsedYaml) -> tuple[Config, list[Problem]]:
    """Return the config and its problems; a `Draft` if there are any."""
    try:
        return Config.model_validate(data), []
    except ValidationError as error:
        all_errors = error.errors()
    around = {part[:n] for part in source.unread for n in range(len(part) + 1)}
    errors = [error for error in all_errors if not _follows_from_others(error, all_errors, around)]
    draft = _draft_config(data)
    draft._complete = not {error["loc"][0] for error in all_errors} & {"datasets", "runs"}
    return draft, list(dict.fromkeys(_problem_of_error(error, source) for error in errors))


def _draft_config(data: Mapping[str, Any]) -> Draft:
    correct: Any = copy.deepcopy(dict(data))
    while True:
        try:
            return Draft.model_validate(correct)
        except ValidationError as error:
            wrong = [_innermost_key(correct, _loc(detail)) for detail in error.errors()]
            for holder, key in wrong:
                holder.pop(key, None)


def _innermost_key(data: Any, loc: Loc) -> tuple[dict[Any, Any], str | int]:
    """Return the innermost key of a mapping around a place in plain data, and the mapping."""
    holder, key = data, loc[0]
    for part in loc:
        if isinstance(data, dict) and part in data:
            holder, key = data, part
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            break
    return holder, key


def _follows_from_others(
    error: ErrorDetails, errors: Sequence[ErrorDetails], around: set[Loc]
) -> bool:
    """Whether a part is only wrong because an item is, YAML was not read, or a key is misspelt."""
    holder = error["loc"][:-1]
    unknown = (detail["loc"][:-1] for detail in errors if detail["type"] in _UNKNOWN_KEY)
    if error["type"] == "missing" and holder in unknown:
        return True
    return (error["type"] == "too_short" and bool(error["input"])) or _loc(error) in around


def _loc(error: ErrorDetails) -> Loc:
    """Return pydantic's location without the types of a union that it tried."""
    loc = error["loc"]
    if loc[0] == "runs" and len(loc) > 2:
        loc = (*loc[:2], *loc[3:])
    return loc[: loc.index("columns") + 2] if "columns" in loc[2:] else loc


_KINDS: dict[str, Any] = {"datasets": DatasetEntry, "runs": RunEntry, **SECTIONS}
"""Models with the keys of each part of a config."""
_KINDS_OF_DATASETS: dict[str, Any] = {"groups": Groups, "weights": Weights, "leaks": Leaks}


def _known_keys(loc: Loc, is_fused: bool) -> list[str]:
    """Return the keys of the mapping around `loc`."""
    kind = _KINDS.get(str(loc[0]), Config) if len(loc) > 1 else Config
    if loc[:2] == ("gate", "rules"):
        kind = MarginRule
    elif loc[0] == "datasets" and len(loc) > 2 and loc[2] in _KINDS_OF_DATASETS:
        kind = _KINDS_OF_DATASETS[str(loc[2])]
    elif loc[0] == "runs" and is_fused:
        kind = FusedEntry
    return _keys_of_kind(kind)


def _keys_of_kind(kind: Any) -> list[str]:
    if not is_dataclass(kind):
        return list(kind.model_fields)
    return ["baseline" if field.name == "baselines" else field.name for field in fields(kind)]


def _expected_type(kind: str) -> str | None:
    return _EXPECTED.get(kind.removesuffix("_type").removesuffix("_parsing"))


def wrong_value(error: ErrorDetails) -> str:
    """Return the expected and the given value, by the type of pydantic's error."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    expected = _expected_type(kind) or _LIMITS.get(kind, "").format(**context)
    message = f"expected {expected}" if expected else error["msg"]
    return f"{message}, got {describe_value(error['input'])}"


def fix_of_choice(error: ErrorDetails) -> str:
    """Return the fix of a value that is near to one of a few."""
    near = nearest(str(error["input"]), _choices(error))
    return f"use {near}" if near else ""


def _choices(error: ErrorDetails) -> list[str]:
    return re.findall("'([^']*)'", error.get("ctx", {}).get("expected", ""))


def _problem_of_error(error: ErrorDetails, source: ParsedYaml) -> Problem:
    loc, kind, value = _loc(error), error["type"], error["input"]
    message, fix = wrong_value(error), ""
    expected = _expected_type(kind)
    is_unknown = kind in _UNKNOWN_KEY
    if is_unknown or error["loc"][-1] == "[key]":
        name, names = value, _choices(error)
        if is_unknown:
            name, names = str(loc[-1]), _known_keys(loc, "fused" in error["loc"][2:3])
        message, fix = f"unknown key '{name}'", fix_of_name(name, names)
        homes = [key for key, kind in SECTIONS.items() if name in _keys_of_kind(kind)]
        if homes and len(loc) == 1 and f"{name}s" not in names:  # metric is a slip for metrics
            is_set = source.place(loc)[0] == SET
            fix = (
                f"write --set {homes[0]}.{name}={value}"
                if is_set
                else f"write it below '{homes[0]}:'"
            )
    elif loc[-2:-1] == ("columns",):
        message = "expected the name of a column, or its number from 1"
        message += f", got {describe_value(value)}"
    elif kind == "missing":
        fix = f"add {loc[-1]}: {_EXAMPLES.get(str(loc[-1]), 'VALUE')}"
        return source.problem(loc[:-1], f"the key '{loc[-1]}' is missing", fix=fix)
    elif kind == "too_short":
        message = "expected at least one entry, got none"
    elif kind == "literal_error":
        if loc[:2] == ("guard", "accept"):
            message = f"expected a rule that can be accepted, got {describe_value(value)}"
            fix = f"choose a rule from {SITE}reference/rules/"
        fix = fix or fix_of_choice(error)
    elif expected is not None:
        example = _EXAMPLES.get(str(loc[-1]))
        such_as = f" such as {example}" if example else ""
        message = f"expected {expected}{such_as}, got {describe_value(value)}"
        fix = _fix_of_type(value, expected)
    return source.problem(loc, message, fix=fix)


def _fix_of_type(value: Any, expected: str) -> str:
    if value is None:
        return "indent the lines that belong to it" if expected == "a mapping" else ""
    if expected == "a list" and isinstance(value, str) and value.startswith("-"):
        return "write a blank after every '-'"
    if expected != "text" or isinstance(value, (Mapping, list)):
        return ""
    return "put it in quotes"
