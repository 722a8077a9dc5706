"""What a cell's values follow from, as one hash: where that is the same, so are they."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from ..config.cells import Cell, reference
from ..config.model import Config, DatasetEntry, RunEntry
from ..core.metric import Metric
from ..readers.group_sizes import beside

_PACKAGE = Path(__file__).resolve().parents[1]
_ARITHMETIC = ("numpy", "pyarrow")


@functools.cache
def code() -> str:
    """Return the hash of the code that computes values, and of what it computes with.

    That is the packages that do the arithmetic, and the C library and kind of processor, whose
    logarithms may differ in the last bit. Python's version changes none.
    """
    return hashlib.sha256("\0".join([sources(), *computes_with()]).encode()).hexdigest()


def computes_with() -> list[str]:
    """Return what the harness's code computes with, whose values may differ by it."""
    packages = [f"{package} {version(package)}" for package in _ARITHMETIC]
    return [*packages, *platform.libc_ver(), platform.system(), platform.machine()]


@functools.cache
def sources() -> str:
    """Return the hash of the whole package: names and contents of its files."""
    digest = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*.py")):
        digest.update(f"{file.relative_to(_PACKAGE).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def cell_key(parts: Mapping[str, Any]) -> str:
    """Return the name of the record that follows from plain data; see :class:`Naming`."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def known_as(metric: Metric, digest: str, options: Mapping[str, Any]) -> str:
    """Return the name under which values that compare to another run are kept.

    It is the metric's, with what the other run is in place of what it is called.

    Parameters
    ----------
    metric : Metric
    digest : str
        SHA-256 of the other run's file.
    options : mapping
        How it is read; plain data.
    """
    other = cell_key({"run": digest, "options": options})
    if metric.label is not None:
        return f"{metric} {other}"

    def put(pairs: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
        return tuple((name, other if name == "reference" else value) for name, value in pairs)

    return str(replace(metric, params=put(metric.params), given=put(metric.given)))


def user_code() -> list[str]:
    """Return the SHA-256 of each module of the users' own that is loaded, sorted.

    It is every module that belongs neither to Python, nor to an installed package, nor to the
    harness: plugins, and what they import.
    """
    known = (*_installed(), f"{_PACKAGE}{os.sep}")
    own = {file for _, file in _loaded() if not file.startswith(known) and file.endswith(".py")}
    return sorted(_sha256(file) for file in own if Path(file).is_file())


def installed_code(metrics: Iterable[Metric]) -> dict[str, dict[str, str | None]]:
    """Return the installed packages that metrics come from, by name.

    Parameters
    ----------
    metrics : iterable of Metric

    Returns
    -------
    dict
        ``sha256`` of all that is loaded of the package, and ``distribution`` and ``version`` of
        what it was installed by, None where nothing says so.
    """
    plugged = (metric.definition.function for metric in metrics if not metric.is_built_in)
    packages = {function.__module__.partition(".")[0] for function in plugged}
    found = {}
    for package in sorted(packages):
        files = {
            name: file
            for name, file in _loaded()
            if f"{name}.".startswith(f"{package}.") and file.startswith(_installed())
        }
        if files:
            digest = hashlib.sha256()
            for name in sorted(files):
                digest.update(f"{name}\0{_sha256(files[name])}\0".encode())
            found[package] = {**_distribution(package), "sha256": digest.hexdigest()}
    return found


def _installed() -> tuple[str, ...]:
    """Return what the path of a file of Python or of an installed package begins with."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(f"{path}{os.sep}" for path in paths)


def _loaded() -> Iterator[tuple[str, str]]:
    """Yield each module that is loaded from a file, and that file."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file:
            yield name, file


def _sha256(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _distribution(package: str) -> dict[str, str | None]:
    names = packages_distributions().get(package, [])
    try:
        return {"distribution": names[0], "version": version(names[0])}
    except (IndexError, PackageNotFoundError):
        return {"distribution": None, "version": None}


def group_sizes_of(entry: DatasetEntry) -> str:
    """Return the file of group sizes that a dataset is read with, or ``""``."""
    if entry.group:
        return str(entry.group)
    return beside(entry.path) if entry.format in (None, "letor") else ""


class Naming:
    """What the values of a config's cells follow from, and how records call their metrics.

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
        own = user_code() if plugged else []
        self.plugins = {f"code {number}": digest for number, digest in enumerate(own)}
        for package, found in installed_code(metrics).items():
            self.plugins[f"package {package}"] = f"{found['version']} {found['sha256']}"
        self.choices = {
            "policy": asdict(config.policy),
            "convention": config.convention,
            "crosscheck": config.crosscheck,
        }
        self._group_sizes = {
            cell.dataset_entry.path: group_sizes_of(cell.dataset_entry) for cell in cells
        }
        self._by_name: dict[tuple[str, str], list[Cell]] = {}
        for cell in cells if self.compared else ():
            self._by_name.setdefault((cell.dataset_entry.path, cell.run), []).append(cell)

    def files(self, cell: Cell) -> list[str]:
        """Return the files that all of a cell's values follow from."""
        dataset = cell.dataset_entry.path
        paths = [dataset, cell.run_entry.path, self._group_sizes[dataset]]
        return [path for path in paths if path]

    def others(self, cell: Cell) -> list[str]:
        """Return the runs that metrics compare a cell's to."""
        return [self._other(cell, metric).path for metric in self.compared]

    def names(self, cell: Cell, digests: Mapping[str, str]) -> dict[str, str]:
        """Return what a cell's record calls the metrics that compare to another run.

        If that run's hash is not known, no record can hold them, and they have no name.
        """
        names = {}
        for metric in self.compared:
            other = self._other(cell, metric)
            digest = digests.get(other.path)
            names[str(metric)] = known_as(metric, digest, other.options()) if digest else ""
        return names

    def follows_from(self, cell: Cell, digests: Mapping[str, str]) -> dict[str, Any]:
        """Return all that a cell's values follow from, as plain data; see :func:`cell_key`."""
        files = {f"file {number}": digests[path] for number, path in enumerate(self.files(cell))}
        dataset = {
            name: value for name, value in cell.dataset_entry.options().items() if name != "group"
        }
        choices = {**self.choices, "dataset": dataset, "run": cell.run_entry.options()}
        return {"code": code(), "inputs": {**files, **self.plugins}, "choices": choices}

    def _other(self, cell: Cell, metric: Metric) -> RunEntry:
        name = str(metric.reference)
        near = self._by_name.get((cell.dataset_entry.path, name), [])
        cells = near if any(one.dataset_entry == cell.dataset_entry for one in near) else self.cells
        return reference(cells, cell, name).run_entry
