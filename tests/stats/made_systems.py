"""Systems made of plain values, without judgements or runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from harness.core.evaluation import Evaluation
from harness.core.leaderboard import Entry
from harness.core.names import parse_all
from harness.core.systems import System

Values = Sequence[float] | Sequence[Sequence[float]]


def system(
    run: str,
    values: Values,
    metrics: Sequence[str] = ("map",),
    dataset: str = "trec",
    qids: Sequence[str] = (),
) -> System:
    """A run with one value a query, or with a row of values for each metric."""
    return System(dataset, run, (entry(run, values, metrics, dataset, qids),))


def entry(
    run: str,
    values: Values,
    metrics: Sequence[str] = ("map",),
    dataset: str = "trec",
    qids: Sequence[str] = (),
) -> Entry:
    """One evaluation of :func:`system`: one of its seeds."""
    table = np.atleast_2d(np.array(values, dtype=np.float64)).T
    names = pa.array(qids or [f"q{place}" for place in range(len(table))], pa.string())
    return Entry(Evaluation(table, names, parse_all(metrics), run=run, dataset=dataset))


def systems(found: Mapping[str, Values], **how: Sequence[str]) -> list[System]:
    """Several runs on one dataset."""
    return [system(run, values, **how) for run, values in found.items()]  # type: ignore[arg-type]
