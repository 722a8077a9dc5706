"""Systems that have fewer repetitions than others: seeds that are missing or failed."""

from __future__ import annotations

from dataclasses import dataclass

from .leaderboard import Entry, Failed, Leaderboard
from .pooling import lacking
from .summary import Summary
from .systems import run_name, systems_of

FEWER = "fewer repetitions than there should be"
"""How every list of such systems begins."""
Key = tuple[tuple[str, str], ...]
"""What tells a repetition from the others: captured columns and their values."""


@dataclass(frozen=True)
class Incomplete:
    """A system that has fewer repetitions than it should.

    Parameters
    ----------
    dataset, run : str
    n : int
        Repetitions that its values are means over.
    of : int
        The most that any system of the dataset has whose repetitions are told apart by the same
        columns, or that it has itself together with those that could not be evaluated.
    names : tuple of str
        Columns that tell repetitions apart: ``seed``.
    absent : tuple of tuple of (str, str)
        The repetitions that it lacks, by these columns, as far as they are known.

    Examples
    --------
    >>> one = Incomplete("web", "lmir", 1, 3, ("seed",), ((("seed", "1"),), (("seed", "2"),)))
    >>> print(one)
    lmir on web: 1 of 3 (seed)
    >>> one.share, one.lacks
    ('1 of 3', 'seed=1, seed=2')
    """

    dataset: str
    run: str
    n: int
    of: int
    names: tuple[str, ...] = ()
    absent: tuple[Key, ...] = ()

    def __str__(self) -> str:
        return self.called(self.run, self.dataset)

    def called(self, run: str, dataset: str) -> str:
        """Return what ``str`` does, with other names; none of the dataset where it is empty."""
        by = f" ({' and '.join(self.names)})" if self.names else ""
        return f"{run}{f' on {dataset}' if dataset else ''}: {self.share}{by}"

    @property
    def share(self) -> str:
        """How many of how many: ``1 of 3``."""
        return f"{self.n} of {self.of}"

    @property
    def lacks(self) -> str:
        """The repetitions that it lacks: ``seed=1, seed=2``."""
        return ", ".join(
            " ".join(f"{name}={value}" for name, value in one if name in self.names)
            for one in self.absent
        )


def incomplete(board: Leaderboard) -> dict[tuple[str, str], Incomplete]:
    """Return the systems that have fewer repetitions than they should, by dataset and run.

    A run without columns that tell repetitions apart has one by nature, and lacks none; neither
    does one whose repetitions are others than those of other runs, and as many.
    """
    return board.memo("incomplete", lambda: _incomplete(board))


def failed_systems(board: Leaderboard) -> tuple[tuple[str, str], ...]:
    """Return dataset and run of the systems that have no evaluation, as what they need failed."""
    there = {(system.dataset, system.run) for system in systems_of(board)}
    failed = (
        (one.dataset, run_name(one.run, one.columns, one.pattern, board.summary))
        for one in lacking(board)
    )
    return tuple(where for where in dict.fromkeys(failed) if where not in there)


def _incomplete(board: Leaderboard) -> dict[tuple[str, str], Incomplete]:
    summary, own = board.summary, dict[tuple[str, str], dict[Key, None]]()
    lost: dict[tuple[str, str], dict[Key, None]] = {}
    for one in lacking(board):
        name = run_name(one.run, one.columns, one.pattern, summary)
        lost.setdefault((one.dataset, name), {})[_key(one, summary)] = None
    for system in systems_of(board):
        where = system.dataset, system.run
        own[where] = dict.fromkeys(_key(one, summary) for one in system.entries)
        away = lost.get(where, {}) if system.chosen is None else {}
        lost[where] = {key: None for key in away if key not in own[where]}
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[str, str]]] = {}
    for where, keys in own.items():
        names = tuple(name for name, _ in next(iter(keys)))
        if names:
            groups.setdefault((where[0], names), []).append(where)
    found = {}
    for (_, names), members in groups.items():
        known = {key: None for where in members for key in (*own[where], *lost[where])}
        varying = tuple(name for name in names if len({dict(key).get(name) for key in known}) > 1)
        most = max(len(own[where]) for where in members)
        for where in members:
            n, of = len(own[where]), max(most, len(own[where]) + len(lost[where]))
            absent = [key for key in known if key not in own[where]]
            if len(absent) != of - n:  # those of others are not all its own
                absent = list(lost[where])
            if n < of:
                found[where] = Incomplete(*where, n, of, varying, tuple(absent))
    return {where: found[where] for where in own if where in found}


def _key(one: Entry | Failed, summary: Summary) -> Key:
    return tuple(pair for pair in one.columns.items() if not summary or pair[0] in summary.spread)
