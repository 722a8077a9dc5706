"""Comparisons of runs without a config: from files, from results, or in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any

from ..core.arguments import TEXT, TEXTS, ArgumentKind, check_arguments, wrong
from ..core.entries import Entry, System, grouped_by
from ..core.evaluation import Evaluation
from ..core.leaderboard import Leaderboard, Summary
from ..core.metric import Metric
from ..core.names import check_comparable, parse, parse_all
from ..core.policy import Policy, RunDuplicates, ScoreOrder
from ..core.systems import check_distinct, system_name, systems_of
from ..errors import (
    InputError,
    Problem,
    UnknownNameError,
    check_known,
    first_of,
    warn,
)
from ..reports import comparisons as comparing
from ..reports.grid import Grid
from ..reports.notes import warned_of
from ..stats.comparison import (
    Comparisons,
    Correction,
    Family,
    IntervalMethod,
    Plan,
    check_baselines,
    too_many,
)
from .evaluate import check_usual, leaderboard_of_runs, settings_of_runs
from .results import Results, compared, run_named, with_comparisons

TAKES_EVALUATIONS = "give compare(qrels, {name: run}, metrics), or what harness.evaluate returned"
_RUNS = ArgumentKind(
    "a mapping of names to runs",
    lambda given: isinstance(given, Mapping) and all(isinstance(name, str) for name in given),
    "write {name: run}, with a name for each run",
)


def compare(
    qrels: Any,
    runs: Mapping[str, Any] | None = None,
    metrics: Iterable[str | Metric] = (),
    *,
    baseline: str | Sequence[str] | None = (),
    test: str | Callable[..., Any] = "paired-t",
    correction: Correction = "holm",
    family: Family | None = None,
    level: float = 0.05,
    interval: IntervalMethod = "t",
    draws: int = 10_000,
    seed: int = 0,
    policy: Policy | Mapping[str, Any] | None = None,
    relevance_level: float | None = None,
    convention: str | None = None,
    weights: Any = None,
    dataset: str = "",
    columns: Mapping[str, str | int | None] | None = None,
    qrels_columns: Mapping[str, str | int | None] | None = None,
    order: ScoreOrder = "descending",
    duplicates: RunDuplicates = "error",
    documents: str | Mapping[str, str] | None = None,
) -> Comparisons:
    """Test whether runs differ significantly, over the values of each query.

    Parameters
    ----------
    qrels : path, mapping, table or arrays
        Judgements; or, without `runs`, evaluations: ``{name: Evaluation}``, or a list of named
        ones.
    runs : mapping of str to run
        Runs by name, each in any form that `harness.evaluate` takes.
    metrics : iterable of str or Metric
        Metrics to test, required with `runs`. With evaluations, by default all their metrics with
        a mean and a better direction.
    baseline : str or sequence of str
        Runs to compare the others with; by default every pair of runs is compared. ``median`` and
        ``best`` are the median and the best value of all runs on each query.
    test : str or callable
        One of ``paired-t``, ``bootstrap``, ``bootstrap-t``, ``randomization``, ``sign`` and
        ``wilcoxon``; to compare all pairs ``friedman-nemenyi``, ``randomized-tukey`` or ``tukey``;
        or a function that `harness.paired_test` or `harness.all_pairs_test` registered.
    correction : {"holm", "bonferroni", "bh", "by", "none"}
        Correction for several comparisons; tests of all pairs have their own.
    family : {"table", "metric", "dataset"}, optional
        Comparisons that are corrected together: all, those of one metric on one dataset, or those
        of one dataset. By default ``table`` with a baseline, else ``metric``.
    level : float
        An adjusted p-value up to this is significant; intervals have confidence 1 - level.
    interval : {"t", "bca"}
    draws : int
        Number of random draws of a test or interval.
    seed : int
        Seed of the draws.
    weights : mapping of str to number, or path, optional
        As `harness.evaluate` takes it; needs a test that accepts weights, such as ``bootstrap``.
    dataset : str
        Name of the dataset in the table.
    policy, relevance_level, convention, columns, qrels_columns, documents : see `harness.evaluate`
    order : see `harness.evaluate`
    duplicates : see `harness.evaluate`

    Returns
    -------
    Comparisons
        ``rows`` has the differences with p-values, ``standings`` the ranks and tiers.
        ``to_pandas()`` and ``to_arrow()`` return the table.

    Raises
    ------
    InputError, AlignmentError, UnknownNameError
        If the input is wrong, evaluations have different queries, or a name does not exist.
    HarnessError
        If there is only one run.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(6)}
    >>> good = {qid: {"a": 2.0, "b": 1.0} for qid in qrels}
    >>> poor = {**good, **dict.fromkeys(["q3", "q4", "q5"], {"a": 1.0, "b": 2.0})}
    >>> comparisons = compare(qrels, {"poor": poor, "good": good}, ["recip_rank"], baseline="poor")
    >>> (row,) = comparisons.rows
    >>> row.difference, round(row.p, 3), row.wins, row.ties
    (0.25, 0.076, 3, 3)
    """
    check_arguments(locals(), runs=_RUNS.or_none(), dataset=TEXT)
    settings = settings_of_runs(locals())
    given = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    given = list(given) if isinstance(given, Iterable) else given
    named = tuple(map(str, parse_all(given)))
    check_metrics(named)
    baselines = (baseline,) if isinstance(baseline, str) else () if baseline is None else baseline
    check_arguments({"baseline": baselines}, baseline=TEXTS)
    only = named if runs is None else ()
    plan = Plan(
        tuple(baselines), _name_of(test), correction, family, level, interval, draws, seed, only
    )
    if runs is None:
        check_usual(settings, "evaluations", "give {} to harness.evaluate")
    elif weights is not None:
        check_plan(plan, [*runs], weighted=dataset or "qrels")
    numbered = qrels if runs is None else runs
    n_runs = len(numbered) if isinstance(numbered, Sized) else 0
    if text := too_many(plan, n_runs, 1, max(len(named), 1)):
        warn(text)
    if runs is None:
        board = Leaderboard(tuple(map(Entry, named_evaluations(qrels))))
    else:
        board = leaderboard_of_runs(qrels, runs, given, dataset=dataset, **settings)
    return compared(systems_of(board), plan)


def check_plan(plan: Plan, runs: Sequence[str], weighted: str = "") -> None:
    """Raise UnknownNameError if there is no such test or baseline; no run is read for it.

    `weighted` is the dataset if it has query weights, which the test has to take.
    """
    from ..stats import registry  # which loads SciPy

    registry.find(plan.test)
    registry.check_plan(plan)
    if weighted:
        registry.check_weighted(plan.test, weighted)
    check_baselines(plan.baselines, runs)


def _name_of(test: str | Callable[..., Any]) -> str:
    """Return the name of a test that is given as a registered function."""
    if not callable(test):
        return test
    from ..stats.registry import load_all  # which loads SciPy

    name = next((name for name, one in load_all().items() if one.function is test), None)
    if name is None:
        what = f"expected a registered test, got {getattr(test, '__name__', repr(test))}"
        fix = "put @harness.paired_test(NAME, title=...) above the function"
        raise UnknownNameError(Problem("test", what, fix=fix))
    return name


def named_evaluations(given: Any) -> list[Evaluation]:
    """Return evaluations under the keys of a mapping, or under their own names."""
    if not isinstance(given, (Mapping, list, tuple)):
        raise wrong("qrels", "evaluations, if runs are left out", given, TAKES_EVALUATIONS)
    found: dict[tuple[str, str], Evaluation] = {}
    for name, one in (
        given.items() if isinstance(given, Mapping) else ((None, one) for one in given)
    ):
        if not isinstance(one, Evaluation) or not isinstance(name, (str, type(None))):
            raise wrong("compare", "names and evaluations", (name, one), TAKES_EVALUATIONS)
        named = one if name is None else replace(one, run=name)
        if (named.dataset, named.run) in found:
            what = f"two evaluations of a run called '{named.run}'"
            raise InputError(Problem("compare", what, fix="give {name: evaluation}"))
        found[named.dataset, named.run] = named
    return [*found.values()]


def check_metrics(names: Iterable[str]) -> None:
    """Raise UnknownNameError if runs cannot be compared by a metric."""
    for name in names:
        found = parse(name)
        if len(found) == 1:
            check_comparable(found[0])


def from_results(results: Results, runs: Sequence[str], dataset: str | None) -> list[System]:
    """Return some runs of results, in the order of the datasets and of their names.

    HarnessError if a name does not exist, or `dataset` has none of the runs.
    """
    if dataset in {entry.dataset for entry in results.board.entries} - {*results.datasets}:
        part = replace(results.board, summary=Summary())  # one part, by itself
        results = replace(results, board=part)
    summary, runs = results.board.summary, [run_named(results, name) for name in runs]
    for name in runs:
        check_known("run", name, results.runs)
    if dataset is not None:
        check_known("dataset", dataset, results.datasets, "dataset")
    named = grouped_by(results.board.entries, lambda one: system_name(one, summary))
    entries = [entry for name in dict.fromkeys(runs) for entry in named[name]]
    found = systems_of(Leaderboard(tuple(entries), summary=summary))
    systems = [system for system in found if dataset in (None, system.dataset)]
    for entry in systems[0].entries if systems else ():
        check_distinct(systems[0].dataset, entry.parts, "name one part by --dataset")
    if not systems:
        has = [system.run for system in systems_of(results.board) if system.dataset == dataset]
        message = f"expected runs of dataset '{dataset}', got {first_of([*runs], 3)}"
        fix = f"leave --dataset out, or name some of {first_of(has)}"
        raise UnknownNameError(message, fix=fix)
    return sorted(systems, key=lambda system: results.datasets.index(system.dataset))


def of_config(
    results: Results, systems: Sequence[System], metrics: Sequence[str]
) -> Comparisons | None:
    """Return the config's comparisons of systems, corrected with all others of the config.

    None if the config does not compare each of them with another.
    """
    whole = with_comparisons(results).comparisons
    if whole is None:
        return None
    at = {(one.dataset, one.run) for one in systems}
    metrics = [*map(str, parse_all(metrics))]
    wanted = {*metrics}

    def rows(of: Iterable[Any], *names: str) -> tuple[Any, ...]:
        return tuple(
            one
            for one in of
            if all((one.dataset, getattr(one, name)) in at for name in names)
            and (not wanted or str(getattr(one, "metric", metrics[0])) in wanted)
        )

    found = replace(
        whole,
        rows=rows(whole.rows, "run", "baseline"),
        standings=rows(whole.standings, "run"),
        unanswered=rows(whole.unanswered, "run"),
        lost=rows(whole.lost, "run"),
    )
    runs = {name for row in found.rows for name in (row.run, row.baseline)}
    has_all = runs == {run for _, run in at} and wanted <= {str(row.metric) for row in found.rows}
    return found if has_all else None


def render(
    systems: Sequence[System], plan: Plan, format: str, all_pairs: bool,
    found: Comparisons | None = None, **options: Any,
) -> str:  # fmt: skip
    """Compare runs, and return the output of ``harness compare``; `found` has the comparisons.

    The first run is the baseline if the plan has none, but for `all_pairs`.
    """
    takes_first = not (found or all_pairs or plan.baselines)
    if takes_first:
        plan = replace(plan, baselines=(systems[0].run,))
    found = found or compared(systems, plan)
    if format in ("csv", "jsonl"):
        for note in warned_of(found.warned.items()):
            warn(note)
        return comparing.render(found, format)
    extra = [*comparing.unanswered(found)]
    if len({system.run for system in systems}) == 2:
        extra += comparing.largest(systems, found)
    else:
        hints = ["Name two runs alone to see the queries that differ most."]
        if takes_first:
            hint = "--baseline names another, --all-pairs tests every pair."
            hints.insert(0, f"{systems[0].run} is the baseline, as it comes first; {hint}")
        extra.append(Grid(notes=tuple(hints)))
    options |= {"standings": True, "everything": "-f csv", "extra": extra}
    return comparing.render(found, format, **options)
