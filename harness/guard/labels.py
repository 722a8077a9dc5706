"""Whether the scores of a run are the grades of its documents."""

from __future__ import annotations

from .facts import RunFacts

ENOUGH_OF_EACH = 10
"""Documents with a grade above 0, and of others, below which a correlation of 1 may be chance."""
ORDERED = 30
"""Queries of ten judged documents and more, from which on no system puts all in order."""
EXACT = 1e-9
"""How far a correlation that is exactly 1 may be from it, by rounding."""


def are_labels(run: RunFacts) -> bool:
    """Whether scores and grades have a correlation of exactly 1, or -1."""
    others = run.moments.n - run.positive
    enough = min(run.positive, others) >= ENOUGH_OF_EACH
    return enough and abs(run.moments.correlation) >= 1 - EXACT


def are_of_grades(run: RunFacts) -> bool:
    """Whether each of several grades has one score of its own: labels under any map."""
    return bool(run.grade_scores)


def are_in_order(run: RunFacts) -> bool:
    """Whether every query of many is in the order of its grades."""
    return run.ordered >= ORDERED and run.moments.n >= ENOUGH_OF_EACH * run.ordered
