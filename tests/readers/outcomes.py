"""What reading a file gives: the places and rules of errors and warnings."""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from harness.errors import HarnessWarning, InputError

T = TypeVar("T")
Finding = tuple[str, int, int]


def refused(read: Callable[..., Any], *given: Any, **options: Any) -> list[tuple[str, str]]:
    """Return the place and the rule of each problem that `read` raises."""
    with pytest.raises(InputError) as error:
        read(*given, **options)
    assert all(len(text) < 2000 for text in error.value.texts)
    return [(problem.where, problem.rule) for problem in error.value.problems]


def warned(read: Callable[..., T], *given: Any, **options: Any) -> tuple[T, list[Finding]]:
    """Return what `read` gives, and the rule, count and line of each warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HarnessWarning)
        found = read(*given, **options)
    noticed = [one.message.finding for one in caught if isinstance(one.message, HarnessWarning)]
    lines = [one.place.line for one in noticed if one]
    return found, [(one.rule, one.count, n) for one, n in zip(noticed, lines, strict=True) if one]
