"""Calling a test, whoever wrote it: what a plugin gives is checked, and what it lacks is said."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.ragged import Floats
from ..errors import HarnessError, Problem
from .outcomes import named_outcome
from .registry import AllPairs, Outcome, Test
from .streams import Stream

_BUILT_IN = (__package__ or "harness.stats") + "."


def outcome_of(test: Test, differences: Floats, stream: Stream) -> Outcome:
    """Return what a test says of differences; a plugin may return the p-value alone.

    Raises
    ------
    HarnessError
        Where a test of a plugin fails, needs a package that is not installed, or returns no
        p-value.
    """
    if test.function.__module__.startswith(_BUILT_IN):
        return test.function(differences, stream)  # type: ignore[return-value]
    named = named_outcome(differences)
    if named is not None:
        return named
    found = _called(test, differences, stream)
    outcome = found if isinstance(found, Outcome) else Outcome(_number(test, found))
    _number(test, outcome.p)
    return outcome


def all_pairs_of(test: Test, values: Floats, stream: Stream, level: float) -> AllPairs:
    """Return what a test of several systems says of their values.

    Raises
    ------
    HarnessError
        As :func:`outcome_of`; p-values are a matrix of systems x systems.
    """
    if test.function.__module__.startswith(_BUILT_IN):
        return test.function(values, stream, level)  # type: ignore[return-value]
    found = _called(test, values, stream, level)
    shape = (len(values), len(values))
    if not isinstance(found, AllPairs) or np.shape(found.p) != shape:
        what = f"returned no AllPairs with p-values of shape {shape}"
        raise HarnessError(Problem(f"test {test.name}", what, fix=_see(test)))
    return found


def _called(test: Test, *arguments: Any) -> Any:
    try:
        return test.function(*arguments)
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        what = f"needs {package or 'a package'}, which is not installed ({error})"
        fix = f"pip install {package}" if package else _see(test)
        raise HarnessError(Problem(f"test {test.name}", what, fix=fix)) from error
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise HarnessError(Problem(f"test {test.name}", what, fix=_see(test))) from error


def _number(test: Test, given: Any) -> float:
    try:
        p = float(given)
    except (TypeError, ValueError):
        p = -1.0
    if p < 0 or p > 1:
        what = f"returned {given!r} where a p-value from 0 to 1 belongs"
        raise HarnessError(Problem(f"test {test.name}", what, fix=_see(test)))
    return p


def _see(test: Test) -> str:
    code = getattr(test.function, "__code__", None)
    if code is None:
        return "--debug shows the traceback"
    return f"see {code.co_filename}:{code.co_firstlineno}; --debug shows the traceback"
