"""What YAML says where it breaks -> place, what, and what to do, in plain words."""

from __future__ import annotations

import re
from typing import NamedTuple

import yaml

from ..core.guarded_yaml import YAMLLimitError
from ..errors import Problem, shorten
from .indents import above_of, by, indent_of, levels, like, starts_with, ways

_KEY = 1024
_CLOSING = {"[": "]", "{": "}"}
_BRACES = 'put text that holds braces in quotes: path: "runs/{model}.txt"'
_NAME_IN_BRACES = re.compile(r"\{\w*\}")
_FOUND = re.compile(r".*(?:found|got) '(.*)'", re.S)
_TOUCHING = re.compile(r"([^\s:]+):(\S.*)")
_ENDS = re.compile(r"[,\]}]")
_EQUALS = re.compile(r"([\w.-]+) *= *(.*)")


class Slip(NamedTuple):
    """What is wrong, and where it begins: line and column from 0."""

    line: int
    column: int
    what: str
    fix: str


class Break(NamedTuple):
    """Where YAML breaks and what it says of it; `began` is where the part began that breaks."""

    lines: list[str]
    problem: str
    line: int
    column: int
    context: str
    began: tuple[int, int] | None

    @property
    def before(self) -> str:
        """The line up to the place."""
        return self.lines[self.line][: self.column]

    @property
    def after(self) -> str:
        """The line from the place on."""
        return self.lines[self.line][self.column :]

    @property
    def found(self) -> str:
        """What YAML's parser came upon."""
        match = _FOUND.fullmatch(self.problem)
        return match[1] if match else ""

    def slip(self, what: str, fix: str) -> Slip:
        """Return a slip at the place itself."""
        return Slip(self.line, self.column, what, fix)


def syntax(error: yaml.YAMLError, text: str) -> Problem:
    """Return in plain words where a YAML text breaks.

    Parameters
    ----------
    error : YAMLError
        What was raised as the text was read.
    text : str

    Examples
    --------
    >>> try:
    ...     yaml.safe_load("metrics: [map, ndcg@10\\nname: x")
    ... except yaml.YAMLError as error:
    ...     print(syntax(error, "metrics: [map, ndcg@10\\nname: x"))
    line 1, column 10: not valid YAML: '[' is not closed
      found: metrics: [map, ndcg@10
      fix:   close it with ']'
    """
    mark = getattr(error, "problem_mark", None)
    if mark is None:  # a character that no YAML may hold
        at = getattr(error, "position", 0)
        line, column = text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1
        return Problem(
            _place(line, column), f"the character {text[at : at + 1]!r} is not allowed in YAML"
        )
    problem = str(getattr(error, "problem", ""))
    if isinstance(error, YAMLLimitError):
        fix = "no config needs this; see where it is from"
        if "no character" in problem:
            fix = "write the character itself, and save the file as UTF-8"
        return Problem(_place(mark.line, mark.column), problem, fix=fix)
    start, context = getattr(error, "context_mark", None), getattr(error, "context", None) or ""
    began = (start.line, start.column) if start is not None else None
    lines = [*text.splitlines(), ""]
    at = Break(lines, problem, min(mark.line, len(lines) - 1), mark.column, context, began)
    for known in _KNOWN:
        slip = known(at)
        if slip is not None:
            break
    else:
        said = f" ({context} that began in line {began[0] + 1})" if context and began else ""
        slip = at.slip(problem + said, "")
    content = lines[slip.line].strip(" ")
    return Problem(
        _place(slip.line, slip.column), f"not valid YAML: {slip.what}", content, slip.fix
    )


def _place(line: int, column: int) -> str:
    return f"line {line + 1}, column {column + 1}"


def _tab(at: Break) -> Slip | None:
    if not at.after.startswith("\t"):
        return None
    fix = "put a blank there" if at.before.strip() else "indent with blanks, not with tabs"
    return at.slip(at.problem, fix)


