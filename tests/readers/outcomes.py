"""What reading a file gives: the places and rules of errors and warnings."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from harness import errors
from harness.errors import InputError

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
    noticed: list[errors.Finding] = []
    with errors.collecting(noticed):
        found = read(*given, **options)
    return found, [(one.rule, one.count, one.place.line) for one in noticed]
