"""Checks of the arguments that Python callers give: their types, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

from ..errors import ArgumentError, Problem, UnknownNameError, did_you_mean, shorten
from .parameter import MOST


class Kind(NamedTuple):
    """What an argument can be: in words, and as a test."""

    expected: str
    fits: Callable[[Any], bool]
    fix: str = ""

    def or_none(self) -> Kind:
        """Return the kind that also takes None."""
        return self._replace(fits=lambda value: value is None or self.fits(value))


def check_arguments(given: Mapping[str, Any], /, **kinds: Kind) -> None:
    """Raise ArgumentError for the first argument that is not of its kind.

    Parameters
    ----------
    given : mapping of str to Any
        ``locals()`` at the top of a function.
    **kinds : Kind
        By the name of the argument.

    Examples
    --------
    >>> check_arguments({"rel": "x"}, rel=whole_from(1))
    Traceback (most recent call last):
    harness.errors.ArgumentError: rel: expected a whole number from 1 to 2147483647, got 'x'
    """
    for name, kind in kinds.items():
        if not kind.fits(given[name]):
            raise wrong(name, kind.expected, given[name], kind.fix)


def wrong(name: str, expected: str, given: Any, fix: str = "") -> ArgumentError:
    """Return the error of an argument: its name, what was expected, and what was given."""
    return ArgumentError(Problem(name, f"expected {expected}, got {describe(given)}", fix=fix))


def describe(given: Any) -> str:
    """Return what a value is in a message: itself if it is short, else its type.

    >>> describe(None), describe("x"), describe([1]), describe(object())
    ('None', "'x'", 'a list', 'an object')
    """
    if given is None or type(given) in (bool, int, float):
        return shorten(repr(given), 40)
    if isinstance(given, str):
        return f"'{shorten(str(given), 60)}'"
    name = given.__name__ if isinstance(given, type) else type(given).__name__
    if isinstance(given, type):
        return f"the type {name}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def check_choice(name: str, given: Any, known: Iterable[str], what: str = "") -> None:
    """Raise if `given` is none of the names in `known`: of another type, or unknown.

    Raises
    ------
    ArgumentError
        If it is not a string.
    UnknownNameError
        If it is another string.
    """
    known = tuple(known)
    if not isinstance(given, str):
        raise wrong(name, f"one of {', '.join(known)}", given)
    if given not in known:
        near = did_you_mean(given, known)
        raise UnknownNameError(f"unknown {what or name} '{given}'{near}  (all: {', '.join(known)})")


def whole_from(low: int) -> Kind:
    """Return the kind of whole numbers from `low`, numpy's too."""

    def fits(value: Any) -> bool:
        return is_whole(value) and low <= value <= MOST

    return Kind(f"a whole number from {low} to {MOST}", fits)


def instance_of(expected: str, *types: type, fix: str = "") -> Kind:
    """Return the kind of instances of some types."""
    return Kind(expected, lambda value: isinstance(value, types), fix)


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, numpy's too, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether it is a real number, numpy's too, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


TEXT = instance_of("text", str)
FLAG = Kind("true or false", lambda value: type(value).__name__ in ("bool", "bool_"))
PATH = Kind("a path", lambda value: isinstance(value, str) or hasattr(value, "__fspath__"))
MAPPING = instance_of("a mapping", Mapping)
TEXTS = Kind(
    "a list of texts",
    lambda value: isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value),
)
