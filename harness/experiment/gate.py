"""A gate: candidates against a baseline, from run files, two results folders, or a config."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..core.comparison import Correction
from ..core.metric import Metric
from ..core.names import parse
from ..core.systems import System, compared, why_not
from ..errors import HarnessError, InputError, Problem, UnknownNameError, did_you_mean, first_of
from ..stats.gate import OTHERS, Margin, Pair, Rule, Verdict, judge
from . import folder as results_folder
from .outcome import Results


def gate_folders(
    old: Path, new: Path, rules: Mapping[str, Rule], *, level: float = 0.05,
    correction: Correction = "holm", names: Mapping[str, str] | None = None,
) -> tuple[Verdict, ...]:  # fmt: skip
    """Judge the runs of a results folder against those of the same name in an older one."""
    before, after = results_folder.read(old), results_folder.read(new)
    _check_alike(before, after, rules)
    found = list(_same_runs(before, after, names or {}))
    if not found:
        what = f"no run of {new} has the name and dataset of one in {old}"
        raise InputError(Problem("gate", what, fix="rename with --name OLD=NEW"))
    return gate_systems(found, rules, level=level, correction=correction)


def gate_baseline(
    systems: Sequence[System], baseline: str, rules: Mapping[str, Rule], *, level: float = 0.05,
    correction: Correction = "holm",
) -> tuple[Verdict, ...]:  # fmt: skip
    """Judge every other run against the baseline, on each dataset."""
    runs = list(dict.fromkeys(one.run for one in systems))
    if baseline not in runs:
        near = did_you_mean(baseline, runs)
        raise UnknownNameError(f"no run '{baseline}' to be the baseline{near}")
    before = {one.dataset: one for one in systems if one.run == baseline}
    found = [
        (before[one.dataset], one)
        for one in systems
        if one.run != baseline and one.dataset in before
    ]
    if not found:
        what = f"expected a run besides the baseline '{baseline}'"
        raise InputError(Problem("gate", what, fix="add the candidate's run"))
    return gate_systems(found, rules, level=level, correction=correction)


def gate_systems(
    pairs: Iterable[tuple[System, System]], rules: Mapping[str, Rule], *, level: float,
    correction: Correction,
) -> tuple[Verdict, ...]:  # fmt: skip
    """Judge pairs of baseline and candidate by the rules of their metrics."""
    found = [
        (_pair(before, after, metric), margin)
        for before, after in pairs
        for metric, margin in _gated(before, after, rules)
    ]
    # a small slice may have no query for which a metric is defined
    found = [
        (one, margin)
        for one, margin in found
        if not one.group or not np.isnan(one.baseline + one.candidate).all()
    ]
    return judge(found, level, correction)


def _check_alike(before: Results, after: Results, rules: Mapping[str, Rule]) -> None:
    """Raise InputError if two folders of results have other conventions or metrics."""
    conventions = [one.config.convention or "none" for one in (before, after)]
    if conventions[0] != conventions[1]:
        got = " and ".join(conventions)
        what = f"baseline and candidate have different conventions: {got}"
        raise InputError(Problem("gate", what, fix="evaluate both with one convention"))
    old, new = ([str(one) for one in side.board.metrics] for side in (before, after))
    for side, own, other in (("baseline", old, new), ("candidate", new, old)):
        lacking = [name for name in own if name not in other]
        if OTHERS in rules and lacking:
            what = "baseline and candidate have different metrics: "
            what += f"only the {side} has {', '.join(lacking[:3])}"
            fix = "evaluate both by the same metrics, or name those to gate: --margin map=0.01"
            raise InputError(Problem("gate", what, fix=fix))


def _same_runs(
    before: Results, after: Results, names: Mapping[str, str]
) -> Iterator[tuple[System, System]]:
    for one in before.systems:
        name, dataset = names.get(one.run, one.run), names.get(one.dataset, one.dataset)
        other = after.system(dataset, name)
        if other is not None:
            yield one, other


def _gated(
    before: System, after: System, rules: Mapping[str, Rule]
) -> Iterator[tuple[Metric, Margin]]:
    """Yield the metrics that have a rule, with their margins."""
    known = {str(metric): metric for metric in before.metrics}
    both = {str(metric) for metric in after.metrics}
    named: dict[str, Rule] = {}
    for name, rule in rules.items():
        if name == OTHERS:
            continue
        for metric in compared(before.metrics, [str(one) for one in parse(name)]):
            if str(metric) not in both:
                near = did_you_mean(str(metric), both)
                raise UnknownNameError(f"the candidate has no metric '{metric}'{near}")
            named[str(metric)] = rule
    for name, metric in known.items():
        rule_of = named.get(name) or (rules.get(OTHERS) if name in both else None)
        if rule_of is not None and not why_not(metric):
            yield metric, rule_of.allowed


def _pair(before: System, after: System, metric: Metric) -> Pair:
    """Return the values of both on the queries, paired by qid."""
    old, new = (one.entries[0].evaluation.policy for one in (before, after))
    where = f"{after.run} on {after.dataset}"
    if old != new:
        what = f"expected one policy for baseline and candidate, got {old} and {new}"
        raise InputError(Problem(where, what, fix="evaluate both with the same policy"))
    place = {qid: at for at, qid in enumerate(after.qids)}
    if unpaired := sorted(place.keys() ^ {*before.qids}):
        what = f"baseline and candidate have different queries: {first_of(unpaired, 3)}"
        raise InputError(Problem(where, what, fix="evaluate both on one dataset"))
    order = np.array([place[qid] for qid in before.qids], dtype=np.int64)
    return Pair(
        after.whole, after.group, after.run, metric, before.qids, before.values(metric),
        after.values(metric)[order],
    )  # fmt: skip


def rules_of(margins: Sequence[str], metrics: Sequence[str]) -> dict[str, Rule]:
    """Return the rules that ``0.005`` and ``recall@100=1%`` describe.

    >>> rules_of(["0.01", "map=1%"], ["map", "ndcg@10"])["ndcg@10"].margin
    '0.01'
    """
    if not margins:
        what = "expected a margin"
        raise HarnessError(Problem("gate", what, fix="add --margin 0.005, or --margin ndcg@10=1%"))
    rules: dict[str, Rule] = {}
    for one in margins:
        name, equals, size = one.rpartition("=")
        if not equals or "(" in size:
            name, size = OTHERS, one
        rules[name] = Rule(margin=size)
    if metrics and OTHERS in rules:
        rest = rules.pop(OTHERS)
        rules = {**dict.fromkeys(metrics, rest), **rules}
    return rules
