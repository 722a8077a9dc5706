"""Plain data -> Config; each wrong part with its place, what is expected there, and what to do."""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from ..errors import Problem, did_you_mean
from ..guard.registry import RULES
from .model import SECTIONS, Config, DatasetEntry, RunEntry, Runs
from .yaml_file import Loc, Source, describe

MOST_PROBLEMS = 1000
"""Problems that are explained; a search for similar names takes 1 ms for each."""
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
_LISTS = ("metrics", "plugins", "plots", "reports")
_EXAMPLES = {
    "datasets": "trec: {path: qrels.txt}",
    "datasets.*": "{path: qrels.txt}",
    "*.columns": "{qid: topic, docno: document}",
    "runs": "bm25: {path: runs/bm25.run}",
    "runs.*": "{path: runs/bm25.run}",
    "where": "seed: [1, 2, 3]",
    "where.*": "[1, 2, 3]",
    "metrics": "[map, ndcg@10]",
    "metric_sets": "main: [map, ndcg@10]",
    "metric_sets.*": "[map, ndcg@10]",
    "plugins": "[my_metrics.py]",
    "reports": "[csv, markdown]",
    "policy": "{ties: stable}",
    "guard": "{accept: [score-ties]}",
    "guard.accept": "[score-ties]",
    "summary": "{pool: [fold], spread: [seed]}",
    "summary.*": "[seed]",
    "compare": "{baseline: bm25}",
    "compare.baseline": "[bm25, random]",
    "compare.metrics": "[map, ndcg@10]",
    "tables": "main: {metrics: [map, ndcg@10]}",
    "tables.*.groups": "{Neural: [dense, colbert]}",
    "tables.*.names": "{bm25: BM25}",
    "tables.*.digits": '{"P@5": 2}',
    "tables.*.formats": "[latex, markdown]",
    "tables.*.extras": "[n, tier]",
    "tables.*.*": "[name, pattern*]",
    "tables.*": "{metrics: [map, ndcg@10]}",
    "plots": "[differences, heatmap]",
    "plots.*.baseline": "[bm25, random]",
    "plots.*.formats": "[svg, pdf]",
    "plots.*.names": "{bm25: BM25}",
    "plots.*.*": "[name, pattern*]",
    "plots.*": "{kind: differences}",
}
"""Values by the place of a key; the first pattern that fits."""


class Draft(Config):
    """The sound parts of a config with problems."""

    model_config = ConfigDict(defer_build=True)

    name: str = ""
    datasets: Mapping[str, DatasetEntry] = {}
    runs: Mapping[str, Runs] = {}
    metrics: tuple[str, ...] = ()


def validate(data: Mapping[str, Any], source: Source) -> tuple[Config, list[Problem]]:
    """Return the config and what is wrong with it; a :class:`Draft` if anything is."""
    try:
        return Config.model_validate(data), []
    except ValidationError as error:
        found = error.errors()
    around = {part[:n] for part in source.unread for n in range(len(part) + 1)}
    errors = [one for one in found if not _follows_from_others(one, around)]
    more = len(errors) - MOST_PROBLEMS
    shown = errors[:MOST_PROBLEMS]
    problems = [_in_plain_words(one, source) for one in shown if not _is_misspelt(one, shown)]
    if more > 0:
        problems.append(Problem("", f"{more:,} more parts are wrong; they were not looked at"))
    draft = _draft(data, found)
    draft._complete = not {one["loc"][0] for one in errors} & {"datasets", "runs"}
    return draft, list(dict.fromkeys(problems))


def _draft(data: Mapping[str, Any], errors: Sequence[ErrorDetails]) -> Draft:
    """Return what is left of a config when all that is wrong is taken out."""
    sound: Any = copy.deepcopy(dict(data))
    places = {key: [*range(len(sound[key]))] for key in _LISTS if isinstance(sound.get(key), list)}
    while errors:
        dropped: dict[str, set[int]] = defaultdict(set)
        for loc in {_removable(sound, _loc(one)) for one in errors}:
            *way, last = loc
            holder = _at(sound, way)
            if isinstance(last, int):
                dropped[str(way[0])].add(last)
            elif isinstance(holder, dict):
                holder.pop(last, None)
        for key, some in dropped.items():
            for items in (sound.get(key, []), places[key]):
                items[:] = [one for place, one in enumerate(items) if place not in some]
        try:
            Draft.model_validate(sound)
            errors = ()
        except ValidationError as error:
            errors = error.errors()
    draft = Draft.model_validate(sound)
    draft._places = places
    return draft


def _removable(data: Any, loc: Loc) -> Loc:
    """Return the innermost part around a place that can go: a key, or an item of a main list."""
    for n in range(len(loc), 1, -1):
        part, holder = loc[n - 1], _at(data, loc[: n - 1])
        if isinstance(part, int):
            if n == 2 and loc[0] in _LISTS:
                return loc[:n]
        elif isinstance(holder, dict) and part in holder:
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


def _follows_from_others(error: ErrorDetails, around: set[Loc]) -> bool:
    """Whether a part only seems wrong since YAML could not be read or its items are wrong.

    `around` are the places of what could not be read, and of all that it is in.
    """
    return (error["type"] == "too_short" and bool(error["input"])) or _loc(error) in around


def _is_misspelt(error: ErrorDetails, errors: Sequence[ErrorDetails]) -> bool:
    """Whether a key is missing only since it is written in another way: ``metrcs``."""
    loc = error["loc"]
    if error["type"] != "missing":
        return False
    unknown = (
        str(one["loc"][-1]).partition(":")[0]
        for one in errors
        if one["type"] in _UNKNOWN_KEY and one["loc"][:-1] == loc[:-1]
    )
    return any(f"'{loc[-1]}'" in did_you_mean(name, _known(_loc(error))) for name in unknown)


