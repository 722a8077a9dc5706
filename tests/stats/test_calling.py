"""Tests of plugins: what they return is checked, and what they are given stays as it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from made_systems import systems

from harness.core.comparison import Comparisons, Plan
from harness.errors import HarnessError
from harness.stats import registry
from harness.stats.compare import compare
from harness.stats.registry import SMALLEST, AllPairs, Outcome

MADE = systems({"a": [0.1, 0.2, 0.4], "b": [0.2, 0.2, 0.5], "c": [0.4, 0.1, 0.7]})
ASYMMETRIC = np.array([[1.0, 0.01, 0.9], [0.9, 1.0, 0.9], [0.9, 0.9, 1.0]])


@pytest.fixture(autouse=True)
def _known_tests() -> Iterator[None]:
    before = dict(registry.load_all())
    yield
    registry.TESTS.clear()
    registry.TESTS.update(before)


def paired(says: Callable[[Any], Any], random: bool = False) -> Comparisons:
    @registry.paired_test("mine", title="mine", random=random)
    def mine(differences: Any, stream: Any) -> Any:
        return says(differences)

    return compare(MADE, Plan(("a",), "mine", correction="none"))


def all_pairs(says: Any, random: bool = False) -> Comparisons:
    @registry.all_pairs_test("mine", title="mine", random=random)
    def mine(values: Any, stream: Any, level: float) -> Any:
        return says(values) if callable(says) else AllPairs(np.asarray(says))

    return compare(MADE, Plan(test="mine"))


def said(error: pytest.ExceptionInfo[HarnessError]) -> str:
    return str(error.value).splitlines()[0]


def test_differences_cannot_be_changed() -> None:
    with pytest.raises(HarnessError) as caught:
        paired(lambda differences: np.abs(differences, out=differences).mean())
    assert said(caught) == "test mine: ValueError: output array is read-only"
    with pytest.raises(HarnessError, match="read-only"):
        all_pairs(lambda values: values.sort())


def test_a_p_of_0_is_the_smallest_number_or_an_error_where_it_is_drawn() -> None:
    assert [one.p for one in paired(lambda _: 0.0).rows] == [SMALLEST] * 2
    assert {one.p for one in all_pairs(np.zeros((3, 3))).rows} == {SMALLEST}
    drawn = "test mine: returned a p-value of 0 from draws: of m of them none is below 1 / (m + 1)"
    cases: tuple[Callable[[], Comparisons], ...] = (
        lambda: paired(lambda _: 0.0, random=True),
        lambda: paired(lambda _: Outcome(0.0, method="500 draws")),
        lambda: all_pairs(np.zeros((3, 3)), random=True),
        lambda: all_pairs(lambda _: AllPairs(np.zeros((3, 3)), method="500 draws")),
    )
    for case in cases:
        with pytest.raises(HarnessError) as caught:
            case()
        assert said(caught) == drawn


def test_nan_has_a_note() -> None:
    assert [one.note for one in paired(lambda _: math.nan).rows] == ["no answer"] * 2
    own = paired(lambda _: Outcome(math.nan, note="too few"))
    assert [one.note for one in own.rows] == ["too few"] * 2
    assert [one.note for one in all_pairs(np.full((3, 3), np.nan)).rows] == ["no answer"] * 3
    some = np.array([[1.0, 0.5, np.nan], [0.5, 1.0, 0.5], [np.nan, 0.5, 1.0]])
    assert [one.note for one in all_pairs(some).rows] == ["", "no answer", ""]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (np.full((3, 3), 5.0), "returned 5.0 where a p-value from 0 to 1 belongs"),
        (np.full((3, 3), -0.1), "returned -0.1 where a p-value from 0 to 1 belongs"),
        (ASYMMETRIC, "returned p-values that differ from row to column and back"),
        (np.ones((2, 2)), "returned no AllPairs with p-values of shape (3, 3)"),
        (lambda _: None, "returned no AllPairs with p-values of shape (3, 3)"),
        (lambda _: AllPairs(np.ones((3, 3)), low=np.ones(3)), "returned low of shape (3,), not "
         "(3, 3)"),
        (lambda _: AllPairs(np.ones((3, 3)), positions=np.ones(2)), "returned positions of shape "
         "(2,), not (3,)"),
    ],
)  # fmt: skip
def test_what_is_no_answer_of_all_pairs(given: Any, what: str) -> None:
    with pytest.raises(HarnessError) as caught:
        all_pairs(given)
    assert said(caught) == f"test mine: {what}"


def test_the_diagonal_is_not_looked_at() -> None:
    assert {one.p for one in all_pairs(np.full((3, 3), 0.01) - 2 * np.eye(3)).rows} == {0.01}


def test_a_name_that_a_package_lacks_is_no_missing_package() -> None:
    def says(_: Any) -> Any:
        from scipy.stats import no_such_name

        return no_such_name

    with pytest.raises(HarnessError) as caught:
        paired(says)
    assert said(caught).startswith("test mine: ImportError: cannot import name 'no_such_name'")
    assert "pip install" not in str(caught.value)
