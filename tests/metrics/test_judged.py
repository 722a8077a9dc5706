"""How much is judged, by hand and as ir_measures has it."""

from __future__ import annotations

import numpy as np
import pytest

from harness.core.align import align
from harness.core.evaluate import evaluate
from harness.core.names import parse, parse_all
from harness.core.tables import Qrels, Run
from harness.metrics.judged import judged, unjudged

# ranks: a (judged), x, p (in the pool, not judged), b (judged)
QRELS = Qrels.from_dict({"q": {"a": 0, "b": 1, "p": -1, "missed": 1}})
RUN = Run.from_dict({"q": {"a": 4.0, "x": 3.0, "p": 2.0, "b": 1.0}})


@pytest.mark.parametrize(
    ("cutoff", "share"), [(1, 1.0), (2, 1 / 2), (3, 1 / 3), (4, 2 / 4), (100, 2 / 4), (None, 2 / 4)]
)
def test_by_hand(cutoff: int | None, share: float) -> None:
    aligned = align(QRELS, RUN)
    assert judged(aligned, cutoff=cutoff).tolist() == [share]
    assert unjudged(aligned, cutoff=cutoff).tolist() == [pytest.approx(1 - share, abs=1e-15)]


def test_undefined_where_nothing_is_retrieved() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1}, "unanswered": {"a": 1}})
    aligned = align(qrels, Run.from_dict({"q": {"x": 1.0}}))
    evaluation = evaluate(aligned, parse_all(["judged@5", "unjudged@5"]))
    np.testing.assert_array_equal(evaluation.values, [[0.0, 1.0], [np.nan, np.nan]])
    assert evaluation.n() == {"judged@5": 1, "unjudged@5": 1}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Judged@1", [0.0, 0.0]),
        ("Judged@3", [0.6666666666666666, 0.5]),
        ("Judged@10", [0.6, 0.5]),
        ("Judged", [0.6, 0.5]),
    ],
)
def test_equals_what_ir_measures_0_4_3_gave(name: str, values: list[float]) -> None:
    qrels = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}}
    run = {
        "q1": {"x": 9.0, "a": 8.0, "b": 7.0, "y": 6.0, "c": 5.0},
        "q2": {"z": 2.0, "a": 1.0},
    }
    found = parse(name)[0](align(Qrels.from_dict(qrels), Run.from_dict(run)))
    assert found.tolist() == values
