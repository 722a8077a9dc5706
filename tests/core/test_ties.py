"""Other orders of tied documents: by hand, reproducible, and uniform."""

from __future__ import annotations

from itertools import permutations
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import harness.metrics  # noqa: F401
from harness.core.align import align, align_parts
from harness.core.aligned import Aligned
from harness.core.metric import Metric
from harness.core.names import parse
from harness.core.tables import Qrels, Run
from harness.core.views import How, reorder, sampled_together, tied_groups

Rows = list[tuple[int, int, float]]


def one(run: dict[str, float], grades: dict[str, int]) -> Aligned:
    return align(Qrels.from_dict({"q": grades}), Run.from_dict({"q": run}))


def rows(aligned: Aligned) -> dict[str, Rows]:
    """Ranks, grades and scores of each query's judged documents."""
    found: dict[str, Rows] = {qid: [] for qid in aligned.qids.to_pylist()}
    names = list(found)
    columns = (aligned.row, aligned.rank, aligned.grade, aligned.score)
    for row, *values in zip(*(column.tolist() for column in columns), strict=True):
        found[names[row]].append(tuple(values))  # type: ignore[arg-type]
    return found


judged = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3), max_size=8)
retrieved = st.dictionaries(st.sampled_from("abcdefghuvwx"), st.sampled_from([1.0, 2.0, 3.0]))
cases = st.dictionaries(st.sampled_from("123"), st.tuples(judged, retrieved), min_size=1)
Case = dict[str, tuple[dict[str, int], dict[str, float]]]
BOTH: tuple[How, How] = ("best", "worst")
hows = st.sampled_from(BOTH) | st.tuples(st.just("random"), st.integers(-5, 2**70))


def aligned_of(case: Case) -> Aligned:
    qrels = Qrels.from_dict({qid: grades for qid, (grades, _) in case.items()})
    return align(qrels, Run.from_dict({qid: run for qid, (_, run) in case.items()}))


class TestGroups:
    # order: v 5 | e, b, x tied at 2..4 | u, w tied at 5..6 | a 7
    RUN: ClassVar = {"v": 9.0, "e": 5.0, "b": 5.0, "x": 5.0, "u": 4.0, "w": 4.0, "a": 1.0}
    ALIGNED = one(RUN, {"a": 3, "b": 1, "e": 0, "n": 2})

    def test_groups_without_a_judged_document_are_none(self) -> None:
        groups = tied_groups(self.ALIGNED)
        assert (groups.first.tolist(), groups.last.tolist(), groups.size.tolist()) == (
            [2],
            [4],
            [3],
        )
        assert (groups.items.tolist(), groups.group.tolist()) == ([0, 1], [0, 0])
        assert (groups.found.tolist(), groups.row.tolist()) == ([2], [0])

    @given(cases, st.data())
    def test_only_some_queries(self, case: Case, data: Any) -> None:
        keep = data.draw(st.lists(st.booleans(), min_size=len(case), max_size=len(case)))
        some = aligned_of(case).of_queries(np.array(keep))
        left = {qid: row for (qid, row), kept in zip(case.items(), keep, strict=True) if kept}
        assert rows(some) == {qid: rows(aligned_of({qid: row}))[qid] for qid, row in left.items()}
        if left and all(run for _, run in left.values()):
            whole = aligned_of(left)
            for name in ("n_retrieved", "n_tied", "tie_first", "tie_last", "answered"):
                assert getattr(some, name).tolist() == getattr(whole, name).tolist()
            assert some.groups is not None
            assert whole.groups is not None
            for one, other in ((some.ideal, whole.ideal), (some.groups, whole.groups)):
                assert one.values.tolist() == other.values.tolist()
                assert one.offsets.tolist() == other.offsets.tolist()


class TestByHand:
    def test_best_and_worst(self) -> None:
        # all at 1..7: grades 2, 1, 1, 0, -1 and two unjudged documents
        run = dict.fromkeys("abcdeuv", 1.0)
        aligned = one(run, {"a": 0, "b": 1, "c": 2, "d": -1, "e": 1})
        best, worst = reorder(aligned, "best"), reorder(aligned, "worst")
        # 2 1 1 . . 0 -1
        assert (best.rank.tolist(), best.grade.tolist()) == ([1, 2, 3, 6, 7], [2, 1, 1, 0, -1])
        assert (worst.rank.tolist(), worst.grade.tolist()) == ([1, 2, 5, 6, 7], [-1, 0, 1, 1, 2])

    @given(cases, hows)
    def test_documents_stay_within_their_groups(self, case: Case, how: How) -> None:
        aligned = aligned_of(case)
        other = reorder(aligned, how)
        assert (other.rank >= other.tie_first).all()
        assert (other.rank <= other.tie_last).all()
        for at in range(aligned.n_queries):
            ranks = other.rank[aligned.offsets[at] : aligned.offsets[at + 1]]
            assert (np.diff(ranks) > 0).all()
        groups = (aligned.row.tolist(), aligned.tie_first.tolist())
        assert sorted(zip(*groups, aligned.grade.tolist(), strict=True)) == sorted(
            zip(*groups, other.grade.tolist(), strict=True)
        )


