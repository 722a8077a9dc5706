"""What the scores of a run say by themselves: how wide they are, constant, beyond all bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .first import EXAMPLES, First
from .part import Part

_LARGEST = float(np.finfo(np.float32).max)


class Scores:
    """Sums up the scores of a run, part by part."""

    def __init__(self) -> None:
        self.lowest, self.highest = np.inf, -np.inf
        self.sum_lowest = self.sum_highest = 0.0
        self.queries = self.several = self.constant = self.overflow = 0
        self.first_constant = self.first_overflow = First()

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        low, high = part.run.extremes
        answered = part.lengths > 0
        several = part.lengths[answered] > 1
        constant = (low == high) & several
        self.queries += low.size
        self.several += int(several.sum())
        if constant.any():
            self.constant += int(constant.sum())
            if not self.first_constant.full:
                which = np.flatnonzero(answered)[constant]
                self.first_constant = self.first_constant.more(part.queries(which))
        lowest, highest = float(low.min()), float(high.max())
        self.lowest, self.highest = min(self.lowest, lowest), max(self.highest, highest)
        with np.errstate(over="ignore"):
            self.sum_lowest += float(low.sum())
            self.sum_highest += float(high.sum())
        if max(highest, -lowest) > _LARGEST:
            self._beyond(part)

    def _beyond(self, part: Part) -> None:
        rows = np.flatnonzero(np.abs(part.run.scores) > _LARGEST)
        self.overflow += rows.size
        rows = rows[:EXAMPLES]
        said = (f"{score:.3g}" for score in part.run.scores[rows].tolist())
        self.first_overflow = self.first_overflow.more(part.documents(rows, said))

    def facts(self) -> dict[str, Any]:
        """Return what :class:`~harness.guard.facts.RunFacts` has of it."""
        n = self.queries
        return {
            "lowest": float(self.lowest) if n else 0.0,
            "highest": float(self.highest) if n else 0.0,
            "mean_lowest": self.sum_lowest / n if n else 0.0,
            "mean_highest": self.sum_highest / n if n else 0.0,
            "several": self.several,
            "constant": self.constant,
            "overflow": self.overflow,
        }

    def first(self) -> dict[str, First]:
        """Return the first of each thing, by rule."""
        return {"constant-scores": self.first_constant, "overflow": self.first_overflow}
