"""A leaderboard under every convention, and how far apart the ways to compute a metric are."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from .. import readers as readers
from ..config import load as configs
from ..config.cells import Cell, resolve
from ..config.model import Config
from ..core.aligned import Aligned
from ..core.cell_key import pairs
from ..core.entries import Entry, Failed, System, grouped_by
from ..core.evaluation import Evaluation, evaluate
from ..core.leaderboard import Leaderboard, Summary, best
from ..core.metric import Definition, Metric
from ..core.names import parse, without_bounds
from ..core.policy import Policy
from ..core.policy_views import policies_of
from ..core.qrels_and_runs import Qrels
from ..core.ragged import Array, Floats
from ..core.settings import (
    CONVENTIONS,
    PARAMETERS,
    WHOLE_LIST,
    EmptyValue,
    MetricSettings,
    Undefined,
    find_convention,
)
from ..core.systems import pooled, repetitions_of, system_key
from ..errors import HarnessError, InputError, Problem, UnknownNameError
from ..experiment.results import check_inputs, config_and_cells, read_manifest, refuse_plugins
from ..reports.catalogue import in_force
from ..reports.select import sort_metric

DIGITS = 9
"""Decimals to which summaries are compared: sums in another order differ in the last bits."""
BASE = "base"
"""Name of the row of the config's own metric."""
IDENTITY = ("p", "form", "beta", "levels", "coefficients", "documents")
"""Parameters of the quantity itself, which every convention takes from the base."""
_THRESHOLD = {"rel", "above", "top", "target"}
_SETTINGS = {one.name for one in fields(MetricSettings)}
_FIRST = (("gain",), ("discount",), ("ties", "scores"), ("empty",), ("undefined",))
"""Settings that most tools differ in, in the order they are changed in; those in one tuple change
together. Thresholds and denominators follow, then short lists."""
_LAST = ("short",)
Summaries = Mapping[Metric, float | str]
"""A summary for each metric, or why there is none."""


_NO_CHOICE = {"cutoff", "grades", "gains", "reference", "depth", "labels", "convention"}
_COMMON: dict[str, tuple[Any, ...]] = {
    "ties": ("trec_eval", "docno+", "stable", "reverse", "average", "best", "worst"),
    "scores": ("float32", "float64"),
    "empty": (None, *get_args(EmptyValue)),
    "undefined": (None, *get_args(Undefined)[1:]),
    "judged_only": (None, True),
}


def choices_of(definition: Definition) -> dict[str, tuple[Any, ...]]:
    """Return each choice about a metric with its values, the metric's own default first.

    For a parameter with a few named choices they are all of them; for a number, those that some
    convention has.
    """
    used = [
        {**each.common, **each.metrics[definition.name]}
        for each in CONVENTIONS.values()
        if definition.name in each.metrics
    ]
    known: dict[str, tuple[Any, ...]] = {
        name: (one.default, *one.choices, *((False, True) if one.type is bool else ()))
        for name, one in definition.parameters.items()
        if name not in _NO_CHOICE
    }
    found = {}
    for name, values in {**known, **_COMMON}.items():
        own = [settings[name] for settings in used if name in settings]
        found[name] = tuple(dict.fromkeys([*values, *own]))
    return {name: values for name, values in found.items() if len(values) > 1}


class Variant(NamedTuple):
    """A metric computed in another way, by the name of the convention or the choice's value.

    `metric` is None if it cannot be computed that way; `refused` is the reason, if it is a tool's.
    """

    name: str
    metric: Metric | None
    refused: str = ""


def under_conventions(
    metric: Metric, policy: Policy, only: Collection[str] = ()
) -> tuple[Variant, ...]:
    """Return a metric under every convention whose tool has it, at its own cutoff.

    Of the base's own parameters, a convention keeps `IDENTITY`, and the smallest relevant
    grade ``rel`` if the tool does not set it. The config's `policy` holds for settings that a
    convention leaves open; `only` names the conventions, all if it is empty.
    """
    name, found = metric.definition.name, []
    for convention, known in CONVENTIONS.items():
        if name not in known.metrics or (only and convention not in only):
            continue
        try:
            own = _as(metric, convention)
            policy.with_settings(own.settings)
        except UnknownNameError as error:
            found.append(Variant(convention, None, error.problems[0].what))
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
        # a bare name means the tool's own cutoff, so one is written and taken away
        cutoff = definition.cutoff.text(1 if metric.cutoff is None else metric.cutoff)
        text += f"@{cutoff}"
    return replace(parse(text)[0], cutoff=metric.cutoff)


