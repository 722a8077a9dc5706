"""A sweep: values against a setting, such as a learning rate, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

from ..core.cell_key import CellKey, Columns, pairs
from ..core.entries import Entry, grouped_by
from ..core.leaderboard import Leaderboard, best
from ..core.metric import Metric
from ..core.names import compared
from ..core.systems import of_systems
from ..errors import Problem, UnknownNameError, check_known
from ..stats.comparison import Plan
from . import formats
from .grid import Grid, GridCell, grid
from .leaderboard import Study, as_csv
from .phrases import confidence, heading, interval, number
from .select import metric_spellings, select, select_datasets


def columns_swept(study: Study) -> tuple[str, ...]:
    """Return the columns of runs that can be swept: those with several values."""
    values: dict[str, set[str]] = {}
    for entry in study.cells.entries:
        for name, value in _setting(entry, study).items():
            values.setdefault(name, set()).add(value)
    return tuple(name for name, some in values.items() if len(some) > 1)


def _setting(entry: Entry, study: Study) -> dict[str, str]:
    """Return the columns of an entry that belong to its setting: no parts of datasets, no seeds."""
    return {
        name: value
        for name, value in entry.columns.items()
        if f"{{{name}}}" not in entry.pattern and name not in study.board.summary.spread
    }


def sweep(study: Study, names: Sequence[str], plan: Plan) -> Leaderboard:
    """Return a row for each setting of each run that has the columns `names`, with intervals.

    Folds and seeds are taken together by the summary; other columns are part of the setting.
    A column that does not exist, or has one value, raises UnknownNameError.
    """
    from ..stats.intervals import clustered  # which loads SciPy

    known = columns_swept(study)
    for name in names:
        check_known("column", name, known, "sweep")
    settings: dict[str, tuple[str, Columns]] = {}
    entries = []
    for entry in study.cells.entries:
        own = _setting(entry, study)
        if not own.keys() >= {*names}:
            continue
        label = f"{entry.run} {pairs(tuple(own.items()))}"  # seeds the interval
        order = [*(name for name in own if name not in names), *names]
        settings[label] = entry.run, tuple((name, own[name]) for name in order)
        rest = {name: value for name, value in entry.columns.items() if name not in own}
        entries.append(
            replace(entry, evaluation=replace(entry.evaluation, run=label), columns=rest)
        )
    summary = replace(study.board.summary, best=())
    board = of_systems(Leaderboard(tuple(entries), summary=summary), partial(clustered, plan=plan))
    rows = []
    for row in board.entries:
        run, setting = settings[row.run]
        columns = {**row.columns, **dict(setting)}
        rows.append(replace(row, evaluation=replace(row.evaluation, run=run), columns=columns))
    key = attrgetter("dataset", "run")
    datasets, runs = ([*dict.fromkeys(some)] for some in zip(*map(key, rows), strict=True))
    rows.sort(
        key=lambda one: (
            datasets.index(one.dataset), runs.index(one.run), [*map(_size, one.columns.values())],
        )
    )  # fmt: skip
    return Leaderboard(tuple(rows), selection=study.board.selection)


def _size(value: str) -> tuple[float, str]:
    """Return a key that sorts numbers by size, and before texts."""
    try:
        return float(value), ""
    except ValueError:
        return math.inf, value


def top(board: Leaderboard, names: Sequence[str], metric: Metric, n: int) -> Leaderboard:
    """Return the `n` best values of the columns `names`, best first.

    These are for each dataset, run and combination of the other columns. If settings were chosen
    on validation queries, their validation values sort all rows, by the metric that chose: the
    values of test queries choose nothing.
    """
    selection = board.selection
    if selection is not None:
        (metric,) = compared(board.metrics, [selection.settings.by])

    def setting(one: Entry) -> CellKey:
        return one.key if selection is None else replace(one.key, dataset="")

    worth: dict[CellKey, float] = {}
    for one in board.entries:
        value = metric.sign * one.summary.get(str(metric), math.nan)
        if (selection is None or is_validation(board, one)) and not math.isnan(value):
            worth[setting(one)] = value
    found: list[Entry] = []
    for rows in grouped_by(board.entries, lambda one: one.key.without(names)).values():
        found += sorted(rows, key=lambda one: -worth.get(setting(one), -math.inf))[:n]
    return replace(board, entries=tuple(found))


def is_validation(board: Leaderboard, one: Entry) -> bool:
    """Return whether a row has the values of the validation queries that settings are chosen on."""
    selection = board.selection
    return selection is not None and (one.pattern or one.dataset) == selection.settings.on


def sweep_table(
    study: Study, names: Sequence[str], plan: Plan, format: str, *, n: int | None,
    metrics: Sequence[str], runs: Sequence[str], datasets: Sequence[str],
    width: int | None = None,
) -> str:  # fmt: skip
    """Return a sweep in a format of tables, or its `n` best settings; CSV has every metric."""
    if not names:
        listed = ", ".join(columns_swept(study)) or "none"
        fix = f"name a column to sweep  (there are: {listed})"
        raise UnknownNameError(Problem("--top", "expected --sweep COLUMN with it", fix=fix))
    board = sweep(study, names, plan)
    known = {str(metric): metric for metric in board.metrics}
    wanted = select(metrics, [*known], "metric", metric_spellings(known)) if metrics else [*known]
    kept = select(runs or ("*",), list(dict.fromkeys(one.run for one in board.entries)), "run")
    slices = {one.dataset for one in board.entries if one.evaluation.group}
    some = [name for name, _ in board.by_dataset()]
    some = [*select_datasets(datasets or ("*",), some, slices)]
    if n is not None:
        board = top(board, names, known[wanted[0]], n)
    entries = [one for one in board.entries if one.run in kept and one.dataset in some]
    board = replace(board, entries=tuple(entries))
    if format == "csv":
        return as_csv(board)
    tables = _grids(board, [known[name] for name in wanted], plan)
    return formats.render(tables, format, width=width)


def _grids(board: Leaderboard, metrics: Sequence[Metric], plan: Plan) -> Iterator[Grid]:
    """Yield a table for each dataset: a row a setting, the best value of each run bold."""
    for dataset, entries in board.by_dataset():
        columns = [name for name in board.columns if any(name in one.columns for one in entries)]
        times = [_times_chosen(board, one) for one in entries]
        chosen = ["chosen"] if any(times) else []
        rows = []
        for one, n in zip(entries, times, strict=True):
            repetitions = max(each.repetitions for each in one.spread.values())
            texts = [one.run, *(one.columns.get(name, "") for name in columns), *[n][: len(chosen)]]
            texts += [str(repetitions), "{}/{}".format(*one.evaluation.coverage)]
            rows.append([*map(GridCell, texts)])
        for metric in metrics:
            name, bold = str(metric), set[int]()
            values = [one.summary.get(name, math.nan) for one in entries]
            for run in dict.fromkeys(one.run for one in entries):
                places = [at for at, one in enumerate(entries) if one.run == run]
                bold |= {places[at] for at in best(metric, [values[at] for at in places])}
            for at, one in enumerate(entries):
                _, _, low, high = one.spread.get(name, (0, 0, math.nan, math.nan))
                spread = "" if math.isnan(low) else interval(low, high)
                rows[at].append(
                    GridCell(number(values[at], metric), bold=at in bold, spread=spread)
                )
        header = ["run", *columns, *chosen, "repetitions", "queries", *map(heading, metrics)]
        notes = [
            "marked: best value of each run; not a test",
            f"in brackets: {confidence(plan.level)} bootstrap interval over queries and "
            "repetitions",
        ]
        if board.selection is not None and is_validation(board, entries[0]):
            notes.append(f"validation queries, on which {board.selection.settings.by} chooses")
        table = grid(header, rows, title=dataset, notes=notes, level=3)
        yield replace(table, label=f"tab:sweep-{dataset}")


def _times_chosen(board: Leaderboard, one: Entry) -> str:
    """Return how often a setting was chosen: ``3 of 4``; nothing if nothing was chosen."""
    own = one.columns
    choices = [
        choice
        for choice in (() if board.selection is None else board.selection.choices)
        if choice.run == one.run
        and all(own.get(name, value) == value for name, value in choice.within)
    ]
    n = sum(dict(choice.setting).items() <= own.items() for choice in choices)
    return f"{n} of {len(choices)}" if choices else ""
