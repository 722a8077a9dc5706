"""A leaderboard under every convention, and the effect of each choice on its values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from .. import readers
from ..config import load as configs
from ..config.cells import Cell, resolve
from ..config.model import Config
from ..core.align import align
from ..core.aligned import Aligned
from ..core.arguments import TEXTS, ArgumentKind, PathLike, check_arguments, is_number, names_in
from ..core.cell_key import pairs
from ..core.entries import Entry, Failed, System, grouped_by
from ..core.evaluation import Evaluation, evaluate
from ..core.leaderboard import Leaderboard, Summary, best
from ..core.metric import Metric
from ..core.names import without_bounds
from ..core.policy import Policy
from ..core.policy_views import policies_of
from ..core.qrels_and_runs import Qrels
from ..core.ragged import Array, Floats
from ..core.settings import CONVENTIONS, find_convention
from ..core.systems import pooled, repetitions_of, system_key
from ..errors import HarnessError, InputError, Problem, UnknownNameError, check_known, counted
from ..experiment.results import (
    Results,
    check_inputs,
    config_and_cells,
    folder_of,
    read_manifest,
    refuse_plugins,
)
from ..guard.datasets import load_weights
from ..input_files import url_of
from ..progress import Begin, progress
from ..reports import text
from ..reports.select import sort_metric
from ..reports.text import Shown
from .convention_choices import Variant, plain, steps, under_conventions, with_choices
from .convention_match import CUTOFFS, Fit, Matches, PublishedValue, matches_of, settings_of

BLOCK = 500
"""Number of settings to evaluate together in a search for a published value."""
DIGITS = 9
"""Decimals to which summaries are compared: sums in another order differ in the last bits."""
BASE = "base"
"""Name of the row of the config's own metric."""
Summaries = Mapping[Metric, float | str]
"""A summary for each metric, or why there is none."""


@dataclass(frozen=True, eq=False)
class MetricPlan:
    """One metric (the base), and all its variants.

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
        for variant in chain(self.variants, *choices, *self.walks.values()):
            if variant.metric is not None:
                yield plain(variant.metric)


def plans(metrics: Sequence[Metric], policy: Policy, tools: Sequence[str]) -> list[MetricPlan]:
    """Return a plan for each metric; `tools` are those to compare with, all if empty."""
    planned = []
    for base in metrics:
        variants = under_conventions(base, policy, tools)
        targets = {variant.name: variant.metric for variant in variants if tools and variant.metric}
        choices = with_choices(base, policy, [*targets.values()] if tools else None)
        walks = {name: steps(base, target, policy) for name, target in targets.items()}
        planned.append(MetricPlan(base, variants, choices, walks))
    return planned


@dataclass(frozen=True, eq=False)
class ConventionRow:
    """Summary of each system under one variant of a metric; NaN if it is undefined or refused.

    `name` is the convention, the value of a choice, or `BASE`; `refused` has the reason for each
    system without a value.
    """

    name: str
    values: Floats
    refused: tuple[str, ...]


class OrderComparison(NamedTuple):
    """Difference of two orders of systems: of a row and of the base, over systems with both values.

    `tau` is Kendall's tau-b of the two orders; NaN if one of them has no order. The order is
    changed if two systems swap, or are tied in one of the rows alone.
    """

    tau: float
    order_changed: bool
    best: tuple[int, ...]
    best_changed: bool
    compared: int


class Effect(NamedTuple):
    """Effect of one choice, if all other choices are the base's (`own`).

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
    """Steps from the base to a convention, one setting at a time.

    `changes` has the change of each system's summary by each step; they sum to the difference of
    `values`. `nothing` are settings that differ without any effect here.
    """

    name: str
    values: Floats
    changes: tuple[tuple[str, Floats], ...]
    nothing: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Matrix:
    """One metric on one dataset: systems x conventions (`rows`), and the effects of choices.

    `effects` has the largest first, `walks` one for each convention that was asked for. Means are
    weighted if queries are `weighted_by` something.
    """

    dataset: str
    metric: Metric
    systems: tuple[str, ...]
    base: ConventionRow
    rows: tuple[ConventionRow, ...]
    effects: tuple[Effect, ...]
    walks: tuple[Walk, ...] = ()
    weighted_by: str = ""

    @cached_property
    def compared(self) -> list[tuple[ConventionRow, OrderComparison]]:
        """The base and each of `rows`, with its order compared with the base's."""
        rows = (self.base, *self.rows)
        return [(row, compare(self.metric, self.base.values, row.values)) for row in rows]

    @property
    def comparable(self) -> bool:
        """Whether the base has a value."""
        return not np.isnan(self.base.values).all()


