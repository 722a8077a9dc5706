"""Folds taken together: the evaluations of several datasets as one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..errors import AlignmentError, Problem
from .arrow import call, encode, unique
from .evaluation import Counts, Evaluation
from .leaderboard import Entry, Failed, Leaderboard
from .ragged import Bools, Floats

SHOWN = 5


Key = tuple[str, str, tuple[tuple[str, str], ...]]
"""What a system of pooled parts is known by: dataset, run, and the columns that are left."""


def pooled(board: Leaderboard) -> Leaderboard:
    """Return a leaderboard whose entries hold all parts of their dataset.

    Which parts belong together is said by the board's own summary. A system that lacks a part is
    no entry, and is among those that failed.

    Raises
    ------
    AlignmentError
        Where a query is in several parts that are pooled, or every system lacks a part.
    """
    summary = board.summary
    if not summary.parts:
        return board
    together: dict[Key, list[Entry]] = {}
    for entry in board.entries:
        together.setdefault(key_of(entry, summary.parts), []).append(entry)
    failed = lacking(board)
    out = {(one.dataset, one.run, tuple(one.columns.items())) for one in failed}
    entries = [
        _joined(key[0], parts, bool(summary.average))
        for key, parts in together.items()
        if key not in out
    ]
    if failed and not entries:
        raise AlignmentError([_problem(one, summary.parts) for one in failed])
    return Leaderboard(tuple(entries), failed, summary)


def lacking(board: Leaderboard) -> tuple[Failed, ...]:
    """Return the systems that :func:`pooled` leaves out, each with the reason of every part.

    A part is one that any run of the dataset was evaluated on, or failed on. Where nothing is
    pooled, they are those that failed.
    """
    names = board.summary.parts
    if not names:
        return board.failed
    parts: dict[str, dict[str, None]] = {}
    there: dict[Key, set[str]] = {}
    causes: dict[Key, dict[str, str]] = {}
    patterns: dict[Key, str] = {}
    all_of_them: list[Entry | Failed] = [*board.entries, *board.failed]
    for one in all_of_them:
        key = key_of(one, names)
        parts.setdefault(key[0], {})[one.dataset] = None
        patterns.setdefault(key, one.pattern)
        if isinstance(one, Failed):
            causes.setdefault(key, {})[one.dataset] = one.error
        else:
            there.setdefault(key, set()).add(one.dataset)
    found = []
    for key, pattern in patterns.items():
        dataset, run, rest = key
        away = [name for name in parts[dataset] if name not in there.get(key, ())]
        if away:
            text = _why(away, len(parts[dataset]), causes.get(key, {}))
            found.append(Failed(dataset, run, dict(rest), text, pattern))
    return tuple(found)


def _why(away: Sequence[str], of: int, causes: Mapping[str, str]) -> str:
    """Return which parts a system lacks, and why it lacks each."""
    if of == 1:
        return causes[away[0]]
    each = [f"{name} ({causes.get(name, 'no predictions').splitlines()[0]})" for name in away]
    more = f" and {len(each) - SHOWN} more" * (len(each) > SHOWN)
    return f"lacks {len(away)} of {of} parts: {', '.join(each[:SHOWN])}{more}"


def _problem(failed: Failed, names: Sequence[str]) -> Problem:
    where = " ".join((failed.run, *(f"{name}={value}" for name, value in failed.columns.items())))
    fix = f"give what is lacking, or leave {' and '.join(names)} out of 'summary'"
    return Problem(f"{where} on {failed.dataset}", failed.error, fix=fix)


def key_of(one: Entry | Failed, names: Sequence[str]) -> Key:
    """Return which system an entry is a part of, by the columns that tell parts apart."""
    rest = tuple((name, value) for name, value in one.columns.items() if name not in names)
    return whole_name(one.pattern or one.dataset, one.columns, names), one.run, rest


def whole_name(pattern: str, columns: Mapping[str, str], parts: Sequence[str]) -> str:
    """Return the name of the dataset that others are parts of.

    It is the dataset's name in the config without the placeholders of the parts, the words before
    them that say the same, and what joins them.

    Parameters
    ----------
    pattern : str
        The dataset's name with its placeholders.
    columns : mapping of str to str
        What they stand for.
    parts : sequence of str
        Those that tell the parts apart.

    Examples
    --------
    >>> whole_name("mslr-fold{fold}", {"fold": "1"}, ["fold"])
    'mslr'
    >>> whole_name("{name}/part {part}", {"name": "news", "part": "2"}, ["part"])
    'news'
    """
    for name in parts:
        word = re.escape(name)
        pattern = re.sub(rf"[-_. /]*(?:{word})?[-_. ]?\{{{word}\}}", "", pattern, flags=re.I)
    for name, value in columns.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern.strip("-_. /") or "all"


@dataclass(frozen=True, eq=False)
class _Averaged(Entry):
    """An entry whose parts count alike."""

    parts: tuple[Entry, ...] = ()

    @cached_property
    def summary(self) -> dict[str, float]:
        found = [part.summary for part in self.parts]
        return {name: math.fsum(each[name] for each in found) / len(found) for name in found[0]}

    def summary_over(self, metric: str, queries: Bools) -> float:
        """Return the mean over the parts that have any of the queries."""
        ends = np.cumsum([len(part.evaluation.qids) for part in self.parts])
        pairs = zip(self.parts, np.split(queries, ends[:-1]), strict=True)
        found = [part.summary_over(metric, some) for part, some in pairs if some.any()]
        return math.fsum(found) / len(found)


def _joined(dataset: str, parts: Sequence[Entry], average: bool) -> Entry:
    evaluations = [part.evaluation for part in parts]
    if not average:
        _check_apart(dataset, parts)
    qids = _qids(parts)
    first = evaluations[0]
    counts = Counts(*map(sum, zip(*(astuple(one.counts) for one in evaluations), strict=True)))
    whole = Evaluation(
        np.concatenate([one.values for one in evaluations]), qids, first.metrics, first.policy,
        counts, _columns([one.weights for one in evaluations]), first.run, dataset,
        _columns([one.errors for one in evaluations]),
    )  # fmt: skip
    same = {
        name: value
        for name, value in parts[0].columns.items()
        if all(part.columns.get(name) == value for part in parts)
    }
    pattern = parts[0].pattern
    if average:
        return _Averaged(whole, same, pattern, parts=tuple(parts))
    return Entry(whole, same, pattern)


def _qids(parts: Sequence[Entry]) -> pa.Array:
    """Return the queries of all parts, with the parts' names where a query is in two of them."""
    found = [part.evaluation.qids for part in parts]
    together = pa.concat_arrays(found)
    if len(unique(together)) == len(together):
        return together
    return pa.concat_arrays(
        [_joined_texts(f"{part.dataset}/", qids) for part, qids in zip(parts, found, strict=True)]
    )


