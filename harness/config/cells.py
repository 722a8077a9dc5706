"""A cell: one run on one dataset; and the cells that a grid lacks."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .patterns import Pattern, natural

if TYPE_CHECKING:
    from .schema import DatasetEntry, RunEntry

DATASET = "dataset"
"""The placeholder that stands for each dataset's name in a run's path."""
PACKED = (".gz", ".zst", ".xz", ".bz2")


@dataclass(frozen=True)
class Cell:
    """One run on one dataset.

    Parameters
    ----------
    dataset, run : str
        Their names, placeholders filled in.
    dataset_entry, run_entry : DatasetEntry, RunEntry
        Their entries of the config; ``path`` is that of a file, and can be opened as it is.
    dataset_key, run_key : str
        Their names as they stand in the config, with placeholders.
    of_dataset, of_run : mapping of str to str
        What placeholders captured: those of the dataset's path, and those of the run's alone.
    across : bool
        Whether the run's path has ``{dataset}``, so that its grid goes across datasets.
    run_path : str
        The run's path with its placeholders, from the folder of the config on.
    """

    dataset: str
    run: str
    dataset_entry: DatasetEntry
    run_entry: RunEntry
    dataset_key: str
    run_key: str
    of_dataset: Mapping[str, str]
    of_run: Mapping[str, str]
    across: bool = False
    run_path: str = field(default="", compare=False)

    @property
    def columns(self) -> dict[str, str]:
        """What was captured, without a placeholder that is the whole of the run's name."""
        return _columns(self.run_key, {**self.of_dataset, **self.of_run})


@dataclass(frozen=True)
class Gap:
    """A combination for which a grid of cells has no predictions; `path` is where they would be."""

    dataset: str
    run: str
    columns: dict[str, str]
    path: str = field(default="", compare=False)

    @property
    def almost(self) -> str:
        """The file whose name differs in a suffix of compression alone, where there is one."""
        bare, suffix = os.path.splitext(self.path)
        names = [bare] if suffix in PACKED else [self.path + one for one in PACKED]
        return next((name for name in names if self.path and os.path.isfile(name)), "")


def missing(cells: Iterable[Cell]) -> list[Gap]:
    """Return the combinations that would make each run's grid of cells whole.

    A run's grid is every dataset of one entry (every fold) x every value that each of the
    run's own placeholders takes in any of its cells. Where the run's path has ``{dataset}``, it
    is every dataset of all the entries that it has cells on.
    """
    datasets: dict[str, dict[str, Cell]] = {}
    grids: dict[tuple[str, str, tuple[str, ...]], list[Cell]] = {}
    for cell in cells:
        datasets.setdefault(cell.dataset_key, {}).setdefault(cell.dataset_entry.path, cell)
        key = "" if cell.across else cell.dataset_key
        grids.setdefault((key, cell.run_key, tuple(cell.of_run)), []).append(cell)
    gaps = []
    for (_, run_key, names), grid in grids.items():
        there = {(_place(cell), *cell.of_run.values()) for cell in grid}
        axes = [sorted({cell.of_run[name] for cell in grid}, key=natural) for name in names]
        keys = dict.fromkeys(cell.dataset_key for cell in grid)
        for one in [one for key in keys for one in datasets[key].values()]:
            for values in itertools.product(*axes):
                if (_place(one), *values) not in there:
                    captured = {**one.of_dataset, **dict(zip(names, values, strict=True))}
                    run = Pattern(run_key).fill({**captured, DATASET: one.dataset})
                    path = Pattern(grid[0].run_path).fill({**captured, DATASET: one.dataset})
                    gaps.append(Gap(one.dataset, run, _columns(run_key, captured), path))
    return gaps


def _place(cell: Cell) -> tuple[str, str]:
    return cell.dataset_key, cell.dataset_entry.path


def columns_of(cell: Cell) -> dict[str, str]:
    """Return all by which a cell can be chosen: its names, and everything that was captured."""
    return {DATASET: cell.dataset, "run": cell.run, **cell.of_dataset, **cell.of_run}


def _columns(run_key: str, captured: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in captured.items() if run_key != f"{{{name}}}"}
