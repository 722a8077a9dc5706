"""Everything the harness raises or warns of on purpose.

One shape for all of them: *where* it is, *what* is wrong, what was *found*, and what to do
about it (``fix``). Texts are part of the interface and pinned by tests.

A name of a run, dataset, query or file may hold anything. LaTeX's function is
:func:`harness.reports.latex.escape`; names that become files are in
:mod:`harness.core.text`.
"""

from __future__ import annotations

import difflib
import html
import io
import json
import os
import re
import textwrap
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Literal

LONGEST_WORD = 300
"""Characters of one word that a terminal is shown; longer ones lose their middle."""

# controls of the terminal (C0, DEL, C1), of the writing direction, of nothing visible, line and
# paragraph separators, lone surrogates, and what is no character: U+200C and U+200D are letters'
_UNSEEN = (
    "\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\ufffe\uffff"
)
_CONTROL = re.compile(f"[\x00-\x1f{_UNSEEN}]")
_BETWEEN_LINES = re.compile(f"[\x00-\x09\x0b-\x1f{_UNSEEN}]")
_IN_JSON = re.compile(f"[{_UNSEEN}]")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
_OF_A_NAME = re.compile(r"\n(?!  )")
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")
_NO_FORMULA = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TO_QUOTE = re.compile(r'[",\r\n]')
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_IN_MARKDOWN = re.compile(r"[\\`*\[\]|$~#]|(?<!\w)_|_(?!\w)")
_AT_START = re.compile(r"[-+=](?=\s|$|[-=]*$)|\d{1,9}(?=[.)](?:\s|$))")
# GitHub makes links of @user, #1 and addresses and a picture of :smile:, escaped or not, but not
# around a comment
_LIVE = re.compile(r"(?<!\w)@(?=[A-Za-z])|:(?=[\w+-]+:)|\\#(?=\d)|(?<=\w):(?=//)|(?i:\bwww)(?=\.)")


def legible(text: str) -> str:
    r"""Return text on one line, what controls a terminal or is not seen as an escape of it.

    >>> print(legible("a\x1b[2Jb\n\u202ec"))
    a\x1b[2Jb\n\u202ec
    """
    return text if text.isascii() and text.isprintable() else _CONTROL.sub(_shown, text)


def for_terminal(text: str) -> str:
    r"""Return lines as a terminal may show them: :func:`legible`, and no word of thousands.

    >>> print(for_terminal("a\x07\nb"))
    a\x07
    b
    """
    return _LONG_WORD.sub(_without_middle, printable(text))


def lines_of(texts: Iterable[str]) -> str:
    r"""Return texts for a terminal, each on a line of its own.

    >>> print(lines_of(["a\nb", "c"]), end="")
    a\nb
    c
    """
    return for_terminal("".join(f"{legible(text)}\n" for text in texts))


def printable(text: str) -> str:
    r"""Return :func:`legible` text of several lines: a line feed stays."""
    return _BETWEEN_LINES.sub(_shown, text)


def in_message(text: str) -> str:
    r"""Return a sentence with indented lines below; other line feeds are a name's, and shown.

    >>> print(in_message("no run 'a\nerror: b'\n  there is c"))
    no run 'a\nerror: b'
      there is c
    """
    return _OF_A_NAME.sub(r"\\n", printable(text))


def in_json(value: Any, indent: int | None = None) -> str:
    r"""Return a value as JSON of visible characters, any script as it stands.

    It reads back to the same; what is not seen, would control a terminal or has no UTF-8 is
    written as ``\u202e``.

    >>> print(in_json({"qid": "検索\x85\ud800"}))
    {"qid": "検索\u0085\ud800"}
    """
    if indent is None:
        text = json.dumps(value, ensure_ascii=False)
    else:  # piece by piece: all of them at once take ten times the memory of the text
        sink = io.StringIO()
        json.dump(value, sink, indent=indent, ensure_ascii=False)
        text = sink.getvalue()
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def alike(names: Iterable[str], shown: Callable[[str], str] = lambda name: name) -> list[list[str]]:
    r"""Return names of which several look the same as they are shown, together.

    Told apart by no reader are Unicode's normalisations (NFC, NFD), and one white space from
    another or from several.

    >>> print(*map(ascii, alike(["caf\u00e9", "cafe", "cafe\u0301"])[0]))
    'caf\xe9' 'cafe\u0301'
    >>> alike(["a\tb", "a b", "ab"])
    [['a\tb', 'a b']]
    >>> alike(["a\tb", "a\nb", "a\u00a0b"], legible)
    []
    """
    seen: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        text = unicodedata.normalize("NFC", shown(name))
        seen.setdefault(" ".join(text.split()), []).append(name)
    return [some for some in seen.values() if len(some) > 1]


