"""What the guard warned of, in one line, for those who see the numbers alone."""

from __future__ import annotations

from collections.abc import Iterable

from .registry import RULES


def warned(found: Iterable[tuple[str, str]]) -> str:
    """Return how many warnings there are, and of which rules; nothing where there is none.

    Parameters
    ----------
    found : iterable of (str, str)
        The rule and the severity of each finding. What every leaderboard shows is left out.

    Examples
    --------
    >>> warned([("upside-down", "warning"), ("swapped-fold", "warning"), ("depth", "note")])
    '2 warnings (swapped-fold, upside-down)'
    >>> warned([("score-ties", "warning")])
    ''
    """
    rules = [
        rule
        for rule, severity in found
        if severity == "warning" and not (rule in RULES and RULES[rule].in_table)
    ]
    if not rules:
        return ""
    return f"{len(rules):,} warning{'s' * (len(rules) != 1)} ({', '.join(sorted({*rules}))})"
