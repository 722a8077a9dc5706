"""A metric over dated results folders, and the folders in which it changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..core.entries import System
from ..core.metric import Metric
from ..core.names import compared
from ..errors import InputError, Problem, UnknownNameError, check_known
from ..input_files import name_of
from ..reports.history import Change, History, Point
from ..reports.select import sort_metric
from ..stats.differences import EPS
from ..stats.gate import Margin, judge
from .gate import pair_of
from .results import read_results

DATE = re.compile(r"(\d{4})[-_.]?(\d\d)[-_.]?(\d\d)(?:[T_-]?(\d\d)[-:_.]?(\d\d)(?!\d))?")


def history(
    folders: Sequence[Path],
    metrics: Sequence[str] = (),
    dataset: str | None = None,
    tolerance: float = 0.0,
    level: float = 0.05,
) -> History:
    """Return the values of runs in results folders, in the order of the dates in their names.

    A series is one metric of one run on one dataset. Each folder is held against the first one of
    its level by the gate's test, in both directions, with `tolerance` as its margin; a loss or
    gain beyond it starts a new level. `level` bounds the probability of one false change in all
    series together, by Bonferroni. Another policy or other queries start a new level too.
    """
    names = [name_of(folder) for folder in folders]
    if len({*names}) < max(2, len(names)):
        what = f"expected two results folders or more, each once, got {len(names)}"
        raise UnknownNameError(Problem("--history", what, fix="name dated folders: results/*"))
    dates = [_date(folder) for folder in folders]
    order: Sequence[int] = range(len(folders))
    if all(dates):
        order = sorted(order, key=lambda at: (dates[at], names[at]))
    outcomes = [read_results(folders[at]) for at in order]
    labels = [dates[at] if all(dates) else Path(names[at]).name for at in order]
    if len({*labels}) < len(labels):
        labels = [Path(names[at]).name for at in order]
    newest = outcomes[-1]
    chosen = metrics or [str(sort_metric(newest.board.metrics, newest.config.sort))]
    wanted = compared(newest.board.metrics, chosen)
    known = list(dict.fromkeys(one.dataset for outcome in outcomes for one in outcome.systems))
    if dataset is not None:
        check_known("dataset", dataset, dict.fromkeys(known), "--dataset")
    series: dict[tuple[str, Metric, str], list[System | None]] = {}
    for at, outcome in enumerate(outcomes):
        evaluated = {*map(str, outcome.board.metrics)}
        for one in outcome.systems:
            if one.dataset == dataset or (dataset is None and not one.group):
                for metric in wanted:
                    systems = series.setdefault((one.dataset, metric, one.run), [None] * len(order))
                    systems[at] = one if str(metric) in evaluated else None
    n_tests = sum(max(sum(map(bool, row)) - 1, 0) for row in series.values())
    margin, share = Margin(tolerance or EPS), level / max(2 * n_tests, 1)
    points = {
        key: _points(systems, key[1], margin, share, labels) for key, systems in series.items()
    }
    return History(tuple(labels), points, level, n_tests, tolerance)


def _date(folder: Path) -> str:
    """Return the last date of a folder's name, with the time if it has one.

    >>> _date(Path("nightly-20251103")), _date(Path("2025-11-03T0230")), _date(Path("main"))
    ('2025-11-03', '2025-11-03 02:30', '')
    """
    *_, last = ["", *(["-".join(m[:3]), ":".join(m[3:])] for m in DATE.findall(folder.name))]
    return " ".join(last).rstrip(" :") if last else ""


def _points(
    systems: Sequence[System | None], metric: Metric, margin: Margin, level: float,
    labels: Sequence[str],
) -> list[Point | None]:  # fmt: skip
    """Return the value of each system and its change from the first one of its level."""
    first: tuple[System, str] | None = None
    points = list[Point | None]()
    for system, label in zip(systems, labels, strict=True):
        if system is None:
            points.append(None)
            continue
        change = None if first is None else _change(*first, system, metric, margin, level)
        points.append(Point(system.value(metric), system.n(metric), change))
        if first is None or change is not None:
            first = system, label
    return points


def _change(
    first: System, since: str, system: System, metric: Metric, margin: Margin, level: float
) -> Change | None:
    """Return the change from the first system of a level to another; None if no test finds it."""
    try:
        pairs = [pair_of(first, system, metric), pair_of(system, first, metric)]
    except InputError as error:
        return Change("incomparable", since, note=error.problems[0].what)
    if np.isnan(pairs[0].baseline + pairs[0].candidate).all():
        return Change("incomparable", since, note="no query has a value in both")
    loss, gain = judge([(pair, margin) for pair in pairs], level, "none")
    if "fail" not in (loss.outcome, gain.outcome):
        return None
    is_loss = loss.outcome == "fail"
    p = loss.p if is_loss else gain.p
    return Change("worse" if is_loss else "better", since, loss.baseline, loss.candidate, p)
