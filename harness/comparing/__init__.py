"""Renderings of comparisons: as CSV, JSON lines, text, Markdown and HTML. Pure."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from .cells import Grid
from .queries import largest, unanswered

__all__ = ["SHOWN", "Grid", "find_rendering", "largest", "unanswered"]
SHOWN = 20
"""Comparisons of one metric on one dataset that are printed below a leaderboard."""


def find_rendering(name: str) -> ModuleType:
    """Return the rendering of that name: ``text``, ``markdown``, ``html``, ``csv``, ``jsonl``."""
    return import_module(f"{__name__}.{name}")
