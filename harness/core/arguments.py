"""Types of settings, arguments and parameters of metrics, with their values and checks."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, wraps
from inspect import signature
from numbers import Integral, Real
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from annotated_types import Ge, Gt, Le, MinLen

from ..errors import (
    ArgumentError,
    Problem,
    UnknownNameError,
    fix_of_name,
    shorten,
    unknown,
)

T = TypeVar("T")
PathLike = str | os.PathLike[str]


class ArrowStream(Protocol):
    """A table of another package that Arrow reads: a data frame, a stream, a relation."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the stream of its rows."""


class LazyFrame(Protocol):
    """A data frame that is computed when it is collected."""

    def collect(self) -> Any:
        """Return the frame."""


class JudgedData(Protocol):
    """A dataset of `ir_datasets`."""

    def qrels_iter(self) -> Any:
        """Return an iterator of judgements."""


MOST = 2**31 - 1
"""The largest whole number that is taken: no rank and no grade is larger."""


class ArgumentKind(NamedTuple):
    """Kind of an argument, in words and as a test."""

    expected: str
    fits: Callable[[Any], bool]
    fix: str = ""

    @lru_cache  # noqa: B019 - there are few kinds, and each call of a public function asks for them
    def or_none(self) -> ArgumentKind:
        """Return the kind that also takes None."""
        return self._replace(fits=lambda value: value is None or self.fits(value))


def check_arguments(arguments: Mapping[str, Any], /, **kinds: ArgumentKind) -> None:
    """Raise ArgumentError for the first argument that is not of its kind.

    `arguments` is ``locals()`` at the top of a function; `kinds` are by the name of the argument.
    """
    for name, kind in kinds.items():
        if not kind.fits(arguments[name]):
            raise wrong(name, kind.expected, arguments[name], kind.fix)


def checked_init(cls: type[T]) -> type[T]:
    """Let a class raise ArgumentError, with a near name, for arguments that it does not take."""
    init = cls.__init__

    @wraps(init)
    def checked(self: T, *args: Any, **keywords: Any) -> None:
        try:
            return init(self, *args, **keywords)
        except ArgumentError:
            raise
        except TypeError as error:
            parameters = [*signature(cls).parameters]
            message, fix = str(error), ""
            if unknown := next((name for name in keywords if name not in parameters), None):
                message, fix = f"unknown argument '{unknown}'", fix_of_name(unknown, parameters)
            raise ArgumentError(Problem(cls.__name__, message, fix=fix)) from None

    type.__setattr__(cls, "__init__", checked)
    return cls


def wrong(name: str, expected: str, value: Any, fix: str = "") -> ArgumentError:
    """Return the error of an argument, with its name, the expected and the given value."""
    return ArgumentError(Problem(name, f"expected {expected}, got {describe(value)}", fix=fix))


def describe(value: Any) -> str:
    """Text of a value in a message: the value if it is short, else its type."""
    if value is None or type(value) in (bool, int, float):
        return shorten(repr(value), 40)
    if isinstance(value, str):
        return f"'{shorten(str(value), 60)}'"
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    if isinstance(value, type):
        return f"the type {name}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise ArgumentError if `value` is no string, UnknownNameError if it is not in `choices`."""
    choices = tuple(choices)
    if not isinstance(value, str):
        raise wrong(name, f"one of {', '.join(choices)}", value)
    if value not in choices:
        raise unknown("value", value, choices, name)


@lru_cache
def whole_from(low: int) -> ArgumentKind:
    """Return the kind of whole numbers from `low`, numpy's too."""

    def fits(value: Any) -> bool:
        return is_whole(value) and low <= value <= MOST

    return ArgumentKind(f"a whole number from {low} to {MOST}", fits)


def instance_of(expected: str, *types: type, fix: str = "") -> ArgumentKind:
    """Return the kind of instances of some types."""
    return ArgumentKind(expected, lambda value: isinstance(value, types), fix)


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, numpy's too, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether it is a real number, numpy's too, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


TEXT = instance_of("text", str)
LEVEL = ArgumentKind("a number above 0", lambda value: is_number(value) and 0 < value <= MOST)
"""The kind of a smallest relevant grade."""
FLAG = ArgumentKind("true or false", lambda value: type(value).__name__ in ("bool", "bool_"))
PATH = ArgumentKind("a path", lambda value: isinstance(value, str) or hasattr(value, "__fspath__"))
MAPPING = instance_of("a mapping", Mapping)
TEXTS = ArgumentKind(
    "a list of texts",
    lambda value: isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value),
)


