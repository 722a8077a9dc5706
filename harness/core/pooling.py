"""Folds taken together: the evaluations of several datasets as one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import AlignmentError, Problem
from .evaluation import Counts, Evaluation
from .leaderboard import Entry, Leaderboard
from .ragged import Floats

SHOWN = 5


def pooled(board: Leaderboard) -> Leaderboard:
    """Return a leaderboard whose entries hold all parts of their dataset.

    Which parts belong together is said by the board's own summary.

    Raises
    ------
    AlignmentError
        Where a query is in two parts that are pooled, or a run lacks a part that others have.
    """
    summary = board.summary
    if not summary.parts:
        return board
    together: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[Entry]] = {}
    for entry in board.entries:
        rest = _without(entry.columns, summary.parts)
        name = whole_name(entry.pattern or entry.dataset, entry.columns, summary.parts)
        key = (name, entry.run, tuple(rest.items()))
        together.setdefault(key, []).append(entry)
    _check_parts(together, summary.parts)
    entries = [
        _joined(dataset, parts, bool(summary.average)) for (dataset, *_), parts in together.items()
    ]
    failed = tuple(
        replace(one, columns=_without(one.columns, summary.parts)) for one in board.failed
    )
    return Leaderboard(tuple(entries), failed, summary)


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
    return _Averaged(whole, same, parts=tuple(parts)) if average else Entry(whole, same)


def _qids(parts: Sequence[Entry]) -> pa.Array:
    """Return the queries of all parts, with the parts' names where a query is in two of them."""
    found = [part.evaluation.qids for part in parts]
    together = pa.concat_arrays(found)
    if pc.count_distinct(together).as_py() == len(together):
        return together
    return pa.concat_arrays(
        [
            pc.binary_join_element_wise(f"{part.dataset}/", qids, "")
            for part, qids in zip(parts, found, strict=True)
        ]
    )


def _columns(found: Sequence[Mapping[int, Floats]]) -> dict[int, Floats]:
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
