"""Huge, tiny and infinite values: what they may and may not do to a comparison."""

from __future__ import annotations

import numpy as np
import pytest
from made_systems import systems

from harness.core.comparison import Plan
from harness.stats.compare import compare
from harness.stats.registry import load_all

TESTS = sorted(load_all())


@pytest.mark.parametrize("test", TESTS)
def test_a_query_with_huge_values_hides_no_other(test: str) -> None:
    rng = np.random.default_rng(5)
    values = np.array([rng.random(40), rng.random(40) + 0.9, rng.random(40) + 1.8])
    values[:, 0] = 1e16  # all diverge on it alike
    found = compare(systems(dict(zip("abc", values, strict=True))), Plan(test=test))
    for row in found.rows:
        assert (row.note, row.ties, row.wins + row.losses) == ("", 1, 39)
        assert row.p < 0.001
    assert [(one.rank_low, one.rank_high) for one in found.standings] == [(3, 3), (2, 2), (1, 1)]


def test_a_run_that_diverges_on_one_query_leaves_the_others_their_places() -> None:
    rng = np.random.default_rng(5)
    values = np.array([rng.random(40), rng.random(40) + 0.9, rng.random(40) + 1.8])
    values[0, 0] = 1e16
    for test in ("paired-t", "friedman-nemenyi"):
        found = compare(systems(dict(zip("abc", values, strict=True))), Plan(test=test))
        assert found.rows[2].p < 0.001  # b and c
        places = [(one.rank_low, one.rank_high) for one in found.standings]
        assert places[1:] == [(2, 3), (1, 2)]  # a is first where its query is drawn, else last
