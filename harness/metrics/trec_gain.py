"""trec_eval's experimental metrics of gains: G, binG, ndcg_rel, Rndcg.

The gain of a document is its grade, 0 if that is negative or missing, or the gain set for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import About
from ..core.policy_views import tied_groups
from ..core.ragged import Floats, Ints, Ragged, offsets_of, rows_of, sum_by
from ..errors import InputError, Problem
from .shared import Rel, log2_discount, log2_of, running, share, trec_measure
from .tied import totals_of_inverse

Gains = Annotated[
    tuple[tuple[int, float], ...],
    About("Gains by grade, written gains=1:3;2:9; by default the grade."),
]


def grades_as_gains(grades: Ints) -> Floats:
    """Return the default gain of grades: the grade, or 0 for grades below 0."""
    return np.maximum(grades, 0).astype(np.float64)


def gain_table(
    aligned: Aligned, gains: Gains = (), gain_of: Callable[[Ints], Floats] = grades_as_gains
) -> tuple[Floats, Ragged]:
    """Return the gain of each item, and the gains above 0 in the ideal order.

    The ideal order is trec_eval's, which puts grades in order by a comparison that sees only
    whole differences of gains, and ends at the first gain that is not above 0.
    """

    def make() -> tuple[Floats, Ragged]:
        ideal = aligned.ideal
        if not gains:
            keep = ideal.values > 0
            values = gain_of(ideal.values[keep])
            return gain_of(aligned.grade), Ragged(offsets_of(ideal.count(keep)), values)
        if ideal.values.dtype.kind == "f":
            fix = "leave gains=... out, or round the grades"
            raise InputError(Problem("gains", "expected whole grades, got fractions", fix=fix))
        # Which order a query's grades have depends on its largest one.
        top = np.zeros(aligned.n_queries, dtype=np.int64)
        np.maximum.at(top, ideal.row, ideal.values + 1)
        item = np.zeros(aligned.grade.size)
        place, gain_at = np.full(ideal.values.size, -1), np.zeros(ideal.values.size)
        for n in np.unique(top).tolist():
            of_grade, in_ideal, place_of = _order(gains, gain_of(np.arange(n)).tolist())
            positions = np.flatnonzero((top[aligned.row] == n) & (aligned.grade >= 0))
            item[positions] = of_grade[aligned.grade[positions]]
            positions = np.flatnonzero((top[ideal.row] == n) & (ideal.values >= 0))
            grades = ideal.values[positions]
            place[positions], gain_at[positions] = place_of[grades], in_ideal[grades]
        judged = np.flatnonzero(place >= 0)
        judged = judged[np.lexsort((place[judged], ideal.row[judged]))]
        row, values = ideal.row[judged], gain_at[judged]
        offsets = offsets_of(np.bincount(row, minlength=aligned.n_queries))
        keep = Ragged(offsets, (values <= 0).astype(np.int64)).cumsum() == 0
        lengths = np.bincount(row[keep], minlength=aligned.n_queries)
        return item, Ragged(offsets_of(lengths), values[keep])

    return aligned.memo(("gain_table", gains, gain_of), make)


def _order(gains: Gains, defaults: Sequence[float]) -> tuple[Floats, Floats, Ints]:
    """Return the gain of each grade 0, 1, ..., its gain in the ideal order, and its place there.

    The two gains differ only if a grade is given twice. The ideal order, trec_eval's order of the
    gains, is empty if its first gain is not above 0; then all places are -1.
    """
    listed = {grade for grade, _ in gains}
    entries = [*gains, *(entry for entry in enumerate(defaults) if entry[0] not in listed)]
    rising = _merge_sorted(list(range(len(entries))), [gain for _, gain in entries])
    counted = {grade: entry for entry, (grade, _) in reversed(list(enumerate(entries)))}
    gain_of = {entries[entry][0]: entries[entry][1] for entry in reversed(rising)}
    begins = bool(rising) and entries[rising[-1]][1] > 0
    place = {
        entry: len(rising) - position if begins else -1 for position, entry in enumerate(rising)
    }
    grades = range(len(defaults))
    return (
        np.array([gain_of[grade] for grade in grades], dtype=np.float64),
        np.array([entries[counted[grade]][1] for grade in grades], dtype=np.float64),
        np.array([place[counted[grade]] for grade in grades], dtype=np.int64),
    )


def _merge_sorted(entries: list[int], gains: Sequence[float]) -> list[int]:
    """Sort entries by gain as the C library does with trec_eval's comparison.

    Gains that differ by less than 1 compare as equal, which is not a proper order. So the result
    depends on the method: the merge sort of the GNU C library.
    """
    if len(entries) < 2:
        return entries
    half = len(entries) // 2
    left, right = _merge_sorted(entries[:half], gains), _merge_sorted(entries[half:], gains)
    merged = []
    while left and right:
        merged.append((left if int(gains[left[0]] - gains[right[0]]) <= 0 else right).pop(0))
    return merged + left + right


_log2 = np.frompyfunc(lambda value: math.log2(value) if value > 0 else math.nan, 1, 1)


class Sums(NamedTuple):
    """Discounted cumulative gains of the ranking and of the ideal order.

    Per query: ``dcg`` and ``ideal_dcg`` of the whole lists. ``items`` are the retrieved
    documents with a gain, ``gain`` what they gain, and ``dcg_so_far`` the sum up to each.
    ``ideal`` are the gains of the ideal order, and ``ideal_so_far`` runs over them.
    """

    items: Ints
    gain: Floats
    dcg_so_far: Floats
    dcg: Floats
    ideal: Ragged
    ideal_so_far: Floats
    ideal_dcg: Floats


def _sums(aligned: Aligned, gains: Gains) -> Sums:
    def make() -> Sums:
        item, ideal = gain_table(aligned, gains)
        items = np.flatnonzero(item)
        gain = item[items]
        discounted = gain / log2_discount(aligned.rank[items])
        ideal_discounted = ideal.values / log2_discount(ideal.rank)
        return Sums(
            items,
            gain,
            running(np.add, aligned.row[items], discounted),
            aligned.sum(discounted, items),
            ideal,
            running(np.add, ideal.row, ideal_discounted),
            ideal.sum(ideal_discounted),
        )

    return aligned.memo(("sums_of_gains", gains), make)


def _without_gains(*, gains: Gains = (), **_: Any) -> bool:
    """Whether the gain of a grade is the grade itself, which may be a fraction."""
    return not gains


@trec_measure("G", "m_G.c", title="normalised cost-gain", bounded=False, fractions=_without_gains)
def normalised_gain(aligned: Aligned, *, gains: Gains = ()) -> Floats:
    """Sum of gains, each discounted by the gain that was missed above it.

    G = sum over documents of gain / log2(2 + cost - gains) / (sum of all gains), with the sum
    *gains* up to and including the document, and *cost*, the largest possible sum, with at least 1
    for each rank. The ideal ranking has the value 1.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 2}})
    >>> run = Run.from_dict({"q": {"x": 2.0, "a": 1.0}})
    >>> normalised_gain(align(qrels, run)).round(4).tolist()    # 2 / log2(2 + 2 + 1 - 2) / 2
    [0.6309]
    """
    item, ideal = gain_table(aligned, gains)
    items = np.flatnonzero(item)
    row, gain = aligned.row[items], item[items]
    so_far = running(np.add, row, gain)
    is_integer = not gains and aligned.ideal.values.dtype.kind == "i"
    missed = 2 + _largest_so_far(aligned, ideal, items, is_integer=is_integer) - so_far
    logarithm = log2_of(missed.astype(np.int64)) if is_integer else _log2(missed).astype(np.float64)
    return share(aligned.sum(gain / logarithm, items), ideal.sum())


def _largest_so_far(aligned: Aligned, ideal: Ragged, items: Ints, *, is_integer: bool) -> Floats:
    """Return the largest sum of gains at the rank of each item, with at least 1 for each rank.

    Sums of whole gains are exact in any order; others are added rank by rank.
    """
    row, rank = aligned.row[items], aligned.rank[items]
    if is_integer:
        above_one = np.append(Ragged(ideal.offsets, ideal.values - 1).cumsum(), 0.0)
        end = ideal.offsets[row] + np.minimum(rank, ideal.lengths[row]) - 1
        whole_cost: Floats = rank + above_one[end]
        return whole_cost
    depth = np.zeros(aligned.n_queries, dtype=np.int64)
    np.maximum.at(depth, row, rank)
    offsets, reached = offsets_of(depth), ideal.rank <= depth[ideal.row]
    cost = np.ones(offsets[-1])
    places = (offsets[ideal.row] + ideal.rank - 1)[reached]
    cost[places] = np.maximum(ideal.values[reached], 1.0)
    fractional_cost: Floats = running(np.add, rows_of(offsets), cost)[offsets[row] + rank - 1]
    return fractional_cost


@trec_measure("binG", "m_binG.c", title="binary cost-gain", expected="average")
def binary_gain(aligned: Aligned, *, rel: Rel = 1, average: bool = False) -> Floats:
    """Share of the relevant documents, each discounted by the non-relevant ones above it.

    binG = (1/R) sum over the relevant documents retrieved of 1 / log2(2 + number of non-relevant
    documents above), with R relevant documents.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 2}})
    >>> run = Run.from_dict({"q": {"x": 2.0, "a": 1.0}})
    >>> binary_gain(align(qrels, run)).round(4).tolist()        # 1 / log2(3)
    [0.6309]
    """
    items = aligned.relevant(rel)
    gain = 1.0 / log2_of(2 + aligned.rank[items] - aligned.hits(rel))
    groups = tied_groups(aligned, rel)
    if average and groups.at.size:
        # In a random order a relevant document has 0, 1, ... m of the m others above it that it
        # is tied with and that are not relevant, each with probability 1 / (m + 1).
        heads = groups.at[offsets_of(groups.found)[:-1]]
        above = groups.first - aligned.hits(rel)[heads]
        n_other = groups.size - groups.found
        end = above + n_other + 1
        totals = totals_of_inverse(log2_discount, int(end.max()))
        gain[groups.at] = (totals.over(above + 1, end) / (n_other + 1))[groups.group]
    return share(aligned.sum(gain, items), aligned.n_relevant(rel))


@trec_measure(
    "ndcg_rel",
    "m_ndcg_rel.c",
    title="the mean of nDCG at the ranks of relevant documents",
    fractions=_without_gains,
)
def ndcg_at_relevant(aligned: Aligned, *, gains: Gains = ()) -> Floats:
    """Mean of nDCG at the ranks of the documents with a gain.

    A document with a gain that is not retrieved counts with the DCG of the whole list divided by
    the ideal DCG of all judgements. Unlike ``ndcg``, the metric needs no cutoff.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1}})
    >>> run = Run.from_dict({"q": {"x": 2.0, "a": 1.0}})
    >>> ndcg_at_relevant(align(qrels, run)).round(4).tolist()   # (1 / log2(3)) / 1
    [0.6309]
    """
    sums = _sums(aligned, gains)
    n_ideal = sums.ideal.lengths
    gaining = (sums.gain > 0) & (n_ideal[aligned.row[sums.items]] > 0)
    items = sums.items[gaining]
    row = aligned.row[items]
    end = sums.ideal.offsets[row] + np.minimum(aligned.rank[items], n_ideal[row]) - 1
    gained = aligned.sum(sums.dcg_so_far[gaining] / sums.ideal_so_far[end], items)
    n_missed = n_ideal - aligned.count(items)
    total = gained + share(n_missed * sums.dcg, sums.ideal_dcg)
    return share(np.maximum(total, 0.0), n_ideal)


@trec_measure(
    "Rndcg",
    "m_Rndcg.c",
    title="the mean of nDCG at the ends of ideal levels",
    unbounded_with=("gains", "judged_only"),
    fractions=_without_gains,
)
def ndcg_at_levels(aligned: Aligned, *, gains: Gains = (), rel: Rel = 1) -> Floats:
    """Mean of nDCG at the ranks at which the gain changes in the ideal ranking.

    For example, 5 documents of grade 2 and 3 documents of grade 1 give the ranks 5 and 8. The end
    of the list is another point if the list is longer than the ideal ranking by at least two
    documents, as in trec_eval.

    Parameters
    ----------
    rel : int
        A query without a document of at least this grade has the value 0. It has no other effect.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; 0 for a query without relevant documents; NaN if no relevant document has a
        gain.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1}})
    >>> run = Run.from_dict({"q": {"x": 3.0, "a": 2.0, "y": 1.0}})
    >>> ndcg_at_levels(align(qrels, run)).round(4).tolist()     # (0 + (1 / log2(3)) / 1) / 2
    [0.3155]
    """
    sums = _sums(aligned, gains)
    ideal = sums.ideal
    following = np.append(ideal.values[1:], 0.0)
    ends = ideal.rank == ideal.lengths[ideal.row]
    points = np.flatnonzero(ends | (following != ideal.values))
    row = ideal.row[points]
    dcg = _dcg_at(aligned, sums, row, ideal.rank[points])
    total = sum_by(row, dcg / sums.ideal_so_far[points], aligned.n_queries)
    count = np.bincount(row, minlength=aligned.n_queries)
    longer = (aligned.n_retrieved > ideal.lengths + 1) & (ideal.lengths > 0)
    total += np.where(longer, share(sums.dcg, sums.ideal_dcg), 0.0)
    values = share(total, count + longer)
    values[count == 0] = np.nan
    values[aligned.n_relevant(rel) == 0] = 0.0
    return values


def _dcg_at(aligned: Aligned, sums: Sums, row: Ints, rank: Ints) -> Floats:
    """Return the DCG of the ranking of query `row` up to `rank`, for each pair."""
    items = sums.items
    # pairs (query, rank) as one rising number, so that one search finds all
    span = int(max(aligned.rank.max(initial=0), rank.max(initial=0))) + 1
    end = np.searchsorted(
        aligned.row[items] * span + aligned.rank[items], row * span + rank, "right"
    )
    start = np.searchsorted(aligned.row[items], row)
    return np.where(end > start, np.append(sums.dcg_so_far, 0.0)[end - 1], 0.0)
