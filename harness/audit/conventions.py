"""Cells -> systems: each run read and aligned once, then folds and seeds taken together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from .. import readers as readers
from ..config import load as configs
from ..config import sweep as sweep
from ..config.cells import Cell
from ..config.model import Config
from ..core.aligned import Aligned
from ..core.convention import CONVENTIONS, WHOLE_LIST
from ..core.convention import find as find_convention
from ..core.evaluate import evaluate
from ..core.evaluation import Evaluation
from ..core.leaderboard import Entry, Failed, Leaderboard, Summarised, Summary
from ..core.metric import Metric
from ..core.names import BOUNDS, parse, without_bounds
from ..core.policy import Policy
from ..core.ragged import Floats
from ..core.settings import PARAMETERS, Settings, choices_of
from ..core.systems import key_of, pooled, repetitions_of
from ..core.tables import Qrels
from ..core.views import policies_of, takes_fractions
from ..errors import InputError, UnknownNameError
from ..experiment import folder as origin
from .spread import BASE, DIGITS, Matrix, Row, Walk, effect, ranked

Found = Mapping[Metric, float | str]
"""A summary for each metric, or why there is none."""


@dataclass(frozen=True)
class System:
    """One row of the leaderboard: what was found for it under every way to compute."""

    dataset: str
    name: str
    found: Found


def find_systems(
    cells: Sequence[Cell], metrics: Sequence[Metric], policy: Policy, summary: Summary,
    done: Callable[[], object],
) -> tuple[list[System], tuple[Failed, ...]]:  # fmt: skip
    """Evaluate every cell, and return the systems and those that lack a part of their dataset.

    Folds are pooled or averaged and seeds averaged as in the leaderboard. If the summary keeps
    the best of several, the first metric chooses. `done` is called after each cell.

    Raises
    ------
    AlignmentError
        If parts or repetitions do not belong together, as when a leaderboard is made.
    """
    stubs = [_stub(cell) for cell in cells]
    failed = pooled(Leaderboard(tuple(stubs), (), summary)).failed
    left_out = {(one.dataset, one.run, tuple(one.columns.items())) for one in failed}
    together: dict[object, list[int]] = {}
    for at, stub in enumerate(stubs):
        key = key_of(stub, summary.parts) if summary.parts else at
        if key not in left_out:
            together.setdefault(key, []).append(at)
    evaluator = _Evaluator(metrics, policy)
    entries: list[Entry] = []
    refused: dict[int, dict[Metric, str]] = {}
    for places in together.values():
        parts: list[Entry] = []
        reasons: dict[Metric, str] = {}
        for at in places:
            evaluation, why = evaluator.evaluate(cells[at])
            parts.append(replace(stubs[at], evaluation=evaluation))
            reasons |= why
            done()
        (whole,) = pooled(Leaderboard(tuple(parts), (), summary)).entries
        first = replace(  # the values of all metrics of all cells would not fit into memory
            whole.evaluation, values=whole.evaluation.values[:, :1],
            metrics=whole.evaluation.metrics[:1], weights={}, errors={},
        )  # fmt: skip
        entry = Summarised(first, whole.columns, whole.pattern, summaries=whole.summary)
        entries.append(entry)
        refused[id(entry)] = reasons

    def found(entries: Sequence[Entry], value: Callable[[str], float]) -> Found:
        why = {metric: text for one in entries for metric, text in refused[id(one)].items()}
        return {one: why.get(one) or value(str(at)) for at, one in enumerate(metrics)}

    if summary:
        systems = repetitions_of(Leaderboard(tuple(entries), (), summary))
        return [System(one.dataset, one.run, found(one.entries, one.value)) for one in systems], (
            failed
        )
    titles = [_title(cells[places[0]], cells) for places in together.values()]
    values: dict[tuple[str, str], set[str]] = {}
    for title, one in zip(titles, entries, strict=True):
        for name, value in one.columns.items():
            values.setdefault((title, name), set()).add(value)
    systems_found = []
    for title, one in zip(titles, entries, strict=True):
        varying = [f"{n}={v}" for n, v in one.columns.items() if len(values[title, n]) > 1]
        name = " ".join([one.run, *varying])
        systems_found.append(System(title, name, found([one], one.summary.__getitem__)))
    return systems_found, failed


def _title(cell: Cell, cells: Sequence[Cell]) -> str:
    """Return the name of a cell's dataset, with what tells it from others of that name."""
    paths = {one.dataset_entry.path for one in cells if one.dataset == cell.dataset}
    if len(paths) == 1:
        return cell.dataset
    return " ".join([cell.dataset, *(f"{n}={value}" for n, value in cell.of_dataset.items())])


