"""Expectations over the orders of tied documents: every order, enumerated."""

from __future__ import annotations

from itertools import groupby, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness.metrics  # noqa: F401
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.metric import REGISTRY, Metric
from harness.core.names import parse
from harness.core.tables import Qrels, Run
from harness.metrics.cascade import TiedStops, stops_at

NAMES = [
    "err", "err@1", "err@3", "err@4", "err(max_grade=none)@3", "err(stop=linear)@5", "nerr",
    "nerr@2", "nerr@4", "pfound", "pfound@3", "pfound(decay=0.15)@4", "rbp(p=0.5)", "rbp(p=0.9)@2",
    "rbp(p=0.8,gain=exp)@3", "rbp(p=0.8,gain=linear)", "rbp(p=0.8,form=residual)",
    "rbp(p=0.8,form=residual)@3", "rbp(p=0.5,form=upper)@4", "judged@2", "judged@4", "unjudged@3",
    "judged", "opa", "auc", "auc(rel=2)",
]  # fmt: skip
METRICS = [parse(name)[0] for name in NAMES]

# A document: its score, and its grade (None: outside the pool).
documents = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([None, -1, 0, 0, 1, 1, 2, 4])),
    min_size=1, max_size=5,
)  # fmt: skip
lists = st.lists(st.tuples(documents, st.lists(st.integers(0, 4), max_size=2)), max_size=3)
Document = tuple[int, int | None]


def aligned_of(queries: list[tuple[list[Document], list[int]]]) -> Aligned:
    """Align lists of documents, each with the grades of documents that were missed."""
    qrels, run = {}, {}
    for number, (retrieved, missed) in enumerate(queries):
        graded = {f"d{i}": grade for i, (_, grade) in enumerate(retrieved) if grade is not None}
        qrels[f"q{number}"] = graded | {f"m{i}": grade for i, grade in enumerate(missed)}
        run[f"q{number}"] = {f"d{i}": float(score) for i, (score, _) in enumerate(retrieved)}
    return align(Qrels.from_dict(qrels), Run.from_dict(run))


def orders(retrieved: list[Document]) -> list[list[Document]]:
    """Return the list in every order of its tied documents."""
    falling = sorted(retrieved, key=lambda document: -document[0])
    groups = [list(group) for _, group in groupby(falling, key=lambda document: document[0])]
    return [[d for part in parts for d in part] for parts in product(*map(permutations, groups))]


def expected(metric: Metric, aligned: Aligned) -> np.ndarray[Any, Any]:
    function = metric.definition.expected
    if function == "itself":
        return metric(aligned)
    assert callable(function)
    return np.asarray(function(aligned, **metric.arguments()))


@settings(max_examples=80, deadline=None)
@given(documents, st.lists(st.integers(0, 4), max_size=2))
def test_expectation_is_the_mean_of_all_orders(
    retrieved: list[Document], missed: list[int]
) -> None:
    every = [
        [(-rank, grade) for rank, (_, grade) in enumerate(order)] for order in orders(retrieved)
    ]
    all_orders = aligned_of([(order, missed) for order in every])
    tied = aligned_of([(retrieved, missed)])
    for metric in METRICS:
        mean = metric(all_orders).mean()
        np.testing.assert_allclose(
            expected(metric, tied), [mean], rtol=1e-12, atol=1e-14, err_msg=str(metric)
        )


@settings(max_examples=30, deadline=None)
@given(lists)
def test_queries_do_not_mix(queries: list[tuple[list[Document], list[int]]]) -> None:
    if not queries:
        return
    together = aligned_of(queries)
    for metric in METRICS:
        alone = [expected(metric, aligned_of([query]))[0] for query in queries]
        np.testing.assert_allclose(expected(metric, together), alone, rtol=1e-13, atol=1e-15)


@given(st.lists(st.sampled_from([None, 0, 1, 2, 4]), min_size=1, max_size=9))
def test_without_ties_nothing_changes(grades: list[int | None]) -> None:
    aligned = aligned_of([([(-i, grade) for i, grade in enumerate(grades)], [3])])
    for metric in METRICS:
        np.testing.assert_allclose(expected(metric, aligned), metric(aligned), rtol=1e-15, atol=0)


def test_every_metric_here_has_an_exact_expectation() -> None:
    for name in ("err", "nerr", "pfound", "rbp", "judged", "unjudged", "opa", "auc"):
        assert REGISTRY[name].expected is not None


@pytest.mark.parametrize("cutoff", [10, None])
def test_large_groups(cutoff: int | None) -> None:
    # 20,000 tied documents, 300 of them with R = 15/16
    size, good = 20_000, 300
    seen = size if cutoff is None else cutoff
    groups = TiedStops(
        np.full(good, 15 / 16), np.array([0, good]), np.array([size]), np.array([seen])
    )
    _, place, found = stops_at(groups)
    assert place.tolist() == list(range(found.size))
    assert found.size == 10 if cutoff else 1000 < found.size < size  # next to nobody goes on
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
    # groups of 2..601 documents of which the first two have R = 1/4, by themselves and together
    size = np.tile(np.arange(2, 602), 3)
    stop, offsets = np.full(2 * size.size, 0.25), np.arange(0, 2 * size.size + 1, 2)
    group, place, found = stops_at(TiedStops(stop, offsets, size, size))
    assert found.size == size.sum()
    assert np.bincount(group).tolist() == size.tolist()
    # all but (3/4)^2 stop somewhere; at the first rank 1/4 of those who find one of the two there
    np.testing.assert_allclose(np.bincount(group, weights=found), 7 / 16, rtol=1e-12)
    np.testing.assert_allclose(found[place == 0], 0.5 / size[group[place == 0]], rtol=1e-14)


def test_probabilities_above_1_are_computed_with() -> None:
    # R = 3 and 0: at rank 1 3/2; at rank 2 (3/2), as only a harmless document stands before
    # R = 3 and 3: 3, then 3 (1 - 3)
    groups = TiedStops(
        np.array([3.0, 3.0, 3.0]), np.array([0, 1, 3]), np.array([2, 2]), np.array([2, 2])
    )
    group, _, found = stops_at(groups)
    assert found[group == 0].tolist() == [1.5, 1.5]
    assert found[group == 1].tolist() == [3.0, -6.0]


def test_small_probabilities_keep_their_digits() -> None:
    # R = 2^-60 for one of three tied documents: it stands at each rank with chance 1/3
    groups = TiedStops(np.array([2.0**-60]), np.array([0, 1]), np.array([3]), np.array([3]))
    np.testing.assert_allclose(stops_at(groups)[2], [2.0**-60 / 3] * 3, rtol=1e-14)
