"""YAML text -> plain data, with the line of every part, so that a problem can say where it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from ..core.guarded_yaml import GuardedLoader, YAMLLimitError
from ..errors import ConfigError, Problem, did_you_mean, shorten

Loc = tuple[str | int, ...]
"""Where a part is: the keys and places that lead to it, as pydantic gives them."""

_PLAIN_KEY = re.compile(r"[\w{}+-]+")
_AS_WRITTEN = "where"
"""Below this key a value is the text that stands there: 01 is no number, and yes is not true."""
BY_NAME = ("datasets", "runs", "where", "metric_sets", "tables")
"""Mappings of entries that have names: one that is not there cannot be taken out."""
_MAP, _SEQ, _NULL = (f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "null"))


@dataclass(frozen=True, eq=False)
class Source:
    """A YAML text as plain data, and where each part of it stands.

    Parameters
    ----------
    where : str
        The file's name, for messages.
    data : mapping
        What it holds. Keys are always text, just as written.
    lines : mapping of location to int
        Line, from 1, of each key and of each item of a list.
    set : frozenset of locations
        Parts that an override (``--set``) put in.
    problems : tuple of Problem
        What is wrong with the YAML itself, where the rest could still be read.
    unread : frozenset of locations
        Parts that are not in `data`, or not wholly, for one of those problems.
    files : mapping of location to str
        File in which a part stands, where that is another one: one that is extended.
    stands : mapping of location to location
        Where a part is written that was put in somewhere else.
    """

    where: str
    data: dict[str, Any]
    lines: Mapping[Loc, int] = field(default_factory=dict)
    set: frozenset[Loc] = frozenset()
    problems: tuple[Problem, ...] = ()
    unread: frozenset[Loc] = frozenset()
    files: Mapping[Loc, str] = field(default_factory=dict)
    stands: Mapping[Loc, Loc] = field(default_factory=dict)

    def problem(self, loc: Loc, what: str, found: str = "", fix: str = "") -> Problem:
        """Return a problem at `loc`, named ``$.runs.bm25.path (line 5)``."""
        loc = self.stands.get(loc, loc)
        own = loc in self.lines
        if any(loc[: len(s)] == s or (loc and s[: len(loc)] == loc and not own) for s in self.set):
            return Problem(f"{show(loc)} (--set)", what, found, fix)
        near = next((loc[:n] for n in range(len(loc), 0, -1) if loc[:n] in self.lines), None)
        line = f" {_in(self.files.get(near, ''), self.lines[near])}" if near else ""
        return Problem(show(loc) + line, what, found, fix)


def show(loc: Loc) -> str:
    """Return a location as text.

    >>> show(("runs", "bm25", 2, "path"))
    '$.runs.bm25[2].path'
    >>> show(("runs", "a.b"))
    "$.runs['a.b']"
    """
    text = "$"
    for part in loc:
        plain = isinstance(part, str) and _PLAIN_KEY.fullmatch(part)
        text += f".{part}" if plain else f"[{part!r}]"
    return text


def read(text: str, where: str, overrides: Iterable[str] = ()) -> Source:
    """Return the data of a YAML text, with overrides put in: :func:`parse`, :func:`override`."""
    return override(parse(text, where), overrides)


def parse(text: str, where: str, file: str = "") -> Source:
    """Return the data of a YAML text that holds a mapping.

    Parameters
    ----------
    text : str
        The YAML. Only plain data: a tag such as ``!!python/object`` is refused.
    where : str
        The file's name, for messages.
    file : str
        The same beside a line, where it is not the file that the reader of a message has in mind.

    Raises
    ------
    ConfigError
        Where the text is not YAML or holds no mapping.
    """
    try:
        loader = GuardedLoader(text)
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        raise ConfigError(_syntax(error, text), where=where) from error
    if node is None:
        raise ConfigError(
            Problem("", "the file is empty", fix="name datasets, runs and metrics"), where=where
        )
    walk = _Walk(loader, file)
    data = walk.value(node, (), ())
    if not isinstance(data, dict):
        raise ConfigError(
            walk.problems
            or Problem("line 1", f"must be a mapping (key: value), and is {describe(data)}"),
            where=where,
        )
    files = dict.fromkeys(walk.lines, file) if file else {}
    return Source(
        where, data, walk.lines, frozenset(), tuple(walk.problems), frozenset(walk.unread), files
    )


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


def describe(value: Any) -> str:
    """Return what a value is in plain words.

    >>> describe("x"), describe(None), describe(True), describe([1])
    ("the text 'x'", 'empty', 'true', 'a list')
    """
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text '{shorten(value, 60)}'"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, Sequence):
        return "a list"
    return f"the number {value}" if isinstance(value, (int, float)) else f"'{value}'"


class _Walk:
    """One pass over the composed nodes: values, lines and problems."""

    def __init__(self, loader: GuardedLoader, file: str) -> None:
        self.loader, self.file = loader, file
        self.lines: dict[Loc, int] = {}
        self.problems: list[Problem] = []
        self.unread: set[Loc] = set()

    def value(self, node: yaml.Node, loc: Loc, above: tuple[yaml.Node, ...]) -> Any:
        if node in above:
            return self._refuse(node, loc, "refers to itself")
        if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
            return self._mapping(node, loc, (*above, node))
        if isinstance(node, yaml.SequenceNode) and node.tag == _SEQ:
            return [
                self._part(item, item, (*loc, place), (*above, node))
                for place, item in enumerate(node.value)
            ]
        if not isinstance(node, yaml.ScalarNode):
            return self._refuse(node, loc, f"the tag {node.tag} is not allowed here")
        if node.tag.startswith("!"):
            tag = node.tag.rstrip(",")
            self._refuse(node, loc, f"{tag} is a tag to YAML, and no text", f'quote it: "{tag}"')
            return tag
        if len(loc) > 1 and loc[0] == _AS_WRITTEN and node.tag != _NULL:
            return node.value
        try:
            return self.loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            return self._refuse(node, loc, getattr(error, "problem", None) or str(error))

    def _mapping(self, node: yaml.MappingNode, loc: Loc, above: tuple[yaml.Node, ...]) -> Any:
        seen: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(
                    key, loc, "a key must be text", 'put a name with braces in quotes: "{name}":'
                )
            elif key.value in seen and key.value != "<<":
                self._say(
                    key, (*loc, key.value),
                    f"the key '{key.value}' is here twice, first at line {seen[key.value]}",
                    "keep one of them; YAML would silently take the last",
                )  # fmt: skip
            else:
                seen[key.value] = _line(key)
        try:
            self.loader.flatten_mapping(node)
        except yaml.YAMLError as error:
            self._refuse(node, loc, str(getattr(error, "problem", error)))
        return {
            key.value: self._part(key, item, (*loc, key.value), above)
            for key, item in node.value
            if isinstance(key, yaml.ScalarNode)
        }

    def _part(self, at: yaml.Node, node: yaml.Node, loc: Loc, above: tuple[yaml.Node, ...]) -> Any:
        self.lines[loc] = _line(at)
        return self.value(node, loc, above)

    def _refuse(self, node: yaml.Node, loc: Loc, what: str, fix: str = "") -> None:
        self.unread.add(loc)
        self._say(node, loc, what, fix)

    def _say(self, node: yaml.Node, loc: Loc, what: str, fix: str = "") -> None:
        place = f"{show(loc)} {_in(self.file, _line(node))}"
        self.problems.append(Problem(place, what, fix=fix))


def _in(file: str, line: int) -> str:
    return f"({file}, line {line})" if file else f"(line {line})"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _syntax(error: yaml.YAMLError, text: str) -> Problem:
    """Say in plain words where the YAML breaks."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:  # a character that no YAML may hold
        at = getattr(error, "position", 0)
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        what = f"the character {text[at : at + 1]!r} is not allowed in YAML"
        return Problem(f"line {line}, column {column}", what)
    if isinstance(error, YAMLLimitError):
        place = f"line {mark.line + 1}, column {mark.column + 1}"
        return Problem(place, str(error.problem), fix="no config needs this; see where it is from")
    content = (text.splitlines() or [""])[min(mark.line, len(text.splitlines()) - 1)]
    what = f"not valid YAML: {getattr(error, 'problem', '')}"
    context, start = getattr(error, "context", None), getattr(error, "context_mark", None)
    if context and start is not None:
        what += f" ({context} that began in line {start.line + 1})"
    fix = ""
    if mark.column < len(content) and content[mark.column] == "\t":
        fix = "indent with blanks, not with tabs"
    elif context == "while scanning a tag":
        fix = "put text that begins with ! in quotes"
    elif "{" in content:
        fix = 'put text that holds braces in quotes: path: "runs/{model}.txt"'
    elif mark.column < len(content) and content[mark.column] in "@`%*&!|>":
        fix = f"put text that begins with '{content[mark.column]}' in quotes"
    return Problem(f"line {mark.line + 1}, column {mark.column + 1}", what, content.strip(), fix)


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
    top = _AS_WRITTEN if re.split(r"[.\[]", path)[0] == _AS_WRITTEN else "value"
    below = top == _AS_WRITTEN and path != top
    if below and text.strip().startswith("!"):  # a shell took off the quotes it was given
        return text.strip()
    source = read(f"{top}:\n  value: {text}" if below else f"{top}: {text}", "")
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
