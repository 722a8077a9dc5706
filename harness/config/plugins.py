"""Metrics from outside: files and modules that a config or an option names."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
from pathlib import Path

from ..errors import HarnessError
from ..input_files import add_inputs

NO_PLUGINS = "--no-plugins"
"""The option of every command that forbids plugins."""
allowed = True
"""Whether plugins that a config or an option names may be loaded; the command line sets it."""


class PluginError(HarnessError):
    """A plugin does not exist, or its import fails."""


def load_plugin(name: str, base: Path) -> None:
    """Import one plugin, so that its metrics are registered; PluginError if that fails.

    `name` is a file (``my_metrics.py``, relative to `base`) or an importable module. A file is run
    each time, so that an edited one takes effect in the same process.
    """
    if not allowed:
        message = f"'{name}' is not loaded because of --no-plugins"
        raise PluginError(message, fix="leave that option out if you trust its code")
    if name.endswith(".py") or "/" in name:
        from .patterns import NothingFoundError, double_braces, matching_files

        try:
            _load_file(matching_files(base, double_braces(name))[0].path)
        except NothingFoundError as error:
            fix = f"use {error.near}" if error.near else "correct the path"
            raise PluginError(str(error), fix=fix) from None
        return
    try:
        importlib.import_module(name)
    except Exception as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            raise PluginError(f"no module '{name}'", fix=f"for a file write {name}.py") from error
        message = f"module '{name}' cannot be imported: {_error_text(error)}"
        raise PluginError(message) from error


def _load_file(path: Path) -> None:
    """Run a file as a module with a unique name."""
    add_inputs(path)
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"harness_plugin_{digest}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        lines = [error.lineno] if isinstance(error, SyntaxError) else []
        for frame in traceback.extract_tb(error.__traceback__):
            lines += [frame.lineno] if Path(frame.filename).absolute() == path.absolute() else []
        place = f"{path}:{lines[-1]}" if lines else str(path)
        raise PluginError(f"{place}: {_error_text(error)}") from error


def _error_text(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
