"""The first line that a warning is about, looked for in the pieces of a text that were kept."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence

from .source import Source

Found = tuple[int, tuple[str, ...]]
"""Its number, 0 where that is not known, and its text; nothing where it is in no piece."""
_NONE: Found = (0, ())


def first_line(source: Source, is_it: Callable[[Sequence[bytes]], bool]) -> Found:
    """Return the first line whose fields are what is looked for.

    Parameters
    ----------
    source : Source
        After it was read.
    is_it : callable
        Called with the fields of one line after the other.
    """
    number, sample = 0, source.sample
    for at, piece in enumerate(sample.pieces):
        for line in piece.removesuffix(b"\n").split(b"\n"):
            number += 1
            fields = line.split()
            if fields and not line.startswith(b"#") and is_it(fields):
                known = at == 0 or sample.whole  # else lines are left out between the pieces
                return number if known else 0, (line.decode("utf-8", "replace").strip(),)
    return _NONE


def comes_back(field: int) -> Callable[[Sequence[bytes]], bool]:
    """Return what finds a line whose query, in this field, came back after another began."""
    seen: set[bytes] = set()
    last = b""

    def is_it(fields: Sequence[bytes]) -> bool:
        nonlocal last
        qid = fields[field] if len(fields) > field else b""
        back = qid != last and qid in seen
        seen.add(qid)
        last = qid
        return back

    return is_it


def is_repeated(qid: int, docno: int) -> Callable[[Sequence[bytes]], bool]:
    """Return what finds a line whose docno stood on an earlier one, for the same query."""
    seen: set[tuple[bytes, bytes]] = set()

    def is_it(fields: Sequence[bytes]) -> bool:
        if len(fields) <= max(qid, docno):
            return False
        pair = fields[qid], fields[docno]
        before = pair in seen
        seen.add(pair)
        return before

    return is_it


def other_tag() -> Callable[[Sequence[bytes]], bool]:
    """Return what finds the first line of a TREC run with another tag than the line before."""
    last: list[bytes] = []

    def is_it(fields: Sequence[bytes]) -> bool:
        differs = bool(last) and fields[5:6] != last
        last[:] = fields[5:6]
        return differs

    return is_it


def against_rank() -> Callable[[Sequence[bytes]], bool]:
    """Return what finds the first line whose rank and score are both above those of another.

    Or both below: of an earlier line of the same query, wherever that stands.
    """
    by_rank: dict[bytes, list[tuple[int, float]]] = {}

    def is_it(fields: Sequence[bytes]) -> bool:
        if len(fields) < 6:
            return False
        try:
            row = int(fields[3]), float(fields[4])
        except ValueError:
            return False
        held = by_rank.setdefault(fields[0], [])  # until one is found, scores fall with the rank
        at = bisect(held, row)
        near = held[max(at - 1, 0) : at + 1]
        held.insert(at, row)
        return any((rank - row[0]) * (score - row[1]) > 0 for rank, score in near)

    return is_it
