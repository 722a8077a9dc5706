"""The values of a measure for each query, by the harness's metrics or by its own kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ... import metrics as _built_in
from ...core.aligned import Aligned
from ...core.exact import log2_discount
from ...core.metric import REGISTRY, TREC_CUT
from ...core.parameter import MOST
from ...core.ragged import Array, Floats, Ints, offsets_of
from ...metrics.judged import n_judged_at, n_looked_at
from ...metrics.rbp import rank_biased_residual, rank_biased_sum
from ...metrics.shared import n_hits
from ...metrics.trec_average import precision_from
from ...metrics.trec_gain import Gains, gain_table
from .arguments import Arguments
from .measures import CALCULATION, FILES, Request, Stop, atol

Rounding = Callable[[Array], Ints]


def truncated(documents: Array) -> Ints:
    """Return a level of recall as a number of documents, as version 9 does.

    >>> truncated(np.array([0.05, 0.5, 3.2])).tolist()
    [0, 1, 4]
    """
    whole: Ints = (documents + 0.9).astype(np.int64)
    return whole


def rounded(documents: Array) -> Ints:
    """Return a level of recall as a number of documents, as version 10 does.

    >>> rounded(np.array([0.49999999999999994, 0.5, 3.2, -0.5])).tolist()
    [0, 1, 3, -1]
    """
    towards_zero = np.trunc(documents)
    away = np.abs(documents - towards_zero) >= 0.5
    whole: Ints = (towards_zero + np.sign(documents) * away).astype(np.int64)
    return whole


def eleven_point_average(
    aligned: Aligned, levels: tuple[float, ...], rel: int, documents: Rounding
) -> Floats:
    """Return ``11pt_avg`` for levels in any order, ``(n_queries,)``.

    trec_eval looks for the levels from the last to the first while it walks up the list; one
    that is higher than the one before it is never met, and it and all others then count as
    the largest precision anywhere.
    """
    found = n_hits(aligned, rel)
    best = precision_from(aligned, np.zeros_like(found), rel)
    total, remaining = np.zeros(aligned.n_queries), found
    beyond, stuck = np.ones(found.size, dtype=bool), np.zeros(found.size, dtype=bool)
    for level in reversed(levels):
        wanted = documents(level * aligned.n_relevant(rel))
        beyond &= wanted > found
        met = ~beyond & ~stuck & (wanted >= 1) & (wanted <= remaining)
        stuck |= ~beyond & ~met
        remaining = np.where(met, wanted, remaining)
        total += np.where(met, precision_from(aligned, wanted, rel), np.where(stuck, best, 0.0))
    return total / len(levels)


def interpolated_precision(aligned: Aligned, level: float, rel: int) -> Floats:
    """Return version 10's ``iprec_at_recall``, ``(n_queries,)``."""
    return precision_from(aligned, rounded(level * aligned.n_relevant(rel)), rel)


def unjudged(aligned: Aligned, cutoff: int) -> Floats:
    """Return the share of unjudged documents among the first `cutoff`, ``(n_queries,)``."""
    return (n_looked_at(aligned, cutoff) - n_judged_at(aligned, cutoff)) / cutoff


def dcg(aligned: Aligned, gains: Gains) -> Floats:
    """Return the discounted cumulative gain of the ranking, ``(n_queries,)``."""
    item = gain_table(aligned, gains).item
    items = np.flatnonzero(item)
    return aligned.sum(item[items] / log2_discount(aligned.rank[items]), items)


def ideal_dcg(aligned: Aligned, gains: Gains) -> Floats:
    """Return the discounted cumulative gain of the ideal order, ``(n_queries,)``."""
    ideal = gain_table(aligned, gains).ideal
    return ideal.sum(ideal.values / log2_discount(ideal.rank))


def rank_biased_precision(aligned: Aligned, gains: Gains, p: float) -> Floats:
    """Return version 10's ``rbp``, ``(n_queries,)``.

    (1 - p) times the sum of gain times p^(rank - 1). Where a query's gains do not all lie in
    [0, 1] they are brought to it: by the largest one of its grades and of those given on the
    command line, and the smallest where that is negative.

    trec_eval does not initialise the two bounds: they are what the measures computed before it
    left on the C program's stack, so that any of them may change its value. Here they are 0, as
    where it computes rbp alone.
    """
    item = gain_table(aligned, gains).item
    given = [gain for _, gain in gains]
    smallest, largest = min([0.0, *given]), np.full(aligned.n_queries, max([0.0, *given]))
    ideal = aligned.ideal
    filled = ideal.lengths > 0
    top = np.full(aligned.n_queries, -1)
    top[filled] = ideal.values[ideal.offsets[:-1][filled]]
    named = {grade for grade, _ in gains}
    for grade in np.unique(top).tolist():
        own = next((level for level in range(grade, 0, -1) if level not in named), 0)
        largest[top == grade] = np.maximum(largest[top == grade], own)
    row = aligned.row
    scaled = (smallest < 0) | (largest[row] > 1)
    gain = np.divide(item - smallest, largest[row] - smallest, out=item.copy(), where=scaled)
    items = np.flatnonzero((aligned.grade >= 0) & (gain != 0))
    return rank_biased_sum(aligned, gain[items], items, p)


