"""Comparisons of runs: the plan, the result of each pair, and the ranks of the runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pyarrow as pa
from annotated_types import Ge, Gt, Lt

from ..core import Printable
from ..core.arguments import Count, Names, Whole, check_settings
from ..core.entries import Chosen, Incomplete, best_of
from ..core.evaluation import ByMetric
from ..core.leaderboard import CHOSEN, WEIGHTED
from ..core.metric import Metric
from ..core.pandas_frame import data_frame
from ..core.systems import Unanswered
from ..errors import Problem, UnknownNameError, check_known, counted

if TYPE_CHECKING:
    import pandas

Value = str | int | float | bool | None
Row = dict[str, Value]


_NUMBERS = """n baseline_value run_value difference low high interval level d_z hedges_g
    cliffs_delta wins ties losses detectable statistic p p_adjusted"""


def comparison_rows(comparisons: Comparisons) -> Iterator[Row]:
    """Yield a row for each comparison, with everything that its p-value depends on.

    Columns that do not apply, such as `draws` of a test that draws nothing, are None.
    """
    plan = comparisons.plan
    for entry in comparisons.rows:
        overall = comparisons.overall_of(entry)
        family, size = comparisons.family(entry)
        is_drawn = comparisons.drawn and entry.may_be_drawn
        row: Row = {
            "dataset": entry.dataset,
            "metric": str(entry.metric),
            "baseline": entry.baseline,
            "run": entry.run,
            **{
                name: getattr(plan if name == "level" else entry, name) for name in _NUMBERS.split()
            },
            "significant": comparisons.is_significant(entry),
            "test": plan.test,
            "method": entry.method,
            "correction": "of the test" if comparisons.kind == "all-pairs" else plan.correction,
            "family": family,
            "family_size": size,
            "draws": plan.draws if is_drawn else None,
            "seed": plan.seed if is_drawn else None,
            "note": comparisons.remarks(entry),
            "overall_statistic": None if overall is None else overall.statistic,
            "overall_p": None if overall is None else overall.p,
            "critical_difference": None if overall is None else overall.critical_difference,
        }
        if comparisons.weighted:
            row[WEIGHTED] = comparisons.weighted.get(entry.dataset, "")
        yield row


def standing_rows(comparisons: Comparisons) -> list[Row]:
    """Return a row for each run by each metric on each dataset."""
    rows = []
    for standing in comparisons.standings:
        row: Row = vars(standing) | {"metric": str(standing.metric)}
        row |= {name: row[name] or None for name in ("rank", "rank_low", "rank_high")}
        if comparisons.chosen:
            choice = comparisons.chosen.get((standing.dataset, standing.run))
            row[CHOSEN] = "" if choice is None else best_of([choice])
        if comparisons.weighted:
            row[WEIGHTED] = comparisons.weighted.get(standing.dataset, "")
        rows.append(row)
    return rows


Correction = Literal["holm", "bonferroni", "bh", "by", "none"]
Family = Literal["table", "metric", "dataset"]
IntervalMethod = Literal["t", "bca"]
Level = Annotated[float, Gt(0), Lt(1)]
REFERENCE_RUNS: Mapping[str, str] = {
    "median": "the median of all systems on each query",
    "best": "the best value of any system on each query",
}
"""Names and texts of computed baselines; `harness.core.systems.reference` computes them."""


@dataclass(frozen=True)
class Plan:
    """Settings of the comparisons of runs."""

    baselines: Names = ()
    """Runs to compare the others with; by default every pair of runs is compared."""
    test: str = "paired-t"
    """Name of a test that ``harness compare --help`` lists, or of a plugin's."""
    correction: Correction = "holm"
    """Correction for several comparisons; tests of all pairs have their own."""
    family: Family | None = None
    """Comparisons that are corrected together: all, those of one metric on one dataset, or those of
    one dataset. By default all if there are baselines, else those of one metric. Each slice of
    queries is corrected separately."""
    level: Level = 0.05
    """An adjusted p-value up to this is significant."""
    interval: IntervalMethod = "t"
    """Method of the interval of a difference; always bca if queries have weights."""
    draws: Annotated[Whole, Ge(99)] = 10_000
    """Random draws of a test or interval; at least 99, as p of fewer cannot reach .01."""
    seed: Count = 0
    """Seed of the random draws."""
    metrics: Names = ()
    """Metrics to test; by default all means with a better direction."""

    @property
    def corrected(self) -> Family:
        """The family, with its default."""
        return self.family or ("table" if self.baselines else "metric")

    @property
    def rank_draws(self) -> int:
        """Resamples for the interval of a rank, a whole number that 1,000 of them settle."""
        return min(self.draws, 1000)

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def summary_draws(self) -> int:
        """Resamples for the interval of a summary: a quantile that more of them hardly move."""
        return min(self.draws, 2000)


