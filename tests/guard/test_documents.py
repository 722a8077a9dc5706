"""Documents that are judged for no query, or for others, and runs that only seem so."""

from __future__ import annotations

import numpy as np

from harness.core.align import align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.guard.facts import Facts, JudgementFacts, Watch

Judged = dict[str, dict[str, int]]
Ranked = dict[str, dict[str, float]]
RULES = {"other-collection", "other-topics", "nothing-judged"}


def found_in(qrels: Qrels, run: Run) -> dict[str, str]:
    """The rules of documents that find something, and the severity."""
    watch = Watch(qrels, Policy())
    watch.run(run)
    for aligned in align_parts(qrels, run):
        watch.aligned(aligned)
    facts = watch.facts()
    assert facts is not None
    found = Facts(JudgementFacts.of(qrels), facts).findings("r")
    return {one.rule: one.severity for one in found if one.rule in RULES}


def rules(judged: Judged, run: Ranked) -> dict[str, str]:
    return found_in(Qrels.from_dict(judged), Run.from_dict(run))


def pools(shared: int) -> Judged:
    """Twenty queries of thirty documents each, and so many of the next one's first ones."""
    return {
        f"q{q}": {
            **{f"d{q}-{r}": 1 for r in range(30)},
            **{f"d{(q + 1) % 20}-{r}": 0 for r in range(shared)},
        }
        for q in range(20)
    }


def ranked(moved: int, prefix: str = "d") -> Ranked:
    """Each query's own thirty documents, as answers to a later query."""
    return {
        f"q{(q + moved) % 20}": {f"{prefix}{q}-{r}": 1 - r / 100 for r in range(30)}
        for q in range(20)
    }


def test_documents_of_other_queries_and_collections() -> None:
    assert rules(pools(0), ranked(0)) == rules(pools(3), ranked(0)) == {}
    assert rules(pools(0), ranked(7)) == {"other-topics": "error"}
    assert rules(pools(0), ranked(0, "x")) == {"other-collection": "error"}
    few = dict([*ranked(0, "x").items()][:3])
    assert rules(pools(0), few) == {"nothing-judged": "warning"}


def test_orders_of_a_closed_collection() -> None:
    """Judged documents are many, and as many as by chance among the first ten."""
    random = np.random.default_rng(1)
    judged: Judged = {}
    run: Ranked = {}
    for query in range(40):
        true = random.normal(size=1000)
        pool = np.argsort(-(true + random.normal(size=1000)))[:80]
        judged[f"q{query}"] = {f"d{d}": int(d in pool[:20]) for d in pool.tolist()}
        scores = true + random.normal(size=1000)
        first = np.argsort(-scores)[:200].tolist()
        run[f"q{query}"] = {f"d{d}": float(scores[d]) for d in first}
    assert rules(judged, run) == {}
    drawn = {
        qid: dict(zip(some, random.permutation([*some.values()]).tolist(), strict=True))
        for qid, some in run.items()
    }
    assert rules(judged, drawn) == {}  # the 200 are three times as often judged as by chance
