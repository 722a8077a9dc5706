"""Plain data -> Config; pydantic's errors become problems with place, expected value and fix."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from ..errors import Problem, did_you_mean, near_names
from ..guard.registry import RULES
from .model import SECTIONS, Config, DatasetEntry, RunEntry, Runs
from .yaml_file import Loc, Source, describe

_EXPECTED = {
    "string": "text", "int": "a whole number", "bool": "true or false", "float": "a number",
    "tuple": "a list", "dict": "a mapping", "mapping": "a mapping", "model": "a mapping",
    "dataclass": "a mapping",
}  # fmt: skip
_LIMITS = {
    "greater_than_equal": "at least", "greater_than": "above", "less_than": "below",
    "less_than_equal": "at most",
}  # fmt: skip
_UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
_EXAMPLES = {
    "datasets": "trec: {path: qrels.txt}",
    "runs": "bm25: {path: runs/bm25.run}",
    "columns": "{qid: topic, docno: document}",
    "where": "seed: [1, 2, 3]",
    "metrics": "[map, ndcg@10]",
    "metric_sets": "main: [map, ndcg@10]",
    "tables": "main: {metrics: [map, ndcg@10]}",
    "plots": "[differences, heatmap]",
    "a list": "[map, ndcg@10]",
    "a mapping": "{path: qrels.txt}",
}
"""Values by key, or of any key."""
_Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]


class Draft(Config):
    """The correct parts of a config with problems; wrong items of `metrics` are empty."""

    model_config = ConfigDict(defer_build=True)

    name: str = ""
    datasets: Mapping[str, DatasetEntry] = {}
    runs: Mapping[str, Runs] = {}
    metrics: tuple[_Text, ...] = ()


def validate(data: Mapping[str, Any], source: Source) -> tuple[Config, list[Problem]]:
    """Return the config and what is wrong with it; a :class:`Draft` if anything is."""
    try:
        return Config.model_validate(data), []
    except ValidationError as error:
        every = error.errors()
    around = {part[:n] for part in source.unread for n in range(len(part) + 1)}
    errors = [one for one in every if not _follows_from_others(one, every, around)]
    draft = _draft(data)
    draft._complete = not {one["loc"][0] for one in every} & {"datasets", "runs"}
    return draft, list(dict.fromkeys(_problem(one, source) for one in errors))


def _draft(data: Mapping[str, Any]) -> Draft:
    """Return what is left of a config when all that is wrong is taken out."""
    correct: Any = copy.deepcopy(dict(data))
    while True:
        try:
            return Draft.model_validate(correct)
        except ValidationError as error:
            for loc in {_removable(correct, _loc(one)) for one in error.errors()}:
                holder = _at(correct, loc[:-1])
                if isinstance(holder, dict):
                    holder.pop(loc[-1], None)


def _removable(data: Any, loc: Loc) -> Loc:
    """Return the innermost key of a mapping around a place."""
    for n in range(len(loc), 1, -1):
        holder = _at(data, loc[: n - 1])
        if isinstance(holder, dict) and loc[n - 1] in holder:
            return loc[:n]
    return loc[:1]


def _at(data: Any, loc: Iterable[str | int]) -> Any:
    """Return a part of plain data; None if there is none."""
    for part in loc:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _follows_from_others(
    error: ErrorDetails, errors: Sequence[ErrorDetails], around: set[Loc]
) -> bool:
    """Whether a part is only wrong because an item is, YAML was not read, or a key is misspelt."""
    loc = error["loc"]
    if error["type"] == "missing":
        unknown = (
            str(one["loc"][-1]).partition(":")[0]
            for one in errors
            if one["type"] in _UNKNOWN_KEY and one["loc"][:-1] == loc[:-1]
        )
        known = _known(_loc(error))
        if any(f"'{loc[-1]}'" in did_you_mean(name, known) for name in unknown):
            return True
    return (error["type"] == "too_short" and bool(error["input"])) or _loc(error) in around


def _loc(error: ErrorDetails) -> Loc:
    """Return pydantic's location without the types of a union that it tried."""
    loc = error["loc"]
    if loc[0] == "runs" and len(loc) > 2:
        loc = (*loc[:2], *loc[3:])
    return loc[: loc.index("columns") + 2] if "columns" in loc[2:] else loc


