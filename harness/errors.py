"""Every error and finding, in one shape, and text that is safe to print.

A message is ``place: what``, then lines ``found:``, ``effect:`` and ``fix:``. Names of runs,
datasets, queries and files may contain any character; each renderer in `harness.reports` escapes
them for its format.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import io
import json
import os
import re
import sys
import textwrap
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Literal

__all__ = [
    "AlignmentError",
    "ArgumentError",
    "ConfigError",
    "Finding",
    "HarnessError",
    "HarnessWarning",
    "InputError",
    "Problem",
    "ShortageError",
    "UnknownNameError",
    "VerificationError",
]

SITE = "https://ranking-harness.github.io/ranking-harness/"
"""The documentation."""
SHOWN = 10
"""Number of problems of one file that are printed before "and N more"."""
SHOWN_OF_CONFIG = 100
"""Number of problems of a config that are printed: more, to fix all of them together."""
WIDTH = 96
"""Characters of a finding with its examples and its rule, without its place."""
SHORTEST, SHORTEST_WORD = 24, 9
"""Characters of an example, and of its words, that lost their middle, at least."""

# controls of the terminal (C0, DEL, C1), of the writing direction, invisible characters, line and
# paragraph separators, lone surrogates, noncharacters; U+200C and U+200D are part of words
_INVISIBLE = (
    "\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\ufffe\uffff"
)
_CONTROL = re.compile(f"[\x00-\x1f{_INVISIBLE}]")
_CONTROL_BUT_NEWLINE = re.compile(f"[\x00-\x09\x0b-\x1f{_INVISIBLE}]")
_INVISIBLE_IN_JSON = re.compile(f"[{_INVISIBLE}]")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
_UNUSUAL_BLANK = re.compile("[\xa0\u2000-\u200a\u202f\u205f]")


def legible(text: str) -> str:
    r"""Return text on one line, with control and invisible characters as escapes.

    >>> print(legible("a\x1b[2Jb\n\u202ec"))
    a\x1b[2Jb\n\u202ec
    """
    return text if text.isascii() and text.isprintable() else _CONTROL.sub(_escape, text)


def printable(text: str) -> str:
    r"""Return `legible` text of several lines: a line feed stays.

    >>> print(printable("a\x07\nb"))
    a\x07
    b
    """
    return _CONTROL_BUT_NEWLINE.sub(_escape, text)


def lines_of(texts: Iterable[str]) -> str:
    r"""Return texts for a terminal, each on a line of its own.

    >>> print(lines_of(["a\nb", "c"]), end="")
    a\nb
    c
    """
    return "".join(f"{legible(text)}\n" for text in texts)


def in_json(value: Any, indent: int | None = None) -> str:
    r"""Return a value as JSON; invisible characters are written as ``\u202e``.

    >>> print(in_json({"qid": "検索\x85\ud800"}))
    {"qid": "検索\u0085\ud800"}
    """
    sink = io.StringIO()  # dumps with an indent takes ten times the memory of the text
    json.dump(value, sink, indent=indent, ensure_ascii=False)
    return _INVISIBLE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", sink.getvalue())


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return _SHORT.get(match[0]) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


class Place(str):
    """A place in a file, as text: ``file:line``, ``file: row n`` or ``file: $.key (line n)``.

    `base` is the config that `file` extends, if the key is in that config. The text has the
    `column` only if there is no file.

    >>> Place("a.run", 7), Place("a.npy", row=2), Place("c.yaml", 6, key="$.metrics[1]")
    ('a.run:7', 'a.npy: row 2', 'c.yaml: $.metrics[1] (line 6)')
    >>> Place("a.run", 7).file, Place(line=7).within("b.run")
    ('a.run', 'b.run:7')
    """

    file: str
    line: int
    row: int
    key: str
    base: str
    column: int

    def __new__(
        cls,
        file: str = "",
        line: int = 0,
        row: int = 0,
        key: str = "",
        base: str = "",
        column: int = 0,
    ) -> Place:
        """Return the place of a line or row, counted from 1, or a key; 0 and "" are unknown."""
        inside = f"line {line}" if line else f"row {row}" if row else ""
        if key:
            around = ", ".join(filter(None, (base, inside)))
            inside = f"{key} ({around})" if around else key
        elif column and not file:
            inside += f", column {column}"
        is_line = file and line and not key
        text = f"{file}:{line}" if is_line else ": ".join(filter(None, (file, inside)))
        place = super().__new__(cls, text)
        place.file, place.line, place.row = file, line, row
        place.key, place.base, place.column = key, base, column
        return place

    @classmethod
    def of(cls, where: str) -> Place:
        """Return `where` itself if it is a place, else the file of that name."""
        return where if isinstance(where, cls) else cls(where)

    def within(self, file: str) -> Place:
        """Return the same place in another file."""
        return Place(file, self.line, self.row, self.key, self.base, self.column)

    def among(self, names: Mapping[str, str]) -> Place:
        """Return the same place with another name of its file, if `names` has one."""
        return self.within(names.get(self.file, self.file))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Read the text of a place, as a manifest has it, or its parts, as a cache has them."""
        from pydantic_core import core_schema as schema

        def parts(place: Place) -> list[Any]:
            return [place.file, place.line, place.row, place.key, place.base, place.column]

        text = schema.no_info_after_validator_function(cls, schema.str_schema())
        listed = schema.no_info_after_validator_function(
            lambda some: cls(*some), schema.list_schema()
        )
        return schema.json_or_python_schema(
            text,
            schema.union_schema([text, listed]),
            serialization=schema.plain_serializer_function_ser_schema(parts),
        )


@dataclass(frozen=True)
class Problem:
    """One mistake and its place; the text leaves out empty parts."""

    where: str
    """File and line, key of the config, or name of the argument."""
    what: str
    """The rule that is broken, with the offending text in quotes."""
    found: str = ""
    """The line or value in the input."""
    fix: str = ""
    """The fix, as an imperative."""
    rule: str = ""
    """Name of the broken rule of the guard, such as ``columns``; the text leaves it out."""
    effect: str = ""
    """The effect on the numbers."""

    def __str__(self) -> str:
        lines = [printable(f"{legible(self.where)}: {self.what}" if self.where else self.what)]
        if self.found:
            lines.append(f"  found: {legible(shorten(self.found))}")
        lines += [f"  effect: {legible(self.effect)}"] if self.effect else []
        blanks = " " * (4 if self.effect else 3)
        lines += [f"  fix:{blanks}{legible(self.fix)}"] if self.fix else []
        return "\n".join(lines)


class HarnessError(Exception):
    """A wrong input, name or config; its text gives place, mistake and fix of each problem.

    Every other error of the package is a subclass.

    Parameters
    ----------
    problems : Problem, str, or sequence of Problem
        The problems, in the order of the input.
    fix, rule : str
        Fix and rule of the guard of a problem that is a str.
    total : int, optional
        Number of problems, if not all of them were collected.
    at_least : bool
        Whether `total` may be too small, because the input was not read to its end.
    """

    findings: tuple[Finding, ...] = ()
    """Findings of readers before the error."""

    def __init__(
        self,
        problems: Problem | str | Sequence[Problem],
        *,
        fix: str = "",
        rule: str = "",
        total: int | None = None,
        at_least: bool = False,
    ) -> None:
        if isinstance(problems, str):
            problems = Problem("", problems, fix=fix, rule=rule)
        if isinstance(problems, Problem):
            problems = [problems]
        self.problems = list(problems)
        self.total = len(self.problems) if total is None else total
        self.at_least = at_least
        super().__init__(str(self))

    def __str__(self) -> str:
        return "\n".join(self.texts)

    @property
    def texts(self) -> list[str]:
        """Text of each problem to print, and the number of the others."""
        shown = []
        for _, group in groupby(self.problems[:SHOWN], attrgetter("fix", "effect")):
            *others, last = group
            # advice that several problems share is printed once, below them
            shown += [*(str(replace(one, fix="", effect="")) for one in others), str(last)]
        rest = "; what follows was not looked at" if self.at_least else ""
        more = and_more(self.total - len(shown), at_least=self.at_least)
        return [*shown, *(f"... {text}{rest}" for text in more)]


class ConfigError(HarnessError):
    """A config is wrong; `where` is its file, and problems have the keys and lines in it.

    >>> problem = Problem("$.metrics[1] (line 9)", "unknown metric 'ndgc@10'", fix="see the list")
    >>> print(ConfigError(problem, where="a.yaml"))
    a.yaml: $.metrics[1] (line 9): unknown metric 'ndgc@10'
      fix:   see the list
    """

    def __init__(
        self,
        problems: Problem | str | Sequence[Problem],
        *,
        where: str = "config",
        fix: str = "",
        rule: str = "",
    ) -> None:
        self.where = where
        super().__init__(problems, fix=fix, rule=rule)

    def __str__(self) -> str:
        shown, n = self.problems[:SHOWN_OF_CONFIG], len(self.problems)
        if n == 1:
            where = ": ".join(filter(None, (self.where, shown[0].where)))
            return str(replace(shown[0], where=where))
        lines = [f"{legible(self.where)}: {counted(n, 'problem')}"]
        width = min(36, max((len(legible(one.where)) for one in shown), default=0))
        for one in shown:
            head = f"{legible(one.where):<{width}}  " if one.where else ""
            lines.append(textwrap.indent(head + str(replace(one, where="")), "  "))
        lines += [f"  ... {text}" for text in and_more(n - len(shown))]
        return "\n".join(lines)


class InputError(HarnessError):
    """A data file, array or data frame is wrong, or cannot be read."""


class ShortageError(InputError):
    """The system ran out of memory, threads or open files; the input is not to blame."""


class UnknownNameError(HarnessError):
    """A metric, format, policy or run of that name does not exist."""


class ArgumentError(InputError, UnknownNameError, TypeError, ValueError):
    """An argument of a Python function has the wrong type or a value that makes no sense."""


class AlignmentError(HarnessError):
    """Qrels and run are valid, but do not belong together."""


class VerificationError(HarnessError):
    """A number that is computed again differs from the first one."""


class HarnessWarning(UserWarning):
    """A warning about something that changes the meaning of the numbers.

    `finding` is the finding of a reader in a file.
    """

    def __init__(self, text: str | Finding) -> None:
        self.finding = text if isinstance(text, Finding) else None
        super().__init__(printable(text.message) if isinstance(text, Finding) else text)


Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """A finding of the guard in one file, or between several."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "use_attribute_docstrings": True}

    rule: str
    """Name of the rule, such as ``constant-scores``; a config can accept it."""
    severity: Severity
    """An error makes the numbers wrong or impossible; a warning changes their meaning; a note is a
    fact to know, or a finding that `guard.accept` in the config accepts."""
    place: Place
    """``file:line``, ``file: row n`` if rows are not lines, or the file alone."""
    what: str
    """One sentence, with the figures."""
    count: int = 1
    """Number of affected queries, rows, documents or files, in the file at `place`."""
    examples: tuple[str, ...] = ()
    """The first examples, three at most."""
    effect: str = ""
    """The effect on the numbers."""
    fix: str = ""
    """The fix, as an imperative."""
    n_others: int = 0
    """Number of other files with the same note; the other fields describe the first file."""
    others: tuple[str, ...] = ()
    """The first of those files, three at most."""
    at_least: bool = False
    """Whether `count` may be too small, because not everything was checked."""

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}"

    @property
    def message(self) -> str:
        """Text of the warning: all lines, without the severity."""
        return "\n".join([self.head, *self.advice])

    @property
    def head(self) -> str:
        """The first line: place, mistake, examples and rule."""
        at = f"{self.place}: " if self.place else ""
        also = ""
        if self.n_others:
            files = counted(self.n_others, "other file")
            also = f"; also in {files}{_examples(self.others, self.n_others)}"
        return f"{at}{self.what}{self.shown}{also} [{self.rule}]"

    @property
    def advice(self) -> tuple[str, ...]:
        """The lines with the effect on the numbers and the fix."""
        lines = [f"  effect: {self.effect}"] if self.effect else []
        return (*lines, f"  fix:    {self.fix}") if self.fix else tuple(lines)

    @property
    def shown(self) -> str:
        """The first examples, as many as fit, and the number of the others."""
        room = WIDTH - len(f"{self.what} [{self.rule}]")
        for n in range(len(self.examples), 0, -1):
            listed = _examples(self.examples[:n], self.count, self.at_least)
            if len(listed) <= room:
                return listed
        left = room - len(_examples(("",), self.count, self.at_least))
        if not self.examples or left < SHORTEST:
            return ""
        return _examples((_example(self.examples[0], left),), self.count, self.at_least)

    @property
    def problem(self) -> Problem:
        """The mistake as part of an error."""
        what = f"{self.what}{self.shown} [{self.rule}]"
        return Problem(self.place, what, fix=self.fix, rule=self.rule, effect=self.effect)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, with `others` and `at_least` only if they are set."""
        record = asdict(self) | {"examples": list(self.examples), "others": list(self.others)}
        if not self.n_others:
            del record["n_others"], record["others"]
        if not self.at_least:
            del record["at_least"]
        return record


def warn_of(findings: Iterable[Finding]) -> None:
    """Warn in Python of findings, but not of notes."""
    for finding in findings:
        if finding.severity != "note":
            warn(finding)


def warn(what: str | Finding) -> None:
    """Warn in Python, at the line that called this package."""
    frame, level = sys._getframe(1), 2
    inside = re.compile(r"(harness|contextlib)(\.|$)")
    while frame.f_back and inside.match(str(frame.f_globals.get("__name__"))):
        frame, level = frame.f_back, level + 1
    warnings.warn(HarnessWarning(what), stacklevel=level)


@contextlib.contextmanager
def warning_of_errors() -> Iterator[None]:
    """Warn of the findings before an error."""
    try:
        yield
    except HarnessError as error:
        warn_of(error.findings)
        raise


def _examples(examples: tuple[str, ...], count: int, at_least: bool = False) -> str:
    if not examples:
        return ""
    between = "; " if any(", " in example for example in examples) else ", "
    rest = plus_more(count - len(examples), at_least)
    return f": {between.join(map(_example, examples))}{rest}"


def _example(text: str, width: int = 100) -> str:
    r"""Return an example with unusual blanks as escapes; its longest words lose their middles.

    >>> print(_example("document D\u00a07"), _example("0123456789", 9))
    document D\xa07 012...789
    >>> _example("query q17, document d0123456789abcdef", 30)
    'query q17, document d01...def'
    """
    text = shortened = _UNUSUAL_BLANK.sub(_escape, text)
    for longest in range(width, SHORTEST_WORD - 1, -1):
        shortened = " ".join(_without_middle(word, longest) for word in text.split(" "))
        if len(shortened) <= width:
            break
    return shorten(shortened, width)


def _without_middle(text: str, width: int) -> str:
    half = (width - 3) // 2
    return text if len(text) <= width else f"{text[:half]}...{text[-half:]}"


def shorten(text: str, width: int = 120) -> str:
    r"""Return `text` on one line of at most `width` characters, without blanks around it.

    >>> shorten("a" * 200, 10)
    'aaaaaaa...'
    >>> print(shorten("q1  0\td1\n"))
    q1  0\td1
    """
    text = legible(text.strip()[: width + 1])
    return text if len(text) <= width else text[: width - 3] + "..."


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "query", "queries"), counted(1200, "query", "queries"), counted(2, "run")
    ('1 query', '1,200 queries', '2 runs')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def and_more(n: int, where: str = "", *, at_least: bool = False) -> Iterator[str]:
    """Yield a line on `n` rows or names that were left out; nothing if `n` is 0.

    >>> list(and_more(1200, "changes.csv has them")), list(and_more(0))
    (['and 1,200 more: changes.csv has them'], [])
    """
    if n > 0:
        yield f"and {_more(n, at_least)}" + (f": {where}" if where else "")


