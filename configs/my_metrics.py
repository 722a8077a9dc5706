"""A plugin with one metric; plugin.yaml lists this file."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from harness.core.aligned import Aligned
from harness.core.metric import metric
from harness.core.ragged import Floats
from harness.core.settings import Range


@metric("best_grade", direction="higher", bounds=(0, np.inf), source="this file", unit="grades")
def best_grade(aligned: Aligned, *, cutoff: Annotated[int, Range(1, None)]) -> Floats:
    """Best grade among the first k documents; 0 if none of them is judged.

    best_grade@k = max(0, grades at ranks 1..k)
    """
    # One entry per judged and retrieved document: its query (row), rank and grade.
    values = np.zeros(aligned.n_queries)
    first = aligned.rank <= cutoff
    np.maximum.at(values, aligned.row[first], aligned.grade[first])
    return values
