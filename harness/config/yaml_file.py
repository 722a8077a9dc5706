"""YAML text -> plain data, with the line of every part, so that a problem can name its place.

A config may extend others; environment variables, overrides and metric sets are put in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import yaml

from ..core.names import parse
from ..errors import ConfigError, Problem, UnknownNameError, did_you_mean, near_names, shorten
from ..readers.ir_metadata import SIZE, YAMLLimitError, composed
from ..readers.source import AS_UTF8, wide
from .patterns import NothingFoundError, doubled, files

Loc = tuple[str | int, ...]
"""Place of a part: the keys and list indexes that lead to it, as in pydantic."""
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

ENTRY_KEYS = ("path", "format", "duplicates", "columns", "group", "groups", "dataset")
BY_NAME = ("datasets", "runs", "where", "metric_sets", "tables")
"""Mappings of named entries; taking out one that does not exist is an error."""
_DOLLAR = re.compile(r"\$\$|\$\{(?:[^{}]|\{[^{}]*\})*\}|\$\{")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}", re.S)
_OUTSIDE = re.compile(r",\s*(?![^()]*\))")
"""A comma outside of parentheses."""
_WITH_CUTOFF = re.compile(r".+[@._]\d[\d.]*(,\d+)*")
_USAGE = "write KEY=VALUE, as in policy.ties=stable"


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
        fix = "for qrels and runs, use harness evaluate; harness init writes a config"
        raise ConfigError(source.problems or Problem("line 1", what, fix=fix), where=where)
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


def read(text: str, where: str, base: Path, overrides: Iterable[str] = ()) -> Source:
    """Return the data of a config on top of those that it extends, with overrides put in.

    Mappings are merged key by key, everything else is replaced, and ``null`` takes a key out.
    A config's name is its own. Paths start at the folder of the file in which they are written.
    Raises ConfigError if a text is no YAML mapping, cannot be read, or extends itself.
    """
    own = PurePath(where).name
    source = parse_yaml(text, where)
    expand(source)
    source = _extended(source, base, [((base / own).resolve(), own)], where)
    if overrides:
        override(source, overrides)
        expand(source, SET)
    expand_sets(source)
    return source


def text_of(path: Path) -> str:
    """Return the text of a config; ConfigError if it cannot be read."""
    fix = ""
    try:
        files(path.parent, doubled(path.name))
        if path.stat().st_size <= 4 * SIZE:  # UTF-8 has at most 4 bytes a character
            data = path.read_bytes()
            return data.decode("utf-8-sig")
        what = f"is longer than {SIZE:,} characters"
    except NothingFoundError as error:
        what = str(error)
    except UnicodeDecodeError as error:
        what, fix = wide(data) or f"byte {error.start} is not UTF-8", AS_UTF8
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
    rule = "" if path.exists() else "missing-file"
    if rule or path.is_dir():
        fix = "give the name of a config; harness init writes one"
    raise ConfigError(Problem("", what, fix=fix, rule=rule), where=str(path))


def _extended(source: Source, folder: Path, chain: list[tuple[Path, str]], where: str) -> Source:
    """Return a config on top of the one that it extends; `chain` has those on top of it."""
    extends = source.data.get("extends")
    if not isinstance(extends, str):
        return source
    path = folder / extends
    name = PurePath(os.path.normpath(PurePath(chain[-1][1]).parent / extends)).as_posix()
    above = [file for file, _ in chain]
    if path.resolve() in above:
        names = [one for _, one in chain[above.index(path.resolve()) :]]
        what = f"extends itself: {' -> '.join([*names, name])}"
        raise ConfigError(source.problem(("extends",), what), where=where)
    try:
        text = text_of(path)
    except ConfigError as error:
        (own,) = error.problems
        problem = source.problem(("extends",), own.what, fix=own.fix)
        raise ConfigError(problem, where=where) from error
    base = parse_yaml(text, str(path), name)
    expand(base)
    base = _extended(base, path.parent, [*chain, (path.resolve(), name)], where)
    for one in _paths(base.data):
        one.start_in(os.path.dirname(extends))
    return merge(base, source, name)


def merge(base: Source, over: Source, name: str) -> Source:
    """Return `over` on top of `base`, a file called `name`; each part keeps its file and line."""
    problems, places = [*base.problems, *over.problems], dict(base.places)

    def merged(below: dict[str, Any], above: dict[str, Any], loc: Loc) -> dict[str, Any]:
        found = dict(below)
        for key, value in above.items():
            here = (*loc, key)
            if isinstance(value, dict) and isinstance(below.get(key), dict):
                found[key] = merged(below[key], value, here)
                continue
            _forget(places, here)
            found[key] = value
            if value is None and here not in over.unread:
                if key in below:
                    del found[key]
                elif loc and loc[0] in BY_NAME and len(loc) == 1:
                    what = f"{name} has no '{key}' to remove{did_you_mean(key, below)}"
                    problems.append(over.problem(here, what))
                    del found[key]
        return found

    below = {key: value for key, value in base.data.items() if key not in ("name", "extends")}
    data = merged(below, over.data, ())
    return Source(over.where, data, {**places, **over.places}, problems, base.unread | over.unread)


def _forget(places: dict[Loc, tuple[str, int]], loc: Loc) -> None:
    """Remove the places of a part that is replaced."""
    for other in [one for one in places if one[: len(loc)] == loc]:
        del places[other]


def override(source: Source, overrides: Iterable[str]) -> None:
    """Put values in place of a config's own: ``policy.ties=stable``, ``plots[1].width=page``.

    The value is read as YAML; ``null`` takes a key out.
    """
    for one in overrides:
        try:
            loc = _put(source.data, one)
        except ValueError as error:
            source.problems.append(Problem(f"--set {one}", str(error)))
            continue
        _forget(source.places, loc)
        for n in range(1, len(loc)):
            source.places.setdefault(loc[:n], (SET, 0))
        source.places[loc] = SET, 0


def _put(data: dict[str, Any], text: str) -> Loc:
    """Put one ``path=value`` into `data`; return its location. ValueError says what is wrong."""
    path, _, value_text = text.partition("=")
    path = path.strip().removeprefix("$").removeprefix(".")
    parts = [part for part in re.split(r"\.|(\[\d+\])", path) if part]
    if "=" not in text or not parts:
        raise ValueError(_USAGE)
    if path == "extends":
        raise ValueError("expected in the file only; give the other config, or edit the file")
    value = _override_value(path, value_text)
    loc: Loc = ()
    at: Any = data
    while True:
        part = _step(at, parts, loc)
        loc = (*loc, part)
        exists = isinstance(at, list) or part in at
        if not parts:
            break
        if not exists and len(loc) > 1:
            near, known = did_you_mean(str(part), at), near_names(str(part), at)
            raise ValueError(f"there is no {show(loc)}{near}  (there are: {known})")
        at = at[part] if exists else at.setdefault(part, {})
    if value is None and isinstance(at, dict) and exists:
        del at[part]
    elif value is None and len(loc) == 2 and loc[0] in BY_NAME:
        raise ValueError(f"there is no {show(loc)} to take out{did_you_mean(str(part), at)}")
    else:
        at[part] = value
    return loc


def _step(at: Any, parts: list[str], loc: Loc) -> str | int:
    """Take the first of `parts` as an index of a list, or as many as are one key of a mapping."""
    if isinstance(at, list):
        digits = parts.pop(0).strip("[]")
        if not re.fullmatch("[0-9]{1,9}", digits) or int(digits) >= len(at):
            raise ValueError(f"{show(loc)} is a list of {len(at)}; it has no item '{digits}'")
        return int(digits)
    if not isinstance(at, dict):
        raise ValueError(f"{show(loc)} is {describe(at)} and has no '{parts[0]}'")
    whole = (n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in at)
    n = next(whole, 1)  # a name may hold dots
    key = ".".join(parts[:n])
    del parts[:n]
    return key


def _override_value(path: str, text: str) -> Any:
    """Return the value of an override as it would be read at its place."""
    below = re.match(rf"{AS_WRITTEN}[.\[]", path)
    if below and text.strip().startswith("!"):  # the shell took off its quotes
        return text.strip()
    top = path if path == AS_WRITTEN else AS_WRITTEN if below else "value"
    try:
        source = parse_yaml(f"{top}:\n  value: {text}" if below else f"{top}: {text}", "")
        if source.problems:
            raise ConfigError(source.problems)
    except ConfigError as error:
        parts = error.problems[0].what, error.problems[0].fix
        raise ValueError(f"cannot read the value: {'; '.join(filter(None, parts))}") from None
    value = source.data[top]
    return value["value"] if below else value


class _Path(NamedTuple):
    """A path in a config; `is_pattern` says whether it has placeholders, and doubled braces."""

    loc: Loc
    holder: Any
    key: Any
    is_pattern: bool

    @property
    def text(self) -> str:
        return str(self.holder[self.key])

    def start_in(self, folder: str) -> None:
        """Let a relative path start one step higher: `folder` leads to where it started."""
        text, is_none = self.text, (self.key, self.text) == ("cache", "none")
        if folder not in ("", ".") and not PurePath(text).is_absolute() and not is_none:
            start = doubled(folder) if self.is_pattern else folder
            self.holder[self.key] = f"{start.rstrip('/')}/{text}"


def _paths(data: Mapping[str, Any]) -> list[_Path]:
    """Return the paths of a config; parts of a wrong type are skipped."""
    holders: list[tuple[Loc, Any, tuple[str, ...], bool]] = [
        ((), data, ("extends", "output", "cache"), False)
    ]
    if isinstance(page := data.get("page"), dict):
        holders.append((("page",), page, ("documents", "queries"), False))
        holders.append((("page", "metadata"), page.get("metadata"), ("path",), False))
    for section, keys in (("datasets", ("path", "group")), ("runs", ("path",))):
        entries = data.get(section)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if isinstance(entry, list):
                holders += [((section, name, at), one, keys, True) for at, one in enumerate(entry)]
            else:
                holders.append(((section, name), entry, keys, True))
                groups = entry.get("groups") if isinstance(entry, dict) else None
                holders.append(((section, name, "groups"), groups, ("path",), True))
    found = [
        _Path((*loc, key), holder, key, is_pattern)
        for loc, holder, keys, is_pattern in holders
        if isinstance(holder, dict)
        for key in keys
        if isinstance(holder.get(key), str) and holder[key]
    ]
    plugins = data.get("plugins")
    for at, name in enumerate(plugins if isinstance(plugins, list) else ()):
        if isinstance(name, str) and (name.endswith(".py") or "/" in name):
            found.append(_Path(("plugins", at), plugins, at, False))
    return found


def expand(source: Source, file: str | None = None) -> None:
    """Put the values of environment variables into the paths of a config.

    ``${NAME}`` is the variable's value, ``${NAME:-default}`` the default if it is not set or
    empty, and ``$$`` a dollar sign. A path with a variable that is not set is taken out. With
    `file`, only parts that this file wrote are expanded, such as those of ``--set``.
    """
    _name_paths(source.data)
    for path in _paths(source.data):
        if file is not None and source.place(path.loc)[0] != file:
            continue
        try:
            path.holder[path.key] = _expanded(path)
        except LookupError as error:
            source.reject(path.loc, *error.args)
            if isinstance(path.holder, dict):
                del path.holder[path.key]


def _name_paths(data: Mapping[str, Any]) -> None:
    """Put {path: FILE} in place of a dataset or run, or one of a list, that is a path alone.

    A name that is a key of an entry is left: the line belongs to an entry without a name.
    """
    for section in ("datasets", "runs"):
        entries = data.get(section)
        if not isinstance(entries, dict):
            continue
        for name, entry in entries.items():
            if isinstance(entry, dict) and isinstance(entry.get("groups"), str):
                entry["groups"] = {"path": entry["groups"]}
            if isinstance(entry, str) and name not in ENTRY_KEYS:
                entries[name] = {"path": entry}
            elif isinstance(entry, list) and section == "runs":
                entries[name] = [{"path": one} if isinstance(one, str) else one for one in entry]


def _expanded(path: _Path) -> str:
    """Return a path with variables filled in; LookupError with what is wrong and a fix."""

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        variable = _VARIABLE.fullmatch(match[0])
        if variable is None:
            fix = "write ${NAME} or ${NAME:-default}; $$ is a dollar sign"
            what = f"expected an environment variable, got '{match[0]}' in '{path.text}'"
            raise LookupError(what, fix)
        name, default = variable.groups()
        if os.environ.get(name):
            return doubled(os.environ[name]) if path.is_pattern else os.environ[name]
        if default is None:
            fix = f"set it, or give a default: ${{{name}:-../data}}"
            raise LookupError(f"the environment variable {name} is not set or empty", fix)
        return str(default)

    if "\0" in path.text:
        raise LookupError("holds the character \\0, which no path may", "take it out")
    return _DOLLAR.sub(value, path.text)


def escape(data: Mapping[str, Any]) -> None:
    """Write the dollar signs of paths so that :func:`expand` gives the same paths again."""
    for path in _paths(data):
        path.holder[path.key] = re.sub(r"\$(?=[${])", "$$", path.text)


def expand_sets(source: Source) -> None:
    """Put the metrics of a set wherever a list of metrics has its name."""
    for loc, holder in _metric_lists(source.data):
        _join_cutoffs(source, loc, holder)
    for name in metric_sets(source.data):
        _join_cutoffs(source, ("metric_sets", name), source.data["metric_sets"])
    sets = metric_sets(source.data)
    for loc, holder in _metric_lists(source.data):
        listed = holder["metrics"]
        names = [listed] if isinstance(listed, str) else listed
        if loc == ("metrics",) and not str(listed).startswith("-"):  # else it is a list gone wrong
            holder["metrics"] = names
        if not isinstance(names, list) or not any(_is_set(name, sets) for name in names):
            continue
        metrics: list[Any] = []
        before = dict(source.origins)
        for place, name in enumerate(names):
            here = loc if isinstance(listed, str) else (*loc, place)
            for metric, there in _metrics_of(name, here, sets):
                place_of_metric: Loc = (*loc, len(metrics))
                at = there if loc == ("metrics",) else here
                source.origins[place_of_metric] = before.get(at, at)
                metrics.append(metric)
        holder["metrics"] = metrics
    for name in sets:
        if circle := _circle(name, sets, (name,)):
            what = f"the set contains itself: {' -> '.join(circle)}"
            source.problems.append(source.problem(("metric_sets", name), what))


def _join_cutoffs(source: Source, loc: Loc, holder: dict[str, Any]) -> None:
    """Make a list of metrics of what commas separate, in YAML too: ndcg@5,10 is one entry.

    In brackets YAML reads ``[map, ndcg@5,10]`` as three items, and ``{metrics: ndcg@5,10}`` as
    the keys ``metrics`` and ``10``.
    """
    key = str(loc[-1])
    listed = holder[key]
    rest = [one for one in holder if key == "metrics" and holder[one] is None and _is_listed(one)]
    if isinstance(listed, str) and rest:
        listed = [listed, *(one for one in rest if holder.pop(one) is None)]
    elif isinstance(listed, dict) and set(listed.values()) == {None}:
        listed = [*listed]
    items = [listed] if isinstance(listed, str) else listed
    if not isinstance(items, list) or str(listed).startswith("-"):
        return
    found: list[tuple[Any, Loc]] = []
    for place, item in enumerate(items):
        several = isinstance(item, str) and not is_metric(item)
        for part in _OUTSIDE.split(item) if several else [item]:
            if str(part).isdecimal() and found and _WITH_CUTOFF.fullmatch(str(found[-1][0])):
                found[-1] = f"{found[-1][0]},{part}", found[-1][1]
            else:
                found.append((part, (*loc, place) if items is listed else loc))
    if [part for part, _ in found] != items or isinstance(holder[key], dict):
        holder[key] = [part for part, _ in found]
        source.origins |= {(*loc, at): there for at, (_, there) in enumerate(found)}


def _is_listed(text: str) -> bool:
    return text.isdecimal() or is_metric(text)


def metric_sets(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the sets of metrics, as far as they are lists."""
    sets = data.get("metric_sets")
    items = sets.items() if isinstance(sets, dict) else ()
    return {name: metrics for name, metrics in items if isinstance(metrics, list)}


