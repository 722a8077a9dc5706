"""What DCG adds up: gains by grade, discounts by rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import Metric
from ..core.ragged import Array, Bools, Floats, Ints, Ragged, offsets_of, positions_of
from ..core.settings import Range
from ..errors import InputError, Problem
from .shared import log2_discount, log2_of

Gain = Literal["linear", "exp", "letor", "mslr", "exp-int32"]
Discount = Literal["log2", "jarvelin", "position"]
Negative = Literal["zero", "value"]
Floor = Annotated[float, Range(0, None)]
TABLES: dict[str, tuple[int, ...]] = {"letor": (0, 1, 3), "mslr": (0, 1, 3, 7, 15)}
"""Gains of grades 0, 1, ... in the scripts of LETOR 3.0 and 4.0 and of MSLR; 0 beyond."""
_LARGEST_EXPONENT = 1000
_BITS = 32
"""Java shifts a 32-bit number by the lowest 5 bits of the distance: 1 << 40 is 1 << 8."""


class Scale(NamedTuple):
    """How much a document counts in DCG, by its grade and its rank.

    `gain`, `discount`, `negative` and `floor` are the parameters of ``ndcg``.
    """

    gain: Gain = "linear"
    discount: Discount = "log2"
    negative: Negative = "zero"
    floor: float = 0.0

    def counts(self, grades: Array) -> Bools:
        """Return which grades can gain something."""
        counted: Bools = grades > 0 if self.floor == 0 else (grades >= self.floor) & (grades > 0)
        return counted | (grades < 0) if self.keeps_negative else counted

    @property
    def keeps_negative(self) -> bool:
        """Whether grades below 0 gain something."""
        return self.negative == "value" and self.gain in ("linear", "exp")

    def takes_relevant(self, grades: Array) -> bool:
        """Whether it is the grades from 1 that gain something."""
        return grades.dtype.kind == "i" and not self.keeps_negative and self.floor <= 1

    def items(self, aligned: Aligned) -> tuple[Ragged, Ints]:
        """Return the judged and retrieved documents that can gain something, and their ranks."""
        if self.takes_relevant(aligned.grade):
            return aligned.found(1), aligned.rank_of_relevant(1)

        def make() -> tuple[Ragged, Ints]:
            found = aligned.by_query(np.flatnonzero(self.counts(aligned.grade)))
            return found, aligned.rank[found.values]

        return aligned.memo(("items", self), make)

    def ideal(self, aligned: Aligned, cutoff: int | None = None) -> tuple[Ints, Ints, Ints]:
        """Return query, index and ideal rank of the judgements that can gain something.

        The ideal order is by falling grade; by falling gain if a table gives high grades
        nothing. With a cutoff the rest of it is left out.
        """
        best = aligned.ideal
        if self.gain not in TABLES and not self.keeps_negative:  # then they come first
            if self.takes_relevant(best.values):
                lengths = aligned.n_relevant(1)
            else:
                lengths = best.count(self.counts(best.values))
            return best.head(lengths if cutoff is None else np.minimum(lengths, cutoff))
        keep = self.counts(best.values)
        if self.gain in TABLES:
            keep &= self.gains(best.values) > 0
            rank = positions_of(offsets_of(best.count(keep)), first=1)
        else:
            rank = best.rank[keep]
        at = np.flatnonzero(keep)
        if cutoff is not None:
            at, rank = at[rank <= cutoff], rank[rank <= cutoff]
        return best.row[at], at, rank

    def gains(self, grades: Array) -> Floats:
        """Return the gain of each grade, those that count for nothing included."""
        values = gains_of(grades, self.gain, self.negative)
        return values if self.floor == 0 else values * self.counts(grades)

    def discounts(self, ranks: Ints) -> Floats:
        """Return what a gain at each rank is divided by."""
        return DISCOUNTS[self.discount](ranks)


def scale_of(metric: Metric) -> Scale | None:
    """Return the gains and discounts that a metric adds up; None if it is not DCG or nDCG."""
    arguments: dict[str, Any] = metric.arguments()
    if metric.definition.name not in ("dcg", "ndcg") or arguments.get("gains"):
        return None
    return Scale(**{name: arguments[name] for name in Scale._fields if name in arguments})


def gains_of(grades: Array, gain: Gain, negative: Negative = "zero") -> Floats:
    """Return the gain of each grade, ``(n,)``; ``ndcg`` documents the kinds of gain."""
    if gain in ("linear", "exp"):
        kept = grades if negative == "value" else np.maximum(grades, 0)
        return kept.astype(np.float64) if gain == "linear" else _exponential(kept)
    whole = np.maximum(grades, 0).astype(np.int64)
    if gain == "exp-int32":
        return _exponential(whole % _BITS)
    table = np.array([*TABLES[gain], 0], dtype=np.float64)
    return table[np.minimum(whole, table.size - 1)]


def _exponential(grades: Array) -> Floats:
    largest = grades.max(initial=0)
    if largest > _LARGEST_EXPONENT:
        what = f"expected grades of at most {_LARGEST_EXPONENT}, got {largest}"
        raise InputError(Problem("gain=exp", what, fix="use gain=linear, or smaller grades"))
    if grades.dtype.kind == "f":
        fractional: Floats = np.exp2(grades) - 1.0
        return fractional
    gains: Floats = np.ldexp(1.0, grades.astype(np.intc)) - 1.0  # exact; exp2 need not be
    return gains


DISCOUNTS: dict[str, Callable[[Ints], Floats]] = {
    "log2": log2_discount,
    "jarvelin": lambda ranks: log2_of(np.maximum(ranks, 2)),
    "position": lambda ranks: ranks.astype(np.float64),
}
"""What a gain at each rank (from 1) is divided by. ``log2``: log2(rank + 1). ``jarvelin``: 1 at
ranks 1 and 2, then log2(rank), as in Järvelin and Kekäläinen with base 2. ``position``: the rank.
"""
