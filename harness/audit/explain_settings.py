"""The space that explain searches: tools, settings, cutoffs; and the published value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from ..core.metric import REGISTRY, Definition, Metric
from ..core.names import parse
from ..core.policy import GradeRule, Policy
from ..core.qrels_and_runs import Qrels
from ..core.ragged import Floats
from ..core.settings import CONVENTIONS, NEEDED, PARAMETERS, WHOLE_LIST, Convention
from ..errors import InputError, Problem, UnknownNameError, did_you_mean
from .convention_audit import choices_of
from .table_files import printed

ChangedSettings = tuple[tuple[str, Any], ...]
"""Settings that are changed, with their new values."""
Params = tuple[tuple[str, Any], ...]
"""Parameters of a metric that differ from their defaults."""
CUTOFFS = (*range(1, 21), 25, 30, 32, 50, 100, 1000)
"""Tried with the whole list if no cutoff is asked for."""
BEYOND = 100_000
"""Stands for the whole list if a convention's bare name means another cutoff."""
_USUAL: Mapping[str, Any] = {
    "ties": "trec_eval", "scores": "float32", "judged_only": False, "empty": None,
    "undefined": "skip", "missing_queries": "zero", "labels": "error",
}  # fmt: skip
MOST_LEVELS = 4
FAMILIAR = (None, 10, 5, 20, 1, 3, 100, 1000, 15, 30, 50)
"""Usual cutoffs, the most usual first."""
_SLACK = 1e-12
"""How far rounding errors may take a mean past a bound, as a share of it."""


class After(NamedTuple):
    """How values are changed after they are computed: see `harness.core.settings`."""

    short: str = "cut"
    empty: str | None = None
    undefined: str = "skip"
    missing_queries: str = "zero"


@dataclass(frozen=True, eq=False)
class Base:
    """Where a search starts: a convention's settings of one metric, or the harness's defaults.

    `asked` are the cutoffs asked for, `levels` the values of ``rel`` to try.
    """

    definition: Definition
    convention: Convention | None = None
    asked: tuple[float | None, ...] | None = None
    levels: tuple[int, ...] = (1,)

    @property
    def name(self) -> str:
        """The metric with the convention, without a cutoff."""
        of = "" if self.convention is None else f"(convention={self.convention.name})"
        return f"{self.definition.name}{of}"

    @cached_property
    def own(self) -> Mapping[str, Any]:
        """The convention's settings of the metric."""
        return {} if self.convention is None else self.convention.of(self.definition.name)

    @cached_property
    def usual(self) -> Mapping[str, Any]:
        """Every parameter and setting with its unchanged value."""
        known = self.definition.parameters
        names = [name for name in known if name not in ("cutoff", "reference")]
        return {**_USUAL, **{name: known[name].default for name in names}, **self.own}

    @cached_property
    def choices(self) -> dict[str, tuple[Any, ...]]:
        """What each setting can be changed to."""
        every: dict[str, Sequence[Any]] = {**choices_of(self.definition)}
        if "rel" in self.definition.parameters:
            every["rel"] = [*every.get("rel", ()), *self.levels]
        every["missing_queries"] = ["skip"]
        rule = self.usual.get("grades", GradeRule())
        if (rule.low, rule.high) != (None, None):
            every["labels"] = ["clip"]
        found = {}
        for name, values in every.items():
            skipped = ["error", None] if name in _USUAL else ["error"]
            if name != "scores" or self.convention is not None:
                skipped.append(self.usual[name])  # the default of scores depends on the ties
            values = [_USUAL.get(name) if value is None else value for value in values]
            found[name] = tuple(value for value in dict.fromkeys(values) if value not in skipped)
        return {name: some for name, some in found.items() if some}

    @cached_property
    def cutoffs(self) -> tuple[float | None, ...]:
        """The cutoffs to try: those asked for, or the usual ones and the whole list."""
        usual = self.own.get("cutoff")
        if self.definition.cutoff is None or usual == WHOLE_LIST:
            return (None,)
        some: Sequence[float | None] = (*CUTOFFS, None) if self.asked is None else self.asked
        if self.definition.cutoff.type is not int and self.asked is None:
            some = self.definition.cutoffs
        if self.definition.needs_cutoff or usual == NEEDED:
            return tuple(k for k in some if k is not None)
        return tuple((BEYOND if usual is not None else None) if k is None else k for k in some)

    def changes(self, names: Iterable[str], most: int) -> Iterator[ChangedSettings]:
        """Yield the ways to change up to `most` of the settings `names`, fewest first."""
        able = [name for name in names if name in self.choices]
        for size in range(most + 1):
            for some in combinations(able, size):
                for values in product(*(self.choices[name] for name in some)):
                    yield tuple(zip(some, values, strict=True))

    def ways(self, depth: int) -> Iterator[tuple[ChangedSettings, Policy, Params]]:
        """Yield each way to compute the metric, with its policy and parameters."""
        cutoff = next(iter(self.cutoffs), None)
        names = [name for name in self.choices if name not in After._fields]
        for changes in self.changes(names, depth):
            try:
                metric = self.metric(changes, cutoff)
                policy = Policy().with_settings(metric.settings)
                policy = replace(policy, scores=policy.score_type)
            except UnknownNameError:  # settings that do not go together
                continue
            params = tuple(item for item in metric.params if item[0] not in ("short", "reference"))
            yield changes, policy, params

    def after(self, changes: ChangedSettings) -> After:
        """Return how values are changed after they are computed."""
        values = {"short": "cut", **self.usual, **dict(changes)}
        return After(*(values[name] for name in After._fields))

    def metric(self, changes: ChangedSettings = (), cutoff: float | None = None) -> Metric:
        """Return the metric that can be written for it; missing queries are the policy's."""
        known = {**self.definition.parameters, **PARAMETERS}
        inside = [] if self.convention is None else [f"convention={self.convention.name}"]
        inside += [
            f"{name}={'none' if value is None else known[name].text(value)}"
            for name, value in changes
            if name != "missing_queries"
        ]
        text = self.definition.name + (f"({','.join(inside)})" if inside else "")
        if cutoff is not None:
            text += f"@{cutoff:g}" if isinstance(cutoff, float) else f"@{cutoff}"
        return parse(text)[0]


