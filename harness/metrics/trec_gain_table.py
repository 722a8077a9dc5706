"""Gains by grade, as trec_eval takes them on its command line (``ndcg.1=3,2=9``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Floats, Ints, Ragged, offsets_of
from ..errors import InputError

Gains = tuple[tuple[int, float], ...]
"""Pairs of grade and gain; a grade that is not among them has its own gain."""


class GainTable(NamedTuple):
    """What each document gains.

    ``item`` is the gain of each judged and retrieved document, ``(n_items,)``; ``ideal`` are
    the gains above 0 of each query's judged documents, in the ideal order.
    """

    item: Floats
    ideal: Ragged


def grades_as_gains(grades: Ints) -> Floats:
    """Return the gain that grades have by themselves: the grade, or 0 below it."""
    return np.maximum(grades, 0).astype(np.float64)


def gain_table(
    aligned: Aligned, gains: Gains = (), own: Callable[[Ints], Floats] = grades_as_gains
) -> GainTable:
    """Return what each document gains, retrieved and in the ideal order.

    The ideal order is trec_eval's, which puts grades in order by a comparison that sees only
    whole differences of gains, and ends at the first gain that is not above 0.

    Parameters
    ----------
    aligned : Aligned
    gains : tuple of (int, float)
        Pairs of grade and gain.
    own : callable
        Gives the gains of all other grades.
    """

    def make() -> GainTable:
        ideal = aligned.ideal
        if not gains:
            keep = ideal.values > 0
            values = own(ideal.values[keep])
            return GainTable(own(aligned.grade), Ragged(offsets_of(ideal.count(keep)), values))
        if ideal.values.dtype.kind == "f":
            raise InputError(
                "gains=... names whole grades, and there are grades that are fractions"
            )
        # Which order a query's grades have depends on its largest one.
        top = np.zeros(aligned.n_queries, dtype=np.int64)
        np.maximum.at(top, ideal.row, ideal.values + 1)
        tops, which = np.unique(top, return_inverse=True)
        orders = [_order(gains, own(np.arange(n)).tolist()) for n in tops.tolist()]
        starts = offsets_of(tops)[which]
        of_grade = np.array([gain for order in orders for gain in order.gain_of], np.float64)
        gain_at = np.array([gain for order in orders for gain in order.gain_at], np.float64)
        position = np.array([place for order in orders for place in order.position], np.int64)
        begins = np.array([order.begins for order in orders])[which]

        item = np.zeros(aligned.grade.size)
        at = aligned.grade >= 0
        item[at] = of_grade[starts[aligned.row[at]] + aligned.grade[at]]

        judged = np.flatnonzero((ideal.values >= 0) & begins[ideal.row])
        row = ideal.row[judged]
        entry = starts[row] + ideal.values[judged]
        by_place = np.lexsort((position[entry], row))
        row, values = row[by_place], gain_at[entry[by_place]]
        offsets = offsets_of(np.bincount(row, minlength=aligned.n_queries))
        keep = Ragged(offsets, (values <= 0).astype(np.int64)).cumsum() == 0
        lengths = np.bincount(row[keep], minlength=aligned.n_queries)
        return GainTable(item, Ragged(offsets_of(lengths), values[keep]))

    return aligned.memo(("gain_table", gains, own), make)


class _Order(NamedTuple):
    """The grades 0, 1, ... of a query, in trec_eval's order of their gains.

    For each grade: ``gain_of`` is what a retrieved document gains, ``gain_at`` what it gains in
    the ideal order, at ``position``. The two gains differ only where a grade is given twice.
    ``begins``: whether the first gain of all is above 0, without which there is no ideal order.
    """

    gain_of: list[float]
    gain_at: list[float]
    position: list[int]
    begins: bool


def _order(gains: Gains, own: Sequence[float]) -> _Order:
    given = {grade for grade, _ in gains}
    entries = [*gains, *((grade, gain) for grade, gain in enumerate(own) if grade not in given)]
    rising = _merge_sorted(list(range(len(entries))), [gain for _, gain in entries])
    counted = {grade: entry for entry, (grade, _) in reversed(list(enumerate(entries)))}
    found = {entries[entry][0]: entries[entry][1] for entry in reversed(rising)}
    place = {entry: len(rising) - at for at, entry in enumerate(rising)}
    grades = range(len(own))
    return _Order(
        [found[grade] for grade in grades],
        [entries[counted[grade]][1] for grade in grades],
        [place[counted[grade]] for grade in grades],
        bool(rising) and entries[rising[-1]][1] > 0,
    )


def _merge_sorted(entries: list[int], gains: Sequence[float]) -> list[int]:
    """Sort entries by gain as the C library does with trec_eval's comparison.

    Gains that differ by less than 1 compare as equal, which is no proper order; so what comes
    out depends on the method, which is the merge sort of the GNU C library.

    >>> _merge_sorted([0, 1, 2], [4.5, 4.0, 1.0])
    [2, 0, 1]
    """
    if len(entries) < 2:
        return entries
    half = len(entries) // 2
    left, right = _merge_sorted(entries[:half], gains), _merge_sorted(entries[half:], gains)
    merged = []
    while left and right:
        merged.append((left if int(gains[left[0]] - gains[right[0]]) <= 0 else right).pop(0))
    return merged + left + right
