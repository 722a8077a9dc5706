"""Lists with fewer documents than a cutoff asks for."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Floats, Ints
from ..errors import InputError, Problem

Short = Literal["cut", "nan", "zero", "error"]


def without_short_lists(
    aligned: Aligned, values: Floats, cutoff: int | Ints | None, short: Short
) -> Floats:
    """Return the values with those of short lists replaced.

    Parameters
    ----------
    aligned : Aligned
    values : ndarray, shape (n_queries,) or (n_queries, n_cutoffs)
    cutoff : int, ndarray of int64 (n_cutoffs,), or None
        k; without one no list is short.
    short : {"cut", "nan", "zero", "error"}
        What stands in the place of the value of a list with fewer than k retrieved documents,
        judged or not: itself, NaN, or 0.

    Raises
    ------
    InputError
        Where the list of an answered query is short and that is an error.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> aligned = align(Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": {"a": 1.0}}))
    >>> without_short_lists(aligned, np.ones(1), 2, "zero").tolist()
    [0.0]
    """
    if short == "cut" or cutoff is None:
        return values
    lengths = aligned.n_retrieved if values.ndim == 1 else aligned.n_retrieved[:, None]
    lacking = lengths < cutoff
    if short == "error":
        short_lists = (aligned.n_retrieved < np.max(cutoff)) & aligned.answered
        names = [aligned.qids[row].as_py() for row in np.flatnonzero(short_lists)[:5]]
        if names:
            raise InputError(
                Problem(
                    "",
                    f"{short_lists.sum()} of {aligned.n_queries} lists have fewer than "
                    f"{np.max(cutoff)} documents: {', '.join(names)}",
                    fix="take a smaller cutoff, or write short=cut, short=nan or short=zero",
                )
            )
    return np.where(lacking, np.nan if short == "nan" else 0.0, values)