def levels_of(qrels: Qrels) -> tuple[int, ...]:
    """Return the values of ``rel`` that make a difference."""
    largest = int(qrels.ideal.values.max(initial=1))
    return tuple(range(1, min(max(largest, 1), MOST_LEVELS) + 1))


def bases_of(
    names: Sequence[str], k: Sequence[int] | None = None, levels: Sequence[int] = (1,)
) -> list[Base]:
    """Return where to start for metrics such as ``ndcg``, ``ndcg@10`` or ``ndcg_cut_10``.

    The plain settings come first, then every convention that has the metric.

    Without names: every metric that a convention has, except counts. `k` are cutoffs for the
    metrics that name none, `levels` the values of ``rel`` to try. Raises UnknownNameError for an
    unknown name, one with settings, or one that no convention has, or if no metric takes `k`.
    """
    able = [
        name
        for name in dict.fromkeys(name for each in CONVENTIONS.values() for name in each.metrics)
        if REGISTRY[name].direction is not None and REGISTRY[name].summary != "sum"
    ]
    found: dict[tuple[Definition, tuple[float | None, ...] | None], None] = {}
    for name in names or able:
        metrics = parse(name)
        for definition in dict.fromkeys(metric.definition for metric in metrics):
            if definition.name not in able:
                raise UnknownNameError(
                    f"no convention has the metric '{definition.name}'"
                    f"{did_you_mean(definition.name, able)}"
                    "  (all: harness metrics --conventions)"
                )
            plain = parse(definition.name)
            if (metrics[0].params, metrics[0].settings) != (plain[0].params, plain[0].settings):
                what = f"expected a metric without settings, got {name}"
                fix = f"write {definition.name} or {definition.name}@10; explain finds the settings"
                raise UnknownNameError(Problem("metric", what, fix=fix))
            own = tuple(one.cutoff for one in metrics if one.definition is definition)
            asked: tuple[float | None, ...] | None = own
            if own == tuple(metric.cutoff for metric in plain):
                takes = definition.cutoff is not None and definition.cutoff.type is int
                asked = tuple(k) if k and takes else None
            found[definition, asked] = None
    if k and not any({*(asked or ())} == {*k} for _, asked in found):
        what = f"expected a metric that takes a cutoff and names none, got {', '.join(names)}"
        raise UnknownNameError(Problem("-k", what, fix="leave out -k, or write -m ndcg -k 10"))
    return [
        Base(definition, convention, asked, tuple(levels))
        for definition, asked in found
        for convention in (None, *CONVENTIONS.values())
        if convention is None or definition.name in convention.metrics
    ]


@dataclass(frozen=True)
class Asked:
    """A published value as it was written: ``0.4731``, ``.473``, ``47.31`` or ``47.31%``."""

    text: str
    number: Decimal
    percent: bool = False

    def windows(self, largest: float = 1.0) -> list[tuple[float, ...]]:
        """Return it, and between what values round to it, for a metric that is at most `largest`.

        Half of the last printed digit either way, so that it does not matter how halves are
        rounded. A number above 1 is also read as percent if the metric is a share.

        >>> read("0.4731").windows(), len(read("47.31").windows())
        ([(0.4731, 0.47305, 0.47315)], 2)
        """
        half = Decimal(5).scaleb(int(self.number.as_tuple().exponent) - 1)
        bounds = self.number, self.number - half, self.number + half
        places = [2] if self.percent else [0, 2] if self.number > 1 and largest <= 1 else [0]
        return [tuple(float(one.scaleb(-n)) for one in bounds) for n in places]

    def distances(self, values: Floats, largest: float) -> Floats:
        """Return how far values lie from the published one: 0 if they round to it, inf for NaN."""
        found = np.full(values.shape, np.inf)
        for centre, low, high in self.windows(largest):
            slack = _SLACK * max(1.0, abs(centre))
            fits = (values >= low - slack) & (values <= high + slack)
            found = np.fmin(found, np.where(fits, 0.0, np.abs(values - centre)))
        return found


def read(text: str) -> Asked:
    """Return the published value that `text` is; InputError if it is not a number."""
    found = printed(text.strip())
    if found is None:
        fix = "write the value as it was printed, such as 0.4731, .473 or 47.31%"
        raise InputError(Problem("", f"expected a number, got '{text}'", fix=fix))
    return Asked(text.strip(), found.number, found.is_percent)
