"""YAML text -> plain data, with the line of every part, so that a problem can name its place.

A config may extend others; environment variables and overrides are put in.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

import yaml

from ..core.arguments import PathText, split_assignment
from ..core.names import COMMA, readable
from ..errors import (
    ConfigError,
    Place,
    Problem,
    UnknownNameError,
    counted,
    fix_of_name,
    shorten,
)
from ..input_files import COPY_FIRST, NOT_READ, add_inputs, url_of
from ..readers.ir_metadata import SIZE, YAMLLimitError, composed
from ..readers.source import AS_UTF8, wide
from .patterns import NothingFoundError, double_braces, matching_files

Loc = tuple[str | int, ...]
"""Place of a part: the keys and list indexes that lead to it, as in pydantic."""
SET = "--set"
"""The file of a part that an override put in."""
AS_WRITTEN = "where"
"""Below this key a value is text as it is written: 01 is not a number, and yes is not true."""
_MAP, _SEQ, _NULL = (f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "null"))
_PLAIN_KEY = re.compile(r"[\w{}+-]+")
_BRACES = 'put text with braces in quotes: path: "runs/{model}.txt"'
_QUOTED = "put text with ': ' in quotes"
_SIGNS = "put text that begins with ! * & | or > in quotes"
_RESERVED = "text begins with a character that has a meaning in YAML"
_HINTS = (
    ("", r" *", r"\t", "the line begins with a tab", "indent with spaces, not with tabs"),
    ("undefined alias", "", "", "", _SIGNS),
    ("tag|alias|anchor|block sc", "", "", _RESERVED, _SIGNS),
    ("start any token", "", "[@`%]", _RESERVED, "put text that begins with @ ` or % in quotes"),
    ("quoted scalar; .*unexpected", "", "", "the quote is not closed", "close the quote"),
    (
        "<block end>", r"[ -]*", "", "the indentation is that of no line above",
        "begin all keys, and all '- ', of one block in one column",
    ),
    ("", r".*\{\w*\}", "", "text with braces is not in quotes", _BRACES),
    ("", "", r"\{\w+\}", "text with braces is not in quotes", _BRACES),
    (
        "flow ", "", "", "this is out of place in brackets",
        f"close each bracket, {_QUOTED}, and a comma between two entries",
    ),
    (
        "<block end>.*'[]}]'", "", "", "a bracket is closed that was not opened",
        "take it out, or open it with the bracket that it closes",
    ),
    ("<block end>", "", "", "text follows a quote", "close the quotes here, or on a line above"),
    ("mapping values", r".*: .*", "", "this line has a second ': '", _QUOTED),
    (
        "mapping values", "", "", "the line above has no ':', or another indentation",
        "write 'key: value' in this line and the line above, with the same indentation",
    ),
    (
        "expected ':'", "", "", "this line has no ':'",
        "write 'key: value', with a space after ':' and after '-'",
    ),
    (
        "sequence entries", "", "", "this '- ' is inside a line",
        "put every '- ' on its own line, or write [map, ndcg@10]",
    ),
)  # fmt: skip
"""Patterns of PyYAML's context and problem, of the line before its mark, and from it on; the
message, or PyYAML's own; a fix."""

ENTRY_KEYS = {
    "path", "format", "duplicates", "order", "columns", "group", "groups", "weights", "dataset",
    "documents",
}  # fmt: skip
BY_NAME = ("datasets", "runs", "tables")
"""Mappings of named entries."""
_ENTRIES = {("datasets",), ("datasets", "groups"), ("datasets", "weights"), ("runs",)}
"""Keys of entries that may be a path alone."""
PATH_KEYS: dict[Loc, PathText] = {}
"""Keys with paths as values, without the names of entries; the models mark and add them."""
_DOLLAR = re.compile(r"\$\$|\$\{(?:[^{}]|\{[^{}]*\})*\}|\$\{")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}", re.S)
_WITH_CUTOFF = re.compile(r".+[@._]\d[\d.]*(,\d+)*")
_USAGE = "write such as --set policy.ties=stable"


