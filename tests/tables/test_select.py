"""The language in which names are chosen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnknownNameError
from harness.reports.paper_table.select import metric_spellings, problems, select

RUNS = ["lambda-a", "bm25", "random", "lambda-b"]


@pytest.mark.parametrize(
    ("patterns", "taken"),
    [
        (["*"], RUNS),
        ([], RUNS),
        (["bm25", "*"], ["bm25", "lambda-a", "random", "lambda-b"]),
        (["*", "bm25"], ["lambda-a", "random", "lambda-b", "bm25"]),
        (["lambda*", "bm25"], ["lambda-a", "lambda-b", "bm25"]),
        (["lambda*", "lambda-a"], ["lambda-b", "lambda-a"]),
        (["!random"], ["lambda-a", "bm25", "lambda-b"]),
        (["*", "!lambda*"], ["bm25", "random"]),
        (["!lambda-a", "lambda-?"], ["lambda-b"]),
        (["bm25", "bm25"], ["bm25"]),
    ],
)
def test_what_is_taken_and_in_which_order(patterns: list[str], taken: list[str]) -> None:
    assert select(patterns, RUNS, "run") == tuple(taken)


def test_a_name_may_hold_what_patterns_are_made_of() -> None:
    assert select(["a*"], ["ab", "a*"], "run") == ("a*",)
    assert select(["x[1]"], ["x1", "x[1]"], "run") == ("x[1]",)
    assert select(["x[1]*"], ["x1", "x[1]b"], "run") == ("x[1]b",)
    assert select(["!a"], ["b", "!a"], "run") == ("!a",)


def test_metrics_are_found_in_any_spelling() -> None:
    known = ["map", "ndcg@5", "ndcg@10"]
    spellings = metric_spellings(known)
    assert select(["ndcg_cut_10", "map"], known, "metric", spellings) == ("ndcg@10", "map")
    assert select(["!nDCG@10"], known, "metric", spellings) == ("map", "ndcg@5")
    assert select(["ndcg@5,10"], known, "metric", spellings) == ("ndcg@5", "ndcg@10")


def test_an_unknown_name_is_an_error_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        select(["bm52", "lamda-a*", "!rnd"], RUNS, "run")
    near = ("bm25", "lambda-a", "random")
    for line, name in zip(str(caught.value).splitlines(), near, strict=True):
        assert f"did you mean '{name}'?" in line


def test_leaving_out_everything_is_an_error() -> None:
    assert list(problems(["!*"], RUNS, "run")) == [(0, "no run is left: !* leaves all of them out")]


@given(st.lists(st.text("ab*?!", max_size=3)), st.lists(st.text("ab", min_size=1), unique=True))
def test_nothing_is_taken_twice_or_made_up(patterns: list[str], known: list[str]) -> None:
    try:
        taken = select(patterns, known, "run")
    except UnknownNameError:
        return
    assert len(set(taken)) == len(taken)
    assert set(taken) <= set(known)
