"""Intervals over repetitions and queries together."""

from __future__ import annotations

import numpy as np
import pytest
from made_systems import entry

from harness.core.comparison import Plan
from harness.core.systems import System
from harness.stats import bootstrap as resampling
from harness.stats import intervals as clustered
from harness.stats.intervals import clustered_interval
from harness.stats.streams import Stream


def test_one_repetition_is_the_bootstrap_over_queries() -> None:
    values = np.random.default_rng(1).beta(2, 3, size=(1, 60))
    low, high = clustered_interval(values, stream=Stream(draws=40_000))
    # the mean of 60: its standard error x 1.96
    error = values.std() / np.sqrt(60)
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.15 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.15 * error)


def test_both_sources_of_spread_add_up() -> None:
    rng = np.random.default_rng(2)
    seeds, queries = rng.normal(0, 0.3, (8, 1)), rng.normal(0, 1.0, (1, 50))
    low, high = clustered_interval(0.5 + seeds + queries, stream=Stream(draws=40_000))
    # variance of a bootstrap mean: that of the seeds / 8 + that of the queries / 50
    spread = np.sqrt(seeds.var() / 8 + queries.var() / 50)
    assert (high - low) / (2 * 1.96) == pytest.approx(spread, rel=0.03)


def test_it_covers_the_truth_where_the_means_of_seeds_alone_do_not() -> None:
    """How often the interval holds the true mean: five seeds, 40 queries, 400 experiments."""
    rng = np.random.default_rng(3)
    held = alone = 0
    for trial in range(400):
        values = rng.normal(0, 0.05, (5, 1)) + rng.normal(0, 0.3, (1, 40))
        values = values + rng.normal(0, 0.1, values.shape)
        low, high = clustered_interval(values, stream=Stream((str(trial),), draws=999))
        held += low <= 0 <= high
        means = values.mean(axis=1)
        half = 2.776 * means.std(ddof=1) / np.sqrt(5)
        alone += abs(means.mean()) <= half
    assert held / 400 > 0.9
    assert alone / 400 < 0.8


def test_the_same_stream_gives_the_same_bits() -> None:
    values = np.random.default_rng(4).random((3, 20))
    stream = Stream(("trec", "map", "a"), draws=999)
    assert clustered_interval(values, stream=stream) == clustered_interval(values, stream=stream)
    other = Stream(("trec", "map", "b"), draws=999)
    assert clustered_interval(values, stream=stream) != clustered_interval(values, stream=other)


def test_one_query_has_no_interval() -> None:
    assert np.isnan(clustered_interval(np.zeros((3, 1)))).all()


@pytest.mark.parametrize("together", [1, 150, 10**6])
def test_what_is_counted_together_changes_no_digit(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = np.random.default_rng(3).normal(size=(70, 5))
    stream = Stream(draws=5000)
    # as it is defined: each draw's sum over the queries, each as often as it was drawn
    drawn = stream.rng().integers(70, size=(5000, 70))
    counts = np.array([np.bincount(row, minlength=70) for row in drawn])
    expected = np.einsum("dq,sq->ds", counts.astype(float), np.ascontiguousarray(columns.T)) / 70
    monkeypatch.setattr(resampling, "TOGETHER", together)
    assert np.array_equal(resampling.resampled_means(columns, stream), expected)


def test_the_interval_of_a_system_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(values: np.ndarray, level: float, stream: Stream) -> tuple[float, float]:
        calls.append(stream.draws)
        return level, 1.0

    monkeypatch.setattr(clustered, "clustered_interval", counted)
    system = System("trec", "a", (entry("a", [0.1, 0.2]), entry("a", [0.3, 0.5])))
    for plan in (Plan(), Plan(), Plan(level=0.1), Plan(draws=500), Plan(draws=500)):
        assert clustered.clustered(system, system.metrics[0], plan)[0] == plan.level
    assert calls == [2000, 2000, 500]
