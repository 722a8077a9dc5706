"""Significance tests: functions with a name, facts and random numbers."""

from __future__ import annotations

import hashlib
import importlib
import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from ..core.arguments import FLAG, TEXT, TEXTS, check_arguments
from ..core.ragged import Floats, frozen
from ..errors import HarnessError, Problem, UnknownNameError, unknown
from .comparison import REFERENCE_RUNS, Plan


@dataclass(frozen=True)
class Stream:
    """Random numbers of one comparison.

    They depend only on the seed and the names (dataset, metric, baseline, run), not on other draws
    or the number of workers. A test takes `draws` random draws.
    """

    names: tuple[str, ...] = ()
    seed: int = 0
    draws: int = Plan.draws

    def rng(self) -> Generator:
        """Return a generator at the start of the stream."""
        text = "\0".join(self.names).encode("utf-8", "surrogatepass")
        words = np.frombuffer(hashlib.sha256(text).digest(), dtype="<u4")
        return Generator(PCG64(SeedSequence([self.seed, *words.tolist()])))


Kind = Literal["paired", "all-pairs"]


@dataclass(frozen=True)
class Outcome:
    """Result of a test for one comparison.

    Parameters
    ----------
    p : float
        Two-sided p-value; NaN if it is undefined, with the reason in `note`.
    statistic : float
        Statistic of the test.
    method : str
        Method of p: ``exact``, ``10000 draws``, ``t(49)``, ``normal approximation``.
    note : str
        A named outcome: ``identical`` (every difference is 0: p = 1), ``n=1``, ``zero variance``.
    drawn : bool
        Whether `p` depends on the draws. A random test without a `method` can leave it out.
    """

    p: float
    statistic: float = np.nan
    method: str = ""
    note: str = ""
    drawn: bool = False


