"""Ties against their literal definition: every order of every group, one after another."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations, product

import alignments
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.metric import REGISTRY, Metric
from harness.core.names import parse
from harness.core.policy import USUAL, Policy
from harness.core.policy_views import has_ties, reorder, sampled_together, view
from harness.core.qrels_and_runs import Qrels, Run
from harness.core.ragged import Floats
from harness.metrics.cascade import stops_at
from harness.metrics.tied import Totals

BUILT_IN = {name: found for name, found in REGISTRY.items() if not name.startswith("first_")}

Documents = list[tuple[int | None, float]]
# Not bounded by the best and the worst order; each with documents that show it.
NOT_BOUNDED: dict[str, Documents] = {
    # 1 3 2 is worse than 1 2 3: each gain is discounted by what was missed above
    "G": [(1, 1.0), (2, 1.0), (3, 1.0)],
    # 3 -1 1 is better than 3 1 -1: precision at 1 is estimated from a longer list
    "infAP": [(None, 2.0), (1, 1.0), (-1, 1.0), (3, 1.0)],
    # an unjudged document goes before one of grade 0
    "judged@1": [(None, 1.0), (0, 1.0)],
    "unjudged@1": [(None, 1.0), (1, 1.0)],
    "rbp(form=residual)": [(1, 1.0), (None, 1.0), (0, 1.0)],
    # an unjudged document counts as the best one there could be
    "rbp(gain=linear,form=upper)": [(1, 1.0), (None, 1.0)],
    # the gain falls where the grade rises
    "ndcg(gains=1:3;2:2)@1": [(1, 1.0), (2, 1.0)],
    "ndcg(gain=letor)@1": [(1, 1.0), (3, 1.0)],
    "P(top=1)@1": [(1, 1.0), (2, 1.0)],
}
SWAPPED: Documents = [(1, 2.0), (0, 1.0), (2, 1.0)]
# The kept documents, and with judged_only their number, depend on the order.
AT_DEPTH_2: dict[str, Documents] = {
    "arp": [(1, 1.0), (1, 1.0), (0, 1.0)],
    "num_nonrel_judged_ret": [(1, 1.0), (1, 1.0), (0, 1.0)],
    "swaps": [(1, 1.0), (1, 1.0), (2, 1.0)],
    "mse": [(1, 1.0), (1, 1.0), (2, 1.0)],
    "opa": SWAPPED, "pairwise_logloss": SWAPPED, "tau_ap": SWAPPED,
    "kendall": SWAPPED, "spearman": SWAPPED, "pearson": SWAPPED,
    "auc": [(0, 2.0), (1, 2.0), (1, 1.0), (0, 1.0)],
}  # fmt: skip
NEGATIVE: Documents = [(3, 2.0), (2, 1.0), (0, 1.0), (-1, 1.0)]
JUDGED_AT_DEPTH_2: dict[str, Documents] = {
    "num_ret": [(1, 1.0), (0, 1.0), (None, 1.0)],
    "dcg(short=zero)@2": [(1, 1.0), (0, 1.0), (None, 1.0)],
    "ndcg(short=zero)@2": [(1, 1.0), (0, 1.0), (None, 1.0)],
    "P(short=zero)@2": [(1, 1.0), (0, 1.0), (None, 1.0)],
    "map(short=zero)@2": [(1, 1.0), (0, 1.0), (None, 1.0)],
    "nerr(short=zero)@2": [(1, 1.0), (0, 1.0), (None, 1.0)],
    "yaap": [(1, 1.0), (1, 1.0), (None, 1.0), (None, 1.0)],
    "rbo(p=0.9)": [(1, 2.0), (0, 1.0), (None, 1.0), (2, 1.0)],
    "ao": [(1, 2.0), (0, 1.0), (None, 1.0), (2, 1.0)],
    "mean_ndcg": [(2, 2.0), (1, 1.0), (None, 1.0), (2, 1.0)],
    "set_P": NEGATIVE, "set_relative_P": NEGATIVE, "set_map": NEGATIVE, "set_F": NEGATIVE,
    "utility": NEGATIVE, "P(denominator=list)@2": NEGATIVE, "map(denominator=list)@2": NEGATIVE,
    "map(tied=together)@3": [(1, 1.0), (0, 1.0), (-1, 1.0)],
}  # fmt: skip
PARAMETERS = [
    "dcg(gain=exp)@2", "dcg(discount=jarvelin)@3", "dcg(negative=value)@2", "dcg(short=zero)@4",
    "ndcg(gain=exp)@2", "ndcg(discount=position)@3", "ndcg(short=nan)@4", "ndcg(ideal=full)@2",
    "ndcg(gain=mslr,discount=jarvelin)", "ndcg(gain=exp-int32)",
    "swaps(normalize=true)", "swaps(normalize=all)",
    "P(denominator=list)@3", "P(above=1)@2", "P(short=nan)@3",
    "recip_rank(target=largest)", "recip_rank(above=1)@2", "map(denominator=cutoff)@2",
    "map(denominator=list)@3", "map(tied=together)@3",
    "err(max_grade=none)@3", "err(stop=linear)@5", "nerr@4", "pfound(decay=0.15)@4",
    "rbp(p=0.9)@2", "rbp(p=0.8,gain=exp)@3", "rbp(p=0.8,gain=linear)",
    "rbp(p=0.8,form=residual)@3", "rbp(p=0.5,form=upper)@4", "auc(rel=2)",
]  # fmt: skip
OTHERWISE_ORDERED = [
    "ndcg(gains=1:3;2:2)", "ndcg(gains=0:1;1:2)@2", "ndcg(gains=1:-1;2:2)@3",
    "ndcg(gain=letor,discount=jarvelin)@2", "P(top=2)@2", "map(top=1)", "recip_rank(top=1)",
    "ndcg(negative=value)", "arp(negative=value)",
]  # fmt: skip
CUTOFFS = {"iprec_at_recall": ("0.3", "0.6"), "Rprec_mult": ("0.4", "1.0", "1.6")}


@cache
def every_metric() -> list[Metric]:
    """Each metric of the registry, at a few cutoffs and levels."""
    texts = []
    for name, definition in BUILT_IN.items():
        if definition.cutoff is not None:
            texts += [f"{name}@{cutoff}" for cutoff in CUTOFFS.get(name, ("1", "2", "3"))]
        if not definition.needs_cutoff:
            texts.append(name)
            texts += [f"{name}(rel=2)"] * ("rel" in definition.parameters)
    return [parse(text)[0] for text in (*texts, *PARAMETERS)]


documents = st.lists(
    st.tuples(
        st.sampled_from([None, None, -1, 0, 0, 1, 1, 2, 3]), st.sampled_from([1.0, 1.0, 2.0])
    ),
    min_size=1,
    max_size=5,
)
missed = st.lists(st.integers(0, 2), max_size=2)


def judgements(row: Documents, not_retrieved: list[int]) -> dict[str, int]:
    found = {f"d{at}": grade for at, (grade, _) in enumerate(row) if grade is not None}
    return found | {f"m{at}": grade for at, grade in enumerate(not_retrieved)}


def aligned_of(rows: dict[str, tuple[Documents, list[int]]]) -> Aligned:
    scores = {qid: {f"d{at}": s for at, (_, s) in enumerate(row)} for qid, (row, _) in rows.items()}
    return alignments.aligned_of({q: (judgements(*rows[q]), scores[q]) for q in rows})


def every_order(row: Documents, not_retrieved: list[int], policy: Policy = USUAL) -> Aligned:
    """Align a query for each order that the ties allow."""
    groups = [
        [at for at, (_, score) in enumerate(row) if score == value]
        for value in sorted({score for _, score in row}, reverse=True)
    ]
    orders = [
        [at for group in chosen for at in group]
        for chosen in product(*(permutations(group) for group in groups))
    ]
    run = {
        str(number): {f"d{at}": row[at][1] for at in order} for number, order in enumerate(orders)
    }
    qrels = dict.fromkeys(run, judgements(row, not_retrieved))
    return align(Qrels.from_dict(qrels), Run.from_dict(run), replace(policy, ties="stable"))


def expected(metric: Metric, aligned: Aligned) -> Floats:
    return metric.expectation(aligned)


def approx(values: list[float]) -> object:
    return pytest.approx(values, rel=1e-12, abs=1e-12, nan_ok=True)


def best_and_worst(metric: Metric, aligned: Aligned) -> list[float]:
    return [metric(reorder(aligned, how)).item() for how in ("best", "worst")]


def filled(metric: Metric, aligned: Aligned) -> Floats:
    """Values, with the metric's own for lists of which nothing is left."""
    values = np.asarray(metric(aligned), dtype=np.float64).copy()
    if metric.definition.missing is not None:
        values[aligned.n_retrieved == 0] = metric.definition.missing
    return values


