"""A folder of results as one side of a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from .. import results
from ..core.metric import Metric
from ..core.repeated import Repeated, of_systems
from ..core.systems import System
from ..errors import InputError, Problem
from .board import Board, Key, renamed

Names = Sequence[tuple[str, str]]


def read_folder(folder: Path, names: Names = (), *, cells: bool = False) -> Board:
    """Read what ``harness run`` wrote.

    Parameters
    ----------
    folder : Path
    cells : bool
        Whether a row is a cell (a fold, a seed) also where the leaderboard has a row a system.
    names : sequence of (str, str)
        Names of runs, datasets and metrics, and what to call them instead.

    Raises
    ------
    InputError
        Where the folder holds no results, or they do not belong together.
    """
    study = results.read(folder).study
    board = study.board
    taken_together = bool(board.summary) and not cells
    if taken_together:
        board = of_systems(board, _no_interval)
    keys = [
        Key(renamed(entry.dataset, names), renamed(entry.run, names), tuple(entry.columns.items()))
        for entry in board.entries
    ]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        what = f"two rows are called {twice}"
        raise InputError(Problem(str(folder), what, fix="give each a name of its own by --name"))
    return Board(
        str(folder),
        {renamed(str(metric), names): metric for metric in board.metrics},
        {
            key: {renamed(name, names): value for name, value in entry.summary.items()}
            for key, entry in zip(keys, board.entries, strict=True)
        },
        {},
        {
            key: one.evaluation.counts.as_dict()
            for key, one in zip(keys, board.entries, strict=True)
        },
        {key: entry.evaluation for key, entry in zip(keys, board.entries, strict=True)},
        {} if taken_together else {k: e.columns for k, e in zip(keys, board.entries, strict=True)},
        {
            key: len(one.system.entries)
            for key, one in zip(keys, board.entries, strict=True)
            if isinstance(one, Repeated) and one.system is not None
        },
        study.manifest,
    )


def _no_interval(system: System, metric: Metric) -> tuple[float, float]:
    """Return nothing: the intervals of the leaderboard are not compared, and take long."""
    return math.nan, math.nan