def plain(metric: Metric) -> Metric:
    """Return the metric without its name, so that metrics that compute the same are equal."""
    return replace(metric, convention=None, given=(), label=None)


def _changed(metric: Metric, changes: Mapping[str, Any]) -> Metric:
    """Return the metric with parameters (None: the default) and settings changed.

    Raises UnknownNameError if they do not go together.
    """
    settings = {name: value for name, value in changes.items() if name in _SETTINGS}
    given = {**dict(metric.params), **changes}
    names = [name for name in metric.definition.parameters if given.get(name) is not None]
    own = tuple((name, given[name]) for name in names if name not in settings)
    return replace(metric, params=own, settings=replace(metric.settings, **settings))


def _text(metric: Metric, name: str, value: Any) -> str:
    parameter = {**PARAMETERS, **metric.definition.parameters}[name]
    return "none" if value is None else parameter.text(value)


def with_choices(
    metric: Metric, policy: Policy, toward: Sequence[Metric] | None = None
) -> dict[str, tuple[str, tuple[Variant, ...]]]:
    """Return the metric with one choice changed at a time: the base's value, and the others.

    With `toward`, only values that one of these metrics has.
    """
    found, base = {}, in_force(metric, policy)
    wanted = [in_force(each, policy) for each in toward or ()]
    for name, values in choices_of(metric.definition).items():
        others, skipped = [], [base[name], "error", *([None] if name in _SETTINGS else [])]
        if name == "ties" and metric.definition.expected is None:
            skipped.append("average")  # a hundred random orders, for an estimate
        able = values if toward is None else [each[name] for each in wanted]
        for value in dict.fromkeys(values):
            if name in IDENTITY or value in skipped or value not in able:
                continue
            scores = {"scores": base["scores"]} if name == "ties" else {}  # not the tie's own
            with contextlib.suppress(UnknownNameError):
                changed = _changed(metric, {name: value, **scores})
                others.append(Variant(_text(metric, name, value), changed))
        if others:
            found[name] = (_text(metric, name, base[name]), tuple(others))
    return found


def steps(base: Metric, target: Metric, policy: Policy) -> tuple[Variant, ...]:
    """Return the way from one metric to another of its definition; the last step is the target."""
    own, others = in_force(base, policy), in_force(target, policy)
    differing = [name for name in own if own[name] != others[name]]
    early = {name for group in _FIRST for name in group}
    middle = [(name,) for name in differing if name not in early and name not in _LAST]
    theirs = {**dict(target.params), **vars(target.settings)}
    found, current = [], plain(base)
    for group in (*_FIRST, *middle, _LAST):
        names = [name for name in group if name in differing]
        if not names:
            continue
        text = ", ".join(
            "grades taken" if name == "grades" else f"{name}={_text(target, name, others[name])}"
            for name in names
        )
        try:
            current = _changed(current, {name: theirs.get(name) for name in names})
            found.append(Variant(text, current))
        except UnknownNameError:
            found.append(Variant(text, None))
    if found:
        found[-1] = found[-1]._replace(metric=plain(target))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class AuditPlan:
    """One metric (the base), and every way to compute it.

    `variants` are those under the conventions. `choices` has the base's value of each choice, and
    the others; `walks` the way to each convention asked for.
    """

    metric: Metric
    variants: tuple[Variant, ...]
    choices: Mapping[str, tuple[str, tuple[Variant, ...]]]
    walks: Mapping[str, tuple[Variant, ...]]

    def every(self) -> Iterator[Metric]:
        """Yield every metric that is to be computed."""
        yield plain(self.metric)
        choices = (others for _, others in self.choices.values())
        for one in chain(self.variants, *choices, *self.walks.values()):
            if one.metric is not None:
                yield plain(one.metric)