@dataclass(frozen=True, eq=False)
class ComparedConventions(Shown):
    """A leaderboard under conventions: a matrix for each dataset and metric.

    `left_out` are metrics of the config that no convention compared has, and counts; `failed` are
    systems without a fold, which the leaderboard leaves out too.
    """

    matrices: tuple[Matrix, ...]
    left_out: tuple[str, ...] = ()
    failed: tuple[Failed, ...] = ()

    def __str__(self) -> str:
        from .conventions_report import grids

        return text.render(grids(self)).rstrip("\n")

    def __repr__(self) -> str:
        return f"<ComparedConventions: {counted(len(self.matrices), 'matrix', 'matrices')}>"


_VALUE = ArgumentKind(
    "a number, or the text of one", lambda value: isinstance(value, str) or is_number(value)
)


def conventions(
    results: PathLike | Results,
    metrics: str | Sequence[str] = (),
    *,
    match: str | float | None = None,
    tools: str | Sequence[str] = (),
    run: str | Sequence[str] = (),
    dataset: str | Sequence[str] = (),
    overrides: Sequence[str] = (),
) -> ComparedConventions | Matches:
    """Compute a leaderboard under the conventions of other tools, as ``harness conventions`` does.

    Parameters
    ----------
    results : path or Results
        Results, their folder, or a config.
    metrics : str or sequence of str
        Metrics that replace those of the config.
    match : str or float, optional
        Search for settings that give this published value, such as ``"0.4730"`` or ``"47.3%"``:
        first those of each tool, then those with one change. A metric without a cutoff, such as
        ``"ndcg"``, is tried at the usual cutoffs. Write a string to keep zeros at the end.
    tools : str or sequence of str
        Conventions to compare with; all by default.
    run, dataset : str or sequence of str
        Names of the runs and of the datasets; all by default.
    overrides : sequence of str
        Values that replace those of the config, such as ``"policy.ties=stable"``.

    Returns
    -------
    ComparedConventions or Matches
        With `match`: ``fits``, ``rows`` and ``to_pandas()`` have the settings that give the value.

    Raises
    ------
    ConfigError, InputError, AlignmentError, UnknownNameError
        If a config, file or name is wrong, or no convention has one of the metrics.
    """
    check_arguments(locals(), overrides=TEXTS)
    names = names_in(metrics, "metrics")
    chosen = list(dict.fromkeys(find_convention(name).name for name in names_in(tools, "tools")))
    published = None
    if match is not None:
        check_arguments(locals(), match=_VALUE)
        published = PublishedValue.read(match if isinstance(match, str) else repr(match))
    config, cells = _cells_of(results, overrides)
    cells = _only(cells, "run", names_in(run, "run"))
    cells = _only(cells, "dataset", names_in(dataset, "dataset"))
    policy = config.policy.for_runs()
    wanted, left_out = _to_compare(config, names, chosen)
    if published is not None:
        return _matches(published, config, cells, wanted, chosen)
    planned = plans(wanted, policy, chosen)
    all_metrics = [metric for plan in planned for metric in plan.every()]
    with progress(len(cells), "run") as begin:
        systems, failed = _evaluated(config, cells, all_metrics, policy, begin)
    matrices = []
    for name, of_dataset in grouped_by(systems, lambda pair: pair[0].dataset).items():
        by_run = [(system.run, values) for system, values in of_dataset]
        by = of_dataset[0][0].evaluation.weighted_by
        matrices += [replace(_matrix(name, plan, by_run), weighted_by=by) for plan in planned]
    return ComparedConventions(tuple(matrices), left_out, failed)


def _cells_of(results: PathLike | Results, overrides: Sequence[str]) -> tuple[Config, list[Cell]]:
    folder = folder_of(results)
    if not (isinstance(results, Results) or folder.is_dir() or url_of(folder)):
        config = configs.load(folder, overrides)
        cells = resolve(config)
    else:
        manifest = read_manifest(folder)
        refuse_plugins(folder, manifest, "name the config that wrote them")
        check_inputs(folder, manifest)
        config, cells = config_and_cells(folder, manifest, overrides)
        if not cells:
            message = f"keeps none of {counted(len(manifest.cells), 'cell')} of the results"
            raise HarnessError(Problem("where", message, fix="name a run or dataset of theirs"))
    if config.select is not None:
        message = "'harness conventions' does not choose settings on validation queries"
        fix = "add --set select=null, which compares every setting"
        raise HarnessError(Problem("select", message, fix=fix))
    return config, cells


