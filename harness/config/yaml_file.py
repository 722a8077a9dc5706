"""YAML text -> plain data, with the line of every part, so that a problem can name its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from ..errors import ConfigError, Problem, shorten
from ..readers.ir_metadata import YAMLLimitError, composed

Loc = tuple[str | int, ...]
"""Where a part is: the keys and list indexes that lead to it, as pydantic gives them."""
SET = "--set"
"""The file of a part that an override put in."""
AS_WRITTEN = "where"
"""Below this key a value is text as it is written: 01 is no number, and yes is not true."""
_MAP, _SEQ, _NULL = (f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "null"))
_PLAIN_KEY = re.compile(r"[\w{}+-]+")
_BRACES = 'put text that holds braces in quotes: path: "runs/{model}.txt"'
_HINTS = (
    ("", r" *", r"\t", "indent with spaces, not with tabs"),
    ("", "", r"\t", "put a space there"),
    ("tag|alias|anchor|block sc", "", "", "put text that begins with ! * & | or > in quotes"),
    ("start any token", "", "[@`%]", "put text that begins with @ ` or % in quotes"),
    ("quoted scalar; .*unexpected", "", "", "close the quote"),
    ("quoted scalar; .*escape", "", "", r"write \\ for a backslash, or use single quotes"),
    ("<block end>", r"[ -]*", "", "begin all keys, and all '- ', of one block in one column"),
    ("", r".*\{\w*\}", "", _BRACES),
    ("", "", r"\{\w+\}", _BRACES),
    ("flow ", "", "", "close each bracket, put text that holds ': ' in quotes, and a comma "
     "between two entries"),
    ("<block end>.*'[]}]'", "", "", "take it out, or open it with the bracket that it closes"),
    ("<block end>", "", "", "close the quotes here, or on a line above"),
    ("mapping values", r".*: .*", "", "put text that holds ': ' in quotes"),
    ("mapping values", "", "", "write 'key: value' in this line and the one above, and "
     "indent both alike"),
    ("expected ':'", "", "", "write 'key: value', with a space after ':' and after '-'"),
    ("sequence entries", "", "", "put every '- ' on its own line, or write [map, ndcg@10]"),
    ("another document", "", "", "leave out the line ---"),
)  # fmt: skip
"""Patterns of PyYAML's context and problem, of the line before its mark, and from it on; a fix."""


@dataclass(frozen=True)
class PlacedProblem(Problem):
    """A problem with a part of a config; `file` is empty for the config itself."""

    loc: Loc = ()
    line: int = 0
    file: str = ""


