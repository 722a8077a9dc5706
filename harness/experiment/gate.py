"""A gate: candidates against a baseline, from run files, two results folders, or a config."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..core.entries import System, grouped_by, sliced_name
from ..core.metric import Metric
from ..core.names import compared, parse, why_not
from ..core.policy import Policy, RunDuplicates, ScoreOrder
from ..core.qrels_and_runs import Ranked
from ..core.systems import systems_of
from ..errors import (
    HarnessError,
    InputError,
    Problem,
    UnknownNameError,
    counted,
    did_you_mean,
    first_of,
    fix_of_name,
    warn,
)
from ..input_files import name_of
from ..reports.gate import render
from ..reports.notes import warned_of
from ..reports.text import Shown
from ..stats.comparison import Correction
from ..stats.gate import OTHERS, Margin, MarginRule, Pair, Verdict, judge
from ..stats.paired_values import same_weights
from .evaluate import leaderboard_of_runs, settings_of_runs
from .results import Results, read_results


class Verdicts(tuple[Verdict, ...], Shown):
    """Verdicts of a gate, a tuple of `Verdict`; ``passed`` is true if all of them are "pass"."""

    @property
    def passed(self) -> bool:
        """Whether every verdict is "pass"."""
        return all(one.outcome == "pass" for one in self)

    def __str__(self) -> str:
        return render(self, "text").rstrip("\n")


def gate(
    qrels: Ranked, runs: Mapping[str, Ranked], metrics: Iterable[str | Metric], *, baseline: str,
    margin: str | float | Mapping[str, str | float], level: float = 0.05,
    correction: Correction = "holm", policy: Policy | Mapping[str, Any] | None = None,
    relevance_level: float | None = None, convention: str | None = None, weights: Any = None,
    dataset: str = "",
    columns: Mapping[str, str | int | None] | None = None,
    qrels_columns: Mapping[str, str | int | None] | None = None, order: ScoreOrder = "descending",
    duplicates: RunDuplicates = "error",
    documents: str | Mapping[str, str] | None = None,
) -> Verdicts:  # fmt: skip
    """Test whether runs are worse than a baseline by more than a margin, as ``harness gate``.

    Parameters
    ----------
    qrels : path, mapping, table or arrays
        Judgements, in any form that `harness.evaluate` takes.
    runs : mapping of str to run
        The baseline and its candidates by name, each in any form that `harness.evaluate` takes.
    metrics : iterable of str or Metric
    baseline : str
        Name of the run that the others must not fall below.
    margin : str, float or mapping
        Tolerated drop: 0.005, ``"1%"`` of the baseline's value, or a mapping by metric.
    level : float
        Significance level of the tests; intervals have confidence 1 - level.
    correction : {"holm", "bonferroni", "bh", "by", "none"}
    dataset : str
        Name of the dataset in the verdicts.
    policy, relevance_level, convention, weights : see `harness.evaluate`
    columns, qrels_columns, documents : see `harness.evaluate`
    order : see `harness.evaluate`
    duplicates : see `harness.evaluate`

    Returns
    -------
    Verdicts
        A `Verdict` for each metric and candidate; ``passed`` is true if every outcome is "pass".

    Raises
    ------
    InputError, AlignmentError, UnknownNameError
        If the input is wrong, or a name does not exist.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
    >>> main = {qid: {"a": 2.0, "b": 1.0} for qid in qrels}
    >>> found = gate(qrels, {"main": main, "new": main}, ["map"], baseline="main", margin=0.01)
    >>> found.passed, found[0].outcome
    (True, 'pass')
    """
    settings = settings_of_runs(locals())
    margins = margin if isinstance(margin, Mapping) else {OTHERS: margin}
    rules = {name: MarginRule(margin=str(size)) for name, size in margins.items()}
    board = leaderboard_of_runs(qrels, runs, metrics, dataset=dataset, **settings)
    return Verdicts(
        gate_baseline(systems_of(board), baseline, rules, level=level, correction=correction)
    )


def gate_folders(
    old: Path,
    new: Path,
    rules: Mapping[str, MarginRule],
    *,
    level: float = 0.05,
    correction: Correction = "holm",
    names: Mapping[str, str] | None = None,
) -> tuple[Verdict, ...]:
    """Judge the runs of a results folder against those of the same name in an older one."""
    before, after = read_results(old), read_results(new)
    check_complete(before)
    check_complete(after)
    _check_alike(before, after, rules)
    renamed = names or {}
    known = [name for one in before.systems for name in (one.run, one.whole)]
    for name in renamed:
        if name not in known:
            what, fix = "the baseline has no such run or dataset", fix_of_name(name, known)
            raise UnknownNameError(Problem(f"--name {name}", what, fix=fix))
    runs = {one.run for one in after.systems}
    wanted, gone = list[tuple[System, str, str]](), dict[str, None]()
    for one in before.systems:
        run = renamed.get(one.run, one.run)
        if run in runs:
            dataset = renamed.get(one.whole, one.whole)
            wanted.append((one, sliced_name(dataset, one.group) if one.group else dataset, run))
        else:
            gone[one.run] = None
    if not wanted:
        what = f"no run of {new} has the name of one in {old}"
        raise InputError(Problem("gate", what, fix="rename with --name OLD=NEW"))
    found = _matched(wanted, after.systems)
    if gone:
        what = f"gate: not gated, because only the baseline has it: {first_of([*gone], 3)}"
        warn(f"{what}\n  fix:   rename with --name OLD=NEW")
    for dataset, (pair, *_) in grouped_by(found, lambda pair: pair[1].dataset).items():
        old_queries, old_judgements = counts_of_qrels(pair[0])
        queries, judgements = counts_of_qrels(pair[1])
        if queries == old_queries and judgements != old_judgements:
            numbers = f"{old_judgements:,} and {judgements:,} judgements"
            what = f"gate: the qrels of {dataset} changed ({numbers})"
            effect = "  effect: values can differ although the ranking is the same"
            warn(f"{what}\n{effect}\n  fix:    evaluate both rankings with the same qrels")
    for note in warned_of((one.run, one.warned) for pair in found for one in pair):
        warn(f"gate: {note}")
    return gate_systems(found, rules, level=level, correction=correction)


def counts_of_qrels(system: System) -> tuple[int, int]:
    """Numbers of queries and of judgements of a system's datasets."""
    counts = [entry.evaluation.counts for entry in system.entries]
    return sum(one.queries for one in counts), sum(one.judgements for one in counts)


