"""Orders of systems, and how far they are apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from harness.audit.spread import Effect, Matrix, Row, compare, effect, ranked
from harness.core.names import parse

NDCG, ARP = parse("ndcg@10")[0], parse("arp")[0]


def row(name: str, *values: float, refused: tuple[str, ...] = ()) -> Row:
    return Row(name, np.array(values), refused or ("",) * len(values))


def test_two_systems_that_change_places() -> None:
    found = compare(NDCG, np.array([0.5, 0.4]), np.array([0.2, 0.3]))
    assert (found.tau, found.order_changed) == (-1.0, True)
    assert (found.best, found.best_changed) == ((1,), True)


def test_an_order_that_changes_below_the_best() -> None:
    # of three pairs one turns round: tau = (2 - 1) / 3
    found = compare(NDCG, np.array([0.5, 0.4, 0.3]), np.array([0.9, 0.1, 0.2]))
    assert found.tau == pytest.approx(1 / 3)
    assert (found.order_changed, found.best_changed) == (True, False)


def test_less_is_better_for_some_metrics() -> None:
    assert compare(ARP, np.array([2.0, 3.0]), np.array([5.0, 4.0])).best == (1,)


def test_a_tie_that_parts_is_another_order() -> None:
    # one pair of three is tied in the base: tau-b = 2 / sqrt(2 * 3)
    found = compare(NDCG, np.array([0.5, 0.5, 0.3]), np.array([0.5, 0.4, 0.3]))
    assert found.tau == pytest.approx(2 / math.sqrt(6))
    assert (found.order_changed, found.best, found.best_changed) == (True, (0,), True)


def test_last_bits_are_no_difference() -> None:
    base = np.array([0.1 + 0.2, 0.3])
    assert not compare(NDCG, base, np.array([0.3, 0.1 + 0.2])).order_changed


def test_systems_without_a_value_are_left_out_of_the_comparison() -> None:
    found = compare(NDCG, np.array([0.9, 0.5, 0.4]), np.array([np.nan, 0.7, 0.6]))
    assert (found.tau, found.order_changed, found.best, found.best_changed) == (
        1.0, False, (1,), False,
    )  # fmt: skip


def test_one_system_has_no_order() -> None:
    found = compare(NDCG, np.array([0.9]), np.array([0.1]))
    assert math.isnan(found.tau)
    assert not found.order_changed
    assert not found.best_changed


values = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=2, max_size=6)


@given(values, st.randoms(use_true_random=False))
def test_tau_is_scipy_s(base: list[float], random) -> None:
    other = [random.choice([0.1, 0.2, 0.3]) for _ in base]
    ours = compare(NDCG, np.array(base), np.array(other)).tau
    assert ours == pytest.approx(kendalltau(base, other).statistic, nan_ok=True)


def test_the_range_of_each_system_and_who_has_its_ends() -> None:
    rows = (row("a", 0.5, 0.1), row("b", 0.2, np.nan), row("c", 0.5, 0.3))
    matrix = Matrix("d", NDCG, ("one", "two"), row("base", 0.4, 0.3), rows, ())
    first, second = matrix.ranges
    assert (first.low, first.low_names, first.high, first.high_names) == (
        0.2, ("b",), 0.5, ("a", "c"),
    )  # fmt: skip
    assert (second.low_names, second.high_names) == (("a",), ("base", "c"))
    assert first.width == pytest.approx(0.3)


def test_a_system_that_nothing_gives_a_value() -> None:
    matrix = Matrix("d", NDCG, ("one",), row("base", np.nan), (row("a", np.nan),), ())
    assert matrix.ranges[0].low_names == ()
    assert math.isnan(matrix.ranges[0].width)


def test_the_effect_of_a_choice() -> None:
    base = np.array([0.5, 0.4])
    # "b" moves the second system by -0.3, more than "a" does; "a" turns the order round
    found = effect(NDCG, "gain", "linear", base, [row("a", 0.3, 0.45), row("b", 0.5, 0.1)])
    assert (found.value, found.system) == ("b", 1)
    assert found.change == pytest.approx(-0.3)
    assert (found.tau, found.tau_value, found.best_changed) == (-1.0, "a", ("a",))
    assert found.matters
    assert found.order_changed


def test_a_choice_without_effect() -> None:
    found = effect(NDCG, "floor", "0", np.array([0.5, 0.4]), [row("1", 0.5, 0.4)])
    assert (found.value, found.change, found.system, found.matters) == ("", 0.0, -1, False)
    assert not found.order_changed


def test_a_choice_that_ties_all_systems_leaves_no_order() -> None:
    found = effect(NDCG, "scores", "float32", np.array([0.5, 0.4]), [row("none", 0.2, 0.2)])
    assert math.isnan(found.tau)
    assert (found.tau_value, found.order_changed) == ("none", True)


def test_a_choice_that_leaves_no_value() -> None:
    found = effect(NDCG, "undefined", "skip", np.array([0.5]), [row("nan", np.nan)])
    assert (found.lost, found.matters, found.system) == (("nan",), True, -1)


def test_choices_are_ranked_by_the_largest_change_then_by_the_order() -> None:
    def made(choice: str, change: float, tau: float) -> Effect:
        return Effect(choice, "", "", change, 0, tau, "", (), ())

    effects = [made("a", 0.1, 1.0), made("b", -0.2, 1.0), made("c", 0.1, 0.5)]
    assert [each.choice for each in ranked(effects)] == ["b", "c", "a"]
