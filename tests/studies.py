"""Studies made by hand: values of a few queries, and comparisons with known outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from harness.core.entries import Entry
from harness.core.evaluation import Counts, Evaluation
from harness.core.leaderboard import Leaderboard
from harness.core.names import parse_all
from harness.reports.leaderboard import Study
from harness.stats.comparison import Comparison, Comparisons, Plan

Values = Mapping[str, Mapping[str, Sequence[Sequence[float]]]]
TRACE = "ab12" * 16


@dataclass(frozen=True, eq=False)
class MadeStudy(Study):
    """A study with a config's name, a version, and the values that pytrec_eval recomputed."""

    name: str = "paper"
    version: str | None = None
    recomputed: tuple[int, float] = (0, 0.0)

    @property
    def versions(self) -> Mapping[str, str | None]:
        return {"harness": self.version}


def study(
    values: Values,
    metrics: Sequence[str] = ("map",),
    comparisons: Comparisons | None = None,
    missing: Mapping[tuple[str, str], int] | None = None,
    qids: Mapping[str, Sequence[str]] | None = None,
) -> Study:
    """Study of ``{dataset: {run: [[value of each metric] for each query]}}``.

    A run whose name ends in ``::1``, ``::2`` is a repetition of the run before the colons.
    """
    parsed = parse_all(metrics, {})
    entries = []
    for dataset, runs in values.items():
        for key, rows in runs.items():
            run, _, seed = key.partition("::")
            array = np.array(rows, dtype=float).reshape(len(rows), len(parsed))
            counts = Counts(queries=len(rows), missing=(missing or {}).get((dataset, run), 0))
            names = (qids or {}).get(run, [f"q{place}" for place in range(len(rows))])
            evaluation = Evaluation(
                array, pa.array(names, pa.string()), parsed, counts=counts, run=run, dataset=dataset
            )
            entries.append(Entry(evaluation, {"seed": seed} if seed else {}))
    return MadeStudy(Leaderboard(tuple(entries)), comparisons, TRACE)


def constant(values: Mapping[str, Mapping[str, Sequence[float]]], queries: int = 2) -> Values:
    """Values of runs that have the same for every query."""
    return {
        dataset: {run: [list(each)] * queries for run, each in runs.items()}
        for dataset, runs in values.items()
    }


def compared(
    outcomes: Mapping[tuple[str, str, str, str], tuple[float, float]],
    baselines: tuple[str, ...] = (),
    **plan: object,
) -> Comparisons:
    """Comparisons of ``{(dataset, metric, baseline, run): (difference, adjusted p)}``."""
    rows = []
    for (dataset, metric, baseline, run), (difference, p) in outcomes.items():
        (parsed,) = parse_all([metric], {})
        rows.append(Comparison(dataset, parsed, baseline, run, 2, difference, p=p, p_adjusted=p))
    return Comparisons(
        plan=Plan(baselines=baselines, **{"family": "table", **plan}),  # type: ignore[arg-type]
        rows=tuple(rows),
        family_sizes=(("table", len(rows)),),
        title="paired two-sided t-test",
    )
