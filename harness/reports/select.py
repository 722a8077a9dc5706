"""Selection of names by patterns and of metrics by spelling, and sorting, for tables and plots."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from ..core.entries import Entry, System
from ..core.leaderboard import Leaderboard
from ..core.metric import Metric
from ..core.names import first_with_direction, metric_spellings
from ..errors import Problem, UnknownNameError, check_known, fix_of_name

Spellings = Callable[[str], Iterable[str]]
Found = Iterator[tuple[tuple[str | int, ...], Problem]]
"""Problems, each with its place in the settings, such as ``("metrics", 1)``."""
T = TypeVar("T")
Row = TypeVar("Row", Entry, System)
NONE = "none"
"""The value of ``sort`` that keeps the order of the config."""


def select(
    patterns: Sequence[str],
    known: Sequence[str],
    noun: str,
    spellings: Spellings | None = None,
    elsewhere: Container[str] = (),
) -> tuple[str, ...]:
    """Return the names that a list of patterns takes, in its order; raises UnknownNameError.

    A name takes itself; a pattern with ``*`` or ``?`` takes the matching names that nothing took
    before, so ``*`` is the rest; ``!`` before either leaves out. A list that only leaves out
    takes the rest, and an empty one takes all. `noun` names them in messages, `spellings` finds
    known names by another spelling, and no pattern takes a name `elsewhere`.

    >>> select(["bm25", "!random", "*"], ["lambda-a", "bm25", "random", "lambda-b"], "run")
    ('bm25', 'lambda-a', 'lambda-b')
    """
    if wrong := [problem for _, problem in pattern_problems(patterns, known, noun, spellings)]:
        raise UnknownNameError(wrong)
    return matched(patterns, known, spellings, elsewhere)


def select_metrics(patterns: Sequence[str], metrics: Sequence[Metric]) -> list[Metric]:
    """Return the metrics that patterns take, in any spelling."""
    by_name = {str(metric): metric for metric in metrics}
    names = select(patterns, [*by_name], "metric", metric_spellings(by_name))
    return [by_name[name] for name in names]


def select_datasets(
    patterns: Sequence[str], known: Sequence[str], slices: Container[str]
) -> tuple[str, ...]:
    """Return the names of datasets that patterns take; `slices` are those of slices among `known`.

    A pattern takes slices only if a pattern of the list has ``[`` and is no dataset's name.

    >>> known = ["fold=1", "mq [b]", "fold=1 [length=short]"]
    >>> select_datasets(["*"], known, known[2:]), select_datasets(["*[*"], known, known[2:])
    (('fold=1', 'mq [b]'), ('mq [b]', 'fold=1 [length=short]'))
    """
    wholes = {name for name in known if name not in slices}
    names = [p.removeprefix("!") if _leaves_out(p, known) else p for p in patterns]
    asked = any("[" in pattern and pattern not in wholes for pattern in names)
    return select(patterns, known, "dataset", elsewhere=() if asked else slices)


def pattern_problems(
    patterns: Sequence[str], known: Sequence[str], noun: str, spellings: Spellings | None = None
) -> Iterator[tuple[int, Problem]]:
    """Yield the mistake in each pattern, by its place; in the last pattern if nothing is left.

    >>> [(_, problem)] = pattern_problems(["map", "ndgc@*"], ["map", "ndcg@10"], "metric")
    >>> print(problem)
    no metric matches 'ndgc@*'
      fix:   use ndcg@10
    """
    all_match = True
    for place, pattern in enumerate(patterns):
        name = pattern[1:] if _leaves_out(pattern, known) else pattern
        if name != "*" and not _matched(name, known, spellings):
            all_match = False
            problem = f"no {noun} matches" if _is_glob(name, known) else f"unknown {noun}"
            fix = fix_of_name(name.strip("*?"), known)
            yield place, Problem("", f"{problem} '{name}'", fix=fix)
    if all_match and known and not matched(patterns, known, spellings):
        what = f"no {noun} is left: {', '.join(patterns)} leaves all of them out"
        yield len(patterns) - 1, Problem("", what, fix="leave fewer out")


def setting_problems(
    settings: Any, runs: Sequence[str] | None, datasets: Sequence[str] | None
) -> Found:
    """Yield the mistakes in the `datasets` and `runs` of settings; None is not checked."""
    for key, names in (("datasets", datasets), ("runs", runs)):
        if names is not None:
            for place, problem in pattern_problems(getattr(settings, key), names, key[:-1]):
                yield (key, place), problem


def matched(
    patterns: Sequence[str],
    known: Sequence[str],
    spellings: Spellings | None = None,
    elsewhere: Container[str] = (),
) -> tuple[str, ...]:
    """Return the names as `select` does, without an error for a pattern that matches nothing."""
    takes = [pattern for pattern in patterns if not _leaves_out(pattern, known)] or ["*"]
    leaves = [pattern[1:] for pattern in patterns if _leaves_out(pattern, known)]
    left_out = {name for pattern in leaves for name in _matched(pattern, known, spellings)}
    # a literal name keeps its own place, even after a pattern that matches it
    exact = [pattern for pattern in takes if not _is_glob(pattern, known)]
    named = {name for pattern in exact for name in _matched(pattern, known, spellings)}
    taken = dict.fromkeys(
        name
        for pattern in takes
        for name in _matched(pattern, known, spellings)
        if pattern in exact or (name not in named and name not in elsewhere)
    )
    return tuple(name for name in taken if name not in left_out)


def _leaves_out(pattern: str, known: Sequence[str]) -> bool:
    return pattern.startswith("!") and pattern not in known


def _is_glob(pattern: str, known: Sequence[str]) -> bool:
    return ("*" in pattern or "?" in pattern) and pattern not in known


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern.replace("[", "[[]"))  # brackets are part of names


def _matched(pattern: str, known: Sequence[str], spellings: Spellings | None) -> list[str]:
    if _is_glob(pattern, known):
        return [name for name in known if _matches(name, pattern)]
    return [pattern] if pattern in known else list(spellings(pattern)) if spellings else []


def value_for(given: Mapping[str, T], name: str, default: T, patterns: bool = True) -> T:
    """Return the value set for a metric: by its name, another spelling, or the first pattern.

    ``*`` is for all that no other pattern matches.

    >>> import harness.metrics
    >>> value_for({"*": 3, "ndcg_cut_10": 2}, "ndcg@10", 0), value_for({"P@*": 1}, "map", 0)
    (2, 0)
    >>> value_for({"*": 3, "P@*": 1}, "P@5", 0)
    1
    """
    if name in given:
        return given[name]
    spellings = metric_spellings([name])
    keys = [key for key in given if spellings(key)]
    if patterns:
        keys += sorted((key for key in given if _matches(name, key)), key=lambda key: key == "*")
    return given[keys[0]] if keys else default


def sort_metric(
    metrics: Sequence[Metric], sort: str | None = None, place: str = ""
) -> Metric | None:
    """Return the metric that rows are sorted by; None if they keep their order.

    `place` is where its name is written, for the error.

    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["num_q", "map", "ndcg@10"])
    >>> str(sort_metric(metrics)), str(sort_metric(metrics, "ndcg_cut_10"))
    ('map', 'ndcg@10')
    """
    if sort == NONE:
        return None
    if sort is None:
        return first_with_direction(metrics)
    by_name = {str(metric): metric for metric in metrics}
    names = [sort] if sort in by_name else list(metric_spellings(by_name)(sort))
    if len(names) != 1:
        check_known("metric", sort, [*by_name, NONE], place)
    return by_name[names[0]]


def best_first(items: Iterable[Row], metric: Metric | None) -> list[Row]:
    """Return entries or systems by a metric, best first; those without a value last."""
    rows = list(items)
    if metric is None or len(rows) < 2:
        return rows

    def key(row: Row) -> tuple[bool, float]:
        value = row.summary.get(str(metric))
        if value is None or math.isnan(value):
            return True, 0.0
        return False, -metric.sign * value

    return sorted(rows, key=key)


def in_order(board: Leaderboard, sort: str | None = None, place: str = "") -> Leaderboard:
    """Return a leaderboard with the entries of each dataset in order."""
    metric = sort_metric(board.metrics, sort, place)
    if metric is None:
        return board
    entries = [entry for _, rows in board.by_dataset() for entry in best_first(rows, metric)]
    return replace(board, entries=tuple(entries))