def plus_more(n: int, at_least: bool = False) -> str:
    return f" (+{_more(n, at_least)})" if n > 0 else ""


def _more(n: int, at_least: bool) -> str:
    return f"at least {n:,} more" if at_least else f"{n:,} more"


def said_by(error: BaseException, width: int = 120) -> str:
    """Return the message of another library's error on one line.

    >>> said_by(ValueError("no such\\n    column")), said_by(EOFError())
    ('no such column', 'EOFError')
    """
    return shorten(" ".join(str(error).split()) or type(error).__name__, width)


def first_of(names: Iterable[str], n: int = 8) -> str:
    """Return the first few of some names, and the number of the rest.

    >>> first_of(["qid", "docno"]), first_of(["a", "b", "c", "d"], 2)
    ('qid, docno', 'a, b (+2 more)')
    """
    names = list(names)
    return ", ".join(shorten(name, 60) for name in names[:n]) + plus_more(len(names) - n)


_OTHER_NAMES = {
    **dict.fromkeys(("t", "pairedt", "student", "students"), "paired-t"),
    **dict.fromkeys(("permutation", "fisher"), "randomization"),
    "hsd": "tukey",
    **dict.fromkeys(("xls", "xlsx"), "excel"),
    "tex": "latex",
    "md": "markdown",
}
"""Names of tests, without their last word, and of formats that other tools use."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is nearest to a misspelt one, or ``""``."""
    known = list(known)
    other = _OTHER_NAMES.get(re.sub("[^a-z]|test$", "", name.lower()))
    if other in known:
        return other
    folded = {k.lower(): k for k in known}
    near = (
        [k for k in known if sorted(k.lower()) == sorted(name.lower())]
        or difflib.get_close_matches(name, known, n=1)
        or [folded[k] for k in difflib.get_close_matches(name.lower(), folded, n=1)]
    )
    return near[0] if near else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or ``""``.

    >>> did_you_mean("ngcd", ["ndcg", "map"]), did_you_mean("p", ["ap", "P"])
    ("; did you mean 'ndcg'?", "; did you mean 'P'?")
    >>> did_you_mean("zzz", ["ndcg", "map"])
    ''
    """
    near = nearest(name, known)
    return f"; did you mean '{near}'?" if near else ""


def fix_of_name(name: str, known: Iterable[str], command: str = "") -> str:
    """Return the fix of an unknown name: the nearest known name, or a few of all.

    `command` lists all of them.

    >>> fix_of_name("ngcd", ["ndcg", "map"]), fix_of_name("x", ["ndcg", "map"])
    ('use ndcg', 'use one of: ndcg, map')
    >>> fix_of_name("x", ["ndcg", "map"], "harness metrics")
    "see 'harness metrics'"
    """
    known = list(known)
    if near := known[0] if len(known) == 1 else nearest(name, known):
        return f"use {near}"
    if command:
        return f"see '{command}'"
    n = next((n for n in range(10, 1, -1) if len(", ".join(known[:n])) < 90), 1)
    return f"use one of: {first_of(known, n)}" if known else "leave it out: there are none"


def unknown(what: str, name: str, known: Iterable[str], place: str = "") -> UnknownNameError:
    """Return the error of an unknown name; the fix is the nearest known name."""
    fix = fix_of_name(name, known)
    return UnknownNameError(Problem(place, f"unknown {what} '{name}'", fix=fix))


def check_known(what: str, name: str, known: Iterable[str], place: str = "") -> None:
    """Raise UnknownNameError for an unknown name; the fix is the nearest known name."""
    if name not in (known := list(known)):
        raise unknown(what, name, known, place)


_DEBUG = "HARNESS_DEBUG"
"""An environment variable, since worker processes inherit it."""
REPORT = "this is a mistake in harness: report it, with what 'harness --debug ...' prints"


def show_tracebacks(shown: bool) -> None:
    """Set whether tracebacks are printed, in this process and in those that it starts."""
    os.environ.pop(_DEBUG, None)
    if shown:
        os.environ[_DEBUG] = "1"


def describe(error: Exception) -> str:
    """Return the type, text and place of an exception; print its traceback under ``--debug``.

    >>> describe(KeyError("fold"))
    "KeyError: 'fold'"
    """
    if _DEBUG in os.environ:
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    at = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    name, text = type(error).__name__, said_by(error)
    return f"{name}: {text}{at}" if text != name else f"{name}{at}"


def problem(error: Exception) -> Problem:
    """Return an unexpected exception as a problem to report."""
    return Problem("", describe(error), fix=REPORT)


def not_installed(place: str, package: str, extra: str = "") -> HarnessError:
    """Return the error of a required package that is not installed."""
    fix = f"pip install {package}" + (f" (the extra '{extra}')" if extra else "")
    return HarnessError(Problem(place, f"{package} is not installed", fix=fix))


_SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}
_LIMIT = (
    "raise the limit (ulimit -v for memory, -n for open files), or give fewer --jobs to a command "
    "with them"
)


def shortage(error: BaseException) -> Problem | None:
    """Return a shortage of memory or open files as a problem; None for any other error."""
    if isinstance(error, MemoryError):
        return Problem("", "not enough memory", fix=_LIMIT)
    if isinstance(error, OSError) and error.errno in _SHORTAGES:
        return Problem(str(error.filename or ""), error.strerror or str(error), fix=_LIMIT)
    return None
