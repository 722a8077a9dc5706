"""Other orders of tied documents: by hand, reproducible, and uniform."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import scipy.stats
from alignments import Case, aligned_of, named
from hypothesis import given
from hypothesis import strategies as st

from harness.core.aligned import Aligned
from harness.core.policy_views import reorder

Rows = list[tuple[int, int, float]]


def rows(aligned: Aligned) -> dict[str, Rows]:
    found: dict[str, Rows] = {qid: [] for qid in aligned.qids.to_pylist()}
    names = list(found)
    columns = (aligned.row, aligned.rank, aligned.grade, aligned.score)
    for row, *values in zip(*(column.tolist() for column in columns), strict=True):
        found[names[row]].append(tuple(values))  # type: ignore[arg-type]
    return found


judged = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3), max_size=8)
retrieved = st.dictionaries(st.sampled_from("abcdefghuvwx"), st.sampled_from([1.0, 2.0, 3.0]))
cases = st.dictionaries(st.sampled_from("123"), st.tuples(judged, retrieved), min_size=1)


class TestRandom:
    @given(cases, st.integers(0, 2**64 - 1))
    def test_a_query_gets_the_same_order_alone_and_among_others(
        self, case: Case, seed: int
    ) -> None:
        together = rows(reorder(aligned_of(case), ("random", seed)))
        for qid, row in case.items():
            assert rows(reorder(aligned_of({qid: row}), ("random", seed)))[qid] == together[qid]

    def test_the_order_is_pinned(self) -> None:
        # the order of 8 documents for a seed must not change from release to release
        aligned = aligned_of({"q": (named(range(8)), named([1.0] * 8))})
        assert reorder(aligned, ("random", 0)).grade.tolist() == [3, 5, 0, 7, 1, 4, 2, 6]
        assert reorder(aligned, ("random", 1)).grade.tolist() == [4, 1, 2, 3, 0, 5, 7, 6]

    @pytest.mark.parametrize("of", ["seeds", "queries"])
    def test_every_order_is_equally_probable(self, of: str) -> None:
        # 4 documents, one of them unjudged: 24 orders
        grades, run = {"a": 0, "b": 1, "c": 2}, dict.fromkeys("abcu", 1.0)
        drawn: list[Any] = []
        if of == "seeds":
            aligned = aligned_of({"q": (grades, run)})
            for seed in range(2400):
                other = reorder(aligned, ("random", seed))
                drawn.append(tuple(other.rank[np.argsort(other.grade)].tolist()))
        else:
            many = [str(at) for at in range(6000)]
            other = reorder(aligned_of(dict.fromkeys(many, (grades, run))), ("random", 0))
            ranks = other.rank[np.lexsort((other.grade, other.row))].reshape(-1, 3)
            drawn = [tuple(row) for row in ranks.tolist()]
        counts = [drawn.count(order) for order in permutations(range(1, 5), 3)]
        assert sum(counts) == len(drawn)
        assert scipy.stats.chisquare(counts).pvalue > 0.001