def bounds(metric: Metric, every: Aligned) -> list[float]:
    """Best and worst of the values."""
    values = filled(metric, every)
    if not np.isnan(values).all():
        assert not np.isnan(values).any(), metric
    found = [values.max().item(), values.min().item()]
    return found[::-1] if metric.definition.direction == "lower" else found


class TestExpectations:
    @given(documents, missed)
    def test_the_mean_over_every_order(self, row: Documents, not_retrieved: list[int]) -> None:
        every, aligned = every_order(row, not_retrieved), aligned_of({"q": (row, not_retrieved)})
        for metric in [*every_metric(), *(parse(text)[0] for text in OTHERWISE_ORDERED)]:
            if metric.definition.expected is not None:
                found = expected(metric, aligned).tolist()
                assert found == approx([metric(every).mean()]), metric

    @given(st.dictionaries(st.sampled_from("1234"), st.tuples(documents, missed), min_size=1))
    def test_queries_without_ties_keep_every_bit(
        self, rows: dict[str, tuple[Documents, list[int]]]
    ) -> None:
        rows["untied"] = ([(grade, -at / 7) for at, grade in enumerate([1, None, 0, 3, 2])], [1])
        aligned = aligned_of(rows)
        untied = ~has_ties(aligned)
        for metric in every_metric():
            if metric.definition.expected is not None and metric.definition.name != "unjudged":
                values, plain = expected(metric, aligned), metric(aligned)
                assert np.array_equal(values[untied], plain[untied], equal_nan=True), metric

    def test_one_relevant_document_among_many(self) -> None:
        # at each of 1,000 ranks with probability 1/1000: AP and RR are H(1000) / 1000
        aligned = aligned_of({"q": ([(1, 1.0), *[(None, 1.0)] * 999], [])})
        harmonic = math.fsum(1 / rank for rank in range(1, 1001)) / 1000
        found = [expected(parse(text)[0], aligned).item() for text in ("map", "recip_rank")]
        assert found == pytest.approx([harmonic, harmonic], rel=1e-15)
        tenth = math.fsum(1 / rank for rank in range(1, 11)) / 1000
        found = [expected(parse(text)[0], aligned).item() for text in ("map@10", "recip_rank@10")]
        assert found == pytest.approx([tenth, tenth], rel=1e-15)

    def test_many_relevant_documents_among_many(self) -> None:
        # 300 of 1,000 places after one document that is not tied; the first 11 ranks hold 10
        row: Documents = [(0, 2.0), *[(1, 1.0)] * 300, *[(None, 1.0)] * 700]
        aligned = aligned_of({"q": (row, [])})
        none = Fraction(math.comb(990, 300), math.comb(1000, 300))
        first = [
            Fraction(math.comb(1000 - place, 299), math.comb(1000, 300)) for place in range(1, 702)
        ]
        reciprocal = sum(share / (1 + place) for place, share in enumerate(first, 1))
        found = [
            expected(parse(t)[0], aligned).item() for t in ("success@11", "recip_rank", "P@11")
        ]
        assert found == pytest.approx([float(1 - none), float(reciprocal), 3 / 11], rel=1e-13)

    def test_deep_ranks_keep_their_digits(self) -> None:
        ranks = np.arange(1, 2_000_001)
        totals = Totals.of(1.0 / ranks)
        first, last = np.array([1_999_999, 1_000_000, 3]), np.array([2_000_000, 1_000_001, 90])
        literal = [math.fsum(1 / np.arange(a, b + 1)) for a, b in zip(first, last, strict=True)]
        assert totals.over(first, last).tolist() == pytest.approx(literal, rel=4e-16)


