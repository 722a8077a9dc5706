"""The kinds of pictures by name: the modules of this folder."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from ..errors import UnknownNameError, did_you_mean

PACKAGE = __name__.rpartition(".")[0]


def names() -> list[str]:
    """Return the names of all kinds."""
    path = importlib.import_module(PACKAGE).__path__
    found = (module.name for module in pkgutil.iter_modules(path))
    return [name.replace("_", "-") for name in found if not name.startswith("_")]


def find(name: str) -> ModuleType:
    """Return the kind of that name.

    Raises
    ------
    UnknownNameError
        Where there is none.
    """
    known = names()
    if name not in known:
        near = did_you_mean(name, known)
        raise UnknownNameError(f"unknown picture '{name}'{near}  (all: {', '.join(known)})")
    return importlib.import_module(f"{PACKAGE}.{name.replace('-', '_')}")
