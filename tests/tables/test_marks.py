"""Which values stand out, and what systems are called by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.paper_table.marks import best_and_second, dagger, letter

NUMBERS = st.lists(
    st.one_of(st.integers(-30, 30).map(lambda i: f"{i / 10:.1f}"), st.just("–")), max_size=8
)


def test_letters_go_on_after_z() -> None:
    names = [letter(place) for place in range(1000)]
    assert names[:3] == ["a", "b", "c"]
    assert names[24:28] == ["y", "z", "aa", "ab"]
    assert names[51:53] == ["az", "ba"]
    assert len(set(names)) == 1000


def test_daggers_double() -> None:
    assert [dagger(place) for place in range(6)] == ["†", "‡", "§", "¶", "‖", "††"]


@pytest.mark.parametrize(
    ("texts", "direction", "best", "second"),
    [
        ([".423", ".423", ".400"], "higher", {0, 1}, {2}),
        ([".423", ".410", ".410", ".1"], "higher", {0}, {1, 2}),
        (["-1.5", "2.0", ".0"], "lower", {0}, {2}),
        (["0.50", ".50", "0.5"], "higher", set(), set()),  # none is better than another
        ([".1", ".2"], "higher", {1}, set()),
        ([".1", "–", "nan"], "higher", set(), set()),
        ([".1", "–", ".3", ".2"], "higher", {2}, {3}),
        (["1", "2", "3"], None, set(), set()),
        ([], "higher", set(), set()),
    ],
)
def test_best_and_second(
    texts: list[str], direction: str, best: set[int], second: set[int]
) -> None:
    assert best_and_second(texts, direction) == (best, second)  # type: ignore[arg-type]


@given(NUMBERS, st.sampled_from(["higher", "lower"]))
def test_best_is_not_beaten_and_second_by_the_best_alone(texts: list[str], direction: str) -> None:
    best, second = best_and_second(texts, direction)  # type: ignore[arg-type]
    sign = 1 if direction == "higher" else -1
    values = {place: sign * float(text) for place, text in enumerate(texts) if text != "–"}
    if len(set(values.values())) < 2:
        assert best == second == set()
        return
    assert best == {p for p, v in values.items() if not any(w > v for w in values.values())}
    beaten_by = {p: {q for q, w in values.items() if w > values[p]} for p in values}
    if len(values) > 2:
        assert second == {p for p in values if beaten_by[p] and beaten_by[p] == best}
