"""Names that look the same and are not."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from .cells import Cell


def shown(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield what is to be said of datasets and runs that look alike and are kept apart."""
    named = {"datasets": (one.dataset for one in cells), "runs": (one.run for one in cells)}
    for kind, names in named.items():
        for alike in twins(names):
            yield (
                f"{kind} {' and '.join(map(ascii, alike))} look the same and are kept apart, as "
                "their names are normalised otherwise (NFC, NFD); write them alike where they are "
                "one"
            )


def twins(names: Iterable[str]) -> list[list[str]]:
    r"""Return the names that differ in Unicode's normalisation alone, together.

    >>> twins(["caf\u00e9", "cafe", "cafe\u0301"])
    [['café', 'café']]
    """
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        if not name.isascii():
            alike.setdefault(unicodedata.normalize("NFC", name), []).append(name)
    return [some for some in alike.values() if len(some) > 1]
