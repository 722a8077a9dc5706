"""What becomes of seeds and folds in a leaderboard."""

from __future__ import annotations

from dataclasses import dataclass

NOT_COMPARED = (
    "runs are compared query by query, and average weighs queries by the size of their part; "
    "pool the parts, or leave compare out"
)
"""Why there are no comparisons beside an average."""


@dataclass(frozen=True)
class Summary:
    """What becomes of captured columns in the rows of a leaderboard.

    Parameters
    ----------
    pool : tuple of str
        Columns of datasets that are parts of one (folds): their queries are taken together.
    average : tuple of str
        Such columns whose parts count alike: the summary is the mean of the parts' summaries,
        whatever their sizes.
    spread : tuple of str
        Columns of repetitions (seeds), which become mean and deviation.
    best : tuple of str
        Columns of which the best value alone is shown, chosen on the very queries that are
        reported: too good to be true, and so only on request.
    """

    pool: tuple[str, ...] = ()
    average: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    best: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns that tell the parts of a dataset apart."""
        return (*self.pool, *self.average)

    def __bool__(self) -> bool:
        return bool(self.pool or self.average or self.spread or self.best)