def names_in(names: str | Sequence[str], name: str) -> tuple[str, ...]:
    """Return one name or several as a tuple; ArgumentError for anything else."""
    listed = (names,) if isinstance(names, str) else names
    check_arguments({name: listed}, **{name: TEXTS})
    return tuple(listed)


# Pydantic asks these marks for their rules, so that nothing in the core imports it.


_SIGNS = re.compile(r'"[^"]*"|\([^()]*\)|\[[^\[\]]*\]|=')


def signs_in(text: str) -> list[int]:
    """Return the places of equal signs outside parentheses, brackets and double quotes."""
    return [match.start() for match in _SIGNS.finditer(text) if match[0] == "="]


def split_assignment(text: str, known: Container[str], *, last: bool = False) -> tuple[str, str]:
    """Return the name and the value of ``NAME=VALUE``; the name may contain ``=``.

    The longest known name is NAME. Without one, the first sign (or the last one) outside
    parentheses, brackets and double quotes splits. Both are empty without a sign.

    >>> split_assignment("lr=0.1=Fast", {"lr", "lr=0.1"}), split_assignment("P(rel=2)=P", ())
    (('lr=0.1', 'Fast'), ('P(rel=2)', 'P'))
    """
    places = [place for place, sign in enumerate(text) if sign == "="]
    of_known = [place for place in places if text[:place].strip() in known]
    if not (of_known or (places := signs_in(text))):
        return "", ""
    place = of_known[-1] if of_known else places[-1 if last else 0]
    return text[:place].strip(), text[place + 1 :]


