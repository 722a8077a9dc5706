"""How far apart the ways to compute a metric are, and how they change the order of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..core.leaderboard import best
from ..core.metric import Metric
from ..core.ragged import Array, Floats

DIGITS = 9
"""Decimals to which summaries are compared: sums in another order differ in the last bits."""
BASE = "base"
"""Name of the row of the config's own metric."""


@dataclass(frozen=True, eq=False)
class Row:
    """Every system's summary, computed in one way; NaN if it is undefined or refused.

    `name` is the convention, the value of a choice, or :data:`BASE`; `refused` is for each system
    why there is no value. `own` is whether it was asked for by name next to the base,
    `convention` whether it is a convention's.
    """

    name: str
    values: Floats
    refused: tuple[str, ...]
    own: bool = False
    convention: bool = True


class Comparison(NamedTuple):
    """How a row's order of systems differs from the base's.

    `tau` is Kendall's tau-b of the two orders; NaN if one of them has no order. The order is
    changed if some two systems swap, or are tied in one of the rows alone. `best` and `compared`
    are over the systems that both have a value for.
    """

    tau: float
    order_changed: bool
    best: tuple[int, ...]
    best_changed: bool
    compared: int


class Range(NamedTuple):
    """Smallest and largest summary of one system, and the rows that have them."""

    low: float
    low_names: tuple[str, ...]
    high: float
    high_names: tuple[str, ...]


@dataclass(frozen=True)
class Effect:
    """What one choice changes, if all others are the base's; `own` is the base's value.

    `value` is the one that changes a summary the most: by `change` (new minus base) that of
    `system`, -1 if no value changes anything. `tau` is the lowest over its values, which
    `tau_value` has; NaN if there is none. `best_changed` are the values under which another system
    is best, `lost` those under which a system of the base's has no summary.
    """

    choice: str
    own: str
    value: str
    change: float
    system: int
    tau: float
    tau_value: str
    best_changed: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def matters(self) -> bool:
        """Whether it changes a summary or the order."""
        return self.change != 0 or bool(self.lost)


@dataclass(frozen=True, eq=False)
class Walk:
    """The way from the base to a convention, one setting at a time.

    `values` are its summaries; `changes` is what each step adds to every system's, which adds up
    to the difference; `nothing` are the settings that differ and change nothing here.
    """

    name: str
    values: Floats
    changes: tuple[tuple[str, Floats], ...]
    nothing: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Matrix:
    """One metric on one dataset: systems x conventions, and what single choices change.

    `rows` has one for each convention, `effects` one for each choice, the largest first, `walks`
    one for each convention that was asked for.
    """

    dataset: str
    metric: Metric
    systems: tuple[str, ...]
    base: Row
    rows: tuple[Row, ...]
    effects: tuple[Effect, ...]
    walks: tuple[Walk, ...] = ()

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The order of systems in each of :attr:`rows`, compared with the base's."""
        return tuple(compare(self.metric, self.base.values, row.values) for row in self.rows)

    @property
    def comparable(self) -> bool:
        """Whether the base has a value, so that there is something to compare with."""
        return not np.isnan(self.base.values).all()

    @cached_property
    def own(self) -> Comparison:
        """The base compared with itself."""
        return compare(self.metric, self.base.values, self.base.values)

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        """Each system's range over the base and all conventions."""
        rows = [self.base, *self.rows]
        return tuple(_range(rows, system) for system in range(len(self.systems)))


def compare(metric: Metric, base: Floats, other: Floats) -> Comparison:
    """Compare two orders of systems; the metric says which way is better.

    >>> from harness.core.names import parse
    >>> import harness.metrics
    >>> compare(parse("ndcg@10")[0], np.array([0.5, 0.4, 0.3]), np.array([0.7, 0.8, 0.1]))
    Comparison(tau=0.3333333333333333, order_changed=True, best=(1,), best_changed=True, compared=3)
    """
    both = np.flatnonzero(~np.isnan(base) & ~np.isnan(other))
    one, two = _signs(base[both]), _signs(other[both])
    bottom = math.sqrt(np.count_nonzero(one) * np.count_nonzero(two))
    tau = float(one @ two) / bottom if bottom else math.nan
    was, top = (
        tuple(both[sorted(best(metric, values[both].tolist(), DIGITS))].tolist())
        for values in (base, other)
    )
    return Comparison(tau, bool((one != two).any()), top, top != was, both.size)


def _signs(values: Floats) -> Array:
    """Return 1, 0 or -1 for each pair of systems, ``(n_pairs,)``."""
    rounded = values.round(DIGITS)
    first, second = np.triu_indices(values.size, 1)
    signs: Array = np.sign(rounded[first] - rounded[second])
    return signs


def _range(rows: Sequence[Row], system: int) -> Range:
    values = {row.name: row.values[system].item() for row in rows}
    values = {name: value for name, value in values.items() if not math.isnan(value)}
    if not values:
        return Range(math.nan, (), math.nan, ())
    low, high = min(values.values()), max(values.values())
    low_names, high_names = (
        tuple(name for name, value in values.items() if round(value - bound, DIGITS) == 0)
        for bound in (low, high)
    )
    return Range(low, low_names, high, high_names)


def effect(metric: Metric, choice: str, own: str, base: Floats, rows: Sequence[Row]) -> Effect:
    """Return what a choice changes, over its values; `own` and `base` are the base's."""
    value, change, system = "", 0.0, -1
    tau, tau_value = math.inf, ""
    best_changed, lost = [], []
    for row in rows:
        differences = np.nan_to_num(row.values - base, nan=0.0)
        if differences.size:
            at = int(np.abs(differences).argmax())
            if round(abs(differences[at]) - abs(change), DIGITS) > 0:
                value, change, system = row.name, differences[at].item(), at
        found = compare(metric, base, row.values)
        lowest = -math.inf if found.order_changed and math.isnan(found.tau) else found.tau
        if lowest < tau:
            tau, tau_value = lowest, row.name
        if found.best_changed:
            best_changed.append(row.name)
        if (np.isnan(row.values) & ~np.isnan(base)).any():
            lost.append(row.name)
    tau = math.nan if math.isinf(tau) else tau
    names = tuple(best_changed), tuple(lost)
    return Effect(choice, own, value, change, system, tau, tau_value, *names)


def ranked(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Return the effects, those that change a summary the most first, then the order."""

    def key(found: Effect) -> tuple[float, float]:
        return -round(abs(found.change), DIGITS), -1.0 if math.isnan(found.tau) else found.tau

    return tuple(sorted(effects, key=key))


def walk(name: str, base: Row, way: Sequence[tuple[str, Row]]) -> Walk:
    """Return what each step on the way to a convention adds; they add up to the difference.

    `way` has the steps with the summaries after each. A step that leaves some system without a
    value is joined with the next. Systems that have no value at either end are left out.
    """
    end = way[-1][1].values if way else base.values
    known = ~np.isnan(base.values) & ~np.isnan(end)
    at, pending, changes, nothing = base.values, [], [], []
    for text, row in way:
        pending.append(text)
        if np.isnan(row.values[known]).any():
            continue
        change = np.where(known, row.values - at, np.nan)
        if (np.abs(change[known]).round(DIGITS) > 0).any():
            changes.append((", ".join(pending), change))
        else:
            nothing += pending
        at, pending = row.values, []
    return Walk(name, np.where(known, end, np.nan), tuple(changes), tuple(nothing))
