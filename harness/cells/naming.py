"""What each cell's values follow from, and the names under which they are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..config import Config
from ..config.cells import Cell
from ..config.schema import DatasetEntry, RunEntry
from ..readers.groups import beside
from .cache import Cache
from .key import cell_key, follows_from, known_as
from .plugged import installed_code, user_code
from .work import reference


class Wanted(NamedTuple):
    """A cell, and what its record calls the metrics that compare to another run."""

    cell: Cell
    names: Mapping[str, str]


class Naming:
    """Of the cells of a config, which files they follow from.

    Parameters
    ----------
    config : Config
    cells : sequence of Cell
        All of them: metrics may compare one to another.
    """

    def __init__(self, config: Config, cells: Sequence[Cell]) -> None:
        self.cells, metrics = cells, config.parsed_metrics()
        self.compared = [metric for metric in metrics if metric.reference is not None]
        plugged = any(not metric.is_built_in for metric in metrics)
        code = sorted(user_code().values()) if plugged else []
        self.plugins = {f"code {number}": digest for number, digest in enumerate(code)}
        for package, found in installed_code(metrics).items():
            self.plugins[f"package {package}"] = f"{found['version']} {found['sha256']}"
        self.choices = {
            "policy": config.policy.model_dump(mode="json"),
            "convention": config.convention,
            "crosscheck": config.crosscheck,
        }
        self._beside: dict[str, str] = {}
        self.by_name: dict[tuple[str, str], list[Cell]] = {}
        for cell in cells if self.compared else ():
            self.by_name.setdefault((cell.dataset_entry.path, cell.run), []).append(cell)

    def files(self, cell: Cell) -> list[str]:
        """Return the files that all of a cell's values follow from."""
        entry = cell.dataset_entry
        paths = [entry.path, cell.run_entry.path]
        sizes = str(entry.group) if entry.group else self._sizes_beside(entry)
        return [*paths, sizes] if sizes else paths

    def _sizes_beside(self, entry: DatasetEntry) -> str:
        """Return the file of group sizes that a dataset's reader finds by itself, or ``""``."""
        if entry.format not in (None, "letor"):
            return ""
        if entry.path not in self._beside:
            self._beside[entry.path] = beside(entry.path)
        return self._beside[entry.path]

    def others(self, cell: Cell) -> dict[str, RunEntry]:
        """Return the runs that metrics compare a cell's to, by path."""
        names = dict.fromkeys(str(metric.reference) for metric in self.compared)
        found = (self._other(cell, name) for name in names)
        return {entry.path: entry for entry in found}

    def beside(self, cell: Cell) -> list[str]:
        """Return the files that a cell's values follow from, but its dataset's and its run's."""
        return [*self.files(cell)[2:], *self.others(cell)]

    def names(self, cell: Cell, digests: Mapping[str, str]) -> dict[str, str]:
        """Return what a cell's record calls the metrics that compare to another run.

        Where that run's hash is not known, no record can hold them, and they have no name.
        """
        names = {}
        for metric in self.compared:
            other = self._other(cell, str(metric.reference))
            digest = digests.get(other.path)
            names[str(metric)] = known_as(metric, digest, other.options()) if digest else ""
        return names

    def follows_from(self, cell: Cell, digests: Mapping[str, str]) -> dict[str, Any]:
        """Return all that a cell's values follow from; see :func:`~harness.cells.key.cell_key`."""
        parts = {f"file {number}": digests[path] for number, path in enumerate(self.files(cell))}
        dataset = cell.dataset_entry.options()
        choices = {
            **self.choices,
            "dataset": {name: one for name, one in dataset.items() if name != "group"},
            "run": cell.run_entry.options(),
        }
        return follows_from({**parts, **self.plugins}, choices)

    def _other(self, cell: Cell, name: str) -> RunEntry:
        near = self.by_name.get((cell.dataset_entry.path, name), [])
        cells = near if any(one.dataset_entry == cell.dataset_entry for one in near) else self.cells
        return reference(cells, cell, name).run_entry


def keys_of(
    config: Config, cells: Sequence[Cell], cache: Cache, then: Mapping[Path, str] | None = None
) -> dict[str, Wanted]:
    """Return the cells of a config by the names of their records, whether there are any or not.

    Files whose hash is not known are read for it; `then` has the hashes that are to be taken in
    place of today's, by resolved path.
    """
    naming, found = Naming(config, cells), {}
    for cell in cells:
        paths = (*naming.files(cell), *naming.others(cell))
        given = {path: (then or {}).get(Path(path).resolve()) for path in paths}
        known = {path: digest or cache.hashed(path).digest for path, digest in given.items()}
        key = cell_key(naming.follows_from(cell, known))
        found[key] = Wanted(cell, naming.names(cell, known))
    return found
