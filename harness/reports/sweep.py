"""A sweep: values against a setting, such as a learning rate, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ..core.cell_key import CellKey, Columns, pairs
from ..core.entries import Entry, grouped_by
from ..core.leaderboard import Leaderboard, best
from ..core.metric import Metric
from ..core.names import compared
from ..core.systems import of_systems
from ..errors import check_known, counted, warn
from ..stats.comparison import Plan
from . import formats, latex
from .grid import Grid, GridCell, grid
from .leaderboard import Study, as_csv
from .paper_table.build import names_of, source_of
from .paper_table.settings import TableSettings, renamed
from .phrases import ARROWS, confidence, listed, plural
from .select import select, select_datasets, select_metrics


def columns_swept(study: Study) -> tuple[str, ...]:
    """Return the columns of runs that can be swept: those with several values."""
    values: dict[str, set[str]] = {}
    for entry in study.cells.entries:
        for name, value in _setting(entry, study).items():
            values.setdefault(name, set()).add(value)
    return tuple(name for name, distinct in values.items() if len(distinct) > 1)


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

    swept = columns_swept(study)
    for name in names:
        check_known("column", name, swept, "sweep")
    settings: dict[str, tuple[str, Columns]] = {}
    entries = []
    for entry in study.cells.entries:
        row_setting = _setting(entry, study)
        if not row_setting.keys() >= {*names}:
            continue
        label = f"{entry.run} {pairs(tuple(row_setting.items()))}"  # seeds the interval
        order = [*(name for name in row_setting if name not in names), *names]
        settings[label] = entry.run, tuple((name, row_setting[name]) for name in order)
        rest = {name: value for name, value in entry.columns.items() if name not in row_setting}
        evaluation = replace(entry.evaluation, run=label)
        entries.append(replace(entry, evaluation=evaluation, columns=rest))
    given = study.board.summary
    summary = replace(given, best=()).called(vars(given).get("name", "all"))
    board = of_systems(Leaderboard(tuple(entries), summary=summary), partial(clustered, plan=plan))
    rows = []
    for row in board.entries:
        run, setting = settings[row.run]
        columns = {**row.columns, **dict(setting)}
        rows.append(replace(row, evaluation=replace(row.evaluation, run=run), columns=columns))
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    runs = list(dict.fromkeys(row.run for row in rows))

    def place(row: Entry) -> tuple[int, int, list[tuple[float, str]]]:
        sizes = [_size(value) for value in row.columns.values()]
        return datasets.index(row.dataset), runs.index(row.run), sizes

    rows.sort(key=place)
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

    def setting(entry: Entry) -> CellKey:
        return entry.key if selection is None else replace(entry.key, dataset="")

    worth: dict[CellKey, float] = {}
    for entry in board.entries:
        value = metric.sign * entry.summary.get(str(metric), math.nan)
        if (selection is None or is_validation(board, entry)) and not math.isnan(value):
            worth[setting(entry)] = value
    entries: list[Entry] = []
    for rows in grouped_by(board.entries, lambda entry: entry.key.without(names)).values():
        entries += sorted(rows, key=lambda entry: -worth.get(setting(entry), -math.inf))[:n]
    return replace(board, entries=tuple(entries))


def is_validation(board: Leaderboard, entry: Entry) -> bool:
    """Whether a row has the values of the validation queries for choosing settings."""
    selection = board.selection
    return selection is not None and (entry.pattern or entry.dataset) == selection.settings.on


def sweep_table(
    study: Study,
    names: Sequence[str],
    plan: Plan,
    format: str,
    settings: TableSettings,
    *,
    width: int | None = None,
) -> str:
    """Return a sweep in a format of tables, or its best settings; CSV has every metric."""
    settings = replace(settings, names=renamed(names_of(study), settings.names))
    board = sweep(study, names, plan)
    shown = select_metrics(settings.metrics, board.metrics)
    run_names = select(settings.runs, [*dict.fromkeys(row.run for row in board.entries)], "run")
    slices = {row.dataset for row in board.entries if row.evaluation.group}
    known = [name for name, _ in board.by_dataset()]
    dataset_names = select_datasets(settings.datasets, known, slices)
    if settings.top is not None:
        board = top(board, names, shown[0], settings.top)
    entries = [row for row in board.entries if row.run in run_names]
    entries = [row for row in entries if row.dataset in dataset_names]
    board = replace(board, entries=tuple(entries))
    if format == "csv":
        return as_csv(board)
    grids = _grids(board, names, shown, plan, settings, plural(study.board.summary.spread))
    tables = [replace(table, source=source_of(study)) for table in grids]
    for table in tables if format == "latex" else ():
        for misfit in latex.misfits(table):
            warn(f"{table.label.removeprefix('tab:')}: {misfit}")
    return formats.render(tables, format, width=width)


def _grids(
    board: Leaderboard,
    names: Sequence[str],
    metrics: Sequence[Metric],
    plan: Plan,
    settings: TableSettings,
    repeated: str,
) -> Iterator[Grid]:
    """Yield a table for each dataset: a row a setting; means are over `repeated`, such as seeds.

    The best value of each run is bold on validation queries alone: a best value on test queries
    must not choose a setting.
    """
    titles = [settings.metric_name(metric, metrics) for metric in metrics]
    arrows = [ARROWS[m.definition.direction] if settings.arrows else "" for m in metrics]
    for dataset, entries in board.by_dataset():
        held = {name for entry in entries for name in entry.columns}
        values_of = {name: {entry.columns.get(name, "") for entry in entries} for name in held}
        columns = [n for n in board.columns if n in names or len(values_of.get(n, ())) > 1]
        times = [_times_chosen(board, entry) for entry in entries]
        chosen = ["Chosen"] if any(times) else []
        repetitions = [max(s.repetitions for s in entry.spread.values()) for entry in entries]
        queries = ["{}/{}".format(*entry.evaluation.coverage) for entry in entries]
        counts = {"Repetitions": [*map(str, repetitions)], "Queries": queries}
        counts = {title: texts for title, texts in counts.items() if len({*texts}) > 1}
        is_marked = is_validation(board, entries[0])
        runs = dict.fromkeys(settings.name(entry.run) for entry in entries)
        run_column = ["Run"] if len(runs) > 1 else []
        rows = []
        for place, (entry, n) in enumerate(zip(entries, times, strict=True)):
            texts = [settings.name(entry.run)] if run_column else []
            texts += [entry.columns.get(name, "") for name in columns]
            texts += [n] if chosen else []
            texts += [column[place] for column in counts.values()]
            rows.append([*map(GridCell, texts)])
        for metric in metrics:
            name, bold = str(metric), set[int]()
            values = [entry.summary.get(name, math.nan) for entry in entries]
            for run in dict.fromkeys(entry.run for entry in entries if is_marked):
                places = [place for place, entry in enumerate(entries) if entry.run == run]
                top_places = best(metric, [values[place] for place in places])
                bold |= {places[place] for place in top_places}
            for place, entry in enumerate(entries):
                _, _, low, high = entry.spread.get(name, (0, 0, math.nan, math.nan))
                text, *ends = (
                    settings.number(metric, value) for value in (values[place], low, high)
                )
                spread = "" if math.isnan(low) else f"[{', '.join(ends)}]"
                rows[place].append(GridCell(text, bold=place in bold, spread=spread))
        header = [*run_column, *columns, *chosen, *counts]
        header += [" ".join(filter(None, pair)) for pair in zip(titles, arrows, strict=True)]
        answered, size = entries[0].evaluation.coverage
        over = [] if "Queries" in counts else [counted(size, "query", "queries")]
        if over and answered < size:
            over = [f"{answered:,} of {over[0]}"]
        if "Repetitions" not in counts and repetitions[0] > 1:
            over.append(f"{repetitions[0]} {repeated}")
        notes = [f"Values are means over {listed(over)}."] if over else []
        share = confidence(plan.level)
        over = ["queries", *([repeated] if max(repetitions) > 1 else [])]
        if any(cell.spread for row in rows for cell in row):
            notes.append(f"Brackets contain {share} bootstrap intervals over {listed(over)}.")
        if is_marked and board.selection is not None:
            by = settings.metric_name(compared(board.metrics, [board.selection.settings.by])[0])
            notes.insert(
                0, "The best value of each run is in bold; it need not be significantly better."
            )
            notes.append(f"These are validation queries, on which {by} chooses.")
        table = grid(header, rows, notes=notes, level=3)
        named = settings.metric_list(metrics, metrics)
        named += "" if run_column else f" of {next(iter(runs))}"
        caption = f"{named} on {settings.name(dataset)} for each value of {listed(names)}."
        yield replace(
            table,
            caption=caption,
            label=f"tab:sweep-{dataset}",
            wide=settings.is_wide,
            document_class=settings.document_class,
        )


def _times_chosen(board: Leaderboard, entry: Entry) -> str:
    """Number of times a setting was chosen: ``3 of 4``; nothing if nothing was chosen."""
    columns = entry.columns
    choices = [] if board.selection is None else board.selection.choices
    own = [choice for choice in choices if choice.run == entry.run]
    choices = [c for c in own if all(columns.get(name, value) == value for name, value in c.within)]
    n = sum(dict(choice.setting).items() <= columns.items() for choice in choices)
    return f"{n} of {len(choices)}" if choices else ""
