"""The keys of a config that are paths: environment variables in them, and where they start."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

from ..errors import Problem
from .yamlfile import Loc, Source

_DOLLAR = re.compile(r"\$\$|\$\{(?:[^{}]|\{[^{}]*\})*\}|\$\{")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}", re.S)


class Place(NamedTuple):
    """A path in a config: where it is, and what holds it under which key."""

    loc: Loc
    holder: Any
    key: Any
    pattern: bool
    """Whether it may have placeholders, so that braces are doubled."""

    @property
    def text(self) -> str:
        """The path."""
        return str(self.holder[self.key])


def places(data: Mapping[str, Any]) -> Iterator[Place]:
    """Yield the paths of a config; parts that are of a wrong type are passed over."""
    for key in ("extends", "output", "cache"):
        yield from _places((), data, (key,), pattern=False)
    for name, entry in _items(data.get("datasets")):
        yield from _places(("datasets", name), entry, ("path", "group"), pattern=True)
    for name, given in _items(data.get("runs")):
        if isinstance(given, list):
            for place, entry in enumerate(given):
                yield from _places(("runs", name, place), entry, ("path",), pattern=True)
        else:
            yield from _places(("runs", name), given, ("path",), pattern=True)
    plugins = data.get("plugins")
    for place, name in enumerate(plugins if isinstance(plugins, list) else []):
        if isinstance(name, str) and (name.endswith(".py") or "/" in name):
            yield Place(("plugins", place), plugins, place, False)


def expand(source: Source, only: Collection[Loc] | None = None) -> Source:
    """Put the values of environment variables into the paths of a config.

    ``${NAME}`` is the variable's value, ``${NAME:-default}`` the default where it is not set or
    empty, and ``$$`` a dollar sign.

    Parameters
    ----------
    source : Source
        Its data are changed.
    only : collection of locations, optional
        Parts that are looked at; everything where left out.

    Returns
    -------
    Source
        With a problem for each variable that is not set, and each path with a zero byte; such a
        path is taken out.
    """
    problems: list[Problem] = []
    unread: set[Loc] = set()
    for place in list(places(source.data)):
        if only is not None and not any(_same(place.loc, loc) for loc in only):
            continue
        text, wrong = _expanded(place.text, place.pattern)
        for what, fix in wrong:
            problems.append(source.problem(place.loc, what, fix=fix))
            unread.add(place.loc)
        if not wrong:
            place.holder[place.key] = text
        elif isinstance(place.holder, dict):
            del place.holder[place.key]
    return replace(source, problems=(*source.problems, *problems), unread=source.unread | unread)


def escape(data: Mapping[str, Any]) -> None:
    """Write the dollar signs of paths so that :func:`expand` gives the same paths again."""
    for place in places(data):
        place.holder[place.key] = re.sub(r"\$(?=[${])", "$$", place.text)


def rebase(data: Mapping[str, Any], folder: str) -> None:
    """Let relative paths start one step higher: `folder` is the way to where they started."""
    if folder in ("", "."):
        return
    for place in places(data):
        if not PurePath(place.text).is_absolute() and (place.key, place.text) != ("cache", "none"):
            start = _doubled(folder) if place.pattern else folder
            place.holder[place.key] = f"{start.rstrip('/')}/{place.text}"


def _expanded(text: str, pattern: bool) -> tuple[str, list[tuple[str, str]]]:
    """Return the text with variables filled in, and what is wrong with which, and what to do."""
    wrong: list[tuple[str, str]] = []
    if "\0" in text:
        wrong.append(("holds the character \\0, which no path may", "take it out"))

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        known = _VARIABLE.fullmatch(match[0])
        if known is None:
            fix = "write ${NAME} or ${NAME:-default}; $$ is a dollar sign"
            wrong.append((f"'{match[0]}' is no environment variable in '{text}'", fix))
            return match[0]
        name, default = known.groups()
        if os.environ.get(name):
            return _doubled(os.environ[name]) if pattern else os.environ[name]
        if default is None:
            state = "is empty" if name in os.environ else "is not set"
            fix = f"set it, or give a default: ${{{name}:-../data}}"
            wrong.append((f"the environment variable {name} {state}", fix))
        return default or ""

    return _DOLLAR.sub(value, text), wrong


def _doubled(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _same(one: Loc, other: Loc) -> bool:
    """Whether one part holds the other."""
    n = min(len(one), len(other))
    return one[:n] == other[:n]


def _items(part: Any) -> list[tuple[str, Any]]:
    return list(part.items()) if isinstance(part, dict) else []


def _places(loc: Loc, holder: Any, keys: tuple[str, ...], pattern: bool) -> Iterator[Place]:
    for key in keys:
        if isinstance(holder, dict) and isinstance(holder.get(key), str) and holder[key]:
            yield Place((*loc, key), holder, key, pattern)
