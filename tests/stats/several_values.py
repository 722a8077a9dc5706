"""Values of several systems for the tests of all pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.core.ragged import Floats

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "significance.json").read_text(encoding="utf-8")
)["multi_system"]["systems6x30"]
VALUES: Floats = np.array(GOLDEN["scores"])
EXPECTED: dict[str, Any] = GOLDEN["expected"]
PAIRS = tuple(np.triu_indices(6, 1))
ALL_PAIRS = ("tukey", "randomized-tukey", "friedman-nemenyi")


def of_pairs(found: dict[str, Any]) -> list[Any]:
    """The golden values of the pairs, in the order of the upper triangle."""
    return [found[pair] for pair in EXPECTED["pairs"]]


@st.composite
def tables(draw: st.DrawFn, systems: int | None = None) -> Floats:
    """Values in tenths of two to five systems on two to eight queries: many ties."""
    n_systems = systems or draw(st.integers(2, 5))
    shape = (n_systems, draw(st.integers(2, 8)))
    return draw(arrays(np.int64, shape, elements=st.integers(0, 10))) / 10