class TestBestAndWorst:
    @given(documents, missed)
    def test_bounds(self, row: Documents, not_retrieved: list[int]) -> None:
        every, aligned = every_order(row, not_retrieved), aligned_of({"q": (row, not_retrieved)})
        for metric in every_metric():
            if metric.is_bounded():
                found = best_and_worst(metric, aligned)
                assert found == approx(bounds(metric, every)), metric

    @given(documents, missed, st.integers(1, 4), st.booleans())
    def test_bounds_at_a_depth(
        self, row: Documents, not_retrieved: list[int], depth: int, judged_only: bool
    ) -> None:
        policy = Policy(depth=depth, judged_only=judged_only)
        every = every_order(row, not_retrieved, policy)
        best, worst = [replace(policy, ties=ties) for ties in ("best", "worst")]
        judged = {"q": judgements(row, not_retrieved)}
        run = Run.from_dict({"q": {f"d{at}": score for at, (_, score) in enumerate(row)}})
        aligned = align(Qrels.from_dict(judged), run, policy, also=[best, worst])
        for metric in every_metric():
            if metric.is_bounded(policy):
                found = [filled(metric, view(aligned, order)).item() for order in (best, worst)]
                assert found == approx(bounds(metric, every)), metric

    @pytest.mark.parametrize("text", [*AT_DEPTH_2, *JUDGED_AT_DEPTH_2])
    def test_metrics_that_are_not_bounded_at_a_depth(self, text: str) -> None:
        metric, row = parse(text)[0], (AT_DEPTH_2 | JUDGED_AT_DEPTH_2)[text]
        policy = Policy(depth=3 if text == "auc" else 2, judged_only=text in JUDGED_AT_DEPTH_2)
        every = every_order(row, [1], policy)
        orders = [replace(policy, ties=ties) for ties in ("best", "worst")]
        run = Run.from_dict({"q": {f"d{at}": score for at, (_, score) in enumerate(row)}})
        aligned = align(Qrels.from_dict({"q": judgements(row, [1])}), run, policy, also=orders)
        found = [filled(metric, view(aligned, order)).item() for order in orders]
        assert found != approx(bounds(metric, every))
        assert not metric.is_bounded(policy)
        assert metric.is_bounded(Policy(depth=2 if policy.judged_only else None))

    def test_another_run_is_no_ideal_order(self) -> None:
        assert parse("rbo(p=0.9)")[0].is_bounded()
        assert not parse("rbo(p=0.9,reference=bm25)")[0].is_bounded()

    @pytest.mark.parametrize("text", NOT_BOUNDED)
    def test_metrics_that_are_not_bounded(self, text: str) -> None:
        metric, row = parse(text)[0], NOT_BOUNDED[text]
        found = best_and_worst(metric, aligned_of({"q": (row, [])}))
        assert found != approx(bounds(metric, every_order(row, [])))
        assert not metric.is_bounded()


