"""Alignment against its literal definition: sort each query, look each document up."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from harness.core.align import align, align_parts, rank_order
from harness.core.aligned import Aligned
from harness.core.evaluation import evaluate
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.core.policy_views import policies_of, view
from harness.core.qrels_and_runs import Docnos, Qrels, Run
from harness.core.ragged import offsets_of
from harness.errors import AlignmentError

Judgements = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]

# Ties as float32 and not as float64; -0.0 and 0.0; beyond float32 in both directions; the least
# float32 and below.
AWKWARD = [
    0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-6, -1.0, -1.0 - 1e-9, 2.0, 1e39, 1e300, -1e39, 3.4e38,
    1e-45, 1e-46, -1e-46, 16777216.0, 16777217.0,
]  # fmt: skip
qids = st.sampled_from(["1", "2", "10", "", "é"])
docnos = st.sampled_from(["", "a", "B", "b", "é", "z", "日", "\U0001f600", "d10", "d9", "\uffff"])
scores = st.sampled_from(AWKWARD) | st.floats(allow_nan=False, allow_infinity=False)
all_qrels = st.dictionaries(
    qids, st.dictionaries(docnos, st.integers(-2, 4), max_size=9), min_size=1
)
all_runs = st.dictionaries(qids, st.dictionaries(docnos, scores, max_size=9), min_size=1)
ORDERS = ["trec_eval", "trec_eval10", "docno+", "stable", "reverse"]
TYPES = [None, "float32", "float64", "none"]
policies = st.builds(
    Policy,
    ties=st.sampled_from(ORDERS),
    scores=st.sampled_from(TYPES),
    missing_queries=st.sampled_from(["zero", "skip"]),
    depth=st.none() | st.integers(1, 6),
    judged_only=st.booleans(),
)


@dataclass
class Literal:
    """What `align` must give, by query."""

    n_extra: int = 0
    n_retrieved: dict[str, int] = field(default_factory=dict)
    n_tied: dict[str, int] = field(default_factory=dict)
    items: dict[str, list[tuple[int, int, float, int, int]]] = field(default_factory=dict)
    answered: dict[str, bool] = field(default_factory=dict)
    ideal: dict[str, list[int]] = field(default_factory=dict)


def compared(score: float, policy: Policy) -> float:
    if policy.score_type == "none":
        return 0.0
    with np.errstate(over="ignore"):
        return float(np.float32(score)) if policy.score_type == "float32" else score


def ranking(row: dict[str, float], policy: Policy) -> list[str]:
    """Docnos by falling score; ties by the bytes of the docno, or by their place in the file."""
    order = list(row)
    if policy.ties not in ("stable", "reverse"):
        order.sort(key=str.encode)
    if policy.ties not in ("stable", "docno+"):
        order.reverse()
    return sorted(order, key=lambda docno: -compared(row[docno], policy))


def literal(qrels: Judgements, run: Scores, policy: Policy) -> Literal:
    result = Literal(n_extra=len(set(run) - set(qrels)))
    for qid, grades in qrels.items():
        if qid not in run and policy.missing_queries == "skip":
            continue
        row = run.get(qid, {})
        order = ranking(row, policy)
        value = {docno: compared(row[docno], policy) for docno in order}
        result.n_tied[qid] = sum(list(value.values()).count(value[docno]) > 1 for docno in order)
        order = order[: policy.depth]
        if policy.judged_only:
            order = [docno for docno in order if grades.get(docno, -1) >= 0]
        result.answered[qid] = qid in run
        result.n_retrieved[qid] = len(order)
        result.ideal[qid] = sorted(grades.values(), reverse=True)
        result.items[qid] = []
        for rank, docno in enumerate(order, start=1):
            if docno in grades:
                tied = [at for at, other in enumerate(order, 1) if value[other] == value[docno]]
                item = (rank, grades[docno], row[docno], tied[0], tied[-1])
                result.items[qid].append(item)
    return result


def check(aligned: Aligned, expected: Literal) -> None:
    names = aligned.qids.to_pylist()
    items: dict[str, list[Any]] = {qid: [] for qid in names}
    columns = (aligned.rank, aligned.grade, aligned.score, aligned.tie_first, aligned.tie_last)
    for row, *item in zip(aligned.row.tolist(), *(c.tolist() for c in columns), strict=True):
        items[names[row]].append(tuple(item))
    assert names == list(expected.items)
    assert items == expected.items
    assert dict(zip(names, aligned.answered.tolist(), strict=True)) == expected.answered
    assert dict(zip(names, aligned.n_retrieved.tolist(), strict=True)) == expected.n_retrieved
    assert dict(zip(names, aligned.n_tied.tolist(), strict=True)) == expected.n_tied
    assert aligned.ideal.values.tolist() == [g for row in expected.ideal.values() for g in row]
    assert aligned.ideal.lengths.tolist() == [len(row) for row in expected.ideal.values()]
    assert aligned.n_extra == expected.n_extra


def same(one: Aligned, other: Aligned) -> None:
    for name in (
        "answered", "n_retrieved", "n_tied", "offsets", "rank", "grade", "score", "tie_first",
        "tie_last",
    ):  # fmt: skip
        left, right = getattr(one, name), getattr(other, name)
        assert left.tolist() == right.tolist(), name
        assert left.dtype == right.dtype, name
    assert one.qids.to_pylist() == other.qids.to_pylist()
    assert one.ideal.values.tolist() == other.ideal.values.tolist()
    assert one.n_extra == other.n_extra


class TestLiteralDefinition:
    @given(all_qrels, all_runs, policies)
    def test_any_pair_of_dicts(self, qrels: Judgements, run: Scores, policy: Policy) -> None:
        if not set(qrels) & set(run):
            with refuses("", "no-common-query", AlignmentError):
                align(Qrels.from_dict(qrels), Run.from_dict(run), policy)
            return
        aligned = align(Qrels.from_dict(qrels), Run.from_dict(run), policy)
        check(aligned, literal(qrels, run, policy))

    @given(all_qrels, all_runs)
    def test_every_order_in_one_pass(self, qrels: Judgements, run: Scores) -> None:
        if set(qrels) & set(run):
            several = [Policy(ties, scores=type_) for ties in ORDERS for type_ in TYPES]
            aligned = align(Qrels.from_dict(qrels), Run.from_dict(run), None, several)
            for policy in several:
                check(view(aligned, policy), literal(qrels, run, policy))

    @given(
        st.lists(
            st.lists(st.tuples(st.integers(-1, 4), scores), max_size=14), min_size=1, max_size=4
        ),
        policies,
        st.booleans(),
    )
    def test_rows_shared_with_the_dataset(
        self, lists: list[list[tuple[int, float]]], policy: Policy, falling: bool
    ) -> None:
        lists = [
            sorted(row, key=lambda pair: -compared(pair[1], Policy())) if falling else row
            for row in lists
        ]
        lengths = [len(row) for row in lists]
        names = pa.array([f"q{at}" for at in range(len(lists))])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        grades = np.array([grade for row in lists for grade, _ in row], dtype=np.int64)
        numbers = np.array([score for row in lists for _, score in row], dtype=np.float64)
        qrels = Qrels(names, offsets, Docnos(None, offsets), grades)
        run = Run.for_rows(qrels, numbers)
        aligned = align(qrels, run, policy)
        check(aligned, literal(qrels.to_dict(), run.to_dict(), policy))  # type: ignore[arg-type]
        # the same through a join of the strings
        same(aligned, align(qrels, Run.from_dict(run.to_dict()), policy))

    @given(all_qrels, all_runs, policies, st.randoms(use_true_random=False))
    def test_scattered_rows_in_any_order(
        self, qrels: Judgements, run: Scores, policy: Policy, random: Any
    ) -> None:
        rows = [(qid, docno, score) for qid, row in run.items() for docno, score in row.items()]
        random.shuffle(rows)
        shuffled: Scores = {}
        for qid, docno, score in rows:
            shuffled.setdefault(qid, {})[docno] = score
        if not set(qrels) & set(shuffled):
            return
        columns = [pa.array([row[at] for row in rows], pa.string()) for at in (0, 1)]
        table = Run.from_columns(*columns, [row[2] for row in rows])
        check(align(Qrels.from_dict(qrels), table, policy), literal(qrels, shuffled, policy))

    @given(all_runs, policies)
    def test_rank_order(self, run: Scores, policy: Policy) -> None:
        table = Run.from_dict(run)
        names = table.docnos.take(rank_order(table, policy)).to_pylist()
        assert names == [docno for row in run.values() for docno in ranking(row, policy)]

    def test_rank_order_of_many_queries_and_a_long_one(self) -> None:
        """Queries and positions that take more than the 31 bits next to a score."""
        lengths = np.ones(300_000, dtype=np.int64)
        lengths[7] = 5000
        offsets = offsets_of(lengths)
        scores = np.random.default_rng(1).permutation(int(offsets[-1])).astype(np.float64)
        qids = pa.array(np.arange(lengths.size)).cast(pa.string())
        order = rank_order(Run(qids, offsets, Docnos(None, offsets), scores))
        expected = np.lexsort((-scores, np.repeat(np.arange(lengths.size), lengths)))
        assert order.tolist() == expected.tolist()


def test_a_query_in_two_parts_is_an_error() -> None:
    runs = [Run.from_dict({"1": {docno: 1.0}}) for docno in "ab"]
    with pytest.raises(AlignmentError, match=r"'1'"):
        align(Qrels.from_dict({"1": {"a": 1}}), runs)


METRICS = parse_all(["map", "ndcg", "ndcg_cut_5", "P_3", "bpref", "recip_rank", "num_ret", "mse"])
row = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0, 1.5]) | st.floats(-9, 9)),
    max_size=6,
)
rows = st.lists(row, min_size=1, max_size=6)


def tables(lists: list[list[tuple[int, float]]], named: bool) -> tuple[Qrels, Run]:
    offsets = np.concatenate([[0], np.cumsum([len(pairs) for pairs in lists])])
    grades = np.array([grade for pairs in lists for grade, _ in pairs], dtype=np.int64)
    scores = np.array([score for pairs in lists for _, score in pairs], dtype=np.float64)
    names = pa.array([f"doc{at * 7 % 1000}" for at in range(grades.size)], pa.string())
    qids = pa.array([f"q{at}" for at in range(len(lists))])
    qrels = Qrels(qids, offsets, Docnos(names if named else None, offsets), grades)
    return qrels, Run.for_rows(qrels, scores)


@given(rows, st.booleans(), st.integers(1, 9), st.sampled_from(["zero", "one", "skip"]))
def test_parts_give_the_values_of_the_whole(
    lists: list[list[tuple[int, float]]], named: bool, size: int, empty: str
) -> None:
    qrels, run = tables(lists, named)
    policy = Policy(empty_queries=empty)  # type: ignore[arg-type]
    whole = evaluate(align(qrels, run, policy), METRICS, run="r", dataset="d")
    parts = evaluate(align_parts(qrels, run, policy, size=size), METRICS, run="r", dataset="d")
    given = evaluate(align_parts(qrels, run.parts(size), policy), METRICS, run="r", dataset="d")
    assert given.values.tobytes() == parts.values.tobytes()
    assert given.counts == parts.counts
    assert parts.values.tobytes() == whole.values.tobytes()
    assert parts.qids.to_pylist() == whole.qids.to_pylist()
    assert parts.counts == whole.counts
    assert (parts.policy, parts.run, parts.dataset) == (whole.policy, "r", "d")
    assert parts.weights.keys() == whole.weights.keys()
    for column, weights in whole.weights.items():
        assert parts.weights[column].tolist() == weights.tolist()


@pytest.mark.parametrize("policy", [Policy(judged_only=True), Policy(depth=1)])
def test_a_metric_with_its_own_ties_under_a_policy_that_leaves_documents_out(
    policy: Policy,
) -> None:
    qrels = Qrels.from_dict({"10": {"a": 1, "b": 0}, "2": {"c": 1}})
    run = Run.from_dict({"2": {"x": 1.0, "c": 1.0}, "10": {"b": 0.5, "a": 0.5, "y": 0.7}})
    metrics = parse_all(["P@1", "P(ties=docno+)@1"])
    found = evaluate(align(qrels, run, policy, policies_of(metrics, policy)), metrics)
    expected = [[0, 1], [1, 1]] if policy.judged_only else [[0, 0], [0, 1]]
    assert found.values.tolist() == expected
