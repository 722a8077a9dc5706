"""Calling a test, whoever wrote it: what a plugin gives is checked, and what it lacks is said."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.ragged import Floats, frozen
from ..errors import HarnessError, Problem
from .outcomes import SMALLEST, named_outcome
from .registry import AllPairs, Outcome, Test
from .streams import Stream

NO_ANSWER = "no answer"
"""The note of a p-value that is NaN and does not say why."""

_BUILT_IN = (__package__ or "harness.stats") + "."


def outcome_of(test: Test, differences: Floats, stream: Stream) -> Outcome:
    """Return what a test says of differences; a plugin may return the p-value alone.

    A plugin cannot change the differences, whose mean, interval and effect sizes stand beside its
    p. A p of 0 that is computed is the smallest number above it, as those of our own tests are;
    one that is drawn is an error. A NaN without a note gets one.

    Raises
    ------
    HarnessError
        Where a test of a plugin fails, needs a package that is not installed, or returns no
        p-value; or one of 0 from draws.
    """
    if test.function.__module__.startswith(_BUILT_IN):
        return test.function(differences, stream)  # type: ignore[return-value]
    named = named_outcome(differences)
    if named is not None:
        return named
    found = _called(test, frozen(differences.copy()), stream)
    outcome = found if isinstance(found, Outcome) else Outcome(_number(test, found))
    p = _number(test, outcome.p)
    if p == 0:
        _check_zero(test, outcome.method)
        p = SMALLEST
    note = outcome.note or NO_ANSWER * math.isnan(p)
    return replace(outcome, p=p, note=note)


def all_pairs_of(test: Test, values: Floats, stream: Stream, level: float) -> AllPairs:
    """Return what a test of several systems says of their values.

    Raises
    ------
    HarnessError
        As :func:`outcome_of`; p-values are a symmetric matrix of systems x systems, and so are
        the ends of intervals, where there are any.
    """
    if test.function.__module__.startswith(_BUILT_IN):
        return test.function(values, stream, level)  # type: ignore[return-value]
    found = _called(test, frozen(values.copy()), stream, level)
    n_systems = len(values)
    shape = (n_systems, n_systems)
    if not isinstance(found, AllPairs) or np.shape(found.p) != shape:
        raise _wrong(test, f"returned no AllPairs with p-values of shape {shape}")
    shapes = {"low": shape, "high": shape, "positions": (n_systems,)}
    given = {name: getattr(found, name) for name in shapes}
    for name, part in given.items():
        if part is not None and np.shape(part) != shapes[name]:
            raise _wrong(test, f"returned {name} of shape {np.shape(part)}, not {shapes[name]}")
    p = np.array(found.p, dtype=np.float64)
    np.fill_diagonal(p, 1.0)
    bad = (p < 0) | (p > 1)
    if bad.any():
        raise _wrong(test, f"returned {p[bad][0]!s} where a p-value from 0 to 1 belongs")
    if not np.array_equal(p, p.T, equal_nan=True):
        raise _wrong(test, "returned p-values that differ from row to column and back")
    if (p == 0).any():
        _check_zero(test, found.method)
        p[p == 0] = SMALLEST
    low, high, positions = (None if one is None else np.asarray(one) for one in given.values())
    return replace(found, p=p, low=low, high=high, positions=positions)


def _called(test: Test, *arguments: Any) -> Any:
    try:
        return test.function(*arguments)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        what = f"needs {package or 'a package'}, which is not installed ({error})"
        fix = f"pip install {package}" if package else _see(test)
        raise HarnessError(Problem(f"test {test.name}", what, fix=fix)) from error
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise _wrong(test, what) from error


def _check_zero(test: Test, method: str) -> None:
    if test.random or method.endswith("draws"):
        what = "returned a p-value of 0 from draws: of m of them none is below 1 / (m + 1)"
        raise _wrong(test, what)


def _wrong(test: Test, what: str) -> HarnessError:
    return HarnessError(Problem(f"test {test.name}", what, fix=_see(test)))


def _number(test: Test, given: Any) -> float:
    try:
        p = float(given)
    except (TypeError, ValueError):
        p = -1.0
    if p < 0 or p > 1:
        raise _wrong(test, f"returned {given!r} where a p-value from 0 to 1 belongs")
    return p


def _see(test: Test) -> str:
    code = getattr(test.function, "__code__", None)
    if code is None:
        return "--debug shows the traceback"
    return f"see {code.co_filename}:{code.co_firstlineno}; --debug shows the traceback"
