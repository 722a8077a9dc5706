"""Which settings give a published value: those with the fewest changes to a convention first."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..core.align import align
from ..core.aligned import Aligned
from ..core.evaluate import EMPTY, empty_of, evaluate, values_of
from ..core.grades import GradeRule
from ..core.metric import Definition, Metric
from ..core.names import bound
from ..core.policy import Policy
from ..core.ragged import Array, Bools, Floats
from ..core.settings import Settings
from ..core.tables import Qrels, Run
from ..core.views import policies_of, view
from ..errors import HarnessError, InputError, UnknownNameError
from ..experiment import origin as origin
from .explain_space import (
    AFTERWARDS,
    After,
    Asked,
    Base,
    Changes,
    Params,
    Space,
    familiar,
    meaning,
)
from .why import read_inputs

DEPTH = 2
"""How many settings of a convention are changed at most by default."""
_DIGITS = 10
"""Decimals to which the values of a query are compared: sums in another order differ below."""
_ANY = GradeRule(whole=False)
Track = Callable[[Sequence[Base]], Iterable[Base]]
T = TypeVar("T")


@dataclass(frozen=True)
class Fit:
    """One way to set up a metric, and the summary that it gives.

    `changes` are the settings that differ from the base's; `inert` names those that change
    nothing here when they are applied to the values.
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
        """What comes first: fewer changes, then a more usual cutoff."""
        return len(self.changes), familiar(self.cutoff), self.cutoff or math.inf


@dataclass(frozen=True)
class Explanation:
    """Settings that give equal values on every query, the simplest first.

    `fits` leaves out those that only add a change to another; `inert` names the settings that
    could be changed in the first without effect on these data.
    """

    fits: tuple[Fit, ...]
    inert: tuple[str, ...]

    @property
    def best(self) -> Fit:
        """The simplest."""
        return self.fits[0]


@dataclass(frozen=True)
class Reach:
    """A metric's summaries under the worst and the best order of tied documents."""

    metric: Metric
    low: float
    high: float


@dataclass(frozen=True)
class Found:
    """What a search gave.

    `explanations` has the simplest first; if it is empty, `nearest` is what comes nearest and
    `difference` its value less the published one. `tried` counts settings and cutoffs, `unknown`
    those left out because ties have no expectation in closed form. `refused` has the conventions
    that do not accept the data, and why; `clipped` are those that were tried with ``labels=clip``.
    `n_tied` of `n_retrieved` documents share their score with another. If nothing fits and
    documents are tied, `reaches` are the metrics between whose values for the worst and the best
    order of tied documents the published one lies.
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
        The metrics, as :func:`harness.audit.explain_space.spaces_of` gives them.
    depth : int
        Settings of a convention that are changed at most.
    track : callable
        Passes on what is searched one after another; to show how far it is.

    Raises
    ------
    AlignmentError
        If qrels and run share no query.
    """
    space_of = {base: space for space in spaces for base in space.bases}
    ways = {base: list(_ways(base, depth)) for base in space_of}
    policies = (policy for some in ways.values() for _, policy, _ in some)
    search = _Search(asked, depth, _Rankings(qrels, run, policies))
    for base in track([*space_of]):
        search.try_base(base, space_of[base], ways[base])
    found = search.result(tuple(spaces))
    if not found.explanations and found.n_tied:
        found = replace(found, reaches=reaches(asked, qrels, run, spaces))
    return found


def _ways(base: Base, depth: int) -> Iterator[tuple[Changes, Policy, Params]]:
    """Yield each way to compute a metric that starts from `base`."""
    for changes in base.changes(base.kernel_names, depth):
        try:
            yield changes, *base.settle(changes)
        except UnknownNameError:  # settings that do not go together
            continue


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The run under a policy: whether documents are tied, and every grade, each once."""

    aligned: Aligned
    policy: Policy
    tied: bool
    grades: Array


@dataclass(frozen=True, eq=False)
class _Values:
    """A metric's values, ``(n_cutoffs, n_queries)``, before empty and short lists get theirs."""

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
        """Return what is the same for settings that give equal values on every query."""
        if after.undefined == "zero":
            row = np.where(np.isnan(row), 0.0, row)
        if after.missing_queries == "skip":
            row = np.where(self.aligned.answered, row, np.nan)
        weights = b"" if self.weights is None else self.weights.tobytes()
        return (np.round(row, _DIGITS) + 0.0).tobytes() + weights


