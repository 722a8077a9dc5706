"""Judgements cut down to relevant or not, by rules that one smallest grade cannot say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Array, Bools, Ragged


def judged_as(
    aligned: Aligned, rel: int = 1, above: float | None = None, top: int | None = None
) -> tuple[Aligned, int]:
    """Return what to take for the alignment, and the smallest grade that is relevant in it.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.
    above : float, optional
        Grades above it count as relevant, fractions too; `rel` then says nothing.
    top : int, optional
        Largest grade that counts as relevant.

    Returns
    -------
    Aligned, int
        The alignment as it is and a smallest grade, where that says it; else one whose grades
        are 1 for what is relevant and 0 for what is not, and 1.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 3}})
    >>> aligned = align(qrels, Run.from_dict({"q": {"a": 1.0, "b": 2.0}}))
    >>> judged_as(aligned, top=2)[0].grade.tolist()
    [0, 1]
    """
    if above is None and top is None:
        return aligned, rel
    if above is not None and above >= 0 and top is None and aligned.ideal.values.dtype.kind != "f":
        return aligned, math.floor(above) + 1

    def relevant(grades: Array) -> Bools:
        found: Bools = grades >= rel if above is None else grades > above
        return found if top is None else found & (grades <= top)

    def make() -> Aligned:
        return _cut_down(aligned, relevant(aligned.grade), relevant(aligned.ideal.values))

    return aligned.memo(("judged_as", rel, above, top), make), 1


def largest_only(aligned: Aligned) -> Aligned:
    """Return an alignment in which only each query's largest grade, above 0, is relevant."""

    def make() -> Aligned:
        ideal = aligned.ideal
        largest = np.zeros(aligned.n_queries, dtype=ideal.values.dtype)
        np.maximum.at(largest, ideal.row, ideal.values)
        return _cut_down(
            aligned,
            (aligned.grade > 0) & (aligned.grade == largest[aligned.row]),
            (ideal.values > 0) & (ideal.values == largest[ideal.row]),
        )

    return aligned.memo("largest_only", make)


def _cut_down(aligned: Aligned, of_items: Bools, of_ideal: Bools) -> Aligned:
    ideal = aligned.ideal
    values = _zero_or_one(ideal.values, of_ideal)
    values = values[np.lexsort((-values, ideal.row))]
    return replace(
        aligned,
        grade=_zero_or_one(aligned.grade, of_items),
        ideal=Ragged(ideal.offsets, values),
        views={},
        _memo={},
    )


def _zero_or_one(grades: Array, relevant: Bools) -> Array:
    """Return 1 for relevant grades, 0 for others, and grades below 0 as they are."""
    unjudged = np.floor(np.minimum(grades, 0)).astype(np.int64)
    return np.where(relevant, 1, unjudged)
