"""Mean squared error, by hand."""

from __future__ import annotations

import numpy as np

import harness.metrics  # noqa: F401
from harness.core.align import align
from harness.core.evaluate import evaluate
from harness.core.names import parse_all
from harness.core.tables import Qrels, Run
from harness.metrics.error import mse

QRELS = Qrels.from_dict({"q1": {"a": 1, "b": 0, "c": -1}, "q2": {"a": 4}, "q3": {"a": 1}})
RUN = Run.from_dict({"q1": {"a": 3.0, "b": 2.0, "c": 50.0, "x": 99.0}, "q2": {"a": 3.0}})


def test_by_hand() -> None:
    # q1: ((1 - 3)^2 + (0 - 2)^2) / 2 = 4; q2: (4 - 3)^2 = 1; q3 has no answer
    values = mse(align(QRELS, RUN))
    assert values[:2].tolist() == [4.0, 1.0]
    assert np.isnan(values[2])


def test_summary_over_queries_and_over_pairs() -> None:
    evaluation = evaluate(align(QRELS, RUN), parse_all(["mse", "mse(over=pairs)"]))
    # queries: (4 + 1) / 2; pairs: (4 + 4 + 1) / 3
    assert evaluation.summary() == {"mse": 2.5, "mse(over=pairs)": 3.0}
    assert evaluation.column("mse(over=pairs)")[:2].tolist() == [4.0, 1.0]
    assert evaluation.n() == {"mse": 2, "mse(over=pairs)": 2}
