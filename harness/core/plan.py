"""How runs are compared."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, get_args

from ..errors import UnknownNameError, did_you_mean

Correction = Literal["holm", "bonferroni", "bh", "by", "none"]
Family = Literal["table", "metric", "dataset"]
IntervalMethod = Literal["t", "bca"]
LEAST_DRAWS = 99
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
        For tests and intervals that draw: 99 draws at least, as fewer have no p of .01.
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
        level = self.level
        if not isinstance(level, Real):
            raise UnknownNameError(f"level {level!r}: it is a number, such as 0.05")
        if not 0 < level < 1:
            raise UnknownNameError(f"level {level:g}: it lies between 0 and 1, such as 0.05")
        for name, least in (("draws", LEAST_DRAWS), ("seed", 0)):
            given = getattr(self, name)
            if not isinstance(given, Integral) or isinstance(given, bool) or given < least:
                raise UnknownNameError(f"{name} {given!r}: a whole number from {least} on")
        for name in (self.test, *self.baselines, *self.metrics):
            if not isinstance(name, str):
                raise UnknownNameError(f"{name!r} is no name of a test, a run or a metric")

    @property
    def summary_draws(self) -> int:
        """Resamples for the interval of a summary: a quantile that more of them hardly move."""
        return min(self.draws, 2000)
