"""Two lists of names: golden leaderboards, hand-worked values, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.errors import InputError, UnknownNameError
from harness.metrics.similarity import rank_similarity

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "rank_similarity.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", GOLDEN["leaderboards"], ids=lambda case: str(len(case["A"])))
def test_golden_leaderboards(case: dict) -> None:
    expected = case["expected"]
    for tied in ("w", "a", "b"):
        found = rank_similarity(case["A"], case["B"], p=0.9, tied=tied)  # type: ignore[arg-type]
        overlap = expected["RBO_p0.9"][tied]
        assert found.rbo == pytest.approx(overlap["ext"], abs=1e-12)
        assert found.rbo_min == pytest.approx(overlap["min"], abs=1e-12)
        assert found.rbo_max == pytest.approx(overlap["max"], abs=1e-12)
        assert found.rbo_res == pytest.approx(overlap["res"], abs=1e-12)
        assert found.tau_b == pytest.approx(expected["tau_b"], abs=1e-12)
        assert found.spearman == pytest.approx(expected["spearman"], abs=1e-12)
        assert found.rank_change == expected["rank_change"]
        changes = [abs(change) for change in found.rank_change.values()]
        assert max(changes) == expected["max_abs_rank_change"]
        assert sum(changes) / len(changes) == pytest.approx(expected["mean_abs_rank_change"])
        assert found.same_top == expected["top1_same"]
        assert found.swaps == expected["discordant_swaps"]
        assert found.swaps_normalised == pytest.approx(expected["swaps_normalised"], abs=1e-15)
        n = found.shared
        assert n * (n - 1) // 2 - found.swaps == expected["concordant"]


@pytest.mark.parametrize("case", GOLDEN["correlation"], ids=lambda case: case["name"])
def test_golden_score_vectors(case: dict) -> None:
    first, second = ({f"s{i}": x for i, x in enumerate(case[key])} for key in ("x", "y"))
    found = rank_similarity(first, second)
    for value, key in (
        (found.tau_a, "tau_a"), (found.tau_b, "tau_b"), (found.spearman, "spearman"),
        (found.swaps, "swaps_discordant"),
    ):  # fmt: skip
        expected = math.nan if case[key] is None else case[key]
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), key
    for value, key in ((found.tau_ap, "tau_ap_a_truth_x"), (found.tau_ap_back, "tau_ap_truth_y")):
        if case[key] is not None:
            assert value == pytest.approx(case[key], abs=1e-12), key


def test_by_hand() -> None:
    # a (b c) d against b a e: of a, b the order is the opposite; both lists have a and b
    found = harness.rank_similarity(["a", ["b", "c"], "d"], ["b", "a", "e"], p=0.5, tied="a")
    assert (found.shared, found.only_first, found.only_second) == (2, ("c", "d"), ("e",))
    assert (found.swaps, found.swaps_normalised, found.tau_b) == (1, 1.0, -1.0)
    assert found.rank_change == {"a": -1, "b": 1}
    assert not found.same_top
    # X = 0, 1 * 1 + 1/2 * 1, 2 at depths 1 to 3: AO = (0 + 3/4 + 2/3) / 3
    assert found.ao == pytest.approx((0.75 + 2 / 3) / 3, abs=1e-15)
    assert found.rbo_res == pytest.approx(found.rbo_max - found.rbo_min, abs=1e-15)


def test_ties_are_ties_and_their_order_is_nothing() -> None:
    one = rank_similarity({"a": 1.0, "b": 1.0, "c": 0.0}, {"c": 0.1, "b": 0.2, "a": 0.2})
    assert (one.tau_b, one.rbo, one.swaps, one.same_top) == (1.0, 1.0, 0, True)
    assert one.rank_change == {"a": 0, "b": 0, "c": 0}
    # scores that are one number as float32 only are none
    near = rank_similarity({"a": 1.0, "b": 1.0 + 1e-12}, ["a", "b"])
    assert near.swaps == 1


def test_one_shared_name_has_no_pairs() -> None:
    found = rank_similarity(["a", "b"], ["c", "a"])
    assert (found.shared, found.swaps) == (1, 0)
    for value in (found.tau_a, found.tau_b, found.tau_ap, found.spearman, found.swaps_normalised):
        assert math.isnan(value)
    assert 0 < found.rbo < 1


SCORES = "  fix:   give {'a': 0.3, 'b': 0.2} or ['a', 'b'], with at least one name"


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ([], ["a"], f"first: an empty list\n{SCORES}"),
        (["a"], {}, f"second: an empty list\n{SCORES}"),
        (
            "ab",
            ["a"],
            f"first: expected a mapping of names to scores, or a list of names, got 'ab'\n{SCORES}",
        ),
        (["a", ["b", "a"]], ["a"], "first: 'a' stands twice\n  fix:   name each once"),
        (
            ["a", "b", "c", "d"],
            {"A": 1.0},
            "the lists have no name in common: first has 'a', 'b', 'c' and 1 more, second has 'A'\n"
            "  fix:   check that both write names alike",
        ),
        (
            {"a": math.nan},
            ["a"],
            "first: 1 score is not finite: nan\n  fix:   repair the system's "
            "output; a ranking cannot be read from NaN or inf",
        ),
    ],
)
def test_what_is_refused(first: Any, second: Any, text: str) -> None:
    with pytest.raises(InputError) as error:
        rank_similarity(first, second)
    assert str(error.value) == text


def test_parameters_out_of_range() -> None:
    for p in (0, 1, -0.5, math.nan):
        with pytest.raises(UnknownNameError) as error:
            rank_similarity(["a"], ["a"], p=p)
        expected = "a number between 0 and 1 (both excluded)"
        assert str(error.value) == f"p: expected {expected}, got {p!r}"
    with pytest.raises(UnknownNameError) as error:
        rank_similarity(["a"], ["a"], tied="c")  # type: ignore[arg-type]
    assert str(error.value) == "unknown tied 'c'  (all: none, w, a, b)"