def _only(cells: list[Cell], kind: str, names: Sequence[str]) -> list[Cell]:
    """Return the cells of some runs or datasets; all without names."""
    for name in names:
        check_known(kind, name, dict.fromkeys(getattr(cell, kind) for cell in cells), kind)
    return [cell for cell in cells if not names or getattr(cell, kind) in names]


def _evaluated(
    config: Config, cells: Sequence[Cell], metrics: Sequence[Metric], policy: Policy, begin: Begin
) -> tuple[list[tuple[System, Summaries]], tuple[Failed, ...]]:
    if config.summary.best:
        metrics = [*_chooser(config), *metrics]
    return _systems(cells, list(dict.fromkeys(metrics)), policy, config.summary, begin)


def _matches(
    published: PublishedValue,
    config: Config,
    cells: Sequence[Cell],
    metrics: Sequence[Metric],
    tools: Sequence[str],
) -> Matches:
    """Return the settings of a tool that give a published value; else those with one changed."""
    at_cutoffs = [
        replace(metric, cutoff=cutoff) for metric in metrics for cutoff in _cutoffs_of(metric)
    ]
    policy, fits, tried = config.policy.for_runs(), list[Fit](), 0
    hows = dict.fromkeys((policy.missing_queries, "zero", "skip"))
    for settings in settings_of(at_cutoffs, tools):
        blocks = [settings[start : start + BLOCK] for start in range(0, len(settings), BLOCK)]
        with progress(len(hows) * len(blocks) * len(cells), "run") as begin:
            for how, block in product(hows, blocks):
                rules = replace(policy, missing_queries=how)
                by_metric = [(plain(setting.metric), setting) for setting in block]
                block_metrics = [metric for metric, _ in by_metric]
                for system, summaries in _evaluated(config, cells, block_metrics, rules, begin)[0]:
                    tried += len(block)
                    for metric, setting in by_metric:
                        if isinstance(value := summaries[metric], float):
                            largest = metric.definition.bounds[1]
                            (off,) = published.differences(np.array([value]), largest).tolist()
                            fits.append(Fit(system.dataset, system.run, setting, value, off, how))
        if any(fit.difference == 0 for fit in fits):
            break
    return matches_of(published, fits, tried)


def _cutoffs_of(metric: Metric) -> Sequence[float | None]:
    """Return the cutoffs to try: its own, or the usual ones if it could name one."""
    definition = metric.definition
    takes_rank = definition.cutoff is not None and definition.cutoff.type is int
    if metric.cutoff is not None or not takes_rank:
        return [metric.cutoff]
    return CUTOFFS[1:] if definition.needs_cutoff else CUTOFFS


def _to_compare(
    config: Config, given: Sequence[str], conventions: Sequence[str]
) -> tuple[list[Metric], tuple[str, ...]]:
    """Return the metrics to compare, those given or the config's, and the names of others."""
    policy = replace(config.policy, ties=without_bounds(config.policy.ties))
    update = {"metrics": tuple(given or config.metrics), "policy": policy}
    metrics = config.model_copy(update=update).parsed_metrics()
    tools = [CONVENTIONS[name].metrics for name in conventions or CONVENTIONS]
    known = set[str]().union(*tools)
    directed = (metric for metric in metrics if metric.definition.direction)
    wanted = [metric for metric in directed if metric.definition.name in known]
    others = tuple(str(metric) for metric in metrics if metric not in wanted)
    if not wanted or (given and others):
        message = f"expected metrics that a convention has, got {', '.join(others)}"
        fix = "choose from the list of 'harness metrics --conventions'"
        raise UnknownNameError(Problem("metrics", message, fix=fix))
    return wanted, others


def _chooser(config: Config) -> list[Metric]:
    """Return the metric by which `summary: best` chooses: the first that has a direction."""
    first = sort_metric(config.parsed_metrics())
    if first is not None and first.reference is not None:
        message = f"expected a first metric that needs the qrels only, got {first}"
        fix = "put another metric first in the config: summary.best chooses by it"
        raise UnknownNameError(Problem("metrics", message, fix=fix))
    return [] if first is None else [plain(first)]