def said_of_alike(kind: str, names: Iterable[str]) -> Iterator[str]:
    r"""Yield what is to be said of names that look the same and are kept apart.

    >>> next(said_of_alike("runs", ["a\tb", "a b"])).split(",")[0]
    "runs 'a\\tb' and 'a b' look the same and are kept apart"
    """
    for some in alike(names):
        first, *others = (unicodedata.normalize("NFC", name) for name in some)
        why = "their names are normalised otherwise (NFC, NFD)"
        if any(other != first for other in others):
            why = "they differ in white space alone"
        yield (
            f"{kind} {' and '.join(map(ascii, some))} look the same and are kept apart, as {why}; "
            "write them alike where they are one"
        )


def csv_field(text: str) -> str:
    r"""Return a name that no spreadsheet takes for a formula: with an apostrophe before it.

    So begin names with ``=``, ``+``, ``-``, ``@``, a tab or a line break; a plain number stays.
    :func:`from_csv` takes it off again.

    >>> csv_field("=SUM(A1)"), csv_field("bm25"), csv_field("-1.5"), csv_field("-x")
    ("'=SUM(A1)", 'bm25', '-1.5', "'-x")
    """
    is_formula = _FORMULA.match(text) and not _NO_FORMULA.fullmatch(text)
    return f"'{text}" if is_formula else text


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    r"""Return rows of fields as CSV, with quotes around those that hold a line break of any kind.

    >>> csv_text([["run", "map"], ["a\rb", 0.5]])
    'run,map\n"a\rb",0.5\n'
    """
    return "".join(",".join(map(_quoted, row)) + "\n" for row in rows)


def _quoted(field: object) -> str:
    text = "" if field is None else str(field)
    return '"' + text.replace('"', '""') + '"' if _TO_QUOTE.search(text) else text


def from_csv(text: str) -> str:
    """Return a name as it was before :func:`csv_field`.

    >>> from_csv("'=SUM(A1)"), from_csv("'quoted'"), from_csv("-1.5")
    ('=SUM(A1)', "'quoted'", '-1.5')
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def in_html(text: str) -> str:
    """Return text that HTML shows as it stands, in an attribute too.

    >>> print(in_html("a & <b> \\"c\\""))
    a &amp; &lt;b&gt; &quot;c&quot;
    """
    return html.escape(printable(text))


def html_comment(text: str) -> str:
    """Return a comment of HTML, which text cannot end.

    >>> print(html_comment("a--->b"))
    <!-- a- - ->b -->
    """
    return f"<!-- {re.sub('-(?=-)', '- ', legible(text))} -->"


def in_markdown(text: str) -> str:
    r"""Return text that Markdown shows as it stands, at the beginning of a line or in a table.

    >>> print(in_markdown("a_b|c *d* <e>"))
    a_b\|c \*d\* &lt;e&gt;
    >>> print(in_markdown("by @user :smile: ndcg@10"))
    by @<!-- -->user :<!-- -->smile: ndcg@10
    >>> print(in_markdown("- a"), in_markdown("-0.5"), in_markdown("1. a"))
    \- a -0.5 1\. a
    """
    text = _IN_MARKDOWN.sub(r"\\\g<0>", legible(" ".join(text.split())))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _AT_START.sub(_no_block, text, count=1) if _AT_START.match(text) else text
    return _LIVE.sub(r"\g<0><!-- -->", text)


def _shown(found: re.Match[str]) -> str:
    sign = found[0]
    code = ord(sign)
    return _SHORT.get(sign) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def _without_middle(found: re.Match[str]) -> str:
    half = LONGEST_WORD // 2
    return f"{found[0][:half]}…{found[0][-half:]}"


def _no_block(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


SHOWN = 10
"""How many problems of one file are printed before "and N more"."""
SHOWN_OF_CONFIG = 100
"""How many problems of a config are printed: you want to fix all of them at once."""
ALIKE, PLACES = 3, 10
"""Of many that say the same, as many are printed, and so many places of the others."""
_OWN = re.compile(r"'[^']*'|\d[\d,.]*")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where.

    Parameters
    ----------
    where : str
        ``path:line`` for a data file, ``$.path (line n)`` for a config, or ``""``.
    what : str
        The rule that is broken, with the offending text in quotes.
    found : str
        The line or value as it stands in the input; not shown where empty.
    fix : str
        What the reader of the message can do; not shown where empty.
    rule : str
        Of the guard's, in docs/check.md; not shown. ``""`` where it has none of its own.
    effect : str
        What it does to the numbers; not shown where empty.
    """

    where: str
    what: str
    found: str = ""
    fix: str = ""
    rule: str = ""
    effect: str = ""

    def __str__(self) -> str:
        head = f"{legible(self.where)}: {self.what}" if self.where else self.what
        lines = [in_message(head)]
        if self.found:
            lines.append(f"  found: {legible(shorten(self.found))}")
        if self.effect:
            lines.append(f"  effect: {legible(self.effect)}")
        if self.fix:
            aligned = "  fix:    " if self.effect else "  fix:   "
            lines.append(f"{aligned}{legible(self.fix)}")
        return _LONG_WORD.sub(_without_middle, "\n".join(lines))