class Strict:
    """Marks a setting that takes its own type only: not 1 for true, not "1" for 1."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "strict": True}


class Shorthand:
    """Marks a setting that also takes a shorter form.

    `expand` makes the setting of its shorter form, and returns everything else as it is;
    `accepted` is the type of all forms.
    """

    def __init__(self, expand: Callable[[Any], Any], accepted: Any) -> None:
        self.expand, self.accepted = expand, accepted

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_before_validator_function

        accepted = handler.generate_schema(self.accepted)
        return no_info_before_validator_function(
            self.expand, handler(source), json_schema_input_schema=accepted
        )


class OneOf:
    """Marks a setting that is one of the names that a function returns."""

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        self.names = names

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {"type": "literal", "expected": list(self.names())}


@dataclass(frozen=True)
class PathText:
    """Marks a text of a config that is a path, which starts in the config's folder.

    It may have `placeholders`, or may be a `module` unless it ends in .py or has a slash. It may
    be a URL if it is `anywhere`.
    """

    placeholders: bool = False
    module: bool = False
    anywhere: bool = False

    def is_path(self, text: str) -> bool:
        """Whether a text is a path."""
        return bool(text) and (not self.module or text.endswith(".py") or "/" in text)


def as_list(value: Any) -> Any:
    """Return one name as a list of one."""
    return (value,) if isinstance(value, str) else value


Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Positive = Annotated[Whole, Ge(1)]
Level = Annotated[Whole | Annotated[float, Strict()], Gt(0), Le(MOST)]
Count = Annotated[Whole, Ge(0)]
Digits = Annotated[Whole, Ge(0), Le(17)]
Names = Annotated[tuple[str, ...], Shorthand(as_list, str | tuple[str, ...])]
"""One name, or a list of them."""
_Texts = Annotated[tuple[str, ...], MinLen(1)]
Patterns = Annotated[_Texts, Shorthand(as_list, str | _Texts)]
"""One name or pattern, or a list of at least one."""


@checked_init
@dataclass(frozen=True)
class Range:
    """Bounds of a numeric parameter of a metric: ``Annotated[float, Range(0, 1)]``.

    None means unbounded; `open` excludes both bounds.
    """

    low: float | None = None
    high: float | None = None
    open: bool = False

    def __contains__(self, value: float) -> bool:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return low <= value <= high and not (self.open and value in (low, high))

    def __str__(self) -> str:
        low, high = ("" if end is None else f"{end:,.15g}" for end in (self.low, self.high))
        if self.open:
            return " and ".join([f"above {low}"] * bool(low) + [f"below {high}"] * bool(high))
        return (
            f"{low} to {high}" if low and high else f"{low} or more" if low else f"{high} or less"
        )


class About(str):
    """Description of a parameter that several metrics share: ``Annotated[int, About("...")]``."""


SHOWN = "shown"
"""Mark of a type, ``Annotated[float, SHOWN]``: names show the value even if it is the
default, because a reader needs it to know what was measured."""
_ENDS = ("ge", "gt", "le", "lt")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_KINDS = {bool: "true or false", int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a metric or field of settings, as read off its annotation and default."""

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
        message, fix = f"{metric}: {self.name}: expected {expected}, got {got}", ""
        if self.name == "cutoff":
            fix = f"write {metric.partition('@')[0]}@10"
        elif self.default not in (None, ()):
            fix = f"write {self.name}={self.text(self.default)}, the default"
        return UnknownNameError(message, fix=fix)

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
                raise UnknownNameError(
                    [replace(problem, where=metric) for problem in error.problems]
                )
            return named.get(text, lower)
        try:
            if self.type is bool:
                return {"true": True, "false": False}[text.lower()]
            if self.type is not str and not _NUMBER.fullmatch(text):
                raise ValueError  # Python also takes 1_000, and digits of other scripts
            value = self.type(text)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError
            if type(self.default) is int and value == int(value):
                value = int(value)  # rel=2.0 and rel=2 are one name
        except (ValueError, KeyError):
            expected, got = str(_KINDS.get(self.type)), f"'{shorten(text, 60)}'"
            raise self._wrong(metric, expected, got) from None
        if self.type is int and abs(value) > MOST:
            raise self._wrong(metric, f"at most {MOST}", shorten(text, 40))
        if self.range is not None and value not in self.range:
            expected = f"a number {'of ' * (not self.range.open)}{self.range}"
            raise self._wrong(metric, expected, f"{value:g}")
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

    @cached_property
    def kind(self) -> ArgumentKind:
        """Kind of a Python argument for it."""
        limits = self.range or Range()
        if self.many:
            kind = TEXTS
        elif self.type is int:
            kind = whole_from(int(limits.low or 0))
        elif self.type is float and limits.low is not None and limits.high is not None:
            expected = f"a number between {limits.low:g} and {limits.high:g}"
            fix = f"write {self.default}"
            kind = ArgumentKind(expected, lambda value: is_number(value) and value in limits, fix)
        else:
            named = instance_of(f"a {self.type.__name__}", self.type)
            kind = {bool: FLAG, str: TEXT}.get(self.type, named)
        return kind.or_none() if self.optional else kind

    @classmethod
    def of(cls, name: str, annotation: Any, default: Any) -> Parameter:
        """Read a parameter off its annotation and default."""
        is_marked = get_origin(annotation) is Annotated
        base, *marks = get_args(annotation) if is_marked else (annotation,)
        limits = _range_of(marks)
        parts = get_args(base)
        if type(None) in parts:
            inner = cls.of(name, next(part for part in parts if part is not type(None)), default)
            return replace(inner, range=limits or inner.range, optional=True, shown=False)
        about = next((str(mark) for mark in marks if isinstance(mark, About)), "")
        parameter = cls(name, base, default, range=limits, shown=SHOWN in marks, about=about)
        if get_origin(base) is Literal:
            return replace(parameter, type=str, choices=parts, range=None)
        if get_origin(base) is not tuple:
            return parameter
        if get_origin(parts[0]) is tuple:
            return replace(parameter, type=float, pairs=True)
        length = None if parts[1:] == (...,) else len(parts)
        return replace(parameter, type=parts[0], many=True, length=length)


def _range_of(marks: Iterable[Any]) -> Range | None:
    """Return the range among the marks of a type: a Range, or pydantic's Ge, Gt, Le and Lt."""
    ends: dict[str, Any] = {}
    for mark in marks:
        if isinstance(mark, Range):
            return mark
        ends |= {name: getattr(mark, name) for name in _ENDS if hasattr(mark, name)}
    if not ends:
        return None
    return Range(ends.get("ge", ends.get("gt")), ends.get("le", ends.get("lt")), open="gt" in ends)


@lru_cache
def parameters_of(model: type) -> dict[str, Parameter]:
    """Return the parameter of each field of a settings model, by its annotation."""
    return {
        name: Parameter.of(name, hint, getattr(model, name, None))
        for name, hint in get_type_hints(model, include_extras=True).items()
    }


def check_settings(settings: object) -> None:
    """Raise an error for the first field of a settings model that its annotation does not take."""
    model: Any = type(settings)
    for name, takes in parameters_of(model).items():
        value = getattr(settings, name)
        if takes.choices and value is not None:
            check_choice(name, value, takes.choices)
        check_arguments({name: value}, **{name: takes.kind})


def _short(number: float) -> str:
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