def _systems(
    cells: Sequence[Cell],
    metrics: Sequence[Metric],
    policy: Policy,
    summary: Summary,
    begin: Begin,
) -> tuple[list[tuple[System, Summaries]], tuple[Failed, ...]]:
    """Evaluate every cell, and return the systems and those without a part of their dataset.

    Folds are pooled or averaged and seeds averaged as in the leaderboard. If the summary keeps
    the best of several, the first metric chooses. `begin` is called with the name of each cell.
    """
    stubs = [_stub(cell) for cell in cells]
    failed = pooled(Leaderboard(tuple(stubs), (), summary)).failed
    left_out = {incomplete.key for incomplete in failed}
    keys = [system_key(stub, summary) for stub in stubs]
    evaluated = [at for at, key in enumerate(keys) if key not in left_out]
    evaluator, weights = _Evaluator(metrics, policy), load_weights(cells)
    entries: list[Entry] = []
    refused: dict[int, dict[Metric, str]] = {}
    for places in grouped_by(evaluated, keys.__getitem__).values():
        parts, reasons = list[Entry](), dict[Metric, str]()
        for at in places:
            begin(str(cells[at].key))
            evaluation = evaluator.evaluate(cells[at], reasons)
            if (table := weights.get(cells[at].dataset)) is not None:
                evaluation = table.weigh(evaluation)
            parts.append(replace(stubs[at], evaluation=evaluation))
        (whole,) = pooled(Leaderboard(tuple(parts), (), summary)).entries
        # the values of all metrics of all cells would not fit into memory
        values, labels = whole.evaluation.values[:, :1], whole.evaluation.metrics[:1]
        first = replace(whole.evaluation, values=values, metrics=labels, weights={}, errors={})
        if not summary:
            dataset, run = _names(cells, cells[places[0]])
            first = replace(first, dataset=dataset, run=run)
        entries.append(Entry(first, whole.columns, whole.pattern, known=whole.summary))
        refused[id(entries[-1])] = reasons
    if summary:
        systems = repetitions_of(Leaderboard(tuple(entries), (), summary))
    else:
        systems = tuple(System.of([entry], entry.run) for entry in entries)
    summaries: list[tuple[System, Summaries]] = []
    for system in systems:
        reasons = {}
        for entry in system.entries:
            reasons |= refused[id(entry)]
        labelled = {metric: str(at) for at, metric in enumerate(metrics)}
        of_system = {m: reasons.get(m) or system.value(name) for m, name in labelled.items()}
        summaries.append((system, of_system))
    return summaries, failed


def _stub(cell: Cell) -> Entry:
    """Return an entry without values, which shows the cells that belong together."""
    none = Evaluation(np.empty((0, 0)), pa.array([], pa.string()), ())
    named = replace(none, run=cell.run, dataset=cell.dataset)
    return Entry(named, cell.columns, cell.dataset_key if cell.of_dataset else "")


def _names(cells: Sequence[Cell], cell: Cell) -> tuple[str, str]:
    """Return the names of a cell's dataset and run, with the columns that tell them apart."""
    paths = {other.dataset_entry.path for other in cells if other.dataset == cell.dataset}
    columns = cell.of_dataset.items()
    own = [pair for pair in cell.columns.items() if pair not in columns]
    dataset = f"{cell.dataset} {pairs(columns if len(paths) > 1 else ())}"
    return dataset.rstrip(), f"{cell.run} {pairs(own)}".rstrip()


