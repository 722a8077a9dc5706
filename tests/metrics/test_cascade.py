"""ERR, nERR and pFound, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.names import parse
from harness.core.tables import Qrels, Run
from harness.errors import InputError
from harness.metrics.cascade import err, nerr, pfound, stop_probabilities


def ranked(*grades: int | None, missed: tuple[int, ...] = ()) -> Aligned:
    """Align one list of grades in rank order; None is a document outside the pool."""
    qrel = {f"d{i}": grade for i, grade in enumerate(grades) if grade is not None}
    qrel |= {f"m{i}": grade for i, grade in enumerate(missed)}
    run = {f"d{i}": -float(i) for i in range(len(grades))}
    return align(Qrels.from_dict({"q": qrel}), Run.from_dict({"q": run}))


def test_err_by_hand() -> None:
    # R = 3/16, 0 (unjudged), 15/16, 0, 1/16
    # 3/16 + (1/3) (13/16) (15/16) + (1/5) (13/16) (1/16) (1/16)
    aligned = ranked(2, None, 4, 0, 1)
    expected = 3 / 16 + 13 / 16 * 15 / 16 / 3 + 13 / 16 / 16 / 16 / 5
    assert err(aligned).tolist() == [pytest.approx(expected, abs=1e-15)]
    assert err(aligned, cutoff=1).tolist() == [3 / 16]
    assert err(aligned, cutoff=2).tolist() == [3 / 16]
    assert err(aligned, cutoff=3).tolist() == [pytest.approx(3 / 16 + 195 / 768, abs=1e-15)]


def test_scale_of_err() -> None:
    aligned = ranked(1, 2)
    # max_grade 2: R = 1/4, 3/4: 1/4 + (1/2) (3/4) (3/4)
    assert err(aligned, max_grade=2).tolist() == [0.53125]
    assert err(aligned, max_grade=None).tolist() == [0.53125]  # its own largest grade is 2
    # linear: R = 1/2, 1: 1/2 + (1/2) (1/2) (1)
    assert err(aligned, stop="linear", max_grade=2).tolist() == [0.75]


def test_largest_grade_of_the_list_may_be_missed_or_absent() -> None:
    # the largest judgement, 3, is not retrieved: R = 1/8
    assert err(ranked(1, missed=(3,)), max_grade=None).tolist() == [0.125]
    assert err(ranked(0, -1), max_grade=None).tolist() == [0.0]


def test_nerr_by_hand() -> None:
    # R = 1/16 at rank 1, 15/16 at rank 2: 1/16 + (1/2) (15/16) (15/16)
    # ideal, with the missed grade 2: 15/16 + (1/2) (1/16) (3/16) + (1/3) (1/16) (13/16) (1/16)
    actual = 1 / 16 + 225 / 512
    ideal = 15 / 16 + 3 / 512 + 13 / 12288
    aligned = ranked(1, 4, missed=(2,))
    assert nerr(aligned).tolist() == [pytest.approx(actual / ideal, abs=1e-15)]
    # cut at 1: (1/16) / (15/16)
    assert nerr(aligned, cutoff=1).tolist() == [pytest.approx(1 / 15, abs=1e-15)]
    assert nerr(ranked(4, 2, 2, 0)).tolist() == [1.0]
    assert nerr(ranked(0, 0)).tolist() == [0.0]


def test_pfound_by_hand() -> None:
    # R = 3/16, 0, 15/16: 3/16 + .85^2 (13/16) (15/16)
    expected = 3 / 16 + 0.7225 * 195 / 256
    assert pfound(ranked(2, 0, 4)).tolist() == [pytest.approx(expected, abs=1e-15)]
    # decay .5: 3/16 + (1/4) (195/256)
    assert pfound(ranked(2, 0, 4), decay=0.5).tolist() == [3 / 16 + 195 / 1024]
    assert pfound(ranked(2, 0, 4), cutoff=2).tolist() == [3 / 16]


def test_several_queries_do_not_mix() -> None:
    qrels = Qrels.from_dict({"a": {"x": 4, "y": 1}, "none": {"x": 0}, "b": {"x": 4, "y": 1}})
    run = Run.from_dict({"a": {"x": 2.0, "y": 1.0}, "none": {"x": 1.0}, "b": {"y": 2.0, "x": 1.0}})
    # a: 15/16 + (1/2) (1/16) (1/16); b: 1/16 + (1/2) (15/16) (15/16)
    expected = [15 / 16 + 1 / 512, 0.0, 1 / 16 + 225 / 512]
    assert err(align(qrels, run)).tolist() == expected


@pytest.mark.parametrize("metric", [err, nerr, pfound])
def test_a_grade_above_the_largest_is_an_error(metric) -> None:  # type: ignore[no-untyped-def]
    text = (
        "a grade of 5 is above max_grade=4; "
        "give max_grade=5, or the largest grade that the judges could give"
    )
    with pytest.raises(InputError) as raised:
        metric(ranked(1, missed=(5,)))  # whatever the run holds
    assert str(raised.value) == text
    assert metric(ranked(1, missed=(5,)), max_grade=5)[0] > 0
    assert metric(ranked(1, missed=(5,)), max_grade=None)[0] > 0


def test_a_grade_above_the_largest_can_be_kept() -> None:
    # R = 31/16, 1/16: 31/16 + (1/2) (1 - 31/16) (1/16)
    assert err(ranked(5, 1), beyond="keep").tolist() == [31 / 16 - 15 / 512]
    with pytest.raises(InputError, match="a grade of 1005 is above max_grade=4"):
        err(ranked(1005), beyond="keep")  # 2^1001


def test_large_grades_do_not_overflow() -> None:
    assert err(ranked(1000, 1), max_grade=1000).tolist() == [1.0]
    assert err(ranked(2000, 1), max_grade=None).tolist() == [1.0]
    aligned = ranked(*[1000] * 3000)
    assert err(aligned, max_grade=1000).tolist() == [1.0]


def test_fractions_of_a_grade() -> None:
    grades = np.array([0.5, 1.5])
    # (2^0.5 - 1) / 4 and (2^1.5 - 1) / 4
    expected = [(2**0.5 - 1) / 4, (2**1.5 - 1) / 4]
    assert stop_probabilities(grades, np.array(2), "exp") == pytest.approx(expected, abs=1e-15)
    assert stop_probabilities(grades, np.array(2), "linear").tolist() == [0.25, 0.75]


def test_names() -> None:
    assert str(parse("ERR@10")[0]) == "err@10"
    assert str(parse("nERR@10")[0]) == "nerr@10"
    name = "err(stop=linear,max_grade=1,beyond=keep)@5"
    assert str(parse(name)[0]) == name
    [metric] = parse("err(max_grade=none)")
    assert metric.arguments()["max_grade"] is None
    assert parse(str(metric)) == [metric]