class _Rankings:
    """The run under every policy that is asked for, and every metric's values, each once."""

    def __init__(self, qrels: Qrels, run: Run, policies: Iterable[Policy]) -> None:
        first = Policy(ties="stable", scores="float32")
        self._first = align(qrels, run, first)
        self._untied = not self._first.n_tied.any()
        self._memo: dict[Hashable, Any] = {}
        wanted = dict.fromkeys(self._plain(policy) for policy in policies)
        self.aligned = align(qrels, run, first, wanted)

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

    def _plain(self, policy: Policy) -> Policy:
        """Return a policy that gives the same ranking, one for many of them."""
        if policy.scores != "none" and self._untied:
            policy = replace(policy, ties="stable", scores="float32")
        if self._once(policy.grades, lambda: self._takes_all(policy.grades)):
            policy = replace(policy, grades=_ANY)
        return policy

    def _takes_all(self, rule: GradeRule) -> bool:
        """Whether a rule for grades neither refuses nor changes any of these."""
        if rule.documents > 1:
            return False
        try:
            return view(self._first, replace(self._first.policy, grades=rule)) is self._first
        except InputError:
            return False

    def under(self, policy: Policy) -> _Ranking:
        """Return the run under a policy; InputError if the policy does not accept a grade."""
        policy = self._plain(policy)
        return self._once(policy, lambda: self._under(policy))

    def _under(self, policy: Policy) -> _Ranking:
        """Return the ranking that this and all policies of the same ranking share."""
        aligned = view(self.aligned, policy)
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

    def values(
        self, definition: Definition, params: Params, ranking: _Ranking,
        cutoffs: tuple[float | None, ...],
    ) -> _Values | None:  # fmt: skip
        """Return a metric's values; None if ties have no expectation in closed form.

        Raises InputError if the metric does not accept a grade.
        """
        average = ranking.policy.ties == "average"
        same = meaning(definition, dict(params), ranking.grades, ranking.tied, average)

        def make() -> _Values | None:
            metrics = tuple(Metric(definition, cutoff, params, Settings()) for cutoff in cutoffs)
            rows: list[Floats] = []
            for metric in metrics:
                row = values_of(metric, ranking.aligned, ranking.policy)
                if row is None:
                    return None
                rows.append(row)
            weights = metrics[0].weights(ranking.aligned)
            return _Values(metrics, ranking.aligned, np.stack(rows), weights)

        return self._once((definition.name, same, ranking, cutoffs), make)

    def empty(self, definition: Definition, params: Params, ranking: _Ranking) -> Bools:
        """Return the queries without anything that a metric takes for relevant."""
        given = tuple(item for item in params if item[0] in ("rel", "above", "top", "target"))
        return self._once(
            ("rel" in definition.parameters, given, ranking),
            lambda: empty_of(Metric(definition, None, given), ranking.aligned),
        )

    @property
    def tied(self) -> tuple[int, int]:
        """How many retrieved documents are tied, scores compared as float32, and how many are."""
        return int(self._first.n_tied.sum()), int(self._first.n_retrieved.sum())


class _Search:
    def __init__(self, asked: Asked, depth: int, rankings: _Rankings) -> None:
        self.asked, self.depth, self.rankings = asked, depth, rankings
        self.hits: dict[bytes, list[Fit]] = defaultdict(list)
        self.summarised: dict[Hashable, tuple[Floats, Floats, Floats]] = {}
        self.tried: dict[Hashable, set[int]] = defaultdict(set)
        self.refused: dict[str, str] = {}
        self.clipped: set[str] = set()
        self.unknown = 0
        self.nearest: Fit | None = None
        self.distance = math.inf

    def try_base(
        self, base: Base, space: Space, ways: Iterable[tuple[Changes, Policy, Params]]
    ) -> None:
        """Try all settings that start from `base`."""
        cutoffs = base.cutoffs(space.asked)
        if not cutoffs:  # the tool has no value for the whole list
            return
        rows = np.array([space.cutoffs.index(cutoff) for cutoff in cutoffs], dtype=np.intp)
        for changes, policy, params in ways:
            try:
                ranking = self.rankings.under(policy)
                values = self.rankings.values(base.definition, params, ranking, space.cutoffs)
            except InputError as error:
                if not changes:
                    problem = error.problems[0]
                    self.refused[str(base)] = ": ".join(filter(None, (problem.where, problem.what)))
                continue
            if values is None:
                self.unknown += len(rows)
                continue
            if ("labels", "clip") in changes:
                self.clipped.add(str(base))
            empty = self.rankings.empty(base.definition, params, ranking)
            inert = values.inert(empty)
            able = [name for name in AFTERWARDS if name not in inert]
            for more in base.changes(able, self.depth - len(changes)):
                after = base.after(more)
                self.tried[base.definition.name, params, policy, after].update(rows.tolist())
                whole = Fit(base, (*changes, *more), None, math.nan, inert)
                self.take(whole, cutoffs, rows, values, after, empty)

    def take(
        self, fit: Fit, cutoffs: Sequence[float | None], rows: Array, values: _Values,
        after: After, empty: Bools,
    ) -> None:  # fmt: skip
        """Keep the cutoffs at which it fits; if there is none, the one that comes nearest."""
        key = (values, after, empty.tobytes())
        if key not in self.summarised:
            finished = values.after(after, empty)
            summaries = values.summaries(finished, after)
            windows = self.asked.windows(fit.base.definition.bounds[1])
            distances = np.minimum.reduce([window.distances(summaries) for window in windows])
            distances = np.where(np.isnan(distances), math.inf, distances)
            self.summarised[key] = finished, summaries, distances
        finished, summaries, distances = self.summarised[key]
        distances = distances[rows]
        least = int(distances.argmin())
        if 0 < distances[least] < self.distance * (1 - 1e-9):
            self.distance = float(distances[least])
            value = float(summaries[rows[least]])
            self.nearest = replace(fit, cutoff=cutoffs[least], value=value)
        for at in np.flatnonzero(distances == 0).tolist():
            found = replace(fit, cutoff=cutoffs[at], value=float(summaries[rows[at]]))
            self.hits[values.key(finished[rows[at]], after)].append(found)

    def result(self, spaces: tuple[Space, ...]) -> Found:
        """Return what was found, the simplest first."""
        explanations = [_explanation(fits) for fits in self.hits.values()]
        explanations.sort(
            key=lambda one: (self.asked.is_read_as_share(one.best.value), one.best.order)
        )
        nearest = self.nearest if not explanations else None
        difference = math.nan
        if nearest is not None:
            windows = self.asked.windows(nearest.base.definition.bounds[1])
            difference = min((nearest.value - window.centre for window in windows), key=abs)
        return Found(
            self.asked, spaces, self.depth, tuple(explanations), nearest, difference,
            sum(map(len, self.tried.values())), self.refused, self.unknown,
            self.rankings.aligned.n_queries, frozenset(self.clipped), *self.rankings.tied,
        )  # fmt: skip


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
    own, added = set(best.changes), defaultdict[str, list[Any]](list)
    for fit in fits:
        is_same = (fit.base, fit.cutoff) == (best.base, best.cutoff)
        if is_same and own < set(fit.changes) and len(fit.changes) == len(own) + 1:
            ((name, value),) = set(fit.changes) - own
            added[name].append(value)
    for name, values in best.base.choices.items():
        if name not in dict(best.changes) and (
            name in best.inert or len(added[name]) == len(values)
        ):
            yield name