def changed_plan(
    baselines: Sequence[str], test: str | None, correction: str | None
) -> dict[str, Any]:
    """Return the settings of a plan that are not None."""
    changes = {"baselines": baselines, "test": test, "correction": correction}
    return {key: value for key, value in changes.items() if value}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of one run with one baseline, by one metric on one dataset.

    Parameters
    ----------
    dataset, baseline, run : str
        Names of the dataset and of the two runs.
    metric : Metric
        The metric; ``str(metric)`` is its name.
    n : int
        Number of queries with a value of both runs; all other fields are over these.
    baseline_value, run_value : float
        Mean of each run; weighted if the queries have weights.
    difference : float
        Mean of run minus baseline.
    low, high : float
        Interval of the difference.
    interval : str
        Method of the interval: ``t``, ``bca`` or ``simultaneous``.
    p, p_adjusted : float
        Two-sided p-value, before and after the correction.
    method : str
        Method of the p-value, such as ``exact``, ``10000 draws`` or ``t(49)``.
    statistic : float
        Statistic of the test.
    note : str
        Reason if the p-value is NaN, such as ``identical`` or ``zero variance``.
    wins, ties, losses : int
        Number of queries on which the run is better, equal and worse.
    d_z, hedges_g : float
        Effect sizes in standard deviations of the differences; NaN if the queries have weights.
    cliffs_delta : float
        (wins - losses) / n.
    detectable : float
        Smallest difference that a paired t-test detects in 80% of experiments of this size; NaN
        if the queries have weights.
    drawn : bool
        Whether the p-value depends on random draws.
    group : str
        Slice of queries.
    """

    dataset: str
    metric: Metric
    baseline: str
    run: str
    n: int
    difference: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    d_z: float = math.nan
    hedges_g: float = math.nan
    cliffs_delta: float = math.nan
    wins: int = 0
    ties: int = 0
    losses: int = 0
    detectable: float = math.nan
    statistic: float = math.nan
    method: str = ""
    note: str = ""
    drawn: bool = False
    baseline_value: float = math.nan
    run_value: float = math.nan
    interval: str = "t"
    group: str = ""

    @property
    def may_be_drawn(self) -> bool:
        """Whether its interval or p may depend on random draws."""
        return self.drawn or self.interval == "bca"

    @property
    def is_better(self) -> bool:
        """Whether the run is better than the baseline."""
        return self.difference * self.metric.sign > 0


@dataclass(frozen=True)
class Standing:
    """Rank and tier of one run by one metric on one dataset.

    Parameters
    ----------
    dataset, run : str
        Names of the dataset and of the run.
    metric : Metric
        The metric; ``str(metric)`` is its name.
    value : float
        Summary over the `n` queries with a value.
    low, high : float
        Interval of the summary.
    rank, rank_low, rank_high : int
        Rank with its bootstrap interval; 1 is best, 0 means none.
    tier : str
        Tier, such as ``1``, ``2`` or ``1-2``. Runs of one tier do not differ significantly.
    n, n_ranked : int
        Number of queries of the value, and of the rank and tier: those with a value of every run.
    """

    dataset: str
    run: str
    metric: Metric
    n: int
    value: float
    low: float = math.nan
    high: float = math.nan
    rank: int = 0
    rank_low: int = 0
    rank_high: int = 0
    tier: str = ""
    n_ranked: int = 0


@dataclass(frozen=True)
class Overall:
    """Result of an omnibus test of all systems.

    Parameters
    ----------
    dataset : str
        Name of the dataset.
    metric : Metric
        The metric; ``str(metric)`` is its name.
    statistic, p : float
        Statistic and p-value of the test.
    name : str
        Name of the statistic, such as ``F(4, 164)``.
    critical_difference : float
        Two systems differ significantly if their positions differ by more than this.
    positions : tuple of (str, float)
        Mean, or mean rank, of each system.
    """

    dataset: str
    metric: Metric
    statistic: float
    p: float
    critical_difference: float
    positions: tuple[tuple[str, float], ...] = ()
    name: str = ""


def check_baselines(names: Iterable[str], runs: Collection[str]) -> None:
    """Raise UnknownNameError if a baseline is neither a run nor a reference, or may be both."""
    for name in names:
        if name not in REFERENCE_RUNS:
            check_known("run", name, runs, "baseline")
        elif name in runs:
            message = f"'{name}' is a run, and as a baseline it means {REFERENCE_RUNS[name]}"
            raise UnknownNameError(Problem("baseline", message, fix="give the run another name"))


MOST_TESTS, MOST_PAIRED = 50_000, 200
"""Limits of tests, and of runs in comparisons of all pairs, above which a warning appears."""


def too_many(plan: Plan, n_runs: int, n_datasets: int, n_metrics: int) -> str:
    """Return a warning of many tests with a fix; empty if there are few."""
    n_baselines = len(plan.baselines)
    pairs = n_runs * n_baselines if n_baselines else math.comb(n_runs, 2)
    tests = pairs * n_datasets * n_metrics
    if tests <= MOST_TESTS and (n_baselines or n_runs <= MOST_PAIRED):
        return ""
    what = f"{n_baselines} baselines" if n_baselines else "all pairs"
    fix = "list fewer metrics, as in 'compare: {metrics: [map]}'"
    if not n_baselines:
        fix = f"name a baseline, as in 'compare: {{baseline: median}}', or {fix}"
    return (
        f"compare: {what} of {n_runs:,} runs, {counted(n_metrics, 'metric')} and "
        f"{counted(n_datasets, 'dataset')} make {tests:,} tests\n"
        f"effect: they take long, and their correction hides small differences\nfix: {fix}"
    )


def family_of(dataset: str, metric: Metric, family: Family, group: str = "") -> str:
    """Return the name of the family in which a comparison is corrected; `group` is its slice."""
    if family == "table" and not group:
        return "table"
    return " on ".join(filter(None, (str(metric), dataset))) if family == "metric" else dataset


@dataclass(kw_only=True, frozen=True, eq=False, repr=False)
class Comparisons(Printable):
    """Results of comparing runs: differences with p-values, ranks and tiers.

    Parameters
    ----------
    rows : tuple of Comparison
        Pairs of runs with their difference and p-value, in the order of the leaderboard.
    standings : tuple of Standing
        Ranks and tiers of the runs, in the order of the leaderboard.
    overall : tuple of Overall
        Results of omnibus tests, such as Friedman's.
    family_sizes : tuple of (str, int)
        Name of each family, and its number of comparisons.
    title : str
        Name of the test in a methods section.
    sources : tuple of str
        Keys of the literature to cite for the test.
    kind : {"paired", "all-pairs"}
        A test of all pairs corrects p-values over all pairs of a metric on a dataset;
        `correction` and `family` are then not used.
    drawn : bool
        Whether a comparison depends on `seed` and `draws`.
    unanswered : tuple of Unanswered
        Runs that leave queries unanswered; `n` is their number.
    lost : tuple of Incomplete
        Systems with fewer repetitions than expected.
    absent : tuple of (str, tuple of str)
        Baselines that miss datasets, and these datasets.
    failed : tuple of (str, str)
        Dataset and name of each run that could not be evaluated.
    chosen : mapping of (str, str) to Chosen
        Dataset and name of each run that is the best of several, and its choice.
    warned : mapping of str to tuple of str
        Runs with warnings of the guard, and the rules.
    weighted : mapping of str to str
        Datasets with query weights, and the names of the weights.
    averaged : tuple of str
        Columns (such as fold) over which tables average with equal weights; tests pool the
        queries instead.
    """

    plan: Plan
    rows: tuple[Comparison, ...]
    standings: tuple[Standing, ...] = ()
    family_sizes: tuple[tuple[str, int], ...] = ()
    overall: tuple[Overall, ...] = ()
    title: str = ""
    sources: tuple[str, ...] = ()
    kind: Literal["paired", "all-pairs"] = "paired"
    drawn: bool = False
    unanswered: tuple[Unanswered, ...] = ()
    absent: tuple[tuple[str, tuple[str, ...]], ...] = ()
    lost: tuple[Incomplete, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    chosen: Mapping[tuple[str, str], Chosen] = field(default_factory=dict)
    warned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weighted: Mapping[str, str] = field(default_factory=dict)
    averaged: tuple[str, ...] = ()

    @cached_property
    def _at(self) -> dict[tuple[str, ...], Any]:
        """Comparisons, standings and overall results by their names."""
        entries: dict[tuple[str, ...], Any] = {
            (row.dataset, str(row.metric), row.baseline, row.run): row for row in self.rows
        }
        entries |= {(row.dataset, str(row.metric), row.run): row for row in self.standings}
        return entries | {(row.dataset, str(row.metric)): row for row in self.overall}

    @cached_property
    def _unanswered_at(self) -> dict[tuple[str, str], Unanswered]:
        return {(entry.dataset, entry.run): entry for entry in self.unanswered}

    @cached_property
    def _metrics(self) -> ByMetric[str]:
        """Canonical names of the metrics compared, by any spelling."""
        metrics = [row.metric for row in self.rows] + [row.metric for row in self.standings]
        return ByMetric((name, name) for name in map(str, metrics))

    def get(self, dataset: str, metric: str, baseline: str, run: str) -> Comparison | None:
        """Return the comparison of two runs; None if they were not compared in this direction."""
        return self._at.get((dataset, self._metrics.get(metric, metric), baseline, run))

    def standing(self, dataset: str, metric: str, run: str) -> Standing | None:
        """Return the rank and tier of a run; None if it was not compared."""
        return self._at.get((dataset, self._metrics.get(metric, metric), run))

    def overall_of(self, one: Comparison) -> Overall | None:
        """Return the omnibus test of a comparison's dataset and metric; None without one."""
        return self._at.get((one.dataset, str(one.metric)))

    def remarks(self, one: Comparison) -> str:
        """Return remarks on a comparison: its note, unanswered queries, runs chosen as the best."""
        where = [(one.dataset, run) for run in (one.baseline, one.run)]
        unanswered = [str(entry) for key in where if (entry := self._unanswered_at.get(key))]
        chosen = [f"{key[1]}: {best_of([self.chosen[key]])}" for key in where if key in self.chosen]
        return "; ".join(filter(None, (one.note, *unanswered, *chosen)))

    def family(self, one: Comparison) -> tuple[str, int]:
        """Return the name of a comparison's family, and the number of its p-values."""
        kind = "metric" if self.kind == "all-pairs" else self.plan.corrected
        name = family_of(one.dataset, one.metric, kind, one.group)
        return name, dict(self.family_sizes)[name]

    def is_significant(self, one: Comparison) -> bool:
        """Whether the adjusted p-value of one of the `rows` is at most `level`."""
        return one.p_adjusted <= self.plan.level

    def to_arrow(self) -> pa.Table:
        """Return a table with a row for each comparison, as in ``significance.csv``."""
        return pa.Table.from_pylist(list(comparison_rows(self)))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row for each comparison (needs pandas)."""
        return data_frame(list(comparison_rows(self)))

    def to_flat_dict(self) -> dict[str, float]:
        """Return ``{"dataset/run against baseline/metric/name": value}``, for a tracker.

        ``name`` is ``difference`` or ``p_adjusted``; the dataset is left out if it has no name.
        """
        return {
            "/".join(filter(None, (row.dataset, pair, str(row.metric), name))): getattr(row, name)
            for row in self.rows
            for pair in (f"{row.run} against {row.baseline}",)
            for name in ("difference", "p_adjusted")
        }

    def __repr__(self) -> str:
        return f"<Comparisons: {len(self.rows)} by {self.plan.test}, level {self.plan.level:g}>"

    def of(self, dataset: str, metric: str) -> Iterable[Comparison]:
        """Yield the comparisons by one metric on one dataset."""
        name = self._metrics.get(metric, metric)
        for row in self.rows:
            if row.dataset == dataset and str(row.metric) == name:
                yield row


UNCOMPARED = Comparisons(plan=Plan(), rows=())
"""No comparisons."""


def between(
    comparisons: Comparisons, dataset: str, metric: str, baseline: str, run: str
) -> tuple[Comparison | None, int]:
    """Return the comparison of two runs, and a sign: -1 if `run` is its baseline, else 1."""
    row = comparisons.get(dataset, metric, baseline, run)
    return (row, 1) if row else (comparisons.get(dataset, metric, run, baseline), -1)
