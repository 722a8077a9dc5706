"""RBO and average overlap against hand-worked, published and golden values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import harness.metrics  # noqa: F401
from harness.core.align import align, as_reference
from harness.core.aligned import Aligned
from harness.core.evaluate import evaluate
from harness.core.names import parse, parse_all
from harness.core.tables import Qrels, Run
from harness.errors import UnknownNameError
from harness.metrics.rbo import ao, rbo, rbo_weight, tails_to

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
    assert rbo_weight(case["p"], case["d"]) == pytest.approx(case["top_d_weight"], abs=1e-12)


@pytest.mark.parametrize("case", GOLDEN["rbo"], ids=lambda case: case["name"])
def test_golden(case: dict) -> None:
    first, second = case["x"].split(), case["y"].split()
    for aligned in (compared(first, second), compared(second, first)):  # it is symmetric
        for form in ("ext", "min", "max", "res"):
            value = rbo(aligned, p=case["p"], form=form).item()
            assert value == pytest.approx(case["expected"][form], abs=1e-12), form
        assert ao(aligned).item() == pytest.approx(case["expected"]["average_overlap"], abs=1e-12)


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


@pytest.mark.parametrize("form", ["ext", "min", "max", "res", "ext-cut"])
def test_an_empty_list_is_undefined(form: str) -> None:
    qrels = Qrels.from_dict({"none": {"a": 0}, "unanswered": {"a": 1}, "fine": {"a": 1}})
    run = Run.from_dict({"none": {"a": 1.0}, "fine": {"a": 1.0}})
    aligned = align(qrels, run)
    values = rbo(aligned, form=form)  # type: ignore[arg-type]
    assert np.isnan(values).tolist() == [True, True, False]
    assert np.isnan(ao(aligned)).tolist() == [True, True, False]
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
    with pytest.raises(UnknownNameError, match=r"^rbo_weight: p must lie in \(0, 1\), and is"):
        rbo_weight(float(p), 3)


def test_depth_out_of_range() -> None:
    with pytest.raises(UnknownNameError) as error:
        rbo_weight(0.9, 0)
    assert str(error.value) == "rbo_weight: d must be at least 1, and is 0"


def test_a_reference_run_from_the_metric_name() -> None:
    qrels = Qrels.from_dict({"q0": {"a": 1}})
    run, other = run_of(list("abcd")), run_of(list("badc"))
    aligned = align(qrels, run)
    references = {"other": align(as_reference(other, qrels.qids), run)}
    metrics = parse_all(["rbo(p=0.5,reference=other)", "ao(reference=other)@2"])
    values = evaluate(aligned, metrics, references=references).values
    # X = 0 2 2 4 at p = .5: 0 + .5^2 + .5^3 * 2/3 + .5^4 + .5^4 = 11/24; ao: (0 + 1) / 2
    assert values[0].tolist() == pytest.approx([11 / 24, 0.5], abs=1e-15)
