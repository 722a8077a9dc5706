"""Folds taken together: the evaluations of several datasets as one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..errors import AlignmentError, Problem
from .evaluation import Counts, Evaluation
from .leaderboard import Entry, Leaderboard

SHOWN = 5


@dataclass(frozen=True)
class Summary:
    """What becomes of captured columns in the rows of a leaderboard.

    Parameters
    ----------
    pool : tuple of str
        Columns of datasets that are parts of one (folds): their queries are taken together.
    average : tuple of str
        Such columns whose parts count alike: the summary is the mean of the parts' summaries,
        whatever their sizes.
    spread : tuple of str
        Columns of repetitions (seeds), which become mean and deviation.
    best : tuple of str
        Columns of which the best value alone is shown, chosen on the very queries that are
        reported: too good to be true, and so only on request.
    """

    pool: tuple[str, ...] = ()
    average: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    best: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns that tell the parts of a dataset apart."""
        return (*self.pool, *self.average)


def pooled(board: Leaderboard, summary: Summary) -> Leaderboard:
    """Return a leaderboard whose entries hold all parts of their dataset.

    Parameters
    ----------
    board : Leaderboard
    summary : Summary

    Raises
    ------
    AlignmentError
        Where a query is in two parts, or a run lacks a part that others have.
    """
    if not summary.parts:
        return board
    together: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[Entry]] = {}
    for entry in board.entries:
        rest = _without(entry.columns, summary.parts)
        key = (whole_name(entry, summary.parts), entry.run, tuple(rest.items()))
        together.setdefault(key, []).append(entry)
    _check_parts(together, summary.parts)
    entries = [
        _joined(dataset, parts, bool(summary.average)) for (dataset, *_), parts in together.items()
    ]
    failed = tuple(
        replace(one, columns=_without(one.columns, summary.parts)) for one in board.failed
    )
    return Leaderboard(tuple(entries), failed)


def whole_name(entry: Entry, parts: Sequence[str]) -> str:
    """Return the name of the dataset that an entry's is a part of.

    It is the dataset's name in the config without the placeholders of the parts, the words before
    them that say the same, and what joins them.

    >>> from harness.core.evaluation import Evaluation
    >>> import numpy as np, pyarrow as pa
    >>> nothing = Evaluation(np.zeros((0, 0)), pa.array([], pa.string()), (), dataset="mslr-fold1")
    >>> whole_name(Entry(nothing, {"fold": "1"}, "mslr-fold{fold}"), ["fold"])
    'mslr'
    """
    pattern = entry.pattern or entry.dataset
    for name in parts:
        word = re.escape(name)
        pattern = re.sub(rf"[-_. /]*(?:{word})?[-_.]?\{{{word}\}}", "", pattern, flags=re.I)
    for name, value in entry.columns.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern.strip("-_. /") or "all"


def _without(columns: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {name: value for name, value in columns.items() if name not in names}


def _check_parts(
    together: Mapping[tuple[str, str, tuple[tuple[str, str], ...]], Sequence[Entry]],
    names: Sequence[str],
) -> None:
    """Raise where a run lacks parts of a dataset that other runs have."""
    parts: dict[str, dict[str, None]] = {}
    for (dataset, *_), entries in together.items():
        parts.setdefault(dataset, {}).update((entry.dataset, None) for entry in entries)
    problems = []
    for (dataset, run, rest), entries in together.items():
        there = {entry.dataset for entry in entries}
        lacking = [name for name in parts[dataset] if name not in there]
        if lacking:
            where = " ".join((run, *(f"{name}={value}" for name, value in rest)))
            what = f"has no values for {', '.join(lacking)}, which other runs have"
            fix = f"give its predictions, or leave {' and '.join(names)} out of 'summary'"
            problems.append(Problem(f"{where} on {dataset}", what, fix=fix))
    if problems:
        raise AlignmentError(problems)


@dataclass(frozen=True, eq=False)
class _Averaged(Entry):
    """An entry whose parts count alike."""

    parts: tuple[Entry, ...] = ()

    @cached_property
    def summary(self) -> dict[str, float]:
        found = [part.summary for part in self.parts]
        return {name: math.fsum(each[name] for each in found) / len(found) for name in found[0]}


def _joined(dataset: str, parts: Sequence[Entry], average: bool) -> Entry:
    evaluations = [part.evaluation for part in parts]
    qids = pa.concat_arrays([one.qids for one in evaluations])
    _check_apart(dataset, parts)
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
    return _Averaged(whole, same, parts=tuple(parts)) if average else Entry(whole, same)


def _columns(found: Sequence[Mapping[int, np.ndarray]]) -> dict[int, np.ndarray]:
    return {column: np.concatenate([each[column] for each in found]) for column in found[0]}


def _check_apart(dataset: str, parts: Sequence[Entry]) -> None:
    """Raise where a query is in two parts: its values would count twice."""
    seen: dict[str, str] = {}
    twice = []
    for part in parts:
        for qid in part.evaluation.qids.to_pylist():
            if qid in seen:
                twice.append(f"{qid} ({seen[qid]} and {part.dataset})")
            seen.setdefault(qid, part.dataset)
    if twice:
        more = f" and {len(twice) - SHOWN} more" * (len(twice) > SHOWN)
        what = f"{len(twice)} queries are in two parts: {', '.join(twice[:SHOWN])}{more}"
        fix = "parts that share queries cannot be pooled; 'average' them, or mend the folds"
        raise AlignmentError(Problem(dataset, what, fix=fix))
