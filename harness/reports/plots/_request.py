"""What one picture shows: systems, metrics and a baseline, chosen from a study."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ...core.metric import Metric
from ...core.ragged import Bools, Floats
from ...core.study import Study
from ...core.systems import System
from ...core.text import cut, cut_all
from ...errors import InputError, Problem, UnknownNameError, did_you_mean
from ..paper_table.select import Found, metric_spellings, select, setting_problems
from ..paper_table.select import problems as of_patterns
from ._settings import Settings
from ._style import better, characters

KINDS = (
    "critical-difference", "cutoffs", "differences", "distribution", "effects", "heatmap",
    "scatter",
)  # fmt: skip


def names() -> list[str]:
    """Return the names of all kinds."""
    return list(KINDS)


def find(name: str) -> ModuleType:
    """Return the kind of that name.

    Raises
    ------
    UnknownNameError
        Where there is none.
    """
    if name not in KINDS:
        near = did_you_mean(name, KINDS)
        raise UnknownNameError(f"unknown picture '{name}'{near}  (all: {', '.join(KINDS)})")
    return importlib.import_module(f".{name.replace('-', '_')}", __package__)


MOST = 50
"""Pictures that one entry may ask for."""
ROOM, BEST = 20, 5
"""Systems that a legend has room for; of more, as many of the best are named, the rest grey."""
SAY_BASELINE = "say 'baseline: RUN' there or under 'compare:'"
COMPARE = "draws comparisons, and the config asks for none; add such as 'compare: {baseline: bm25}'"


def problems(
    settings: Settings,
    runs: Sequence[str] | None,
    datasets: Sequence[str] | None,
    metrics: Sequence[Metric] | None,
    baselines: Sequence[str] | None,
) -> Found:
    """Yield each problem with its place in the settings; None is not known yet, and not checked.

    `baselines` are those of the comparisons; None if nothing is compared.
    """
    kind = find(settings.kind)
    yield from setting_problems(settings, runs, datasets)
    baseline = settings.baseline
    if runs is not None and baseline is not None and baseline not in runs:
        near = did_you_mean(baseline, runs)
        there = f"there is no run '{baseline}'{near}  (there are: {', '.join(runs)})"
        yield ("baseline",), there
    if kind.needs_comparisons and baselines is None:
        yield (), f"{settings.kind} {COMPARE}"
    elif kind.needs_baseline and settings.baseline is None and not baselines:
        there = f"  (there are: {', '.join(runs)})" if runs else ""
        yield (), f"{settings.kind} needs a baseline; {SAY_BASELINE}{there}"
    if metrics is None:
        return
    names = [str(metric) for metric in metrics]
    wrong = list(of_patterns(settings.metrics, names, "metric", metric_spellings(names)))
    for place, what in wrong:
        yield ("metrics", place), what
    if wrong:
        return
    groups = kind.groups(chosen(metrics, settings))
    if not groups:
        yield (("metrics",) if settings.metrics else ()), f"{settings.kind} {kind.lacking}"
    if runs is not None:
        known = [*runs, *names, *(name for group in groups for name in kind.file_names(group))]
        for key in settings.names:
            if key not in known:
                what = f"there is no run or metric '{key}'{did_you_mean(key, known)}"
                yield ("names", key), what


def too_many(settings: Settings, datasets: Sequence[str], metrics: Sequence[Metric]) -> str:
    """Return what is wrong if an entry asks for more than `MOST` pictures; an empty text if not."""
    some = select(settings.datasets, datasets, "dataset")
    n = len(find(settings.kind).groups(chosen(metrics, settings))) * len(some)
    return "" if n <= MOST else f"{settings.kind}: expected at most {MOST} pictures, got {n:,}"


def chosen(metrics: Sequence[Metric], settings: Settings) -> tuple[Metric, ...]:
    """Return the metrics asked for; where none are, those that have a direction and a mean."""
    by_name = {str(metric): metric for metric in metrics}
    if settings.metrics:
        names = select(settings.metrics, tuple(by_name), "metric", metric_spellings(by_name))
        return tuple(by_name[name] for name in names)
    usual = [
        metric
        for metric in metrics
        if metric.definition.direction is not None
        and metric.definition.summary == "mean"
        and metric.label is None  # the bounds over orders of ties
    ]
    return tuple(usual or metrics)


@dataclass(frozen=True)
class Name:
    """A system in a picture: its label, and its place among the study's runs (its look)."""

    label: str
    place: int


