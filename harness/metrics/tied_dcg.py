"""Expectations of DCG and nDCG over the orders of tied documents."""

from __future__ import annotations

from typing import Literal

from ..core.aligned import Aligned
from ..core.ragged import Floats
from .dcg_sums import (
    expected_dcg_of_gains,
    expected_list_dcg,
    ideal_dcg,
    ideal_dcg_of_gains,
    share_of_ideal,
)
from .gains import Discount, Gain, Negative, Scale
from .short_lists import Short, without_short_lists
from .trec_gain_table import Gains


def expected_dcg(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    negative: Negative = "zero",
    floor: float = 0.0,
    short: Short = "cut",
    cutoff: int | None = None,
) -> Floats:
    """Return the expectation of ``dcg``."""
    values = expected_list_dcg(aligned, Scale(gain, discount, negative, floor), cutoff)
    return without_short_lists(aligned, values, cutoff, short)


def expected_ndcg(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    gains: Gains = (),
    short: Short = "cut",
    ideal: Literal["cut", "full"] = "cut",
    discount: Discount = "log2",
    negative: Negative = "zero",
    floor: float = 0.0,
    spill: bool = False,
    cutoff: int | None = None,
) -> Floats:
    """Return the expectation of ``ndcg``: the ideal DCG is the same whatever the order."""
    ideal_cutoff = cutoff if ideal == "cut" else None
    scale = Scale(gain, discount, negative, floor)
    if gains:
        actual = expected_dcg_of_gains(aligned, gains, scale, cutoff)
        best = ideal_dcg_of_gains(aligned, gains, scale, ideal_cutoff)
    else:
        actual = expected_list_dcg(aligned, scale, cutoff, spill)
        best = ideal_dcg(aligned, scale, ideal_cutoff)
    return without_short_lists(aligned, share_of_ideal(actual, best), cutoff, short)