def plans(metrics: Sequence[Metric], policy: Policy, conventions: Sequence[str]) -> list[AuditPlan]:
    """Return a plan for each metric; `conventions` are those to compare with, all if empty."""
    found = []
    for base in metrics:
        variants = under_conventions(base, policy, conventions)
        asked = {each.name: each.metric for each in variants if conventions and each.metric}
        choices = with_choices(base, policy, [*asked.values()] if conventions else None)
        walks = {name: steps(base, target, policy) for name, target in asked.items()}
        found.append(AuditPlan(base, variants, choices, walks))
    return found


@dataclass(frozen=True, eq=False)
class ConventionRow:
    """Every system's summary, computed in one way; NaN if it is undefined or refused.

    `name` is the convention, the value of a choice, or `BASE`; `refused` is for each system
    why there is no value.
    """

    name: str
    values: Floats
    refused: tuple[str, ...]


class OrderComparison(NamedTuple):
    """How a row's order of systems differs from the base's, over the systems with both values.

    `tau` is Kendall's tau-b of the two orders; NaN if one of them has no order. The order is
    changed if two systems swap, or are tied in one of the rows alone.
    """

    tau: float
    order_changed: bool
    best: tuple[int, ...]
    best_changed: bool
    compared: int


class Effect(NamedTuple):
    """What one choice changes, if all others are the base's (`own`).

    `value` changes the summary of `system` the most, by `change` (new minus base); -1 if no value
    changes anything. `tau` is the lowest over its values, of `tau_value`; NaN without one.
    `best_changed` are the values under which another system is best, `lost` those under which a
    system of the base's has no summary.
    """

    choice: str
    own: str
    value: str
    change: float
    system: int
    tau: float
    tau_value: str
    best_changed: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def matters(self) -> bool:
        """Whether it changes a summary or the order."""
        return self.change != 0 or bool(self.lost)


class Walk(NamedTuple):
    """The way from the base to a convention, one setting at a time.

    `changes` is what each step adds to every system's summary; they add up to the difference of
    `values`. `nothing` are the settings that differ and change nothing here.
    """

    name: str
    values: Floats
    changes: tuple[tuple[str, Floats], ...]
    nothing: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Matrix:
    """One metric on one dataset: systems x conventions (`rows`), and the effects of choices.

    `effects` has the largest first, `walks` one for each convention that was asked for.
    """

    dataset: str
    metric: Metric
    systems: tuple[str, ...]
    base: ConventionRow
    rows: tuple[ConventionRow, ...]
    effects: tuple[Effect, ...]
    walks: tuple[Walk, ...] = ()

    @cached_property
    def compared(self) -> list[tuple[ConventionRow, OrderComparison]]:
        """The base and each of `rows`, with its order compared with the base's."""
        rows = (self.base, *self.rows)
        return [(row, compare(self.metric, self.base.values, row.values)) for row in rows]

    @property
    def comparable(self) -> bool:
        """Whether the base has a value, so that there is something to compare with."""
        return not np.isnan(self.base.values).all()


@dataclass(frozen=True, eq=False)
class Audited:
    """The result of `audit`: a matrix for each dataset and metric.

    `left_out` are metrics of the config that no convention compared has, and counts; `failed` are
    systems without a fold, which the leaderboard leaves out too.
    """

    matrices: tuple[Matrix, ...]
    left_out: tuple[str, ...] = ()
    failed: tuple[Failed, ...] = ()


