"""YAML text -> plain data, with the line of every part, so that a problem can say where it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from ..errors import ConfigError, Problem, shorten
from ..readers.ir_metadata import Loader, YAMLLimitError, composed


class Hint(NamedTuple):
    """What to do about a syntax error, by PyYAML's own words and what is around its mark."""

    error: str
    """Pattern of PyYAML's problem and context."""
    before: str
    """Pattern of the line up to the mark."""
    after: str
    """Pattern of the line from the mark on."""
    fix: str


_BRACES = 'put text that holds braces in quotes: path: "runs/{model}.txt"'
_HINTS = (
    Hint("", r" *", r"\t", "indent with spaces, not with tabs"),
    Hint("", "", r"\t", "put a space there"),
    Hint("tag|alias|anchor|block sc", "", "", "put text that begins with ! * & | or > in quotes"),
    Hint("start any token", "", "[@`%]", "put text that begins with @ ` or % in quotes"),
    Hint("quoted scalar; .*unexpected", "", "", "close the quote"),
    Hint("quoted scalar; .*escape", "", "", r"write \\ for a backslash, or use single quotes"),
    Hint("<block end>", r"[ -]*", "", "begin all keys, and all '- ', of one block in one column"),
    Hint("", r".*\{\w*\}", "", _BRACES),
    Hint("", "", r"\{\w+\}", _BRACES),
    Hint("flow ", "", "", "close each bracket, and put text that holds ': ' in quotes; "
         "a comma parts two entries"),
    Hint("<block end>.*'[]}]'", "", "", "take it out, or open it with the bracket that it closes"),
    Hint("<block end>", "", "", "close the quotes here, or on a line above"),
    Hint("mapping values", r".*: .*", "", "put text that holds ': ' in quotes"),
    Hint("mapping values", "", "", "write 'key: value' in this line and the one above, and indent "
         "both alike"),
    Hint("expected ':'", "", "", "write 'key: value', with a space after ':' and after '-'"),
    Hint("sequence entries", "", "", "put every '- ' on its own line, or write [map, ndcg@10]"),
    Hint("another document", "", "", "leave out the line ---"),
)  # fmt: skip
"""The first that fits is shown."""


def syntax_problem(error: yaml.YAMLError, text: str) -> Problem:
    """Return where a YAML text breaks, what PyYAML says about it, and what to do.

    >>> try:
    ...     yaml.safe_load("metrics:\\n\\t- map")
    ... except yaml.YAMLError as error:
    ...     print(syntax_problem(error, "metrics:\\n\\t- map"))
    line 2, column 1: not valid YAML: found character '\\t' that cannot start any token
      found: - map
      fix:   indent with spaces, not with tabs
    """
    mark = getattr(error, "problem_mark", None)
    if mark is None:  # a character that no YAML may hold
        at = getattr(error, "position", 0)
        line, column = text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1
        what = f"the character {text[at : at + 1]!r} is not allowed in YAML"
        return Problem(_place(line, column), what)
    problem = str(getattr(error, "problem", ""))
    if isinstance(error, YAMLLimitError):
        fix = "no config needs this; see where it is from"
        if "no character" in problem:
            fix = "write the character itself, and save the file as UTF-8"
        return Problem(_place(mark.line, mark.column), problem, fix=fix)
    start, context = getattr(error, "context_mark", None), getattr(error, "context", None) or ""
    what = problem
    if start is not None and context:
        what += f" ({context} that began in line {start.line + 1})"
    if start is not None and ("stream" in problem or "expected ':'" in problem):
        mark = start  # what is not closed, or the line without a colon
    lines = text.splitlines()
    content = lines[mark.line] if mark.line < len(lines) else ""
    fix = _fix(f"{context}; {problem}", content[: mark.column], content[mark.column :])
    return Problem(
        _place(mark.line, mark.column), f"not valid YAML: {what}", content.strip(" "), fix
    )


def _fix(error: str, before: str, after: str) -> str:
    for hint in _HINTS:
        fits = re.search(hint.error, error) and re.match(hint.after, after)
        if fits and (not hint.before or re.fullmatch(hint.before, before)):
            return hint.fix
    return ""


def _place(line: int, column: int) -> str:
    return f"line {line + 1}, column {column + 1}"


Loc = tuple[str | int, ...]
"""Where a part is: the keys and places that lead to it, as pydantic gives them."""


@dataclass(frozen=True)
class PlacedProblem(Problem):
    """A problem with a part of a config: its keys, and the line of the file that has it.

    `file` is empty for the config itself, as opposed to one that it extends.
    """

    loc: Loc = ()
    line: int = 0
    file: str = ""


_PLAIN_KEY = re.compile(r"[\w{}+-]+")
AS_WRITTEN = "where"
"""Below this key a value is the text that stands there: 01 is no number, and yes is not true."""
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
            return PlacedProblem(f"{show(loc)} (--set)", what, found, fix, loc=loc)
        near = next((loc[:n] for n in range(len(loc), 0, -1) if loc[:n] in self.lines), ())
        line, file = self.lines.get(near, 0), self.files.get(near, "")
        return _placed(loc, line, file, what, fix, found)


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


def parse_yaml(text: str, where: str, file: str = "") -> Source:
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
        loader, node = composed(text)
    except yaml.YAMLError as error:
        raise ConfigError(syntax_problem(error, text), where=where) from error
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

    def __init__(self, loader: Loader, file: str) -> None:
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
        if len(loc) > 1 and loc[0] == AS_WRITTEN and node.tag != _NULL:
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
        self.problems.append(_placed(loc, _line(node), self.file, what, fix))


def _placed(
    loc: Loc, line: int, file: str, what: str, fix: str = "", found: str = ""
) -> PlacedProblem:
    place = f" ({file}, line {line})" if file else f" (line {line})" if line else ""
    return PlacedProblem(show(loc) + place, what, found, fix, loc=loc, line=line, file=file)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