def _known(loc: Loc) -> list[str]:
    """Return the keys of the mapping that holds `loc`."""
    kinds: dict[str, Any] = {"datasets": DatasetEntry, "runs": RunEntry, **SECTIONS}
    kind = kinds.get(str(loc[0]), Config) if len(loc) > 1 else Config
    if not is_dataclass(kind):
        return list(kind.model_fields)
    return ["baseline" if one.name == "baselines" else one.name for one in fields(kind)]


def _problem(error: ErrorDetails, source: Source) -> Problem:
    """Return an error of pydantic as a problem with its place."""
    loc, kind, value = _loc(error), error["type"], error["input"]
    what, fix = f"{error['msg']}, got {describe(value)}", ""
    choices = re.findall("'([^']*)'", error.get("ctx", {}).get("expected", ""))
    expected = _EXPECTED.get(kind.removesuffix("_type").removesuffix("_parsing"))
    if error["loc"][-1] == "[key]":
        known = f"{did_you_mean(value, choices)}  (known: {near_names(value, choices)})"
        what = f"unknown key '{value}'{known}"
    elif loc[-2:-1] == ("columns",):
        what = f"expected the name of a column, or its number from 1, got {describe(value)}"
    elif kind in _UNKNOWN_KEY:
        what, fix = _unknown_key(loc)
    elif kind == "missing":
        return source.problem(loc[:-1], f"the key '{loc[-1]}' is missing")
    elif kind == "too_short":
        what = "expected at least one entry, got none"
    elif kind == "value_error":
        what = str(error["ctx"]["error"])
    elif kind == "literal_error":
        near = did_you_mean(value, choices) if isinstance(value, str) else ""
        what = f"expected one of {', '.join(choices)}, got {describe(value)}{near}"
        if loc[:2] == ("guard", "accept"):
            what = f"the guard has no rule {describe(value)}{near}"
            if value in RULES:
                what = f"'{value}' cannot be accepted: refused input has no values"
            fix = "docs/reference/rules.md lists the rules"
    elif kind in _LIMITS:
        (bound,) = error["ctx"].values()
        what = f"expected {_LIMITS[kind]} {bound:g}, got {value}"
    elif expected is not None:
        example = _EXAMPLES.get(str(loc[-1])) or _EXAMPLES.get(expected)
        such_as = f" such as {example}" if example and expected in _EXAMPLES else ""
        what = f"expected {expected}{such_as}, got {describe(value)}"
        fix = _fix(loc, value, expected)
    return source.problem(loc, what, fix=fix)


def _unknown_key(loc: Loc) -> tuple[str, str]:
    """Return what is wrong with an unknown key, and a fix."""
    name, known, fix = str(loc[-1]), _known(loc), ""
    near = did_you_mean(name, known)
    key, _, value = name.partition(":")
    if key in known:
        near, fix = "", f"write a blank after the colon: {key}: {value}"
    elif name == "duplicates" and loc[:-1] in ((), ("policy",)):
        near = "; it belongs to an entry of datasets or runs"
        fix = "write it there: runs: {NAME: {path: ..., duplicates: last}}"
    return f"unknown key '{name}'{near}  (known: {near_names(name, known)})", fix


def _fix(loc: Loc, value: Any, expected: str) -> str:
    """Return what to do about a value of another type."""
    if value is None:
        return "indent the lines that belong to it" if expected == "a mapping" else ""
    if loc == ("cache",) and value is False:
        return "'cache: none' keeps nothing"
    if expected == "a list" and isinstance(value, str) and value.startswith("-"):
        return "write a blank after every '-'"
    if expected != "text" or isinstance(value, (Mapping, list)):
        return ""
    return "put it in quotes, as in 'ndcg@5,10'" if loc[0] == "metrics" else "put it in quotes"
