"""What a cell's values follow from, as one hash: equal hashes mean equal values."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from ..config.cells import Cell, reference
from ..config.model import Config, DatasetEntry
from ..core.metric import Metric
from ..readers.letor import next_to

_PACKAGE = Path(__file__).resolve().parents[1]


def computes_with() -> list[str]:
    """Return the packages, C library and machine, on which the last bit of values depends."""
    packages = [f"{package} {version(package)}" for package in ("numpy", "pyarrow")]
    return [*packages, *platform.libc_ver(), platform.system(), platform.machine()]


@functools.cache
def sources() -> str:
    """Return the hash of the whole package: names and contents of its files."""
    digest = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*.py")):
        digest.update(f"{file.relative_to(_PACKAGE).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


@functools.cache
def code() -> str:
    """Return the hash of the package and of what it computes with."""
    return hash_of([sources(), *computes_with()])


def hash_of(parts: Any) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def user_code() -> list[str]:
    """Return the SHA-256 of each loaded plugin and of what it imports, but installed packages."""
    others = (*_installed(), f"{_PACKAGE}{os.sep}")
    own = {one for one in _loaded().values() if not one.startswith(others) and one[-3:] == ".py"}
    return sorted(_sha256(file) for file in own if Path(file).is_file())


def installed_code(metrics: Iterable[Metric]) -> dict[str, dict[str, str | None]]:
    """Return distribution, version and SHA-256 of the installed packages of metrics, by name."""
    plugged = (metric.definition.function for metric in metrics if not metric.is_built_in)
    packages = {function.__module__.partition(".")[0] for function in plugged}
    found = {}
    for package in sorted(packages):
        files = {
            name: file
            for name, file in _loaded().items()
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


def _loaded() -> dict[str, str]:
    """Return the file of each module that is loaded from one."""
    files = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()]}
    return {name: file for name, file in files.items() if file}


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
    return next_to(entry.path) if entry.format in (None, "letor") else ""


class Keys:
    """What the values of a config's cells follow from, and the names of metrics in their records.

    It needs all cells, as metrics may compare one to another.
    """

    def __init__(self, config: Config, cells: Sequence[Cell]) -> None:
        self.cells, metrics = cells, config.parsed_metrics()
        self.compared = [metric for metric in metrics if metric.reference is not None]
        plugged = any(not metric.is_built_in for metric in metrics)
        self.code = [code(), user_code() if plugged else [], installed_code(metrics)]
        self.choices = {
            "policy": asdict(config.policy),
            "convention": config.convention,
            "crosscheck": config.crosscheck,
        }

    def files(self, cell: Cell) -> list[str]:
        """Return the files that all of a cell's values follow from."""
        dataset = cell.dataset_entry
        sizes = group_sizes_of(dataset)
        return [path for path in (dataset.path, cell.run_entry.path, sizes) if path]

    def others(self, cell: Cell) -> list[str]:
        """Return the runs that metrics compare a cell's to."""
        return [self._other(cell, metric).run_entry.path for metric in self.compared]

    def names(self, cell: Cell, digests: Mapping[str, str]) -> dict[str, str]:
        """Return what a cell's record calls metrics that compare to another run: with its hash.

        ``""`` for those without a digest of the other run, as no record can hold them.
        """
        names = {}
        for metric in self.compared:
            other = self._other(cell, metric).run_entry
            digest = digests.get(other.path)
            names[str(metric)] = f"{metric} {hash_of([digest, other.options()])}" if digest else ""
        return names

    def parts(self, cell: Cell, digests: Mapping[str, str]) -> dict[str, Any]:
        """Return all that a cell's values follow from, as plain data."""
        dataset = {k: v for k, v in cell.dataset_entry.options().items() if k != "group"}
        return {
            "code": self.code,
            "inputs": [digests[path] for path in self.files(cell)],
            "choices": {**self.choices, "dataset": dataset, "run": cell.run_entry.options()},
        }

    def _other(self, cell: Cell, metric: Metric) -> Cell:
        return reference(self.cells, cell, str(metric.reference))