def _sign(at: Break) -> Slip | None:
    """A text that begins with a sign that means something else to YAML."""
    if at.context == "while scanning a tag" and at.began:
        said = f"{at.problem} ({at.context} that began in line {at.began[0] + 1})"
        return at.slip(said, "put text that begins with ! in quotes")
    if at.context.removeprefix("while scanning ") in ("an alias", "an anchor", "a block scalar"):
        line, column = at.began or (at.line, at.column)
        sign = at.lines[line][column : column + 1]
        what = f"a text cannot begin with '{sign}'"
        return Slip(line, column, what, f"put text that begins with '{sign}' in quotes")
    if at.after[:1] in [*"@`%"] and "start any token" in at.problem:
        return at.slip(at.problem, f"put text that begins with '{at.after[0]}' in quotes")
    return None


def _long_key(at: Break) -> Slip | None:
    """A key that is longer than YAML has keys without a mark."""
    key = at.before.rstrip()
    quote = key[-1:]
    begins = key.rfind(quote, 0, -1) if quote in ('"', "'") else max(map(key.rfind, ",{["))
    if not at.after.startswith(":") or len(key[begins + 1 :].strip()) <= _KEY:
        return None
    fix = f'a key of more than {_KEY:,} characters stands after a question mark: ? "key"'
    return at.slip(at.problem, fix)


def _quote(at: Break) -> Slip | None:
    """A quote that is not closed, or a backslash in quotes."""
    if at.began is None or "quoted scalar" not in at.context:
        return None
    line, column = at.began
    if "unexpected" in at.problem:
        quote = at.lines[line][column : column + 1]
        return Slip(line, column, "a quote is not closed", f"close it with another {quote}")
    if "escape" in at.problem:
        fix = r"write the backslash twice (\\), or put the text in single quotes"
        return at.slip(f"{at.problem} in double quotes", fix)
    return None


def _braces(at: Break) -> Slip | None:
    """Text with a name in braces that is not in quotes."""
    ends = at.found not in ("", "<block mapping start>") and any(
        match.end() == len(at.before) for match in _NAME_IN_BRACES.finditer(at.before)
    )
    if not ends and (at.found != "{" or _NAME_IN_BRACES.match(at.after) is None):
        return None
    return at.slip(_said(at), _BRACES)


def _bracket(at: Break) -> Slip | None:
    """A bracket that is not closed, or entries in it that are not told apart."""
    if at.began is None or not at.context.startswith("while parsing a flow ") or not at.found:
        return None
    line, column = at.began
    opening = at.lines[line][column : column + 1]
    if opening not in _CLOSING or at.found == ",":
        return None
    closing, there = _CLOSING[opening], f"line {line + 1}, column {column + 1}"
    if at.found in ("]", "}"):
        what = f"'{at.found}' stands where '{opening}' of {there} is to be closed"
        return at.slip(what, f"close it with '{closing}' first")
    beside = at.line > line and indent_of(at.lines[at.line]) <= indent_of(at.lines[line])
    if at.found == "<stream end>" or beside:
        return Slip(line, column, f"'{opening}' is not closed", f"close it with '{closing}'")
    entry = re.split(r"[,\[{]", at.before)[-1]
    if at.found == ":" and ": " in entry and " " not in entry.rpartition(": ")[2].strip():
        return _two_colons(at, entry.strip())
    if at.found not in (":", "<scalar>"):
        return None
    word = (entry.split() or [""])[-1] if at.found == ":" else ""
    start = at.column - len(at.before) + at.before.rfind(word) if word else at.column
    return Slip(at.line, start, "a comma is missing between two entries", "put a comma before this")


def _block(at: Break) -> Slip | None:
    """A line that is indented as nothing above it is, or what cannot stand where it does."""
    if not at.problem.startswith("expected <block end>"):
        return None
    before = at.before.rstrip()
    if at.found in ("]", "}"):
        opening = next(o for o, closing in _CLOSING.items() if closing == at.found)
        return at.slip(f"'{at.found}' closes nothing", f"leave it out, or open it with '{opening}'")
    if at.found == "<scalar>" and before[-1:] in ('"', "'"):
        return _stray_quote(at, before[-1])
    if before:
        return None
    if at.found == "-":
        what = "an entry of a list among the keys of a mapping"
        return at.slip(what, "leave out the '- ', or indent it deeper than the key it belongs to")
    if at.found == "?":
        outer = [level for level in levels(at.lines, at.line, "key") if level[0] < at.column]
        less = f", or indent it {like(at.lines, *outer[0])}" if outer else ""
        what = "a key among the entries of a list"
        return at.slip(what, f"begin it with '- '{less}")
    if at.found in ("<block mapping start>", "<block sequence start>"):
        what = f"indented {by(at.column)}, as nothing above it is"
        return at.slip(what, ways(at.lines, at.line, "-" if "sequence" in at.found else "key"))
    return None


