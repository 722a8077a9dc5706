"""A metric's own parameters, the settings that every metric takes, and the conventions of tools."""

from __future__ import annotations

import math
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, get_args

from ..errors import Problem, UnknownNameError, shorten, unknown
from .arguments import MOST, checked_init
from .policy import Few, GradeRule, Order, Policy, Scores, check_ties


@checked_init
@dataclass(frozen=True)
class Range:
    """Bounds of a numeric parameter, put next to its type: ``Annotated[float, Range(0, 1)]``.

    None means unbounded; with `open` the bounds themselves are outside.
    """

    low: float | None = None
    high: float | None = None
    open: bool = False

    def __contains__(self, value: float) -> bool:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return low <= value <= high and not (self.open and value in (low, high))

    def __str__(self) -> str:
        low = "(-inf" if self.low is None else f"{'(' if self.open else '['}{self.low:g}"
        high = "inf)" if self.high is None else f"{self.high:g}{')' if self.open else ']'}"
        return f"{low}, {high}"


class About(str):
    """Put next to a type: what a parameter of that type means, for metrics that share it."""


SHOWN = "shown"
"""Put next to a type, ``Annotated[float, SHOWN]``: names show the value even if it is the
default, because a reader needs it to know what was measured."""
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_KINDS = {bool: "true or false", int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a metric, as read off its function's signature."""

    name: str
    type: type
    default: Any
    choices: tuple[Any, ...] = ()
    range: Range | None = None
    optional: bool = False
    many: bool = False
    length: int | None = None
    shown: bool = False
    pairs: bool = False
    about: str = ""

    def parse(self, text: str, metric: str) -> Any:
        """Return the value that `text` stands for.

        Several numbers are written as ``1:-1:0``, pairs of a grade and a number as ``1:3;2:9``.
        """
        text = text.strip().strip("'\"")
        if self.optional and text.lower() in ("none", "null"):
            return None
        if self.pairs:
            return tuple(self._parse_pair(item, metric) for item in re.split("[;,]", text))
        if not self.many:
            return self._parse_one(text, metric)
        values = tuple(self._parse_one(item, metric) for item in re.split("[:,]", text))
        if self.length is not None and len(values) != self.length:
            raise self._wrong(metric, f"{self.length} numbers", len(values))
        return values

    def _wrong(self, metric: str, expected: str, got: object) -> UnknownNameError:
        return UnknownNameError(f"{metric}: {self.name}: expected {expected}, got {got}")

    def _parse_pair(self, text: str, metric: str) -> tuple[int, float]:
        grade, number = (part.strip() for part in re.split("[:=]", text + ":", maxsplit=2)[:2])
        if not re.fullmatch("[0-9]{1,10}", grade, re.ASCII) or int(grade) > MOST:
            form = f"grade:number;grade:number... with grades 0 to {MOST}"
            raise self._wrong(metric, form, f"'{shorten(text, 60)}'")
        return int(grade), self._parse_one(number, metric)

    def _parse_one(self, text: str, metric: str) -> Any:
        if self.choices:
            named = dict(zip(self.choice_texts, self.choices, strict=True))
            lower = named.get(text.lower())
            if text not in named and not isinstance(lower, bool):
                error = unknown(self.name, text, named)
                raise UnknownNameError([replace(one, where=metric) for one in error.problems])
            return named.get(text, lower)
        try:
            if self.type is bool:
                return {"true": True, "false": False}[text.lower()]
            if self.type is not str and not _NUMBER.fullmatch(text):
                raise ValueError  # Python also takes 1_000, and digits of other scripts
            value = self.type(text)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError
        except (ValueError, KeyError):
            expected, got = str(_KINDS.get(self.type)), f"'{shorten(text, 60)}'"
            raise self._wrong(metric, expected, got) from None
        if self.type is int and abs(value) > MOST:
            raise self._wrong(metric, f"at most {MOST}", shorten(text, 40))
        if self.range is not None and value not in self.range:
            raise self._wrong(metric, f"a number in {self.range}", f"{value:g}")
        return value

    @property
    def choice_texts(self) -> tuple[str, ...]:
        """The choices as they are written in a metric's name."""
        return tuple(map(self.text, self.choices))

    def text(self, value: Any) -> str:
        """Return `value` as it is written in a metric's name."""
        if self.pairs:
            return ";".join(f"{grade}:{_short(number)}" for grade, number in value)
        if isinstance(value, tuple):
            return ":".join(map(self.text, value))
        if isinstance(value, bool):
            return str(value).lower()
        return _short(value) if isinstance(value, float) else str(value)

    @classmethod
    def of(cls, name: str, annotation: Any, default: Any) -> Parameter:
        """Read a parameter off its annotation and default."""
        limits, shown, about = None, False, ""
        if typing.get_origin(annotation) is typing.Annotated:
            annotation, *extras = get_args(annotation)
            limits = next((extra for extra in extras if isinstance(extra, Range)), None)
            shown = SHOWN in extras
            about = next((str(extra) for extra in extras if isinstance(extra, About)), "")
        parts = get_args(annotation)
        if type(None) in parts:
            inner = cls.of(name, next(one for one in parts if one is not type(None)), default)
            return replace(inner, range=limits or inner.range, optional=True, shown=False)
        return replace(cls._of_type(name, annotation, default, limits), shown=shown, about=about)

    @classmethod
    def _of_type(cls, name: str, annotation: Any, default: Any, limits: Range | None) -> Parameter:
        parts = get_args(annotation)
        origin = typing.get_origin(annotation)
        if origin is Literal:
            return cls(name, str, default, parts)
        if origin is tuple:
            if typing.get_origin(parts[0]) is tuple:
                return cls(name, float, default, (), limits, pairs=True)
            length = None if parts[1:] == (...,) else len(parts)
            return cls(name, parts[0], default, (), limits, many=True, length=length)
        return cls(name, annotation, default, (), limits)


def _short(number: float) -> str:
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


EmptyValue = Literal["zero", "one", "nan"]
Undefined = Literal["skip", "zero", "nan"]


@dataclass(frozen=True)
class MetricSettings:
    """Settings in which a metric differs from its run's policy; None for the same.

    `ties`, `scores`, `depth`, `judged_only` and `drop_identical_ids` are as in
    :class:`~harness.core.policy.Policy`.
    `grades` is a convention's rule; `labels` and `few` change its `act` and `few`. `empty` is the
    value of a query without relevant documents; `undefined` says whether an undefined value is
    left out of the mean, counts as 0, or makes the mean undefined.
    """

    ties: str | None = None
    scores: Scores | None = None
    depth: Annotated[int, Range(1, None)] | None = None
    judged_only: bool | None = None
    drop_identical_ids: bool | None = None
    grades: GradeRule | None = None
    labels: Literal["error", "clip"] | None = None
    empty: EmptyValue | None = None
    undefined: Undefined | None = None
    few: Few | None = None

    def __post_init__(self) -> None:
        if self.ties is not None:
            check_ties(self.ties)
        if self.scores == "none" and self.ties not in (None, *get_args(Order)):
            what = f"ties={self.ties} ignores the run: scores=none ties all documents of a query"
            raise UnknownNameError(Problem("", what, fix="write ties=stable for the file's order"))

    def with_values(self, given: Mapping[str, Any]) -> MetricSettings:
        """Return the settings with others put in place, `labels` and `few` as part of `grades`."""
        rule: GradeRule = given.get("grades") or self.grades or GradeRule()
        changes = {}
        if (labels := given.get("labels")) is not None:
            if rule.low is None and rule.high is None:
                what = f"labels={labels} needs a convention with bounds for grades"
                fix = "add one from 'harness metrics --conventions', or leave out labels"
                raise UnknownNameError(Problem("", what, fix=fix))
            changes["act"] = labels
        if (few := given.get("few")) is not None:
            if rule.documents < 2:
                what = f"few={few} needs a convention that rejects queries with few documents"
                fix = "add convention=sklearn or another such one, or leave out few"
                raise UnknownNameError(Problem("", what, fix=fix))
            changes["few"] = few
        rules = {"grades": replace(rule, **changes)} if changes else {}
        return replace(self, **{**given, **rules})


PARAMETERS: Mapping[str, Parameter] = {
    "convention": Parameter("convention", str, None),
    **{
        name: replace(Parameter.of(name, hint, None), optional=False)
        for name, hint in typing.get_type_hints(MetricSettings, include_extras=True).items()
        if name != "grades"
    },
}
"""The settings that can be written into a metric's name, with ``convention`` first."""


def texts_of(settings: MetricSettings) -> list[tuple[str, str]]:
    """Return the settings that are not None, as they are written; without a rule for grades."""
    return [
        (name, parameter.text(value))
        for name, parameter in PARAMETERS.items()
        if (value := getattr(settings, name, None)) is not None
    ]


NEEDED, WHOLE_LIST = "needed", "whole list"


@dataclass(frozen=True)
class Convention:
    """What one tool does differently from others, as data.

    `tool` has the version that the settings were checked against, `source` the place in its code.
    `common` are settings of all its metrics: fields of :class:`MetricSettings`.
    `metrics` has, for each metric of the tool by our name, parameters and settings of its own;
    its ``cutoff`` is that of the bare name: a number, several, :data:`NEEDED` if the bare name
    means nothing, or :data:`WHOLE_LIST`. `variants` are further changes if a setting is written
    by hand: ``{"ndcg(gain=linear)": {...}}``. `note` is what no rule reproduces, `cite` the
    papers, as of :func:`~harness.core.metric.metric`.
    """

    name: str
    tool: str
    source: str
    common: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    note: str = ""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    cite: tuple[str, ...] = ()

    def of(self, metric: str) -> dict[str, Any]:
        """Return the settings and parameters of one metric."""
        if metric not in self.metrics:
            others = [each.name for each in CONVENTIONS.values() if metric in each.metrics]
            own = ", ".join(self.metrics)
            what = f"the convention {self.name} ({self.tool}) has no {metric}  (it has: {own})"
            fix = f"choose a convention that has it: {', '.join(others) or 'none'}"
            raise UnknownNameError(Problem("", what, fix=fix))
        return {**self.common, **self.metrics[metric]}


CONVENTIONS: dict[str, Convention] = {}
"""Every convention by its name; :mod:`harness.metrics.conventions` fills it."""


def contradiction(convention: str | None, policy: Policy) -> Problem | None:
    """Return the problem of a policy that a convention for all metrics overrules, and its field.

    None if there is none; defaults and bounds of ties never contradict.
    """
    if convention in (None, "none"):
        return None
    for field_name, setting in (("ties", "ties"), ("empty_queries", "empty")):
        value = getattr(policy, field_name)
        if value != getattr(Policy(), field_name):
            what = f"'{value}' has no effect: convention {convention} decides it for every metric"
            fix = f"leave it out, or write ndcg(convention={convention},{setting}=...)"
            return Problem(field_name, what, fix=fix)
    return None


def find_convention(name: str) -> Convention:
    """Return a convention by its name, in capitals or not."""
    name = next((known for known in CONVENTIONS if known.lower() == name.lower()), name)
    if name not in CONVENTIONS:
        raise unknown("convention", name, CONVENTIONS)
    return CONVENTIONS[name]