def audit(
    path: str | Path,
    *,
    overrides: Sequence[str] = (),
    metrics: Sequence[str] = (),
    conventions: Sequence[str] = (),
) -> Audited:
    """Compute every metric of a config, or of a results folder, under every convention that has it.

    `metrics` replace the config's; `conventions` are those to compare with, by default all.
    Raises ConfigError, InputError or AlignmentError for a wrong config or file, UnknownNameError
    for a wrong name or if no metric is left.
    """
    conventions = list(dict.fromkeys(find_convention(name).name for name in conventions))
    path = Path(path)
    if path.is_dir():
        manifest = read_manifest(path)
        refuse_plugins(path, manifest, "audit the config that wrote them")
        check_inputs(path, manifest)
        config, cells = config_and_cells(path, manifest, overrides)
    else:
        config = configs.load(path, overrides)
        cells = resolve(config)
    if config.select is not None:
        what = "an audit does not choose settings on validation queries"
        fix = "add --set select=null, which audits every setting"
        raise HarnessError(Problem("select", what, fix=fix))
    policy = config.policy.for_runs()
    wanted, left_out = _to_audit(config, metrics, conventions)
    planned = plans(wanted, policy, conventions)
    every = [metric for plan in planned for metric in plan.every()]
    if config.summary.best:
        every = [*_chooser(config), *every]
    every = list(dict.fromkeys(every))
    with tqdm(total=len(cells), unit="run", disable=None) as bar:
        systems, failed = _systems(cells, every, policy, config.summary, bar.update)
    matrices = []
    for dataset in dict.fromkeys(one.dataset for one, _ in systems):
        here = [(one.run, values) for one, values in systems if one.dataset == dataset]
        matrices += [_matrix(dataset, plan, here) for plan in planned]
    return Audited(tuple(matrices), left_out, failed)


def _to_audit(
    config: Config, given: Sequence[str], conventions: Sequence[str]
) -> tuple[list[Metric], tuple[str, ...]]:
    """Return the metrics to audit, those given or the config's, and the names of others."""
    policy = replace(config.policy, ties=without_bounds(config.policy.ties))
    update = {"metrics": tuple(given or config.metrics), "policy": policy}
    metrics = config.model_copy(update=update).parsed_metrics()
    tools = [CONVENTIONS[name].metrics for name in conventions or CONVENTIONS]
    known = set[str]().union(*tools)
    wanted = [one for one in metrics if one.definition.name in known and one.definition.direction]
    others = tuple(str(metric) for metric in metrics if metric not in wanted)
    if not wanted or (given and others):
        what = f"expected metrics that a convention has, got {', '.join(others)}"
        fix = "choose from the list of 'harness metrics --conventions'"
        raise UnknownNameError(Problem("metrics", what, fix=fix))
    return wanted, others


def _chooser(config: Config) -> list[Metric]:
    """Return the metric by which `summary: best` chooses: the first that has a direction."""
    first = sort_metric(config.parsed_metrics())
    if first is not None and first.reference is not None:
        what = f"expected a first metric that needs the qrels only, got {first}"
        fix = "put another metric first in the config: summary.best chooses by it"
        raise UnknownNameError(Problem("metrics", what, fix=fix))
    return [] if first is None else [plain(first)]


def _systems(
    cells: Sequence[Cell], metrics: Sequence[Metric], policy: Policy, summary: Summary,
    done: Callable[[], object],
) -> tuple[list[tuple[System, Summaries]], tuple[Failed, ...]]:  # fmt: skip
    """Evaluate every cell, and return the systems and those without a part of their dataset.

    Folds are pooled or averaged and seeds averaged as in the leaderboard. If the summary keeps
    the best of several, the first metric chooses. `done` is called after each cell.
    """
    none = Evaluation(np.empty((0, 0)), pa.array([], pa.string()), ())
    stubs = [  # entries without values show which cells belong together
        Entry(
            replace(none, run=cell.run, dataset=cell.dataset), cell.columns,
            cell.dataset_key if cell.of_dataset else "",
        )
        for cell in cells
    ]  # fmt: skip
    failed = pooled(Leaderboard(tuple(stubs), (), summary)).failed
    left_out = {one.key for one in failed}
    keys = [system_key(stub, summary.parts) for stub in stubs]
    kept = [at for at, key in enumerate(keys) if key not in left_out]
    evaluator = _Evaluator(metrics, policy)
    entries: list[Entry] = []
    refused: dict[int, dict[Metric, str]] = {}
    for places in grouped_by(kept, keys.__getitem__).values():
        parts, reasons = list[Entry](), dict[Metric, str]()
        for at in places:
            parts.append(replace(stubs[at], evaluation=evaluator.evaluate(cells[at], reasons)))
            done()
        (whole,) = pooled(Leaderboard(tuple(parts), (), summary)).entries
        first = replace(  # the values of all metrics of all cells would not fit into memory
            whole.evaluation, values=whole.evaluation.values[:, :1],
            metrics=whole.evaluation.metrics[:1], weights={}, errors={},
        )  # fmt: skip
        if not summary:
            dataset, run = _names(cells, cells[places[0]])
            first = replace(first, dataset=dataset, run=run)
        entries.append(Entry(first, whole.columns, whole.pattern, known=whole.summary))
        refused[id(entries[-1])] = reasons

    if summary:
        systems = repetitions_of(Leaderboard(tuple(entries), (), summary))
    else:
        systems = tuple(System.of([one], one.run) for one in entries)
    found: list[tuple[System, Summaries]] = []
    for system in systems:
        why = {metric: text for one in system.entries for metric, text in refused[id(one)].items()}
        values = {one: why.get(one) or system.value(str(at)) for at, one in enumerate(metrics)}
        found.append((system, values))
    return found, failed


