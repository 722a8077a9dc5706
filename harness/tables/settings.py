"""What a table shows, as the config's ``tables:`` says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, TypeVar, get_args

from ..core.metric import Metric
from .select import matched, metric_spellings

T = TypeVar("T")
Spread = Literal["none", "deviation", "interval"]
Marks = Literal["letters", "daggers", "none"]
Extra = Literal["n", "tier", "rank", "coverage"]
Width = Literal["column", "page"]
EXTRAS: tuple[Extra, ...] = get_args(Extra)
ALL = ("*",)


@dataclass(frozen=True)
class Settings:
    """One table.

    Parameters
    ----------
    metrics, datasets, runs : tuple of str
        Columns, blocks of columns, rows: patterns of :func:`~harness.tables.select.select`.
    groups : mapping of str to tuple of str
        Rows by title of group, in place of `runs`.
    names : mapping of str to str
        What runs, metrics and datasets are called.
    sort : str, optional
        A metric, or ``dataset: metric``; rows of each group by it, best first.
    digits : mapping of str to int
        Decimals by metric or pattern; 3, and 1 for values x 100, where none is given.
    percent : tuple of str
        Metrics, or patterns of them, whose values are shown x 100. ``*`` takes those within
        [0, 1] or [-1, 1] alone; others only by name.
    leading_zero : bool
        ``0.423`` in place of ``.423``.
    spread : {"none", "deviation", "interval"}
        Beside each value: standard deviation over repetitions, or interval over queries.
    marks : {"letters", "daggers", "none"} or None
        None: daggers where there are baselines, letters where all pairs are compared.
    average : bool
        A further block with the mean over the datasets.
    extras : tuple of {"n", "tier", "rank", "coverage"}
    siunitx : bool
        LaTeX's numbers in S columns.
    width : {"column", "page"}
        LaTeX's ``table``, or ``table*``.
    caption, label : str, optional
    caption_latex : str, optional
        What stands in place of `caption` in LaTeX, as LaTeX: it is not escaped.
    """

    metrics: tuple[str, ...] = ALL
    datasets: tuple[str, ...] = ALL
    runs: tuple[str, ...] = ALL
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    sort: str | None = None
    digits: Mapping[str, int] = field(default_factory=dict)
    percent: tuple[str, ...] = ()
    leading_zero: bool = False
    spread: Spread = "none"
    marks: Marks | None = None
    average: bool = False
    extras: tuple[Extra, ...] = ()
    siunitx: bool = False
    width: Width = "column"
    caption: str | None = None
    caption_latex: str | None = None
    label: str | None = None

    def is_percent(self, metric: Metric) -> bool:
        """Whether a metric's values are shown x 100: ``*`` takes those in [0, 1] or [-1, 1]."""
        low, high = metric.definition.bounds
        if low in (0, -1) and high == 1:
            return self._in_percent(metric, self.percent)
        named = tuple(one for one in self.percent if one != "*")
        takes = any(not one.startswith("!") for one in named)
        return takes and self._in_percent(metric, named)

    def _in_percent(self, metric: Metric, patterns: tuple[str, ...]) -> bool:
        name = str(metric)
        return bool(patterns) and name in matched(patterns, [name], metric_spellings([name]))

    def digits_of(self, metric: Metric) -> int:
        """Return how many decimals of a metric's values are shown."""
        return of_metric(self.digits, str(metric), 1 if self.is_percent(metric) else 3)

    def name(self, own: str) -> str:
        """Return what a run, metric or dataset is called."""
        return of_metric(self.names, own, own, patterns=False)


DEFAULT = Settings()


def of_metric(given: Mapping[str, T], name: str, default: T, patterns: bool = True) -> T:
    """Return what is given for a name: by itself, in another spelling, or by the first pattern.

    ``*`` stands for all that no other pattern matches.

    >>> import harness.metrics
    >>> of_metric({"*": 3, "ndcg_cut_10": 2}, "ndcg@10", 0), of_metric({"P@*": 1}, "map", 0)
    (2, 0)
    >>> of_metric({"*": 3, "P@*": 1}, "P@5", 0)
    1
    """
    if name in given:
        return given[name]
    spellings = metric_spellings([name])
    for key, value in given.items():
        if spellings(key):
            return value
    for key in sorted(given, key=lambda key: key == "*") if patterns else ():
        if fnmatchcase(name, key.replace("[", "[[]")):
            return given[key]
    return default
