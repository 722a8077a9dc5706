"""Swaps against hand-worked values, a bubble sort and its golden counts."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import harness.metrics  # noqa: F401
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.evaluate import evaluate
from harness.core.names import parse_all
from harness.core.reference import as_reference
from harness.core.tables import Qrels, Run
from harness.errors import UnknownNameError
from harness.metrics.correlation import kendall
from harness.metrics.swaps import swaps

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "rank_similarity.json").read_text(encoding="utf-8")
)


def ranked(*lists: list[int]) -> Aligned:
    qrels = {f"q{i}": {f"d{j:03}": g for j, g in enumerate(gs)} for i, gs in enumerate(lists)}
    run = {q: {d: -float(j) for j, d in enumerate(row)} for q, row in qrels.items()}
    return align(Qrels.from_dict(qrels), Run.from_dict(run))


def test_published_examples() -> None:
    # 10, 7, 9: 7 and 9 change places; 10, 8, 9: 8 and 9 do
    assert swaps(ranked([10, 7, 9], [10, 8, 9])).tolist() == [1.0, 1.0]


def test_by_hand() -> None:
    # 0 1 2: the pairs (0,1), (0,2), (1,2) are all wrong, 3 of 3
    # 1 0 1: only (0,1) is wrong; (1,0) is right and (1,1) needs no order, so 1 of 2
    aligned = ranked([0, 1, 2], [1, 0, 1], [2, 1, 0])
    assert swaps(aligned).tolist() == [3.0, 1.0, 0.0]
    assert swaps(aligned, normalize=True).tolist() == [1.0, 0.5, 0.0]


def test_no_two_grades_means_no_share() -> None:
    aligned = ranked([3], [1, 1], [0, 1])
    assert swaps(aligned).tolist() == [0.0, 0.0, 1.0]
    assert np.isnan(swaps(aligned, normalize=True)).tolist() == [True, True, False]


def test_unjudged_documents_play_no_part() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": -1, "missed": 2}})
    run = Run.from_dict({"q": {"c": 9.0, "x": 8.0, "b": 7.0, "y": 6.0, "a": 5.0}})
    assert swaps(align(qrels, run)).tolist() == [1.0]  # b before a


def test_a_missing_answer_is_no_prize() -> None:
    qrels = Qrels.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}})
    run = Run.from_dict({"q1": {"a": 1.0, "b": 2.0}})
    evaluation = evaluate(align(qrels, run), parse_all(["swaps", "swaps(normalize=true)"]))
    assert evaluation.summary() == {"swaps": 1.0, "swaps(normalize=true)": 1.0}
    assert evaluation.n() == {"swaps": 1, "swaps(normalize=true)": 1}


@pytest.mark.parametrize("case", GOLDEN["swaps"], ids=lambda case: case["name"])
def test_golden_bubble_sorts(case: dict) -> None:
    numbers = case["list"]
    if not numbers:
        return
    aligned = ranked([max(numbers) - x for x in numbers])  # rising there, by falling grade here
    assert swaps(aligned).tolist() == [case["swaps"]]
    pairs = len(numbers) * (len(numbers) - 1) // 2
    if pairs > case["tied_pairs"]:
        share = swaps(aligned, normalize=True).item()  # of the pairs that can be out of order
        expected = case["normalised"] * pairs / (pairs - case["tied_pairs"])
        assert share == pytest.approx(expected, abs=1e-12)
        assert kendall(aligned, form="a").item() == pytest.approx(case["tau_a"], abs=1e-12)


@pytest.mark.parametrize("case", GOLDEN["correlation"], ids=lambda case: case["name"])
def test_golden_discordant_pairs(case: dict) -> None:
    grades = np.unique(case["x"], return_inverse=True)[1].tolist()
    docnos = [f"d{i}" for i in range(len(grades))]
    if len(set(case["y"])) < len(grades):
        return  # tied scores have an order here
    qrels = Qrels.from_dict({"q": dict(zip(docnos, grades, strict=True))})
    run = Run.from_dict({"q": dict(zip(docnos, case["y"], strict=True))})
    aligned = align(qrels, run)
    assert swaps(aligned).tolist() == [case["swaps_discordant"]]
    if not case["ties_x_only"] + case["ties_both"]:  # there, pairs of one grade are pairs too
        share = swaps(aligned, normalize=True).item()
        assert share == pytest.approx(case["swaps_normalised"], abs=1e-15)


def test_with_a_reference_run() -> None:
    # the other run: a c b; this one: b a z c. Shared pairs: ba wrong, bc wrong, ac right
    run = Run.from_dict({"q": {"b": 4.0, "a": 3.0, "z": 2.0, "c": 1.0}})
    other = Run.from_dict({"q": {"a": 3.0, "c": 2.0, "b": 1.0}})
    aligned = align(as_reference(other, run.qids), run)
    assert swaps(aligned).tolist() == [2.0]
    assert swaps(aligned, normalize=True).tolist() == [2 / 3]


def test_ties_of_a_reference_run_need_no_order() -> None:
    # the other run ties a and b before c; this one has b c a: only ca is wrong, of ca and cb
    run = Run.from_dict({"q": {"b": 3.0, "c": 2.0, "a": 1.0}})
    other = Run.from_dict({"q": {"a": 3.0, "c": 2.0, "b": 3.0}})
    aligned = align(as_reference(other, run.qids), run)
    assert swaps(aligned).tolist() == [1.0]
    assert swaps(aligned, normalize=True).tolist() == [0.5]


def naive_swaps(aligned_lists: list[tuple[float, float]], normalize: bool | str) -> float:
    """Swaps of (rank, grade) pairs, counted pair by pair."""
    pairs = list(combinations(sorted(aligned_lists), 2))
    wrong = sum(lower < higher for (_, lower), (_, higher) in pairs)
    if normalize is False:
        return wrong if aligned_lists else math.nan
    n = len(pairs) if normalize == "all" else sum(one != other for (_, one), (_, other) in pairs)
    return wrong / n if n else math.nan


@pytest.mark.parametrize("normalize", [False, True, "all"])
def test_every_normalize_counts_pairs_like_a_naive_loop(normalize: bool | str) -> None:
    rng = np.random.default_rng(171)
    lists = [rng.integers(0, 4, size).tolist() for size in (1, 2, 2, 3, 5, 9, 14)]
    found = swaps(ranked(*lists), normalize=normalize)  # type: ignore[arg-type]
    expected = [naive_swaps(list(enumerate(grades)), normalize) for grades in lists]
    np.testing.assert_array_equal(found, expected)


def test_ties_in_the_other_run_leave_the_divisor_of_all_alone() -> None:
    # the other run ties a and b: true divides by ac and bc, all by ab, ac and bc
    run = Run.from_dict({"q10": {"b": 3.0, "c": 2.0, "a": 1.0}})
    other = Run.from_dict({"q10": {"a": 3.0, "c": 2.0, "b": 3.0}})
    there = align(as_reference(other, run.qids), run)
    back = align(as_reference(run, other.qids), other)
    assert swaps(there, normalize=True).tolist() == [1 / 2]
    assert swaps(there, normalize="all").tolist() == [1 / 3]
    # from the other side every pair has an order: docno b before a, as trec_eval breaks the tie
    assert swaps(back, normalize=True).tolist() == [1 / 3]


def test_all_is_symmetric_if_neither_run_ties_documents() -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        one, other = (
            Run.from_dict({"q2": {f"x{d}": float(s) for d, s in zip(docs, scores, strict=True)}})
            for docs, scores in ((rng.permutation(12)[:8], rng.permutation(8)) for _ in range(2))
        )
        there = align(as_reference(other, one.qids), one)
        back = align(as_reference(one, other.qids), other)
        found = [swaps(each, normalize="all").item() for each in (there, back)]
        assert found[0] == found[1]


def test_the_name_takes_all_and_refuses_others() -> None:
    (metric,) = parse_all(["swaps(normalize=all)"])
    assert str(metric) == "swaps(normalize=all)"
    assert metric.params == (("normalize", "all"),)
    assert parse_all(["swaps(normalize=False)"]) == parse_all(["swaps"])
    with pytest.raises(UnknownNameError, match="normalize"):
        parse_all(["swaps(normalize=each)"])
