"""Systems made of plain values, without judgements or runs; the golden ones among them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from goldens import golden
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.core.entries import Entry, System
from harness.core.evaluation import Evaluation
from harness.core.names import parse_all
from harness.core.ragged import Floats
from harness.stats.differences import differences

Values = Sequence[float] | Sequence[Sequence[float]]


def system(
    run: str,
    values: Values,
    metrics: Sequence[str] = ("map",),
    dataset: str = "trec",
    qids: Sequence[str] = (),
) -> System:
    """A run with one value a query, or with a row of values for each metric."""
    return System.of([entry(run, values, metrics, dataset, qids)], run)


def entry(
    run: str,
    values: Values,
    metrics: Sequence[str] = ("map",),
    dataset: str = "trec",
    qids: Sequence[str] = (),
) -> Entry:
    table = np.atleast_2d(np.array(values, dtype=np.float64)).T
    names = pa.array(qids or [f"q{place}" for place in range(len(table))], pa.string())
    return Entry(Evaluation(table, names, parse_all(metrics), run=run, dataset=dataset))


def systems(found: Mapping[str, Values], **how: Sequence[str]) -> list[System]:
    return [system(run, values, **how) for run, values in found.items()]  # type: ignore[arg-type]


SAMPLES: dict[str, Any] = golden("significance")["samples"]
GOLDEN: dict[str, Any] = golden("significance")["multi_system"]["systems6x30"]
VALUES: Floats = np.array(GOLDEN["scores"])
EXPECTED: dict[str, Any] = GOLDEN["expected"]
GOLDEN_SYSTEMS = systems({f"s{place}": row for place, row in enumerate(VALUES)})
PAIRS = tuple(np.triu_indices(6, 1))


def sample(name: str) -> Floats:
    """Differences of a golden pair of runs."""
    return differences(np.array(SAMPLES[name]["b"]), np.array(SAMPLES[name]["a"]))


def of_pairs(found: dict[str, Any]) -> list[Any]:
    return [found[pair] for pair in EXPECTED["pairs"]]


@st.composite
def tables(draw: st.DrawFn, systems: int | None = None) -> Floats:
    """Values in tenths of two to five systems on two to eight queries: many ties."""
    n_systems = systems or draw(st.integers(2, 5))
    shape = (n_systems, draw(st.integers(2, 8)))
    return draw(arrays(np.int64, shape, elements=st.integers(0, 10))) / 10
