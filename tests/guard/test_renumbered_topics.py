"""Topics that a run numbers otherwise than the judgements, and runs that only seem so."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from harness import readers
from harness.core.align import align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import Finding
from harness.guard.documents import Topics
from harness.guard.facts import Facts, JudgementFacts, RunFacts
from harness.guard.rules import of_run
from harness.guard.watch import Watch

Judged = dict[str, dict[str, int]]
Ranked = dict[str, dict[str, float]]


def facts_of(qrels: Qrels, run: Run) -> RunFacts:
    watch = Watch(qrels, Policy())
    watch.run(run)
    for aligned in align_parts(qrels, run):
        watch.aligned(aligned)
    return watch.facts()


def found_in(judged: Judged, run: Ranked) -> list[Finding]:
    qrels = Qrels.from_dict(judged)
    facts = Facts(JudgementFacts.of(qrels), facts_of(qrels, Run.from_dict(run)))
    return [one for one in of_run(facts, "r") if one.rule == "other-topics"]


def pools(shared: int) -> Judged:
    """Ten queries of twelve documents each, and so many of the next one's first ones."""
    return {
        f"q{q}": {
            **{f"d{q}-{r}": 1 for r in range(12)},
            **{f"d{(q + 1) % 10}-{r}": 0 for r in range(shared)},
        }
        for q in range(10)
    }


def in_order(judged: Judged, moved: int) -> Ranked:
    """Each query's own twelve documents, in the place of a later query's."""
    return {
        f"q{(q + moved) % 10}": {f"d{q}-{r}": 1 - r / 100 for r in range(12)}
        for q in range(len(judged))
    }


def test_topics_moved_by_one() -> None:
    judged = pools(shared=3)
    assert not found_in(judged, in_order(judged, 0))
    (one,) = found_in(judged, in_order(judged, 9))
    # q9 is answered by the documents of q0, of whose first ten three are judged for q9 too
    assert (one.severity, one.count) == ("warning", 10)
    assert one.what == (
        "in 10 of 10 queries looked at, more documents at rank 10 or before are judged for one "
        "other query than for any else, its own too"
    )
    assert one.effect == "the values are those of answers to other topics"
    assert one.fix == "check that both files number the topics alike"
    assert one.examples == (
        "q9 (10 for query q0, 3 for its own)",
        "q0 (10 for query q1, 3 for its own)",
        "q1 (10 for query q2, 3 for its own)",
    )


@pytest.mark.parametrize(("own", "elsewhere"), [(3, 10), (4, 0)])
def test_by_how_many_documents(own: int, elsewhere: int) -> None:
    """Of ten documents six are judged for another query: three more than for its own, or two."""
    judged: Judged = {f"q{q}": {f"d{q}-{r}": 1 for r in range(6)} for q in range(10)}
    run: Ranked = {}
    for q in range(10):
        run[f"q{q}"] = {f"d{(q + 1) % 10}-{r}": 1 - r / 100 for r in range(10)}
        judged[f"q{q}"] |= {f"d{(q + 1) % 10}-{r}": 0 for r in range(own)}
    facts = facts_of(Qrels.from_dict(judged), Run.from_dict(run))
    assert facts.documents.topics == (10, elsewhere, 0, elsewhere)
    assert len(found_in(judged, run)) == (elsewhere > 0)


def test_numbers_that_decide() -> None:
    assert Topics(20, 5, 0, 4).are_others
    assert not Topics(20, 4, 0, 4).are_others  # too few
    assert not Topics(24, 5, 0, 5).are_others  # less than a quarter
    assert not Topics(20, 6, 3, 6).are_others  # not three times those of their own
    assert not Topics(20, 6, 0, 3).are_others  # one pool that several fall into


def literal(judged: Judged, run: Ranked) -> tuple[int, int, int, int]:
    """The same counts, query by query."""
    elsewhere, own_ones, looked_at = [], 0, 0
    for query, scores in run.items():
        if query not in judged:
            continue
        looked_at += 1
        top = sorted(scores, key=lambda one: -scores[one])[:10]
        counts = Counter(other for one in top for other in judged if one in judged[other])
        own = counts.pop(query, 0)
        best = [*sorted(counts.values(), reverse=True)[:2], 0, 0]
        own_ones += own - best[0] >= 3
        if best[0] - max(best[1], own) >= 3:
            elsewhere.append(max(counts, key=lambda one: counts[one]))
    return looked_at, len(elsewhere), own_ones, len({*elsewhere})


def test_as_the_literal_definition() -> None:
    looked_at = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        judged: Judged = {
            f"q{q}": {f"d{d}": 1 for d in (20 * q + random.choice(60, 25, replace=False)).tolist()}
            for q in range(12)
        }
        run: Ranked = {}
        for query in random.permutation(14).tolist():  # two are not judged
            at = (query + int(random.integers(0, 3))) % 12
            docs = (20 * at + random.choice(90, 30, replace=False)).tolist()
            run[f"q{query}"] = dict(zip((f"d{d}" for d in docs), random.random(30), strict=True))
        facts = facts_of(Qrels.from_dict(judged), Run.from_dict(run))
        if facts.documents.judged_shown <= 0.5 * facts.documents.shown:
            assert facts.documents.topics == literal(judged, run)
            looked_at += facts.documents.topics.elsewhere > 0
        else:
            assert facts.documents.topics == Topics()
    assert looked_at >= 6


@pytest.mark.parametrize(
    ("n_docs", "n_judged", "n_queries"),
    [(200, 20, 40), (100, 20, 40), (200, 50, 40), (1000, 80, 40), (50, 10, 10), (500, 100, 20)],
)
def test_random_orders_of_small_collections_are_not_other_topics(
    n_docs: int, n_judged: int, n_queries: int
) -> None:
    random = np.random.default_rng(n_docs + n_judged)
    for _ in range(5):
        judged: Judged = {
            f"q{q}": {f"d{d}": 1 for d in random.choice(n_docs, n_judged, replace=False).tolist()}
            for q in range(n_queries)
        }
        run: Ranked = {
            qid: dict(
                zip((f"d{d}" for d in range(n_docs)), random.random(n_docs).tolist(), strict=True)
            )
            for qid in judged
        }
        assert "warning" not in {one.severity for one in found_in(judged, run)}


def test_one_list_for_all_queries_is_not_other_topics() -> None:
    """All ten documents are of one query's pool; it is one query that all are judged for."""
    judged = pools(shared=0)
    run = {qid: {f"d3-{r}": 1 - r / 100 for r in range(12)} for qid in judged}
    what = [one.what for one in found_in(judged, run)]
    assert not any("queries looked at" in one for one in what)


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_real_runs_with_their_topics_and_with_the_next_ones(shared: Path) -> None:
    """Of all 143 runs of TREC-COVID none is one with its own topics, and 126 are with the next
    ones' (2026-11-22); here every tenth."""
    data = shared / "data/trec_covid_round1"
    qrels = readers.read_qrels(data / "qrels-rnd1.txt")
    qids = qrels.qids.to_pylist()
    names = pa.array([*qids[1:], qids[0]], type=qrels.qids.type)
    moved = Qrels(names, qrels.offsets, qrels.docnos, qrels.numbers)
    runs = [readers.read_run(path) for path in sorted((data / "runs").glob("*.gz"))[::10]]
    assert len(runs) == 15

    def others(judgements: Qrels, run: Run) -> bool:
        return facts_of(judgements, run).documents.topics.are_others

    assert not any(others(qrels, run) for run in runs)
    assert sum(others(moved, run) for run in runs) >= 12