@dataclass
class Source:
    """A YAML text as plain data (keys are text, as written), and where each part is written.

    `places` has the file and line of each key and list item; the file is empty for the config
    itself, else one that it extends, or :data:`SET`. Parts with `problems` are `unread`: missing
    in `data`, or incomplete. `origins` has the places of metrics that a set of metrics holds.
    """

    where: str
    data: dict[str, Any]
    places: dict[Loc, tuple[str, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unread: set[Loc] = field(default_factory=set)
    origins: dict[Loc, Loc] = field(default_factory=dict)

    def place(self, loc: Loc) -> tuple[str, int]:
        """Return file and line of the nearest part around `loc` that has them."""
        near = (loc[:n] for n in range(len(loc), -1, -1))
        return next((self.places[one] for one in near if one in self.places), ("", 0))

    def problem(self, loc: Loc, what: str, found: str = "", fix: str = "") -> Problem:
        """Return a problem at `loc`, named ``$.runs.bm25.path (line 5)``."""
        loc = self.origins.get(loc, loc)
        file, line = self.place(loc)
        parts = [part for part in (file, f"line {line}" if line else "") if part]
        text = show(loc) + (f" ({', '.join(parts)})" if parts else "")
        return PlacedProblem(text, what, found, fix, loc=loc, line=line, file=file)

    def reject(self, loc: Loc, what: str, fix: str = "") -> Any:
        """Note a part that could not be read; its value is None."""
        self.unread.add(loc)
        self.problems.append(self.problem(loc, what, fix=fix))
        return None


def show(loc: Loc) -> str:
    """Return a location as text.

    >>> show(("runs", "bm25", 2, "path")), show(("runs", "a.b"))
    ('$.runs.bm25[2].path', "$.runs['a.b']")
    """
    return "$" + "".join(
        f".{part}" if isinstance(part, str) and _PLAIN_KEY.fullmatch(part) else f"[{part!r}]"
        for part in loc
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
    if isinstance(value, (Mapping, Sequence)):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    return f"the number {value}"


def parse_yaml(text: str, where: str, file: str = "") -> Source:
    """Return the data of a YAML text that holds a mapping; a tag as ``!!python/object`` is refused.

    `file` is its name next to a line, if it is a file that the config extends. Raises ConfigError
    if the text is no YAML mapping.
    """
    try:
        loader, node = composed(text)
    except yaml.YAMLError as error:
        raise ConfigError(syntax_problem(error, text), where=where) from error
    if node is None:
        fix = "name datasets, runs and metrics"
        raise ConfigError(Problem("", "the file is empty", fix=fix), where=where)
    source = Source(where, {})
    data = _value(loader, source, file, node, (), ())
    if not isinstance(data, dict):
        what = f"expected a mapping (key: value), got {describe(data)}"
        raise ConfigError(source.problems or Problem("line 1", what), where=where)
    source.data = data
    return source


def _value(
    loader: Any, source: Source, file: str, node: yaml.Node, loc: Loc, above: tuple[yaml.Node, ...]
) -> Any:
    """Return the value of a node, and note the lines of all its parts."""

    def part(at: yaml.Node, child: yaml.Node, key: str | int) -> Any:
        here = (*loc, key)
        source.places[here] = file, at.start_mark.line + 1
        return _value(loader, source, file, child, here, (*above, node))

    if node in above:
        return source.reject(loc, "refers to itself")
    if isinstance(node, yaml.SequenceNode) and node.tag == _SEQ:
        return [part(item, item, place) for place, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
        _check_keys(source, file, node, loc)
        try:
            loader.flatten_mapping(node)
        except yaml.YAMLError as error:
            source.places.setdefault(loc, (file, node.start_mark.line + 1))
            source.reject(loc, str(getattr(error, "problem", error)))
        pairs = [(key, item) for key, item in node.value if isinstance(key, yaml.ScalarNode)]
        return {key.value: part(key, item, key.value) for key, item in pairs}
    if not isinstance(node, yaml.ScalarNode):
        return source.reject(loc, f"the tag {node.tag} is not allowed here")
    if node.tag.startswith("!"):
        tag = node.tag.rstrip(",")
        source.reject(loc, f"{tag} is a tag to YAML, not text", f'quote it: "{tag}"')
        return tag
    if len(loc) > 1 and loc[0] == AS_WRITTEN and node.tag != _NULL:
        return node.value
    try:
        return loader.construct_object(node)
    except (yaml.YAMLError, ValueError) as error:
        return source.reject(loc, getattr(error, "problem", None) or str(error))


def _check_keys(source: Source, file: str, node: yaml.MappingNode, loc: Loc) -> None:
    """Note keys that are not text, and keys that occur twice."""
    lines: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            source.places[loc] = file, line
            fix = 'put a name with braces in quotes: "{name}":'
            source.reject(loc, "expected text as a key", fix)
        elif key.value in lines and key.value != "<<":
            here = (*loc, key.value)
            source.places[here] = file, line
            what = f"the key '{key.value}' occurs twice, first at line {lines[key.value]}"
            source.problems.append(source.problem(here, what, fix="keep one of them"))
        else:
            lines[key.value] = line


def syntax_problem(error: yaml.YAMLError, text: str) -> Problem:
    """Return the place at which a YAML text breaks, PyYAML's words for it, and a fix.

    >>> try:
    ...     yaml.safe_load("metrics:\\n\\t- map")
    ... except yaml.YAMLError as error:
    ...     print(syntax_problem(error, "metrics:\\n\\t- map"))
    line 2, column 1: not valid YAML: found character '\\t' that cannot start any token
      found: - map
      fix:   indent with spaces, not with tabs
    """
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if mark is None:  # a character that no YAML may hold
        at = getattr(error, "position", 0)
        place = f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
        return Problem(place, f"the character {text[at : at + 1]!r} is not allowed in YAML")
    problem, context = str(error.problem), error.context or ""  # type: ignore[attr-defined]
    what, fix, content = problem, "save the file as UTF-8 YAML of plain data", ""
    if not isinstance(error, YAMLLimitError):
        what = f"not valid YAML: {problem}"
        if start is not None and context:
            what += f" ({context} that began in line {start.line + 1})"
        if start is not None and ("stream" in problem or "expected ':'" in problem):
            mark = start  # what is not closed, or the line without a colon
        content = [*text.splitlines(), ""][mark.line]
        before, after = content[: mark.column], content[mark.column :]
        fix = next(
            (
                fix
                for words, left, right, fix in _HINTS
                if re.search(words, f"{context}; {problem}")
                and (not left or re.fullmatch(left, before))
                and re.match(right, after)
            ),
            "",
        )
    place = f"line {mark.line + 1}, column {mark.column + 1}"
    return Problem(place, what, content.strip(" "), fix)
