"""One thing that the guard found: how bad, where, how often, what it does, how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..errors import shorten

Severity = Literal["error", "warning", "note"]
ORDER: tuple[Severity, ...] = ("error", "warning", "note")
SHOWN = 3
_WIDTH = 100
"""Characters of an example that are printed."""
_ODD_BLANK = re.compile("[\xa0\u2000-\u200a\u202f\u205f]")
"""Blanks that look like a plain one, or like none."""
_SHORTEST = 10
"""Characters that a name in it keeps at least."""


@dataclass(frozen=True)
class Finding:
    """What the guard found in one file, or between several.

    Parameters
    ----------
    rule : str
        Its name in docs/check.md, such as ``constant-scores``; what a config accepts.
    severity : {"error", "warning", "note"}
        An error makes the numbers wrong or impossible; a warning changes what they mean; a note
        is a fact that a reader of the numbers wants to know.
    place : str
        ``file:line``, ``file: row n`` where rows are not lines, or the file alone.
    what : str
        One sentence, with the figures.
    count : int
        How many queries, rows or documents it is about; what they are is said in `what`.
    examples : tuple of str
        The first of them, :data:`SHOWN` at most.
    effect : str
        What it does to the numbers.
    fix : str
        How to mend it.
    n_others : int
        Other files of which it is true too, or something alike; all else is of the first file.
    others : tuple of str
        The first of them, :data:`SHOWN` at most.
    at_least : bool
        Whether `count` may be more, as not everything was looked at.
    unlike : bool
        Whether other files have other figures than the first.
    """

    rule: str
    severity: Severity
    place: str
    what: str
    count: int = 1
    examples: tuple[str, ...] = ()
    effect: str = ""
    fix: str = ""
    n_others: int = 0
    others: tuple[str, ...] = ()
    at_least: bool = False
    unlike: bool = False

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
        return _first(self.examples, self.count, self.at_least)

    @property
    def _alike(self) -> str:
        if not self.n_others:
            return ""
        files = "1 other file" if self.n_others == 1 else f"{self.n_others:,} other files"
        own = f"with figures of {'its' if self.n_others == 1 else 'their'} own"
        alike = f"in {files} too, {own}" if self.unlike else f"the same in {files}"
        return f"; {alike}{_first(self.others, self.n_others)}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data; other files, and that there may be more, only where it is so."""
        found = asdict(self) | {"examples": list(self.examples), "others": list(self.others)}
        del found["unlike"]  # whose figures are not there
        if not self.n_others:
            del found["n_others"], found["others"]
        if not self.at_least:
            del found["at_least"]
        return found


def _first(examples: tuple[str, ...], count: int, at_least: bool = False) -> str:
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
    for most in range(_WIDTH, _SHORTEST, -1):
        cut = "".join(_cut(word, most) for word in words)
        if len(cut) <= _WIDTH:
            return cut
    return shorten(example, _WIDTH)


def _as_escape(found: re.Match[str]) -> str:
    return found[0].encode("ascii", "backslashreplace").decode()


def _cut(word: str, most: int) -> str:
    """Return a word with its ends alone.

    >>> _cut("143804-2.json", 10)
    '1438...son'
    """
    tail = (most - 3) // 2
    return word if len(word) <= most else f"{word[: most - 3 - tail]}...{word[-tail:]}"


def without_folders(places: Iterable[str], files: Iterable[str]) -> list[str]:
    """Return places in some files for examples: without folders, where names tell files apart.

    A folder would take most of the characters that an example has.

    >>> without_folders(["d/a.txt:7"], ["d/a.txt", "d/b.txt"])
    ['a.txt:7']
    >>> without_folders(["1/a.txt:7"], ["1/a.txt", "2/a.txt"])
    ['1/a.txt:7']
    """
    names = [path.rpartition("/")[2] for path in files]
    apart = len({*names}) == len(names)
    return [place.rpartition("/")[2] if apart else place for place in places]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings once each, errors first."""
    return sorted(dict.fromkeys(findings), key=lambda one: ORDER.index(one.severity))