def _joined_texts(first: str, texts: pa.Array) -> pa.Array:
    kind = texts.type
    return call("binary_join_element_wise", pa.scalar(first, kind), texts, pa.scalar("", kind))


def _columns(found: Sequence[Mapping[int, Floats]]) -> dict[int, Floats]:
    return {column: np.concatenate([each[column] for each in found]) for column in found[0]}


def _check_apart(dataset: str, parts: Sequence[Entry]) -> None:
    """Raise where a query is in several parts: its values would count as often."""
    names, query = encode(pa.concat_arrays([part.evaluation.qids for part in parts]))
    if len(names) == len(query):
        return
    of = np.repeat(np.arange(len(parts)), [len(part.evaluation.qids) for part in parts])
    n_parts = np.bincount(query, minlength=len(names))
    first = np.unique(query, return_index=True)[1]
    several = np.flatnonzero(n_parts > 1)
    several = several[np.argsort(first[several])]
    named = []
    for one in several[:SHOWN]:
        *others, last = (parts[part].dataset for part in of[query == one])
        named.append(f"{names[one]} ({', '.join(others)} and {last})")
    more = f" and {several.size - SHOWN:,} more" * (several.size > SHOWN)
    are = "query is" if several.size == 1 else "queries are"
    what = f"{several.size:,} {are} in several parts: {', '.join(named)}{more}"
    fix = "parts that share queries cannot be pooled; 'average' them, or mend the folds"
    raise AlignmentError(Problem(dataset, what, fix=fix))
