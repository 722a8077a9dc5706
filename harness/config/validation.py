"""Plain data -> models; what does not fit is said in plain words, and the rest is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ..errors import Problem, did_you_mean
from ..guard.registry import RULES
from .reporting import Compare, Plot, Summary, Table, as_kind
from .schema import Config, DatasetEntry, Guard, Policy, RunEntry, as_texts
from .yamlfile import Loc, Source, describe

M = TypeVar("M", bound=BaseModel)

MOST = 1000
"""Parts that are wrong of which it is told why; looking for like names takes 1 ms for each."""
_MUST_BE = {
    "string": "text",
    "int": "a whole number",
    "bool": "true or false",
    "float": "a number",
    "tuple": "a list",
    "dict": "a mapping",
    "mapping": "a mapping",
    "model": "a mapping",
}
_LIMITS = {
    "greater_than_equal": "at least", "greater_than": "above", "less_than": "below",
    "less_than_equal": "at most",
}  # fmt: skip
_EXAMPLES: Mapping[Any, str] = {
    "datasets": "trec: {path: qrels.txt}",
    "runs": "bm25: {path: runs/bm25.run}",
    "where": "seed: [1, 2, 3]",
    "metrics": "[map, ndcg@10]",
    "metric_sets": "main: [map, ndcg@10]",
    "plugins": "[my_metrics.py]",
    "reports": "[csv, markdown]",
    "policy": "{ties: stable}",
    "guard": "{accept: [score-ties]}",
    "summary": "{pool: [fold], spread: [seed]}",
    "compare": "{baseline: bm25}",
    "tables": "main: {metrics: [map, ndcg@10]}",
    "plots": "[differences, heatmap]",
}
_IN_A_TABLE: Mapping[Any, str] = {
    "groups": "{Neural: [dense, colbert]}",
    "names": "{bm25: BM25}",
    "digits": '{"P@5": 2}',
    "formats": "[latex, markdown]",
    "extras": "[n, tier]",
}


@dataclass(frozen=True)
class Parts:
    """What of a config is sound in itself; `complete` where no dataset and no run was left out."""

    datasets: Mapping[str, DatasetEntry]
    runs: Mapping[str, RunEntry | tuple[RunEntry, ...]]
    where: Mapping[str, tuple[str, ...]]
    whole: bool
    metrics: Mapping[int, str]
    plugins: Mapping[int, str]
    policy: Policy
    convention: str | None
    summary: Summary
    compare: Compare | None
    tables: Mapping[str, Table]
    plots: Mapping[int, Plot]
    guard: Guard
    complete: bool


def validate(data: Mapping[str, Any], source: Source) -> tuple[Config | None, Parts, list[Problem]]:
    """Return the config, its sound parts, and what is wrong with the others.

    Parameters
    ----------
    data : mapping
        The config as plain data.
    source : Source
        Where each part of it stands.
    """
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        around = {part[:n] for part in source.unread for n in range(len(part) + 1)}
        errors = [one for one in error.errors() if not _follows_from_others(one, around)]
        wrong = {one["loc"][0] for one in errors}
        more = len(errors) - MOST
        errors = [one for one in errors[:MOST] if not _is_misspelt(one, errors[:MOST])]
        problems = list(dict.fromkeys(_in_plain_words(one, source) for one in errors))
        if more > 0:
            problems.append(Problem("", f"{more:,} more parts are wrong; they were not looked at"))
        return None, _sound(data, not wrong & {"datasets", "runs"}), problems
    return config, _sound(data, complete=True), []


def _sound(data: Mapping[str, Any], complete: bool) -> Parts:
    datasets = {key: _salvage(DatasetEntry, entry) for key, entry in _items(data, "datasets")}
    runs: dict[str, RunEntry | tuple[RunEntry, ...]] = {}
    for key, given in _items(data, "runs"):
        several = [
            _salvage(RunEntry, one) for one in (given if isinstance(given, list) else [given])
        ]
        sound = tuple(one for one in several if one is not None)
        if sound and len(sound) == len(several):
            runs[key] = sound if isinstance(given, list) else sound[0]
    return Parts(
        datasets={key: entry for key, entry in datasets.items() if entry is not None},
        runs=runs,
        where={
            key: values
            for key, given in _items(data, "where")
            if (values := as_texts(given)) and all(isinstance(one, str) for one in values)
        },
        whole=data.get("complete") is True,
        metrics={place: text for place, text in _items(data, "metrics") if isinstance(text, str)},
        plugins={place: text for place, text in _items(data, "plugins") if isinstance(text, str)},
        policy=_salvage(Policy, data.get("policy")) or Policy(),
        convention=convention if isinstance(convention := data.get("convention"), str) else None,
        summary=_salvage(Summary, data.get("summary")) or Summary(),
        guard=_salvage(Guard, data.get("guard")) or Guard(),
        compare=None if data.get("compare") is None else _salvage(Compare, data["compare"]),
        tables={
            key: table
            for key, given in _items(data, "tables")
            if (table := _salvage(Table, given)) is not None
        },
        plots={
            place: plot
            for place, given in _items(data, "plots")
            if (plot := _salvage(Plot, as_kind(given))) is not None
        },
        complete=complete,
    )


def _items(data: Mapping[str, Any], key: str) -> list[tuple[Any, Any]]:
    part = data.get(key)
    if key in ("metrics", "plugins", "plots"):
        return list(enumerate(part)) if isinstance(part, (list, tuple)) else []
    return list(part.items()) if isinstance(part, Mapping) else []


def _salvage(model: type[M], value: Any) -> M | None:
    """Return the model without the keys that are wrong, or None."""
    if not isinstance(value, Mapping):
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        wrong = {one["loc"][0] for one in error.errors()}
        if all(key in wrong for key in value) or not wrong & set(value):
            return None
        return _salvage(model, {key: part for key, part in value.items() if key not in wrong})


def _follows_from_others(error: ErrorDetails, around: set[Loc]) -> bool:
    """Whether a part only seems wrong since YAML could not be read or its items are wrong.

    `around` are the places of what could not be read, and of all that it is in.
    """
    if error["type"] == "too_short" and error["input"]:
        return True
    return _loc(error) in around


def _is_misspelt(error: ErrorDetails, errors: Sequence[ErrorDetails]) -> bool:
    """Whether a key is missing only since it is written in another way: ``metrcs``."""
    loc = error["loc"]
    if error["type"] != "missing":
        return False
    beside = (
        str(one["loc"][-1]).partition(":")[0]
        for one in errors
        if one["type"] == "extra_forbidden" and one["loc"][:-1] == loc[:-1]
    )
    return any(f"'{loc[-1]}'" in did_you_mean(name, _known(_loc(error))) for name in beside)


def _loc(error: ErrorDetails) -> Loc:
    """Return pydantic's location without its notes of which of several types it tried."""
    loc = error["loc"]
    if loc[0] == "runs" and len(loc) > 2:
        loc = (*loc[:2], *loc[3:])
    return loc[: loc.index("columns") + 2] if "columns" in loc[2:] else loc


