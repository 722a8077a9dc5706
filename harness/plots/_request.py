"""What one picture shows: systems, metrics and a baseline, chosen from a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ..core.metric import Metric
from ..core.ragged import Floats
from ..core.study import Study
from ..core.systems import System
from ..core.widths import cut, cut_all
from ..errors import InputError, Problem, UnknownNameError
from ..tables.select import select
from ._checks import check, chosen
from ._labels import better
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
    baselines = _baselines(study)
    check(settings, study.runs, study.datasets, study.board.metrics, baselines)
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


def each(metrics: Sequence[Metric]) -> tuple[tuple[Metric, ...], ...]:
    """Return a picture for each metric: what most kinds have as ``groups``."""
    return tuple((metric,) for metric in metrics)


def _baselines(study: Study) -> tuple[str, ...] | None:
    """Return the baselines of the comparisons, or those that the config names; None: no plan."""
    if study.comparisons is not None:
        return study.comparisons.plan.baselines
    named = study.manifest.get("config", {}).get("compare")
    return None if named is None else tuple(named.get("baseline", ()))
