"""A metric's parameters: their types, bounds and spelling."""

from __future__ import annotations

import math
import re
import typing
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import UnknownNameError, did_you_mean, shorten

MOST = 2**31 - 1
"""The largest whole number that is taken, as of grades: neither a rank nor a grade is larger."""


@dataclass(frozen=True)
class Range:
    """Bounds of a numeric parameter, put beside its type: ``Annotated[float, Range(0, 1)]``.

    Parameters
    ----------
    low, high : float, optional
        The bounds; none where left out.
    open : bool
        Whether the bounds themselves are outside.
    """

    low: float | None = None
    high: float | None = None
    open: bool = False

    def __contains__(self, value: float) -> bool:
        if self.low is not None and (value < self.low or (self.open and value == self.low)):
            return False
        return not (
            self.high is not None and (value > self.high or (self.open and value == self.high))
        )

    def __str__(self) -> str:
        low = "(-inf" if self.low is None else f"{'(' if self.open else '['}{self.low:g}"
        high = "inf)" if self.high is None else f"{self.high:g}{')' if self.open else ']'}"
        return f"{low}, {high}"


SHOWN = "shown"
"""Put beside a type, ``Annotated[float, SHOWN]``: names show the value even where it is the
default, because a reader needs it to know what was measured."""


_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


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

    def parse(self, text: str, metric: str) -> Any:
        """Return the value that `text` stands for.

        Several numbers stand as ``1:-1:0``, pairs of a grade and a number as ``1:3;2:9``.

        Raises
        ------
        UnknownNameError
            Where it is not of the parameter's type, choices or range.
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
            raise UnknownNameError(
                f"{metric}: {self.name} takes {self.length} numbers, not {len(values)}"
            )
        return values

    def _parse_pair(self, text: str, metric: str) -> tuple[int, float]:
        grade, number = (part.strip() for part in re.split("[:=]", text + ":", maxsplit=2)[:2])
        if not re.fullmatch("[0-9]+", grade, re.ASCII):
            raise UnknownNameError(
                f"{metric}: write {self.name} as grade:number;grade:number..., grades from 0, "
                f"not '{text}'"
            )
        value: float = self._parse_one(number, metric)
        if len(grade) > len(str(MOST)) or int(grade) > MOST:
            raise UnknownNameError(
                f"{metric}: a grade in {self.name} must be at most {MOST}, and is "
                f"{shorten(grade, 40)}"
            )
        return int(grade), value

    def _parse_one(self, text: str, metric: str) -> Any:
        if self.choices:
            return self._parse_choice(text, metric)
        value = self._convert(text, metric)
        if self.type is int and abs(value) > MOST:
            raise UnknownNameError(
                f"{metric}: {self.name} must be at most {MOST}, and is {shorten(text, 40)}"
            )
        if self.range is not None and value not in self.range:
            raise UnknownNameError(
                f"{metric}: {self.name} must lie in {self.range}, and is {value:g}"
            )
        return value

    def _parse_choice(self, text: str, metric: str) -> Any:
        named = dict(zip(self.choice_texts, self.choices, strict=True))
        if text.lower() in named and isinstance(named[text.lower()], bool):
            return named[text.lower()]
        if text not in named:
            raise UnknownNameError(
                f"{metric}: unknown {self.name} '{text}'{did_you_mean(text, named)}"
                f"  (all: {', '.join(named)})"
            )
        return named[text]

    @property
    def choice_texts(self) -> tuple[str, ...]:
        """The choices as they are written in a metric's name."""
        return tuple(map(self.text, self.choices))

    def _convert(self, text: str, metric: str) -> Any:
        try:
            if self.type is bool:
                return {"true": True, "false": False}[text.lower()]
            if self.type in (int, float) and not _NUMBER.fullmatch(text):
                raise ValueError  # Python also takes 1_000, and digits of other scripts
            value = self.type(text)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError
            return value
        except (ValueError, KeyError):
            kind = {bool: "true or false", int: "a whole number", float: "a number"}.get(self.type)
            what = f"{metric}: {self.name} must be {kind}, not '{shorten(text, 60)}'"
            raise UnknownNameError(what) from None

    def text(self, value: Any) -> str:
        """Return `value` as it stands in a metric's name."""
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
        limits, shown = None, False
        if typing.get_origin(annotation) is typing.Annotated:
            annotation, *extras = typing.get_args(annotation)
            limits = next((extra for extra in extras if isinstance(extra, Range)), None)
            shown = SHOWN in extras
        optional = type(None) in typing.get_args(annotation)
        if optional:
            inner = [a for a in typing.get_args(annotation) if a is not type(None)]
            nested = cls.of(name, inner[0], default)
            return cls(name, nested.type, default, nested.choices, limits or nested.range, True)
        if typing.get_origin(annotation) is Literal:
            return cls(name, str, default, typing.get_args(annotation))
        if typing.get_origin(annotation) is tuple:
            first, *rest = typing.get_args(annotation)
            if typing.get_origin(first) is tuple:
                return cls(name, float, default, (), limits, shown=shown, pairs=True)
            length = None if rest == [...] else 1 + len(rest)
            return cls(name, first, default, (), limits, many=True, length=length)
        return cls(name, annotation, default, (), limits, shown=shown)


def _short(number: float) -> str:
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