def _known(loc: Loc) -> list[str]:
    """Return the keys that may stand beside the one at `loc`."""
    inner: dict[Any, type[BaseModel]] = {
        "datasets": DatasetEntry, "runs": RunEntry, "policy": Policy, "summary": Summary,
        "compare": Compare, "tables": Table, "plots": Plot, "guard": Guard,
    }  # fmt: skip
    model = inner.get(loc[0], Config) if len(loc) > 1 else Config
    return list(model.model_fields)


def _example(loc: Loc) -> str:
    if loc[-1] == "columns":
        return "{qid: topic, docno: document}"
    if loc[0] == "guard" and len(loc) > 1:
        return "[score-ties]"
    if loc[0] == "summary" and len(loc) > 1:
        return "[seed]"
    if loc[-1] == "baseline":
        return "[bm25, random]"
    if loc[0] == "plots" and (len(loc) == 2 or loc[-1] == "formats"):
        return "{kind: differences}" if len(loc) == 2 else "[svg, pdf]"
    if loc[0] in ("tables", "plots") and len(loc) > 2:
        return _IN_A_TABLE.get(loc[-1], "[name, pattern*]")
    if loc[0] == "compare" and len(loc) > 1 and loc[-1] in _EXAMPLES:
        return _EXAMPLES[loc[-1]]
    example = _EXAMPLES[loc[0]]
    return example if len(loc) == 1 else example.partition(": ")[2]


def _cut_in_two(loc: Loc, value: Any, data: Any) -> str:
    """Return the list of cutoffs (``ndcg@5,10``) that a comma outside of quotes made entries of."""
    try:
        for part in loc[:-1]:
            data = data[part]
        before = data[: loc[-1]]
    except (KeyError, IndexError, TypeError):
        return ""
    numbers = [str(value)]
    while before and not isinstance(before[-1], str):
        numbers.append(str(before.pop()))
    name = before[-1] if before else ""
    return ",".join((name, *reversed(numbers))) if re.search(r"[@.]\d+$", name) else ""


