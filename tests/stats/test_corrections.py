"""Corrections against their definitions, statsmodels and the golden values."""

from typing import Any

import numpy as np
import pytest
from goldens import golden
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats import multitest

from harness.stats.comparison import Correction
from harness.stats.corrections import adjust

GOLDEN = golden("significance")
NAMES: dict[Correction, str] = {
    "holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh", "by": "fdr_by",
}  # fmt: skip
SYSTEMS = GOLDEN["multi_system"]["systems6x30"]["expected"]
FAMILIES = st.lists(
    st.floats(0, 1, allow_subnormal=False) | st.sampled_from([0.01, 0.02, 0.5]),
    min_size=1,
    max_size=12,
)


def golden_families() -> list[tuple[list[float], dict[str, Any]]]:
    found = [(SYSTEMS["paired_t_raw"], SYSTEMS["corrections"])]
    return found + [(each["p"], each["methods"]) for each in GOLDEN["p_vectors"]]


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize(("p", "expected"), golden_families())
def test_golden_values(p: list[float], expected: dict[str, Any], method: Correction) -> None:
    adjusted = adjust(np.array(p), method)
    assert adjusted == pytest.approx(expected[NAMES[method]]["adjusted"], rel=1e-12, abs=0)
    assert (adjusted <= 0.05).tolist() == expected[NAMES[method]]["reject_05"]


@pytest.mark.parametrize("method", NAMES)
@given(p=FAMILIES)
def test_statsmodels(p: list[float], method: Correction) -> None:
    expected = multitest.multipletests(p, method=NAMES[method])[1]
    assert adjust(np.array(p), method) == pytest.approx(expected, rel=1e-12, abs=0)
