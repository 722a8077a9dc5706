"""How runs are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import UnknownNameError, did_you_mean

Correction = Literal["holm", "bonferroni", "bh", "by", "none"]
Family = Literal["table", "metric", "dataset"]
IntervalMethod = Literal["t", "bca"]
_CHOICES = {
    "correction": get_args(Correction),
    "family": get_args(Family),
    "interval": get_args(IntervalMethod),
}


@dataclass(frozen=True)
class Plan:
    """How runs are compared.

    Parameters
    ----------
    baselines : tuple of str
        Runs that the others are compared to; every run to every other where empty.
    test : str
        Name of a test of :mod:`harness.stats`.
    correction : {"holm", "bonferroni", "bh", "by", "none"}
        For several comparisons; a test of all pairs has its own, and this is not used.
    family : {"table", "metric", "dataset"}
        Which comparisons are corrected together: all of them, those of one metric on one
        dataset, or those of one dataset.
    level : float
        A comparison is significant where its adjusted p-value is at most this.
    interval : {"t", "bca"}
        How the interval of a difference is had.
    draws, seed : int
        For tests and intervals that draw.
    metrics : tuple of str
        Names of the metrics compared; all that are means and have a direction where empty.
    """

    baselines: tuple[str, ...] = ()
    test: str = "paired-t"
    correction: Correction = "holm"
    family: Family = "table"
    level: float = 0.05
    interval: IntervalMethod = "t"
    draws: int = 10_000
    seed: int = 0
    metrics: tuple[str, ...] = ()

    @property
    def rank_draws(self) -> int:
        """Resamples for the interval of a rank, a whole number that 1,000 of them settle."""
        return min(self.draws, 1000)

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            given = getattr(self, name)
            if given not in known:
                near = did_you_mean(str(given), known)
                raise UnknownNameError(f"unknown {name} '{given}'{near}  (all: {', '.join(known)})")
        if not 0 < self.level < 1:
            raise UnknownNameError(f"level {self.level:g}: it lies between 0 and 1, such as 0.05")
        if self.draws < 1 or self.seed < 0:
            raise UnknownNameError("draws are at least 1, and a seed is at least 0")