SAMPLED = ["bpref", "infAP", "G", "11pt_avg"]


def test_few_orders_have_their_exact_mean() -> None:
    rows: dict[str, Documents] = {
        "2": [(grade, 1.0) for grade in (2, 0, None, 1, 0)],  # 120 orders
        "10": [(2, 3.0), (0, 3.0), (None, 2.0), (1, 2.0), (0, 2.0), (1, 1.0)],  # 12 orders
        "1": [(1, 2.0), (0, 1.0)],
    }
    for text in SAMPLED:
        metric = parse(text)[0]
        for qid, row in rows.items():
            values, errors = sampled_together([metric], aligned_of({qid: (row, [])}))
            assert values[0, 0] == pytest.approx(metric(every_order(row, [])).mean(), abs=1e-12)
            assert errors[0, 0] == 0
        together, _ = sampled_together(
            [metric], aligned_of({q: (row, []) for q, row in rows.items()})
        )
        alone = [
            sampled_together([metric], aligned_of({qid: (row, [])}))[0][0, 0]
            for qid, row in rows.items()
        ]
        assert together[:, 0].tolist() == alone


def test_random_orders_come_near_the_mean() -> None:
    row: Documents = [(grade, 1.0) for grade in (2, 0, None, 1, 0, None)]  # 720 orders
    for text in SAMPLED:
        metric = parse(text)[0]
        aligned, mean = aligned_of({"q": (row, [])}), metric(every_order(row, [])).mean()
        values, errors = sampled_together([metric], aligned, draws=2000, seed=1)
        assert 0 < errors[0, 0] < 0.02
        assert values[0, 0] == pytest.approx(mean, abs=4 * errors[0, 0])


