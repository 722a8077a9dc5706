"""What prints as a table: core knows results, and the reports above it know how to show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

RENDERERS: dict[str, Callable[[Any], str]] = {}
"""What returns the "text" and the "html" of a result; :mod:`harness` puts them here."""


class Printable:
    """A result that ``print`` and notebooks show as tables."""

    def __str__(self) -> str:
        return RENDERERS["text"](self)

    def _repr_html_(self) -> str:
        return RENDERERS["html"](self)
