"""A leaderboard as it is compared with another one: rows, metrics, values, how exactly known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.evaluation import Evaluation
from ..core.metric import Metric
from ..core.names import parse
from ..errors import UnknownNameError


@dataclass(frozen=True, order=True)
class Key:
    """What tells a row from the others: dataset, run, and columns such as ``seed``."""

    dataset: str
    run: str
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The row without its dataset: ``gbrt seed=1``."""
        return " ".join([self.run, *(f"{name}={value}" for name, value in self.columns)])

    def __str__(self) -> str:
        return f"{self.name} on {self.dataset}" if self.dataset else self.name


@dataclass(frozen=True, eq=False)
class Board:
    """One side of a comparison.

    Parameters
    ----------
    name : str
        Folder or file.
    metrics : mapping of str to Metric or None
        By the name that both sides share; None for a name that is none of ours.
    values : mapping of Key to mapping of str to float
        Summaries; NaN where there is none.
    slack : mapping of str to float
        By how much a value may be off by rounding: half a unit of the last digit printed; 0
        where every digit is there.
    counts : mapping of Key to mapping of str to int
        Queries, missing ones, ties, where they are known.
    evaluations : mapping of Key to Evaluation
        Values of each query; empty for a CSV.
    captured : mapping of Key to mapping of str to str
        What placeholders captured, of rows that are one cell of a folder.
    repetitions : mapping of Key to int
        Of rows that stand for several (seeds), where they are known.
    manifest : mapping, optional
        Of a folder.
    notes : tuple of str
        What was taken for what.
    """

    name: str
    metrics: Mapping[str, Metric | None]
    values: Mapping[Key, Mapping[str, float]]
    slack: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[Key, Mapping[str, int]] = field(default_factory=dict)
    evaluations: Mapping[Key, Evaluation] = field(default_factory=dict)
    captured: Mapping[Key, Mapping[str, str]] = field(default_factory=dict)
    repetitions: Mapping[Key, int] = field(default_factory=dict)
    manifest: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that tell rows apart, besides dataset and run."""
        return tuple(dict.fromkeys(name for key in self.values for name, _ in key.columns))

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets, in order."""
        return tuple(dict.fromkeys(key.dataset for key in self.values))

    def rekeyed(self, keys: Mapping[Key, Key]) -> Board:
        """Return the board with other keys in place of its own."""
        return replace(
            self,
            values={keys[key]: row for key, row in self.values.items()},
            counts={keys[key]: row for key, row in self.counts.items()},
            evaluations={keys[key]: one for key, one in self.evaluations.items()},
            repetitions={keys[key]: n for key, n in self.repetitions.items()},
            captured={keys[key]: one for key, one in self.captured.items()},
        )


def canonical(name: str) -> tuple[str, Metric | None]:
    """Return a metric under its own name, or a name that is none of ours as it stands.

    >>> import harness.metrics
    >>> canonical("NDCG@10")[0], canonical("p@5")[0], canonical("ndcg_cut_5")[0]
    ('ndcg@10', 'P@5', 'ndcg@5')
    >>> canonical("my metric"), canonical("P")[1]
    (('my metric', None), None)
    """
    for spelling in (name, name[:1].upper() + name[1:], name.lower()):
        try:
            found = parse(spelling)
        except (UnknownNameError, ValueError):
            continue
        if len(found) == 1:
            return str(found[0]), found[0]
    return name, None


def matched(old: Board, new: Board) -> tuple[Board, Board, list[str]]:
    """Return both boards with keys that can be the same, and what was taken to be so.

    Columns that only one board has do not tell rows apart, where the others do. A board without
    datasets is of the other one's, where that has only one.
    """
    both = set(old.columns) & set(new.columns)
    sides = [_without(board, both) for board in (old, new)]
    said = [
        f"column '{name}' is in one of them only, and not looked at"
        for name in dict.fromkeys([*old.columns, *new.columns])
        if name not in both and all(name not in side.columns for side in sides)
    ]
    for place, other in ((0, 1), (1, 0)):
        board, (*names,) = sides[place], sides[other].datasets
        if board.datasets == ("",) and len(names) == 1 and names != [""]:
            keys = {key: replace(key, dataset=names[0]) for key in board.values}
            sides[place] = board.rekeyed(keys)
            said.append(f"{board.name} names no dataset; taken to be on {names[0]}")
    return sides[0], sides[1], said


def _without(board: Board, kept: set[str]) -> Board:
    """Return a board whose keys have the columns `kept` alone, where that leaves them unique."""
    keys = {
        key: replace(key, columns=tuple(sorted(one for one in key.columns if one[0] in kept)))
        for key in board.values
    }
    if len(set(keys.values())) < len(keys):
        keys = {key: replace(key, columns=tuple(sorted(key.columns))) for key in keys}
    return board.rekeyed(keys)


def renamed(name: str, names: Sequence[tuple[str, str]]) -> str:
    """Return what a run, dataset or metric of OLD is called in NEW.

    >>> renamed("BM25", [("BM25", "bm25")]), renamed("lsi", [("BM25", "bm25")])
    ('bm25', 'lsi')
    """
    return next((new for old, new in names if old == name), name)