class HarnessError(Exception):
    """Base of all errors that a user can mend. Holds one or more problems.

    Parameters
    ----------
    problems : Problem, str, or sequence of them
        What is wrong.
    total : int, optional
        How many problems there are in all, where fewer than that were collected.
    at_least : bool
        Whether there may be more than `total`, as not everything was looked at.
    """

    def __init__(
        self,
        problems: Problem | str | Sequence[Problem | str],
        *,
        total: int | None = None,
        at_least: bool = False,
    ) -> None:
        if isinstance(problems, (Problem, str)):
            problems = [problems]
        self.problems = [p if isinstance(p, Problem) else Problem("", p) for p in problems]
        self.total = len(self.problems) if total is None else total
        self.at_least = at_least
        super().__init__(str(self))

    def __str__(self) -> str:
        return "\n".join(self.texts)

    @property
    def texts(self) -> list[str]:
        """What is printed of it: a text for each problem, and how many more there are."""
        shown = []
        for _, alike in groupby(self.problems[:SHOWN], attrgetter("fix", "effect")):
            *others, last = alike
            # what several need is said once, below them
            shown += [*(str(replace(one, fix="", effect="")) for one in others), str(last)]
        more = self.total - len(shown)
        if more > 0:
            rest = "; what follows was not looked at" if self.at_least else ""
            shown.append(f"... and {'at least ' if self.at_least else ''}{more:,} more{rest}")
        return shown


class ConfigError(HarnessError):
    """The configuration is wrong; all problems of one file together, up to a hundred.

    Parameters
    ----------
    problems : Problem, str, or sequence of them
        What is wrong; each problem's ``where`` is a path in the file and its line.
    where : str
        The file, for the heading.

    Examples
    --------
    >>> problem = Problem("$.metrics[1] (line 9)", "unknown metric 'ndgc@10'", fix="see the list")
    >>> print(ConfigError(problem, where="a.yaml"))
    a.yaml: 1 problem
      $.metrics[1] (line 9)  unknown metric 'ndgc@10'
        fix:   see the list
    """

    def __init__(
        self, problems: Problem | str | Sequence[Problem | str], *, where: str = "config"
    ) -> None:
        self.where = where
        super().__init__(problems)

    def __str__(self) -> str:
        shown = self.problems[:SHOWN_OF_CONFIG]
        n = len(self.problems)
        lines = [f"{legible(self.where)}: {n:,} problem{'s' if n > 1 else ''}"]
        places = [legible(problem.where) for problem in shown]
        width = min(36, max(map(len, places), default=0))
        for problem, where in zip(shown, places, strict=True):
            text = str(replace(problem, where=""))
            head = f"{where:<{width}}  " if where else ""
            lines.append(textwrap.indent(head + text, "  "))
        if n > len(shown):
            lines.append(f"  ... and {n - len(shown):,} more")
        return "\n".join(lines)


class InputError(HarnessError):
    """A data file, array or data frame is wrong, or cannot be read."""


