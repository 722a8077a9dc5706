"""Findings of what a reader refused: one for each rule that an error's problems break."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..errors import HarnessError, Problem
from .finding import Finding
from .registry import finding
from .said import rule_of

_LINE = re.compile(r":(\d+)$")
_NO_EFFECTS: Mapping[str, str] = {}
OF_JUDGEMENTS = {
    "duplicates": "one document is judged twice, and counts twice in the best ranking",
    "not-finite": "it does not say whether the document is relevant",
    "header-line": "read as a row, it would be a judgement for a query that there is not",
}
"""What rules of readers do to the numbers where they are of judgements."""
OF_ROWS = {"header-line": "read as a row, it would shift every prediction by one"}
"""The same of predictions that follow the rows of a dataset, one a line."""
_LINE_SHOWN, _QUOTED = 120, 40
"""Characters of a line that are shown by itself; that are quoted beside its number."""


def refused(
    place: str, error: HarnessError, effects: Mapping[str, str] = _NO_EFFECTS
) -> Iterator[Finding]:
    """Yield what an error says, by rule.

    Parameters
    ----------
    place : str
        The file, where a problem does not say where it is.
    error : HarnessError
    effects : mapping of str to str, optional
        What it does to the numbers, of rules that say something else of such a file.
    """
    names = Counter(rule_of(problem) for problem in error.problems)
    more = error.total - len(error.problems)
    for name in names:
        some = [one for one in error.problems if rule_of(one) == name]
        known = len(some) + (more if name == next(iter(names)) else 0)
        one = finding(
            name, some[0].where or place, some[0].what, known, _examples(some),
            effect=effects.get(name, ""), fix=some[0].fix,
        )  # fmt: skip
        yield replace(one, at_least=error.at_least)


def _examples(problems: list[Problem]) -> list[str]:
    """Return the lines that are wrong, each with its number where there are several."""
    if len(problems) == 1:
        return [one] if (one := _cut(problems[0].found, _LINE_SHOWN)) else []
    lines = ((_LINE.search(one.where), one) for one in problems)
    return [
        f"line {at[1]} {_cut(one.found, _QUOTED)!r}" if at else one.found or one.what
        for at, one in lines
    ]


def _cut(line: str, width: int) -> str:
    """Return a line as it stands, but for its ends and what is beyond `width`: data, not text."""
    line = line.strip()
    return line if len(line) <= width else f"{line[: width - 3]}..."
