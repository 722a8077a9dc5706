"""What of `compare:` can be checked before any data are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..core.comparable import compared
from ..core.metric import Metric
from ..errors import Problem, UnknownNameError, did_you_mean
from .reporting import Compare
from .yamlfile import Loc, Source


def check(
    compare: Compare,
    metrics: Sequence[Metric] | None,
    runs: Collection[str] | None,
    source: Source,
) -> Iterator[Problem]:
    """Yield what is wrong with a plan of comparisons.

    Parameters
    ----------
    compare : Compare
    metrics : sequence of Metric, optional
        Those of the config; None where some of them are wrong.
    runs : collection of str, optional
        Names of the runs on disk; None where they are not known.
    source : Source
        Where each part stands.
    """
    yield from _names(compare.test, source)
    if runs is not None and len(runs) < 2:
        what = f"there is one run, {', '.join(runs)}; comparing takes two"
        yield source.problem(("compare",), what)
    for place, name in enumerate(compare.baseline):
        if runs is not None and name not in runs:
            near = did_you_mean(name, runs)
            what = f"there is no run '{name}'{near}  (there are: {', '.join(runs)})"
            yield source.problem(_at("baseline", place, compare.baseline), what)
    if metrics is None:
        return
    for place, name in enumerate(compare.metrics):
        try:
            compared(metrics, [name])
        except UnknownNameError as error:
            loc = _at("metrics", place, compare.metrics)
            yield from (source.problem(loc, one.what) for one in error.problems)
    if metrics and not compared(metrics):
        names = ", ".join(map(str, metrics))
        what = f"none of the metrics ({names}) is a mean of values that have a better and a worse"
        yield source.problem(("compare",), what)


def _names(test: str, source: Source) -> Iterator[Problem]:
    from ..stats.registry import find  # which loads SciPy: only where runs are compared

    try:
        find(test)
    except UnknownNameError as error:
        yield from (source.problem(("compare", "test"), one.what) for one in error.problems)


def _at(key: str, place: int, given: Sequence[str]) -> Loc:
    return ("compare", key) if len(given) == 1 else ("compare", key, place)