def _loc(error: ErrorDetails) -> Loc:
    """Return pydantic's location without its notes of which of several types it tried."""
    loc = error["loc"]
    if loc[0] == "runs" and len(loc) > 2:
        loc = (*loc[:2], *loc[3:])
    return loc[: loc.index("columns") + 2] if "columns" in loc[2:] else loc


def _known(loc: Loc) -> list[str]:
    """Return the keys that may stand beside the one at `loc`."""
    kind: Any = Config
    if len(loc) > 1:
        entries = {"datasets": DatasetEntry, "runs": RunEntry}
        kind = entries.get(str(loc[0])) or SECTIONS.get(str(loc[0]), Config)
    if not is_dataclass(kind):
        return list(kind.model_fields)
    return ["baseline" if one.name == "baselines" else one.name for one in fields(kind)]


def _example(loc: Loc) -> str:
    for place, example in _EXAMPLES.items():
        keys = place.split(".")
        if keys[0] == "*":
            fits = loc[-1] == keys[1]
        else:
            fits = len(keys) == len(loc) and all(
                key in ("*", part) for key, part in zip(keys, loc, strict=True)
            )
        if fits:
            return f" such as {example}"
    return ""


def _in_plain_words(error: ErrorDetails, source: Source) -> Problem:
    loc, kind, value = _loc(error), error["type"], error["input"]
    if error["loc"][-1] == "[key]":
        choices = _choices(error)
        near = did_you_mean(value, choices)
        return source.problem(loc, f"unknown key '{value}'{near}  (known: {', '.join(choices)})")
    if loc[-2:-1] == ("columns",):
        what = "must be the name of a column, or its number from 1"
        return source.problem(loc, f"{what}, and is {describe(value)}")
    if kind in _UNKNOWN_KEY:
        return _unknown_key(loc, source)
    if kind == "missing":
        return source.problem(loc[:-1], f"the key '{loc[-1]}' is missing")
    if kind == "too_short":
        return source.problem(loc, "is empty; there must be at least one entry")
    if kind == "value_error":
        return source.problem(loc, str(error["ctx"]["error"]))
    if kind == "literal_error":
        return _unknown_choice(loc, value, _choices(error), source)
    if kind in _LIMITS:
        (bound,) = error["ctx"].values()
        return source.problem(loc, f"must be {_LIMITS[kind]} {bound:g}, and is {value}")
    expected = _EXPECTED.get(kind.removesuffix("_type").removesuffix("_parsing"))
    if expected is None:
        return source.problem(loc, f"{error['msg']}, and is {describe(value)}")
    fix = _fix(loc, value, expected, source)
    if expected in ("a list", "a mapping"):
        expected += _example(loc)
    return source.problem(loc, f"must be {expected}, and is {describe(value)}", fix=fix)


def _choices(error: ErrorDetails) -> list[str]:
    return re.findall("'([^']*)'", error["ctx"]["expected"])


def _unknown_key(loc: Loc, source: Source) -> Problem:
    name, known, fix = str(loc[-1]), _known(loc), ""
    near = did_you_mean(name, known)
    key, _, value = name.partition(":")
    if key in known:
        near, fix = "", f"write a blank after the colon: {key}: {value}"
    elif name == "duplicates" and loc[:-1] in ((), ("policy",)):
        near = "; it belongs to an entry of datasets or runs"
        fix = "write it there: runs: {NAME: {path: ..., duplicates: last}}"
    what = f"unknown key '{name}'{near}  (known: {', '.join(known)})"
    return source.problem(loc, what, fix=fix)


def _unknown_choice(loc: Loc, value: Any, choices: Sequence[str], source: Source) -> Problem:
    if not isinstance(value, str):
        what = f"must be one of {', '.join(choices)}, and is {describe(value)}"
        return source.problem(loc, what)
    near = did_you_mean(value, choices)
    if loc[:2] != ("guard", "accept"):
        return source.problem(loc, f"must be one of {', '.join(choices)}, and is '{value}'{near}")
    if value in RULES:
        what = f"'{value}' cannot be accepted: what is refused has no values"
        return source.problem(loc, what, fix="leave it out")
    what = f"no rule of the guard is called '{value}'{near}"
    return source.problem(loc, what, fix="docs/check.md lists them")


def _fix(loc: Loc, value: Any, expected: str, source: Source) -> str:
    """Return what to do about a value of another type."""
    if value is None:
        return "indent the lines that belong to it" if expected == "a mapping" else ""
    if loc == ("cache",) and value is False:
        return "'cache: none' keeps nothing"
    if expected == "text" and not isinstance(value, (Mapping, list)):
        cut = _cut_in_two(loc, value, source.data) if isinstance(loc[-1], int) else ""
        if cut:
            return f"put '{cut}' in quotes: outside of them the comma begins another entry"
        return "put it in quotes"
    if expected == "a list" and isinstance(value, str) and value.startswith("-"):
        return "write a blank after every '-'"
    return ""


def _cut_in_two(loc: Loc, value: Any, data: Any) -> str:
    """Return the list of cutoffs (``ndcg@5,10``) that a comma outside of quotes made entries of."""
    before = list(_at(data, loc[:-1]) or [])[: int(loc[-1])]
    numbers = [str(value)]
    while before and not isinstance(before[-1], str):
        numbers.append(str(before.pop()))
    name = before[-1] if before else ""
    return ",".join((name, *reversed(numbers))) if re.search(r"[@.]\d+$", name) else ""