def _stub(cell: Cell) -> Entry:
    """Return an entry without values, which tells what a cell is a part of."""
    nothing = Evaluation(
        np.empty((0, 0)), pa.array([], pa.string()), (), run=cell.run, dataset=cell.dataset
    )
    return Entry(nothing, cell.columns, cell.dataset_key if cell.of_dataset else "")


class _Evaluator:
    """Evaluates cells, reading the qrels of each dataset once.

    The metrics of its evaluations are labelled with their place, since two ways to compute can
    have one name.
    """

    def __init__(self, metrics: Sequence[Metric], policy: Policy) -> None:
        self._metrics, self._policy = metrics, policy
        self._places = {metric: at for at, metric in enumerate(metrics)}
        self._labelled = tuple(replace(one, label=str(at)) for at, one in enumerate(metrics))
        self._also = policies_of(metrics, policy)
        self._fractions = takes_fractions(metrics, policy)
        self._qrels: dict[tuple[str, str], Qrels] = {}
        self._refused: set[Metric] = set()

    def evaluate(self, cell: Cell) -> tuple[Evaluation, dict[Metric, str]]:
        """Return the values of every metric, NaN if it was refused, and why it was."""
        entry, run = cell.dataset_entry, cell.run_entry
        key = (cell.dataset, str(entry.path))
        if key not in self._qrels:
            self._qrels[key] = readers.read_qrels(
                entry.path, name=cell.dataset, fractions=self._fractions, **entry.options()
            )
        aligned = readers.align_run(
            self._qrels[key], run.path, self._policy, self._also, name=cell.run,
            **run.options(),
        )  # fmt: skip
        parts = list(aligned)
        reasons: dict[Metric, str] = {}
        # what one run met, the next will most likely meet too, so it is computed apart
        others = [metric for metric in self._metrics if metric not in self._refused]
        done = [
            evaluation
            for some in (*([one] for one in self._refused), others)
            for evaluation in _evaluations(parts, some, reasons)
        ]
        self._refused |= reasons.keys()
        qids = pa.concat_arrays([part.qids for part in parts])
        values = np.full((len(qids), len(self._metrics)), np.nan)
        weights: dict[int, Floats] = {}
        for one in done:
            places = [self._places[metric] for metric in one.metrics]
            values[:, places] = one.values
            weights |= {places[column]: found for column, found in one.weights.items()}
        found = Evaluation(
            values, qids, self._labelled, self._policy, weights=weights, run=cell.run,
            dataset=cell.dataset,
        )  # fmt: skip
        return found, reasons


def _evaluations(
    parts: Sequence[Aligned], metrics: Sequence[Metric], reasons: dict[Metric, str]
) -> Iterable[Evaluation]:
    """Yield evaluations that hold the metrics, and note in `reasons` why others are refused."""
    try:
        yield evaluate(parts, metrics)
    except (InputError, UnknownNameError) as error:
        if len(metrics) == 1:
            problem = error.problems[0]
            text = ": ".join(filter(None, (problem.where, problem.what)))
            reasons[metrics[0]] = text.removeprefix(f"{metrics[0]}: ")  # which the row shows
            return
        half = len(metrics) // 2
        yield from _evaluations(parts, metrics[:half], reasons)
        yield from _evaluations(parts, metrics[half:], reasons)


IDENTITY = ("p", "form", "beta", "levels", "coefficients", "documents")
"""Parameters that say what is measured, and not how a tool goes about it: they are carried over
from the base to every convention, and are no choice."""
_THRESHOLD = {"rel", "above", "top", "target"}
_EMPTY = {"zero": "zero", "one": "one", "skip": "nan", "error": "zero"}


@dataclass(frozen=True)
class Variant:
    """A metric computed in another way, by the name of the convention or the choice's value.

    `metric` is None if the tool has nothing of the kind, and `refused` says why; `own` is whether
    it was asked for by name next to the base, `convention` whether it is a convention's.
    """

    name: str
    metric: Metric | None
    refused: str = ""
    own: bool = False
    convention: bool = True


def has_conventions(metric: Metric) -> bool:
    """Return whether any convention has the metric, and it can be better or worse."""
    known = any(metric.definition.name in each.metrics for each in CONVENTIONS.values())
    return known and metric.definition.direction is not None