@pytest.mark.parametrize("cutoff", [10, None])
def test_large_groups(cutoff: int | None) -> None:
    # 20,000 tied documents, 300 of them with R = 15/16
    size, good = 20_000, 300
    seen = size if cutoff is None else cutoff
    _, place, found = stops_at(
        np.full(good, 15 / 16), np.array([0, good]), np.array([size]), np.array([seen])
    )
    assert place.tolist() == list(range(found.size))
    assert found.size == seen
    assert (found >= 0).all()
    # the first rank is good with chance 300/20000
    assert found[0] == pytest.approx(good / size * 15 / 16, rel=1e-12)
    # second: good, and the first was not, or let him pass
    second = 15 / 16 * (good / size) * ((size - good) / (size - 1) + (good - 1) / (size - 1) / 16)
    assert found[1] == pytest.approx(second, rel=1e-12)
    if cutoff is None:
        # past all of them nobody is left but 16^-300
        assert found.sum() == pytest.approx(1.0, rel=1e-12)


def test_many_groups_are_worked_on_in_blocks() -> None:
    # groups of 2..601 documents, the first two with R = 1/4, by themselves and together
    size = np.tile(np.arange(2, 602), 3)
    stop, offsets = np.full(2 * size.size, 0.25), np.arange(0, 2 * size.size + 1, 2)
    group, place, found = stops_at(stop, offsets, size, size)
    assert found.size == size.sum()
    assert np.bincount(group).tolist() == size.tolist()
    # all but (3/4)^2 stop somewhere; at the first rank 1/4 of those who find one of the two there
    np.testing.assert_allclose(np.bincount(group, weights=found), 7 / 16, rtol=1e-12)
    np.testing.assert_allclose(found[place == 0], 0.5 / size[group[place == 0]], rtol=1e-14)


def test_probabilities_above_1_are_computed_with() -> None:
    # R = 3 and 0: at rank 1 3/2; at rank 2 (3/2), as only a harmless document is before
    # R = 3 and 3: 3, then 3 (1 - 3)
    group, _, found = stops_at(
        np.array([3.0, 3.0, 3.0]), np.array([0, 1, 3]), np.array([2, 2]), np.array([2, 2])
    )
    assert found[group == 0].tolist() == [1.5, 1.5]
    assert found[group == 1].tolist() == [3.0, -6.0]


def test_small_probabilities_keep_their_digits() -> None:
    # R = 2^-60 for one of three tied documents: it is at each rank with chance 1/3
    found = stops_at(np.array([2.0**-60]), np.array([0, 1]), np.array([3]), np.array([3]))[2]
    np.testing.assert_allclose(found, [2.0**-60 / 3] * 3, rtol=1e-14)
