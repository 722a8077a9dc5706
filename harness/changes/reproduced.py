"""How near the new values come to the old ones, as a reproduction of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.comparable import why_not
from ..errors import UnknownNameError, did_you_mean
from ..stats.differences import differences
from ..stats.paired_t import paired_t
from ..stats.reproduction import delta_ri, effect_ratio, nrmse, rmse, unpaired_t
from ..stats.streams import Stream
from .board import Board, Key
from .queries import pairing


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
    old: Board, new: Board, names: Mapping[str, tuple[str, str]], keys: Sequence[Key],
    baselines: Sequence[str],
) -> Iterator[Reproduced]:  # fmt: skip
    """Yield each run by each metric: once without a baseline, or once against each.

    Parameters
    ----------
    old, new : Board
    names : mapping of str to (str, str)
        The metrics of both, with their names in the evaluations of each.
    keys : sequence of Key
        The rows of both.
    baselines : sequence of str
        Runs; each is its own baseline's row on the same dataset, with the same columns.
    """
    for metric in names:
        for key in keys:
            alone = _alone(old, new, metric, names[metric], key)
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
                yield _against(alone, old, new, metric, base)


def _alone(old: Board, new: Board, metric: str, names: tuple[str, str], key: Key) -> Reproduced:
    evaluations = old.evaluations.get(key), new.evaluations.get(key)
    if evaluations[0] is None or evaluations[1] is None:
        return Reproduced(key, metric)
    pairs = pairing(evaluations[0], evaluations[1], names)
    definition = old.metrics[metric]
    bounds = (math.nan, math.nan) if definition is None else definition.definition.bounds
    values = [
        np.asarray(one.column(name), dtype=np.float64)
        for one, name in zip(evaluations, names, strict=True)
        if one is not None
    ]
    samples = [each[~np.isnan(each)] for each in values]
    if definition is not None and definition.definition.summary != "mean":
        return Reproduced(key, metric, len(pairs.qids), rmse(pairs.old, pairs.new))
    note = "" if len(pairs.qids) else "no query in both"
    return Reproduced(
        key,
        metric,
        len(pairs.qids),
        rmse(pairs.old, pairs.new),
        nrmse(pairs.old, pairs.new, bounds),
        paired_t(differences(pairs.new, pairs.old), Stream()).p,
        unpaired_t(*samples),
        note=note,
    )


def _against(alone: Reproduced, old: Board, new: Board, metric: str, base: Key) -> Reproduced:
    known = old.metrics[metric]
    reason = why_not(known) if known is not None else ""
    means = [board.values[key][metric] for board in (old, new) for key in (alone.key, base)]
    if reason or any(map(math.isnan, means)):
        note = f"no effect: {reason or 'a value is missing'}"
        ratio = relative = math.nan
    else:
        ratio, relative = effect_ratio(*means), delta_ri(*means)
        note = "the original effect is 0" if math.isnan(ratio) else ""
        if math.isnan(relative):
            note = "; ".join(filter(None, (note, "a baseline is 0")))
    return Reproduced(
        alone.key, alone.metric, alone.n, alone.rmse, alone.nrmse, alone.p_paired, alone.p_welch,
        base.run, ratio, relative, "; ".join(filter(None, (alone.note, note))),
    )  # fmt: skip