def is_metric(name: str) -> bool:
    """Whether a metric has this name."""
    try:
        return bool(parse(name))
    except UnknownNameError:
        return False


def _metric_lists(data: dict[str, Any]) -> list[tuple[Loc, dict[str, Any]]]:
    """Return the location of each key ``metrics``, and the mapping that has it."""
    tables, plots = data.get("tables"), data.get("plots")
    holders: list[tuple[Loc, Any]] = [((), data), (("compare",), data.get("compare"))]
    if isinstance(tables, dict):
        holders += [(("tables", name), table) for name, table in tables.items()]
    if isinstance(plots, list):
        holders += [(("plots", place), plot) for place, plot in enumerate(plots)]
    return [
        ((*loc, "metrics"), holder)
        for loc, holder in holders
        if isinstance(holder, dict) and "metrics" in holder
    ]


def _metrics_of(
    name: Any, loc: Loc, sets: Mapping[str, list[Any]], above: tuple[str, ...] = ()
) -> Iterator[tuple[Any, Loc]]:
    """Yield the metrics of a name, and where each is written; nothing of a set within itself."""
    if not _is_set(name, sets):
        yield name, loc
    elif name not in above:
        for place, one in enumerate(sets[name]):
            yield from _metrics_of(one, ("metric_sets", name, place), sets, (*above, name))


def _circle(name: str, sets: Mapping[str, list[Any]], way: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sets that lead from `name` back to the first of `way`."""
    for one in sets[name]:
        if one == way[0]:
            return (*way, one)
        if _is_set(one, sets) and one not in way and (found := _circle(one, sets, (*way, one))):
            return found
    return ()


def _is_set(name: Any, sets: Mapping[str, list[Any]]) -> bool:
    return isinstance(name, str) and name in sets and not is_metric(name)