def check_complete(results: Results) -> None:
    """Raise InputError if a run could not be evaluated."""
    failed = results.leaderboard.failed
    for one in failed[:1]:
        why = (one.brief or one.error).partition("\n")[0]
        what = f"expected complete results, got {counted(len(failed), 'error')}: {one.run} on "
        fix = "correct the files, and run its config again"
        raise InputError(Problem(name_of(results.folder), f"{what}{one.dataset}: {why}", fix=fix))


def gate_baseline(
    systems: Sequence[System],
    baseline: str,
    rules: Mapping[str, MarginRule],
    *,
    level: float = 0.05,
    correction: Correction = "holm",
) -> tuple[Verdict, ...]:
    """Judge every other run against the baseline, on each dataset."""
    runs = list(dict.fromkeys(one.run for one in systems))
    if baseline not in runs:
        fix = fix_of_name(baseline, runs)
        raise UnknownNameError(Problem("baseline", f"no run '{baseline}'", fix=fix))
    if len(runs) < 2:
        what = f"expected a run other than the baseline '{baseline}'"
        raise InputError(Problem("gate", what, fix="add the candidate's run"))
    before = [one for one in systems if one.run == baseline]
    wanted = [(one, one.dataset, run) for run in runs if run != baseline for one in before]
    return gate_systems(_matched(wanted, systems), rules, level=level, correction=correction)


def _matched(
    wanted: Iterable[tuple[System, str, str]], systems: Iterable[System]
) -> list[tuple[System, System]]:
    """Return systems of the baseline, each with the candidate of a dataset and run."""
    known = {(one.dataset, one.run): one for one in systems}
    found, lost = list[tuple[System, System]](), list[str]()
    for before, dataset, run in wanted:
        if (after := known.get((dataset, run))) is not None:
            found.append((before, after))
        else:
            lost.append(f"{run} on {dataset}")
    if lost:
        what = f"the candidate has no values where the baseline has: {first_of(lost, 3)}"
        raise InputError(Problem("gate", what, fix="evaluate both on the same datasets and groups"))
    return found


def gate_systems(
    pairs: Iterable[tuple[System, System]],
    rules: Mapping[str, MarginRule],
    *,
    level: float,
    correction: Correction,
) -> tuple[Verdict, ...]:
    """Judge pairs of baseline and candidate by the rules of their metrics."""
    found = [
        (pair_of(before, after, metric), margin)
        for before, after in pairs
        for metric, margin in _gated(before, after, rules)
    ]
    # a small slice may have no query for which a metric is defined
    found = [
        (one, margin)
        for one, margin in found
        if not one.group or not np.isnan(one.baseline + one.candidate).all()
    ]
    if not found:
        what, fix = "no metric that can be compared has a margin", "evaluate by a mean, such as map"
        raise InputError(Problem("gate", what, fix=fix))
    return judge(found, level, correction)


