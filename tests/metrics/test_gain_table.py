"""Gains given by grade, against trec_eval's own C code."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval_ext
from hypothesis import given, settings
from hypothesis import strategies as st

import harness.metrics  # noqa: F401
from harness.core.align import align
from harness.core.names import parse
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import UnknownNameError

MEASURES = ("ndcg", "ndcg_rel", "Rndcg", "G")
# trec_eval compares gains by their whole difference; 0.25 and 0.5 are equal to it
gains = st.dictionaries(
    st.integers(0, 6), st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.75, 3.3, 9.0, 31.0]), min_size=1
)
grades = st.dictionaries(
    st.sampled_from("abcdefgh"), st.integers(-1, 5), min_size=1, max_size=8
).filter(lambda judged: max(judged.values()) > 0)
scores = st.dictionaries(
    st.sampled_from("abcdefghxyz"), st.integers(0, 5).map(float), min_size=1, max_size=11
)


def evaluated(measure: str, judged: dict[str, int], ranked: dict[str, float]) -> float:
    """Return what trec_eval's code gives; pytrec_eval's own door lets no gains through."""
    oracle = pytrec_eval_ext.RelevanceEvaluator({"q": judged}, {measure}, 1)
    (value,) = oracle.evaluate({"q": ranked})["q"].values()
    return float(value)


@settings(max_examples=400, deadline=None)
@given(gains, grades, scores, st.sampled_from(MEASURES))
def test_gains_equal_trec_eval(
    given_gains: dict[int, float], judged: dict[str, int], ranked: dict[str, float], name: str
) -> None:
    text = name + "." + ",".join(f"{grade}={gain}" for grade, gain in given_gains.items())
    expected = evaluated(text, judged, ranked)
    (metric,) = parse(text)
    policy = Policy(missing_queries="skip")
    aligned = align(Qrels.from_dict({"q": judged}), Run.from_dict({"q": ranked}), policy)
    assert np.array_equal(metric(aligned), [expected], equal_nan=True), str(metric)


def test_a_long_list_of_fractions() -> None:
    rng = np.random.default_rng(3)
    judged = {f"d{number}": int(grade) for number, grade in enumerate(rng.integers(0, 5, 400))}
    ranked = {f"d{number}": float(score) for number, score in enumerate(rng.normal(size=1500))}
    for name in MEASURES:
        text = name + ".1=1.1,2=3.3,3=7.7,4=15.1"
        (metric,) = parse(text)
        aligned = align(Qrels.from_dict({"q": judged}), Run.from_dict({"q": ranked}))
        assert metric(aligned).tolist() == [evaluated(text, judged, ranked)]


def test_cutoffs_and_exponential_gains() -> None:
    # ranks 1, 2, 3: grades 1, 2, 3, and gains 5, 3, 7; ideal order 7, 5, 3
    judged, ranked = {"a": 1, "b": 2, "c": 3}, {"a": 3.0, "b": 2.0, "c": 1.0}
    aligned = align(Qrels.from_dict({"q": judged}), Run.from_dict({"q": ranked}))
    (metric,) = parse("ndcg(gain=exp,gains=1:5)@2")
    discount = np.log2(3)
    assert metric(aligned).item() == pytest.approx((5 + 3 / discount) / (7 + 5 / discount))
    (full,) = parse("ndcg(gain=exp,gains=1:5,ideal=full)@2")
    assert full(aligned).item() == pytest.approx((5 + 3 / discount) / (7 + 5 / discount + 3 / 2))


def test_no_gain_at_all_is_not_a_number_in_rndcg() -> None:
    aligned = align(Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": {"a": 1.0}}))
    (metric,) = parse("Rndcg.1=0")
    assert np.isnan(metric(aligned)).all()


def test_trec_eval_takes_gains_where_it_says_so() -> None:
    with pytest.raises(UnknownNameError):
        parse("binG.1=3")
