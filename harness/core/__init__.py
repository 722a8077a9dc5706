"""The pure core: tables, alignment, evaluation, metric names. No files, no clock, no printing.

A result is `Printable`: core knows its values, and the reports above know how to show them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

RENDERERS: dict[str, Callable[[Any], str]] = {}
"""Functions that return the "text" and the "html" of a result; `harness` sets them."""


class Printable:
    """A result that ``print`` and notebooks show as tables."""

    def __str__(self) -> str:
        return RENDERERS["text"](self)

    def _repr_html_(self) -> str:
        return RENDERERS["html"](self)
