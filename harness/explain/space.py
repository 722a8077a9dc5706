"""What is searched: conventions, the settings that can be changed in each, and cutoffs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations, product
from typing import Any

from ..core.choices import choices_of
from ..core.convention import CONVENTIONS, NEEDED, WHOLE_LIST, Convention
from ..core.grade_rule import GradeRule
from ..core.metric import REGISTRY, Definition, Metric
from ..core.names import parse
from ..core.policy import Policy
from ..core.settings import PARAMETERS, Settings
from ..errors import UnknownNameError, did_you_mean

Change = tuple[str, Any]
Changes = tuple[Change, ...]
CUTOFFS = (*range(1, 21), 25, 30, 32, 50, 100, 1000)
"""What is tried where no cutoff is given, and the whole list."""
BEYOND = 100_000
"""A cutoff beyond every list: what stands for the whole list where a convention's bare name
means another cutoff."""
AFTERWARDS = ("short", "empty", "undefined", "missing_queries")
"""Choices that are made about the values of a metric when they are there."""
_USUAL: Mapping[str, Any] = {
    "ties": "trec_eval", "scores": "float32", "judged_only": False, "empty": None,
    "undefined": "skip", "missing_queries": "zero", "labels": "error",
}  # fmt: skip
_FAMILIAR = (None, 10, 5, 20, 1, 3, 100, 1000, 15, 30, 50)


@dataclass(frozen=True)
class After:
    """What is done with the values of a metric: see :class:`harness.core.settings.Settings`."""

    short: str = "cut"
    empty: str | None = None
    undefined: str = "skip"
    missing_queries: str = "zero"


@dataclass(frozen=True, eq=False)
class Base:
    """Where a search starts: a convention's settings of one metric, or the plain ones.

    Parameters
    ----------
    definition : Definition
    convention : Convention, optional
        None for the defaults of this harness.
    levels : tuple of int
        Values of ``rel`` to try.
    """

    definition: Definition
    convention: Convention | None = None
    levels: tuple[int, ...] = (1,)

    def __str__(self) -> str:
        of = "" if self.convention is None else f"(convention={self.convention.name})"
        return f"{self.definition.name}{of}"

    @cached_property
    def usual(self) -> Mapping[str, Any]:
        """Every parameter and setting with the value it has where nothing is changed."""
        own = {
            name: parameter.default
            for name, parameter in self.definition.parameters.items()
            if name not in ("cutoff", "reference")
        }
        return {**_USUAL, **own, **self._given}

    @cached_property
    def _given(self) -> Mapping[str, Any]:
        return {} if self.convention is None else self.convention.of(self.definition.name)

    @cached_property
    def choices(self) -> dict[str, tuple[Any, ...]]:
        """What each setting can be changed to."""
        there: dict[str, Sequence[Any]] = {**choices_of(self.definition)}
        if "rel" in self.definition.parameters:
            there["rel"] = [*there.get("rel", ()), *self.levels]
        there["missing_queries"] = ["skip"]
        rule = self.usual.get("grades", GradeRule())
        if (rule.low, rule.high) != (None, None):
            there["labels"] = ["clip"]
        found = {}
        for name, values in there.items():
            same = [self.usual[name]]
            if name == "scores" and self.convention is None:
                same = []  # what it is by default hangs on the order of ties
            others = [_USUAL.get(name) if value is None else value for value in values]
            found[name] = tuple(
                value
                for value in dict.fromkeys(others)
                if value not in (*same, "error") and (value is not None or name not in _USUAL)
            )
        return {name: values for name, values in found.items() if values}

    def cutoffs(self, asked: Sequence[float | None] | None) -> tuple[float | None, ...]:
        """Return the cutoffs to try: those asked for, or a list of them and the whole list."""
        usual = self._given.get("cutoff")
        if self.definition.cutoff is None or usual == WHOLE_LIST:
            return (None,)
        some: Sequence[float | None] = (*CUTOFFS, None) if asked is None else asked
        if self.definition.cutoff.type is not int and asked is None:
            some = self.definition.cutoffs
        whole: tuple[float | None, ...] = (None,) if usual is None else (BEYOND,)
        if self.definition.needs_cutoff or usual == NEEDED:
            whole = ()
        return tuple(k for one in some for k in (whole if one is None else (one,)))

    def changes(self, names: Iterable[str], most: int) -> Iterator[Changes]:
        """Yield the ways to change up to `most` of the settings `names`, fewest first."""
        able = [name for name in names if name in self.choices]
        for size in range(most + 1):
            for some in combinations(able, size):
                for values in product(*(self.choices[name] for name in some)):
                    yield tuple(zip(some, values, strict=True))

    @cached_property
    def kernel_names(self) -> list[str]:
        """The settings that change what is computed."""
        return [name for name in self.choices if name not in AFTERWARDS]

    def settle(self, changes: Changes) -> tuple[Policy, tuple[tuple[str, Any], ...]]:
        """Return the policy and the parameters that a metric is computed with.

        Raises
        ------
        UnknownNameError
            Where the settings do not go together.
        """
        values = self._together(changes)
        rule = values.get("grades", GradeRule())
        if values["labels"] == "clip":
            rule = replace(rule, act="clip")
        scores = values["scores"]
        if self.convention is None and "scores" not in dict(changes):
            scores = "float32" if values["ties"] == "trec_eval" else "float64"
        policy = _policy(values["ties"], scores, values["judged_only"], rule)
        own = self.definition.parameters
        params = tuple(
            (name, values[name])
            for name, parameter in own.items()
            if name not in ("cutoff", "reference", "short")
            and (parameter.shown or values[name] != parameter.default)
        )
        return policy, params

    def _together(self, changes: Changes) -> dict[str, Any]:
        """Return every parameter and setting, as a name with these changes is read."""
        given, written = dict(self._given), dict(changes)
        if self.convention is not None:
            for name, value in changes:
                variant = f"{self.definition.name}({name}={value})"
                given |= self.convention.variants.get(variant, {})
        if "rel" in written:
            given.pop("above", None)
        said = {**given, **written}
        rel, top = said.get("rel"), said.get("top")
        if rel is not None and said.get("above") is not None:
            raise UnknownNameError("rel and above both say what is relevant")
        if top is not None and top < (rel or 1):
            raise UnknownNameError("nothing would be relevant")
        values = {**self.usual, **said}
        rule = said.get("grades")
        if "rel" in written and rule is not None and rule.high == 1:
            values["rel"] = self.definition.parameters["rel"].default
            values["grades"] = replace(rule, relevant_from=rel)
        if "above" not in said and "above" in values:
            values["above"] = None
        return values

    def after(self, changes: Changes) -> After:
        """Return what is done with the values."""
        values = {**self.usual, **dict(changes)}
        return After(
            values.get("short", "cut"), values["empty"], values["undefined"],
            values["missing_queries"],
        )  # fmt: skip

    def metric(self, changes: Changes, cutoff: float | None) -> Metric:
        """Return the metric that can be written for it; missing queries are the policy's."""
        known = {**self.definition.parameters, **PARAMETERS}
        said = [] if self.convention is None else [f"convention={self.convention.name}"]
        said += [
            f"{name}={'none' if value is None else known[name].text(value)}"
            for name, value in changes
            if name != "missing_queries"
        ]
        text = self.definition.name + (f"({','.join(said)})" if said else "")
        if cutoff is not None:
            text += f"@{cutoff:g}" if isinstance(cutoff, float) else f"@{cutoff}"
        return parse(text)[0]


