"""Which settings give a published value: those with the fewest changes to a convention first."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core.metric import Definition
from ..core.ragged import Bools, Floats
from ..core.tables import Qrels, Run
from ..errors import InputError, UnknownNameError
from .asked import Asked, Window
from .space import AFTERWARDS, After, Base, Change, Changes, Space, familiar
from .tables import Tables, Values
from .tied import Reach, reaches

DEPTH = 2
"""How many settings of a convention are changed at most, where nothing is said."""
_DIGITS = 10
"""Decimals to which the values of a query are compared, for what sums up in another order."""
Track = Callable[[Sequence[Base]], Iterable[Base]]


@dataclass(frozen=True)
class Fit:
    """One way to set up a metric, and the summary that it gives.

    Parameters
    ----------
    base : Base
    changes : tuple of (str, value)
        The settings that differ from the base's.
    cutoff : number or None
    value : float
    """

    base: Base
    changes: Changes
    cutoff: float | None
    value: float

    @cached_property
    def name(self) -> str:
        """The metric as it is written in a config or after ``-m``."""
        return str(self.base.metric(self.changes, self.cutoff))

    @property
    def missing_queries(self) -> str:
        """The policy that belongs to it."""
        said: str = dict(self.changes).get("missing_queries", "zero")
        return said

    @property
    def order(self) -> tuple[int, int, float]:
        """What comes first: fewer changes, then a more usual cutoff."""
        return len(self.changes), familiar(self.cutoff), self.cutoff or math.inf


@dataclass(frozen=True)
class Explanation:
    """Settings that give equal values on every query, the simplest first.

    Parameters
    ----------
    fits : tuple of Fit
        Without those that only add a change to another of them.
    inert : tuple of str
        Settings that could be changed about the first without any effect on these data.
    """

    fits: tuple[Fit, ...]
    inert: tuple[str, ...]

    @property
    def best(self) -> Fit:
        """The simplest."""
        return self.fits[0]


@dataclass(frozen=True)
class Found:
    """What a search gave.

    Parameters
    ----------
    asked : Asked
    spaces : tuple of Space
        What was searched.
    depth : int
        How many settings of a convention were changed at most.
    explanations : tuple of Explanation
        The simplest first; none where nothing fits.
    nearest : Fit, optional
        What comes nearest, where nothing fits.
    difference : float
        Its value less the published one.
    tried : int
        Settings that were tried, cutoffs counted apart.
    refused : mapping of str to str
        Conventions that do not accept the data, and why, by the metric with its convention.
    unknown : int
        Settings left out because ties have no expectation in closed form there.
    n_queries : int
    clipped : frozenset of str
        Those of `refused` that were tried with ``labels=clip``.
    n_tied, n_retrieved : int
        Retrieved documents that share their score with another, and all.
    reaches : tuple of Reach
        Where nothing fits and documents are tied: the metrics between whose values for the worst
        and the best order of tied documents the published one lies.
    """

    asked: Asked
    spaces: tuple[Space, ...]
    depth: int
    explanations: tuple[Explanation, ...] = ()
    nearest: Fit | None = None
    difference: float = math.nan
    tried: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    unknown: int = 0
    n_queries: int = 0
    clipped: frozenset[str] = frozenset()
    n_tied: int = 0
    n_retrieved: int = 0
    reaches: tuple[Reach, ...] = ()


def explain(
    asked: Asked,
    qrels: Qrels,
    run: Run,
    spaces: Sequence[Space],
    depth: int = DEPTH,
    track: Track = iter,
) -> Found:
    """Search for the settings that give a published value to its printed digits.

    Parameters
    ----------
    asked : Asked
    qrels : Qrels
    run : Run
    spaces : sequence of Space
        The metrics, as :func:`harness.explain.space.spaces_of` gives them.
    depth : int
        Settings of a convention that are changed at most.
    track : callable
        Passes on what is searched one after another; to show how far it is.

    Raises
    ------
    AlignmentError
        Where qrels and run share no query.
    """
    search = _Search(asked, depth, Tables(qrels, run, _policies(spaces, depth)))
    for base in track([base for space in spaces for base in space.bases]):
        search.look(base, next(s for s in spaces if base in s.bases))
    found = search.found(tuple(spaces))
    if not found.explanations and found.n_tied:
        found = replace(found, reaches=reaches(asked, qrels, run, spaces))
    return found


def _policies(spaces: Iterable[Space], depth: int) -> Iterable[Any]:
    """Yield every policy that a search needs."""
    for base in (base for space in spaces for base in space.bases):
        for changes in base.changes([n for n in base.kernel_names if n in _RANKING], depth):
            try:
                yield base.settle(changes)[0]
            except UnknownNameError:  # settings that do not go together
                continue


_RANKING = ("ties", "scores", "judged_only", "labels")


class _Search:
    def __init__(self, asked: Asked, depth: int, tables: Tables) -> None:
        self.asked, self.depth, self.tables = asked, depth, tables
        self.hits: dict[bytes, list[Fit]] = defaultdict(list)
        self.done: dict[tuple[int, After, bytes], tuple[Floats, Floats]] = {}
        self.seen: dict[Any, set[int]] = defaultdict(set)
        self.refused: dict[str, str] = {}
        self.clipped: set[str] = set()
        self.inert: dict[tuple[Base, Changes], set[str]] = {}
        self.known: dict[str, list[Window]] = {}
        self.unknown = 0
        self.nearest: Fit | None = None
        self.distance = math.inf

    def look(self, base: Base, space: Space) -> None:
        """Try all settings that start from `base`."""
        cutoffs = base.cutoffs(space.asked)
        if not cutoffs:  # the whole list alone, which the tool has not
            return
        rows = np.array([space.cutoffs.index(cutoff) for cutoff in cutoffs], dtype=np.intp)
        for changes in base.changes(base.kernel_names, self.depth):
            try:
                policy, params = base.settle(changes)
                view = self.tables.view(policy)
                values = self.tables.values(base.definition, params, view, space.cutoffs)
            except UnknownNameError:  # settings that do not go together
                continue
            except InputError as error:
                if not changes:
                    problem = error.problems[0]
                    why = ": ".join(filter(None, (problem.where, problem.what)))
                    self.refused[str(base)] = why
                continue
            if values is None:
                self.unknown += len(rows)
                continue
            if ("labels", "clip") in changes:
                self.clipped.add(str(base))
            empty = self.tables.empty(base.definition, params, view)
            inert = values.inert(empty)
            able = [name for name in AFTERWARDS if name not in inert]
            for more in base.changes(able, self.depth - len(changes)):
                after = base.after(more)
                self.seen[base.definition.name, params, policy, after].update(rows.tolist())
                self.take(base, (*changes, *more), cutoffs, rows, values, after, empty)
                self.inert[base, (*changes, *more)] = inert

    def take(
        self, base: Base, changes: Changes, cutoffs: Sequence[float | None], rows: Any,
        values: Values, after: After, empty: Bools,
    ) -> None:  # fmt: skip
        """Keep what fits, and what comes nearest."""
        key = (values.number, after, empty.tobytes())
        if key not in self.done:
            self.done[key] = self.summarised(values, values.after(after, empty), after)
        summaries, distances = self.done[key]
        distances = distances[rows]
        least = int(distances.argmin())
        if distances[least] > 0:
            if distances[least] < self.distance * (1 - 1e-9):
                self.distance = float(distances[least])
                self.nearest = Fit(base, changes, cutoffs[least], float(summaries[rows[least]]))
            return
        finished = values.after(after, empty)
        for at in np.flatnonzero(distances == 0).tolist():
            fit = Fit(base, changes, cutoffs[at], float(summaries[rows[at]]))
            self.hits[_key(finished[rows[at]], values, after)].append(fit)

    def windows(self, definition: Definition) -> list[Window]:
        """Return the values of a metric that are printed as the published one."""
        if definition.name not in self.known:
            self.known[definition.name] = self.asked.windows(definition.bounds[1])
        return self.known[definition.name]

    def summarised(self, values: Values, finished: Floats, after: After) -> tuple[Floats, Floats]:
        """Return the summary at each cutoff, and how far it is from the published value."""
        summaries = values.summaries(finished, after)
        windows = self.windows(values.metrics[0].definition)
        distances = np.minimum.reduce([window.distances(summaries) for window in windows])
        return summaries, np.where(np.isnan(distances), math.inf, distances)

    def found(self, spaces: tuple[Space, ...]) -> Found:
        """Return what was found, the simplest first."""
        explanations = [self.explanation(fits) for fits in self.hits.values()]
        explanations.sort(
            key=lambda one: (self.asked.is_read_as_share(one.best.value), one.best.order)
        )
        nearest = self.nearest if not explanations else None
        difference = math.nan
        if nearest is not None:
            windows = self.windows(nearest.base.definition)
            difference = min((nearest.value - window.centre for window in windows), key=abs)
        return Found(
            self.asked, spaces, self.depth, tuple(explanations), nearest, difference,
            sum(map(len, self.seen.values())), self.refused, self.unknown,
            self.tables.aligned.n_queries, frozenset(self.clipped), *self.tables.tied,
        )  # fmt: skip

    def explanation(self, fits: list[Fit]) -> Explanation:
        """Leave out what only adds a change to another fit of the same base and cutoff."""
        fits = sorted(fits, key=lambda fit: fit.order)
        kept: dict[tuple[Base, float | None], list[Fit]] = defaultdict(list)
        for fit in fits:
            simpler = kept[fit.base, fit.cutoff]
            if not any(set(other.changes) <= set(fit.changes) for other in simpler):
                simpler.append(fit)
        simplest = sorted((fit for some in kept.values() for fit in some), key=lambda f: f.order)
        return Explanation(tuple(simplest), tuple(self.changeable(simplest[0], fits)))

    def changeable(self, best: Fit, fits: list[Fit]) -> list[str]:
        """Return the settings that could be changed about `best` without effect here."""
        more: dict[str, list[Change]] = defaultdict(list)
        for fit in fits:
            if (fit.base, fit.cutoff) == (best.base, best.cutoff):
                added = set(fit.changes) - set(best.changes)
                if len(fit.changes) == len(best.changes) + len(added) == len(best.changes) + 1:
                    ((name, value),) = added
                    more[name].append((name, value))
        whole = self.inert[best.base, best.changes]
        return [
            name
            for name, values in best.base.choices.items()
            if (name in whole or len(more[name]) == len(values)) and name not in dict(best.changes)
        ]


def _key(row: Floats, values: Values, after: After) -> bytes:
    """Return what is the same for settings that give equal values on every query."""
    answered = values.view.aligned.answered
    if after.undefined == "zero":
        row = np.where(np.isnan(row), 0.0, row)
    if after.missing_queries == "skip":
        row = np.where(answered, row, np.nan)
    weights = b"" if values.weights is None else values.weights.tobytes()
    return (np.round(row, _DIGITS) + 0.0).tobytes() + weights
