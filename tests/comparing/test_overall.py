"""What a test of all runs says of them together: in every rendering, the CSV and the methods."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from scipy import stats as scipy_stats

import harness
from harness.core.comparison import Comparisons
from harness.core.leaderboard import Entry, Leaderboard
from harness.core.study import Study
from harness.reports.comparisons import render
from harness.reports.methods import methods

RNG = np.random.default_rng(8)
QRELS = {f"q{place}": {"a": 1, "b": 0, "c": 0, "d": 1} for place in range(12)}
RUNS = {
    run: {qid: {doc: RNG.random() + (doc == "a") * bonus for doc in "abcd"} for qid in QRELS}
    for run, bonus in (("one", 0.0), ("two", 0.4), ("three", 1.0))
}
EVALUATIONS = [
    harness.evaluate(QRELS, run, ["map", "P@2"], name=name, dataset="made")
    for name, run in RUNS.items()
]


def by(test: str) -> Comparisons:
    return harness.compare(EVALUATIONS, test=test, draws=999)


def test_friedman_is_that_of_scipy_and_stands_in_each_row() -> None:
    values = [one.column("map") for one in EVALUATIONS]
    expected = scipy_stats.friedmanchisquare(*values)
    rows = list(csv.DictReader(io.StringIO(render(by("friedman-nemenyi"), "csv"))))
    for row in rows[:3]:
        assert float(row["overall_statistic"]) == pytest.approx(expected.statistic)
        assert float(row["overall_p"]) == pytest.approx(expected.pvalue)
    assert {row["critical_difference"] for row in rows[:3]} == {rows[0]["critical_difference"]}
    # Demsar's table: q of three at .05 is 2.343; times sqrt(3 * 4 / (6 * 12))
    assert float(rows[0]["critical_difference"]) == pytest.approx(2.343 * np.sqrt(1 / 6), abs=1e-3)


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("tukey", "F(2, 22)"),
        ("friedman-nemenyi", "chi-squared(2)"),
        ("randomized-tukey", "range of means"),
    ],
)
def test_it_is_shown(name: str, test: str, said: str) -> None:
    found = by(test)
    text = render(found, name)
    assert "All runs together" in text
    assert text.count(said) == 2
    for one in found.overall:
        assert f"{one.statistic:.4f}" in text
        assert f"{one.critical_difference:.4f}" in text


def test_paired_tests_have_none() -> None:
    found = by("paired-t")
    assert "All runs together" not in render(found, "text")
    row = json.loads(render(found, "jsonl").splitlines()[0])
    assert (row["overall_statistic"], row["overall_p"], row["critical_difference"]) == (None,) * 3


def study(found: Comparisons) -> Study:
    return Study(Leaderboard(tuple(map(Entry, EVALUATIONS))), found)


def test_the_methods_section_says_it() -> None:
    found = by("friedman-nemenyi")
    chi2, p = found.overall[0].statistic, found.overall[0].p
    said = f"{chi2:.2f}, p = {p:.3g}" if p >= 0.001 else f"{chi2:.2f}, p < 0.001"
    assert f" All systems together: chi-squared(2) = {said} (MAP on made); " in methods(
        study(found), "plain"
    )
    assert rf" All systems together: $\chi^2(2) = {chi2:.2f}$, $p " in methods(study(found))
    assert "$F(2, 22) = " in methods(study(by("tukey")))
    assert "together" not in methods(study(by("paired-t")))


def test_many_tests_are_not_all_named() -> None:
    metrics = ["map", "P@1", "P@2", "P@3", "ndcg", "ndcg@2", "recip_rank"]
    given = [harness.evaluate(QRELS, run, metrics, name=name) for name, run in RUNS.items()]
    found = harness.compare(given, test="tukey")
    text = methods(Study(Leaderboard(tuple(map(Entry, given))), found), "plain")
    assert " The 7 tests of all systems together have p " in text
    assert "F(2" not in text
