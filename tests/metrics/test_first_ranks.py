"""The expectation of hits and nCG against all orders of tied documents."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import harness


@pytest.mark.parametrize("metric", ["hits", "ncg", "ncg(gain=exp)"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_expectation_is_the_mean_of_all_orders(metric: str, k: int) -> None:
    grades = {"a": 2, "b": 0, "c": 1, "d": 3}
    base, _, settings = metric.partition("(")
    inside = ",".join(filter(None, ("ties=average", settings.rstrip(")"))))
    tied = harness.evaluate(
        {"2": grades}, {"2": dict.fromkeys("abcd", 1.0)}, [f"{base}({inside})@{k}"]
    )
    values = [
        harness.evaluate(
            {"2": grades}, {"2": {d: -float(r) for r, d in enumerate(order)}}, [f"{metric}@{k}"]
        ).values[0, 0]
        for order in permutations("abcd")
    ]
    assert tied.values[0, 0] == pytest.approx(np.mean(values))
