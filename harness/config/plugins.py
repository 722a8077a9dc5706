"""Metrics from outside: files, modules and installed plugins that a config or an option names."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import CodeType

NO_PLUGINS = "--no-plugins"
"""The option of every command that says so."""
_allowed = True


def allow_plugins(allowed: bool) -> None:
    """Say whether plugins may be loaded, where a config or an option names them."""
    global _allowed
    _allowed = allowed


def plugins_allowed() -> bool:
    """Return whether plugins may be loaded.

    >>> plugins_allowed()
    True
    """
    return _allowed


GROUP = "harness.metrics"
"""Entry points of this group are modules whose import registers metrics; none is loaded unnamed."""


class _Compiled(SourceFileLoader):
    """Compiles a file each time: Python writes what it compiled beside the file, which is the
    user's folder, and takes it for a later text of the same second and size."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the file as it is now."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


class PluginError(Exception):
    """A plugin is not there, or its import fails; the text says why and where."""


def load(name: str, base: Path) -> None:
    """Import one plugin, so that its metrics are registered.

    Parameters
    ----------
    name : str
        A file (``my_metrics.py``, relative to `base`), the name of an entry point that an
        installed package has in :data:`GROUP`, or of an importable module. A file is run anew
        each time, so that an edited one takes effect in the same process.
    base : Path
        Folder of the config.

    Raises
    ------
    PluginError
        Where it does not exist, or raises while it is imported; or no plugins are allowed.
    """
    if not plugins_allowed():
        what = "is code, and is not loaded, as --no-plugins was given"
        raise PluginError(f"'{name}' {what}; leave that option out if you trust '{name}'")
    if not (name.endswith(".py") or "/" in name):
        _load_installed(name)
        return
    from .patterns import NothingFoundError, files  # reads YAML, which most plugins do not need

    try:
        found = files(base, name.replace("{", "{{").replace("}", "}}"))
    except NothingFoundError as error:
        raise PluginError(str(error)) from None
    _load_file(found[0].path)


def _load_installed(name: str) -> None:
    """Import the plugin that an installed package calls so, else the module of that name."""
    points = sorted(entry_points(group=GROUP, name=name), key=_package)
    if len(points) > 1:
        packages = " and ".join(map(_package, points))
        values = " or ".join(point.value for point in points)
        raise PluginError(f"'{name}' is a plugin of {packages}; name its module: {values}")
    if not points:
        _load_module(name)
        return
    try:
        points[0].load()
    except Exception as error:
        what = f"its entry point '{name}' fails: {_say(error)}"
        raise PluginError(f"{_package(points[0])}: {what}") from error


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an installed package"


def _load_module(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise PluginError(f"module '{name}' cannot be imported: {_say(error)}") from error
        raise PluginError(f"no module '{name}'; for a file write {name}.py") from error
    except Exception as error:
        raise PluginError(f"module '{name}' cannot be imported: {_say(error)}") from error


def _load_file(path: Path) -> None:
    """Run a file as a module whose name no other file has."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"harness_plugin_{digest}_{path.stem}"
    loader = _Compiled(name, str(path)) if path.suffix == ".py" else None
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PluginError(f"{_place(error, path)}: {_say(error)}") from error


def _say(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _place(error: BaseException, path: Path) -> str:
    """Return ``path:line`` of the plugin's own line that failed."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{path}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == path.absolute()]
    lines += [frame.lineno for frame in frames if Path(frame.filename) == path]
    return f"{path}:{lines[-1]}" if lines else str(path)
