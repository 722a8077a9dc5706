"""Whether the scores of a run are the grades of its documents."""

from __future__ import annotations

from collections.abc import Iterator

from .facts import RunFacts
from .finding import Finding, Severity
from .first import First
from .registry import finding

ENOUGH_OF_EACH = 10
"""Documents with a grade above 0, and of others, below which a correlation of 1 may be chance."""
ORDERED = 30
"""Queries of ten judged documents and more, from which on no system puts all in order."""
RARER = 3
"""Documents of other grades than their query's commonest one, in the mean of these queries: fewer,
such as the one known item of each, a good system may find all."""
TURNED = "the values are those of the labels turned upside down"
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
    n = run.ordered
    return n >= ORDERED and run.moments.n >= ENOUGH_OF_EACH * n and run.rarer >= RARER * n


def findings(run: RunFacts, place: str) -> Iterator[Finding]:
    """Yield that the scores of the run at `place` are labels."""
    count, effect, severity = run.moments.n, "", None
    if are_labels(run):
        sign = "1" if run.moments.xy > 0 else "-1"
        what = (
            f"scores and grades have a correlation of exactly {sign}, over {count:,} judged "
            "documents"
        )
        effect = "" if sign == "1" else TURNED
    elif are_of_grades(run):
        n, falls = run.grade_scores
        what = f"each of the {n} grades has one score of its own, over {count:,} judged documents"
        effect = TURNED if falls else ""
    elif are_in_order(run):
        count = run.ordered
        what = (
            f"in all {count:,} queries of several grades, every judged document comes before "
            "those of a lower grade"
        )
    elif run.split:
        what, count, severity = _separated(run)
    else:
        return
    first = run.first.get("labels-as-scores", First())
    yield finding("labels-as-scores", first.at(place), what, count, first.names, severity, effect)


def _separated(run: RunFacts) -> tuple[str, int, Severity]:
    threshold, queries, pairs = run.split
    grade, n = f"{threshold:.15g}", int(queries)
    whole = run.follows and run.judged == run.rows
    value = ": where the former are relevant, MAP over these queries is 1"
    what = (
        f"the scores separate grades of {grade} and more from those below in all {n:,} queries "
        f"that have both, without an error in {int(pairs):,} pairs of documents{value * whole}"
    )
    return what, n, "warning"