NO_RULE = "torchmetrics but for nDCG, scikit-learn with ignore_ties, RankEval, and others"
"""See "What no rule gives" in docs/conventions.md."""
_TOOLS = ("sklearn", "torchmetrics", "rankeval", "allrank", "ptranking", "ranx", "quickrank")
_USUAL = 8
"""How many of the usual cutoffs are tried if none is asked for."""


def reaches(asked: Asked, qrels: Qrels, run: Run, spaces: Sequence[Space]) -> tuple[Reach, ...]:
    """Return the metrics between whose extreme values the published one lies.

    Tried are the default of each metric, and the tools whose order of ties follows no rule.
    """
    metrics = [metric for space in spaces for metric in _without_rule(space) if metric.bounded]
    found: list[Reach] = []
    for convention in dict.fromkeys(metric.convention for metric in metrics):
        some = [metric for metric in metrics if metric.convention == convention]
        try:
            found += _bounds(qrels, run, some)
        except HarnessError:  # the tool refuses grades for some of them, as Found.refused says
            for metric in some:
                try:
                    found += _bounds(qrels, run, [metric])
                except HarnessError:
                    continue
    inside = [reach for reach in found if _lies_inside(asked, reach)]
    return tuple(sorted(inside, key=lambda reach: familiar(reach.metric.cutoff)))


def _without_rule(space: Space) -> Iterator[Metric]:
    """Yield the metrics of tools that order ties by no rule."""
    for base in space.bases:
        name = base.convention.name if base.convention else ""
        if name and (name not in _TOOLS or (name, space.definition.name) == _RULED):
            continue
        for cutoff in base.cutoffs(space.asked):
            if space.asked is not None or familiar(cutoff) < _USUAL:
                yield base.metric((), cutoff)


_RULED = ("torchmetrics", "ndcg")


def _bounds(qrels: Qrels, run: Run, metrics: Sequence[Metric]) -> list[Reach]:
    wanted = [bound(metric, name) for metric in metrics for name in ("min", "max")]
    aligned = align(qrels, run, Policy(), policies_of(wanted, Policy()))
    values = evaluate(aligned, wanted).summary()
    return [Reach(metric, values[f"{metric}_min"], values[f"{metric}_max"]) for metric in metrics]


def _lies_inside(asked: Asked, reach: Reach) -> bool:
    windows = asked.windows(reach.metric.definition.bounds[1])
    return reach.low < reach.high and any(
        window.high >= reach.low and window.low <= reach.high for window in windows
    )


def from_results(
    folder: Path, run: str, dataset: str | None = None, columns: Sequence[str] = ()
) -> tuple[Qrels, Run, str]:
    """Read the inputs of one cell of a folder of results, and return them with the cell's name.

    Which cell is meant: see :func:`harness.experiment.origin.one_cell`. InputError if the folder
    holds no results, or their inputs are gone or have changed.
    """
    manifest = origin.read_manifest(folder)
    _, cells = origin.again(folder, manifest)
    cell = origin.one_cell(cells, run, dataset, columns)
    return *read_inputs(folder, manifest, cell, fractions=True), origin.name_of(cell)
