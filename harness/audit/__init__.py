"""Every cell of a leaderboard under every convention: what hangs on the tool, and on what in it.

A rendering is a module here with ``render(audited, **options) -> str``: ``text``, ``csv`` and
``html``.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Literal

from .flow import Audited, audit
from .spread import Matrix

__all__ = ["Audited", "Matrix", "audit", "find"]


def find(name: Literal["text", "csv", "html"]) -> ModuleType:
    """Return the rendering of that name."""
    return importlib.import_module(f"{__name__}.{name}")
