"""`metric_sets:`: lists of metrics by name, put where their names stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..core.names import parse
from ..errors import Problem, UnknownNameError, did_you_mean
from .validation import MOST
from .yamlfile import Loc, Source

KEY = "metric_sets"


def expand(source: Source) -> Source:
    """Put the metrics of a set wherever a list of metrics has its name.

    Parameters
    ----------
    source : Source
        Its data are changed.

    Returns
    -------
    Source
        Which knows where each metric stands, and has a problem for a set that holds itself.
    """
    sets = _sets(source.data)
    stands: dict[Loc, Loc] = dict(source.stands)
    for loc, holder in list(_holders(source.data)):
        given = holder["metrics"]
        names = [given] if isinstance(given, str) else given
        if not isinstance(names, list) or not any(_is_set(name, sets) for name in names):
            continue
        at = [loc] if isinstance(given, str) else [(*loc, place) for place in range(len(names))]
        metrics: list[Any] = []
        for name, here in zip(names, at, strict=True):
            for metric, there in _metrics(name, here, sets, ()):
                put: Loc = (*loc, len(metrics))
                stands[put] = there if loc == ("metrics",) else here
                metrics.append(metric)
        holder["metrics"] = metrics
    circles = (_circle(name, sets, ()) for name in sets)
    problems = [
        source.problem((KEY, way[0]), f"holds itself: {' -> '.join(way)}") for way in circles if way
    ]
    return replace(source, stands=stands, problems=(*source.problems, *problems))


def check(source: Source, defaults: Mapping[str, Any], complete: bool) -> Iterator[Problem]:
    """Yield sets that are called like a metric, and metrics in them that there are not.

    Where the metrics are not `complete`, as a plugin could not be loaded, none is called unknown.
    """
    sets = _sets(source.data)
    for name, metrics in sets.items():
        if _is_metric(name):
            what = f"'{name}' is the name of a metric, and would never be taken for the set"
            yield source.problem((KEY, name), what, fix="call the set something else")
        n_unknown = 0
        for place, metric in enumerate(metrics):
            if n_unknown == MOST:
                more = len(metrics) - place
                yield Problem("", f"{more:,} more metrics of '{name}' were not looked at")
                break
            if isinstance(metric, str) and metric not in source.data[KEY]:
                try:
                    parse(metric, defaults)
                except UnknownNameError as error:
                    n_unknown += 1
                    if complete or not is_unknown(error):
                        what = unknown(metric, error, source)
                        yield source.problem((KEY, name, place), what)


def is_unknown(error: UnknownNameError) -> bool:
    """Whether there is no metric of a name, which a plugin might define."""
    return error.problems[0].what.startswith("unknown metric ")


def unknown(name: str, error: UnknownNameError, source: Source) -> str:
    """Return what is wrong with the name of a metric, with the set that may be meant."""
    sets = _sets(source.data)
    near = did_you_mean(name, sets)
    if " - " in name:
        return f"'{name}' is one text: begin the '- ' of every entry in the same column"
    if not near:
        return error.problems[0].what
    return f"there is no metric or set '{name}'{near}  (sets: {', '.join(sets)})"


def _sets(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    given = data.get(KEY)
    items = given.items() if isinstance(given, dict) else ()
    return {name: metrics for name, metrics in items if isinstance(metrics, list)}


def _holders(data: dict[str, Any]) -> Iterator[tuple[Loc, dict[str, Any]]]:
    """Yield what has a key ``metrics``, and the place of that."""
    tables, plots = data.get("tables"), data.get("plots")
    found: list[tuple[Loc, Any]] = [((), data), (("compare",), data.get("compare"))]
    if isinstance(tables, dict):
        found += [(("tables", name), table) for name, table in tables.items()]
    if isinstance(plots, list):
        found += [(("plots", place), plot) for place, plot in enumerate(plots)]
    for loc, holder in found:
        if isinstance(holder, dict) and "metrics" in holder:
            yield (*loc, "metrics"), holder


def _metrics(
    name: Any, loc: Loc, sets: Mapping[str, list[Any]], above: tuple[str, ...]
) -> Iterator[tuple[Any, Loc]]:
    """Yield the metrics that a name stands for, and the place of each."""
    if not _is_set(name, sets):
        yield name, loc
    elif name not in above:
        for place, one in enumerate(sets[name]):
            yield from _metrics(one, (KEY, name, place), sets, (*above, name))


def _is_set(name: Any, sets: Mapping[str, list[Any]]) -> bool:
    return isinstance(name, str) and name in sets and not _is_metric(name)


def _is_metric(name: str) -> bool:
    try:
        return bool(parse(name))
    except UnknownNameError:
        return False


def _circle(name: str, sets: Mapping[str, list[Any]], above: tuple[str, ...]) -> tuple[str, ...]:
    """Return the way from a set through others to itself; nothing where there is none."""
    if name in above:
        return (*above, name) if name == above[0] else ()
    inner = (_circle(one, sets, (*above, name)) for one in sets[name] if _is_set(one, sets))
    return next((way for way in inner if way), ())
