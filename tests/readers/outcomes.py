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
    texts = [one.message for one in caught if isinstance(one.message, HarnessWarning)]
    return found, [(one.rule, one.count, one.line) for one in texts]
