"""Names that look the same and are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..escaping import said_of_alike
from .cells import Cell


def shown(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield what is to be said of datasets and runs that look alike and are kept apart."""
    yield from said_of_alike("datasets", (one.dataset for one in cells))
    yield from said_of_alike("runs", (one.run for one in cells))
