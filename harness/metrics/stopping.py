"""How probable it is that a document satisfies a reader, who then stops."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import Range
from ..core.ragged import Array, Floats, Ints
from ..errors import InputError

Stop = Literal["exp", "linear"]
MaxGrade = Annotated[int, Range(1, 1000)]
Beyond = Literal["error", "keep"]
_LARGEST_EXPONENT = 1000


def check_grades(aligned: Aligned, max_grade: int, *, keep: bool = False) -> None:
    """Refuse a judgement above the largest grade, retrieved or not.

    Parameters
    ----------
    aligned : Aligned
    max_grade : int
        The largest grade there should be.
    keep : bool
        Whether it is computed with all the same, as far as floats reach.

    Raises
    ------
    InputError
    """
    largest = aligned.ideal.values.max(initial=0)
    if largest <= max_grade or (keep and largest - max_grade <= _LARGEST_EXPONENT):
        return
    raise InputError(
        f"a grade of {largest:g} is above max_grade={max_grade}; "
        f"give max_grade={math.ceil(largest)}, or the largest grade that the judges could give"
    )


def graded(aligned: Aligned) -> Ints:
    """Return the judged and retrieved documents with a grade above 0, as indices."""
    if aligned.grade.dtype.kind == "i":
        return aligned.relevant(1)
    return aligned.memo("graded", lambda: np.flatnonzero(aligned.grade > 0))


def top_grades(aligned: Aligned, max_grade: int | None) -> Array:
    """Return what counts as the largest grade of each query, ``(n_queries,)``.

    `max_grade`, or where that is None the largest of the query's own judgements; 1 where none
    is above 0.
    """
    ideal = aligned.ideal
    if max_grade is not None:
        return np.full(aligned.n_queries, max_grade)
    top = np.ones(aligned.n_queries, dtype=ideal.values.dtype)
    filled = np.flatnonzero(ideal.lengths)
    largest = ideal.values[ideal.offsets[filled]]
    top[filled] = np.where(largest > 0, largest, 1)
    return top


def stop_probabilities(grades: Array, top: Array, stop: Stop) -> Floats:
    """Return (2^grade - 1) / 2^top, or grade / top; 0 for grades below 0.

    Parameters
    ----------
    grades : ndarray of int64 or float64, shape (n,)
    top : ndarray, shape (n,) or ()
        The largest grade there is, for each document or for all.
    stop : {"exp", "linear"}

    Returns
    -------
    ndarray, shape (n,)
        In [0, 1] for grades up to `top`.

    Examples
    --------
    >>> grades, top = np.array([-1, 0, 1, 4]), np.array(4)
    >>> stop_probabilities(grades, top, "exp").tolist()
    [0.0, 0.0, 0.0625, 0.9375]
    >>> stop_probabilities(grades, top, "linear").tolist()
    [0.0, 0.0, 0.25, 1.0]
    """
    positive = np.maximum(grades, 0)
    values: Floats
    if stop == "linear":
        values = positive / top
    elif grades.dtype.kind == "f" or top.dtype.kind == "f":
        values = np.exp2(positive - top) - np.exp2(-np.float64(top))
    else:  # exact; exp2 need not be
        values = np.ldexp(1.0, (positive - top).astype(np.intc))
        values = values - np.ldexp(1.0, (-top).astype(np.intc))
    return values
