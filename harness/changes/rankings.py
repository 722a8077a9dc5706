"""The rankings behind a reproduction: how alike the documents' orders are, query by query."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from .. import origin, readers
from ..config.cells import Cell
from ..core.align import align
from ..core.ragged import Floats
from ..core.reference import as_reference
from ..core.tables import Qrels, Run
from ..errors import HarnessError, HarnessWarning
from ..metrics.correlation import kendall
from ..metrics.rbo import rbo
from .board import Board, Key


@dataclass(frozen=True)
class Rankings:
    """One run's rankings, original and reproduced; means over the queries that have a value.

    Parameters
    ----------
    key : Key
    n : int
        Queries that both answer.
    coverage : float
        Share of the original's documents that the reproduction retrieves.
    tau : float
        Kendall's tau_b over the documents of both.
    rbo : float
        Rank-biased overlap of the whole rankings, tied documents in trec_eval's order.
    """

    key: Key
    n: int
    coverage: float
    tau: float
    rbo: float


class _Side:
    """The run files of one folder, as long as they are those that were evaluated."""

    def __init__(self, board: Board) -> None:
        self.folder, self.manifest = Path(board.name), board.manifest or {}
        _, cells = origin.again(self.folder, self.manifest)
        self.cells = {_named(one.dataset, one.run, one.columns): one for one in cells}
        self.board = board
        self.qrels: dict[str, Qrels] = {}

    def run(self, key: Key) -> Run:
        """Return the run of a row; raise HarnessError where its file has changed."""
        evaluation = self.board.evaluations[key]
        name = _named(evaluation.dataset, evaluation.run, self.board.captured[key])
        cell = self.cells.get(name)
        if cell is None:
            raise HarnessError("its files are not there any more")
        paths = (cell.dataset_entry.path, cell.run_entry.path)
        origin.check_inputs(self.folder, self.manifest, only=paths)
        return readers.read_run(
            cell.run_entry.path, dataset=self._dataset(cell), name=cell.run,
            **cell.run_entry.options(),
        )  # fmt: skip

    def _dataset(self, cell: Cell) -> Qrels:
        if cell.dataset not in self.qrels:
            entry = cell.dataset_entry
            self.qrels[cell.dataset] = readers.read_qrels(
                entry.path, name=cell.dataset, fractions=True, **entry.options()
            )
        return self.qrels[cell.dataset]


def rankings(
    old: Board, new: Board, keys: Sequence[Key], p: float
) -> tuple[list[Rankings], list[str]]:
    """Return how alike the rankings of each run are, and why where that cannot be said.

    Parameters
    ----------
    old, new : Board
        Two folders; their run files are read again, where they are what was evaluated.
    keys : sequence of Key
        The rows of both.
    p : float
        Persistence of RBO.
    """
    kept = [key for key in keys if key in old.captured and key in new.captured]
    try:
        sides = [_Side(board) for board in (old, new)] if kept else []
    except HarnessError as error:
        return [], [f"rankings are not compared: {_first(error)}"]
    found, said = [], []
    for key in kept:
        try:
            with warnings.catch_warnings():  # said when the results were made
                warnings.simplefilter("ignore", HarnessWarning)
                runs = [side.run(key) for side in sides]
            qids = old.evaluations[key].qids
            found.append(_alike(key, runs[0], runs[1], qids, p))
        except HarnessError as error:
            said.append(f"the rankings of {key} are not compared: {_first(error)}")
    if len(kept) < len(keys):
        said.append("rankings of folds and seeds taken together are not compared")
    return found, said


def _alike(key: Key, old: Run, new: Run, qids: pa.Array, p: float) -> Rankings:
    qids = qids.cast(pa.string()) if pa.types.is_dictionary(qids.type) else qids
    aligned = align(as_reference(old, qids), new)
    length = aligned.n_judged
    answered = (length > 0) & aligned.answered
    shared = aligned.count(np.ones(aligned.rank.size, dtype=bool))
    return Rankings(
        key,
        int(answered.sum()),
        _mean(shared[answered] / length[answered]),
        _mean(np.asarray(kendall(aligned), dtype=np.float64)[answered]),
        _mean(np.asarray(rbo(aligned, p=p), dtype=np.float64)[answered]),
    )


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)].tolist()
    return math.fsum(defined) / len(defined) if defined else math.nan


def _named(dataset: str, run: str, columns: Mapping[str, str]) -> tuple[object, ...]:
    return (dataset, run, *sorted(columns.items()))


def _first(error: HarnessError) -> str:
    return str(error).splitlines()[0]
