"""Types of settings that a config, options and Python arguments fill alike, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple, TypeVar

from annotated_types import Ge, Le, MinLen

from ..errors import ArgumentError, Problem, did_you_mean, shorten, unknown

T = TypeVar("T")
MOST = 2**31 - 1
"""The largest whole number that is taken: no rank and no grade is larger."""


class ArgumentKind(NamedTuple):
    """What an argument can be: in words, and as a test."""

    expected: str
    fits: Callable[[Any], bool]
    fix: str = ""

    def or_none(self) -> ArgumentKind:
        """Return the kind that also takes None."""
        return self._replace(fits=lambda value: value is None or self.fits(value))


def check_arguments(given: Mapping[str, Any], /, **kinds: ArgumentKind) -> None:
    """Raise ArgumentError for the first argument that is not of its kind.

    `given` is ``locals()`` at the top of a function; `kinds` are by the name of the argument.
    """
    for name, kind in kinds.items():
        if not kind.fits(given[name]):
            raise wrong(name, kind.expected, given[name], kind.fix)


def checked_init(cls: type[T]) -> type[T]:
    """Let a class raise ArgumentError, with a near name, for arguments that it does not take."""
    init = cls.__init__

    @wraps(init)
    def checked(self: T, *args: Any, **given: Any) -> None:
        try:
            return init(self, *args, **given)
        except ArgumentError:
            raise
        except TypeError as error:
            known = [*signature(cls).parameters]
            what = str(error)
            if unknown := next((name for name in given if name not in known), None):
                near = did_you_mean(unknown, known)
                what = f"unknown argument '{unknown}'{near}  (known: {', '.join(known)})"
            raise ArgumentError(Problem(cls.__name__, what)) from None

    cls.__init__ = checked  # type: ignore[assignment, method-assign]
    return cls


def wrong(name: str, expected: str, given: Any, fix: str = "") -> ArgumentError:
    """Return the error of an argument: its name, what was expected, and what was given."""
    return ArgumentError(Problem(name, f"expected {expected}, got {describe(given)}", fix=fix))


def describe(given: Any) -> str:
    """Return what a value is in a message: itself if it is short, else its type."""
    if given is None or type(given) in (bool, int, float):
        return shorten(repr(given), 40)
    if isinstance(given, str):
        return f"'{shorten(str(given), 60)}'"
    name = given.__name__ if isinstance(given, type) else type(given).__name__
    if isinstance(given, type):
        return f"the type {name}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def check_choice(name: str, given: Any, known: Iterable[str], what: str = "") -> None:
    """Raise ArgumentError if `given` is not a string, UnknownNameError if it is not in `known`."""
    known = tuple(known)
    if not isinstance(given, str):
        raise wrong(name, f"one of {', '.join(known)}", given)
    if given not in known:
        raise unknown(what or name, given, known)


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
FLAG = ArgumentKind("true or false", lambda value: type(value).__name__ in ("bool", "bool_"))
PATH = ArgumentKind("a path", lambda value: isinstance(value, str) or hasattr(value, "__fspath__"))
MAPPING = instance_of("a mapping", Mapping)
TEXTS = ArgumentKind(
    "a list of texts",
    lambda value: isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value),
)


# Pydantic asks these marks for their rules, so that nothing in the core imports it.


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


def as_list(value: Any) -> Any:
    """Return one name as a list of one."""
    return (value,) if isinstance(value, str) else value


Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Positive = Annotated[Whole, Ge(1)]
Count = Annotated[Whole, Ge(0)]
Digits = Annotated[Whole, Ge(0), Le(17)]
Names = Annotated[tuple[str, ...], Shorthand(as_list, str | tuple[str, ...])]
"""One name, or a list of them."""
_Texts = Annotated[tuple[str, ...], MinLen(1)]
Patterns = Annotated[_Texts, Shorthand(as_list, str | _Texts)]
"""One name or pattern, or a list of at least one."""
