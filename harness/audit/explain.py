"""Which settings give a published value, those with the fewest changes to a convention first."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..core.align import align
from ..core.aligned import Aligned
from ..core.evaluate import EMPTY, empty_of, values_of
from ..core.metric import Definition, Metric
from ..core.policy import Policy
from ..core.ragged import Array, Bools, Floats
from ..core.tables import Qrels, Run
from ..core.text import Shown
from ..core.views import view
from ..errors import InputError
from ..experiment import folder as results
from .explain_space import AFTERWARDS, After, Asked, Base, Changes, Params, Space, familiar, meaning
from .why import read_inputs

if TYPE_CHECKING:
    import pandas

DEPTH = 2
"""How many settings of a convention are changed at most by default."""
_DIGITS = 10
"""Decimals to which values of a query are compared: sums in another order differ in the last."""
T = TypeVar("T")


@dataclass(frozen=True)
class Fit:
    """One way to set up a metric, and the summary that it gives.

    `changes` are the settings that differ from the base's; `inert` are those that change nothing
    here when they are applied to the values.
    """

    base: Base
    changes: Changes
    cutoff: float | None
    value: float
    inert: frozenset[str] = frozenset()

    @cached_property
    def name(self) -> str:
        """The metric as it is written in a config or after ``-m``."""
        return str(self.base.metric(self.changes, self.cutoff))

    @property
    def missing_queries(self) -> str:
        """The policy that belongs to it."""
        return str(dict(self.changes).get("missing_queries", "zero"))

    @property
    def order(self) -> tuple[int, int, float]:
        """Key to sort by: fewer changes first, then a more usual cutoff."""
        return len(self.changes), familiar(self.cutoff), self.cutoff or math.inf


@dataclass(frozen=True)
class Explanation:
    """Settings that give equal values on every query, the simplest first.

    `fits` leaves out those that only add a change to another; `inert` are the settings that could
    be changed in the first without effect on these data.
    """

    fits: tuple[Fit, ...]
    inert: tuple[str, ...]


def explain(
    asked: Asked,
    qrels: Qrels,
    run: Run,
    spaces: Sequence[Space],
    depth: int = DEPTH,
    track: Callable[[Sequence[Base]], Iterable[Base]] = iter,
) -> Search:
    """Search for the settings that give a published value to its printed digits.

    Parameters
    ----------
    asked : Asked
    qrels : Qrels
    run : Run
    spaces : sequence of Space
        The metrics, as :func:`harness.audit.explain_space.spaces_of` gives them.
    depth : int
        Settings of a convention that are changed at most.
    track : callable
        Passes on what is searched one after another, to show progress.

    Raises
    ------
    AlignmentError
        If qrels and run share no query.
    """
    search = Search(asked, depth, spaces, qrels, run)
    for base in track([base for space in spaces for base in space.bases]):
        search.try_base(base)
    return search


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The run under a policy: whether documents are tied, and every grade, each once."""

    aligned: Aligned
    policy: Policy
    tied: bool
    grades: Array


@dataclass(frozen=True, eq=False)
class _Values:
    """A metric's values, ``(n_cutoffs, n_queries)``, before :class:`After` is applied."""

    metrics: tuple[Metric, ...]
    aligned: Aligned
    values: Floats
    weights: Floats | None

    def inert(self, empty: Bools) -> frozenset[str]:
        """Return the settings that would change nothing here when applied to the values."""
        longest = max(metric.cutoff or 0 for metric in self.metrics)
        is_inert = {
            "short": self.aligned.n_retrieved.min(initial=longest) >= longest,
            "empty": not empty.any(),
            "missing_queries": self.aligned.answered.all(),
        }
        return frozenset(name for name, found in is_inert.items() if found)

    def after(self, after: After, empty: Bools) -> Floats:
        """Return the values with those of empty, short and missing lists put in."""
        values: Floats = self.values.copy()
        if after.empty is not None:
            values[:, empty] = EMPTY[after.empty]
        if after.short != "cut":
            cutoffs = np.array([metric.cutoff or 0 for metric in self.metrics])
            is_short = self.aligned.n_retrieved < cutoffs[:, None]
            values[is_short] = np.nan if after.short == "nan" else 0.0
        if (missing := self.metrics[0].definition.missing) is not None:
            values[:, ~self.aligned.answered] = missing
        return values

    def summaries(self, values: Floats, after: After) -> Floats:
        """Return each row's summary, ``(n_cutoffs,)``; see :mod:`harness.core.evaluation`."""
        weights = np.ones(values.shape[1]) if self.weights is None else self.weights
        if after.missing_queries == "skip":
            answered = self.aligned.answered
            values, weights = values[:, answered], weights[answered]
        defined = ~np.isnan(values)
        if after.undefined == "zero":
            values, defined = np.where(defined, values, 0.0), np.ones_like(defined)
        elif after.undefined == "skip":
            values = np.where(defined, values, 0.0)
        total: Floats = values @ weights
        n = defined @ weights
        how = self.metrics[0].definition.summary
        if how == "sum":
            return total
        mean: Floats = np.divide(total, n, out=np.full(total.size, np.nan), where=n != 0)
        return np.exp(mean) if how == "gm" else mean

    def key(self, row: Floats, after: After) -> bytes:
        """Return a key that settings with equal values on every query share."""
        if after.undefined == "zero":
            row = np.where(np.isnan(row), 0.0, row)
        if after.missing_queries == "skip":
            row = np.where(self.aligned.answered, row, np.nan)
        weights = b"" if self.weights is None else self.weights.tobytes()
        return (np.round(row, _DIGITS) + 0.0).tobytes() + weights


