"""What the scores of a run say by themselves: their range, constant ones, and too large ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import Finding
from .parts import EXAMPLES, Firsts, Part, placing
from .registry import by_share, plural

if TYPE_CHECKING:
    from .facts import RunFacts

_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class ScoreFacts:
    """Of the scores of a run.

    Parameters
    ----------
    lowest, highest : float
    mean_lowest, mean_highest : float
        Of the queries' own smallest and largest scores.
    several, constant : int
        Queries with two documents and more; those whose scores are all equal.
    overflow : int
        Rows beyond the largest number of single precision.
    """

    lowest: float = 0.0
    highest: float = 0.0
    mean_lowest: float = 0.0
    mean_highest: float = 0.0
    several: int = 0
    constant: int = 0
    overflow: int = 0


class Scores:
    """Sums up the scores of a run, part by part."""

    def __init__(self, first: Firsts) -> None:
        self.first = first
        self.lowest, self.highest = np.inf, -np.inf
        self.sum_lowest = self.sum_highest = 0.0
        self.queries = self.several = self.constant = self.overflow = 0

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        low, high = part.run.extremes
        answered = part.lengths > 0
        several = part.lengths[answered] > 1
        constant = (low == high) & several
        self.queries += low.size
        self.several += int(several.sum())
        self.constant += int(constant.sum())
        if self.first.lacks("constant-scores") and constant.any():
            self.first.add("constant-scores", part.queries(np.flatnonzero(answered)[constant]))
        self.lowest = min(self.lowest, float(low.min()))
        self.highest = max(self.highest, float(high.max()))
        with np.errstate(over="ignore"):
            self.sum_lowest += float(low.sum())
            self.sum_highest += float(high.sum())
        if max(high.max(), -low.min()) > _LARGEST:
            rows = np.flatnonzero(np.abs(part.run.scores) > _LARGEST)
            self.overflow += rows.size
            notes = [f"{score:.3g}" for score in part.run.scores[rows[:EXAMPLES]].tolist()]
            self.first.add("overflow", part.documents(rows, notes))

    def facts(self) -> ScoreFacts:
        """Return the facts of all parts."""
        n = self.queries
        if not n:
            return ScoreFacts()
        return ScoreFacts(
            float(self.lowest), float(self.highest), self.sum_lowest / n, self.sum_highest / n,
            self.several, self.constant, self.overflow,
        )  # fmt: skip


def findings(run: RunFacts, place: str) -> Iterator[Finding]:
    """Yield queries of equal scores, and scores that single precision cannot hold."""
    scores, found = run.scores, placing(place, run.first)
    if scores.constant:
        what = f"all scores are equal in {scores.constant:,} of {plural(scores.several, 'query')}"
        severity = by_share(scores.constant, scores.several)
        yield found("constant-scores", what, scores.constant, severity)
    if scores.overflow and run.single:
        what = f"{scores.overflow:,} of {plural(run.queries.rows, 'score')} are beyond 3.4e38"
        yield found("overflow", what, scores.overflow)