def under_conventions(
    metric: Metric, policy: Policy, only: Collection[str] = ()
) -> tuple[Variant, ...]:
    """Return a metric under every convention whose tool has it, at its own cutoff.

    What was written beside it is the base's own and left behind, but for what says which metric
    it is: :data:`IDENTITY`, and the smallest relevant grade ``rel`` if the tool does not itself say
    what is relevant. The config's `policy` holds where a convention leaves something open; `only`
    names the conventions, all if it is empty.

    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> [str(each.metric) for each in under_conventions(parse("P(rel=2)@5")[0], Policy())][:2]
    ['P(convention=trec_eval9,rel=2)@5', 'P(convention=trec_eval10,rel=2)@5']
    """
    name, found = metric.definition.name, []
    for convention, known in CONVENTIONS.items():
        if name not in known.metrics or (only and convention not in only):
            continue
        try:
            own = _as(metric, convention)
            policy.with_settings(own.settings)
        except UnknownNameError as error:
            text = str(error)
            reason = text.partition(": ")[2] if text.startswith(f"{name}(") else text
            found.append(Variant(convention, None, reason))
        else:
            found.append(Variant(convention, own))
    return tuple(found)


def _as(metric: Metric, convention: str) -> Metric:
    """Return the metric of a tool, at the same cutoff."""
    definition, usual = metric.definition, CONVENTIONS[convention].of(metric.definition.name)
    given, known = dict(metric.params), definition.parameters
    names = [name for name in IDENTITY if name in given]
    if given.get("rel", 1) != 1 and not _THRESHOLD & {*usual}:
        names.append("rel")
    inside = [f"convention={convention}", *(f"{n}={known[n].text(given[n])}" for n in names)]
    text = f"{definition.name}({','.join(inside)})"
    whole = metric.cutoff is None and usual.get("cutoff") == WHOLE_LIST
    if definition.cutoff is not None and not whole:
        # A bare name stands for a cutoff of the tool's own, so one is written and taken away.
        cutoff = definition.cutoff.text(1 if metric.cutoff is None else metric.cutoff)
        text += f"@{cutoff}"
    return replace(parse(text)[0], cutoff=metric.cutoff)


def with_choices(
    metric: Metric, policy: Policy, toward: Sequence[Metric] | None = None
) -> dict[str, tuple[str, tuple[Variant, ...]]]:
    """Return the metric with one choice changed at a time: the base's value, and the others.

    With `toward`, only values that one of these metrics has.

    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> own, others = with_choices(parse("ndcg@10")[0], Policy())["gain"]
    >>> own, [each.name for each in others]
    ('linear', ['exp', 'letor', 'mslr', 'exp-int32'])
    """
    found = {}
    holds = in_force(metric, policy)
    for name, values in choices_of(metric.definition).items():
        if name in IDENTITY:
            continue
        parameter = {**PARAMETERS, **metric.definition.parameters}[name]
        own = holds[name] if name in holds else dict(metric.params).get(name, parameter.default)
        wanted = [
            (in_force(each, policy) | dict(each.params)).get(name, parameter.default)
            for each in toward or ()
        ]
        others = []
        for value in dict.fromkeys(values):
            if value == own or value == "error" or (value is None and name in holds):
                continue
            if toward is not None and value not in wanted:
                continue
            if name == "ties" and value == "average" and metric.definition.expected is None:
                continue  # a hundred random orders, for an estimate
            changed = _changed(metric, name, value, holds)
            if changed is not None:
                others.append(Variant(value_text(parameter, value), changed))
        if others:
            found[name] = (value_text(parameter, own), tuple(others))
    return found


def in_force(metric: Metric, policy: Policy) -> dict[str, Any]:
    """Return the settings that hold for the base, its policy's included."""
    own, under = metric.settings, policy.with_settings(metric.settings)
    return {
        "ties": under.ties,
        "scores": under.score_type,
        "empty": own.empty or _EMPTY[policy.empty_queries],
        "undefined": own.undefined or "skip",
        "judged_only": under.judged_only,
    }


def _changed(metric: Metric, name: str, value: Any, holds: Mapping[str, Any]) -> Metric | None:
    """Return the metric with one choice changed; None where that goes with nothing else."""
    if name not in holds:
        return replace(metric, params=_params(metric, {**dict(metric.params), name: value}))
    given = {name: value}
    if name == "ties":  # which would bring a type of scores with it
        given["scores"] = holds["scores"]
    try:
        return replace(metric, settings=replace(metric.settings, **given))
    except UnknownNameError:
        return None