def _stray_quote(at: Break, quote: str) -> Slip:
    """Text after a closing quote; it may be that of a quote which an earlier line left open."""
    if at.before.count(quote) % 2:
        for line in range(at.line - 1, -1, -1):
            if at.lines[line].count(quote) % 2:
                column = at.lines[line].rfind(quote)
                what = f"a quote is closed as late as in line {at.line + 1}"
                return Slip(line, column, what, f"close it on its line with another {quote}")
    return at.slip("text after a closing quote", "put the quotes around all of it")


def _colon(at: Break) -> Slip | None:
    """``key: a: b``, a line too deep, or a line above that is no key."""
    if "mapping values are not allowed" not in at.problem:
        return None
    entry = at.before[len(starts_with(at.before)) :]
    if ": " in entry:
        return _two_colons(at, entry)
    above = above_of(at.lines, at.line)
    if above is None:
        return None
    slip = _no_key(at.lines, above)
    indent = len(starts_with(at.before))
    if slip is None and indent > indent_of(at.lines[above]):
        what = f"indented deeper than line {above + 1}, whose value stands there already"
        return Slip(at.line, indent, what, ways(at.lines, at.line, "key"))
    return slip


def _simple_key(at: Break) -> Slip | None:
    """A line among keys or entries that is neither."""
    if "could not find expected ':'" not in at.problem or at.began is None:
        return None
    line, column = at.began
    text = at.lines[line][column:].rstrip()
    if re.match(r"-\S", text):
        fix = f"write '- {shorten(text[1:], 60)}'"
        return Slip(line, column, "a blank is missing after '-'", fix)
    return _no_key(at.lines, line)


def _others(at: Break) -> Slip | None:
    if "sequence entries are not allowed" in at.problem:
        fix = "put every '- ' on a line of its own, or write [map, ndcg@10]"
        return at.slip("a list with '- ' cannot begin beside its key", fix)
    if at.problem == "expected the node content, but found ','":
        return at.slip("nothing stands before a comma", "leave the comma out")
    if "another document" in at.problem:
        return at.slip("a second document begins", "leave out the line ---")
    return None


_KNOWN = (_tab, _sign, _long_key, _quote, _braces, _bracket, _block, _colon, _simple_key, _others)


def _said(at: Break) -> str:
    began = f" ({at.context} that began in line {at.began[0] + 1})" if at.began else ""
    return at.problem + began


def _two_colons(at: Break, entry: str) -> Slip:
    """``key: a: b``: a text with a colon and a blank in it."""
    key, _, start = entry.partition(": ")
    value = (start + _ENDS.split(at.after)[0]).strip()
    example = f': {shorten(key, 60)}: "{value}"' if '"' not in value and len(value) < 60 else ""
    return at.slip("a second ': ' in one value", f"put text that holds ': ' in quotes{example}")


def _no_key(lines: list[str], line: int) -> Slip | None:
    """Return what keeps a line from being ``key: value``: no blank, an = or no colon."""
    start = len(starts_with(lines[line]))
    text = lines[line][start:].split(" #")[0].rstrip()
    if ": " in text or text.endswith(":") or text[:1] in ('"', "'"):
        return None
    if (touching := _TOUCHING.fullmatch(text)) is not None:
        key, value = touching.groups()
        fix = f"write {shorten(key, 60)}: {shorten(value, 60)}"
        return Slip(line, start + len(key) + 1, "a blank is missing after the colon", fix)
    if (equals := _EQUALS.fullmatch(text)) is not None:
        key, value = equals.groups()
        fix = f"write {shorten(key, 60)}: {shorten(value, 60)}"
        return Slip(line, start + len(key), "'=' stands in place of a colon", fix)
    if not re.fullmatch(r"\S+", text):
        return None
    fix = f"write {shorten(text, 60)}:"
    return Slip(line, start + len(text), "a colon is missing after the key", fix)
