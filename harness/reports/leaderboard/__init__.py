"""Leaderboards: as grids, and in their formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from .rendering import Report

NAMES = ("csv", "html", "jsonl", "markdown", "table", "trec")


def names() -> list[str]:
    """Return the names of all reports."""
    return list(NAMES)


def find(name: str) -> Report:
    """Return the report of that name, with ``render(board, per_query=False)`` and ``suffix``.

    Raises
    ------
    UnknownNameError
        If no report has that name.
    """
    if name not in NAMES:
        raise UnknownNameError(
            f"unknown report '{name}'{did_you_mean(name, NAMES)}  (all: {', '.join(NAMES)})"
        )
    from .rendering import REPORTS  # which loads the core: listing the names does not

    return REPORTS[name]
