"""What reading a file gives: the places and rules of errors and warnings."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from harness.errors import HarnessWarning, InputError
from harness.readers import Source

T = TypeVar("T")
Finding = tuple[str, int, int]


def refused(read: Callable[..., Any], *given: Any, **options: Any) -> list[tuple[str, str]]:
    """Place and rule of each problem that `read` raises."""
    with pytest.raises(InputError) as error:
        read(*given, **options)
    assert all(len(text) < 2000 for text in error.value.texts)
    return [(problem.where, problem.rule) for problem in error.value.problems]


def warned(
    read: Callable[..., T], given: Any, *more: Any, **options: Any
) -> tuple[T, list[Finding]]:
    """Result of `read`, and rule, count and line of each finding of a file or frame."""
    source = Source(given) if isinstance(given, (str, Path)) else None
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        found = read(given if source is None else source, *more, **options)
    findings = [one.message.finding for one in shown if isinstance(one.message, HarnessWarning)]
    findings += [] if source is None else source.findings
    return found, [(one.rule, one.count, one.place.line) for one in findings if one is not None]
