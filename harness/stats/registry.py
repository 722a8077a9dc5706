"""What a significance test is: a function with its name and facts, found by being here."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..core.ragged import Floats
from ..errors import HarnessError, Problem, UnknownNameError, did_you_mean
from .streams import Stream

Kind = Literal["paired", "all-pairs"]


@dataclass(frozen=True)
class Outcome:
    """What a test says of one comparison.

    Parameters
    ----------
    p : float
        Two-sided p-value; NaN where the test has no answer, and then `note` says why.
    statistic : float
        The test's own statistic.
    method : str
        How p was had: ``exact``, ``10000 draws``, ``t(49)``, ``normal approximation``.
    note : str
        A named outcome: ``identical`` (every difference is 0: p = 1), ``n=1``, ``zero variance``.
    """

    p: float
    statistic: float = np.nan
    method: str = ""
    note: str = ""


@dataclass(frozen=True)
class AllPairs:
    """What a test of several systems at once says.

    Parameters
    ----------
    p : ndarray, shape (n_systems, n_systems)
        Two-sided p-values, adjusted for all the pairs; symmetric, 1 on the diagonal.
    low, high : ndarray, shape (n_systems, n_systems), optional
        Simultaneous interval of row minus column, where the test gives one.
    statistic : float
        That of the test of all systems together (F, chi-squared), where there is one.
    overall_p : float
        Its p-value.
    statistic_name : str
        What it is, as it is reported: ``F(4, 164)``, ``chi-squared(4)``.
    critical_difference : float
        Two systems further apart than this differ; in the units of `positions`.
    positions : ndarray, shape (n_systems,), optional
        What is compared: means, or mean ranks (1 is best).
    method, note : str
        As in :class:`Outcome`.
    """

    p: Floats
    low: Floats | None = None
    high: Floats | None = None
    statistic: float = np.nan
    overall_p: float = np.nan
    critical_difference: float = np.nan
    positions: Floats | None = None
    method: str = ""
    note: str = ""
    statistic_name: str = ""


Paired = Callable[[Floats, Stream], Outcome]
Several = Callable[[Floats, Stream, float], AllPairs]


@dataclass(frozen=True, eq=False)
class Test:
    """A significance test.

    Parameters
    ----------
    name : str
        As it stands in a config: ``paired-t``.
    kind : {"paired", "all-pairs"}
        Whether it takes the differences of two systems, or the values of all.
    function : callable
        Paired: ``(differences, stream) -> Outcome``; all pairs:
        ``(values of shape (n_systems, n_queries), stream, level) -> AllPairs``, where higher
        values are better.
    title : str
        What a methods section calls it: ``paired two-sided t-test``.
    sources : tuple of str
        Keys of the literature to cite.
    random : bool
        Whether it may draw, so that seed and number of draws belong beside its p-value.
    """

    __test__ = False  # no test of pytest's

    name: str
    kind: Kind
    function: Callable[..., Outcome | AllPairs]
    title: str
    sources: tuple[str, ...] = ()
    random: bool = False

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]


_ALSO_CALLED = {
    "t": "paired-t", "t-test": "paired-t", "ttest": "paired-t", "student": "paired-t",
    "paired-t-test": "paired-t", "permutation": "randomization", "signed-rank": "wilcoxon",
    "hsd": "tukey", "nemenyi": "friedman-nemenyi",
}  # fmt: skip
"""What tests are called elsewhere, for suggestions."""
TESTS: dict[str, Test] = {}
"""Every test by name; complete after :func:`load_all`."""


def _add(test: Test) -> None:
    known = TESTS.get(test.name)
    if known is not None and known.function.__module__ != test.function.__module__:
        where = known.function.__module__
        raise HarnessError(Problem(test.name, f"there is a test of that name already, in {where}"))
    TESTS[test.name] = test


def paired_test(
    name: str, *, title: str, sources: tuple[str, ...] = (), random: bool = False
) -> Callable[[Paired], Paired]:
    """Register a function of differences as a test; see :class:`Test`.

    Returns
    -------
    decorator
        It gives the function back as it is.
    """

    def register(function: Paired) -> Paired:
        _add(Test(name, "paired", function, title, sources, random))
        return function

    return register


def all_pairs_test(
    name: str, *, title: str, sources: tuple[str, ...] = (), random: bool = False
) -> Callable[[Several], Several]:
    """Register a function of several systems' values as a test; see :class:`Test`."""

    def register(function: Several) -> Several:
        _add(Test(name, "all-pairs", function, title, sources, random))
        return function

    return register


def load_all() -> dict[str, Test]:
    """Return every test by name: those of this folder, and those of plugins imported before."""
    package = importlib.import_module(__package__ or "harness.stats")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return TESTS


def find(name: str) -> Test:
    """Return the test of that name.

    Raises
    ------
    UnknownNameError
        Where there is none.
    """
    known = load_all()
    if name not in known:
        usual = _ALSO_CALLED.get("-".join(name.lower().replace("_", " ").split()), name)
        near = did_you_mean(usual, known)
        raise UnknownNameError(f"unknown test '{name}'{near}  (all: {', '.join(sorted(known))})")
    return known[name]
