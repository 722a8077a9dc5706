"""One cause is said once, and truly: runs and predictions that are wrong in one way alone."""

from __future__ import annotations

import numpy as np
import pytest

from harness.core.align import align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.guard.facts import Facts, JudgementFacts
from harness.guard.finding import Finding
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