class ShortageError(InputError):
    """The system has not enough of something (memory, threads, open files) to go on.

    It says nothing of a file or a number: who compares numbers passes it on.
    """


class UnknownNameError(HarnessError):
    """A metric, format, policy or run was named that does not exist."""


class ArgumentError(InputError, UnknownNameError, TypeError, ValueError):
    """An argument of a Python function has the wrong type, or a value that makes no sense.

    Wrong data are an InputError and wrong names an UnknownNameError; an argument can be both.
    """


class AlignmentError(HarnessError):
    """Qrels and run are sound by themselves but do not belong together."""


class VerificationError(HarnessError):
    """A number could not be derived again."""


class HarnessWarning(UserWarning):
    """Something that is not wrong but changes what the numbers mean.

    Parameters
    ----------
    text : str
    rule : str
        Of the guard's; ``""`` where it has none of its own.
    count : int
        How many rows or queries it is about.
    line : int
        Of the first of them; 0 where it is not known.
    examples : tuple of str
        The first of them.
    at_least : bool
        Whether there may be more than `count`, as only a sample was looked at.
    """

    def __init__(
        self,
        text: str,
        rule: str = "",
        count: int = 1,
        line: int = 0,
        examples: tuple[str, ...] = (),
        at_least: bool = False,
    ) -> None:
        # one of a rule is a sentence on a file; a grid with gaps has several lines
        super().__init__(_LONG_WORD.sub(_without_middle, in_message(text) if rule else text))
        self.rule, self.count, self.line, self.examples = rule, count, line, examples
        self.at_least = at_least


Severity = Literal["error", "warning", "note"]
_EXAMPLE_WIDTH = 100
"""Characters of an example that are printed."""
_ODD_BLANK = re.compile("[\xa0\u2000-\u200a\u202f\u205f]")
"""Blanks that look like a plain one, or like none."""
_SHORTEST = 10
"""Characters that a name in it keeps at least."""


@dataclass(frozen=True)
class Finding:
    """What the guard found in one file, or between several."""

    __pydantic_config__: ClassVar = {"extra": "forbid", "use_attribute_docstrings": True}

    rule: str
    """Its name in docs/check.md, such as ``constant-scores``; what a config accepts."""
    severity: Severity
    """An error makes the numbers wrong or impossible; a warning changes what they mean; a note is a
    fact worth knowing, or what `guard.accept` in the config names."""
    place: str
    """``file:line``, ``file: row n`` if rows are not lines, or the file alone."""
    what: str
    """One sentence, with the figures."""
    count: int = 1
    """How many queries, rows, documents or files it is about, by the file at `place`."""
    examples: tuple[str, ...] = ()
    """The first of them, three at most."""
    effect: str = ""
    """What it does to the numbers."""
    fix: str = ""
    """What to do about it."""
    n_others: int = 0
    """Of a note, other files of which it is true too; all else is of the first file."""
    others: tuple[str, ...] = ()
    """The first of them, three at most."""
    at_least: bool = False
    """Whether `count` may be more, as not everything was looked at."""

    def __str__(self) -> str:
        return "\n".join([self.head, *self.advice])

    @property
    def head(self) -> str:
        """The line that says what was found, and where."""
        at = f"{self.place}: " if self.place else ""
        return f"{self.severity}: {at}{self.what}{self.shown}{self._alike} [{self.rule}]"

    @property
    def advice(self) -> tuple[str, ...]:
        """The lines that say what it does to the numbers, and how to mend it."""
        effect = (f"  effect: {self.effect}",) if self.effect else ()
        return (*effect, f"  fix:    {self.fix}") if self.fix else effect

    @property
    def shown(self) -> str:
        """The first examples, and how many more there are."""
        return _first_examples(self.examples, self.count, self.at_least)

    @property
    def _alike(self) -> str:
        if not self.n_others:
            return ""
        files = "1 other file" if self.n_others == 1 else f"{self.n_others:,} other files"
        return f"; also in {files}{_first_examples(self.others, self.n_others)}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data; other files, and that there may be more, only where it is so."""
        found = asdict(self) | {"examples": list(self.examples), "others": list(self.others)}
        if not self.n_others:
            del found["n_others"], found["others"]
        if not self.at_least:
            del found["at_least"]
        return found


