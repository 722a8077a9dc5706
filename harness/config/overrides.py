"""``--set``: values put into a config in place of its own, or taken out of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..errors import ConfigError, Problem, did_you_mean
from .yamlfile import AS_WRITTEN, Loc, Source, describe, parse, show

BY_NAME = ("datasets", "runs", "where", "metric_sets", "tables")
"""Mappings of entries that have names: one that is not there cannot be taken out."""


def override(source: Source, overrides: Iterable[str]) -> Source:
    """Return a config with values put in place of its own.

    Parameters
    ----------
    source : Source
        Its data are changed.
    overrides : iterable of str
        ``"policy.ties=stable"``; the value is read as YAML, the path may hold ``[1]``. ``null``
        takes a key out.
    """
    problems, changed = list(source.problems), set(source.set)
    for one in overrides:
        try:
            changed.add(_override(source.data, one))
        except ValueError as error:
            problems.append(Problem(f"--set {one}", str(error)))
    return replace(source, set=frozenset(changed), problems=tuple(problems))


def _override(data: dict[str, Any], override: str) -> Loc:
    """Put one ``path=value`` into `data`; return its location. ValueError says what is wrong."""
    path, equals, text = override.partition("=")
    path = path.strip().removeprefix("$").removeprefix(".")
    if not equals or not path:
        raise ValueError("write KEY=VALUE, as in policy.ties=stable")
    if path == "extends":
        raise ValueError("stands in the file only; give the other config itself, or edit the file")
    try:
        value = _value(path, text)
    except ConfigError as error:
        told = "; ".join(filter(None, (error.problems[0].what, error.problems[0].fix)))
        raise ValueError(f"cannot read the value: {told}") from None
    loc: Loc = ()
    at: Any = data
    parts = [part for part in re.split(r"\.|(\[\d+\])", path) if part]
    while parts:
        if isinstance(at, list):
            part: str | int = _place(at, parts.pop(0), loc)
        elif isinstance(at, dict):
            part = _key(at, parts)
        else:
            raise ValueError(f"{show(loc)} is {describe(at)} and holds no '{parts[0]}'")
        if not parts:
            _put(at, part, value, loc)
            return (*loc, part)
        if isinstance(at, dict) and part not in at:
            if loc:
                raise ValueError(
                    f"there is no {show((*loc, part))}{did_you_mean(str(part), at)}"
                    f"  (there are: {', '.join(at)})"
                )
            at[part] = {}
        loc, at = (*loc, part), at[part]
    raise ValueError("write KEY=VALUE, as in policy.ties=stable")


def _put(at: Any, part: str | int, value: Any, loc: Loc) -> None:
    """Put a value in its place; null takes a key out, as in a config that extends another."""
    if value is None and isinstance(at, dict) and part in at:
        del at[part]
    elif value is None and len(loc) == 1 and loc[0] in BY_NAME:
        near = did_you_mean(str(part), at)
        raise ValueError(f"there is no {show((*loc, part))} that could be taken out{near}")
    else:
        at[part] = value


def _value(path: str, text: str) -> Any:
    """Return the value of an override as it would be read at its place."""
    top = AS_WRITTEN if re.split(r"[.\[]", path)[0] == AS_WRITTEN else "value"
    below = top == AS_WRITTEN and path != top
    if below and text.strip().startswith("!"):  # a shell took off the quotes it was given
        return text.strip()
    source = parse(f"{top}:\n  value: {text}" if below else f"{top}: {text}", "")
    if source.problems:
        raise ConfigError(source.problems)
    found = source.data[top]
    return found["value"] if below else found


def _key(at: dict[str, Any], parts: list[str]) -> str:
    """Take the longest run of parts that is a key (a name may hold dots), else one part."""
    for n in range(len(parts), 1, -1):
        if ".".join(parts[:n]) in at:
            key = ".".join(parts[:n])
            del parts[:n]
            return key
    return parts.pop(0)


def _place(at: list[Any], part: str, loc: Loc) -> int:
    digits = part.strip("[]")
    if not re.fullmatch("[0-9]{1,9}", digits) or int(digits) >= len(at):
        raise ValueError(f"{show(loc)} is a list of {len(at)}; there is no '{digits}' in it")
    return int(digits)