@dataclass(frozen=True, eq=False)
class Request:
    """One picture of a dataset: its systems in the order asked for, and its baseline.

    `metrics` is one; two for a scatter; one for each cutoff.
    """

    study: Study
    settings: Settings
    dataset: str
    metrics: tuple[Metric, ...]
    systems: tuple[System, ...]
    baseline: System | None = None

    @property
    def metric(self) -> Metric:
        """The only metric, or the first."""
        return self.metrics[0]

    @property
    def others(self) -> tuple[System, ...]:
        """The systems besides the baseline."""
        return tuple(one for one in self.systems if one is not self.baseline)

    @property
    def level(self) -> float:
        """Level of significance."""
        found = self.study.comparisons
        return 0.05 if found is None else found.plan.level

    def called(self, name: str) -> str:
        """Return what a run or metric is called."""
        return self.settings.names.get(name, name)

    def axis(self, metric: Metric) -> str:
        """Return a metric's label: what it is called, and the way that is better."""
        return self.short(str(metric), metric, characters(self.settings.width, 0.6))

    def short(self, name: str, metric: Metric, most: int = 24) -> str:
        """Return what `name` is called, cut to `most` characters, and the way that is better."""
        return cut(self.called(name), most) + better(metric)

    def named(self, systems: Sequence[System], share: float = 0.4) -> tuple[Name, ...]:
        """Return the systems' names, cut to a share of the picture's width."""
        width = characters(self.settings.width, share)
        labels = cut_all([self.called(one.run) for one in systems], width)
        places = {run: place for place, run in enumerate(self.study.runs)}
        return tuple(
            Name(label, places[one.run]) for label, one in zip(labels, systems, strict=True)
        )

    def matrix(self, systems: Sequence[System], metric: Metric) -> tuple[list[str], Floats]:
        """Return the queries of any of the systems, and their values ``(n_systems, n_queries)``.

        NaN where a system has none.
        """
        qids = list(dict.fromkeys(qid for one in systems for qid in one.qids))
        column = {qid: place for place, qid in enumerate(qids)}
        values = np.full((len(systems), len(qids)), np.nan)
        for row, system in zip(values, systems, strict=True):
            at = slice(None) if system.qids == qids else [column[qid] for qid in system.qids]
            row[at] = system.values(metric)
        return qids, values

    def refuse(self, what: str, fix: str = "") -> InputError:
        """Return the error that this picture cannot be drawn."""
        where = f"plots: {self.settings.kind} of {', '.join(map(str, self.metrics))}"
        return InputError(Problem(f"{where} on {self.dataset}", what, fix=fix))


def requests(study: Study, settings: Settings, kind: ModuleType) -> Iterator[Request]:
    """Yield the pictures that one entry of a config stands for.

    Datasets that hold none of the runs asked for, or not the baseline, have none.
    """
    baselines = _baselines(study)
    wrong = problems(settings, study.runs, study.datasets, study.board.metrics, baselines)
    if texts := [f"plots: {what}" for _, what in wrong]:
        raise UnknownNameError(texts)
    if settings.baseline is not None:
        baselines = (settings.baseline,)
    runs = select(settings.runs, study.runs, "run")
    groups = kind.groups(chosen(study.board.metrics, settings))
    found = False
    for dataset in select(settings.datasets, study.datasets, "dataset"):
        systems = [one for run in runs if (one := study.system(dataset, run)) is not None]
        held = (study.system(dataset, name) for name in baselines or ())
        baseline = next((one for one in held if one is not None), None)
        if not systems or (kind.needs_baseline and baseline is None):
            continue
        for metrics in groups:
            found = True
            yield Request(study, settings, dataset, metrics, tuple(systems), baseline)
    if not found:
        names = ", ".join(baselines or ()) if kind.needs_baseline else ", ".join(runs)
        what = "the baseline and a run of those chosen" if kind.needs_baseline else "a run"
        raise UnknownNameError(f"plots: {settings.kind}: no dataset chosen holds {what}: {names}")


def sign_of(metric: Metric) -> int:
    """Return 1, or -1 if lower values of the metric are better."""
    return -1 if metric.definition.direction == "lower" else 1


def best_of_many(values: Floats, metric: Metric) -> Bools:
    """Return which systems a legend names: all up to `ROOM`, and of more the `BEST`."""
    shown = np.ones(len(values), dtype=bool)
    if len(values) > ROOM:
        worth = np.where(np.isnan(values), -np.inf, sign_of(metric) * values)
        shown[np.argsort(-worth, kind="stable")[BEST:]] = False
    return shown


def each(metrics: Sequence[Metric]) -> tuple[tuple[Metric, ...], ...]:
    """Return a picture for each metric: what most kinds have as ``groups``."""
    return tuple((metric,) for metric in metrics)


def _baselines(study: Study) -> tuple[str, ...] | None:
    """Return the baselines of the comparisons, or those that the config names; None: no plan."""
    if study.comparisons is not None:
        return study.comparisons.plan.baselines
    named = study.manifest.get("config", {}).get("compare")
    return None if named is None else tuple(named.get("baseline", ()))
