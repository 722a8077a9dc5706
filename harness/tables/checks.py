"""What is wrong with a table's settings, before any table is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.metric import Metric
from ..errors import did_you_mean
from .select import matched, metric_spellings
from .select import problems as of_patterns
from .settings import Settings

_NO_LABEL = "\\{}%#&~^$"
Found = Iterator[tuple[tuple[str | int, ...], str]]


def problems(
    settings: Settings,
    runs: Sequence[str] | None,
    datasets: Sequence[str] | None,
    metrics: Sequence[Metric] | None,
    compared: bool,
) -> Found:
    """Yield each problem with its place in the settings, such as ``("metrics", 1)``.

    Parameters
    ----------
    settings : Settings
    runs, datasets : sequence of str or None
        The names there are; None where they are not known yet, and then not checked.
    metrics : sequence of Metric or None
        Those evaluated, as above.
    compared : bool
        Whether runs are compared with each other.
    """
    if metrics is not None:
        yield from _metrics(settings, [str(metric) for metric in metrics])
    if datasets is not None:
        for place, what in of_patterns(settings.datasets, datasets, "dataset"):
            yield ("datasets", place), what
    if runs is not None:
        for place, what in of_patterns(settings.runs, runs, "run"):
            yield ("runs", place), what
        yield from _groups(settings, runs)
    for own in (runs, datasets, metrics and _shown(settings, metrics)):
        yield from _twice(settings, own or ())
    if runs is not None and datasets is not None and metrics is not None:
        yield from _names(settings, [*runs, *datasets], [str(metric) for metric in metrics])
    if settings.sort is not None and datasets is not None and metrics is not None:
        yield from _sort(settings.sort, datasets, metrics)
    if not compared:
        yield from _needs_comparisons(settings)
    if settings.label is not None and (near := as_label(settings.label)) != settings.label:
        signs = " ".join(dict.fromkeys(sign for sign in settings.label if sign in _NO_LABEL))
        what = rf"has what LaTeX's \label cannot take ({signs}): '{settings.label}'"
        yield ("label",), f"{what}; take '{near}'"


def as_label(text: str) -> str:
    r"""Return a text with a hyphen for each sign that LaTeX's ``\label`` cannot take.

    >>> as_label("main_table"), as_label("50% & more")
    ('main_table', '50- - more')
    """
    return "".join("-" if sign in _NO_LABEL else sign for sign in text)


def _metrics(settings: Settings, names: Sequence[str]) -> Found:
    spellings = metric_spellings(names)
    for key, patterns in (("metrics", settings.metrics), ("percent", settings.percent)):
        for place, what in of_patterns(patterns, names, "metric", spellings):
            yield (key, place), what
    for pattern in settings.digits:
        for _, what in of_patterns([pattern], names, "metric", spellings):
            yield ("digits", pattern), what


def _names(settings: Settings, others: Sequence[str], metrics: Sequence[str]) -> Found:
    known, spellings = [*others, *metrics], metric_spellings(metrics)
    for key in settings.names:
        if key not in known and not spellings(key):
            what = f"there is no run, dataset or metric '{key}'{did_you_mean(key, known)}"
            yield ("names", key), what


def _shown(settings: Settings, metrics: Sequence[Metric]) -> Sequence[str]:
    """Return the metrics that the table has, as far as they can be told."""
    names = [str(metric) for metric in metrics]
    return matched(settings.metrics, names, metric_spellings(names))


def _twice(settings: Settings, known: Sequence[str]) -> Found:
    """Yield new names that another row, column, or block of columns has too."""
    called: dict[str, str] = {}
    for own in known:
        first = called.setdefault(settings.name(own), own)
        if first != own:
            spellings = [metric_spellings([one]) for one in (own, first)]
            keys = (key for find in spellings for key in settings.names if find(key))
            key = next((one for one in (own, first) if one in settings.names), "") or next(keys)
            what = f"{first} and {own} are both called '{settings.name(own)}'"
            yield ("names", key), what


def sort_key(
    text: str, datasets: Sequence[str], metrics: Sequence[Metric]
) -> tuple[str | None, list[str]]:
    """Return the dataset and the metrics that ``metric`` or ``dataset: metric`` names.

    The dataset is None where none is named; no metric where there is none of that name.
    """
    names = [str(metric) for metric in metrics]
    dataset, colon, metric = text.partition(": ")
    own = dataset if colon and dataset in datasets else None
    metric = text if own is None else metric
    return own, [metric] if metric in names else list(metric_spellings(names)(metric))


def _sort(text: str, datasets: Sequence[str], metrics: Sequence[Metric]) -> Found:
    names = [str(metric) for metric in metrics]
    _, found = sort_key(text, datasets, metrics)
    if not found:
        near = did_you_mean(text.rpartition(": ")[2], names)
        what = f"must be a metric, or 'dataset: metric', and is '{text}'{near}"
        yield ("sort",), f"{what}  (metrics: {', '.join(names)}; datasets: {', '.join(datasets)})"
    elif len(found) > 1:
        yield ("sort",), f"must be one metric, and '{text}' is {', '.join(found)}"


def _needs_comparisons(settings: Settings) -> Found:
    if settings.marks in ("letters", "daggers"):
        yield ("marks",), f"{settings.marks} mark significance, and no runs are compared"
    for place, extra in enumerate(settings.extras):
        if extra in ("tier", "rank"):
            yield ("extras", place), f"{extra} comes from comparisons, and no runs are compared"


def _groups(settings: Settings, runs: Sequence[str]) -> Found:
    named: dict[str, str] = {}
    for title, patterns in settings.groups.items():
        for place, what in of_patterns(patterns, runs, "run"):
            yield ("groups", title, place), what
        for place, name in enumerate(patterns):
            if name in runs and named.setdefault(name, title) != title:
                what = f"run '{name}' stands in the group '{named[name]}' already"
                yield ("groups", title, place), what
