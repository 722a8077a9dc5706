"""One cause is said once, and truly: runs and predictions that are wrong in one way alone."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import readers
from harness.core.align import align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import Finding, HarnessWarning
from harness.guard.columns import RankScores
from harness.guard.documents import sample
from harness.guard.facts import Facts, JudgementFacts
from harness.guard.judgements import of_dataset
from harness.guard.lost_rows import of_count
from harness.guard.parts import First
from harness.guard.registry import finding, of_warning
from harness.guard.row_order import Rows
from harness.guard.rules import of_run
from harness.guard.watch import Watch

Tables = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


def found_in(judged: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> list[Finding]:
    qrels, held = Qrels.from_dict(judged), Run.from_dict(run)
    watch = Watch(qrels, Policy())
    watch.run(held)
    for aligned in align_parts(qrels, held):
        watch.aligned(aligned)
    return [*of_run(Facts(JudgementFacts.of(qrels), watch.facts()), "r")]


def closed(n_docs: int, n_judged: int, depth: int) -> Tables:
    """40 queries of one small collection, the pool of each being what another system found."""
    random = np.random.default_rng(1)
    judged, run = {}, {}
    for query in range(40):
        true = random.normal(size=n_docs)
        pool = np.argsort(-(true + random.normal(size=n_docs)))[:n_judged]
        relevant = np.sort(true)[-n_judged // 4]
        judged[f"q{query}"] = {f"d{d}": int(true[d] >= relevant) for d in pool.tolist()}
        scores = true + random.normal(size=n_docs)
        first = np.argsort(-scores)[:depth].tolist()
        run[f"q{query}"] = {f"d{d}": float(scores[d]) for d in first}
    return judged, run


def negated(run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return {qid: {d: -score for d, score in some.items()} for qid, some in run.items()}


@pytest.mark.parametrize("depth", [200, 1000])
def test_right_topics_upside_down(depth: int) -> None:
    judged, run = closed(1000, 80, depth)
    assert "other-topics" not in {one.rule for one in found_in(judged, run)}
    rules = {one.rule for one in found_in(judged, negated(run))}
    assert "upside-down" in rules
    assert "other-topics" not in rules


def test_right_topics_in_an_order_of_chance() -> None:
    """Judged documents are many among all 200, and as many as by chance among the first ten."""
    judged, run = closed(1000, 80, 200)
    random = np.random.default_rng(2)
    shuffled = {
        qid: dict(zip(some, random.permutation([*some.values()]).tolist(), strict=True))
        for qid, some in run.items()
    }
    # the first ten are as the 200, of which those judged are three times as many as by chance
    assert "other-topics" not in {one.rule for one in found_in(judged, shuffled)}
    last = {  # nor where those that are judged are put last
        qid: {d: float(d not in judged[qid]) for d in some} for qid, some in run.items()
    }
    assert "other-topics" not in {one.rule for one in found_in(judged, last)}


def test_a_random_order_of_a_closed_collection_is_no_warning() -> None:
    judged, run = closed(200, 20, 200)
    random = np.random.default_rng(2)
    drawn = {qid: {f"d{d}": random.normal() for d in range(200)} for qid in run}
    (one,) = [one for one in found_in(judged, drawn) if one.rule == "other-topics"]
    assert one.severity == "note"
    assert one.effect == "the values say no more than those of a random order"
    assert one.fix == ("if it is no random baseline: check that both files number the topics alike")


def test_judgements_of_another_fold_of_the_documents() -> None:
    """Ten queries in both folds, each with 30 documents that stand in one of them alone; some of
    fold 2 are judged for the next query in fold 1."""
    folds = [
        {f"q{q}": {f"f{f}-{q}-{r}": r % 2 for r in range(30)} for q in range(10)} for f in "12"
    ]
    for q in range(10):
        folds[0][f"q{q}"][f"f2-{(q + 1) % 10}-0"] = 1
    run = {qid: {d: float(len(some) - at) for at, d in enumerate(some)}
           for qid, some in folds[1].items()}  # fmt: skip
    (one,) = [one for one in found_in(folds[0], run) if one.rule == "other-topics"]
    assert one.what.startswith("none of the 300 documents retrieved is judged for its query; ")
    assert one.fix == "check that both files number the topics alike, and that they are of one fold"


def test_examples_of_other_topics_are_of_what_is_counted() -> None:
    """Pools of 30 documents, and one of the next one's; the run answers the topics after its own,
    with documents of its own first that nobody judged."""
    judged = {
        f"q{q}": {**{f"d{q}-{r}": 1 for r in range(30)}, f"d{q + 1}-{q % 20}": 0} for q in range(20)
    }
    run = {
        f"q{(q + 19) % 20}": {
            **{f"d{q}-{r}": 1.0 / (r + 1) for r in range(30)},
            **{f"new{q}-{r}": 2.0 + r for r in range(8)},
        }
        for q in range(20)
    }
    backwards = {qid: dict(reversed(some.items())) for qid, some in run.items()}
    for given in (run, backwards):
        found = found_in(judged, given)
        (one,) = [one for one in found if one.rule == "other-topics"]
        assert one.severity == "warning"
        assert one.effect == "the values say no more than those of a random order"
        top = {
            f"query {qid}, document {d}"
            for qid, some in given.items()
            for d in sorted(some, key=lambda d, some=some: -some[d])[:10]  # type: ignore[misc]
            if d not in judged[qid]
        }
        assert len(one.examples) == 3
        assert {*one.examples} <= top
        assert all("document d" in name for name in one.examples)
        assert one.count == len(top)


def test_single_precision_counts_in_the_order_of_the_scores() -> None:
    random = np.random.default_rng(4)
    scores = 1e6 + np.arange(40) / 100  # single precision has steps of 1/16 there
    merged = int((np.diff(scores.astype(np.float32)) == 0).sum())
    assert merged == 33
    judged = {f"q{q}": {f"d{d}": d % 2 for d in range(40)} for q in range(10)}
    counts = []
    for order in (np.arange(40)[::-1], np.arange(40), random.permutation(40)):
        run = {qid: {f"d{d}": float(scores[d]) for d in order} for qid in judged}
        (one,) = [one for one in found_in(judged, run) if one.rule == "single-precision"]
        counts.append(one.count)
        assert one.examples[0] == "query q0, documents d39 and d38: 1000000.39 and 1000000.38"
    assert counts == [10 * merged] * 3


def shown(*names: str) -> str:
    return finding("score-ties", "r", "", 1, names).shown


def test_long_names_are_cut_and_not_what_is_said_of_them() -> None:
    one, other = f"5/{'1438' * 20}_2.json", f"1/{'99' * 40}_3.json"
    text = shown(f"query 1, documents {one} and {other}: 0.25 and 0.125")
    assert text == (
        ": query 1, documents 5/143814381438...381438_2.json and 1/999999999999...99999_3.json: "
        "0.25 and 0.125"
    )
    assert len(text) <= 102
    assert shown("a" * 101) == ": " + "a" * 49 + "..." + "a" * 48
    assert shown("a" * 100) == ": " + "a" * 100
    many = shown(" ".join(["abcdefgh"] * 20))  # no word of it is long
    assert many == f": {' '.join(['abcdefgh'] * 20)[:97]}..."


def test_labels_upside_down_are_one_finding() -> None:
    judged = {f"q{q}": {f"d{d}": (d + q) % 3 for d in range(20)} for q in range(20)}
    (labels,) = (
        one
        for one in found_in(
            judged, {q: {d: float(-g) for d, g in s.items()} for q, s in judged.items()}
        )
        if one.rule in ("labels-as-scores", "upside-down")
    )
    assert labels.rule == "labels-as-scores"
    assert "of exactly -1, over 400" in labels.what
    assert labels.effect == "the values are those of the labels turned upside down"
    (labels,) = (
        one
        for one in found_in(
            judged, {q: {d: float(g) for d, g in s.items()} for q, s in judged.items()}
        )
        if one.rule in ("labels-as-scores", "upside-down")
    )
    assert labels.effect.startswith("where labels were saved as scores, the values are the labels'")


@pytest.mark.parametrize(
    ("grades", "what", "example"),
    [
        ([2147483647, 1], "1 of 2 grades is above 30, up to 2,147,483,647", "2147483647"),
        ([-1, 1], "1 of 2 grades is below 0", "-1"),
        ([-1, -2, 1], "2 of 3 grades are below 0", "-1"),
    ],
)
def test_grades_in_words(grades: list[float], what: str, example: str) -> None:
    qrels = Qrels.from_dict({"q": {f"d{at}": grade for at, grade in enumerate(grades)}})
    (one,) = of_dataset(JudgementFacts.of(qrels), "q")
    assert one.what == what
    assert one.examples[0] == f"query q, document d0: {example}"


def test_unknown_docnos_of_a_sample() -> None:
    judged = {f"q{q}": {f"d{d}": d % 2 for d in range(50)} for q in range(2000)}
    run = {qid: {f"d{d}": 100.0 - d for d in range(75)} for qid in judged}
    (one,) = [one for one in found_in(judged, run) if one.rule == "unknown-docnos"]
    looked_at = sample(150_000).size
    assert f" of {looked_at:,} docnos looked at, a sample of 150,000, are judged" in one.what
    few = {qid: run[qid] for qid in ("q0", "q1")}
    (one,) = [one for one in found_in(judged, few) if one.rule == "unknown-docnos"]
    assert one.what == "50 of 150 docnos looked at are judged for no query"


def predicted(seed: int) -> tuple[Rows, np.ndarray[Any, Any]]:
    """1,000 rows in queries of 20, and scores that correlate with their grades by about 0.6."""
    random = np.random.default_rng(seed)
    grades = random.integers(0, 5, 1000)
    return Rows(grades, np.repeat(np.arange(50), 20)), grades + random.normal(0, 2, 1000)


def spans(text: str) -> list[int]:
    """The numbers in a text."""
    return [int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", text)]


@pytest.mark.parametrize("seed", range(5))
def test_rows_lost_in_the_middle(seed: int) -> None:
    rows, scores = predicted(seed)
    said = of_count("p", "d", rows, np.delete(scores, slice(500, 510)), {}).what
    found = re.fullmatch(
        r"990 predictions for 1,000 rows of d; they fit if 10 rows that follow each other from "
        r"one of rows (\d+) to (\d+) on, likeliest (\d+), had none "
        r"\(correlation with the grades 0\.\d+, against 0\.\d+ as they stand\)",
        said,
    )
    assert found is not None, said
    low, high, likeliest = map(int, found.groups()[:3])
    assert low <= 501 <= high  # rows 501 to 510 were lost
    assert abs(likeliest - 501) <= 40  # two queries
    one = of_count("p", "d", rows, np.insert(scores, 500, [0.5]), {})
    low, high, _ = spans(one.what.split("predictions")[2])[:3]
    assert low <= 501 <= high
    assert one.fix.startswith(f"look at predictions {low} to {high}, and delete")


def test_rows_lost_in_three_places() -> None:
    rows, scores = predicted(1)
    for lost in ((300, 600, 900), (100, 500, 800)):
        said = of_count("p", "d", rows, np.delete(scores, lost), {}).what
        where = said.partition("they fit if ")[2].partition(" had none")[0]
        found = re.findall(r"one of rows (\d+) to (\d+), likeliest", where)
        assert len(found) == 3, said
        assert all(int(a) <= at + 1 <= int(b) for (a, b), at in zip(found, lost, strict=True))


def test_a_row_that_is_no_chance_but_ends_in_a_mix() -> None:
    """The rows after the middle were drawn anew: nowhere do all fit."""
    rows, scores = predicted(1)
    scores[500:] = np.random.default_rng(2).permutation(scores[500:])
    one = of_count("p", "d", rows, scores[1:], {})
    assert one.what == "999 predictions for 1,000 rows of d; in their order without a prediction"
    assert one.examples == ("row 1,000",)


def test_too_many_that_fit_nowhere() -> None:
    rows, scores = predicted(1)
    drawn = np.random.default_rng(3).permutation(np.append(scores, 0.5))
    one = of_count("p", "d", rows, drawn, {})
    assert one.what == "1,001 predictions for 1,000 rows of d; in their order without a row"
    assert one.examples == (f"prediction 1,001: {drawn[-1]:.15g}",)
    assert (
        one.fix == "get the whole dataset, if it was cut; else predict its rows, and nothing else"
    )


def warned_of(rule: str, read: Any, path: Path) -> Finding:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(path)
    (one,) = [one.message for one in caught if getattr(one.message, "rule", "") == rule]
    assert isinstance(one, HarnessWarning)
    return of_warning(one, [str(path)])


def test_ranks_against_scores_in_a_scattered_file(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    rows = [("a", 3, 0.1), ("b", 1, 0.9), ("a", 1, 0.5), ("b", 2, 0.5), ("a", 2, 0.8)]
    path.write_text("".join(f"{q} Q0 d{r} {r} {s} t\n" for q, r, s in rows), encoding="utf-8")
    # that of rank 2 in query a is above that of rank 1: line 5, and no two lines side by side
    one = warned_of("ranks-against-scores", readers.read_run, path)
    assert (one.count, one.place) == (1, f"{path}:5")
    assert one.examples == ("a Q0 d2 2 0.8 t",)


def test_counts_of_a_sample_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    lines = (f"q{q} Q0 d{r} {r} {r} tag\n" for q in range(30_000) for r in range(9))
    path.write_text("".join(lines), encoding="utf-8")  # the lowest score is at rank 0
    one = warned_of("ranks-against-scores", lambda it: [*readers.stream_run(it)], path)
    assert 0 < one.count < 30_000 * 8
    assert one.as_dict()["at_least"] is True
    path.write_text("".join(f"q Q0 d{r} {r} {r} t\n" for r in range(9)), encoding="utf-8")
    one = warned_of("ranks-against-scores", readers.read_run, path)
    assert one.count == 8
    assert "at_least" not in one.as_dict()
    for whole in (True, False):
        (found,) = RankScores(99, 100, False, True, whole, True).findings("a.run", First())
        assert (found.count, found.at_least) == (99, not whole)


def test_repeated_rows_are_named_with_query_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    rows = [("1", "D"), ("1", "D"), ("2", "D"), ("2", "E"), ("2", "D")]
    path.write_text("".join(f"1 qid:{q} 1:0.5 # docid = {d}\n" for q, d in rows), encoding="utf-8")
    one = warned_of("repeated-rows", readers.read_qrels, path)
    assert (one.count, one.place) == (2, f"{path}:2")
    assert one.examples == ("query 1, document D: line 2", "query 2, document D: line 5")
