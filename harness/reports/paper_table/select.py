"""The language in which tables and plots choose names and order them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ...core.evaluation import names_of
from ...core.metric import Metric
from ...core.names import parse
from ...errors import Problem, UnknownNameError, did_you_mean, near_names

Spellings = Callable[[str], Iterable[str]]
Found = Iterator[tuple[tuple[str | int, ...], str]]
"""Problems, each with its place in the settings, such as ``("metrics", 1)``."""


def select(
    patterns: Sequence[str],
    known: Sequence[str],
    what: str,
    spellings: Spellings | None = None,
    elsewhere: Container[str] = (),
) -> tuple[str, ...]:
    """Return the names that a list of patterns takes, in its order.

    A name takes itself; a pattern with ``*`` or ``?`` takes the matching names that nothing took
    before, so ``*`` is the rest; ``!`` before either leaves out. A list that only leaves out
    takes the rest, and an empty one takes all.

    Parameters
    ----------
    patterns : sequence of str
    known : sequence of str
        All names, in their own order.
    what : str
        What they are in messages: ``run``.
    spellings : callable, optional
        Gives the known names of another spelling; see :func:`metric_spellings`.
    elsewhere : container of str
        Names that no pattern with ``*`` or ``?`` takes, as another list has them.

    Raises
    ------
    UnknownNameError
        If a name is not known, a pattern matches nothing, or nothing is left.

    Examples
    --------
    >>> select(["bm25", "!random", "*"], ["lambda-a", "bm25", "random", "lambda-b"], "run")
    ('bm25', 'lambda-a', 'lambda-b')
    """
    wrong = [text for _, text in problems(patterns, known, what, spellings)]
    if wrong:
        raise UnknownNameError([Problem("", text) for text in wrong])
    return matched(patterns, known, spellings, elsewhere)


def problems(
    patterns: Sequence[str], known: Sequence[str], what: str, spellings: Spellings | None = None
) -> Iterator[tuple[int, str]]:
    """Yield what is wrong with each pattern, by its place; the last one's if nothing is left.

    >>> list(problems(["map", "ndgc@*"], ["map", "ndcg@10"], "metric"))
    [(1, "no metric matches 'ndgc@*'; did you mean 'ndcg@10'?  (there are: map, ndcg@10)")]
    """
    all_match = True
    for place, pattern in enumerate(patterns):
        name = pattern[1:] if _leaves_out(pattern, known) else pattern
        if name != "*" and not _matched(name, known, spellings):
            all_match = False
            is_glob = _is_glob(name, known)
            says = f"no {what} matches" if is_glob else f"there is no {what}"
            near = did_you_mean(name.strip("*?"), known)
            yield place, f"{says} '{name}'{near}  (there are: {near_names(name, known)})"
    if all_match and known and not matched(patterns, known, spellings):
        yield len(patterns) - 1, f"no {what} is left: {', '.join(patterns)} leaves all of them out"


def setting_problems(
    settings: Any, runs: Sequence[str] | None, datasets: Sequence[str] | None
) -> Found:
    """Yield what is wrong with the `datasets` and `runs` of settings; None is not checked."""
    for key, known in (("datasets", datasets), ("runs", runs)):
        if known is not None:
            for place, what in problems(getattr(settings, key), known, key[:-1]):
                yield (key, place), what


def matched(
    patterns: Sequence[str],
    known: Sequence[str],
    spellings: Spellings | None = None,
    elsewhere: Container[str] = (),
) -> tuple[str, ...]:
    """Return what :func:`select` does, without an error for a pattern that matches nothing."""
    takes = [one for one in patterns if not _leaves_out(one, known)] or ["*"]
    leaves = [one[1:] for one in patterns if _leaves_out(one, known)]
    left_out = {name for one in leaves for name in _matched(one, known, spellings)}
    # a name written out is taken at its own place, whatever pattern is before it
    exact = [one for one in takes if not _is_glob(one, known)]
    named = {name for one in exact for name in _matched(one, known, spellings)}
    taken: dict[str, None] = {}
    for pattern in takes:
        for name in _matched(pattern, known, spellings):
            if pattern in exact or (name not in named and name not in elsewhere):
                taken[name] = None
    return tuple(name for name in taken if name not in left_out)


def _leaves_out(pattern: str, known: Sequence[str]) -> bool:
    return pattern.startswith("!") and pattern not in known


def _is_glob(pattern: str, known: Sequence[str]) -> bool:
    return ("*" in pattern or "?" in pattern) and pattern not in known


def _matched(pattern: str, known: Sequence[str], spellings: Spellings | None) -> list[str]:
    if _is_glob(pattern, known):
        plain = pattern.replace("[", "[[]")  # brackets are part of names
        return [name for name in known if fnmatchcase(name, plain)]
    return [pattern] if pattern in known else list(spellings(pattern)) if spellings else []


def metric_spellings(known: Iterable[str]) -> Spellings:
    """Return a function that finds metrics of `known` by any spelling (``ndcg_cut_10``).

    Settings that all metrics have (``relevance_level: 2``, ``convention: lightgbm``) may be left
    out: the name then means the one metric that is the same but for them.

    >>> metric_spellings(["ndcg@5", "ndcg@10"])("ndcg_cut_10")
    ['ndcg@10']
    >>> known = metric_spellings(["map(rel=2)", "ndcg(gain=exp)@10"])
    >>> known("AP"), known("ndcg@10")
    (['map(rel=2)'], [])
    """
    names = dict.fromkeys(known)

    def find(text: str) -> list[str]:
        same = [name for name in names_of(text) if name in names]
        asked = None if same else _metric(text)
        if asked is None or asked != Metric(asked.definition, asked.cutoff):
            return same
        like = []
        for name in names:
            metric = _metric(name)
            if metric is None or metric.label is not None:
                continue
            own = {parameter for parameter, _ in metric.params} - {"rel"}
            is_variant = metric.convention is None and own  # gain=exp makes another metric
            if (metric.definition, metric.cutoff) == (asked.definition, asked.cutoff):
                like += [] if is_variant else [name]
        return like if len(like) == 1 else []

    return find


def _metric(text: str) -> Metric | None:
    try:
        return parse(text)[0]
    except (UnknownNameError, ValueError):
        return None
