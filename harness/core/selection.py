"""The choice of a setting (a learning rate, a number of leaves) on validation queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from ..errors import HarnessError, InputError, Problem, counted, first_of
from .arrow import index_in
from .arrow import select as select_rows
from .cell_key import CellKey, Columns, pairs
from .entries import Choice, Entry, Failed, grouped_by
from .leaderboard import Leaderboard, Select, Selection
from .metric import Metric
from .names import compared

RULE = "validation-in-test"
"""Rule of the error that validation queries are also test queries."""
EntryOrFailed = Entry | Failed
Cells = list[EntryOrFailed]


def _setting(cell: EntryOrFailed, over: Sequence[str]) -> Columns:
    """Return the columns of a cell that make its setting; empty if it has none of them."""
    return tuple((name, cell.columns[name]) for name in over if name in cell.columns)


def _place(cell: EntryOrFailed, over: Sequence[str]) -> CellKey:
    """Return the key that a cell shares with cells of other settings."""
    return cell.key.without(over)


def select(board: Leaderboard, settings: Select) -> Leaderboard:
    """Return the leaderboard of the settings that are best on validation queries.

    A run without any of the columns `over` has nothing to choose, and stays. The validation
    cells themselves are left out. A setting is a candidate if it has a value on each of the
    validation cells that any setting of the choice has.
    """
    (metric,) = compared(board.entries[0].evaluation.metrics, [settings.by])
    setting, place = partial(_setting, over=settings.over), partial(_place, over=settings.over)

    def is_validation(cell: EntryOrFailed) -> bool:
        return (cell.pattern or cell.dataset) == settings.on

    def chosen_for(cell: EntryOrFailed) -> tuple[str, Columns]:
        within = settings.within
        rest = place(cell).columns
        return cell.run, tuple(pair for pair in rest if not within or pair[0] in within)

    everything: Cells = [*board.entries, *board.failed]
    groups = grouped_by(filter(setting, everything), chosen_for)
    choices, tested = {}, {}
    for key, members in groups.items():
        validation = grouped_by(filter(is_validation, members), setting)
        tested[key] = grouped_by((cell for cell in members if not is_validation(cell)), setting)
        cells = {
            setting_key: validation.get(setting_key, [])
            for setting_key in (*validation, *tested[key])
        }
        if (choice := _choice(*key, cells, settings.over, metric)) is not None:
            choices[key] = choice
    _check_queries(groups.values(), is_validation)
    remaining: Cells = []
    for candidate in everything:
        if is_validation(candidate):
            continue
        if cell_setting := setting(candidate):
            choice = choices.get(chosen_for(candidate))
            if choice is None or cell_setting != choice.setting:
                continue
            candidate = replace(candidate, columns=dict(place(candidate).columns))
            if isinstance(candidate, Entry):
                candidate = replace(candidate, choices=(choice,))
        remaining.append(candidate)
    order = {key: position for position, key in enumerate(dict.fromkeys(map(place, everything)))}
    entries = sorted(
        (cell for cell in remaining if isinstance(cell, Entry)), key=lambda cell: order[place(cell)]
    )
    failed = [cell for cell in remaining if isinstance(cell, Failed)]
    absent = tuple(
        missing
        for key, cells in tested.items()
        for missing in _absent(cells, choices.get(key), settings)
    )
    if not entries:
        failures = [*absent, *failed]
        problems = [Problem(f"{cell.run} on {cell.dataset}", cell.error) for cell in failures]
        problems = problems or [Problem("select", "expected test cells, got validation cells only")]
        raise HarnessError(problems)
    selection = Selection(settings, board, tuple(choices.values()), absent)
    return Leaderboard(tuple(entries), (*failed, *absent), board.summary, selection)


def _choice(
    run: str, within: Columns, cells: Mapping[Columns, Cells], over: Sequence[str], metric: Metric
) -> Choice | None:
    """Return the setting with the best mean over its validation cells; None if none has all."""
    places = dict.fromkeys(_place(cell, over) for members in cells.values() for cell in members)
    if not places:
        return None
    values: dict[Columns, float] = {}
    for setting, validation_cells in cells.items():
        by_place = {
            _place(cell, over): cell.summary.get(str(metric), math.nan)
            for cell in validation_cells
            if isinstance(cell, Entry)
        }
        values[setting] = math.fsum(by_place.get(place, math.nan) for place in places) / len(places)
    ranked = [(setting, value) for setting, value in values.items() if not math.isnan(value)]
    ranked.sort(key=lambda pair: -metric.sign * pair[1])
    left_out = tuple(setting for setting, value in values.items() if math.isnan(value))
    datasets = tuple(dict.fromkeys(place.dataset for place in places))
    return Choice(run, within, datasets, str(metric), tuple(ranked), left_out) if ranked else None


def _absent(
    tested: Mapping[Columns, Cells], choice: Choice | None, settings: Select
) -> Iterator[Failed]:
    """Yield the test cells for which nothing was chosen, or without predictions of it."""
    message = f"no setting has a value of {settings.by} on every validation cell"
    if choice is not None:
        message = f"no predictions of the setting chosen on {first_of(choice.datasets)}: "
        message += pairs(choice.setting)
    places = {_place(cell, settings.over): cell for cells in tested.values() for cell in cells}
    chosen_cells = [] if choice is None else tested.get(choice.setting, [])
    predicted = {_place(cell, settings.over) for cell in chosen_cells}
    for place, cell in places.items():
        if place not in predicted:
            yield Failed(place.dataset, place.run, dict(place.columns), message, cell.pattern)


def _check_queries(groups: Iterable[Cells], is_validation: Callable[[EntryOrFailed], bool]) -> None:
    """Raise InputError if a setting is chosen on queries that it is then reported on."""
    problems: dict[tuple[str, str], Problem | None] = {}
    for cells in groups:
        entries = grouped_by((cell for cell in cells if isinstance(cell, Entry)), is_validation)
        validation, test = (
            {entry.dataset: entry.evaluation.qids for entry in entries.get(kind, [])}
            for kind in (True, False)
        )
        for (name, qids), (test_name, of_test) in product(validation.items(), test.items()):
            if (name, test_name) in problems:
                continue
            shared = select_rows(qids, index_in(qids, of_test) >= 0).to_pylist()
            message = (
                f"{len(shared):,} of {counted(len(qids), 'validation query', 'validation queries')}"
            )
            message += f" also in the test queries of {test_name}: {first_of(shared)}"
            fix = "choose on other queries, or for each fold: add its column to 'within'"
            problems[name, test_name] = (
                Problem(name, message, fix=fix, rule=RULE) if shared else None
            )
    if shared_queries := [problem for problem in problems.values() if problem is not None]:
        raise InputError(shared_queries)
