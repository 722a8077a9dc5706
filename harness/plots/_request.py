"""What one picture shows: systems, metrics and a baseline, chosen from a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ..core.metric import Metric
from ..core.ragged import Floats
from ..core.study import Study
from ..core.systems import System
from ..errors import InputError, Problem, UnknownNameError, did_you_mean
from ..tables.select import metric_spellings, select
from ._labels import better, cut, cut_all
from ._settings import Settings
from ._style import characters


@dataclass(frozen=True)
class Name:
    """A system in a picture: its label, and its place among the study's runs (its look)."""

    label: str
    place: int


@dataclass(frozen=True, eq=False)
class Request:
    """One picture.

    Parameters
    ----------
    study : Study
    settings : Settings
    dataset : str
    metrics : tuple of Metric
        One; two for a scatter; one for each cutoff.
    systems : tuple of System
        Of the dataset, in the order asked for.
    baseline : System, optional
        For the kinds that need one.
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
        return cut(self.called(str(metric)), characters(self.settings.width, 0.6)) + better(metric)

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

    Raises
    ------
    UnknownNameError
        Where a metric, dataset, run or baseline is not in the study.
    """
    datasets = select(settings.datasets, study.datasets, "dataset")
    runs = select(settings.runs, study.runs, "run")
    groups = kind.groups(chosen(study.board.metrics, settings))
    baselines = _baselines(study, settings) if kind.needs_baseline else ()
    found = False
    for dataset in datasets:
        systems = tuple(
            one for run in runs if (one := study.system(dataset, run)) is not None
        )  # fmt: skip
        held = (study.system(dataset, name) for name in baselines)
        baseline = next((one for one in held if one is not None), None)
        if not systems or (kind.needs_baseline and baseline is None):
            continue
        for metrics in groups:
            found = True
            yield Request(study, settings, dataset, metrics, systems, baseline)
    if not found and groups:
        what = f"no dataset holds the baseline {', '.join(baselines)}" if baselines else (
            f"none of {', '.join(datasets)} holds {', '.join(runs)}"
        )  # fmt: skip
        raise UnknownNameError(f"plots: {settings.kind}: {what}")


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


def each(metrics: Sequence[Metric]) -> tuple[tuple[Metric, ...], ...]:
    """Return a picture for each metric: what most kinds have as ``groups``."""
    return tuple((metric,) for metric in metrics)


def _baselines(study: Study, settings: Settings) -> tuple[str, ...]:
    if settings.baseline is not None:
        if settings.baseline not in study.runs:
            near = did_you_mean(settings.baseline, study.runs)
            there = ", ".join(study.runs)
            raise UnknownNameError(
                f"plots: there is no run '{settings.baseline}'{near}  (there are: {there})"
            )
        return (settings.baseline,)
    plan = study.comparisons.plan if study.comparisons is not None else None
    named: Mapping[str, object] = study.manifest.get("config", {}).get("compare") or {}
    found = plan.baselines if plan is not None else named.get("baseline", ())
    given = (found,) if isinstance(found, str) else tuple(map(str, found))  # type: ignore[call-overload]
    if not given:
        raise UnknownNameError(
            f"plots: {settings.kind} needs a baseline; say 'baseline: RUN' there or under "
            f"'compare:' (--baseline)  (there are: {', '.join(study.runs)})"
        )
    return given
