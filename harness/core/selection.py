"""The choice of a setting (a learning rate, a number of leaves) on validation queries."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ..errors import HarnessError, InputError, Problem, first_of
from .arguments import Names
from .arrow import index_in
from .arrow import select as select_rows
from .leaderboard import Entry, Failed, Leaderboard
from .metric import Metric
from .systems import Columns, compared, pairs, whole_name

RULE = "validation-in-test"
"""Rule of the error that validation queries are also test queries."""


@dataclass(frozen=True)
class Select:
    """Which setting of each run is reported: the one that is best on validation queries."""

    on: str
    """The dataset of validation queries, by its name in the config."""
    by: str
    """The metric that chooses; one of `metrics`."""
    over: Names
    """Columns of runs that make a setting, such as lr and leaves."""
    within: Names = ()
    """Columns that each have a choice of their own, such as model, fold and seed; all but `over` if
    left out. Validation values are averaged over columns that are not named here."""

    @property
    def shown(self) -> str:
        """What the validation queries are called without placeholders: ``vali``."""
        return whole_name(self.on, {}, re.findall(r"\{(\w+)\}", self.on))


@dataclass(frozen=True)
class Choice:
    """The setting chosen for one run, and what it was chosen from.

    `within` are the columns that the choice is for (fold, seed). `metric` chooses by its mean
    over the validation cells of a setting. `ranked` are the settings and their validation values,
    best first, equal ones in the board's order. `left_out` have no value on some validation cell.
    """

    run: str
    within: Columns
    datasets: tuple[str, ...]
    metric: str
    ranked: tuple[tuple[Columns, float], ...]
    left_out: tuple[Columns, ...] = ()

    @property
    def setting(self) -> Columns:
        """The setting chosen."""
        return self.ranked[0][0]

    @property
    def value(self) -> float:
        """Return the validation value of the setting."""
        return self.ranked[0][1]

    @property
    def tied(self) -> tuple[Columns, ...]:
        """Other settings with the same validation value."""
        return tuple(setting for setting, value in self.ranked[1:] if value == self.value)

    @property
    def name(self) -> str:
        """Return what the choice belongs to: ``gbrt fold=1 seed=2``."""
        return " ".join(filter(None, (self.run, pairs(self.within))))

    def __str__(self) -> str:
        on = first_of(self.datasets)
        of = f"best of {len(self.ranked)} settings, chosen on {on} by {self.metric}"
        return f"{pairs(self.setting)}: {of}"

    def as_dict(self) -> dict[str, Any]:
        """Return what the manifest holds."""
        found: dict[str, Any] = {
            "run": self.run, "within": dict(self.within), "datasets": list(self.datasets),
            "metric": self.metric, "setting": dict(self.setting), "value": self.value,
            "of": len(self.ranked), "tied": [*map(dict, self.tied)],
            "left_out": [*map(dict, self.left_out)],
        }  # fmt: skip
        return {name: one for name, one in found.items() if one or name in ("value", "of")}


@dataclass(frozen=True, eq=False)
class Selection:
    """All choices of a leaderboard.

    `cells` is everything that was evaluated: all settings, on validation queries too. `absent`
    could not be chosen, or has no predictions of the setting chosen.
    """

    settings: Select
    cells: Leaderboard
    choices: tuple[Choice, ...]
    absent: tuple[Failed, ...] = ()

    def in_words(self, choices: Sequence[Choice], metric: str = "") -> str:
        """Return what some choices are the best of, and what has a choice of its own.

        `metric` is what the metric that chooses is called, if not by its name.
        """
        numbers = [len(one.ranked) for one in choices]
        low, high = min(numbers), max(numbers)
        n = f"{high}" if low == high else f"{low} to {high}"
        each = ["run", *dict.fromkeys(name for one in choices for name, _ in one.within)]
        within = " and ".join(filter(None, (", ".join(each[:-1]), each[-1])))
        over, plan = " and ".join(self.settings.over), self.settings
        return (
            f"best of {n} settings of {over} for each {within}, chosen on {plan.shown} by "
            f"{metric or choices[0].metric}"
        )

    def notes(self, choices: Sequence[Choice]) -> Iterator[str]:
        """Yield which of some choices are ties, and which settings they left out."""
        ties = [
            f"{one.name}: {', '.join(map(pairs, (one.setting, *one.tied)))}"
            for one in choices
            if one.tied
        ]
        if ties:
            yield (
                f"{len(ties)} of {len(choices)} choices are ties, and the first setting is taken: "
                f"{first_of(ties)}"
            )
        out = [f"{one.name}: {', '.join(map(pairs, one.left_out))}" for one in choices]
        out = [text for text, one in zip(out, choices, strict=True) if one.left_out]
        if out:
            yield f"settings without a value on every validation cell are left out: {first_of(out)}"


def setting_of(one: Entry | Failed, over: Sequence[str]) -> Columns:
    """Return the columns of a cell that make its setting; empty if it has none of them."""
    return tuple((name, one.columns[name]) for name in over if name in one.columns)


@dataclass(frozen=True)
class _Group:
    """The cells among which one choice is made, by setting and then by place."""

    validation: dict[Columns, dict[tuple[Any, ...], Entry | Failed]]
    test: dict[Columns, dict[tuple[Any, ...], Entry | Failed]]


def select(board: Leaderboard, settings: Select) -> Leaderboard:
    """Return the leaderboard of the settings that are best on validation queries.

    A run without any of the columns `over` has nothing to choose, and stays. The validation
    cells themselves are left out. A setting is a candidate if it has a value on each of the
    validation cells that any setting of the choice has.
    """
    over = settings.over
    (metric,) = compared(board.entries[0].evaluation.metrics, [settings.by])
    groups: dict[tuple[str, Columns], _Group] = {}
    order: dict[tuple[Any, ...], int] = {}
    kept: list[tuple[Entry | Failed, tuple[str, Columns] | None]] = []
    everything: list[Entry | Failed] = [*board.entries, *board.failed]
    for one in everything:
        is_validation = (one.pattern or one.dataset) == settings.on
        setting = setting_of(one, over)
        order.setdefault((one.dataset, one.run, _without(one, over)), len(order))
        if not setting:
            kept += [] if is_validation else [(one, None)]
            continue
        rest = _without(one, over)
        within = tuple(pair for pair in rest if not settings.within or pair[0] in settings.within)
        group = groups.setdefault((one.run, within), _Group({}, {}))
        cells = group.validation if is_validation else group.test
        cells.setdefault(setting, {})[one.dataset, rest] = one
        if not is_validation:
            kept.append((one, (one.run, within)))
    choices = {
        key: choice
        for key, group in groups.items()
        if (choice := _choice(*key, group, metric)) is not None
    }
    _check_queries(groups.values())
    entries: list[Entry] = []
    failed: list[Failed] = []
    for one, key in kept:
        choice = None if key is None else choices.get(key)
        if key is not None and (choice is None or setting_of(one, over) != choice.setting):
            continue
        if choice is not None:
            one = replace(one, columns=dict(_without(one, over)))
        if isinstance(one, Failed):
            failed.append(one)
        else:
            entries.append(one if choice is None else replace(one, choices=(choice,)))
    entries.sort(key=lambda one: order[one.dataset, one.run, tuple(one.columns.items())])
    absent = tuple(
        missing
        for key, group in groups.items()
        for missing in _absent(group, choices.get(key), settings)
    )
    if not entries:
        every = [*absent, *failed]
        problems = [Problem(f"{one.run} on {one.dataset}", one.error) for one in every]
        problems = problems or [Problem("select", "expected test cells, got validation cells only")]
        raise HarnessError(problems)
    selection = Selection(settings, board, tuple(choices.values()), absent)
    return Leaderboard(tuple(entries), (*failed, *absent), board.summary, selection)


def _without(one: Entry | Failed, over: Sequence[str]) -> Columns:
    return tuple(pair for pair in one.columns.items() if pair[0] not in over)


def _choice(run: str, within: Columns, group: _Group, metric: Metric) -> Choice | None:
    """Return the setting with the best mean over its validation cells; None if none has all."""
    places = dict.fromkeys(place for some in group.validation.values() for place in some)
    if not places:
        return None
    values: dict[Columns, float] = {}
    for setting in dict.fromkeys((*group.validation, *group.test)):
        cells = map(group.validation.get(setting, {}).get, places)
        found = [
            one.summary.get(str(metric), math.nan) if isinstance(one, Entry) else math.nan
            for one in cells
        ]
        values[setting] = math.fsum(found) / len(found)
    ranked = [(setting, value) for setting, value in values.items() if not math.isnan(value)]
    ranked.sort(key=lambda pair: -metric.sign * pair[1])
    left_out = tuple(setting for setting, value in values.items() if math.isnan(value))
    datasets = tuple(dict.fromkeys(dataset for dataset, _ in places))
    return Choice(run, within, datasets, str(metric), tuple(ranked), left_out) if ranked else None


def _absent(group: _Group, choice: Choice | None, settings: Select) -> Iterator[Failed]:
    """Yield the test cells for which nothing was chosen, or without predictions of it."""
    places = {place: one for some in group.test.values() for place, one in some.items()}
    there = {} if choice is None else group.test.get(choice.setting, {})
    for (dataset, rest), one in places.items():
        if (dataset, rest) in there:
            continue
        what = f"no setting has a value of {settings.by} on every validation cell"
        if choice is not None:
            what = f"no predictions of the setting chosen on {first_of(choice.datasets)}: "
            what += pairs(choice.setting)
        yield Failed(dataset, one.run, dict(rest), what, one.pattern)


def _check_queries(groups: Iterable[_Group]) -> None:
    """Raise InputError if a setting is chosen on queries that it is then reported on."""
    problems: dict[tuple[str, str], Problem | None] = {}
    for group in groups:
        validation, test = (
            {one.dataset: one for some in cells.values() for one in some.values()
             if isinstance(one, Entry)}
            for cells in (group.validation, group.test)
        )  # fmt: skip
        for (name, one), (other, its) in product(validation.items(), test.items()):
            if (name, other) in problems:
                continue
            qids = one.evaluation.qids
            shared = select_rows(qids, index_in(qids, its.evaluation.qids) >= 0).to_pylist()
            what = f"{len(shared):,} of {len(qids):,} validation queries are also test "
            what += f"queries of {other}: {first_of(shared)}"
            fix = "choose on other queries, or for each fold: add its column to 'within'"
            problems[name, other] = Problem(name, what, fix=fix, rule=RULE) if shared else None
    if found := [one for one in problems.values() if one is not None]:
        raise InputError(found)
