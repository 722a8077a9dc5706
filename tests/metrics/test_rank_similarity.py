"""Swaps, correlations, RBO and two lists of names: golden, published and hand-worked values."""

import math
import re
from typing import Any

import numpy as np
import pytest
import scipy.special
from alignments import aligned_of, compared, named, ranked
from goldens import golden

from harness.core.align import align, as_reference
from harness.core.aligned import Aligned
from harness.core.policy import Policy
from harness.core.qrels_and_runs import Run
from harness.errors import InputError, UnknownNameError
from harness.metrics.correlation import kendall, spearman, tau_ap
from harness.metrics.pair_agreement import swaps
from harness.metrics.rank_similarity import compare_rankings, rank_similarity
from harness.metrics.rbo import ao, exp1, rbo, rbo_weight, tails_to

GOLDEN = golden("rank_similarity")


@pytest.mark.oracle("swaps")
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
    if len(set(case["y"])) < len(grades):
        return  # tied scores have an order here
    aligned = aligned_of({"q": (named(grades), named(case["y"]))})
    assert swaps(aligned).tolist() == [case["swaps_discordant"]]
    if not case["ties_x_only"] + case["ties_both"]:  # there, pairs of one grade are pairs too
        share = swaps(aligned, normalize=True).item()
        assert share == pytest.approx(case["swaps_normalised"], abs=1e-15)


def both_ways(truth: list[float], estimate: list[float]) -> list[Aligned]:
    """The same two vectors as judgements with a run, and as a reference run with a run."""
    grades = np.unique(truth, return_inverse=True)[1].tolist()
    policy = Policy(ties="stable")
    runs = [Run.from_dict({"q": named(each)}) for each in (truth, estimate)]
    reference = as_reference(runs[0], runs[1].qids, policy)
    case = {"q": (named(grades), named(estimate))}
    return [aligned_of(case, policy), align(reference, runs[1], policy)]


@pytest.mark.oracle("kendall", "spearman", "tau_ap")
@pytest.mark.parametrize("case", GOLDEN["correlation"], ids=lambda case: case["name"])
def test_golden(case: dict) -> None:
    for aligned in both_ways(case["x"], case["y"]):
        for value, key in (
            (kendall(aligned), "tau_b"),
            (kendall(aligned, form="a"), "tau_a"),
            (kendall(aligned, form="gamma"), "gamma"),
            (spearman(aligned), "spearman"),
            (tau_ap(aligned, tied="b"), "tau_ap_b"),
        ):
            expected = np.nan if case[key] is None else case[key]
            assert value.item() == pytest.approx(expected, abs=1e-12, nan_ok=True), key
        # nothing is given for a truth with ties
        if case["tau_ap_a_truth_x"] is not None:
            value = tau_ap(aligned, tied="a").item()
            assert value == pytest.approx(case["tau_ap_a_truth_x"], abs=1e-12)
        if case["tau_ap_truth_x"] is not None:
            value = tau_ap(aligned).item()
            assert value == pytest.approx(case["tau_ap_truth_x"], abs=1e-12)
    for aligned in both_ways(case["y"], case["x"]):
        if case["tau_ap_truth_y"] is not None:
            assert tau_ap(aligned).item() == pytest.approx(case["tau_ap_truth_y"], abs=1e-12)


def test_published_example() -> None:
    aligned = compared([*map(list, "1234567")], [*map(list, "13245768")])
    assert rbo(aligned).item() == pytest.approx(0.9451585, abs=1e-15)
    assert rbo(aligned, form="ext-cut").item() == pytest.approx(0.8853713875, abs=1e-15)


@pytest.mark.parametrize("case", GOLDEN["top_weight"], ids=lambda case: f"{case['p']}-{case['d']}")
def test_golden_weight(case: dict) -> None:
    weight = rbo_weight(case["p"], case["d"])
    assert weight == pytest.approx(case["top_d_weight"], abs=1e-12)
    above = rbo_weight(case["p"], case["d"] - 1) if case["d"] > 1 else 0.0
    assert weight - above == pytest.approx(case["rank_d_weight"], abs=1e-12)


FORMS = ("ext", "min", "max", "res", "truncated")


