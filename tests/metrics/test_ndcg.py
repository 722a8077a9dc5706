"""nDCG and DCG against published and hand-worked values, and gains by grade against trec_eval."""

import math

import numpy as np
import pytest
import pytrec_eval_ext
from alignments import aligned_of, ranked
from hypothesis import given
from hypothesis import strategies as st

from harness.core.evaluation import evaluate
from harness.core.names import parse, parse_all
from harness.core.policy import Policy
from harness.metrics.ndcg import (
    dcg,
    dcg_at_every_rank,
    gains_of,
    ndcg,
    ndcg_at_every_rank,
)


@pytest.mark.parametrize("gain", ["linear", "exp"])
@pytest.mark.parametrize("ideal", ["cut", "full"])
@pytest.mark.parametrize("short", ["cut", "nan", "zero"])
def test_every_rank_holds_each_cutoff(gain: str, ideal: str, short: str) -> None:
    rng = np.random.default_rng(3)
    aligned = ranked(*(rng.integers(-1, 5, length).tolist() for length in (1, 2, 7, 40)))
    given = {"gain": gain, "ideal": ideal, "short": short}
    values = ndcg_at_every_rank(aligned, **given)
    assert values.shape == (4, 40)
    for cutoff in range(1, 41):
        assert np.array_equal(values[:, cutoff - 1], ndcg(aligned, cutoff=cutoff, **given), True)
    assert np.array_equal(
        dcg_at_every_rank(aligned, gain=gain)[:, 6], dcg(aligned, gain=gain, cutoff=7)
    )
    assert np.array_equal(ndcg_at_every_rank(aligned, list_size=3, **given), values[:, :3], True)


def test_gains_by_hand() -> None:
    grades = np.array([-1, 0, 1, 2, 3, 4, 5, 31, 32, 40])
    assert gains_of(grades, "letor").tolist() == [0, 0, 1, 3, 0, 0, 0, 0, 0, 0]
    assert gains_of(grades, "mslr").tolist() == [0, 0, 1, 3, 7, 15, 0, 0, 0, 0]
    # in Java 1 << 31 is -2^31, less 1 is 2^31 - 1 again; 1 << 32 is 1 << 0; 1 << 40 is 1 << 8
    int32 = [0, 0, 1, 3, 7, 15, 31, 2.0**31 - 1, 0, 255]
    assert gains_of(grades, "exp-int32").tolist() == int32
    assert gains_of(grades[:3], "linear", "value").tolist() == [-1, 0, 1]
    assert gains_of(grades[:3], "exp", "value").tolist() == [-0.5, 0, 1]


def test_a_tied_group_past_the_cutoff_can_count_whole() -> None:
    # grades 0 and 2 tied at ranks 1 and 2: a mean gain of 1 at each; ideal@1 is 2
    scores, policy = {"a": 1.0, "b": 1.0}, Policy(ties="average")
    aligned = aligned_of({"q": ({"a": 0, "b": 2}, scores)}, policy)
    metrics = parse_all(["ndcg@1", "ndcg(spill=true)@1"])
    assert evaluate(aligned, metrics).values[0].tolist() == pytest.approx(
        [1 / 2, (1 + 1 / math.log2(3)) / 2], abs=1e-15
    )
    both = aligned_of({"q": ({"a": 2, "b": 2}, scores)}, policy)
    assert evaluate(both, metrics).values[0, 1] == pytest.approx(1 + 1 / math.log2(3))


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
    """Value of trec_eval's code; pytrec_eval's own door lets no gains through."""
    oracle = pytrec_eval_ext.RelevanceEvaluator({"q": judged}, {measure}, 1)
    (value,) = oracle.evaluate({"q": ranked})["q"].values()
    return float(value)


@given(gains, grades, scores, st.sampled_from(MEASURES))
def test_gains_equal_trec_eval(
    given_gains: dict[int, float], judged: dict[str, int], ranked: dict[str, float], name: str
) -> None:
    text = name + "." + ",".join(f"{grade}={gain}" for grade, gain in given_gains.items())
    expected = evaluated(text, judged, ranked)
    (metric,) = parse(text)
    aligned = aligned_of({"q": (judged, ranked)}, Policy(missing_queries="skip"))
    assert np.array_equal(metric(aligned), [expected], equal_nan=True), str(metric)
