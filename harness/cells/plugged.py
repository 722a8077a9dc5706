"""The code of metrics that are not the harness's own: users' files, and installed packages."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from ..core.metric import Metric

_HARNESS = Path(__file__).resolve().parents[1]


def user_code() -> dict[str, str]:
    """Return the SHA-256 of the users' own code that is loaded, by path.

    It is every module that belongs neither to Python, nor to an installed package, nor to the
    harness: plugins, and what they import.
    """
    installed = (*_installed(), f"{_HARNESS}{os.sep}")
    own = sorted(file for _, file in _loaded() if not file.startswith(installed))
    return {file: _sha256(file) for file in own if file.endswith(".py") and Path(file).is_file()}


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
