"""The values of a measure for each query: the harness's metrics, and what only trec_eval has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ... import metrics as _built_in
from ...core.aligned import Aligned
from ...core.arguments import MOST
from ...core.metric import REGISTRY, TREC_CUT
from ...core.ragged import Array, Floats, Ints, offsets_of
from ...metrics.judged import n_judged_at, n_looked_at
from ...metrics.rbp import rank_biased_residual, rank_biased_sum
from ...metrics.shared import log2_discount, n_hits
from ...metrics.trec_average import precision_from
from ...metrics.trec_gain import Gains, gain_table
from .arguments import Arguments
from .measures import CALCULATION, FILES, Request, Stop, atol

del _built_in

PERSISTENCE = 0.9
"""The default p of rbp."""


@np.errstate(over="ignore", invalid="ignore")  # levels of 1e308 and nan are cast as C does
def values_of(request: Request, aligned: Aligned, arguments: Arguments) -> Sequence[Array]:
    """Return one array a line of this measure, each ``(n_queries,)``; Stop if parameters misfit."""
    name, numbers, rel = request.measure.name, request.numbers, arguments.level
    is_ten = arguments.version.number == 10
    parameters: dict[str, object] = {}
    if name == "relstring":
        length = int(np.clip(np.nan_to_num(numbers[0]), 0, MOST))
        return [np.array(grade_strings(aligned, length), dtype=object)]
    if name == "11pt_avg":
        return [eleven_point_average(aligned, numbers, rel, is_ten)]
    if name == "iprec_at_recall" and is_ten:
        n = aligned.n_relevant(rel)
        return [precision_from(aligned, rounded(level * n), rel) for level in numbers]
    if name == "unj":
        return [
            (n_looked_at(aligned, int(cutoff)) - n_judged_at(aligned, int(cutoff))) / int(cutoff)
            for cutoff in numbers
        ]
    if request.measure.takes == "gains":
        gains = _gains(request, whole_only=is_ten)
        p = dict(request.pairs).get("p", PERSISTENCE)
        if name in ("dcg", "ideal_dcg"):
            return [discounted_gain(aligned, gains, ideal=name == "ideal_dcg")]
        if name == "rbp":
            return [rank_biased_precision(aligned, gains, p)]
        if name == "rbp_resid":  # 0 if all retrieved documents are judged
            is_partial = n_judged_at(aligned) < aligned.n_retrieved
            return [np.where(is_partial, rank_biased_residual(aligned, p), 0.0)]
        parameters = {"gains": gains}
    elif request.measure.takes in ("cutoffs", "levels"):
        return [_registered(name, aligned, rel, {"cutoff": cutoff}) for cutoff in numbers]
    elif name == "utility":
        if len(numbers) != 4:
            raise Stop(CALCULATION, f"measure '{name}' takes four coefficients, not {len(numbers)}")
        parameters = {"coefficients": numbers, "documents": arguments.documents}
    elif name == "set_F":
        parameters = {"beta": numbers[0]}
    return [_registered(name, aligned, rel, parameters)]


def _registered(name: str, aligned: Aligned, rel: int, parameters: dict[str, object]) -> Array:
    definition = REGISTRY[TREC_CUT.get(name, name)]
    level = {"rel": rel} if "rel" in definition.parameters else {}
    values: Array = definition.function(aligned, **level, **parameters)
    return values


def _gains(request: Request, *, whole_only: bool) -> Gains:
    """Read the grades of the gains; version 10 skips names that are not numbers."""
    pairs = [
        (atol(grade), gain)
        for grade, gain in request.pairs
        if not whole_only or re.fullmatch("[+-]?[0-9]+", grade)
    ]
    if any(grade < 0 for grade, _ in pairs):
        what = "gains of documents that nobody judged (grades below 0) are not computed here"
        raise Stop(FILES, f"measure '{request.names[0]}': {what}")
    return tuple(pairs)


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
    aligned: Aligned, levels: tuple[float, ...], rel: int, is_ten: bool
) -> Floats:
    """Return ``11pt_avg`` for levels in any order, ``(n_queries,)``.

    trec_eval looks for the levels from the last to the first while it walks up the list; one
    that is higher than the one before it is never met, and it and all others then count as
    the largest precision anywhere.
    """
    hits = n_hits(aligned, rel)
    best = precision_from(aligned, np.zeros_like(hits), rel)
    total, remaining = np.zeros(aligned.n_queries), hits
    beyond, stuck = np.ones(hits.size, dtype=bool), np.zeros(hits.size, dtype=bool)
    for level in reversed(levels):
        wanted = (rounded if is_ten else truncated)(level * aligned.n_relevant(rel))
        beyond &= wanted > hits
        met = ~beyond & ~stuck & (wanted >= 1) & (wanted <= remaining)
        stuck |= ~beyond & ~met
        remaining = np.where(met, wanted, remaining)
        total += np.where(met, precision_from(aligned, wanted, rel), np.where(stuck, best, 0.0))
    return total / len(levels)


def discounted_gain(aligned: Aligned, gains: Gains, *, ideal: bool) -> Floats:
    """Return version 10's ``dcg`` or ``ideal_dcg``, ``(n_queries,)``."""
    table = gain_table(aligned, gains)
    if ideal:
        return table.ideal.sum(table.ideal.values / log2_discount(table.ideal.rank))
    items = np.flatnonzero(table.item)
    return aligned.sum(table.item[items] / log2_discount(aligned.rank[items]), items)


def rank_biased_precision(aligned: Aligned, gains: Gains, p: float) -> Floats:
    """Return version 10's ``rbp``, ``(n_queries,)``.

    (1 - p) times the sum of gain times p^(rank - 1). If a query's gains do not all lie in
    [0, 1] they are brought to it: by the largest one of its grades and of those given on the
    command line, and the smallest if that is negative.

    trec_eval does not initialise the two bounds: they are what the measures computed before it
    left on the C program's stack, so that any of them may change its value. Here they are 0, as
    if it computes rbp alone.
    """
    item = gain_table(aligned, gains).item
    own = [gain for _, gain in gains]
    smallest, largest = min([0.0, *own]), np.full(aligned.n_queries, max([0.0, *own]))
    ideal = aligned.ideal
    filled = ideal.lengths > 0
    top = np.full(aligned.n_queries, -1)
    top[filled] = ideal.values[ideal.offsets[:-1][filled]]
    named = {grade for grade, _ in gains}
    for grade in np.unique(top).tolist():
        top_gain = next((level for level in range(grade, 0, -1) if level not in named), 0)
        largest[top == grade] = np.maximum(largest[top == grade], top_gain)
    row = aligned.row
    scaled = (smallest < 0) | (largest[row] > 1)
    gain = np.divide(item - smallest, largest[row] - smallest, out=item.copy(), where=scaled)
    items = np.flatnonzero((aligned.grade >= 0) & (gain != 0))
    return rank_biased_sum(aligned, gain[items], items, p)


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


def emptied(aligned: Aligned) -> Aligned:
    """Return the alignment of the same queries with nothing retrieved (``-M 0``)."""
    none = aligned.rank[:0]
    return replace(
        aligned,
        n_retrieved=np.zeros_like(aligned.n_retrieved),
        n_tied=np.zeros_like(aligned.n_tied),
        offsets=np.zeros_like(aligned.offsets),
        rank=none, grade=none, tie_first=none, tie_last=none, score=aligned.score[:0],
    )  # fmt: skip