@pytest.mark.oracle("rbo", "ao")
@pytest.mark.parametrize("case", GOLDEN["rbo"], ids=lambda case: case["name"])
def test_golden_of_rbo(case: dict) -> None:
    first, second = groups_of(case["x"]), groups_of(case["y"])
    for aligned in (compared(first, second), compared(second, first)):  # it is symmetric
        for variant in ("none", "w", "a", "b"):
            expected = case["expected"].get(variant) or case["expected"].get("none")
            if expected is None:
                continue  # an order of ties, which has no golden value
            for form in FORMS:
                value = rbo(aligned, p=case["p"], form=form, tied=variant).item()  # type: ignore[arg-type]
                key = "rbo_at_min_len_truncated" if form == "truncated" else form
                assert value == pytest.approx(expected[key], abs=1e-12), (variant, form)
            value = ao(aligned, tied=variant).item()  # type: ignore[arg-type]
            assert value == pytest.approx(expected["average_overlap"], abs=1e-12), variant
            if "ext_cut" in case:
                value = rbo(aligned, p=case["p"], form="ext-cut", tied=variant).item()  # type: ignore[arg-type]
                assert value == pytest.approx(case["ext_cut"], abs=1e-12), variant


def groups_of(text: str) -> list[list[str]]:
    """``a (b c)`` as groups of tied documents."""
    return [group.strip("()").split() for group in re.findall(r"\([^)]*\)|\S+", text)]


@pytest.mark.parametrize("p", [0.01, 0.5, 0.9, 0.99, 0.999, 0.999999])
def test_tails_keep_their_digits(p: float) -> None:
    # R(1) = ln(1/(1-p)); R(d) - R(d + 1) = p^d / d; p^d / d < R(d) < p^d / (d (1 - p))
    tails = tails_to(p, 3000)
    assert tails[1] == pytest.approx(-np.log1p(-p), rel=1e-13)
    d = np.arange(1, 3000)
    step = p**d / d
    np.testing.assert_allclose(tails[d] - tails[d + 1], step, rtol=1e-9, atol=1e-15)
    filled = step > 1e-300
    ratio = tails[d[filled]] / step[filled]
    assert (ratio >= 1).all()
    assert (ratio <= 1 / (1 - p) * (1 + 1e-12)).all()


def test_exponential_integral() -> None:
    # The tables' far ends: near 0 for p close to 1, hundreds for a small p.
    x = np.geomspace(1e-9, 700, 999)
    found = [exp1(each) for each in x.tolist()]
    np.testing.assert_allclose(found, scipy.special.exp1(x), rtol=1e-15)


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


@pytest.mark.parametrize(
    ("first", "second", "where"),
    [
        (["a"], ["b"], ""), ([], ["a"], "first"), (["a"], {}, "second"),
        (["a", "a"], ["a"], "first"),
        ([["a", "b"], "a"], ["a"], "first"), ("abc", ["a"], "first"), (["a", 3], ["a"], "first[1]"),
        ({"a": math.nan}, ["a"], "first"),
    ],
)  # fmt: skip
def test_what_is_refused(first: Any, second: Any, where: str) -> None:
    with pytest.raises(InputError) as error:
        rank_similarity(first, second)
    assert error.value.problems[0].where == where


@pytest.mark.parametrize("given", [{"p": 0}, {"p": 1}, {"p": math.nan}, {"tied": "c"}])
def test_parameters_out_of_range(given: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError):
        rank_similarity(["a"], ["a"], **given)


@pytest.mark.parametrize("p", [0.5, 0.8, 0.9, 0.98, 0.99])
@pytest.mark.parametrize("n", [1, 2, 7, 100, 1000])
def test_identical_rankings_have_exactly_1(p: float, n: int) -> None:
    scores = {f"d{place}": float(n - place) for place in range(n)}
    run = Run.from_dict({"10": scores, "2": {"a": 2.0, "b": 1.0}})
    aligned = align(as_reference(run, run.qids), run)
    for form in ("ext", "ext-cut", "max"):
        assert rbo(aligned, p=p, form=form).tolist() == [1.0, 1.0]
        for tied in ("w", "b"):
            assert rbo(aligned, p=p, form=form, tied=tied).tolist() == [1.0, 1.0]
    assert ao(aligned).tolist() == [1.0, 1.0]
    names = list(scores)
    assert rank_similarity(names, names, p=p).rbo == 1.0
    if n > 1:  # the last two exchanged
        other = Run.from_dict({"10": {**scores, names[-1]: scores[names[-2]] + 0.5}})
        exchanged = rbo(align(as_reference(run, run.qids[:1]), other), p=p).item()
        assert exchanged < 1.0 or p ** (n - 1) < 1e-15


def test_similar_runs_of_identical_rankings_have_exactly_1() -> None:
    rankings = {run: {"q": np.arange(50), "r": np.arange(7)} for run in ("a", "b")}
    found = compare_rankings("d", rankings, "rbo", 0.9, 1000)
    assert found.values.tolist() == [[1.0, 1.0], [1.0, 1.0]]