def _dedented(loc: Loc, source: Source) -> int:
    """Return the line of the key right below an empty one that seems to belong into it; else 0."""
    entries: dict[str, type[BaseModel]] = {"datasets": DatasetEntry, "runs": RunEntry}
    below = source.lines.get(loc, -1) + 1
    key = source.at_line.get(below, ())
    if loc[0] not in entries or len(loc) > 2 or not key or key[:-1] != loc[:-1]:
        return 0
    if len(loc) == 1:  # a name of an entry is no key of a config
        return 0 if key[0] in Config.model_fields else below
    return below if key[-1] in entries[str(loc[0])].model_fields else 0


def _no_rule(name: str, near: str) -> tuple[str, str]:
    """Return what is wrong with a rule that cannot be accepted, and what to do."""
    if name in RULES:
        return f"'{name}' cannot be accepted: what is refused has no values", "leave it out"
    return f"no rule of the guard is called '{name}'{near}", "docs/check.md lists them"


def _in_plain_words(error: ErrorDetails, source: Source) -> Problem:
    loc, kind, value = _loc(error), error["type"], error["input"]
    if error["loc"][-1] == "[key]":
        choices = re.findall("'([^']*)'", error["ctx"]["expected"])
        near = did_you_mean(value, choices)
        return source.problem(loc, f"unknown key '{value}'{near}  (known: {', '.join(choices)})")
    if loc[-2:-1] == ("columns",):
        what = "must be the name of a column, or its number from 1"
        return source.problem(loc, f"{what}, and is {describe(value)}")
    last = str(loc[-1])
    if kind == "extra_forbidden":
        key, _, value = last.partition(":")
        fix = f"write a blank after the colon: {key}: {value}" if key in _known(loc) else ""
        near = "" if fix else did_you_mean(last, _known(loc))
        if last == "duplicates" and loc[:-1] in ((), ("policy",)):
            near = "; it belongs to an entry of datasets or runs"
            fix = "write it there: runs: {NAME: {path: ..., duplicates: last}}"
        what = f"unknown key '{last}'{near}  (known: {', '.join(_known(loc))})"
        return source.problem(loc, what, fix=fix)
    if kind == "missing":
        return source.problem(loc[:-1], f"the key '{last}' is missing")
    if kind == "too_short":
        return source.problem(loc, "is empty; there must be at least one entry")
    if kind == "value_error":
        return source.problem(loc, str(error["ctx"]["error"]))
    if kind == "literal_error":
        choices = re.findall("'([^']*)'", error["ctx"]["expected"])
        near = did_you_mean(value, choices) if isinstance(value, str) else ""
        if loc[:2] == ("guard", "accept") and isinstance(value, str):
            what, fix = _no_rule(value, near)
            return source.problem(loc, what, fix=fix)
        given = f"'{value}'" if isinstance(value, str) else describe(value)
        return source.problem(loc, f"must be one of {', '.join(choices)}, and is {given}{near}")
    for limit, words in _LIMITS.items():
        if kind == limit:
            (bound,) = error["ctx"].values()
            return source.problem(loc, f"must be {words} {bound:g}, and is {value}")
    if value is None and (below := _dedented(loc, source)):
        what = f"must be a mapping such as {_example(loc)}, and is empty"
        return source.problem(loc, what, fix=f"indent line {below} deeper, if it belongs to it")
    must = _MUST_BE.get(kind.removesuffix("_type").removesuffix("_parsing"))
    if must is None:
        return source.problem(loc, f"{error['msg']}, and is {describe(value)}")
    quotes = must == "text" and value is not None and not isinstance(value, (Mapping, list))
    fix = "put it in quotes" if quotes else ""
    if loc == ("cache",) and value is False:
        fix = "'cache: none' keeps nothing"
    if quotes and isinstance(loc[-1], int) and (cut := _cut_in_two(loc, value, source.data)):
        fix = f"put '{cut}' in quotes: outside of them the comma begins another entry"
    if isinstance(value, str) and must == "a list" and value.startswith("-"):
        fix = "write a blank after every '-'"
    if must.startswith(("a list", "a mapping")):
        must += f" such as {_example(loc)}"
    return source.problem(loc, f"must be {must}, and is {describe(value)}", fix=fix)
