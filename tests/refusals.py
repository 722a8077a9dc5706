"""Errors by type, place and rule, and warnings by rule; their wording is in golden/wording."""

import contextlib
import warnings
from collections.abc import Iterator
from typing import TypeVar

import pytest

from harness.errors import HarnessError, HarnessWarning

Error = TypeVar("Error", bound=HarnessError)


@contextlib.contextmanager
def refuses(
    where: str,
    rule: str = "",
    error: type[Error] = HarnessError,  # type: ignore[assignment]
    suggests: str = "",
) -> Iterator[pytest.ExceptionInfo[Error]]:
    """Expect an error whose first problem has this place, perhaps below a folder, and rule.

    `suggests` is the known name that the message proposes for a misspelt one.
    """
    with pytest.raises(error) as caught:
        yield caught
    first = caught.value.problems[0]
    assert (first.where.removesuffix(where)[-1:] in ("", "/"), first.rule) == (True, rule), first
    if not where:
        assert first.where == "", first
    if suggests:
        text = str(caught.value)
        assert f"use {suggests}" in text or f"did you mean '{suggests}'" in text


@contextlib.contextmanager
def warns(rule: str, about: str = "") -> Iterator[pytest.WarningsRecorder]:
    """Expect a warning of a rule of the guard, which has `about` in its text."""
    with pytest.warns(HarnessWarning) as caught:
        yield caught
    texts = [
        f"{one.message} [{one.message.finding.rule}]" if one.message.finding else str(one.message)
        for one in caught
        if isinstance(one.message, HarnessWarning)
    ]
    assert any(f"[{rule}]" in text and about in text for text in texts), texts


@contextlib.contextmanager
def harness_warnings() -> Iterator[list[str]]:
    """Texts of all warnings of the harness; none is lost because it came before."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    texts += [str(one.message) for one in caught if issubclass(one.category, HarnessWarning)]