def _names(cells: Sequence[Cell], cell: Cell) -> tuple[str, str]:
    """Return the names of a cell's dataset and run, with the columns that tell them apart."""
    paths = {one.dataset_entry.path for one in cells if one.dataset == cell.dataset}
    columns = cell.of_dataset.items()
    own = [one for one in cell.columns.items() if one not in columns]
    dataset = f"{cell.dataset} {pairs(columns if len(paths) > 1 else ())}"
    return dataset.rstrip(), f"{cell.run} {pairs(own)}".rstrip()


class _Evaluator:
    """Evaluates cells, reading the qrels of each dataset once.

    The metrics of its evaluations are labelled with their place, since two ways to compute can
    have one name.
    """

    def __init__(self, metrics: Sequence[Metric], policy: Policy) -> None:
        self._metrics, self._policy = metrics, policy
        self._labelled = tuple(replace(one, label=str(at)) for at, one in enumerate(metrics))
        self._by_settings = grouped_by(range(len(metrics)), lambda at: metrics[at].settings)
        self._qrels: dict[tuple[str, str], Qrels] = {}

    def evaluate(self, cell: Cell, reasons: dict[Metric, str]) -> Evaluation:
        """Return the values of every metric; NaN if it was refused, for one of the `reasons`."""
        entry, run = cell.dataset_entry, cell.run_entry
        key = (cell.dataset, str(entry.path))
        if key not in self._qrels:
            qrels = readers.read_qrels(entry.path, name=cell.dataset, **entry.options())
            self._qrels[key] = qrels
        parts = list(
            readers.align_run(
                self._qrels[key], run.path, self._policy,
                policies_of(self._metrics, self._policy), name=cell.run, **run.options(),
            )
        )  # fmt: skip
        qids = pa.concat_arrays([part.qids for part in parts])
        values = np.full((len(qids), len(self._metrics)), np.nan)
        weights: dict[int, Floats] = {}
        for places in self._by_settings.values():
            for some, one in self._values(parts, places, reasons):
                values[:, some] = one.values
                weights |= {some[column]: weight for column, weight in one.weights.items()}
        return Evaluation(
            values, qids, self._labelled, self._policy, weights=weights, run=cell.run,
            dataset=cell.dataset,
        )  # fmt: skip

    def _values(
        self, parts: Sequence[Aligned], places: list[int], reasons: dict[Metric, str]
    ) -> Iterator[tuple[list[int], Evaluation]]:
        """Yield the values of metrics, and note in `reasons` why others are refused."""
        try:
            yield places, evaluate(parts, [self._metrics[at] for at in places])
        except (InputError, UnknownNameError) as error:
            if len(places) > 1:
                for at in places:
                    yield from self._values(parts, [at], reasons)
                return
            metric, problem = self._metrics[places[0]], error.problems[0]
            text = ": ".join(filter(None, (problem.where, problem.what)))
            reasons[metric] = text.removeprefix(f"{metric}: ")  # which the row shows


