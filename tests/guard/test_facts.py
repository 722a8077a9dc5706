"""Facts of runs against their literal definitions: drawn at random, and of real files."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.guard.documents import TOP
from harness.guard.examples import Examples
from harness.guard.facts import Facts, JudgementFacts, RunFacts, Watch

Rows = list[tuple[str, str, float]]


def facts_of(qrels: Qrels, run: Run, policy: Policy | None = None, size: int = 1 << 16) -> RunFacts:
    """The facts of a run, taken in parts."""
    watch = Watch(qrels, policy or Policy())
    for part in run.parts(size):
        watch.run(part)
    for aligned in align_parts(qrels, run, policy, size=size):
        watch.aligned(aligned)
    return watch.facts()


def flat(facts: RunFacts) -> dict[str, Any]:
    """Every fact of every family."""
    families = (facts.queries, facts.scores, facts.labels, facts.documents, facts.order)
    return {name: value for family in families for name, value in vars(family).items()}


def single(score: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(score))


def literally(judged: dict[str, dict[str, float]], rows: Rows) -> dict[str, Any]:
    """What the docstrings of facts mean, query by query and document by document."""
    queries: dict[str, Rows] = {}
    for row in rows:
        queries.setdefault(row[0], []).append(row)
    found: Counter[str] = Counter()
    for qid, group in queries.items():
        n, scores = len(group), [score for _, _, score in group]
        found["several"] += n > 1
        found["constant"] += n > 1 and min(scores) == max(scores)
        for one, other in pairwise(sorted(scores, reverse=True)):
            found["merged"] += single(one) == single(other) and one != other
        if qid not in judged:
            found["extra"] += 1
            continue
        sizes = Counter(map(single, scores)).values()
        found["pairs"] += n * (n - 1) // 2
        found["tied"] += sum(size * (size - 1) // 2 for size in sizes if size < n)
        # trec_eval: by single precision, then docno descending
        ranked = sorted(group, key=lambda row: row[1].encode(), reverse=True)
        ranked.sort(key=lambda row: single(row[2]), reverse=True)
        grades = [judged[qid].get(docno, -1) for _, docno, _ in ranked]
        found["judged"] += sum(grade >= 0 for grade in grades)
        found["shown"] += len(grades[:TOP])
        found["judged_shown"] += sum(grade >= 0 for grade in grades[:TOP])
    depths = [len(group) for group in queries.values()]
    last = list(queries)[-1]
    return {
        **{name: found[name] for name in ("several", "constant", "merged", "extra")},
        **{name: found[name] for name in ("pairs", "tied", "judged")},
        **{name: found[name] for name in ("shown", "judged_shown")},
        "rows": len(rows), "queries": len(queries), "missing": len({*judged} - {*queries}),
        "deepest": max(depths), "at_deepest": depths.count(max(depths)),
        "last_depth": len(queries[last]),
    }  # fmt: skip


DOCNOS = [f"d{number}" for number in range(14)]
# few values, so that there are ties; two that single precision makes one, and one beyond it
SCORES = st.sampled_from([0.0, 1.0, 1.0 + 1e-12, 2.5, -3.0, 1e39])


@st.composite
def judged_runs(draw: Any) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    def table(values: Any) -> dict[str, dict[str, float]]:
        return draw(
            st.dictionaries(
                st.sampled_from(["q1", "q2", "q3", "q4"]),
                st.dictionaries(st.sampled_from(DOCNOS), values, min_size=1, max_size=14),
                min_size=1,
            )
        )

    return table(st.integers(-1, 3)), table(SCORES)


@given(judged_runs(), st.sampled_from([1, 3, 1 << 16]))
def test_facts_are_what_they_say(
    tables: tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]], size: int
) -> None:
    judged, scores = tables
    if not {*judged} & {*scores}:
        return
    qrels = Qrels.from_dict(judged)
    found = facts_of(qrels, Run.from_dict(scores), size=size)
    rows = [(qid, docno, score) for qid, some in scores.items() for docno, score in some.items()]
    expected = literally(judged, rows)
    assert {name: flat(found)[name] for name in expected} == expected
    assert not found.follows
    empty = [qid for qid, some in judged.items() if max(some.values()) <= 0]
    of_qrels = JudgementFacts.of(qrels)
    rule = "empty-queries" if len(empty) < len(judged) else "no-relevant-documents"
    named = of_qrels.first.get(rule, Examples()).names
    assert (of_qrels.empty, named) == (len(empty), tuple(empty[:3]))
    again = Facts.from_dict(json.loads(json.dumps(Facts(of_qrels, found).as_dict())))
    assert again == Facts(of_qrels, found)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 4), SCORES), min_size=1, max_size=14),
        min_size=1, max_size=6,
    ),
    st.sampled_from([1, 5, 1 << 16]),
)  # fmt: skip
def test_facts_of_predictions(groups: list[list[tuple[int, float]]], size: int) -> None:
    judged = {
        f"q{number}": {f"d{place}": grade for place, (grade, _) in enumerate(group)}
        for number, group in enumerate(groups)
    }
    qrels = Qrels.from_dict(judged)
    scores = [score for group in groups for _, score in group]
    found = facts_of(qrels, Run.for_rows(qrels, scores), size=size)
    rows = [(qid, docno, 0.0) for qid, some in judged.items() for docno in some]
    expected = literally(
        judged,
        [(qid, docno, score) for (qid, docno, _), score in zip(rows, scores, strict=True)],
    )
    of_rows = ("pairs", "tied", "several", "constant", "judged")
    for name in (*of_rows, "rows", "queries", "missing", "extra"):
        assert {**flat(found), "judged": found.labels.judged}[name] == expected[name], name
    # rank by rank: those whose neighbour in the order has another score, and the same in single
    merged = 0
    for group in groups:
        for _, tied in groupby(sorted((s for _, s in group), reverse=True), key=single):
            # in some order of the tied ones: none if all are equal, all but one at most
            values = list(tied)
            merged += len({*values}) > 1
    assert (found.scores.merged > 0) == (merged > 0)
    assert found.follows
    assert (found.queries.deepest, found.documents.shown) == (0, 0)
