"""What is printed of comparisons is so: draws where something was drawn, real families."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import harness
from harness.core.comparison import Comparisons, comparison_rows
from harness.reports.comparisons import notes, standing_notes

QRELS = {f"q{place:03}": {"a": 1, "b": 0, "c": 0, "d": 1} for place in range(60)}
RNG = np.random.default_rng(2)
RUNS = {
    name: {qid: {doc: float(RNG.random()) for doc in "abcd"} for qid in QRELS}
    for name in ("one", "two", "three")
}


def by(test: str, metric: str, **keys: Any) -> Comparisons:
    return harness.compare(QRELS, RUNS, [metric], test=test, draws=999, seed=4, **keys)


def said_of_draws(found: Comparisons) -> list[str]:
    return [line for line in notes(found) if line.startswith("drawn")]


def test_an_exact_test_draws_nothing() -> None:
    found = by("randomization", "P@2")  # values of 0, .5 and 1: all flips are counted
    assert {one.method for one in found.rows} == {"exact"}
    assert said_of_draws(found) == []
    assert not found.drawn
    rows = comparison_rows(found)
    assert {(row["draws"], row["seed"]) for row in rows} == {(None, None)}


def test_what_is_drawn_says_so() -> None:
    found = by("bootstrap", "map")
    assert said_of_draws(found) == ["drawn: 999 times, seed 4"]
    assert {(row["draws"], row["seed"]) for row in comparison_rows(found)} == {(999, 4)}
    found = by("paired-t", "map", interval="bca")
    assert said_of_draws(found) == ["drawn: 999 times, seed 4"]
    assert said_of_draws(by("paired-t", "map")) == []


def test_draws_of_one_comparison_are_not_those_of_another() -> None:
    runs = {"one": RUNS["one"], "same": RUNS["one"], "two": RUNS["two"]}
    found = harness.compare(QRELS, runs, ["map"], baseline="one", test="bootstrap", draws=999)
    same, other = comparison_rows(found)
    assert (same["note"], same["draws"], same["seed"]) == ("identical", None, None)
    assert (other["draws"], other["seed"]) == (999, 0)


def test_draws_of_the_interval_of_ranks() -> None:
    line = standing_notes(by("paired-t", "map"))[1]
    assert line.endswith("interval of the rank, by bootstrap over queries (999 draws, seed 4)")
    found = harness.compare(QRELS, RUNS, ["map"], draws=10_000)
    assert standing_notes(found)[1].endswith("(1000 draws, seed 0)")


@pytest.mark.parametrize("family", ["table", "metric", "dataset"])
def test_no_p_is_no_family_of_0(family: Any) -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    runs = {"one": {"q": {"a": 1.0, "b": 0.0}}, "two": {"q": {"a": 0.0, "b": 1.0}}}
    found = harness.compare(qrels, runs, ["map"], family=family)
    assert notes(found)[0] == (
        "Paired two-sided t-test; nothing to correct, as no comparison has a p"
    )
    assert notes(by("paired-t", "map", family=family))[0].endswith("(3)")
