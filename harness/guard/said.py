"""What a reader warned of or refused, with the rule of the guard that it is of."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import HarnessWarning, Problem


class Said(NamedTuple):
    """A warning as it is kept.

    Parameters
    ----------
    text : str
    rule : str
    n : int
        How many rows or queries it is about.
    line : int
        Of the first of them; 0 where it is not known.
    examples : tuple of str
        The first of them.
    at_least : bool
        Whether there may be more than `n`, as only a sample was looked at.
    """

    text: str
    rule: str = "reader"
    n: int = 1
    line: int = 0
    examples: tuple[str, ...] = ()
    at_least: bool = False

    @classmethod
    def of(cls, warning: Warning | str) -> Said:
        """Return what was warned of.

        >>> Said.of(HarnessWarning("a.run: 2 tags in one run", "several-tags", 2)).rule
        'several-tags'
        """
        if isinstance(warning, HarnessWarning):
            rule = warning.rule or "reader"
            n, at_least = warning.count, warning.at_least
            return cls(str(warning), rule, n, warning.line, warning.examples, at_least)
        return cls(str(warning))


def rule_of(problem: Problem) -> str:
    """Return the name of the rule that a reader's error is of."""
    return problem.rule or "unreadable"