@dataclass(frozen=True)
class PlacedProblem(Problem):
    """A problem with a part of a config."""

    loc: Loc = ()


@dataclass
class ParsedYaml:
    """A YAML text as plain data (keys are text, as written), with the place of each part.

    `places` has the file and line of each key and list item; the file is empty for the config
    itself, else one that it extends, or `SET`. Parts with `problems` are `unread`: missing
    in `data`, or incomplete. `origins` has the places of metrics that one text holds.
    """

    where: str
    data: dict[str, Any]
    places: dict[Loc, tuple[str, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unread: set[Loc] = field(default_factory=set)
    origins: dict[Loc, Loc] = field(default_factory=dict)

    def place(self, loc: Loc) -> tuple[str, int]:
        """Return file and line of the nearest part around `loc` that has them."""
        prefixes = (loc[:n] for n in range(len(loc), -1, -1))
        return next((self.places[part] for part in prefixes if part in self.places), ("", 0))

    def problem(self, loc: Loc, message: str, found: str = "", fix: str = "") -> Problem:
        """Return a problem at `loc`, named ``$.runs.bm25.path (line 5)``."""
        loc = self.origins.get(loc, loc)
        file, line = self.place(loc)
        key = text_of_loc(loc) if loc or line else ""
        if file.startswith("--"):
            key = f"{file} {key.removeprefix('$').removeprefix('.')}" if file == SET else file
        where = Place(line=line, key=key, base=file if line else "")
        return PlacedProblem(where, message, found, fix, loc=loc)

    def reject(self, loc: Loc, message: str, fix: str = "") -> Any:
        """Note a part that could not be read; its value is None."""
        self.unread.add(loc)
        self.problems.append(self.problem(loc, message, fix=fix))
        return None


def text_of_loc(loc: Loc) -> str:
    """Return a location as text.

    >>> text_of_loc(("runs", "bm25", 2, "path")), text_of_loc(("runs", "a.b"))
    ('$.runs.bm25[2].path', "$.runs['a.b']")
    """
    return "$" + "".join(
        f".{part}" if isinstance(part, str) and _PLAIN_KEY.fullmatch(part) else f"[{part!r}]"
        for part in loc
    )


def describe_value(value: Any) -> str:
    """Return a value in plain words.

    >>> describe_value("x"), describe_value(None), describe_value(True), describe_value([1])
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


def parse_yaml(text: str, where: str, file: str = "", start: str = "") -> ParsedYaml:
    """Return the data of a YAML text with a mapping; tags such as ``!!python/object`` are refused.

    `file` is its name next to a line, if it is a file that the config extends, and its relative
    paths start in the folder `start`. Raises ConfigError if the text is not a YAML mapping.
    """
    try:
        loader, node = composed(text)
    except yaml.YAMLError as error:
        raise ConfigError(syntax_problem(error, text), where=where) from error
    if node is None:
        fix = "name datasets, runs and metrics"
        raise ConfigError("the file is empty", fix=fix, where=where)
    source = ParsedYaml(where, {})
    data = _Parts(loader, source, file, start).value(node, ())
    if not isinstance(data, dict):
        message = f"expected a config with keys such as datasets, got {describe_value(data)}"
        fix = "for qrels and runs, use harness evaluate; harness init writes a config"
        raise ConfigError(source.problems or Problem(Place(line=1), message, fix=fix), where=where)
    source.data = data
    return source


@dataclass(frozen=True)
class _Parts:
    """Makes values of the nodes of a YAML text, and notes the place of every part."""

    loader: Any
    source: ParsedYaml
    file: str
    start: str = ""

    def value(self, node: yaml.Node, loc: Loc, above: tuple[yaml.Node, ...] = ()) -> Any:
        """Return the value of a node; entries that are a path alone are ``{path: FILE}``."""
        source = self.source
        if node in above:
            return source.reject(loc, "refers to itself")
        above = (*above, node)
        if isinstance(node, yaml.SequenceNode) and node.tag == _SEQ:
            self._note(loc, dict(enumerate(node.value)))
            return [self.value(item, (*loc, n), above) for n, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
            self._check_keys(node, loc)
            try:
                self.loader.flatten_mapping(node)
            except yaml.YAMLError as error:
                source.places.setdefault(loc, (self.file, _line_of(node)))
                source.reject(loc, str(getattr(error, "problem", error)))
            pairs = [(key, item) for key, item in node.value if isinstance(key, yaml.ScalarNode)]
            self._note(loc, {key.value: key for key, _ in pairs})
            return {key.value: self.value(item, (*loc, key.value), above) for key, item in pairs}
        if not isinstance(node, yaml.ScalarNode):
            return source.reject(loc, f"the tag {node.tag} is not allowed here")
        if node.tag.startswith("!"):
            tag = node.tag.rstrip(",")
            source.reject(loc, f"{tag} is a tag to YAML, not text", f'quote it: "{tag}"')
            return tag
        if len(loc) > 1 and loc[0] == AS_WRITTEN and node.tag != _NULL:
            return node.value
        try:
            value = self.loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            return source.reject(loc, getattr(error, "problem", None) or str(error))
        return self._text(loc, value) if isinstance(value, str) else value

    def _note(self, loc: Loc, parts: Mapping[Any, yaml.Node]) -> None:
        for key, node in parts.items():
            part = (*loc, key)
            self.source.places[part] = (
                self.file,
                0 if self.file.startswith("--") else _line_of(node),
            )

    def _check_keys(self, node: yaml.MappingNode, loc: Loc) -> None:
        """Note keys that are not text, and keys that occur twice."""
        lines: dict[str, int] = {}
        for key, _ in node.value:
            line = _line_of(key)
            if not isinstance(key, yaml.ScalarNode):
                self.source.places[loc] = self.file, line
                fix = 'put a name with braces in quotes: "{name}":'
                self.source.reject(loc, "expected text as a key", fix)
            elif key.value in lines and key.value != "<<":
                self._note(loc, {key.value: key})
                message = f"the key '{key.value}' occurs twice, first at line {lines[key.value]}"
                problem = self.source.problem((*loc, key.value), message, fix="keep one of them")
                self.source.problems.append(problem)
            else:
                lines[key.value] = line

    def _text(self, loc: Loc, text: str) -> Any:
        """Return a text; a path with variables filled in."""
        # whether a path alone may be here; not if the line belongs to an entry above it
        is_entry = len(loc) > 1 and _key_path(loc) in _ENTRIES and loc[1] not in ENTRY_KEYS
        path_loc = (*loc, "path") if is_entry else loc
        mark = PATH_KEYS.get(_key_path(path_loc))
        if mark is not None and mark.is_path(text):
            try:
                text = self._path(path_loc, text, mark)
            except LookupError as error:
                return self.source.reject(loc, *error.args)
        return {"path": text} if is_entry else text

    def _path(self, loc: Loc, text: str, mark: PathText) -> str:
        """Return a path with variables filled in, from the folder of the config."""
        keep = double_braces if mark.placeholders else str
        if "\0" in text:
            raise LookupError("contains the character \\0, which no path may", "take it out")
        path = _DOLLAR.sub(lambda match: _value_of_variable(match, text, keep), text)
        if url := url_of(path):
            if not mark.anywhere:
                raise LookupError(f"{NOT_READ}: {url}", COPY_FIRST)
            return url
        is_relative = not PurePath(path).is_absolute() and loc != ("extends",)
        if self.start and is_relative and (loc, path) != (("cache",), "none"):
            return f"{keep(self.start).rstrip('/')}/{path}"
        return path


def _line_of(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _value_of_variable(match: re.Match[str], text: str, keep: Callable[[str], str]) -> str:
    """Return the value of ``${NAME}`` or ``$$``; LookupError with the mistake and a fix."""
    if match[0] == "$$":
        return "$"
    variable = _VARIABLE.fullmatch(match[0])
    if variable is None:
        fix = "write ${NAME} or ${NAME:-default}; $$ is a dollar sign"
        message = f"expected an environment variable, got '{match[0]}' in '{text}'"
        raise LookupError(message, fix)
    name, default = variable.groups()
    if os.environ.get(name):
        return keep(os.environ[name])
    if default is None:
        fix = f"set it, or give a default: ${{{name}:-../data}}"
        raise LookupError(f"the environment variable {name} is not set or empty", fix)
    return str(default)


def _key_path(loc: Loc) -> Loc:
    """Return a place without the names of entries and the indexes of lists."""
    named = loc[:1] + loc[2:] if loc[:1] and loc[0] in BY_NAME else loc
    return tuple(key for key in named if isinstance(key, str))


def escape_paths(value: Any, loc: Loc = ()) -> Any:
    """Return plain data with the dollar signs of paths written so that they are read the same."""
    if isinstance(value, dict):
        return {key: escape_paths(item, (*loc, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [escape_paths(item, (*loc, place)) for place, item in enumerate(value)]
    mark = PATH_KEYS.get(_key_path(loc)) if isinstance(value, str) else None
    is_path = mark is not None and mark.is_path(value)
    return re.sub(r"\$(?=[${])", "$$", value) if is_path else value


_KEY = re.compile(r"([ -]*)([^\s#'\"][^#:]*|'[^']*'|\"[^\"]*\"):(?:\s|$)")


def syntax_problem(error: yaml.YAMLError, text: str) -> Problem:
    """Return the place at which a YAML text breaks, a message, and a fix."""
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if mark is None or not isinstance(error, yaml.MarkedYAMLError):
        position = getattr(error, "position", 0)
        column = position - text.rfind("\n", 0, position)
        place = Place(line=text.count("\n", 0, position) + 1, column=column)
        return Problem(
            place, f"the character {text[position : position + 1]!r} is not allowed in YAML"
        )
    problem, context = str(error.problem), error.context or ""
    message, fix, content = problem, "save the file as UTF-8 YAML of plain data", ""
    if not isinstance(error, YAMLLimitError):
        if start is not None and ("stream" in problem or "expected ':'" in problem):
            mark = start  # what is not closed, or the line without a colon
        content = [*text.splitlines(), ""][mark.line]
        before, after = content[: mark.column], content[mark.column :]
        described = f"{context}; {problem}"
        hints = (hint for hint in _HINTS if re.search(hint[0], described))
        hints = (hint for hint in hints if not hint[1] or re.fullmatch(hint[1], before))
        hints = (hint for hint in hints if re.match(hint[2], after))
        message, fix = next((hint[3:] for hint in hints), ("", ""))
        message = message or f"not valid YAML: {problem}"
        if "values are not allowed" in problem:
            above = [line.strip() for line in text.splitlines()[: mark.line]]
            keys_above = [line for line in above if line and line[0] not in "-#"]
            if keys_above and ":" not in keys_above[-1]:
                name = keys_above[-1].split()[0]
                message, fix = f"no ':' after '{name}'", f"write '{name}:'"
        if start is not None and start.line < mark.line and "flow " in context:
            opened = "[" if "sequence" in context else "{"
            message += f" (the '{opened}' is in line {start.line + 1})"
        own = _KEY.match(content)
        is_begun = "'<block mapping start>'" in problem and not before.strip()
        # a line that looks like a part of the value above it
        is_begun |= (
            own is not None and "values are not allowed" in problem and own.end(2) == mark.column
        )
        if own is not None and is_begun:
            indent, lines = own.end(1), text.splitlines()[: mark.line]
            keys = [key for key in map(_KEY.match, lines) if key and key.end(1) != indent]
            if keys:
                near = min(keys[::-1], key=lambda key: (abs(key.end(1) - indent), key.end(1)))
                name, spaces = own[2], counted(indent, "space")
                message = f"'{name}' is indented by {spaces}, '{near[2]}' by {near.end(1)}"
                is_inner = any(key.end(1) < near.end(1) for key in keys[: keys.index(near)])
                fix = "write both at the start of their lines"
                if is_inner:
                    fix = f"indent both by {counted(near.end(1), 'space')}"
    place = Place(line=mark.line + 1, column=mark.column + 1)
    return Problem(place, message, content.strip(" "), fix)


def read_layers(text: str, where: str, base: Path, overrides: Iterable[str]) -> ParsedYaml:
    """Return the data of a config on top of those that it extends, with overrides put in.

    Mappings are merged key by key, everything else is replaced, and ``null`` takes a key out.
    A config's name is its own. Paths start at the folder of the file in which they are written.
    Raises ConfigError if a text is not a YAML mapping, cannot be read, or extends itself.
    """
    name, source = PurePath(where).name, parse_yaml(text, where)
    if isinstance(source.data.get("extends"), str):
        source = _with_base(source, base, [((base / name).resolve(), name)], where)
    override_values(source, overrides)
    split_metrics(source)
    return source


def text_of(path: Path) -> str:
    """Return the text of a config; ConfigError if it cannot be read."""
    fix = near = ""
    add_inputs(path)
    if url := url_of(path):
        raise ConfigError(NOT_READ, fix=COPY_FIRST, rule="missing-file", where=url)
    try:
        matching_files(path.parent, double_braces(path.name))
        if path.stat().st_size <= 4 * SIZE:  # UTF-8 has at most 4 bytes a character
            data = path.read_bytes()
            return data.decode("utf-8-sig")
        message = f"is longer than {SIZE:,} characters"
    except NothingFoundError as error:
        message, near = str(error), error.near
    except UnicodeDecodeError as error:
        message, fix = wide(data) or f"byte {error.start} is not UTF-8", AS_UTF8
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
    rule, where = "" if path.exists() else "missing-file", str(path)
    if rule or path.is_dir():
        folder = f" {shlex.quote(where)}" if path.is_dir() else ""
        fix = f"give a config; harness init{folder} writes one"
        fix = f"use {path.with_name(near)}" if near else fix
        if configs := sorted(path.glob("*.yaml")):
            fix = f"give one of its configs, such as {configs[0]}"
        where = ""  # the message names it
    if (path / "manifest.json").exists():
        message, where = "expected a config, got a results folder", str(path)
        fix = f"give their config; to see the results: harness page {shlex.quote(str(path))}"
    raise ConfigError(message, fix=fix, rule=rule, where=where)


def _with_base(
    source: ParsedYaml, folder: Path, chain: list[tuple[Path, str]], where: str, start: str = ""
) -> ParsedYaml:
    """Return a config on top of the one that it extends; `start` leads to its folder."""
    extends = source.data["extends"]
    path = folder / extends
    name = PurePath(os.path.normpath(PurePath(chain[-1][1]).parent / extends)).as_posix()
    above = [file for file, _ in chain]
    if path.resolve() in above:
        names = [file for _, file in chain[above.index(path.resolve()) :]]
        message = f"extends itself: {' -> '.join([*names, name])}"
        raise ConfigError(source.problem(("extends",), message), where=where)
    try:
        text = text_of(path)
    except ConfigError as error:
        (problem_of_base,) = error.problems
        problem = source.problem(("extends",), problem_of_base.what, fix=problem_of_base.fix)
        raise ConfigError(problem, where=where) from error
    if (step := os.path.dirname(extends)) not in ("", "."):
        start = os.path.join(start, step)
    base = parse_yaml(text, str(path), name, start)
    if isinstance(base.data.get("extends"), str):
        chain = [*chain, (path.resolve(), name)]
        base = _with_base(base, path.parent, chain, where, start)
    return merge_configs(base, source)


def merge_configs(base: ParsedYaml, over: ParsedYaml) -> ParsedYaml:
    """Return `over` on top of `base`; each part keeps its file and line."""
    problems, places = [*base.problems, *over.problems], dict(base.places)

    def merged(below: dict[str, Any], above: dict[str, Any], loc: Loc) -> dict[str, Any]:
        data = dict(below)
        for key, value in above.items():
            part = (*loc, key)
            if isinstance(value, dict) and isinstance(below.get(key), dict):
                data[key] = merged(below[key], value, part)
                continue
            _forget_places(places, part)
            data[key] = value
            if value is None and key in below and part not in over.unread:
                del data[key]
        return data

    below = {key: value for key, value in base.data.items() if key not in ("name", "extends")}
    data = merged(below, over.data, ())
    places |= over.places
    return ParsedYaml(over.where, data, places, problems, base.unread | over.unread)


def _forget_places(places: dict[Loc, tuple[str, int]], loc: Loc) -> None:
    for part in [place for place in places if place[: len(loc)] == loc]:
        del places[part]


def override_values(source: ParsedYaml, overrides: Iterable[str]) -> None:
    """Put values in place of a config's own: ``policy.ties=stable``, ``plots[1].width=page``.

    The value is read as YAML; ``null`` takes a key out. With two dashes, ``--sort=map``, the
    place of the value is this option of a command.
    """
    for assignment in overrides:
        try:
            _put_value(source, assignment)
        except UnknownNameError as error:
            where = assignment if assignment.startswith("--") else f"{SET} {assignment}"
            source.problems += [replace(problem, where=where) for problem in error.problems]


def _put_value(source: ParsedYaml, text: str) -> None:
    """Put one ``path=value`` into a config; UnknownNameError if it is wrong."""
    option = text.partition("=")[0] if text.startswith("--") else SET
    path, value = _split_assignment(text.removeprefix("--"), source.data)
    path = path.strip().removeprefix("$").removeprefix(".")
    parts = [part for part in re.split(r"\.|(\[\d+\])", path) if part]
    if "=" not in text or not parts:
        raise UnknownNameError("expected KEY=VALUE", fix=_USAGE)
    if path == "extends":
        fix = "give the other config, or edit the file"
        raise UnknownNameError("expected in the file only", fix=fix)
    try:
        loader, node = composed(value)
    except yaml.YAMLError as error:
        problem = syntax_problem(error, value)
        message = f"cannot read the value: {problem.what}"
        raise UnknownNameError(message, fix=problem.fix) from None
    loc: Loc = ()
    holder: Any = source.data
    while True:
        part = _next_key(holder, parts, loc)
        loc = (*loc, part)
        exists = isinstance(holder, list) or part in holder
        if not parts:
            break
        if not exists and len(loc) > 1:
            fix = fix_of_name(str(part), holder)
            raise UnknownNameError(f"unknown key '{part}'", fix=fix)
        holder = holder[part] if exists else holder.setdefault(part, {})
    _forget_places(source.places, loc)
    for n in range(1, len(loc)):
        source.places.setdefault(loc[:n], (option, 0))
    source.places[loc] = option, 0
    if loc[0] == AS_WRITTEN and value.strip().startswith("!"):  # the shell took off its quotes
        holder[part] = value.strip()
        return
    holder[part] = None if node is None else _Parts(loader, source, option).value(node, loc)
    if holder[part] is None and isinstance(holder, dict) and exists and loc not in source.unread:
        del holder[part]


def _split_assignment(text: str, data: Any) -> tuple[str, str]:
    """Return the path and the value of ``path=value``; a key of the path may have a sign, too."""
    start, _, _ = text.partition("=")
    if re.fullmatch(r"\s*(\$\.?)?(tables\.[^.]+\.)?names\..+", start):  # of runs and datasets
        holder = start[: start.index("names.") + len("names.")]
        sections = data if isinstance(data, dict) else {}
        named = [*(sections.get("runs") or ()), *(sections.get("datasets") or ())]
        return split_assignment(text, {f"{holder}{name}" for name in named}, last=True)
    known: list[str] = []
    if text.count("=") > 1:
        known = sorted((path for path in _paths(data) if text.startswith(path)), key=len)
    begin = known[-1] if known else ""
    end, _, value = text.removeprefix(begin).partition("=")
    return begin + end, value


def _paths(data: Any) -> Iterator[str]:
    """Yield the paths of keys that have an equal sign, and of their parts."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if "=" in str(key):
            yield str(key)
        yield from (f"{key}.{path}" for path in _paths(value))


def _next_key(holder: Any, parts: list[str], loc: Loc) -> str | int:
    """Take the first of `parts` as an index of a list, or as many as are one key of a mapping."""
    if isinstance(holder, list):
        digits = parts.pop(0).strip("[]")
        if not re.fullmatch("[0-9]{1,9}", digits) or int(digits) >= len(holder):
            message = f"is a list of {len(holder)}; it has no item '{digits}'"
            fix = "count the items from 0"
            raise UnknownNameError(f"{text_of_loc(loc)} {message}", fix=fix)
        return int(digits)
    if not isinstance(holder, dict):
        message = f"is {describe_value(holder)} and has no '{parts[0]}'"
        fix = f"replace all of it: {text_of_loc(loc)}=VALUE"
        raise UnknownNameError(f"{text_of_loc(loc)} {message}", fix=fix)
    lengths = (n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in holder)
    n = next(lengths, len(parts) if loc[-1:] == ("names",) else 1)  # a name may hold dots
    key = ".".join(parts[:n])
    del parts[:n]
    return key


def split_metrics(source: ParsedYaml) -> None:
    """Split lists of metrics at commas; each metric has the place of its item."""
    for loc, holder in _metric_lists(source.data):
        parts = _split_metrics(holder[loc[-1]])
        holder[loc[-1]] = [part for part, _ in parts]
        source.origins |= {(*loc, n): (*loc, place) for n, (_, place) in enumerate(parts)}


def _split_metrics(metrics: list[Any] | str) -> list[tuple[Any, int]]:
    """Return each metric, and the item that it is in. To YAML, [ndcg@5,10] is two items."""
    parts: list[tuple[Any, int]] = []
    for place, item in enumerate([metrics] if isinstance(metrics, str) else metrics):
        several = isinstance(item, str) and "," in item and not readable(item)
        for part in COMMA.split(item) if several else [item]:
            before, item_place = parts[-1] if parts else ("", 0)
            if str(part).isdecimal() and _WITH_CUTOFF.fullmatch(str(before)):
                parts[-1] = f"{before},{part}", item_place
            else:
                parts.append((part, place))
    return parts


def _metric_lists(data: dict[str, Any]) -> list[tuple[Loc, dict[Any, Any]]]:
    """Return the place of each list of metrics, or of text with several, and its parent."""
    tables, plots = data.get("tables"), data.get("plots")
    holders: list[tuple[Loc, Any]] = [(("metrics",), data)]
    holders += [(("compare", "metrics"), data.get("compare"))]
    if isinstance(tables, dict):
        holders += [(("tables", name, "metrics"), table) for name, table in tables.items()]
    if isinstance(plots, list):
        holders += [(("plots", place, "metrics"), plot) for place, plot in enumerate(plots)]
    return [
        (loc, holder)
        for loc, holder in holders
        if isinstance(holder, dict)
        and isinstance(metrics := holder.get(loc[-1]), (list, str))
        and metrics[:1] != "-"  # a list gone wrong
    ]
