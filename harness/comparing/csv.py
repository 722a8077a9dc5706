"""Comparisons and standings as CSV: every digit, stable columns and rows."""

from __future__ import annotations

from ..core.comparison import Comparisons
from ..core.comparison_rows import comparison_rows, standing_rows
from ..reports.csv import text_of

SIGNIFICANCE, STANDINGS = "significance.csv", "standings.csv"


def render(found: Comparisons) -> str:
    """Return a row a comparison; see :func:`harness.core.comparison_rows.comparison_rows`."""
    return text_of(comparison_rows(found))


def standings(found: Comparisons) -> str:
    """Return a row a run x metric on each dataset: value, interval, rank and its interval, tier."""
    return text_of(standing_rows(found))


def files(found: Comparisons) -> dict[str, bytes]:
    """Return what ``harness run`` writes, by file name."""
    return {SIGNIFICANCE: render(found).encode(), STANDINGS: standings(found).encode()}