@cache
def _policy(ties: str, scores: Any, judged_only: bool, grades: GradeRule) -> Policy:
    settings = Settings(ties=ties, scores=scores, judged_only=judged_only, grades=grades)
    return Policy().with_settings(settings)


@dataclass(frozen=True)
class Space:
    """One metric to explain a value by, with the cutoffs to try."""

    definition: Definition
    asked: tuple[float | None, ...] | None = None
    levels: tuple[int, ...] = (1,)

    @cached_property
    def bases(self) -> list[Base]:
        """The plain settings first, then every convention that has the metric."""
        named = [c for c in CONVENTIONS.values() if self.definition.name in c.metrics]
        return [Base(self.definition, each, self.levels) for each in (None, *named)]

    @cached_property
    def cutoffs(self) -> tuple[float | None, ...]:
        """Every cutoff that one of the bases is tried with."""
        return tuple(dict.fromkeys(k for base in self.bases for k in base.cutoffs(self.asked)))


def familiar(cutoff: float | None) -> int:
    """Return the place of a cutoff among those that are usual, 0 for the most usual."""
    return _FAMILIAR.index(cutoff) if cutoff in _FAMILIAR else len(_FAMILIAR)


def known_metrics() -> list[str]:
    """Return the metrics that a convention has, but for mere counts, in the order of the table."""
    named = dict.fromkeys(name for each in CONVENTIONS.values() for name in each.metrics)
    return [
        name
        for name in named
        if REGISTRY[name].direction is not None and REGISTRY[name].summary != "sum"
    ]


def spaces_of(
    names: Sequence[str], k: Sequence[int] | None = None, levels: Sequence[int] = (1,)
) -> list[Space]:
    """Return what is searched for metrics named ``ndcg``, ``ndcg@10`` or ``ndcg_cut_10``.

    Parameters
    ----------
    names : sequence of str
        All that a convention has where there are none.
    k : sequence of int, optional
        Cutoffs, for the metrics that do not name their own.
    levels : sequence of int
        Values of ``rel`` to try, where a metric has it.

    Raises
    ------
    UnknownNameError
        Where a name is not known, says settings, or is that of a metric in no convention; where
        no metric is left to take the cutoffs `k`.
    """
    able = known_metrics()
    found: dict[tuple[str, Any], Space] = {}
    without: list[str] = []
    taken = False
    for name in names or able:
        metrics = parse(name)
        for definition in {
            metric.definition.name: metric.definition for metric in metrics
        }.values():
            own = tuple(one.cutoff for one in metrics if one.definition is definition)
            if definition.name not in able:
                near = did_you_mean(definition.name, able)
                raise UnknownNameError(
                    f"no convention has the metric '{definition.name}'{near}"
                    "  (all: harness metrics --conventions)"
                )
            plain = parse(definition.name)
            if (metrics[0].params, metrics[0].settings) != (plain[0].params, plain[0].settings):
                raise UnknownNameError(
                    f"{name}: settings are what is searched for; write {definition.name} alone, "
                    f"or {definition.name}@10"
                )
            asked: tuple[float | None, ...] | None = own
            if own == tuple(metric.cutoff for metric in plain):
                whole = definition.cutoff is not None and definition.cutoff.type is int
                asked = tuple(k) if k and whole else None
                taken |= whole
                without += [] if whole else [f"{name} takes no cutoff"]
            elif k and set(own) != set(k):
                without.append(f"{name} names its own cutoff")
            found[definition.name, asked] = Space(definition, asked, tuple(levels))
    if k and without and not taken:
        said = " ".join(f"-k {each}" for each in k)
        raise UnknownNameError(f"{said} contradicts -m: {', '.join(without)}; leave one out")
    return list(found.values())