class Search(Shown):
    """A search over one run, in which each ranking, metric and summary is computed once.

    Attributes
    ----------
    nearest : Fit or None
        The nearest miss.
    refused : dict of str to str
        The conventions that refuse the data, and why.
    clipped : set of str
        Those of them that were tried with ``labels=clip``.
    unknown : int
        Settings and cutoffs left out because ties have no expectation in closed form.
    subject : str
        What the value is of: ``bm25.run on qrels.txt``.
    n_queries, n_tied, n_retrieved : int
        Queries, retrieved documents with tied scores, and retrieved documents.
    """

    def __init__(
        self, asked: Asked, depth: int, spaces: Sequence[Space], qrels: Qrels, run: Run
    ) -> None:
        self.asked, self.depth, self.spaces = asked, depth, tuple(spaces)
        self.subject = ""
        self._space_of = {base: space for space in spaces for base in space.bases}
        self._ways = {base: list(base.ways(depth)) for base in self._space_of}
        policies = dict.fromkeys(policy for ways in self._ways.values() for _, policy, _ in ways)
        first = Policy(ties="stable", scores="float32")
        self._aligned = align(qrels, run, first, policies)
        self._memo: dict[Hashable, Any] = {}
        self._hits: dict[bytes, list[Fit]] = defaultdict(list)
        self._tried: dict[Hashable, set[int]] = defaultdict(set)
        self._distance = math.inf
        self.refused: dict[str, str] = {}
        self.clipped: set[str] = set()
        self.unknown = 0
        self.nearest: Fit | None = None
        self.n_queries = self._aligned.n_queries
        self.n_tied = int(self._aligned.n_tied.sum())
        self.n_retrieved = int(self._aligned.n_retrieved.sum())

    @property
    def tried(self) -> int:
        """How many settings and cutoffs were tried."""
        return sum(map(len, self._tried.values()))

    def __str__(self) -> str:
        from .explain_report import render

        return render(self, self.subject).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Search: {self.asked.text}, {len(self.explanations)} explanations>"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row per explanation, the simplest first, or one for the nearest miss."""
        from .explain_report import records

        return records(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.rows)

    @cached_property
    def explanations(self) -> list[Explanation]:
        """The settings that fit, the simplest first."""
        return sorted(
            map(_explanation, self._hits.values()),
            key=lambda one: (self.asked.is_read_as_share(one.fits[0].value), one.fits[0].order),
        )

    @property
    def difference(self) -> float:
        """The nearest miss less the published value."""
        if self.nearest is None:
            return math.nan
        windows = self.asked.windows(self.nearest.base.definition.bounds[1])
        value = self.nearest.value
        return min((value - window.centre for window in windows), key=abs)

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` gives, or raise the InputError that it raises; it is called once."""
        if key not in self._memo:
            try:
                self._memo[key] = make()
            except InputError as error:
                self._memo[key] = error
        found: T = self._memo[key]
        if isinstance(found, InputError):
            raise found
        return found

    def _ranking(self, policy: Policy) -> _Ranking:
        """Return the run under a policy, the same one for policies that rank alike."""
        aligned = view(self._aligned, policy)
        tied = bool((aligned.tie_last > aligned.tie_first).any())
        average = policy.ties == "average" and tied
        digest = blake2b(b"average" if average else b"")
        for array in (
            aligned.offsets, aligned.rank, aligned.grade, aligned.tie_first, aligned.tie_last,
            aligned.ideal.offsets, aligned.ideal.values, aligned.n_retrieved,
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(array).data)
        if policy.ties == "average" and not average:
            policy = replace(policy, ties="stable")
        grades = np.unique(aligned.ideal.values)
        return self._once(digest.digest(), lambda: _Ranking(aligned, policy, tied, grades))

    def _values(
        self, definition: Definition, params: Params, policy: Policy,
        cutoffs: tuple[float | None, ...],
    ) -> tuple[_Values | None, Bools]:  # fmt: skip
        """Return a metric's values, None if ties have no closed form, and the empty queries."""
        ranking = self._once(policy, lambda: self._ranking(policy))
        aligned, tied, average = ranking.aligned, ranking.tied, ranking.policy.ties == "average"

        def compute() -> _Values | None:
            metrics = tuple(Metric(definition, cutoff, params) for cutoff in cutoffs)
            rows = [values_of(metric, aligned, ranking.policy) for metric in metrics]
            done = [row for row in rows if row is not None]
            if len(done) < len(rows):
                return None
            return _Values(metrics, aligned, np.stack(done), metrics[0].weights(aligned))

        same = meaning(definition, dict(params), ranking.grades, tied, average)
        values = self._once((definition.name, same, ranking, cutoffs), compute)
        own = tuple(item for item in params if item[0] in ("rel", "above", "top", "target"))
        key = "rel" in definition.parameters, own, ranking
        return values, self._once(key, lambda: empty_of(Metric(definition, None, own), aligned))

    def try_base(self, base: Base) -> None:
        """Try all settings that start from `base`."""
        space, definition = self._space_of[base], base.definition
        cutoffs = base.cutoffs(space.asked)
        if not cutoffs:  # the tool has no value for the whole list
            return
        rows = np.array([space.cutoffs.index(cutoff) for cutoff in cutoffs], dtype=np.intp)
        for changes, policy, params in self._ways[base]:
            try:
                values, empty = self._values(definition, params, policy, space.cutoffs)
            except InputError as error:
                if not changes:
                    problem = error.problems[0]
                    why = ": ".join(filter(None, (problem.where, problem.what)))
                    self.refused[base.name] = why
                continue
            if values is None:
                self.unknown += len(rows)
                continue
            if ("labels", "clip") in changes:
                self.clipped.add(base.name)
            inert = values.inert(empty)
            able = [name for name in AFTERWARDS if name not in inert]
            for more in base.changes(able, self.depth - len(changes)):
                after = base.after(more)
                self._tried[definition.name, params, policy, after].update(rows.tolist())
                fit = Fit(base, (*changes, *more), None, math.nan, inert)
                self._take(fit, cutoffs, rows, values, after, empty)

    def _take(
        self, fit: Fit, cutoffs: Sequence[float | None], rows: Array, values: _Values,
        after: After, empty: Bools,
    ) -> None:  # fmt: skip
        """Keep the cutoffs at which it fits, and the nearest miss."""

        def summarise() -> tuple[Floats, Floats, Floats]:
            finished = values.after(after, empty)
            summaries = values.summaries(finished, after)
            largest = fit.base.definition.bounds[1]
            return finished, summaries, self.asked.distances(summaries, largest)

        finished, summaries, distances = self._once((values, after, empty.tobytes()), summarise)
        distances = distances[rows]
        least = int(distances.argmin())
        if 0 < distances[least] < self._distance * (1 - 1e-9):
            self._distance = float(distances[least])
            value = float(summaries[rows[least]])
            self.nearest = replace(fit, cutoff=cutoffs[least], value=value)
        for at in np.flatnonzero(distances == 0).tolist():
            found = replace(fit, cutoff=cutoffs[at], value=float(summaries[rows[at]]))
            self._hits[values.key(finished[rows[at]], after)].append(found)


def _explanation(fits: list[Fit]) -> Explanation:
    """Leave out what only adds a change to another fit of the same base and cutoff."""
    fits = sorted(fits, key=lambda fit: fit.order)
    simplest: dict[tuple[Base, float | None], list[Fit]] = defaultdict(list)
    for fit in fits:
        simpler = simplest[fit.base, fit.cutoff]
        if not any(set(other.changes) <= set(fit.changes) for other in simpler):
            simpler.append(fit)
    shown = sorted((fit for some in simplest.values() for fit in some), key=lambda fit: fit.order)
    return Explanation(tuple(shown), tuple(_inert(shown[0], fits)))


def _inert(best: Fit, fits: list[Fit]) -> Iterator[str]:
    """Yield the settings that could be changed about `best` without effect here."""
    changed, added = set(best.changes), defaultdict[str, list[Any]](list)
    for fit in fits:
        more = set(fit.changes) - changed
        is_same = (fit.base, fit.cutoff) == (best.base, best.cutoff)
        if is_same and changed < set(fit.changes) and len(more) == 1:
            ((name, value),) = more
            added[name].append(value)
    for name, values in best.base.choices.items():
        is_inert = name in best.inert or len(added[name]) == len(values)
        if is_inert and name not in dict(best.changes):
            yield name


def from_results(
    folder: Path, run: str, dataset: str | None = None, columns: Sequence[str] = ()
) -> tuple[Qrels, Run, str]:
    """Read the inputs of one cell of a folder of results, and return them with the cell's name.

    Which cell is meant: see :func:`harness.experiment.folder.one_cell`. InputError if the folder
    holds no results, or their inputs are gone or have changed.
    """
    manifest = results.read_manifest(folder)
    _, cells = results.config_and_cells(folder, manifest)
    cell = results.one_cell(cells, run, dataset, columns)
    return *read_inputs(folder, manifest, cell, fractions=True), results.name_of(cell)
