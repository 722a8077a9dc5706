"""What stands in the lines for all queries."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..core.ragged import Array
from ..metrics.trec_average import SMALLEST
from .requests import Request


@dataclass(frozen=True)
class Totals:
    """What summaries take from elsewhere than the values.

    ``queries`` is the number of queries they are over, ``evaluated`` how many of them have
    values; ``relevant``, where it is given, takes the place of the sum of ``num_rel``.
    """

    queries: int
    evaluated: int
    relevant: int | None = None
    run_id: str = ""


def summary(request: Request, column: Array, totals: Totals) -> float | str:
    """Return the summary of one line's values, which are added in the order of the queries."""
    how = request.measure.summary
    if how == "runid":
        return totals.run_id
    if how == "queries":
        return totals.queries
    if how == "relevant" and totals.relevant is not None:
        return totals.relevant
    total = float(np.cumsum(np.append(0.0, column))[-1])
    if how == "gm":
        total += (totals.queries - totals.evaluated) * math.log(SMALLEST)
        return math.exp(total / totals.queries)
    return total / totals.queries if how == "mean" else total
