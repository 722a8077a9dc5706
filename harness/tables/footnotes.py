"""What a reader must know of single cells: missing queries, undefined values, tests not made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from ..core.incomplete import FEWER, incomplete
from ..core.metric import Metric
from ..core.study import Study
from ..core.systems import System
from .caption import SHOWN, metrics_of
from .markup import listed
from .model import UNDEFINED, Cell, Column
from .rules import consequences, values_of_missing
from .settings import Settings
from .signs import Signs


def footnotes(
    study: Study, settings: Settings, columns: Sequence[Column], runs: Sequence[str],
    signs: Signs, cells: Sequence[Sequence[Cell]],
) -> tuple[str, ...]:  # fmt: skip
    """Return the notes below a table; `cells` are its columns."""
    datasets = list(dict.fromkeys(one.dataset for one in columns if one.dataset is not None))
    found = [*_absent(study, settings, datasets, runs)]
    found += _fewer(study, settings, datasets, runs)
    for dataset in datasets:
        systems = [one for run in runs if (one := study.system(dataset, run)) is not None]
        where = f" of {settings.name(dataset)}" if len(datasets) > 1 else ""
        found += _missing(settings, metrics_of(columns), systems, where)
        found += _undefined(settings, columns, dataset, systems, where)
    noted = {cell.text == UNDEFINED for column in cells for cell in column if cell.note}
    if False in noted:
        found.append("n/N after a value: it is over n of the N queries, others over more.")
    if True in noted:
        found.append(
            f"n/N after {UNDEFINED}: the run has n of the N datasets, so no mean over them."
        )
    found += _without_interval(settings, columns, cells)
    found += _uncounted(settings, columns)
    found += _untested(signs, runs, datasets, columns)
    return tuple(found)


def _absent(
    study: Study, settings: Settings, datasets: Sequence[str], runs: Sequence[str]
) -> Iterator[str]:
    absent = [
        f"{settings.name(run)} on {settings.name(dataset)}"
        for dataset in datasets
        for run in runs
        if study.system(dataset, run) is None
    ]
    if len(absent) > SHOWN:
        yield f"Not evaluated: {len(absent)} pairs of a run and a dataset, shown as {UNDEFINED}."
    elif absent:
        yield f"Not evaluated: {listed(absent)}."


def _fewer(
    study: Study, settings: Settings, datasets: Sequence[str], runs: Sequence[str]
) -> Iterator[str]:
    known = incomplete(study.board)
    found = [known[dataset, run] for dataset in datasets for run in runs if (dataset, run) in known]
    if found:
        several = len(datasets) > 1
        each = listed(
            one.called(settings.name(one.run), settings.name(one.dataset) * several)
            for one in found
        )
        yield f"{FEWER[:1].upper()}{FEWER[1:]}: {each}."


def _missing(
    settings: Settings, metrics: Sequence[Metric], systems: Sequence[System], where: str
) -> Iterator[str]:
    found = [
        f"{settings.name(system.run)} {answered:,}/{queries:,}"
        for system in systems
        for answered, queries in [system.coverage]
        if answered < queries
    ]
    if not found:
        return
    rule = "the others are left out"
    if systems[0].entries[0].evaluation.policy.missing_queries == "zero":
        values = values_of_missing(metrics)
        what = consequences(values, lambda one: settings.name(str(one)), "count", "are left out")
        rule = f"the others {what}" if what else "the others count alike"
    yield f"Queries{where} answered: {listed(found)}; {rule}."


def _undefined(
    settings: Settings, columns: Sequence[Column], dataset: str,
    systems: Sequence[System], where: str,
) -> Iterator[str]:  # fmt: skip
    together: dict[str, list[str]] = {}
    for metric in metrics_of(one for one in columns if one.dataset == dataset):
        if metric.settings.undefined not in (None, "skip"):
            continue
        counts = {system.run: (system.n(metric), len(system.qids)) for system in systems}
        if all(n == total for n, total in counts.values()):
            continue
        if len(set(counts.values())) == 1:
            ((n, total),) = set(counts.values())
            text = f"{n:,}/{total:,}"
        else:
            text = listed(
                f"{settings.name(run)} {n:,}/{total:,}"
                for run, (n, total) in counts.items()
                if n < total
            )
        together.setdefault(text, []).append(settings.name(str(metric)))
    for text, names in together.items():
        verb = "is" if len(names) == 1 else "are"
        yield f"Queries{where} for which {listed(names)} {verb} defined: {text}."


def _without_interval(
    settings: Settings, columns: Sequence[Column], cells: Sequence[Sequence[Cell]]
) -> Iterator[str]:
    if settings.spread != "interval":
        return
    without = [
        column
        for column, shown in zip(columns, cells, strict=True)
        if column.kind == "metric"
        and column.dataset is not None
        and any(not math.isnan(cell.value) for cell in shown)
        and not any(cell.ends for cell in shown)
    ]
    if without:
        names = listed(settings.name(str(metric)) for metric in metrics_of(without))
        yield f"No interval over queries: {names}."


def _uncounted(settings: Settings, columns: Sequence[Column]) -> Iterator[str]:
    averaged = [one.metric for one in columns if one.dataset is None]
    if averaged:
        rest = [one for one in metrics_of(columns) if one not in averaged]
        if rest:
            names = listed(settings.name(str(one)) for one in rest)
            yield f"Not averaged over datasets: {names}."


def _untested(
    signs: Signs, runs: Sequence[str], datasets: Sequence[str], columns: Sequence[Column]
) -> Iterator[str]:
    if signs.comparisons is None:
        return
    shown = {str(metric) for metric in metrics_of(columns)}
    notes = Counter(
        one.note or "no answer"
        for one in signs.comparisons.rows
        if math.isnan(one.p_adjusted)
        and one.dataset in datasets
        and one.run in runs
        and str(one.metric) in shown
    )
    for note, n in notes.items():
        yield f"No p-value for {n:,} {'comparison' if n == 1 else 'comparisons'} ({note})."
