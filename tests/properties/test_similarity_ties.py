"""Rank similarity with ties against literal definitions, and expectations by enumeration."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from alignments import Groups, compared, compared_each, run_of
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.metric import REGISTRY
from harness.core.qrels_and_runs import Qrels
from harness.metrics.rbo import ao, rbo

FORMS = ("ext", "min", "res", "max", "ext-cut", "truncated")
NAMES = "abcdefghij"


@st.composite
def rankings(draw: st.DrawFn, min_size: int = 1, max_size: int = 8, names: str = NAMES) -> Groups:
    """Some documents in groups of ties."""
    order = draw(st.permutations(list(names)))[: draw(st.integers(min_size, max_size))]
    groups: Groups = []
    for docno in order:
        if groups and draw(st.booleans()):
            groups[-1].append(docno)
        else:
            groups.append([docno])
    return groups


def spans(groups: Groups) -> dict[str, tuple[int, int]]:
    """First and last rank of each document's group."""
    found, above = {}, 0
    for group in groups:
        found |= {docno: (above + 1, above + len(group)) for docno in group}
        above += len(group)
    return found


def counted(span: tuple[int, int], d: int, tied: str) -> float:
    top, bottom = span
    if d < top:
        return 0.0
    return 1.0 if tied == "w" or d >= bottom else (d - top + 1) / (bottom - top + 1)


def literal(first: Groups, second: Groups, p: float, tied: str) -> dict[str, float]:
    """Every form, depth by depth and document by document (Corsi and Urbano, SIGIR 2024)."""
    short, long = sorted((spans(first), spans(second)), key=len)
    s, l = len(short), len(long)  # noqa: E741
    shared = set(short) & set(long)
    only = sorted((docno for docno in long if docno not in short), key=lambda docno: long[docno])
    least, most, extended = {}, {}, {}
    for d in range(1, l + 1):
        c_short = {docno: counted(span, d, tied) for docno, span in short.items()}
        c_long = {docno: counted(span, d, tied) for docno, span in long.items()}
        x = math.fsum(c_short[docno] * c_long[docno] for docno in shared)
        sums = [math.fsum(c_short.values()), math.fsum(c_long.values())]
        squares = [math.fsum(c * c for c in cs.values()) for cs in (c_short, c_long)]
        if d > s:
            sums[0] = squares[0] = d
        norm = {"w": sum(sums) / 2, "a": d, "b": math.sqrt(squares[0]) * math.sqrt(squares[1])}
        least[d] = most[d] = extended[d] = x / norm[tied]
        if d > s:
            seen = [c_long[docno] for docno in only if c_long[docno] > 0]
            most[d] = (x + math.fsum(seen[: d - s])) / norm[tied]
            mean = math.fsum(seen) / len(seen)
            extended[d] = (x + (d - s) * extended[s] * mean) / norm[tied]

    def total(agreement: dict[int, float], depths: range) -> float:
        return (1 - p) * math.fsum(p ** (d - 1) * agreement[d] for d in depths)

    x, f = len(shared), s + l - len(shared)
    far = range(l + 1, l + 2000)
    beyond = {d: x / d for d in far}
    beyond_most = {d: min(1.0, (2 * d - f) / d) for d in far}
    low = total(least, range(1, l + 1)) + total(beyond, far)
    high = total(most, range(1, l + 1)) + total(beyond_most, far)
    return {
        "min": low,
        "max": high,
        "res": high - low,
        "ext": total(extended, range(1, l + 1)) + extended[l] * p**l,
        "ext-cut": total(least, range(1, l + 1)) + least[l] * p**l,
        "truncated": total(least, range(1, s + 1)),
        "ao": math.fsum(least[d] for d in range(1, s + 1)) / s,
    }


persistence = st.sampled_from([0.1, 0.5, 0.9, 0.98])
variants = st.sampled_from(["w", "a", "b"])


def close(value: float, expected: float) -> bool:
    return value == pytest.approx(min(max(expected, 0.0), 1.0), abs=1e-12)


@pytest.mark.oracle("rbo", "ao")
@given(rankings(), rankings(), persistence, variants)
def test_rbo_with_ties_is_its_definition(
    first: Groups, second: Groups, p: float, tied: Any
) -> None:
    aligned, expected = compared(first, second), literal(first, second, p, tied)
    for form in FORMS:
        value = rbo(aligned, p=p, form=form, tied=tied).item()  # type: ignore[arg-type]
        assert close(value, expected[form]), form
    assert close(ao(aligned, tied=tied).item(), expected["ao"])


def in_order(groups: Groups) -> Groups:
    """Documents one by one, ties by falling docno."""
    return [[docno] for group in groups for docno in sorted(group, reverse=True)]


@given(rankings(), rankings(), persistence)
def test_rbo_that_orders_ties_is_its_definition(first: Groups, second: Groups, p: float) -> None:
    aligned, expected = compared(first, second), literal(in_order(first), in_order(second), p, "a")
    for form in FORMS:
        assert close(rbo(aligned, p=p, form=form).item(), expected[form]), form
    assert close(ao(aligned).item(), expected["ao"])


