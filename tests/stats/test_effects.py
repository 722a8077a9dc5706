"""Effect sizes against golden values and their literal definitions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.differences import differences
from harness.stats.effects import effects

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "significance.json").read_text(encoding="utf-8")
)
SAMPLES = GOLDEN["samples"]


@pytest.mark.parametrize("name", list(SAMPLES))
def test_golden(name: str) -> None:
    found = effects(differences(np.array(SAMPLES[name]["b"]), np.array(SAMPLES[name]["a"])))
    expected = SAMPLES[name]["expected"]["effect"]
    assert found.d_z == pytest.approx(expected["d_z"], abs=1e-12)
    assert found.hedges_g == pytest.approx(expected["g_z_exact"], abs=1e-12)
    assert found.cliffs_delta == pytest.approx(expected["cliffs_delta_paired"], abs=1e-15)
    counts = (expected["win"], expected["tie"], expected["loss"])
    assert (found.wins, found.ties, found.losses) == counts


def test_published() -> None:
    # Sakai's 20 topics: d_z = .473
    one = SAMPLES["sakai_table5_1_Y_vs_X"]
    found = effects(differences(np.array(one["b"]), np.array(one["a"])))
    assert found.d_z == pytest.approx(
        GOLDEN["published_anchors"]["sakai_table5_1"]["d_z"], abs=5e-4
    )


def test_by_hand() -> None:
    # 2, 0, 1: mean 1, sd 1. J(2) = Gamma(1) / (sqrt(1) Gamma(1/2)) = 1 / sqrt(pi)
    found = effects(np.array([2.0, 0.0, 1.0]))
    assert found.d_z == 1
    assert found.hedges_g == pytest.approx(1 / math.sqrt(math.pi), abs=1e-15)
    assert (found.wins, found.ties, found.losses) == (2, 1, 0)
    assert found.cliffs_delta == pytest.approx(2 / 3, abs=1e-15)


def test_lower_is_better() -> None:
    found = effects(np.array([2.0, 0.0, 1.0, -5.0]), direction="lower")
    assert (found.wins, found.ties, found.losses) == (1, 1, 2)
    assert found.cliffs_delta == -0.25
    assert found.d_z == effects(np.array([2.0, 0.0, 1.0, -5.0])).d_z < 0


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_literal_definition(values: list[int]) -> None:
    n = len(values)
    mean = sum(values) / n
    sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    j = math.gamma((n - 1) / 2) / (math.sqrt((n - 1) / 2) * math.gamma((n - 2) / 2))
    found = effects(np.array(values, dtype=float))
    assert found.d_z == pytest.approx(mean / sd, abs=1e-12)
    assert found.hedges_g == pytest.approx(j * mean / sd, abs=1e-12)
    assert found.wins == sum(v > 0 for v in values)
    assert found.ties == values.count(0)
    assert found.wins + found.ties + found.losses == n


def test_many_queries() -> None:
    # J(v) = 1 - 3/(4v) + O(1/v^2), and the logarithms of its two factors are about 3e7 here
    values = np.resize([1.0, 0.0, 0.0], 3 * 10**6)
    found = effects(values)
    v = values.size - 1
    assert found.hedges_g / found.d_z == pytest.approx(1 - 3 / (4 * v), abs=1e-12)


def test_few_or_equal_differences() -> None:
    same = effects(np.zeros(7))
    assert (same.d_z, same.hedges_g, same.cliffs_delta, same.ties) == (0.0, 0.0, 0.0, 7)
    constant = effects(differences(np.linspace(0, 1, 10) + 0.1, np.linspace(0, 1, 10)))
    assert np.isnan([constant.d_z, constant.hedges_g]).all()
    assert (constant.cliffs_delta, constant.wins) == (1.0, 10)
    one = effects(np.array([0.5]))
    assert np.isnan([one.d_z, one.hedges_g]).all()
    assert (one.cliffs_delta, one.wins) == (1.0, 1)
    two = effects(np.array([0.5, 0.0]))
    assert two.d_z == pytest.approx(math.sqrt(0.5), abs=1e-15)
    assert np.isnan(two.hedges_g)  # J(1) would be 0, whatever the difference
    assert np.isnan(effects(np.array([])).cliffs_delta)