def _params(metric: Metric, values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return parameters in the order of the metric's definition."""
    return tuple((name, values[name]) for name in metric.definition.parameters if name in values)


def value_text(parameter: Any, value: Any) -> str:
    """Return a value as it is written."""
    return "none" if value is None else parameter.text(value)


def plain(metric: Metric) -> Metric:
    """Return the metric without its name: what it computes.

    Two metrics are equal then where they compute the same in the same way, whatever convention
    that was taken from.
    """
    return replace(metric, convention=None, given=(), label=None)


_FIRST = (("gain",), ("discount",), ("ties", "scores"), ("empty",), ("undefined",))
"""Settings that most tools differ in, and the order they are changed in; what is changed together
hangs together. Thresholds and denominators follow, then what becomes of short lists."""
_LAST = ("short",)


@dataclass(frozen=True)
class Step:
    """One setting on the way, ``"gain=exp"``, and the metric with it and all changes before.

    The metric is None if they do not go together, and the next step is needed too.
    """

    name: str
    metric: Metric | None


def steps(base: Metric, target: Metric, policy: Policy) -> tuple[Step, ...]:
    """Return the way from one metric to another of its definition; the last step is the other one.

    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> base, target = parse("ndcg@10")[0], parse("ndcg(convention=lightgbm)@10")[0]
    >>> [step.name for step in steps(base, target, policy=Policy())]
    ['gain=exp', 'ties=stable, scores=float64', 'empty=one', 'grades taken']
    """
    own, others = _step_values(base, policy), _step_values(target, policy)
    differing = [name for name in own if own[name] != others[name]]
    parameters = target.definition.parameters
    found, current = [], plain(base)
    for group in _groups(differing):
        changed = _with(current, target, group)
        text = ", ".join(
            "grades taken" if name == "grades"
            else f"{name}={value_text({**PARAMETERS, **parameters}[name], others[name])}"
            for name in group
        )  # fmt: skip
        found.append(Step(text, changed))
        current = changed or current
    if found:
        found[-1] = replace(found[-1], metric=plain(target))
    return tuple(found)


def _step_values(metric: Metric, policy: Policy) -> dict[str, Any]:
    """Return all that a metric hangs on, as it holds under the policy."""
    given, under = dict(metric.params), policy.with_settings(metric.settings)
    values = {
        name: given.get(name, parameter.default)
        for name, parameter in metric.definition.parameters.items()
        if name != "cutoff"
    }
    return {**values, **in_force(metric, policy), "depth": under.depth, "grades": under.grades}


def _groups(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the names in the order they are changed in, together where they hang together."""
    early = {name for group in _FIRST for name in group}
    middle = [(name,) for name in names if name not in early and name not in _LAST]
    for group in (*_FIRST, *middle, _LAST):
        some = [name for name in group if name in names]
        if some:
            yield some


def _with(metric: Metric, target: Metric, names: Sequence[str]) -> Metric | None:
    """Return the metric with these as in the target; None where they do not go together."""
    settings = {each.name for each in fields(Settings)}
    theirs, given = dict(target.params), dict(metric.params)
    for name in names:
        if name not in settings:
            given.pop(name, None)
            given |= {name: theirs[name]} if name in theirs else {}
    own = {name: getattr(target.settings, name) for name in names if name in settings}
    try:
        changed = replace(metric.settings, **own)
        return replace(metric, params=_params(metric, given), settings=changed)
    except UnknownNameError:
        return None


def walk(name: str, base: Row, way: Sequence[tuple[str, Row]]) -> Walk:
    """Return what each step on the way to a convention adds; they add up to the difference.

    `way` has the steps with the summaries after each. A step that leaves some system without a
    value is told together with the next. Systems that have no value at either end stay out.
    """
    end = way[-1][1].values if way else base.values
    known = ~np.isnan(base.values) & ~np.isnan(end)
    at, pending, changes, nothing = base.values, [], [], []
    for text, row in way:
        pending.append(text)
        if np.isnan(row.values[known]).any():
            continue
        change = np.where(known, row.values - at, np.nan)
        if (np.abs(change[known]).round(DIGITS) > 0).any():
            changes.append((", ".join(pending), change))
        else:
            nothing += pending
        at, pending = row.values, []
    return Walk(name, np.where(known, end, np.nan), tuple(changes), tuple(nothing))


@dataclass(frozen=True, eq=False)
class Plan:
    """One metric (the base), and every way that it is to be computed in.

    `conventions` are those of the conventions, and of the config's other metrics that differ from
    it in the way to compute alone. `choices` has the base's value of each choice, and the others;
    `walks` the way from the base to each convention that was asked for.
    """

    metric: Metric
    conventions: tuple[Variant, ...]
    choices: Mapping[str, tuple[str, tuple[Variant, ...]]]
    walks: Mapping[str, tuple[Step, ...]]

    def every(self) -> Iterator[Metric]:
        """Yield every metric that is to be computed."""
        yield plain(self.metric)
        choices = (each for _, others in self.choices.values() for each in others)
        for variant in (*self.conventions, *choices):
            if variant.metric is not None:
                yield plain(variant.metric)
        yield from (step.metric for way in self.walks.values() for step in way if step.metric)


def plans(metrics: Sequence[Metric], policy: Policy, conventions: Sequence[str]) -> list[Plan]:
    """Return a plan for each metric; those that differ in the way to compute alone share one.

    `conventions` are those to compare with; all if there are none.
    """
    together: dict[object, list[Metric]] = {}
    for metric in metrics:
        together.setdefault(_measured(metric, policy), []).append(metric)
    found = []
    for base, *own in together.values():
        variants = under_conventions(base, policy, conventions)
        asked = {each.name: each.metric for each in variants if conventions and each.metric}
        toward = list(asked.values()) if conventions else None
        choices = with_choices(base, policy, toward)
        walks = {name: steps(base, target, policy) for name, target in asked.items()}
        found.append(Plan(base, _with_own(base, own, variants), choices, walks))
    return found


def _measured(metric: Metric, policy: Policy) -> object:
    """Return what is measured, in whatever way."""
    given = dict(metric.params)
    identity = tuple((name, given[name]) for name in IDENTITY if name in given)
    variants = under_conventions(metric, policy)
    ways = tuple((each.name, each.metric and plain(each.metric)) for each in variants)
    return metric.definition.name, metric.cutoff, identity, ways


def _with_own(
    base: Metric, own: Sequence[Metric], variants: Sequence[Variant]
) -> tuple[Variant, ...]:
    """Return the variants, those that were asked for by name marked, and what they lack."""
    wanted = {plain(metric): str(metric) for metric in reversed(own)}
    wanted.pop(plain(base), None)
    marked = [
        replace(each, own=each.metric is not None and plain(each.metric) in wanted)
        for each in variants
    ]
    there = {plain(each.metric) for each in variants if each.metric is not None}
    others = [
        Variant(str(metric), metric, own=True, convention=False)
        for metric in own
        if wanted.get(plain(metric)) == str(metric) and plain(metric) not in there
    ]
    return (*others, *marked)


def to_audit(
    config: Config, given: Sequence[str], conventions: Sequence[str]
) -> tuple[list[Metric], tuple[str, ...]]:
    """Return the metrics to audit, those given or the config's, and the names of others.

    Raises UnknownNameError if none is left, or one that was given cannot be audited.
    """
    policy = replace(config.policy, ties=without_bounds(config.policy.ties))
    update = {"metrics": tuple(given or config.metrics), "policy": policy}
    metrics = config.model_copy(update=update).parsed_metrics()
    known = [metric for metric in metrics if has_conventions(metric)]
    if not known or (given and len(known) < len(metrics)):
        names = ", ".join(str(metric) for metric in metrics if metric not in known)
        raise UnknownNameError(
            f"{names}: no convention has it, so there is nothing to audit"
            "  (harness metrics --conventions lists what each tool has)"
        )
    wanted = [
        metric
        for metric in known
        if not conventions
        or any(metric.definition.name in CONVENTIONS[each].metrics for each in conventions)
    ]
    if not wanted or (given and len(wanted) < len(known)):
        problems = []
        for name in dict.fromkeys(one.definition.name for one in known if one not in wanted):
            for convention in conventions:
                try:
                    parse(f"{name}(convention={convention})")
                except UnknownNameError as error:  # which says what the convention has
                    problems += error.problems
        raise UnknownNameError(problems)
    return wanted, tuple(str(metric) for metric in metrics if metric not in wanted)


def _find(path: Path, overrides: Sequence[str]) -> tuple[Config, list[Cell]]:
    """Return a config and its cells; of a folder of results those that were evaluated then."""
    if not path.is_dir():
        config = configs.load(path, overrides)
        return config, sweep.resolve(config)
    manifest = origin.read_manifest(path)
    origin.refuse_plugins(path, manifest, "audit the config that wrote them")
    origin.check_inputs(path, manifest)
    return origin.config_and_cells(path, manifest, overrides)


@dataclass(frozen=True, eq=False)
class Audited:
    """What :func:`audit` found.

    `matrices` has one for each dataset and metric, with a column for each row of the leaderboard.
    `left_out` are metrics of the config that no convention compared has, or that are mere counts;
    `bounds` is whether the config asks for bounds over the orders of ties, which are not audited;
    `failed` are systems that lack a fold, which the leaderboard leaves out too.
    """

    matrices: tuple[Matrix, ...]
    left_out: tuple[str, ...] = ()
    bounds: bool = False
    failed: tuple[Failed, ...] = ()


def audit(
    path: str | Path,
    *,
    overrides: Sequence[str] = (),
    metrics: Sequence[str] = (),
    conventions: Sequence[str] = (),
) -> Audited:
    """Compute every metric of a config under every convention that has it.

    Parameters
    ----------
    path : path
        A YAML config, or a folder that ``harness run`` wrote.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the config's.
    metrics : sequence of str
        Metrics in place of the config's.
    conventions : sequence of str
        Conventions to compare with; all where there are none.

    Raises
    ------
    ConfigError, InputError, AlignmentError
        Where the config, a file, or a pair of files is wrong.
    UnknownNameError
        Where no metric is left to audit, or a name is not known.
    """
    conventions = list(dict.fromkeys(find_convention(name).name for name in conventions))
    config, cells = _find(Path(path), overrides)
    policy = config.to_policy()
    wanted, left_out = to_audit(config, metrics, conventions)
    planned = plans(wanted, policy, conventions)
    every = list(dict.fromkeys(metric for plan in planned for metric in plan.every()))
    summary = config.summary
    if summary.best:
        every = list(dict.fromkeys([*_chooser(config), *every]))
    with tqdm(total=len(cells), unit="run", disable=None) as bar:
        systems, failed = find_systems(cells, every, policy, summary, bar.update)
    matrices = []
    for dataset in dict.fromkeys(one.dataset for one in systems):
        here = [one for one in systems if one.dataset == dataset]
        names, found = tuple(one.name for one in here), [one.found for one in here]
        matrices += [_matrix(dataset, plan, names, found) for plan in planned]
    return Audited(tuple(matrices), left_out, config.policy.ties == BOUNDS, failed)


def _chooser(config: Config) -> list[Metric]:
    """Return the metric by which `summary: best` chooses: the first that has a direction."""
    metrics = config.parsed_metrics()
    first = next((one for one in metrics if one.definition.direction is not None), None)
    if first is not None and first.reference is not None:
        raise UnknownNameError(
            f"summary.best chooses by {first}, which needs another run; audit compares every run "
            "with the qrels alone"
        )
    return [] if first is None else [plain(first)]


def _matrix(dataset: str, plan: Plan, systems: tuple[str, ...], found: Sequence[Found]) -> Matrix:
    """Put the summaries of one metric together."""
    metric = plan.metric
    base = _row(Variant(BASE, metric), found)
    effects = [
        effect(metric, choice, own, base.values, [_row(each, found) for each in others])
        for choice, (own, others) in plan.choices.items()
    ]
    rows = tuple(_row(variant, found) for variant in plan.conventions)
    walks = []
    for name, way in plan.walks.items():
        rows_of_way = [(one.name, _row(Variant(one.name, one.metric), found)) for one in way]
        walks.append(walk(name, base, rows_of_way))
    arrived = tuple(each for each in walks if not np.isnan(each.values).all())
    return Matrix(dataset, metric, systems, base, rows, ranked(effects), arrived)


def _row(variant: Variant, found: Sequence[Found]) -> Row:
    if variant.metric is None:
        none = np.full(len(found), np.nan)
        return Row(variant.name, none, (variant.refused,) * len(found), variant.own)
    key = plain(variant.metric)
    each = [summary[key] for summary in found]
    values = np.array([value if isinstance(value, float) else np.nan for value in each])
    refused = tuple(value if isinstance(value, str) else "" for value in each)
    return Row(variant.name, values, refused, variant.own, variant.convention)