grades = st.dictionaries(st.sampled_from(list(NAMES)), st.integers(-1, 3), min_size=1)


def ideal_of(qrel: dict[str, int], rel: int) -> Groups:
    levels = sorted({grade for grade in qrel.values() if grade >= rel}, reverse=True)
    return [[docno for docno in qrel if qrel[docno] == level] for level in levels]


@given(
    st.lists(st.tuples(rankings(), grades), min_size=1, max_size=4), st.integers(1, 2),
    variants | st.just("none"),
)  # fmt: skip
def test_rbo_against_the_ideal_order(
    queries: list[tuple[Groups, dict[str, int]]], rel: int, tied: Any
) -> None:
    names = [f"q{at}" for at in range(len(queries))]
    qrels = Qrels.from_dict({q: qrel for q, (_, qrel) in zip(names, queries, strict=True)})
    aligned = align(qrels, run_of(*(groups for groups, _ in queries)))
    values = {
        form: rbo(aligned, form=form, rel=rel, tied=tied)  # type: ignore[arg-type]
        for form in FORMS
    }
    for number, (groups, qrel) in enumerate(queries):
        ideal = ideal_of(qrel, rel)
        if tied == "none":  # documents of one grade are in the run's order
            groups = in_order(groups)
            place = {docno: at for at, (docno,) in enumerate(groups)}
            ideal = [
                [one] for group in ideal for one in sorted(group, key=lambda d: place.get(d, 99))
            ]
        variant = "a" if tied == "none" else tied
        expected = literal(groups, ideal, 0.9, variant) if ideal else {}
        for form in FORMS:
            if ideal:
                assert close(values[form][number], expected[form]), form
            else:
                assert math.isnan(values[form][number])


def orders(groups: Groups) -> Iterator[Groups]:
    """Every order of the documents within their groups, without ties."""
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield [[docno] for part in parts for docno in part]


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


few = rankings(max_size=5, names="abcde")


@given(few, few, persistence)
def test_variant_a_is_the_mean_over_the_orders_of_both_lists(
    first: Groups, second: Groups, p: float
) -> None:
    pairs = list(itertools.product(orders(first), orders(second)))
    assume(len(pairs) <= 300)
    forms: list[Any] = ["min", "ext-cut", "truncated"]
    if len(spans(first)) == len(spans(second)):
        forms += ["ext", "res", "max"]  # a tie across the shorter list's end is not linear there
    each = compared_each(pairs)
    for form in forms:
        expected = mean(rbo(each, p=p, form=form).tolist())
        assert close(rbo(compared(first, second), p=p, form=form, tied="a").item(), expected), form
    expected = mean(ao(each).tolist())
    assert close(ao(compared(first, second), tied="a").item(), expected)


def choices(name: str) -> list[dict[str, Any]]:
    """The metric's parameters, each variant once."""
    if name == "rbo":
        return [{"form": f, "tied": t} for f in FORMS for t in ("none", "a")] + [
            {"form": "truncated", "k": 2},
            {"p": 0.3, "rel": 2},
        ]
    if name == "ao":
        return [{}, {"cutoff": 2}, {"rel": 2}, {"tied": "b"}]
    if name == "tau_ap":
        return [{"tied": tied} for tied in ("none", "a", "b")]
    return [{}]


def expectation(name: str) -> Callable[..., np.ndarray]:
    definition = REGISTRY[name]
    is_own = definition.expected == "itself"
    return definition.function if is_own else partial(definition.function, average=True)


def same_mean(name: str, aligned: Aligned, each: Aligned) -> None:
    for given_ in choices(name):
        found = expectation(name)(aligned, **given_).item()
        if given_.get("tied", "none") != "none" or name in ("kendall", "spearman", "pearson"):
            assert found == pytest.approx(
                REGISTRY[name].function(aligned, **given_).item(), nan_ok=True
            )
            continue  # what looks at ties themselves does not change with their order
        values = REGISTRY[name].function(each, **given_).tolist()
        assert found == pytest.approx(mean(values), abs=1e-12, nan_ok=True), given_


SIMILARITIES = ["rbo", "ao", "tau_ap", "kendall", "spearman", "pearson"]


@pytest.mark.parametrize("name", SIMILARITIES)
@given(groups=rankings(max_size=6), qrel=grades)
def test_expectation_against_judgements(name: str, groups: Groups, qrel: dict[str, int]) -> None:
    each = list(orders(groups))
    qrels = Qrels.from_dict({f"q{number}": qrel for number in range(len(each))})
    one = Qrels.from_dict({"q0": qrel})
    same_mean(name, align(one, run_of(groups)), align(qrels, run_of(*each)))


@pytest.mark.parametrize("name", SIMILARITIES)
@given(groups=rankings(max_size=6), other=rankings(max_size=6))
def test_expectation_against_a_reference_run(name: str, groups: Groups, other: Groups) -> None:
    each = compared_each([(order, other) for order in orders(groups)])
    same_mean(name, compared(groups, other), each)
