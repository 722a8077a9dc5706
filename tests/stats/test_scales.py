"""Huge, tiny and infinite values: what they may and may not do to a comparison."""

from __future__ import annotations

import numpy as np
import pytest
from made_systems import systems

from harness.core.comparison import Plan
from harness.errors import HarnessError
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
    # the summaries, 2.5e14 each, are one number but for floating point: all have rank 1
    assert [(one.rank_low, one.rank_high) for one in found.standings] == [(1, 3), (1, 2), (1, 1)]


def test_a_run_that_diverges_on_one_query_leaves_the_others_their_places() -> None:
    rng = np.random.default_rng(5)
    values = np.array([rng.random(40), rng.random(40) + 0.9, rng.random(40) + 1.8])
    values[0, 0] = 1e16
    for test in ("paired-t", "friedman-nemenyi"):
        found = compare(systems(dict(zip("abc", values, strict=True))), Plan(test=test))
        assert found.rows[2].p < 0.001  # b and c
        places = [(one.rank_low, one.rank_high) for one in found.standings]
        assert places[1:] == [(2, 3), (1, 2)]  # a is first where its query is drawn, else last


def test_an_infinite_value_is_an_error_that_names_the_queries() -> None:
    inf = np.inf
    found = systems({"a": [0.1, inf, 0.3, -inf], "b": [0.2, 0.5, 0.3, 0.35], "c": [inf] + 3 * [0]})
    for test in TESTS:
        with pytest.raises(HarnessError) as caught:
            compare(found, Plan(test=test))
        assert str(caught.value) == (
            "a on trec: map is infinite on q1, q3: no mean to compare\n"
            "c on trec: map is infinite on q0: no mean to compare\n"
            "  fix:   mend the scores, or name the metrics to compare without it"
        )


def test_an_infinite_value_of_a_metric_not_compared_is_none() -> None:
    found = systems(
        {"a": [[0.1, 0.2, 0.4], [np.inf, 0, 0]], "b": [[0.2, 0.2, 0.3], [0, 0, 0]]},
        metrics=("map", "mse"),
    )
    assert len(compare(found, Plan(metrics=("map",))).rows) == 1


@pytest.mark.parametrize("interval", ["t", "bca"])
@pytest.mark.parametrize("test", TESTS)
def test_nothing_hangs_on_the_unit(test: str, interval: str) -> None:
    """A power of 2 changes no digit: all but what is in the metric's unit is the same."""
    values = np.random.default_rng(7).random((3, 20))
    plan = Plan(test=test, interval=interval, draws=500)
    expected = compare(systems(dict(zip("abc", values, strict=True))), plan)
    for exponent in (-1000, -570, 530, 1000):
        found = compare(systems(dict(zip("abc", np.ldexp(values, exponent), strict=True))), plan)
        for one, known in zip(found.rows, expected.rows, strict=True):
            assert (one.p, one.d_z, one.wins) == (known.p, known.d_z, known.wins)
            ends = np.array([one.low, one.high, one.difference, one.detectable])
            of_one = np.array([known.low, known.high, known.difference, known.detectable])
            assert ends.tolist() == np.ldexp(of_one, exponent).tolist()
        for place, known in zip(found.standings, expected.standings, strict=True):
            assert (place.rank, place.rank_low, place.rank_high) == (
                known.rank, known.rank_low, known.rank_high,
            )  # fmt: skip
            assert place.tier == known.tier