class TestRandom:
    @given(cases, st.integers(0, 2**64 - 1))
    def test_a_query_gets_the_same_order_alone_and_among_others(
        self, case: Case, seed: int
    ) -> None:
        together = rows(reorder(aligned_of(case), ("random", seed)))
        for qid, row in case.items():
            assert rows(reorder(aligned_of({qid: row}), ("random", seed)))[qid] == together[qid]

    def test_parts_change_nothing(self) -> None:
        case = {str(at): dict.fromkeys("abcdefgh", at) for at in range(9)}
        for grades in case.values():
            grades.update(zip("abcdefgh", range(8), strict=True))
        qrels = Qrels.from_dict(case)
        run = Run.for_rows(qrels, np.zeros(72))
        whole = reorder(align(qrels, run), ("random", 5))
        parts = [reorder(part, ("random", 5)) for part in align_parts(qrels, run, size=10)]
        assert len(parts) > 2
        assert [grade for part in parts for grade in part.grade.tolist()] == whole.grade.tolist()
        assert len({tuple(row) for row in whole.grade.reshape(9, 8).tolist()}) == 9

    def test_the_order_is_pinned(self) -> None:
        # the order of 8 documents for a seed must not change from release to release
        aligned = one(dict.fromkeys("abcdefgh", 1.0), dict(zip("abcdefgh", range(8), strict=True)))
        assert reorder(aligned, ("random", 0)).grade.tolist() == [3, 5, 0, 7, 1, 4, 2, 6]
        assert reorder(aligned, ("random", 1)).grade.tolist() == [4, 1, 2, 3, 0, 5, 7, 6]

    @pytest.mark.parametrize("of", ["seeds", "queries"])
    def test_every_order_is_equally_probable(self, of: str) -> None:
        # 4 documents, one of them unjudged: 24 orders
        grades, run = {"a": 0, "b": 1, "c": 2}, dict.fromkeys("abcu", 1.0)
        drawn: list[Any] = []
        if of == "seeds":
            aligned = one(run, grades)
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


def bpref() -> Metric:
    return parse("bpref")[0]


class TestSampled:
    CASE: ClassVar[Case] = {
        "1": ({"a": 1, "b": 0}, {"a": 1.0, "b": 1.0}),
        "2": ({"a": 1, "b": 0, "c": 1}, {"b": 2.0, "a": 1.0, "c": 0.5}),
        "3": ({"a": 0}, {"a": 1.0, "u": 1.0}),
    }

    def test_mean_and_error(self) -> None:
        # query 1: bpref is 1 or 0, each with probability 1/2. Of n draws with m ones, the error
        # is sqrt(p (1 - p) / (n - 1)), p = m / n
        values, errors = sampled_together([bpref()], aligned_of(self.CASE), draws=400, seed=3)
        p = values[0, 0]
        assert p == pytest.approx(0.5, abs=4 * 0.5 / 20)
        assert errors[0, 0] == pytest.approx(np.sqrt(p * (1 - p) / 399), rel=1e-12)

    def test_queries_without_ties_have_their_value(self) -> None:
        # query 2: no tie; query 3: a tie that changes nothing
        aligned = aligned_of(self.CASE)
        values, errors = sampled_together([bpref()], aligned)
        assert values[1:, 0].tolist() == bpref()(aligned)[1:].tolist()
        assert errors[1:, 0].tolist() == [0.0, 0.0]

    def test_several_metrics_have_the_same_draws(self) -> None:
        metrics = [*parse("bpref"), *parse("recip_rank")]
        values, errors = sampled_together(metrics, aligned_of(self.CASE), draws=10)
        for column, metric in enumerate(metrics):
            alone = sampled_together([metric], aligned_of(self.CASE), draws=10)
            assert values[:, column].tolist() == alone[0][:, 0].tolist()
            assert errors[:, column].tolist() == alone[1][:, 0].tolist()
