"""What is searched: conventions, the settings that can be changed in each, and cutoffs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cache, cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

from ..core.choices import choices_of
from ..core.convention import CONVENTIONS, NEEDED, WHOLE_LIST, Convention
from ..core.grades import GradeRule
from ..core.metric import REGISTRY, Definition, Metric
from ..core.names import parse
from ..core.policy import Policy
from ..core.ragged import Array, Floats
from ..core.settings import PARAMETERS, Settings
from ..errors import InputError, Problem, UnknownNameError, did_you_mean
from ..metrics.gains import Scale

Change = tuple[str, Any]
Changes = tuple[Change, ...]
Params = tuple[Change, ...]
"""Parameters of a metric that differ from their defaults."""
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
    """Where a search starts: a convention's settings of one metric, or the harness's defaults.

    `levels` are the values of ``rel`` to try.
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
            same: Any = self.usual[name]
            if name == "scores" and self.convention is None:
                same = ()  # the default depends on the order of ties
            some = dict.fromkeys(_USUAL.get(name) if value is None else value for value in values)
            found[name] = tuple(
                value
                for value in some
                if value not in (same, "error") and (value is not None or name not in _USUAL)
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

        Raises UnknownNameError if the settings do not go together.
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
        named = {**given, **written}
        rel, top = named.get("rel"), named.get("top")
        if rel is not None and named.get("above") is not None:
            raise UnknownNameError("rel and above both say what is relevant")
        if top is not None and top < (rel or 1):
            raise UnknownNameError("nothing would be relevant")
        values = {**self.usual, **named}
        rule = named.get("grades")
        if "rel" in written and rule is not None and rule.high == 1:
            values["rel"] = self.definition.parameters["rel"].default
            values["grades"] = replace(rule, relevant_from=rel)
        if "above" not in named and "above" in values:
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

    Without names, every metric that a convention has. `k` are cutoffs, for the metrics that do not
    name their own; `levels` are values of ``rel`` to try. UnknownNameError if a name is not known,
    has settings, or is that of a metric in no convention; if no metric is left to take the cutoffs.
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
        options = " ".join(f"-k {each}" for each in k)
        raise UnknownNameError(f"{options} contradicts -m: {', '.join(without)}; leave one out")
    return list(found.values())


_SLACK = 1e-12
"""What rounding errors of a mean may take it past a bound, as a share of it."""


@dataclass(frozen=True)
class Window:
    """The values that are printed so: from `low` to `high`, both included."""

    centre: float
    low: float
    high: float

    def distances(self, values: Floats) -> Floats:
        """Return how far values lie from the published one; 0 where they round to it."""
        slack = _SLACK * max(1.0, abs(self.centre))
        fits = (values >= self.low - slack) & (values <= self.high + slack)
        found: Floats = np.where(fits, 0.0, np.abs(values - self.centre))
        return found


@dataclass(frozen=True)
class Asked:
    """A published value as it was written: ``0.4731``, ``.473``, ``47.31`` or ``47.31%``."""

    text: str
    number: Decimal
    percent: bool = False

    def windows(self, largest: float = 1.0) -> list[Window]:
        """Return the values that round to it, of a metric that is at most `largest`.

        Half of the last printed digit either way, so that it does not matter how halves are
        rounded. A number above 1 is also read as percent, where the metric is a share.

        >>> [(w.low, w.high) for w in read("0.4731").windows()]
        [(0.47305, 0.47315)]
        >>> [round(w.centre, 6) for w in read("47.31").windows()]
        [47.31, 0.4731]
        """
        if self.percent:
            return [self._window(2)]
        found = [self._window(0)]
        if self.number > 1 and largest <= 1:
            found.append(self._window(2))
        return found

    def is_read_as_share(self, value: float) -> bool:
        """Return whether a value that fits, or comes near, is the percentage without its sign.

        >>> read("47.31").is_read_as_share(0.4731), read("47.31").is_read_as_share(47.3)
        (True, False)
        """
        if self.percent or self.number <= 1:
            return False
        itself, share = (self._window(places).centre for places in (0, 2))
        return abs(value - share) < abs(value - itself)

    def _window(self, places: int) -> Window:
        exponent = self.number.as_tuple().exponent
        half = Decimal(5).scaleb(int(exponent) - 1)
        low, high = ((self.number + sign * half).scaleb(-places) for sign in (-1, 1))
        return Window(float(self.number.scaleb(-places)), float(low), float(high))


def read(text: str) -> Asked:
    """Return the published value that `text` is.

    Raises
    ------
    InputError
        Where it is no number.
    """
    given = text.strip()
    percent = given.endswith("%")
    try:
        number = Decimal(given.removesuffix("%").strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        fix = "write the value as it was printed, such as 0.4731, .473 or 47.31%"
        if re.fullmatch(r"[-+]?\d*,\d+ ?%?", given):
            fix = f"write it with a point: {given.replace(',', '.')}"
        raise InputError(Problem("", f"'{text}' is not a number", fix=fix))
    return Asked(given, number, percent)


_THRESHOLDS = ("rel", "above", "top")
_GAINS = ("gain", "negative", "floor")


def meaning(
    definition: Definition, params: Mapping[str, Any], grades: Array, tied: bool, average: bool
) -> tuple[Any, ...]:
    """Return what parameters of equal meaning share, so that their values are computed once.

    `grades` are those of the data, each once; `tied` and `average` say whether documents are tied,
    and whether their orders are averaged over.

    >>> import numpy as np, harness.metrics
    >>> from harness.core.metric import REGISTRY
    >>> grades, ndcg = np.array([0, 1, 2]), REGISTRY["ndcg"]
    >>> one, two = ({"gain": gain} for gain in ("exp", "mslr"))      # 0, 1, 3 both
    >>> meaning(ndcg, one, grades, True, True) == meaning(ndcg, two, grades, True, True)
    True
    """
    known = definition.parameters
    full = {name: params.get(name, parameter.default) for name, parameter in known.items()}
    rest = dict(params)
    found: list[Any] = []
    if "target" in known and full["target"] == "largest":
        rest = {name: value for name, value in rest.items() if name not in _THRESHOLDS}
    elif "rel" in known and "above" in known:
        above, top = full["above"], full["top"]
        relevant = grades >= full["rel"] if above is None else grades > above
        if top is not None:
            relevant = relevant & (grades <= top)
        found.append(relevant.tobytes())
        rest = {name: value for name, value in rest.items() if name not in _THRESHOLDS}
    elif "gain" in known and "discount" in known:
        scale = Scale(full["gain"], "log2", full.get("negative", "zero"), full.get("floor", 0.0))
        try:
            found.append((scale.gains(grades) * scale.counts(grades) + 0.0).tobytes())
        except InputError:  # a gain beyond all numbers; the metric says so
            found.append(scale)
        rest = {name: value for name, value in rest.items() if name not in _GAINS}
    if not tied:
        rest.pop("tied", None)
    if not average:
        rest.pop("spill", None)
    return (*rest.items(), *found)
