"""What is not wrong in a run but makes its numbers mean little."""

from __future__ import annotations

import numpy as np

from ..core.tables import Qrels, Run
from .build import warn
from .source import Source

NEARLY_ALL = 0.9
"""Share of the queries from which on constant scores are warned about."""


class Checks:
    """Counts over the parts of one run, and warns at its end."""

    def __init__(self, source: Source, dataset: Qrels | None = None) -> None:
        self.source, self.dataset = source, dataset
        self.constant = self.several = 0

    def add(self, run: Run) -> Run:
        """Count one part, and return it."""
        starts, lengths = run.offsets[:-1], np.diff(run.offsets)
        several = starts[lengths > 1]
        if several.size:
            # Empty queries share their start with the next one and are left out.
            bounds = np.flatnonzero(lengths > 0)
            low = np.minimum.reduceat(run.scores, starts[bounds])
            high = np.maximum.reduceat(run.scores, starts[bounds])
            self.constant += int(((low == high) & (lengths[bounds] > 1)).sum())
            self.several += several.size
        return run

    def warn(self, run: Run | None = None) -> None:
        """Warn of what was found; `run` is the whole run, where it is at hand."""
        if self.several and self.constant >= NEARLY_ALL * self.several:
            warn(
                self.source,
                f"all scores are equal in {self.constant} of {self.several} queries; there the "
                "policy for ties decides the order",
            )
        elif run is not None and self.dataset is not None and _are_grades(run, self.dataset):
            warn(
                self.source,
                "the scores equal the grades of the dataset, row by row; is it the column of "
                "grades that was saved?",
            )


def _are_grades(run: Run, dataset: Qrels) -> bool:
    same_rows = run.docnos is dataset.docnos and run.n_rows == dataset.n_rows
    return same_rows and bool(np.array_equal(run.scores, dataset.grades))