class _Evaluator:
    """Evaluates cells, reading the qrels of each dataset once.

    The metrics of its evaluations are labelled with their place, since two ways to compute can
    have one name.
    """

    def __init__(self, metrics: Sequence[Metric], policy: Policy) -> None:
        self._metrics, self._policy = metrics, policy
        self._labelled = tuple(replace(metric, label=str(at)) for at, metric in enumerate(metrics))
        self._by_settings = grouped_by(range(len(metrics)), lambda at: metrics[at].settings)
        self._qrels: dict[tuple[str, str], Qrels] = {}

    def evaluate(self, cell: Cell, reasons: dict[Metric, str]) -> Evaluation:
        """Return the values of every metric; NaN if it was refused, for one of the `reasons`."""
        key = (cell.dataset, cell.dataset_entry.path)
        if key not in self._qrels:
            self._qrels[key] = cell.read_qrels()
        run, policies = cell.run_entry, policies_of(self._metrics, self._policy)
        qrels, rules = self._qrels[key], (self._policy, policies)
        if cell.is_fused:
            parts = [align(qrels, cell.read_run(qrels), *rules)]
        else:
            files = readers.align_run(qrels, run.path, *rules, name=cell.run, **run.options())
            parts = list(files)
        qids = pa.concat_arrays([part.qids for part in parts])
        values = np.full((len(qids), len(self._metrics)), np.nan)
        weights: dict[int, Floats] = {}
        for places in self._by_settings.values():
            for at, part in self._values(parts, places, reasons):
                values[:, at] = part.values
                weights |= {at[column]: weight for column, weight in part.weights.items()}
        result = Evaluation(values, qids, self._labelled, self._policy, weights=weights)
        return replace(result, run=cell.run, dataset=cell.dataset)

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


def _matrix(dataset: str, plan: MetricPlan, systems: Sequence[tuple[str, Summaries]]) -> Matrix:

    def row(variant: Variant) -> ConventionRow:
        if variant.metric is None:
            none = np.full(len(systems), np.nan)
            return ConventionRow(variant.name, none, (variant.refused,) * len(systems))
        of_systems = [summaries[plain(variant.metric)] for _, summaries in systems]
        values = np.array([value if isinstance(value, float) else np.nan for value in of_systems])
        refused = tuple(value if isinstance(value, str) else "" for value in of_systems)
        return ConventionRow(variant.name, values, refused)

    base = row(Variant(BASE, plan.metric))
    effects = [
        effect(plan.metric, choice, own, base.values, list(map(row, others)))
        for choice, (own, others) in plan.choices.items()
    ]
    effects.sort(key=lambda effect: -1.0 if math.isnan(effect.tau) else effect.tau)
    effects.sort(key=lambda effect: round(abs(effect.change), DIGITS), reverse=True)
    walks = [_walk(name, base, [*map(row, way)]) for name, way in plan.walks.items()]
    walks = [walk for walk in walks if not np.isnan(walk.values).all()]
    names, rows = tuple(name for name, _ in systems), tuple(map(row, plan.variants))
    return Matrix(dataset, plan.metric, names, base, rows, tuple(effects), tuple(walks))


def compare(metric: Metric, base: Floats, other: Floats) -> OrderComparison:
    """Compare two orders of systems; the metric tells which way is better."""

    def signs(values: Floats) -> Array:
        rounded = values.round(DIGITS)
        first, second = np.triu_indices(values.size, 1)
        differences: Array = np.sign(rounded[first] - rounded[second])
        return differences

    both = np.flatnonzero(~np.isnan(base) & ~np.isnan(other))
    before, after = signs(base[both]), signs(other[both])
    bottom = math.sqrt(np.count_nonzero(before) * np.count_nonzero(after))
    tau = float(before @ after) / bottom if bottom else math.nan
    was, top = (
        tuple(both[sorted(best(metric, values[both].tolist(), DIGITS))].tolist())
        for values in (base, other)
    )
    return OrderComparison(tau, bool((before != after).any()), top, top != was, both.size)


def effect(
    metric: Metric, choice: str, own: str, base: Floats, rows: Sequence[ConventionRow]
) -> Effect:
    """Return the effect of a choice, over its values; `own` and `base` are the base's."""
    value, change, system = "", 0.0, -1
    tau, tau_value = math.inf, ""
    best_changed, lost = [], []
    for row in rows:
        differences = np.nan_to_num(row.values - base, nan=0.0)
        if differences.size:
            at = int(np.abs(differences).argmax())
            if round(abs(differences[at]) - abs(change), DIGITS) > 0:
                value, change, system = row.name, differences[at].item(), at
        order = compare(metric, base, row.values)
        if order.tau < tau:
            tau, tau_value = order.tau, row.name
        if order.best_changed:
            best_changed.append(row.name)
        if (np.isnan(row.values) & ~np.isnan(base)).any():
            lost.append(row.name)
    tau = math.nan if math.isinf(tau) else tau
    names = tuple(best_changed), tuple(lost)
    return Effect(choice, own, value, change, system, tau, tau_value, *names)


def _walk(name: str, base: ConventionRow, way: Sequence[ConventionRow]) -> Walk:
    """Return the change by each step to a convention; `way` has the summaries after each.

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
