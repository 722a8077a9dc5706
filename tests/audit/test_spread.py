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


def test_choices_are_ranked_by_the_largest_change_then_by_the_order() -> None:
    def made(choice: str, change: float, tau: float) -> Effect:
        return Effect(choice, "", "", change, 0, tau, "", (), ())

    effects = [made("a", 0.1, 1.0), made("b", -0.2, 1.0), made("c", 0.1, 0.5)]
    assert [each.choice for each in ranked(effects)] == ["b", "c", "a"]


nan = math.nan


@pytest.mark.parametrize(
    ("metric", "base", "other", "tau", "order_changed", "best", "best_changed"),
    [
        (NDCG, [0.5, 0.4], [0.2, 0.3], -1, True, (1,), True),  # two change places
        # of three pairs one turns round, below the best: tau = (2 - 1) / 3
        (NDCG, [0.5, 0.4, 0.3], [0.9, 0.1, 0.2], 1 / 3, True, (0,), False),
        (ARP, [2.0, 3.0], [5.0, 4.0], -1, True, (1,), True),  # less is better
        # one pair of three is tied in the base: tau-b = 2 / sqrt(2 * 3)
        (NDCG, [0.5, 0.5, 0.3], [0.5, 0.4, 0.3], 2 / math.sqrt(6), True, (0,), True),
        (NDCG, [0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2], nan, False, (0, 1), False),  # last bits
        (NDCG, [0.9, 0.5, 0.4], [nan, 0.7, 0.6], 1, False, (1,), False),  # over those of both
        (NDCG, [0.9], [0.1], nan, False, (), False),  # one has no order
    ],
)
def test_an_order_compared_with_the_base_s(
    metric, base, other, tau, order_changed, best, best_changed
) -> None:
    found = compare(metric, np.array(base), np.array(other))
    assert found.tau == pytest.approx(tau, nan_ok=True)
    assert (found.order_changed, found.best, found.best_changed) == (
        order_changed, best, best_changed,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("base", "rows", "value", "change", "system", "tau", "tau_value", "best_changed", "lost"),
    [
        # "b" moves the second system by -0.3, more than "a" does; "a" turns the order round
        ([0.5, 0.4], {"a": [0.3, 0.45], "b": [0.5, 0.1]}, "b", -0.3, 1, -1, "a", ("a",), ()),
        ([0.5, 0.4], {"1": [0.5, 0.4]}, "", 0, -1, 1, "1", (), ()),  # no effect
        ([0.5, 0.4], {"none": [0.2, 0.2]}, "none", -0.3, 0, nan, "none", ("none",), ()),  # all tied
        ([0.5], {"nan": [nan]}, "", 0, -1, nan, "", (), ("nan",)),
    ],
)
def test_the_effect_of_a_choice(
    base, rows, value, change, system, tau, tau_value, best_changed, lost
) -> None:
    found = effect(NDCG, "c", "own", np.array(base), [row(name, *v) for name, v in rows.items()])
    assert (found.value, found.system, found.tau_value, found.lost) == (
        value, system, tau_value, lost,
    )  # fmt: skip
    assert found.change == pytest.approx(change)
    assert found.tau == pytest.approx(tau, nan_ok=True)
    assert found.best_changed == best_changed
    assert found.matters == (value != "" or bool(lost))
