"""How often relevant documents come first, and the run that is upside down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align
from harness.core.tables import Qrels, Run
from harness.guard.check import check_files
from harness.guard.parts import First
from harness.guard.upside_down import APART, BEHIND, CLEAR, ENOUGH_QUERIES, Ahead


def of(grades: dict[str, dict[str, int]], scores: dict[str, dict[str, float]]) -> Ahead:
    return Ahead.of(align(Qrels.from_dict(grades), Run.from_dict(scores)))


def test_one_query() -> None:
    # ranks: b 1, x 2, a 3, y 4; relevant: b and a. Pairs (b, x), (b, y), (a, y) are in order, and
    # (a, x) is not: 3 of 4. By chance (4 + 1) / (12 * 2 * 2) = 5 / 48
    found = of({"q": {"a": 1, "b": 2, "x": 0}}, {"q": {"b": 4, "x": 3, "a": 2, "y": 1}})
    assert tuple(found) == (1, 0.75, 0.75**2, pytest.approx(5 / 48), 0)


def test_queries_that_say_nothing_are_left_out() -> None:
    grades = {"no": {"a": 0}, "all": {"a": 1}, "tied": {"a": 1, "b": 0}}
    scores = {"no": {"a": 1, "b": 2}, "all": {"a": 1}, "tied": {"a": 1, "b": 1}}
    assert of(grades, {name: dict(one) for name, one in scores.items()}) == Ahead()


ROWS = st.lists(st.booleans(), min_size=1, max_size=8)


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_it_is_the_share_of_pairs(queries: list[list[bool]]) -> None:
    grades = {
        str(q): {f"d{at}": int(one) for at, one in enumerate(rows)}
        for q, rows in enumerate(queries)
    }
    scores = {q: {name: -float(name[1:]) for name in rows} for q, rows in grades.items()}
    shares = []
    for rows in queries:
        pairs = [
            before < after
            for before, one in enumerate(rows)
            for after, other in enumerate(rows)
            if one and not other
        ]
        shares += [sum(pairs) / len(pairs)] if pairs else []
    found = of(grades, scores)
    assert found.queries == len(shares)
    assert found.shares == pytest.approx(sum(shares))
    assert found.squares == pytest.approx(sum(one * one for one in shares))
    assert found.behind == sum(2 * one < 1 for one in shares)


def test_parts_add_up() -> None:
    both = Ahead(1, 0.5, 0.25, 0.1, 1).more(Ahead(2, 1, 1, 0.2, 2))
    assert tuple(both) == (3, 1.5, 1.25, pytest.approx(0.3), 3)


def sums(shares: Any, variance: float) -> Ahead:
    shares = np.asarray(shares)
    return Ahead(shares.size, float(shares.sum()), float((shares**2).sum()), variance)


@pytest.mark.parametrize(
    ("found", "fires"),
    [
        (sums([0.2, 0.3] * 10, 0.1), True),
        (sums([0.2, 0.3] * 10, 4.0), False),  # chance: 20 * .25 = 5 is 2.5 times sqrt(4)
        (sums([0.0, 0.7] * 10, 0.1), False),  # queries disagree: .15 is 1.9 times .35 / sqrt(19)
        (sums([0.41, 0.42] * 99, 0.1), False),  # bad, and not upside down
        (sums([0.2, 0.3] * 4, 0.1), False),  # eight queries
        (sums([0.8, 0.7] * 10, 0.1), False),
    ],
)
def test_when_it_is_said(found: Ahead, fires: bool) -> None:
    assert [one.rule for one in found.findings("a.run", First())] == ["upside-down"] * fires


def test_thresholds() -> None:
    assert (ENOUGH_QUERIES, BEHIND, CLEAR, APART) == (10, 0.4, 6.0, 5.0)


UPSIDE_DOWN = ("BRPHJ_NLP2", "SFDC-23April-run1", "SFDC-23April-run2")


def test_real_runs_that_are_upside_down(shared: Path) -> None:
    # zcat RUN.gz | awk '$1 == 1': the largest score stands beside rank 1000 (or 900), the
    # smallest beside rank 1; they are distances. ndcg@10 of the official leaderboard: .0138,
    # .0689, .0218. Beside them others of its worst, which are no better than chance, and are not
    folder = shared / "data/trec_covid_round1"
    others = ("TMACC_SeTA_baseline", "tm_lda400", "CincyMedIR-run2", "lda400s2000", "BERT")
    runs = [str(folder / f"runs/{name}.gz") for name in (*UPSIDE_DOWN, *others)]
    qrels = str(folder / "qrels-rnd1.txt")
    checked = check_files(qrels, runs, of_qrels={}, of_runs={})
    found = [one for one in checked.findings if one.rule == "upside-down"]
    assert [Path(one.place).stem for one in found] == [*UPSIDE_DOWN]
    assert {one.severity for one in found} == {"warning"}