def _check_alike(before: Results, after: Results, rules: Mapping[str, MarginRule]) -> None:
    """Raise InputError if two folders of results have other conventions or metrics."""
    conventions = [one.config.convention or "none" for one in (before, after)]
    if conventions[0] != conventions[1]:
        got = " and ".join(conventions)
        what = f"baseline and candidate have different conventions: {got}"
        raise InputError(Problem("gate", what, fix="evaluate both with one convention"))
    old, new = ([str(one) for one in side.board.metrics] for side in (before, after))
    for side, own, other in (("baseline", old, new), ("candidate", new, old)):
        missing = [name for name in own if name not in other]
        if OTHERS in rules and missing:
            what = "baseline and candidate have different metrics: "
            what += f"only the {side} has {', '.join(missing[:3])}"
            fix = "evaluate both by the same metrics, or name those to gate: --margin map=0.01"
            raise InputError(Problem("gate", what, fix=fix))


def _gated(
    before: System, after: System, rules: Mapping[str, MarginRule]
) -> Iterator[tuple[Metric, Margin]]:
    """Yield the metrics that have a rule, with their margins."""
    known = {str(metric): metric for metric in before.metrics}
    both = {str(metric) for metric in after.metrics}
    named: dict[str, MarginRule] = {}
    for name, rule in rules.items():
        if name == OTHERS:
            continue
        for metric in compared(before.metrics, [str(one) for one in parse(name)]):
            if str(metric) not in both:
                near = did_you_mean(str(metric), both)
                what = f"the candidate has no metric '{metric}'{near}"
                raise UnknownNameError(Problem("gate", what, fix="evaluate both by this metric"))
            named[str(metric)] = rule
    for name, metric in known.items():
        rule_of = named.get(name) or (rules.get(OTHERS) if name in both else None)
        if rule_of is not None and not why_not(metric):
            allowed = rule_of.allowed
            low, high = metric.definition.bounds
            if not allowed.relative and allowed.size >= high - low:
                what = f"margin of {metric}: expected less than {high - low:g}, got "
                what += f"{allowed.size:g}, which no drop can exceed"
                fix = f"write {allowed.size:g}% for a share of the baseline's value"
                raise InputError(Problem("gate", what, fix=fix))
            yield metric, allowed


def pair_of(before: System, after: System, metric: Metric) -> Pair:
    """Return the values of both by qid; InputError if other queries, weights or policies."""
    old, new = (one.entries[0].evaluation.policy for one in (before, after))
    where = f"{after.run} on {after.dataset}"
    if old != new:
        each = ((one.name, getattr(old, one.name), getattr(new, one.name)) for one in fields(old))
        apart = ", ".join(f"{name} {a} and {b}" for name, a, b in each if a != b)
        what = f"expected one policy for baseline and candidate, got {apart}"
        raise InputError(Problem(where, what, fix="evaluate both with the same policy"))
    place = {qid: at for at, qid in enumerate(after.qids)}
    if unpaired := sorted(place.keys() ^ {*before.qids}):
        what = f"baseline and candidate have different queries: {first_of(unpaired, 3)}"
        raise InputError(Problem(where, what, fix="evaluate both on one dataset"))
    order = np.array([place[qid] for qid in before.qids], dtype=np.int64)
    weights, of_after = before.weights(metric), after.weights(metric)
    if not same_weights(weights, None if of_after is None else of_after[order]):
        what = "baseline and candidate have different query weights"
        raise InputError(Problem(where, what, fix="evaluate both with the same weights"))
    values = before.values(metric), after.values(metric)[order]
    unanswered, by = (_unanswered(before), _unanswered(after)), before.evaluation.weighted_by
    names = after.whole, after.group, after.run
    return Pair(*names, metric, before.qids, *values, unanswered, weights, by)


def _unanswered(system: System) -> int:
    answered, n = system.coverage
    return n - answered


def rules_of(margins: Sequence[str], metrics: Sequence[str]) -> dict[str, MarginRule]:
    """Return the rules that ``0.005`` and ``recall@100=1%`` describe.

    >>> rules_of(["0.01", "map=1%"], ["map", "ndcg@10"])["ndcg@10"].margin
    '0.01'
    """
    if not margins:
        what = "expected a margin"
        raise HarnessError(Problem("gate", what, fix="add --margin 0.005, or --margin ndcg@10=1%"))
    rules: dict[str, MarginRule] = {}
    for one in margins:
        name, equals, size = one.rpartition("=")
        if not equals or "(" in size:
            name, size = OTHERS, one
        rules[name] = MarginRule(margin=size)
    if metrics and OTHERS in rules:
        rest = rules.pop(OTHERS)
        rules = {**dict.fromkeys(metrics, rest), **rules}
    ruled = {str(metric) for name in rules if name != OTHERS for metric in parse(name)}
    for metric in [one for name in metrics for one in parse(name) if str(one) not in ruled]:
        fix = f"add --margin {metric}=0.005, or --margin 0.005 for all"
        raise HarnessError(Problem("gate", f"no margin for {metric}", fix=fix))
    return rules