@dataclass(frozen=True)
class AllPairs:
    """Result of a test of all pairs of systems.

    Parameters
    ----------
    p : ndarray, shape (n_systems, n_systems)
        Two-sided p-values, adjusted for all pairs; symmetric, 1 on the diagonal.
    low, high : ndarray, shape (n_systems, n_systems), optional
        Simultaneous intervals of row minus column.
    statistic : float
        Statistic of an omnibus test of all systems (F, chi-squared).
    overall_p : float
        p-value of the omnibus test.
    statistic_name : str
        Name of the statistic with degrees of freedom: ``F(4, 164)``, ``chi-squared(4)``.
    critical_difference : float
        Smallest significant difference of two `positions`.
    positions : ndarray, shape (n_systems,), optional
        Means, or mean ranks (1 is best).
    method, note, drawn : str, str, bool
        As in `Outcome`.
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
    drawn: bool = False


F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Test:
    """A significance test that `paired_test` or `all_pairs_test` registered."""

    __test__ = False  # no test of pytest's

    name: str
    kind: Kind
    function: Callable[..., Outcome | AllPairs]
    title: str
    sources: tuple[str, ...] = ()
    random: bool = False
    weighted: bool = False
    """Whether the function takes the weights of the queries as a third argument."""


TESTS: dict[str, Test] = {}
"""Every test by name; complete after `load_all`."""


def _registering(kind: Kind, arguments: Mapping[str, Any]) -> Callable[[F], F]:
    kinds = {"name": TEXT, "title": TEXT, "sources": TEXTS}
    flags = dict.fromkeys(arguments.keys() & {"random", "weighted"}, FLAG)
    check_arguments(arguments, **kinds, **flags)

    def register(function: F) -> F:
        registered = TESTS.get(arguments["name"])
        if registered is not None and registered.function.__module__ != function.__module__:
            message = f"there is a test of that name already, in {registered.function.__module__}"
            raise HarnessError(Problem(registered.name, message, fix="give yours another name"))
        TESTS[arguments["name"]] = Test(kind=kind, function=function, **arguments)
        return function

    return register


def paired_test(
    name: str,
    *,
    title: str,
    sources: tuple[str, ...] = (),
    random: bool = False,
    weighted: bool = False,
) -> Callable[[F], F]:
    """Register a function as a significance test of the differences of two runs.

    It takes ``(differences, stream)``, with the differences of shape (n_queries,) and random
    numbers from ``stream.rng()``, and returns a p-value or an `Outcome`. A `weighted` test also
    takes query weights above 0, or None for datasets without weights.

    Examples
    --------
    >>> from scipy.stats import ttest_1samp
    >>> @paired_test("one-sample-t", title="one-sample t-test")
    ... def one_sample_t(differences, stream):
    ...     return float(ttest_1samp(differences, 0).pvalue)
    """
    return _registering("paired", locals())


def all_pairs_test(
    name: str, *, title: str, sources: tuple[str, ...] = (), random: bool = False
) -> Callable[[F], F]:
    """Register a function as a significance test of all pairs of systems.

    It takes ``(values, stream, level)``, with values of shape (n_systems, n_queries), and returns
    an `AllPairs`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import ttest_rel
    >>> from harness.stats.registry import AllPairs
    >>> @all_pairs_test("bonferroni-t", title="t-tests with Bonferroni's correction")
    ... def bonferroni_t(values, stream, level):
    ...     n = len(values)
    ...     p = [[float(ttest_rel(a, b).pvalue) for b in values] for a in values]
    ...     p = np.minimum(np.array(p) * n * (n - 1) / 2, 1)
    ...     np.fill_diagonal(p, 1)
    ...     return AllPairs(p)
    """
    return _registering("all-pairs", locals())


def load_all() -> dict[str, Test]:
    """Return every test by name, with those of imported plugins."""
    package = importlib.import_module(__package__ or "harness.stats")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return TESTS


def names_by_kind() -> str:
    """Return the names of all tests in a sentence, those of pairs first."""
    names: dict[str, list[str]] = {"paired": [], "all-pairs": []}
    for name, test in sorted(load_all().items()):
        names[test.kind].append(name)
    *first, last = names["all-pairs"]
    of_all = f"{', '.join(first)} and {last}"
    return f"{', '.join(names['paired'])} or a test of a plugin; {of_all} compare all pairs"


def find(name: str) -> Test:
    """Return the test of that name."""
    tests = load_all()
    if name not in tests:
        raise unknown("test", name, sorted(tests), "test")
    return tests[name]


def check_corrected(test: str, setting: str) -> None:
    """Raise UnknownNameError if a test corrects for all pairs itself, without this setting."""
    if find(test).kind == "all-pairs":
        message = f"{setting} is not for {test}, which corrects for all pairs itself"
        raise UnknownNameError(message, fix=f"leave {setting} out")


def check_plan(plan: Plan) -> None:
    """Raise UnknownNameError if a test of all pairs, of runs alone, gets a reference."""
    named = [name for name in plan.baselines if name in REFERENCE_RUNS]
    if named and find(plan.test).kind == "all-pairs":
        message = f"{plan.test} compares runs alone, and '{named[0]}' is no run"
        raise UnknownNameError(Problem("test", message, fix="take paired-t, or leave it out"))


def check_weighted(name: str, dataset: str) -> None:
    """Raise UnknownNameError if a test takes no query weights, which a dataset has."""
    if not find(name).weighted:
        able = sorted(test.name for test in TESTS.values() if test.weighted)
        message = f"{name} takes no query weights, which dataset '{dataset}' has"
        fix = f"take {' or '.join(able)}, as in --test bootstrap, in a config 'test: bootstrap'"
        raise UnknownNameError(Problem("test", message, fix=fix))


SMALLEST = float(np.finfo(np.float64).tiny)
"""The smallest p-value reported, 2.2e-308; a smaller one is not distinct from 0."""


def named_outcome(differences: Floats) -> Outcome | None:
    """Return the outcome that is the same under every paired test, or None.

    If all differences are 0, so is every sample of signs or queries: p is 1.
    """
    if not differences.size:
        return Outcome(np.nan, note="n=0")
    if not differences.any():
        return Outcome(1.0, 0.0, note="identical")
    if differences.size == 1:
        return Outcome(np.nan, note="n=1")
    return None


def as_p(tail: float) -> float:
    """Return a computed probability as a p-value: above 0, at most 1."""
    return min(max(float(tail), SMALLEST), 1.0)


NO_ANSWER = "no answer"
"""The note of a p-value that is NaN without a reason."""


def outcome_of(
    test: Test, differences: Floats, stream: Stream, weights: Floats | None = None
) -> Outcome:
    """Return the outcome of a paired test; a test may return the p-value alone."""
    named = named_outcome(differences)
    if named is not None:
        return named
    of_queries = () if weights is None else (frozen(weights),)
    result = _called(test, frozen(differences), stream, *of_queries)
    outcome = result if isinstance(result, Outcome) else Outcome(result)
    p = float(_checked(test, outcome.p))
    note = outcome.note or (NO_ANSWER if math.isnan(p) else "")
    drawn = outcome.drawn or (test.random and not (outcome.method or note))
    return replace(outcome, p=p, note=note, drawn=drawn)


def all_pairs_of(test: Test, values: Floats, stream: Stream, level: float) -> AllPairs:
    """Return the result of a test of several systems."""
    result = _called(test, frozen(values), stream, level)
    shape = (len(values), len(values))
    if not isinstance(result, AllPairs) or np.shape(result.p) != shape:
        raise _wrong(test, f"returned no AllPairs with p-values of shape {shape}")
    drawn = result.drawn or (test.random and not (result.method or result.note))
    return replace(result, p=_checked(test, result.p), drawn=drawn)


def _called(test: Test, *arguments: Any) -> Any:
    try:
        return test.function(*arguments)
    except Exception as error:
        raise _wrong(test, f"{type(error).__name__}: {error}") from error


def _checked(test: Test, returned: Any) -> Floats:
    """Return p-values, those of 0 as the smallest number above it."""
    try:
        p = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.array(-1.0)
    if (p < 0).any() or (p > 1).any():
        raise _wrong(test, f"returned {returned!r} where a p-value from 0 to 1 belongs")
    return np.maximum(p, SMALLEST)


def _wrong(test: Test, mistake: str) -> HarnessError:
    code = test.function.__code__
    fix = f"see {code.co_filename}:{code.co_firstlineno}; --debug shows the traceback"
    return HarnessError(Problem(f"test {test.name}", mistake, fix=fix))
