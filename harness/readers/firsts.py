"""The first line that a warning is about, looked for in the pieces of a text that were kept."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence

from .source import Source

Found = tuple[int, tuple[str, ...]]
"""Its number, 0 where that is not known, and its text; nothing where it is in no piece."""
_NONE: Found = (0, ())


Looks = Callable[[Sequence[bytes]], bool]


def first_line(source: Source, begin: Callable[[], Looks], once: Looks | None = None) -> Found:
    """Return the first line whose fields are what is looked for.

    Parameters
    ----------
    source : Source
        After it was read.
    begin : callable
        Returns what is called with the fields of one line after the other.
    once : callable, optional
        The same, for all lines of a file that is read again; it holds little.
    """
    found = _in_pieces(source, begin())
    if found[0] or source.sample.whole or not source.again:
        return found
    is_it = once or begin()
    for number, line in source.lines():
        if not line.startswith(b"#") and (fields := line.split()) and is_it(fields):
            return number, (line.decode("utf-8", "replace").strip(),)
    return found


def _in_pieces(source: Source, is_it: Looks) -> Found:
    number, sample = 0, source.sample
    for at, piece in enumerate(sample.pieces):
        for line in piece.removesuffix(b"\n").split(b"\n"):
            number += 1
            fields = line.split()
            if fields and not line.startswith(b"#") and is_it(fields):
                # else lines are left out between the pieces
                known = (at == 0 and sample.begins) or sample.whole
                return number if known else 0, (line.decode("utf-8", "replace").strip(),)
    return _NONE


def other_tag() -> Looks:
    """Return what finds the first line of a TREC run with another tag than the line before."""
    last: list[bytes] = []

    def is_it(fields: Sequence[bytes]) -> bool:
        differs = bool(last) and fields[5:6] != last
        last[:] = fields[5:6]
        return differs

    return is_it


def against_rank(forget: bool = False) -> Looks:
    """Return what finds the first line whose rank and score are both above those of another.

    Or both below: of an earlier line of the same query, wherever that stands; with `forget`,
    of those right before it.
    """
    by_rank: dict[bytes, list[tuple[int, float]]] = {}

    def is_it(fields: Sequence[bytes]) -> bool:
        if len(fields) < 6:
            return False
        try:
            row = int(fields[3]), float(fields[4])
        except ValueError:
            return False
        if forget and fields[0] not in by_rank:
            by_rank.clear()
        held = by_rank.setdefault(fields[0], [])  # until one is found, scores fall with the rank
        at = bisect(held, row)
        near = held[max(at - 1, 0) : at + 1]
        held.insert(at, row)
        return any((rank - row[0]) * (score - row[1]) > 0 for rank, score in near)

    return is_it
