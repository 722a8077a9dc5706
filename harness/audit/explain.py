"""Search for the settings that give a published value, those with the fewest changes first."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from tqdm import tqdm

from .. import readers
from ..core.align import align
from ..core.aligned import Aligned
from ..core.arguments import TEXT, PathLike, check_arguments, names_in, whole_from
from ..core.entries import grouped_by
from ..core.evaluation import EMPTY, values_of
from ..core.metric import Definition, Metric
from ..core.pandas_frame import data_frame
from ..core.policy import Policy
from ..core.policy_views import view
from ..core.qrels_and_runs import Qrels, Run
from ..core.ragged import Array, Bools, Floats
from ..errors import InputError, and_more, counted
from ..experiment.results import (
    Results,
    config_and_cells,
    folder_of,
    one_cell,
    read_manifest,
)
from ..readers import in_memory
from ..reports import text
from ..reports.grid import Grid, grid
from ..reports.text import Shown
from .explain_settings import (
    BEYOND,
    FAMILIAR,
    After,
    Asked,
    Base,
    ChangedSettings,
    Params,
    bases_of,
    levels_of,
    read,
)
from .why import columns_of, read_inputs

if TYPE_CHECKING:
    import pandas

EXPLANATIONS, ALTERNATIVES = 5, 4
"""How many explanations are shown, and how many alternatives of each, unless all are wanted."""
_DIGITS = 10
"""Decimals to which values of a query are compared: sums in another order differ in the last."""
T = TypeVar("T")


@dataclass(frozen=True)
class FittingSetting:
    """One way to set up a metric, and the summary that it gives.

    `changes` are the settings that differ from the base's; `inert` are those that change nothing
    here when they are applied to the values.
    """

    base: Base
    changes: ChangedSettings
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
        usual = FAMILIAR.index(self.cutoff) if self.cutoff in FAMILIAR else len(FAMILIAR)
        return len(self.changes), usual, self.cutoff or math.inf


@dataclass(frozen=True)
class Explanation:
    """Settings that give equal values on every query, the simplest first.

    `fits` leaves out those that only add a change to another; `inert` are the settings that could
    be changed in the first without effect on these data.
    """

    fits: tuple[FittingSetting, ...]
    inert: tuple[str, ...]


def try_all(
    asked: Asked,
    qrels: Qrels,
    run: Run,
    metrics: Sequence[str] = (),
    k: Sequence[int] = (),
    depth: int | None = None,
) -> Search:
    """Search for the settings that give a published value to its printed digits.

    At most `depth` settings of a convention are changed: by default 2, and 1 without `metrics`.
    """
    bases = bases_of(metrics, k or None, levels_of(qrels))
    search = Search(asked, depth if depth is not None else 2 if metrics else 1, bases, qrels, run)
    for base in tqdm(bases, unit="convention", disable=None, delay=2):
        search.try_base(base)
    return search


@dataclass(frozen=True, eq=False)
class _Values:
    """A metric's values, ``(n_cutoffs, n_queries)``, before `After` is applied.

    `empty` are the queries without relevant documents.
    """

    metrics: tuple[Metric, ...]
    aligned: Aligned
    values: Floats
    weights: Floats | None
    empty: Bools

    @cached_property
    def inert(self) -> frozenset[str]:
        """The settings that would change nothing here when applied to the values."""
        longest = max(metric.cutoff or 0 for metric in self.metrics)
        is_inert = {
            "short": self.aligned.n_retrieved.min(initial=longest) >= longest,
            "empty": not self.empty.any(),
            "missing_queries": self.aligned.answered.all(),
        }
        return frozenset(name for name, found in is_inert.items() if found)

    def after(self, after: After) -> Floats:
        """Return the values after those of empty, short and missing lists are replaced."""
        values: Floats = self.values.copy()
        if after.empty is not None:
            values[:, self.empty] = EMPTY[after.empty]
        if after.short != "cut":
            cutoffs = np.array([metric.cutoff or 0 for metric in self.metrics])
            is_short = self.aligned.n_retrieved < cutoffs[:, None]
            values[is_short] = np.nan if after.short == "nan" else 0.0
        if (missing := self.metrics[0].definition.missing) is not None:
            values[:, ~self.aligned.answered] = missing
        return values

    def summaries(self, values: Floats, after: After) -> Floats:
        """Return each row's summary, ``(n_cutoffs,)``; see `harness.core.evaluation`."""
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

    `nearest` is the nearest miss. `refused` are the conventions that refuse the data unchanged,
    and why.
    """

    def __init__(
        self, asked: Asked, depth: int, bases: Sequence[Base], qrels: Qrels, run: Run
    ) -> None:
        self.asked, self.depth, self.bases = asked, depth, tuple(bases)
        self.subject = ""
        self._ways = {base: list(base.ways(depth)) for base in bases}
        by_definition = grouped_by(bases, lambda base: base.definition)
        self._cutoffs = {
            definition: tuple(dict.fromkeys(k for base in some for k in base.cutoffs))
            for definition, some in by_definition.items()
        }
        policies = dict.fromkeys(policy for ways in self._ways.values() for _, policy, _ in ways)
        first = Policy(ties="stable", scores="float32")
        self._aligned = align(qrels, run, first, policies)
        self._memo: dict[Hashable, Any] = {}
        self._hits: dict[bytes, list[FittingSetting]] = defaultdict(list)
        self._tried: dict[Hashable, set[int]] = defaultdict(set)
        self._distance = math.inf
        self.refused: dict[str, str] = {}
        self.nearest: FittingSetting | None = None
        self.n_queries = self._aligned.n_queries
        self.n_tied = int(self._aligned.n_tied.sum())
        self.n_retrieved = int(self._aligned.n_retrieved.sum())

    @property
    def tried(self) -> int:
        """How many settings and cutoffs were tried."""
        return sum(map(len, self._tried.values()))

    def __str__(self) -> str:
        return text.render(grids(self)).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Search: {self.asked.text}, {len(self.explanations)} explanations>"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row per explanation, the simplest first, or one for the nearest miss."""
        if self.nearest is not None and not self.explanations:
            return [
                {
                    "published": self.asked.text, "fits": False, **_fields(self.nearest),
                    "value": self.nearest.value, "difference": self.difference,
                    "tried": self.tried, "tied": self.n_tied,
                }
            ]  # fmt: skip
        return [
            {
                "published": self.asked.text, "fits": True, "place": place,
                **_fields(one.fits[0]), "value": one.fits[0].value,
                "same": [*map(_fields, one.fits[1:])], "without_effect": [*one.inert],
                "tried": self.tried,
            }
            for place, one in enumerate(self.explanations, start=1)
        ]  # fmt: skip

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame (needs pandas)."""
        return data_frame(self.rows)

    @cached_property
    def explanations(self) -> list[Explanation]:
        """The settings that fit, the simplest first."""
        return sorted(map(_explanation, self._hits.values()), key=lambda one: one.fits[0].order)

    @property
    def difference(self) -> float:
        """The nearest miss less the published value."""
        if self.nearest is None:
            return math.nan
        windows = self.asked.windows(self.nearest.base.definition.bounds[1])
        value = self.nearest.value
        return min((value - centre for centre, *_ in windows), key=abs)

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

    def _ranking(self, policy: Policy) -> tuple[bytes, Aligned, Policy]:
        """Return a key that policies that rank alike share, the run under it, and its policy."""
        aligned = view(self._aligned, policy)
        tied = (aligned.tie_last > aligned.tie_first).any()
        average = bool(policy.ties == "average" and tied)
        digest = blake2b(b"average" if average else b"")
        for array in (
            aligned.offsets, aligned.rank, aligned.grade, aligned.tie_first, aligned.tie_last,
            aligned.ideal.offsets, aligned.ideal.values, aligned.n_retrieved,
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(array).data)
        if policy.ties == "average" and not average:
            policy = replace(policy, ties="stable")
        key = digest.digest()
        return self._once(key, lambda: (key, aligned, policy))

    def _values(
        self, definition: Definition, params: Params, policy: Policy,
        cutoffs: tuple[float | None, ...],
    ) -> _Values | None:  # fmt: skip
        """Return a metric's values; None if ties have no closed form."""
        ranking, aligned, own = self._once(policy, lambda: self._ranking(policy))

        def compute() -> _Values | None:
            metrics = tuple(Metric(definition, cutoff, params) for cutoff in cutoffs)
            rows = [values_of(metric, aligned, own) for metric in metrics]
            done = [row for row in rows if row is not None]
            if len(done) < len(rows):
                return None
            first = metrics[0]
            values, empty = np.stack(done), first.empty_queries(aligned)
            return _Values(metrics, aligned, values, first.weights(aligned), empty)

        return self._once((definition.name, params, ranking, cutoffs), compute)

    def try_base(self, base: Base) -> None:
        """Try all settings that start from `base`."""
        definition, cutoffs = base.definition, base.cutoffs
        every = self._cutoffs[definition]
        if not cutoffs:  # the tool has no value for the whole list
            return
        rows = np.array([every.index(cutoff) for cutoff in cutoffs], dtype=np.intp)
        for changes, policy, params in self._ways[base]:
            try:
                values = self._values(definition, params, policy, every)
            except InputError as error:
                if not changes:
                    problem = error.problems[0]
                    why = ": ".join(filter(None, (problem.where, problem.what)))
                    self.refused[base.name] = why
                continue
            if values is None:
                continue
            able = [name for name in After._fields if name not in values.inert]
            for more in base.changes(able, self.depth - len(changes)):
                after = base.after(more)
                self._tried[definition.name, params, policy, after].update(rows.tolist())
                fit = FittingSetting(base, (*changes, *more), None, math.nan, values.inert)
                self._take(fit, rows, values, after)

    def _take(self, fit: FittingSetting, rows: Array, values: _Values, after: After) -> None:
        """Keep the cutoffs at which it fits, and the nearest miss."""

        def summarise() -> tuple[Floats, Floats, Floats]:
            finished = values.after(after)
            summaries = values.summaries(finished, after)
            largest = fit.base.definition.bounds[1]
            return finished, summaries, self.asked.distances(summaries, largest)

        cutoffs = fit.base.cutoffs
        finished, summaries, distances = self._once((values, after), summarise)
        distances = distances[rows]
        least = int(distances.argmin())
        if 0 < distances[least] < self._distance * (1 - 1e-9):
            self._distance = float(distances[least])
            value = float(summaries[rows[least]])
            self.nearest = replace(fit, cutoff=cutoffs[least], value=value)
        for at in np.flatnonzero(distances == 0).tolist():
            found = replace(fit, cutoff=cutoffs[at], value=float(summaries[rows[at]]))
            self._hits[values.key(finished[rows[at]], after)].append(found)


