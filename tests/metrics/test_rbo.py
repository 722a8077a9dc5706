"""RBO and average overlap against hand-worked, published and golden values."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.special

import harness.metrics  # noqa: F401
from harness.core import blocks
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.evaluate import evaluate
from harness.core.names import parse, parse_all
from harness.core.policy import Policy
from harness.core.reference import as_reference
from harness.core.tables import Qrels, Run
from harness.errors import UnknownNameError
from harness.metrics.rbo import ao, exp1, rbo, rbo_weight, tails_to

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "rank_similarity.json").read_text(encoding="utf-8")
)


def run_of(*lists: list[str]) -> Run:
    return Run.from_dict(
        {f"q{i}": {d: -float(j) for j, d in enumerate(docs)} for i, docs in enumerate(lists)}
    )


def compared(first: list[str], second: list[str]) -> Aligned:
    run = run_of(first)
    return align(as_reference(run_of(second), run.qids), run)


def test_by_hand() -> None:
    # a b against b a at p = .5: X = 0, 2. (1-p)/p = 1
    aligned = compared(["a", "b"], ["b", "a"])
    # ext: .5^2 * 2/2 (depth 2) + .5^2 * 2/2 (goes on) = 1/2
    assert rbo(aligned, p=0.5).item() == pytest.approx(0.5, abs=1e-15)
    # min: 2 * sum over d >= 2 of .5^d / d = 2 * (ln 2 - 1/2)
    assert rbo(aligned, p=0.5, form="min").item() == pytest.approx(2 * np.log(2) - 1, abs=1e-15)
    # both lists agree from depth 2 on, so the most is ext, and the rest is open
    assert rbo(aligned, p=0.5, form="max").item() == pytest.approx(0.5, abs=1e-15)
    assert rbo(aligned, p=0.5, form="res").item() == pytest.approx(1.5 - 2 * np.log(2), abs=1e-15)
    assert ao(aligned).tolist() == [0.5]  # (0/1 + 2/2) / 2
    assert ao(aligned, cutoff=1).tolist() == [0.0]
    assert ao(aligned, cutoff=9).tolist() == [0.5]  # both lists end at 2


def test_published_example() -> None:
    aligned = compared(list("1234567"), list("13245768"))
    assert rbo(aligned).item() == pytest.approx(0.9451585, abs=1e-15)
    assert rbo(aligned, form="ext-cut").item() == pytest.approx(0.8853713875, abs=1e-15)


@pytest.mark.parametrize(("p", "expected"), [(0.9, 0.782775), (0.75, 0.5361328125)])
@pytest.mark.parametrize("films", ["abcdefg", "abcdefgh"])
def test_published_film_lists(films: str, p: float, expected: float) -> None:
    # Two orders of the same films, a series by release and by story. Of all orders of seven,
    # only those with the overlaps 0 1 1 3 5 6 7 give both of the published figures. In the
    # source a missing comma joins the last two titles; with both the figures stay the same.
    watched = ["d", "a", "e", "b", "c", *films[5:]]
    aligned = compared(list(films), watched)
    assert rbo(aligned, p=p).item() == pytest.approx(expected, abs=1e-15)


def test_published_weight() -> None:
    assert rbo_weight(0.9, 10) == pytest.approx(0.8555854467473518, abs=1e-14)
    assert rbo_weight(0.75, 4) == pytest.approx(0.8640174814931874, abs=1e-15)


@pytest.mark.parametrize("case", GOLDEN["top_weight"], ids=lambda case: f"{case['p']}-{case['d']}")
def test_golden_weight(case: dict) -> None:
    weight = rbo_weight(case["p"], case["d"])
    assert weight == pytest.approx(case["top_d_weight"], abs=1e-12)
    above = rbo_weight(case["p"], case["d"] - 1) if case["d"] > 1 else 0.0
    assert weight - above == pytest.approx(case["rank_d_weight"], abs=1e-12)


FORMS = ("ext", "min", "max", "res", "truncated")


@pytest.mark.parametrize("case", GOLDEN["rbo"], ids=lambda case: case["name"])
def test_golden(case: dict) -> None:
    first, second = groups_of(case["x"]), groups_of(case["y"])
    for aligned in (tied_lists(first, second), tied_lists(second, first)):  # it is symmetric
        for variant in ("none", "w", "a", "b"):
            expected = case["expected"].get(variant) or case["expected"].get("none")
            if expected is None:
                continue  # an order of ties, of which there is no golden value
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


def tied_lists(first: list[list[str]], second: list[list[str]]) -> Aligned:
    runs = [
        Run.from_dict({"q": {d: -float(at) for at, group in enumerate(groups) for d in group}})
        for groups in (first, second)
    ]
    return align(as_reference(runs[1], runs[0].qids), runs[0])


def test_ties_by_hand() -> None:
    # (a b) against a b at p = .5; X_d and A_d at depths 1 and 2, ext = .5 A_1 + .25 A_2 + .25 A_2
    aligned = tied_lists([["a", "b"]], [["a"], ["b"]])
    # w: a and b count 1 from rank 1 on: X_1 = 1 of (2 + 1) / 2; X_2 = 2 of 2
    assert rbo(aligned, p=0.5, tied="w").item() == pytest.approx(0.5 * 2 / 3 + 0.5, abs=1e-15)
    # a: each counts 1/2 at depth 1: X_1 = 1/2
    assert rbo(aligned, p=0.5, tied="a").item() == pytest.approx(0.75, abs=1e-15)
    # b: X_1 = 1/2 over sqrt(1/4 + 1/4) * sqrt(1)
    assert rbo(aligned, p=0.5, tied="b").item() == pytest.approx(0.5 * 0.5**0.5 + 0.5, abs=1e-15)
    assert ao(aligned, tied="a").tolist() == [0.75]
    assert ao(aligned, tied="a", cutoff=1).tolist() == [0.5]
    # none: the larger docno goes first, so that the order is b a
    assert rbo(aligned, p=0.5).item() == pytest.approx(0.5, abs=1e-15)


def test_a_list_with_ties_and_itself() -> None:
    groups = [["a"], ["b", "c", "d"], ["e", "f"]]
    aligned = tied_lists(groups, groups)
    assert rbo(aligned, tied="w").item() == pytest.approx(1.0, abs=1e-15)
    assert rbo(aligned, tied="b").item() == pytest.approx(1.0, abs=1e-15)
    assert rbo(aligned, tied="a").item() < 0.95  # two random orders of the same ties differ


def test_ties_among_unjudged_documents_take_up_ranks() -> None:
    # (x a y) and the ideal a: at depths 1 2 3 a counts 1/3, 2/3, 1; s = 1, l = 3, p = .5.
    # a: A_1 = 1/3. Beyond: x and y are only in the longer list, and count 2/3, 1 each:
    # A_2 = (2/3 + 1 * 1/3 * 2/3) / 2 = 4/9, A_3 = (1 + 2 * 1/3 * 1) / 3 = 5/9
    # ext = .5 * 1/3 + .25 * 4/9 + .125 * 5/9 + .125 * 5/9
    qrels = Qrels.from_dict({"q": {"a": 1}})
    aligned = align(qrels, Run.from_dict({"q": dict.fromkeys("xay", 1.0)}))
    expected = 0.5 / 3 + 0.25 * 4 / 9 + 0.25 * 5 / 9
    assert rbo(aligned, p=0.5, tied="a").item() == pytest.approx(expected, abs=1e-15)
    # cut at two documents, by falling docno: (y x); a is gone
    cut = align(qrels, Run.from_dict({"q": dict.fromkeys("xay", 1.0)}), Policy(depth=2))
    assert rbo(cut, p=0.5, tied="a").item() == 0.0
    # w: at depth 1 a counts 1 of (3 + 1) / 2
    assert rbo(aligned, tied="w", form="truncated").item() == pytest.approx(0.1 / 2, abs=1e-15)


def test_truncated_at_k() -> None:
    # X = 1 2 3: (1 - p) * (1 + p + p^2), to the end of the shorter list at most
    aligned = compared(list("abc"), list("abcd"))
    for k, terms in ((None, 3), (1, 1), (2, 2), (9, 3)):
        value = rbo(aligned, p=0.5, form="truncated", k=k).item()
        assert value == pytest.approx(1 - 0.5**terms, abs=1e-15)
    with pytest.raises(UnknownNameError) as error:
        rbo(aligned, k=3)
    assert str(error.value) == (
        "k=3 needs form=truncated, got form=ext; write rbo(form=truncated,k=3), or rbo(depth=3) "
        "to cut the ranking"
    )
    assert str(parse("rbo(form=truncated,k=3,tied=b)")[0]) == (
        "rbo(p=0.9,form=truncated,tied=b,k=3)"
    )


def test_blocks_give_what_the_whole_gives() -> None:
    rng = np.random.default_rng(3)
    names = [f"d{i}" for i in range(40)]
    tables = []
    for _ in range(2):
        lists = {f"q{q}": rng.permutation(names)[: rng.integers(0, 30)] for q in range(30)}
        tables.append(
            Run.from_dict({q: {d: float(rng.integers(9)) for d in row} for q, row in lists.items()})
        )
    aligned = align(as_reference(tables[1], tables[0].qids), tables[0])
    whole = [rbo(aligned, tied=variant) for variant in ("w", "a", "b")]  # type: ignore[arg-type]
    parts = [
        blocks.by_block(aligned, partial(rbo, tied=variant), 50) for variant in ("w", "a", "b")
    ]
    np.testing.assert_array_equal(whole, parts)


def test_a_ranking_in_ideal_order_has_1() -> None:
    # a has grade 2; b, c, d have grade 1 and stand in the ranking's own order, those that are
    # not retrieved last
    qrels = Qrels.from_dict({"q0": {"a": 2, "b": 1, "c": 1, "d": 1, "e": 0}})
    for order in ("acb", "abc", "a", "adcb", "acbdex"):
        aligned = align(qrels, run_of(list(order)))
        assert rbo(aligned).item() == pytest.approx(1.0, abs=1e-15)
        assert rbo(aligned, form="max").item() == pytest.approx(1.0, abs=1e-15)
        assert ao(aligned).item() == pytest.approx(1.0, abs=1e-15)
    # e has no place in the ideal order: X = 1 2 3 3, then d could only come at rank 5
    aligned = align(qrels, run_of(list("acbe")))
    assert rbo(aligned, form="max").item() < 1


def test_unjudged_documents_take_up_ranks() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1, "b": -1, "c": 0}})
    run = Run.from_dict({"q": {"x": 3.0, "a": 2.0, "y": 1.0}})
    # lists x a y and a: X = 0 1 1, s = 1, l = 3, X_s = 0, p = .5:
    # .5^2 * 1/2 + .5^3 * 1/3 + .5^3 * (1 - 0)/3 = 1/8 + 1/24 + 1/24
    assert rbo(align(qrels, run), p=0.5).item() == pytest.approx(5 / 24, abs=1e-15)


def test_smallest_grade_of_the_ideal_order() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 2}})
    run = Run.from_dict({"q": {"b": 2.0, "a": 1.0}})
    assert rbo(align(qrels, run), rel=2, form="ext-cut").item() < 1
    assert rbo(align(qrels, run), rel=2).item() == pytest.approx(1.0, abs=1e-15)
    assert np.isnan(rbo(align(qrels, run), rel=3)).all()


@pytest.mark.parametrize("form", ["ext", "min", "max", "res", "ext-cut", "truncated"])
@pytest.mark.parametrize("tied", ["none", "w", "a", "b"])
def test_an_empty_list_is_undefined(form: str, tied: str) -> None:
    qrels = Qrels.from_dict({"none": {"a": 0}, "unanswered": {"a": 1}, "fine": {"a": 1}})
    run = Run.from_dict({"none": {"a": 1.0}, "fine": {"a": 1.0}})
    aligned = align(qrels, run)
    values = rbo(aligned, form=form, tied=tied)  # type: ignore[arg-type]
    assert np.isnan(values).tolist() == [True, True, False]
    assert np.isnan(ao(aligned, tied=tied)).tolist() == [True, True, False]  # type: ignore[arg-type]
    evaluation = evaluate(aligned, parse_all(["rbo(form=min)"]))
    assert evaluation.column("rbo(form=min)")[1] == 0.0  # the policy's: a missing answer is worth 0


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


def test_long_lists_leave_no_negative_residual() -> None:
    docs = [f"d{i}" for i in range(3000)]
    aligned = compared(docs, docs)
    assert rbo(aligned).item() == pytest.approx(1.0, abs=1e-14)
    assert 0 <= rbo(aligned, form="res").item() < 1e-100
    assert rbo(aligned, p=0.999, form="res").item() > 0


@pytest.mark.parametrize("p", ["0", "1", "-0.1", "1.5"])
def test_p_out_of_range(p: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        parse(f"rbo(p={p})")
    assert str(error.value) == f"rbo(p={p}): p must lie in (0, 1), and is {float(p):g}"
    with pytest.raises(UnknownNameError, match=r"^p: expected a number between 0 and 1"):
        rbo_weight(float(p), 3)


def test_depth_out_of_range() -> None:
    with pytest.raises(UnknownNameError) as error:
        rbo_weight(0.9, 0)
    assert str(error.value) == "d: expected a whole number from 1 to 2147483647, got 0"


def test_a_reference_run_from_the_metric_name() -> None:
    qrels = Qrels.from_dict({"q0": {"a": 1}})
    run, other = run_of(list("abcd")), run_of(list("badc"))
    aligned = align(qrels, run)
    references = {"other": align(as_reference(other, qrels.qids), run)}
    metrics = parse_all(["rbo(p=0.5,reference=other)", "ao(reference=other)@2"])
    values = evaluate(aligned, metrics, references=references).values
    # X = 0 2 2 4 at p = .5: 0 + .5^2 + .5^3 * 2/3 + .5^4 + .5^4 = 11/24; ao: (0 + 1) / 2
    assert values[0].tolist() == pytest.approx([11 / 24, 0.5], abs=1e-15)
