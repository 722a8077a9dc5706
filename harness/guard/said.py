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
    """

    text: str
    rule: str = "reader"
    n: int = 1

    @classmethod
    def of(cls, warning: Warning | str) -> Said:
        """Return what was warned of.

        >>> Said.of(HarnessWarning("a.run: 2 tags in one run", "several-tags", 2)).rule
        'several-tags'
        """
        if isinstance(warning, HarnessWarning):
            return cls(str(warning), warning.rule or "reader", warning.count)
        return cls(str(warning))


def rule_of(problem: Problem) -> str:
    """Return the name of the rule that a reader's error is of."""
    return problem.rule or "unreadable"
