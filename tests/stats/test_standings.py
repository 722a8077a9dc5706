"""Standings: one set of queries for rank, its interval and tier."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_systems import systems

from harness.core.comparison import Comparisons, Plan, Standing
from harness.reports.comparisons import STANDINGS, files, standing_grids, standing_notes
from harness.stats.compare import compare

NAN = math.nan
ALL = ["paired-t", "tukey", "randomized-tukey", "friedman-nemenyi"]


def by_run(found: Comparisons) -> dict[str, Standing]:
    return {one.run: one for one in found.standings}


def test_ranks_are_over_the_queries_that_all_have() -> None:
    # a has .9 on two queries only; on these b and c have 1 and .8, though their means are lower
    found = compare(
        systems({"a": [0.9, 0.9, NAN, NAN], "b": [1.0, 1.0, 0.0, 0.2], "c": [0.8, 0.7, 0.6, 0.6]}),
        Plan(),
    )
    stands = by_run(found)
    assert {run: one.rank for run, one in stands.items()} == {"b": 1, "a": 2, "c": 3}
    assert {run: (one.n, one.n_ranked) for run, one in stands.items()} == {
        "a": (2, 2), "b": (4, 2), "c": (4, 2),
    }  # fmt: skip
    assert stands["b"].value == pytest.approx(0.55)
    assert standing_notes(found)[-1] == (
        "tier and ranks: over the queries that all runs with values have one for"
    )


@given(st.integers(0, 500), st.sampled_from(["map", "arp"]))
@settings(max_examples=60, deadline=None)
def test_an_interval_holds_its_rank(seed: int, metric: str) -> None:
    rng = np.random.default_rng(seed)
    values = rng.random((4, 12))
    values[rng.random((4, 12)) < 0.2] = NAN
    made = {f"s{place}": row for place, row in enumerate(values.tolist())}
    for one in compare(systems(made, metrics=(metric,)), Plan(draws=99)).standings:
        assert one.rank_low <= one.rank
        assert one.rank <= one.rank_high or (one.n_ranked < 2 and not one.rank_high)


@pytest.mark.parametrize("test", ALL)
@pytest.mark.parametrize("metric", ["map", "arp"])
def test_a_run_without_values_takes_nothing_from_the_others(test: str, metric: str) -> None:
    rng = np.random.default_rng(4)
    made = {run: (rng.random(20) + bonus).tolist() for run, bonus in (("a", 0), ("b", 1), ("c", 1))}
    plan = Plan(test=test, draws=999)
    without = compare(systems(made, metrics=(metric,)), plan)
    some = systems({**made, "none": [NAN] * 20}, metrics=(metric,))
    found = compare(some, plan)
    stands = by_run(found)
    for run, one in by_run(without).items():
        assert repr(stands[run]) == repr(one)
    none = stands["none"]
    assert (none.n, none.rank, none.rank_low, none.rank_high, none.tier) == (0, 0, 0, 0, "")
    assert [size for _, size in found.family_sizes] == [3]
    for row in found.rows:
        if row.run == "none":
            assert (row.n, row.note, math.isnan(row.p)) == (0, "n=0", True)
        else:
            before = without.get("trec", metric, row.baseline, row.run)
            assert repr(row) == repr(before)  # from Python 3.13 on nan in a row equals no other
    against = compare(some, Plan(("a",), test=test, draws=999))
    assert by_run(against)["none"].tier == ""
    assert by_run(against)["b"].tier == stands["b"].tier == ("1" if metric == "map" else "2")


def test_one_query_has_no_interval_of_the_rank() -> None:
    found = compare(systems({"a": [0.1, NAN], "b": [0.3, 0.2], "c": [0.2, 0.9]}), Plan())
    for one in found.standings:
        assert (one.n_ranked, one.rank_low, one.rank_high, one.tier) == (1, 0, 0, "")
    assert {run: one.rank for run, one in by_run(found).items()} == {"b": 1, "c": 2, "a": 3}
    (grid,) = standing_grids(found)
    assert [[cell.text for cell in row[1:4]] for row in grid.rows] == [
        ["–", "1", "–"],
        ["–", "2", "–"],
        ["–", "3", "–"],
    ]
    rows = list(csv.DictReader(io.StringIO(files(found)[STANDINGS].decode())))
    assert [(row["rank"], row["rank_low"], row["rank_high"]) for row in rows] == [
        ("3", "", ""), ("1", "", ""), ("2", "", ""),
    ]  # fmt: skip


def test_no_query_that_all_have() -> None:
    found = compare(systems({"a": [0.1, NAN], "b": [NAN, 0.2]}), Plan())
    for one in found.standings:
        assert (one.n, one.n_ranked, one.rank, one.rank_high, one.tier) == (1, 0, 0, 0, "")


def test_a_run_alone_is_first() -> None:
    found = compare(systems({"a": [0.1, 0.2], "b": [NAN, NAN]}), Plan())
    one = by_run(found)["a"]
    assert (one.rank, one.rank_low, one.rank_high, one.tier) == (1, 1, 1, "1")


def test_a_run_with_a_huge_value_ties_no_others() -> None:
    found = compare(systems({"a": [1e16, 0.1], "b": [0.5, 0.5], "c": [0.4, 0.3]}), Plan())
    assert {run: one.rank for run, one in by_run(found).items()} == {"a": 1, "b": 2, "c": 3}