def _explanation(fits: list[FittingSetting]) -> Explanation:
    """Leave out what only adds a change to another fit of the same base and cutoff."""
    fits = sorted(fits, key=lambda fit: fit.order)
    simplest: dict[tuple[Base, float | None], list[FittingSetting]] = defaultdict(list)
    for fit in fits:
        simpler = simplest[fit.base, fit.cutoff]
        if not any(set(other.changes) <= set(fit.changes) for other in simpler):
            simpler.append(fit)
    shown = sorted((fit for some in simplest.values() for fit in some), key=lambda fit: fit.order)
    return Explanation(tuple(shown), tuple(_inert(shown[0], fits)))


def _inert(best: FittingSetting, fits: list[FittingSetting]) -> Iterator[str]:
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


def explain(
    value: str | float,
    qrels: Any = None,
    run: Any = None,
    metrics: str | Sequence[str] = (),
    *,
    k: int | Sequence[int] = (),
    depth: int | None = None,
    results: PathLike | Results | None = None,
    dataset: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> Search:
    """Find the tool's settings that give a published value, as ``harness explain`` does.

    Parameters
    ----------
    value : str or float
        As it was printed: ``"0.4730"``, ``".473"``, ``"47.3%"``. A text keeps its last zeros.
    qrels, run : see `harness.evaluate`
        With `results`, `run` is the name of a run.
    metrics : str or sequence of str
        What the value may be, such as ``"ndcg"``; all metrics of a convention if left out.
    k : int or sequence of int
        The cutoff, if you know it.
    depth : int, optional
        How many settings of a convention are changed at most: 2; 1 without `metrics`.
    results : path or Results, optional
        Results with a cell to explain.
    dataset : str, optional
        The cell's dataset.
    where : mapping, optional
        The cell's columns: ``{"seed": 1}``.

    Returns
    -------
    Search
        ``explanations``, ``rows`` and ``to_pandas()`` have what fits, the simplest first.
    """
    asked = read(value if isinstance(value, str) else repr(value))
    check_arguments(locals(), depth=whole_from(0).or_none())
    some, cutoffs = names_in(metrics, "metrics"), list(k) if isinstance(k, Sequence) else [k]
    for one in cutoffs:
        check_arguments({"k": one}, k=whole_from(1))
    bases_of(some, cutoffs or None)  # reports wrong names before any file is read
    if results is not None:
        check_arguments(locals(), run=TEXT)
        folder = folder_of(results)
        manifest = read_manifest(folder)
        _, cells = config_and_cells(folder, manifest)
        cell = one_cell(cells, run, dataset, columns_of(where))
        judged, scores = read_inputs(folder, manifest, cell)
        subject = str(cell.key)
    else:
        judged, given = in_memory.as_pair(qrels, run)
        if isinstance(given, Run):
            scores, subject = given, given.name
        else:
            scores, subject = readers.read_run(given, dataset=judged), Path(given).name
    found = try_all(asked, judged, scores, some, cutoffs, depth)
    found.subject = subject
    return found


def _settings(fit: FittingSetting) -> str:
    """Return the tool whose settings it has, and how many are changed."""
    convention = fit.base.convention
    text = "the default" if convention is None else convention.tool
    if fit.changes:
        text += f", {counted(len(fit.changes), 'setting')} changed"
    if fit.missing_queries != "zero":
        text += f"; with the policy missing_queries: {fit.missing_queries}"
    return text


def grids(found: Search, everything: bool = False) -> Iterator[Grid]:
    """Yield what ``harness explain`` prints: the simplest explanations first.

    With `everything`, all explanations with all their alternatives.
    """
    ways = found.explanations
    verdict = f"none of {found.tried:,} settings fits"
    if ways:
        n_fits = sum(len(one.fits) for one in ways)
        verdict = f"{n_fits:,} of {found.tried:,} settings fit, in {counted(len(ways), 'way')}"
    of = f" of {found.subject}" if found.subject else ""
    size = counted(found.n_queries, "query", "queries")
    yield Grid(title=f"{found.asked.text}{of}, {size}", notes=(verdict,))
    most = len(ways) if everything else EXPLANATIONS
    yield from (_way(*one, everything) for one in enumerate(ways[:most], start=1))
    for more in and_more(len(ways) - most, "--all lists them; more digits or --k leave fewer"):
        yield Grid(title=more)
    if found.nearest is not None and not ways:
        near = found.nearest
        row = [f"{near.value:.6f}", f"{found.difference:+.6f}", near.name, _settings(near)]
        yield grid(["nearest value", "difference", *_HEADER], [row], left=4)
    yield Grid(notes=tuple(line for note in _notes(found) for line in text.wrapped(note)))


_HEADER = "metric", "settings of"


def _way(place: int, explanation: Explanation, everything: bool) -> Grid:
    best, *others = explanation.fits
    unchanged = len({fit.base for fit in others if not fit.changes} - {best.base})
    most = len(others) if everything else max(ALTERNATIVES, unchanged)
    notes = [*and_more(len(others) - most, "--all lists them")]
    if explanation.inert:
        notes.append(f"without effect here: {', '.join(explanation.inert)}")
    same = ", all with the same value on every query" if others else ""
    rows = [[fit.name, _settings(fit)] for fit in (best, *others[:most])]
    return grid(_HEADER, rows, left=2, title=f"{place}. {best.value:.6f}{same}", notes=notes)


def _notes(found: Search) -> Iterator[str]:
    if found.n_tied and not found.explanations:
        yield (
            f"{found.n_tied:,} of {found.n_retrieved:,} retrieved documents are tied. Tools that "
            "order ties by no rule may print other values: 'harness evaluate --ties bounds' prints "
            "the smallest and the largest"
        )
    names = ", ".join(dict.fromkeys(base.definition.name for base in found.bases))
    n_tools = len({base.convention.name for base in found.bases if base.convention is not None})
    changed = f"up to {counted(found.depth, 'setting')} changed" if found.depth else "unchanged"
    yield (
        f"tried: {names}; the default and {counted(n_tools, 'convention')}, {changed}; "
        f"cutoffs: {_cutoffs(found)}"
    )
    for why, refusing in grouped_by(found.refused, found.refused.__getitem__).items():
        yield f"left out: {', '.join(refusing)}: {why}"


def _cutoffs(found: Search) -> str:
    """Return the cutoffs that were tried."""
    every = {
        cutoff
        for base in found.bases
        if base.definition.cutoff is None or base.definition.cutoff.type is int
        for cutoff in base.cutoffs
    }
    numbers = sorted(k for k in every if k is not None and k != BEYOND)
    whole = ["whole list"] if {None, BEYOND} & every or not every else []
    return ", ".join([*(f"{number:g}" for number in numbers), *whole])


def _fields(fit: FittingSetting) -> dict[str, Any]:
    convention = fit.base.convention
    return {
        "metric": fit.name,
        "missing_queries": fit.missing_queries,
        "tool": None if convention is None else convention.tool,
        "changed": len(fit.changes),
    }
