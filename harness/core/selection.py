"""The choice of a setting (a learning rate, a number of leaves) on validation queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from ..errors import HarnessError, InputError, Problem, first_of
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


def _setting(one: EntryOrFailed, over: Sequence[str]) -> Columns:
    """Return the columns of a cell that make its setting; empty if it has none of them."""
    return tuple((name, one.columns[name]) for name in over if name in one.columns)


def _place(one: EntryOrFailed, over: Sequence[str]) -> CellKey:
    """Return what a cell has in common with those of other settings."""
    return one.key.without(over)


def select(board: Leaderboard, settings: Select) -> Leaderboard:
    """Return the leaderboard of the settings that are best on validation queries.

    A run without any of the columns `over` has nothing to choose, and stays. The validation
    cells themselves are left out. A setting is a candidate if it has a value on each of the
    validation cells that any setting of the choice has.
    """
    (metric,) = compared(board.entries[0].evaluation.metrics, [settings.by])
    setting, place = partial(_setting, over=settings.over), partial(_place, over=settings.over)

    def is_validation(one: EntryOrFailed) -> bool:
        return (one.pattern or one.dataset) == settings.on

    def chosen_for(one: EntryOrFailed) -> tuple[str, Columns]:
        within = settings.within
        rest = place(one).columns
        return one.run, tuple(pair for pair in rest if not within or pair[0] in within)

    everything: Cells = [*board.entries, *board.failed]
    groups = grouped_by(filter(setting, everything), chosen_for)
    choices, tested = {}, {}
    for key, some in groups.items():
        validation = grouped_by(filter(is_validation, some), setting)
        tested[key] = grouped_by((one for one in some if not is_validation(one)), setting)
        cells = {one: validation.get(one, []) for one in (*validation, *tested[key])}
        if (choice := _choice(*key, cells, settings.over, metric)) is not None:
            choices[key] = choice
    _check_queries(groups.values(), is_validation)
    kept: Cells = []
    for one in everything:
        if is_validation(one):
            continue
        if own := setting(one):
            choice = choices.get(chosen_for(one))
            if choice is None or own != choice.setting:
                continue
            one = replace(one, columns=dict(place(one).columns))
            if isinstance(one, Entry):
                one = replace(one, choices=(choice,))
        kept.append(one)
    order = {each: at for at, each in enumerate(dict.fromkeys(map(place, everything)))}
    entries = sorted(
        (one for one in kept if isinstance(one, Entry)), key=lambda one: order[place(one)]
    )
    failed = [one for one in kept if isinstance(one, Failed)]
    absent = tuple(
        missing
        for key, cells in tested.items()
        for missing in _absent(cells, choices.get(key), settings)
    )
    if not entries:
        every = [*absent, *failed]
        problems = [Problem(f"{one.run} on {one.dataset}", one.error) for one in every]
        problems = problems or [Problem("select", "expected test cells, got validation cells only")]
        raise HarnessError(problems)
    selection = Selection(settings, board, tuple(choices.values()), absent)
    return Leaderboard(tuple(entries), (*failed, *absent), board.summary, selection)


def _choice(
    run: str, within: Columns, cells: Mapping[Columns, Cells], over: Sequence[str], metric: Metric
) -> Choice | None:
    """Return the setting with the best mean over its validation cells; None if none has all."""
    places = dict.fromkeys(_place(one, over) for some in cells.values() for one in some)
    if not places:
        return None
    values: dict[Columns, float] = {}
    for setting, some in cells.items():
        known = {
            _place(one, over): one.summary.get(str(metric), math.nan)
            for one in some
            if isinstance(one, Entry)
        }
        values[setting] = math.fsum(known.get(place, math.nan) for place in places) / len(places)
    ranked = [(setting, value) for setting, value in values.items() if not math.isnan(value)]
    ranked.sort(key=lambda pair: -metric.sign * pair[1])
    left_out = tuple(setting for setting, value in values.items() if math.isnan(value))
    datasets = tuple(dict.fromkeys(place.dataset for place in places))
    return Choice(run, within, datasets, str(metric), tuple(ranked), left_out) if ranked else None


def _absent(
    tested: Mapping[Columns, Cells], choice: Choice | None, settings: Select
) -> Iterator[Failed]:
    """Yield the test cells for which nothing was chosen, or without predictions of it."""
    what = f"no setting has a value of {settings.by} on every validation cell"
    if choice is not None:
        what = f"no predictions of the setting chosen on {first_of(choice.datasets)}: "
        what += pairs(choice.setting)
    places = {_place(one, settings.over): one for cells in tested.values() for one in cells}
    there = [] if choice is None else tested.get(choice.setting, [])
    found = {_place(one, settings.over) for one in there}
    for place, cell in places.items():
        if place not in found:
            yield Failed(place.dataset, place.run, dict(place.columns), what, cell.pattern)


def _check_queries(groups: Iterable[Cells], is_validation: Callable[[EntryOrFailed], bool]) -> None:
    """Raise InputError if a setting is chosen on queries that it is then reported on."""
    problems: dict[tuple[str, str], Problem | None] = {}
    for cells in groups:
        entries = grouped_by((one for one in cells if isinstance(one, Entry)), is_validation)
        validation, test = (
            {one.dataset: one.evaluation.qids for one in entries.get(kind, [])}
            for kind in (True, False)
        )
        for (name, qids), (other, of_test) in product(validation.items(), test.items()):
            if (name, other) in problems:
                continue
            shared = select_rows(qids, index_in(qids, of_test) >= 0).to_pylist()
            what = f"{len(shared):,} of {len(qids):,} validation queries are also test "
            what += f"queries of {other}: {first_of(shared)}"
            fix = "choose on other queries, or for each fold: add its column to 'within'"
            problems[name, other] = Problem(name, what, fix=fix, rule=RULE) if shared else None
    if found := [one for one in problems.values() if one is not None]:
        raise InputError(found)
