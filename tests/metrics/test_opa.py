"""Ordered pair accuracy and AUC, by hand and as SciPy has it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from harness.core.align import align
from harness.core.evaluate import evaluate
from harness.core.names import parse_all
from harness.core.tables import Qrels, Run
from harness.metrics.pair_agreement import auc, opa

# a and b tied; pairs: ab tied, ac right, ad right, bc right, bd right (grades 1 and 0), cd same
QRELS = Qrels.from_dict({"q1": {"a": 2, "b": 1, "c": 0, "d": 0, "p": -1}, "q2": {"a": 0, "b": 1}})
RUN = Run.from_dict(
    {"q1": {"x": 9.0, "a": 3.0, "b": 3.0, "c": 2.0, "d": 1.0, "p": 0.0}, "q2": {"a": 2.0, "b": 1.0}}
)
ALIGNED = align(QRELS, RUN)


def test_opa_by_hand() -> None:
    # q1: four of five pairs right, one tied; q2: its one pair is wrong
    assert opa(ALIGNED).tolist() == [4.5 / 5, 0.0]
    assert opa(ALIGNED, tied="wrong").tolist() == [4 / 5, 0.0]
    assert opa(ALIGNED, tied="right").tolist() == [1.0, 0.0]


def test_opa_over_queries_and_over_pairs() -> None:
    evaluation = evaluate(ALIGNED, parse_all(["opa", "opa(over=pairs)"]))
    # queries: (4.5/5 + 0) / 2; pairs: (4.5 + 0) / (5 + 1)
    assert evaluation.summary() == {
        "opa": pytest.approx(0.45, abs=1e-15),
        "opa(over=pairs)": pytest.approx(0.75, abs=1e-15),
    }


def test_undefined_without_pairs() -> None:
    qrels = Qrels.from_dict({"one": {"a": 1, "b": 0}, "same": {"a": 1, "b": 1}, "no": {"a": 1}})
    run = Run.from_dict({"one": {"a": 1.0}, "same": {"a": 2.0, "b": 1.0}})
    names = ["opa", "auc", "opa(over=pairs)"]
    evaluation = evaluate(align(qrels, run), parse_all(names))
    assert np.isnan(evaluation.values[:2]).all()
    assert evaluation.values[2].tolist() == [0.0, 0.0, 0.0]  # no answer


def test_auc_by_hand() -> None:
    # rel=1: a and b above c and d; rel=2: ab tied, ac and ad right: 2.5 / 3
    assert auc(ALIGNED).tolist() == [1.0, 0.0]
    values = auc(ALIGNED, rel=2)
    assert values[0] == pytest.approx(2.5 / 3, abs=1e-15)
    assert np.isnan(values[1])


def test_auc_is_the_mann_whitney_statistic_as_a_share() -> None:
    rng = np.random.default_rng(5)
    expected, qrels, run = [], {}, {}
    for number in range(40):
        labels = np.append(rng.integers(0, 2, rng.integers(1, 60)), [0, 1])
        scores = rng.integers(0, 9, labels.size).astype(float)
        good, other = scores[labels == 1], scores[labels == 0]
        expected.append(mannwhitneyu(good, other).statistic / (good.size * other.size))
        qrels[f"q{number}"] = {f"d{i}": int(label) for i, label in enumerate(labels)}
        run[f"q{number}"] = {f"d{i}": score for i, score in enumerate(scores.tolist())}
    found = auc(align(Qrels.from_dict(qrels), Run.from_dict(run)))
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_scores_are_tied_where_the_policy_holds_them_tied() -> None:
    qrels = Qrels.from_dict({"q": {"a": 0, "b": 1}})
    run = Run.from_dict({"q": {"a": 1.0 + 1e-9, "b": 1.0}})
    assert opa(align(qrels, run)).tolist() == [0.5]  # one number as float32
