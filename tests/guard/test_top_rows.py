"""The rows at the first ranks of many queries together are those of one query after the other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.guard.part import Part

LISTS = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=8), min_size=1, max_size=6)


def part_of(lists: list[list[int]], falling: bool = False) -> Part:
    """A run of such scores, of which every third document of each query is judged for it."""
    lists = [sorted(scores, reverse=True) for scores in lists] if falling else lists
    rows = [
        (f"q{query}", f"d{at}", float(score))
        for query, scores in enumerate(lists)
        for at, score in enumerate(scores)
    ]
    qids, docnos, scores = zip(*rows, strict=True)
    run = Run.from_columns(pa.array(qids), pa.array(docnos), np.array(scores))
    judged = [(qid, docno) for qid, docno, _ in rows if int(docno[1:]) % 3 == 0]
    own, names = zip(*judged, strict=True)
    qrels = Qrels.from_columns(pa.array(own), pa.array(names), np.ones(len(own), np.int64))
    return Part(run, qrels, False, 0, 0)


@pytest.mark.parametrize("falling", [False, True])
@given(lists=LISTS, most=st.integers(1, 5))
def test_they_are_those_of_each_query(lists: list[list[int]], most: int, falling: bool) -> None:
    part, policy = part_of(lists, falling), Policy()
    for n_queries in (1, len(lists), 64):
        each = [
            part.at_ranks(query, range(1, min(most, len(lists[query])) + 1), policy).tolist()
            for query in range(min(n_queries, len(lists)))
        ]
        assert sorted(part.top(n_queries, most, policy)) == sorted(row for of in each for row in of)


@given(lists=LISTS)
def test_which_are_judged_for_their_own_query(lists: list[list[int]]) -> None:
    part = part_of(lists)
    rows = np.arange(part.run.n_rows)
    at = [at for scores in lists for at in range(len(scores))]
    assert part.own(rows).tolist() == [one % 3 == 0 for one in at]
    assert rows[part.own(rows)].tolist() == part.judged()[0].tolist()


def test_no_ranks_are_told_where_documents_are_taken_out() -> None:
    assert not part_of([[2, 1]]).top(1, 2, Policy(judged_only=True)).size


def test_hashes_of_a_part_are_those_of_the_whole() -> None:
    run = part_of([[3, 2], [1], [5, 4, 3]]).run
    fresh = run.part(1, 3).docnos.hashes.tolist()
    assert run.docnos.hashes[2:].tolist() == fresh
    assert run.part(1, 3).docnos.hashes.tolist() == fresh
