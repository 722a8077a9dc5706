"""Renderings of a leaderboard: one file each, found by being here.

A report is a module with ``render(board, **options) -> str`` and ``suffix``, the ending of its
files.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from ..errors import UnknownNameError, did_you_mean


def names() -> list[str]:
    """Return the names of all reports."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return [name for name in found if not name.startswith("_")]


def find(name: str) -> ModuleType:
    """Return the report of that name.

    Raises
    ------
    UnknownNameError
        Where there is none.
    """
    known = names()
    if name not in known:
        raise UnknownNameError(
            f"unknown report '{name}'{did_you_mean(name, known)}  (all: {', '.join(known)})"
        )
    return importlib.import_module(f"{__name__}.{name}")