def residual(aligned: Aligned, p: float) -> Floats:
    """Return version 10's ``rbp_resid``: how much ``rbp`` could rise, ``(n_queries,)``.

    What all unjudged documents, and those beyond the list, would add with the largest gain; 0
    where all retrieved documents are judged.
    """
    any_unjudged = n_judged_at(aligned) < aligned.n_retrieved
    return np.where(any_unjudged, rank_biased_residual(aligned, p), 0.0)


def grade_strings(aligned: Aligned, length: int) -> list[str]:
    """Return the grades of the first documents of each query, a character each.

    A digit, or ``>`` above 9; ``.`` for a document in the pool that was not judged, ``-`` for
    one outside it.
    """
    lengths = np.minimum(aligned.n_retrieved, max(length, 0))
    offsets = offsets_of(lengths)
    signs = np.full(offsets[-1], ord("-"), dtype=np.uint8)
    first = np.flatnonzero(aligned.rank <= lengths[aligned.row])
    grade = np.clip(aligned.grade[first], -1, 10)
    of_grade = np.frombuffer(b"0123456789>.", dtype=np.uint8)  # the last one is for -1
    signs[offsets[aligned.row[first]] + aligned.rank[first] - 1] = of_grade[grade]
    text = signs.tobytes().decode("ascii")
    bounds = offsets.tolist()
    return [text[start:stop] for start, stop in pairwise(bounds)]


del _built_in

PERSISTENCE = 0.9
"""What rbp takes for p where none is given."""


@np.errstate(over="ignore", invalid="ignore")  # levels of 1e308 and nan are cast as C does
def values_of(request: Request, aligned: Aligned, arguments: Arguments) -> Sequence[Array]:
    """Return one array a line of this measure, each ``(n_queries,)``.

    Raises
    ------
    Stop
        Where the parameters do not fit the measure.
    """
    name, numbers, rel = request.measure.name, request.numbers, arguments.level
    ten = arguments.version.number == 10
    if name == "relstring":
        length = int(np.clip(np.nan_to_num(numbers[0]), 0, MOST))
        return [np.array(grade_strings(aligned, length), dtype=object)]
    if name == "11pt_avg":
        documents = rounded if ten else truncated
        return [eleven_point_average(aligned, numbers, rel, documents)]
    if name == "iprec_at_recall" and ten:
        return [interpolated_precision(aligned, level, rel) for level in numbers]
    if name == "unj":
        return [unjudged(aligned, int(cutoff)) for cutoff in numbers]
    if request.measure.takes == "gains":
        return [_gain_values(request, aligned, arguments)]
    if name == "utility":
        if len(numbers) != 4:
            raise Stop(CALCULATION, f"measure '{name}' takes four coefficients, not {len(numbers)}")
        return _registered(name, aligned, rel, coefficients=numbers, documents=arguments.documents)
    if name == "set_F":
        return _registered(name, aligned, rel, beta=numbers[0])
    if request.measure.takes in ("cutoffs", "levels"):
        return [_registered(name, aligned, rel, cutoff=cutoff)[0] for cutoff in numbers]
    return _registered(name, aligned, rel)


def _registered(name: str, aligned: Aligned, rel: int, **given: object) -> list[Array]:
    definition = REGISTRY[TREC_CUT.get(name, name)]
    if "rel" in definition.parameters:
        given["rel"] = rel
    return [definition.function(aligned, **given)]


def _gain_values(request: Request, aligned: Aligned, arguments: Arguments) -> Array:
    name = request.measure.name
    gains = _gains(request, whole_only=arguments.version.number == 10)
    p = dict(request.pairs).get("p", PERSISTENCE)
    if name == "dcg":
        return dcg(aligned, gains)
    if name == "ideal_dcg":
        return ideal_dcg(aligned, gains)
    if name == "rbp":
        return rank_biased_precision(aligned, gains, p)
    if name == "rbp_resid":
        return residual(aligned, p)
    return _registered(name, aligned, arguments.level, gains=gains)[0]


def _gains(request: Request, *, whole_only: bool) -> Gains:
    """Read the grades of the gains given; version 10 passes over names that are no numbers."""
    pairs = [
        (atol(grade), gain)
        for grade, gain in request.pairs
        if not whole_only or re.fullmatch("[+-]?[0-9]+", grade)
    ]
    if any(grade < 0 for grade, _ in pairs):
        raise Stop(
            FILES,
            f"measure '{request.names[0]}': gains of documents that nobody judged (grades below "
            "0) are not computed here",
        )
    return tuple(pairs)


def emptied(aligned: Aligned) -> Aligned:
    """Return the alignment of the same queries with nothing retrieved (``-M 0``)."""
    none = aligned.rank[:0]
    return replace(
        aligned,
        n_retrieved=np.zeros_like(aligned.n_retrieved),
        n_tied=np.zeros_like(aligned.n_tied),
        offsets=np.zeros_like(aligned.offsets),
        rank=none, grade=none, tie_first=none, tie_last=none, score=aligned.score[:0],
        _memo={},
    )  # fmt: skip