def _matrix(dataset: str, plan: AuditPlan, systems: Sequence[tuple[str, Summaries]]) -> Matrix:
    """Put the summaries of one metric together."""

    def row(variant: Variant) -> ConventionRow:
        if variant.metric is None:
            none = np.full(len(systems), np.nan)
            return ConventionRow(variant.name, none, (variant.refused,) * len(systems))
        found = [summaries[plain(variant.metric)] for _, summaries in systems]
        values = np.array([value if isinstance(value, float) else np.nan for value in found])
        refused = tuple(value if isinstance(value, str) else "" for value in found)
        return ConventionRow(variant.name, values, refused)

    base = row(Variant(BASE, plan.metric))
    effects = [
        effect(plan.metric, choice, own, base.values, list(map(row, others)))
        for choice, (own, others) in plan.choices.items()
    ]
    effects.sort(
        key=lambda one: (
            -round(abs(one.change), DIGITS), -1.0 if math.isnan(one.tau) else one.tau,
        )
    )  # fmt: skip
    walks = [_walk(name, base, [*map(row, way)]) for name, way in plan.walks.items()]
    return Matrix(
        dataset, plan.metric, tuple(name for name, _ in systems), base,
        tuple(map(row, plan.variants)), tuple(effects),
        tuple(each for each in walks if not np.isnan(each.values).all()),
    )  # fmt: skip


def compare(metric: Metric, base: Floats, other: Floats) -> OrderComparison:
    """Compare two orders of systems; the metric tells which way is better."""

    def signs(values: Floats) -> Array:
        rounded = values.round(DIGITS)
        first, second = np.triu_indices(values.size, 1)
        found: Array = np.sign(rounded[first] - rounded[second])
        return found

    both = np.flatnonzero(~np.isnan(base) & ~np.isnan(other))
    one, two = signs(base[both]), signs(other[both])
    bottom = math.sqrt(np.count_nonzero(one) * np.count_nonzero(two))
    tau = float(one @ two) / bottom if bottom else math.nan
    was, top = (
        tuple(both[sorted(best(metric, values[both].tolist(), DIGITS))].tolist())
        for values in (base, other)
    )
    return OrderComparison(tau, bool((one != two).any()), top, top != was, both.size)


def effect(
    metric: Metric, choice: str, own: str, base: Floats, rows: Sequence[ConventionRow]
) -> Effect:
    """Return what a choice changes, over its values; `own` and `base` are the base's."""
    value, change, system = "", 0.0, -1
    tau, tau_value = math.inf, ""
    best_changed, lost = [], []
    for row in rows:
        differences = np.nan_to_num(row.values - base, nan=0.0)
        if differences.size:
            at = int(np.abs(differences).argmax())
            if round(abs(differences[at]) - abs(change), DIGITS) > 0:
                value, change, system = row.name, differences[at].item(), at
        found = compare(metric, base, row.values)
        if found.tau < tau:
            tau, tau_value = found.tau, row.name
        if found.best_changed:
            best_changed.append(row.name)
        if (np.isnan(row.values) & ~np.isnan(base)).any():
            lost.append(row.name)
    tau = math.nan if math.isinf(tau) else tau
    names = tuple(best_changed), tuple(lost)
    return Effect(choice, own, value, change, system, tau, tau_value, *names)


def _walk(name: str, base: ConventionRow, way: Sequence[ConventionRow]) -> Walk:
    """Return what each step (`way` has the summaries after it) on the way to a convention adds.

    A step that leaves a system without a value is joined with the next. Systems without a value
    at either end are left out.
    """
    end = way[-1].values if way else base.values
    known = ~np.isnan(base.values) & ~np.isnan(end)
    at, pending, changes, nothing = base.values, [], [], []
    for row in way:
        pending.append(row.name)
        if np.isnan(row.values[known]).any():
            continue
        change = np.where(known, row.values - at, np.nan)
        if (np.abs(change[known]).round(DIGITS) > 0).any():
            changes.append((", ".join(pending), change))
        else:
            nothing += pending
        at, pending = row.values, []
    return Walk(name, np.where(known, end, np.nan), tuple(changes), tuple(nothing))
