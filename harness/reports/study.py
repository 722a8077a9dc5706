"""The study that tables, pictures and methods paragraphs are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..core.entries import System
from ..core.leaderboard import Leaderboard
from ..core.systems import failed_rows, system_name, systems_of
from ..stats.comparison import UNCOMPARED, Comparisons, Plan


@dataclass(frozen=True, eq=False)
class Study:
    """Evaluations, comparisons, and where they came from.

    `manifest` is as in ``manifest.json``, `trace` its SHA-256 in hexadecimal, or empty.
    """

    board: Leaderboard
    comparisons: Comparisons | None = None
    manifest: Mapping[str, Any] = field(default_factory=dict)
    trace: str = ""

    @property
    def cells(self) -> Leaderboard:
        """Everything that was evaluated: all settings, if one of them was chosen."""
        return self.board if self.board.selection is None else self.board.selection.cells

    @cached_property
    def systems(self) -> tuple[System, ...]:
        """Runs on datasets, repetitions together, in the order of the leaderboard."""
        return systems_of(self.board)

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets, in order."""
        return tuple(dict.fromkeys(system.dataset for system in self.systems))

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs, in order."""
        return tuple(dict.fromkeys(system.run for system in self.systems))

    @property
    def names(self) -> Mapping[str, str]:
        """What the config calls runs, datasets and metrics."""
        found: Mapping[str, str] = self.manifest.get("config", {}).get("names", {})
        return found

    @cached_property
    def failed(self) -> tuple[tuple[str, str], ...]:
        """Dataset and run of each system that could not be evaluated."""
        summary = self.board.summary
        if not summary and self.board.selection is None:
            return tuple((one["dataset"], one["run"]) for one in self.manifest.get("failed", ()))
        return tuple((one.dataset, system_name(one, summary)) for one in failed_rows(self.board))

    @cached_property
    def _at(self) -> dict[tuple[str, str], System]:
        return {(system.dataset, system.run): system for system in self.systems}

    def system(self, dataset: str, run: str) -> System | None:
        """Return a run on a dataset; None if it was not evaluated there."""
        return self._at.get((dataset, run))


def plan_of(study: Study) -> Plan:
    """Return the plan of a study's comparisons; the default one if nothing was compared."""
    return (study.comparisons or UNCOMPARED).plan
