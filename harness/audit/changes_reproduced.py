"""How well a new folder reproduces an old one: rankings, errors over queries, effects."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .. import readers as readers
from ..core.align import align
from ..core.ragged import Floats
from ..core.reference import as_reference
from ..core.systems import why_not
from ..core.tables import Qrels, Run
from ..errors import HarnessError, HarnessWarning, UnknownNameError, did_you_mean
from ..experiment import origin as origin
from ..metrics.correlation import kendall
from ..metrics.rbo import rbo
from ..stats.differences import differences
from ..stats.paired_t import paired_t
from ..stats.reproduction import delta_ri, effect_ratio, nrmse, rmse, unpaired_t
from ..stats.streams import Stream
from .changes_board import Board, Key, Row
from .changes_queries import pairing, qids_of


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
        self.cells = {(one.dataset, one.run, *sorted(one.columns.items())): one for one in cells}
        self.qrels: dict[str, Qrels] = {}

    def run(self, row: Row) -> Run:
        """Return the run of a row; raise HarnessError where its file has changed."""
        if row.entry is None or row.captured is None:
            raise HarnessError("it is not a single run")
        evaluation = row.entry.evaluation
        columns = sorted(row.captured.items())
        cell = self.cells.get((evaluation.dataset, evaluation.run, *columns))
        if cell is None:
            raise HarnessError("its files are not there any more")
        dataset, run = cell.dataset_entry, cell.run_entry
        origin.check_inputs(self.folder, self.manifest, only=(dataset.path, run.path))
        if dataset.path not in self.qrels:  # several may have the dataset's name
            self.qrels[dataset.path] = readers.read_qrels(
                dataset.path, name=cell.dataset, fractions=True, **dataset.options()
            )
        qrels = self.qrels[dataset.path]
        return readers.read_run(run.path, dataset=qrels, name=cell.run, **run.options())


def rankings(
    old: Board, new: Board, keys: Sequence[Key], p: float, notes: list[str]
) -> list[Rankings]:
    """Return how alike the rankings of each run are; `notes` get why where that cannot be told.

    The run files of both folders are read again, where they are what was evaluated.
    """
    single = [
        key for key in keys if all(board.rows[key].captured is not None for board in (old, new))
    ]
    try:
        sides = [_Side(board) for board in (old, new)] if single else []
    except HarnessError as error:
        notes.append(f"rankings are not compared: {_first_line(error)}")
        return []
    found = []
    for key in single:
        rows = old.rows[key], new.rows[key]
        try:
            with warnings.catch_warnings():  # shown when the results were made
                warnings.simplefilter("ignore", HarnessWarning)
                runs = [side.run(row) for side, row in zip(sides, rows, strict=True)]
            found.append(_alike(key, rows[0], *runs, p=p))
        except HarnessError as error:
            notes.append(f"the rankings of {key} are not compared: {_first_line(error)}")
    if len(single) < len(keys):
        notes.append("rankings of folds and seeds taken together are not compared")
    return found


def _alike(key: Key, row: Row, old: Run, new: Run, *, p: float) -> Rankings:
    if row.entry is None:
        raise TypeError("expected a row with the values of its queries")
    aligned = align(as_reference(old, qids_of(row.entry.evaluation)), new)
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


def _first_line(error: HarnessError) -> str:
    return str(error).splitlines()[0]


@dataclass(frozen=True)
class Reproduced:
    """One run by one metric, original and reproduction.

    Parameters
    ----------
    key : Key
    metric : str
    n : int
        Queries in both; 0 where their values are not known.
    rmse, nrmse : float
        Over the queries of both (:mod:`harness.stats.reproduction`).
    p_paired : float
        Of a paired t-test over the queries of both.
    p_welch : float
        Of Welch's t-test over the queries of each: for a replication on other ones.
    baseline : str
        Run that the effect is over; empty where none was named, and for itself.
    effect_ratio, delta_ri : float
    note : str
        Why something is not defined.
    """

    key: Key
    metric: str
    n: int = 0
    rmse: float = math.nan
    nrmse: float = math.nan
    p_paired: float = math.nan
    p_welch: float = math.nan
    baseline: str = ""
    effect_ratio: float = math.nan
    delta_ri: float = math.nan
    note: str = ""


def check_baselines(keys: Sequence[Key], baselines: Sequence[str]) -> None:
    """Raise UnknownNameError where a baseline is no run of both leaderboards."""
    runs = dict.fromkeys(key.run for key in keys)
    for name in baselines:
        if name not in runs:
            raise UnknownNameError(
                f"no run '{name}' in both, for a baseline{did_you_mean(name, runs)}  "
                f"(there are: {', '.join(runs)})"
            )


def reproduced(
    old: Board, new: Board, metrics: Sequence[str], keys: Sequence[Key], baselines: Sequence[str]
) -> Iterator[Reproduced]:
    """Yield each run by each metric: once without a baseline, or once against each.

    Each run of `baselines` is the baseline on the same dataset, with the same columns.
    """
    for metric in metrics:
        for key in keys:
            alone = _alone(old, new, metric, key)
            others = [
                base
                for base in keys
                if base.run in baselines
                and base.run != key.run
                and (base.dataset, base.columns) == (key.dataset, key.columns)
            ]
            if not others:
                yield alone
            for base in others:
                yield _against(alone, old, new, base)


def _alone(old: Board, new: Board, name: str, key: Key) -> Reproduced:
    entries = old.rows[key].entry, new.rows[key].entry
    metric = old.metrics[name]
    if entries[0] is None or entries[1] is None or metric is None:
        return Reproduced(key, name)
    evaluations = entries[0].evaluation, entries[1].evaluation
    names = str(metric), str(new.metrics[name])
    pairs = pairing(*evaluations, names)
    found = Reproduced(key, name, len(pairs.qids), rmse(pairs.old, pairs.new))
    if metric.definition.summary != "mean":
        return found
    values = [
        np.asarray(one.column(own), dtype=np.float64)
        for one, own in zip(evaluations, names, strict=True)
    ]
    return replace(
        found,
        nrmse=nrmse(pairs.old, pairs.new, metric.definition.bounds),
        p_paired=paired_t(differences(pairs.new, pairs.old), Stream()).p,
        p_welch=unpaired_t(*(each[~np.isnan(each)] for each in values)),
        note="" if len(pairs.qids) else "no query in both",
    )


def _against(alone: Reproduced, old: Board, new: Board, base: Key) -> Reproduced:
    metric = old.metrics[alone.metric]
    reason = why_not(metric) if metric is not None else ""
    means = [
        board.rows[key].values[alone.metric] for board in (old, new) for key in (alone.key, base)
    ]
    if reason or any(map(math.isnan, means)):
        notes = [f"no effect: {reason or 'a value is missing'}"]
        ratio = relative = math.nan
    else:
        ratio, relative = effect_ratio(*means), delta_ri(*means)
        notes = ["the original effect is 0"] if math.isnan(ratio) else []
        notes += ["a baseline is 0"] if math.isnan(relative) else []
    note = "; ".join(filter(None, (alone.note, *notes)))
    return replace(alone, baseline=base.run, effect_ratio=ratio, delta_ri=relative, note=note)