def _first_examples(examples: tuple[str, ...], count: int, at_least: bool = False) -> str:
    if not examples:
        return ""
    more = count - len(examples)
    between = "; " if any(", " in example for example in examples) else ", "
    names = between.join(_shortened(example) for example in examples)
    return f": {names}" + (f" (+{'at least ' * at_least}{more:,} more)" if more > 0 else "")


def _shortened(example: str) -> str:
    r"""Return an example with its longest names cut in the middle, so that all of it is there.

    >>> print(_shortened("document D\u00a07"))
    document D\xa07
    """
    example = _ODD_BLANK.sub(_as_escape, example)
    words = re.split(r"(\s+)", example)  # what is between them stays as it is
    for most in range(_EXAMPLE_WIDTH, _SHORTEST, -1):
        cut = "".join(_cut(word, most) for word in words)
        if len(cut) <= _EXAMPLE_WIDTH:
            return cut
    return shorten(example, _EXAMPLE_WIDTH)


def _as_escape(found: re.Match[str]) -> str:
    return found[0].encode("ascii", "backslashreplace").decode()


def _cut(word: str, most: int) -> str:
    """Return a word with its ends alone.

    >>> _cut("143804-2.json", 10)
    '1438...son'
    """
    tail = (most - 3) // 2
    return word if len(word) <= most else f"{word[: most - 3 - tail]}...{word[-tail:]}"


def shorten(text: str, width: int = 120) -> str:
    r"""Return `text` on one line of at most `width` characters, as it stands but for its ends.

    >>> shorten("a" * 200, 10)
    'aaaaaaa...'
    >>> print(shorten("q1  0\td1\n"))
    q1  0\td1
    """
    text = legible(text.strip()[: width + 1])
    return text if len(text) <= width else text[: width - 3] + "..."


def in_common(text: str) -> str:
    """Return a text without its numbers and quoted names, of which many may say the same.

    >>> in_common("score 'nan' of row 3") == in_common("score '-inf' of row 14")
    True
    """
    return _OWN.sub("", text)


def others_at(places: Sequence[str]) -> str:
    """Return how many others there are, and the places of the first.

    >>> others_at(["a.run:1", "b.run:7"])
    '... and 2 more: a.run:1, b.run:7'
    """
    more = f" (+{len(places) - PLACES:,} more)" if len(places) > PLACES else ""
    return f"... and {len(places):,} more: {', '.join(places[:PLACES])}{more}"


def said_by(error: BaseException, width: int = 120) -> str:
    """Return what another library says of an error, on one line.

    >>> said_by(ValueError("no such\\n    column")), said_by(EOFError())
    ('no such column', 'EOFError')
    """
    return shorten(" ".join(str(error).split()) or type(error).__name__, width)


def first_of(names: Sequence[str], n: int = 8) -> str:
    """Return the first few of some names, and how many more there are.

    >>> first_of(["qid", "docno"]), first_of(["a", "b", "c", "d"], 2)
    ('qid, docno', 'a, b (+2 more)')
    """
    more = len(names) - n
    said = ", ".join(shorten(name, 60) for name in names[:n])
    return said + (f" (+{more:,} more)" if more > 0 else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or ``""``.

    >>> did_you_mean("ndgc", ["ndcg", "map"])
    "; did you mean 'ndcg'?"
    >>> did_you_mean("p", ["ap", "P"])  # in another case
    "; did you mean 'P'?"
    >>> did_you_mean("ngcd", ["ndcg", "map"])  # the same letters in another order
    "; did you mean 'ndcg'?"
    >>> did_you_mean("zzz", ["ndcg", "map"])
    ''
    """
    known = list(known)
    near = [k for k in known if k.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, n=1)
    near = near or [k for k in known if sorted(k.lower()) == sorted(name.lower())]
    if not near:
        folded = {k.lower(): k for k in known}
        near = [folded[k] for k in difflib.get_close_matches(name.lower(), folded, n=1)]
    return f"; did you mean '{near[0]}'?" if near else ""


_DEBUG = "HARNESS_DEBUG"
"""An environment variable, since worker processes inherit it."""
REPORT = "this is a mistake in harness: report it, with what 'harness --debug ...' prints"


def show_tracebacks(shown: bool) -> None:
    """Say whether tracebacks are printed, in this process and in those that it starts."""
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
    """Return what to report of an exception."""
    return Problem("", describe(error), fix=REPORT)
