"""Everything the harness raises or warns of on purpose.

One shape for all of them: *where* it is, *what* is wrong, what was *found*, and what to do
about it (``fix``). Texts are part of the interface and pinned by tests.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from .escaping import in_message, legible

SHOWN = 10
"""How many problems of one file are printed before "and N more"."""
SHOWN_OF_CONFIG = 100
"""How many of a config, of which all that anybody would mend at once are wanted; of more than
these, which a program wrote, :data:`SHOWN` that say the same."""
ALIKE, PLACES = 3, 10
"""Of many that say the same, as many are printed, and so many places of the others."""
_OWN = re.compile(r"'[^']*'|\d[\d,.]*")
LONGEST = 4000
"""Characters of what is wrong with one thing; a name from a file may have millions."""


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
        lines = [_without_its_middle(in_message(head))]
        if self.found:
            lines.append(f"  found: {legible(shorten(self.found))}")
        if self.effect:
            lines.append(f"  effect: {legible(self.effect)}")
        if self.fix:
            aligned = "  fix:    " if self.effect else "  fix:   "
            lines.append(f"{aligned}{_without_its_middle(legible(self.fix))}")
        return "\n".join(lines)


def _without_its_middle(text: str) -> str:
    if (left_out := len(text) - LONGEST) <= 0:
        return text
    return f"{text[: LONGEST - 1000]} [... {left_out:,} characters ...] {text[-1000:]}"


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
        problems, rest = self.problems, []
        if self.total > SHOWN_OF_CONFIG:
            rest = [one for one in problems if not one.where]  # how much was not looked at
            problems = [one for one in problems if one.where]
        n = f"{'more than ' * bool(rest)}{len(problems):,}"
        lines = [f"{legible(self.where)}: {n} problem{'s' if self.total > 1 else ''}"]
        shown = problems if self.total <= SHOWN_OF_CONFIG else _of_each_kind(problems)
        places = [legible(problem.where) for problem in shown]
        width = min(36, max(map(len, places), default=0))
        for problem, where in zip(shown, places, strict=True):
            text = str(replace(problem, where=""))
            head = f"{where:<{width}}  " if where else ""
            lines.append(textwrap.indent(head + text, "  "))
        if (more := len(problems) - len(shown)) > 0:
            lines.append(f"  ... and {more:,} more")
        lines += [f"  {one}" for one in rest]
        return "\n".join(lines)


def _of_each_kind(problems: Sequence[Problem]) -> list[Problem]:
    """Return the first problems, and few that say the same."""
    said = Counter[str]()
    shown: list[Problem] = []
    for one in problems:
        kind = in_common(one.what)
        said[kind] += 1
        if said[kind] <= SHOWN and len(shown) < SHOWN_OF_CONFIG:
            shown.append(one)
    return shown


class InputError(HarnessError):
    """A data file, array or data frame is wrong, or cannot be read."""


class ShortageError(InputError):
    """The system has not enough of something (memory, threads, open files) to go on.

    It says nothing of a file or a number: who compares numbers passes it on.
    """


class UnknownNameError(HarnessError):
    """A metric, format, policy or run was named that does not exist."""


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
        super().__init__(_without_its_middle(in_message(text) if rule else text))
        self.rule, self.count, self.line, self.examples = rule, count, line, examples
        self.at_least = at_least


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
    near = near or difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    near = near or [k for k in known if sorted(k.lower()) == sorted(name.lower())]
    if not near:
        folded = {k.lower(): k for k in known}
        near = [folded[m] for m in difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)]
    return f"; did you mean '{near[0]}'?" if near else ""
