"""Pools: the first documents of every run, who contributed them, and judgements left out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from .ragged import Bools, Ints

Unit = Literal["run", "team"]


class Contribution(NamedTuple):
    """What one run contributed to a pool."""

    run: str
    team: str
    pooled: int
    """Documents of the pool that are in its first ranks, over all queries."""
    unique: int
    """Those that no other run has."""
    of_team: int
    """Those that no other team has."""


class LeftOut(NamedTuple):
    """How a metric ranks all runs without the judgements that one run or team alone gave."""

    left_out: str
    metric: str
    removed: int
    """Judgements that only its runs contributed."""
    relevant: int
    """Those with a grade of 1 and more."""
    tau_b: float
    """Kendall's tau-b of the values of all runs, with all judgements and without these."""
    run: str
    """The run whose rank changes most."""
    rank: int
    rank_without: int


@dataclass(frozen=True, eq=False)
class Pool:
    """The first documents of every run.

    Attributes
    ----------
    runs, teams : tuple of str, shape (n_runs,)
    depth : int
    qids : tuple of str
    query : ndarray of int, shape (n,)
        Position in `qids` of the query of each document, ascending.
    docnos : pyarrow string array, shape (n,)
    by : ndarray of bool, shape (n, n_runs)
        Which runs contributed it.
    """

    runs: tuple[str, ...]
    teams: tuple[str, ...]
    depth: int
    qids: tuple[str, ...]
    query: Ints
    docnos: pa.Array
    by: Bools

    @property
    def per_query(self) -> Ints:
        """Documents to judge of each query, ``(n_queries,)``."""
        return np.bincount(self.query, minlength=len(self.qids))

    @cached_property
    def by_team(self) -> dict[str, Bools]:
        """Which documents each team contributed."""
        names = np.array(self.teams)
        own = {one: self.by[:, names == one] for one in dict.fromkeys(self.teams)}
        return {one: np.logical_or.reduce(by, axis=1) for one, by in own.items()}

    def only_by(self, unit: Unit) -> dict[str, Bools]:
        """Return the documents that one run or team alone contributed, by its name."""
        of = dict(zip(self.runs, self.by.T, strict=True)) if unit == "run" else self.by_team
        alone: Bools = np.sum([*of.values()], axis=0, dtype=np.int64) == 1
        return {name: np.logical_and(some, alone) for name, some in of.items()}

    def contributions(self) -> list[Contribution]:
        """Return what each run contributed."""
        unique, of_team = self.only_by("run"), self.only_by("team")
        return [
            Contribution(
                run, team, int(own.sum()), int(unique[run].sum()), int((of_team[team] & own).sum())
            )
            for run, team, own in zip(self.runs, self.teams, self.by.T, strict=True)
        ]
