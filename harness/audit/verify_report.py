"""The result of a verification as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from ..errors import in_json, lines_of, shorten
from ..experiment.folder import MANIFEST
from ..reports.grid import and_more
from ..reports.phrases import counted
from .file_differences import Difference
from .verify import Verification

_CAUSES = {
    "input": "an input changed",
    "edited": "not the file that manifest.json was written with: edited, or a run was stopped; run "
    "the config again",
    "version": "computed by other versions now",
    "code": "the harness's code changed",
    "unknown": "inputs and versions are the same",
}
MOST = 6
"""Inputs that are listed."""
WIDTH, BEFORE = 120, 30
"""Characters of a text that are shown, and how many of them before the first that differs."""


def text(found: Verification) -> str:
    """Return what ``harness verify`` prints."""
    return lines_of(_lines(found))


def _lines(found: Verification) -> Iterator[str]:
    inputs = [one for one in found.differences if one.kind == "input"]
    for one in inputs[:MOST]:
        yield from _difference(one)
    for note in and_more(len(inputs) - MOST, "--format json lists every input"):
        yield f"input: {note}"
    for one in found.differences[len(inputs) :]:
        yield from _difference(one)
    for version in found.versions:
        yield f"version: {version.name} was {version.then or 'none'}, is {version.now or 'none'}"
    for note in found.notes:
        yield f"note: {note}"
    counts = ", ".join(f"{n:,} {name}" for name, n in found.verified.items() if n) or "nothing"
    if found.is_verified:
        yield f"{found.folder}: every digit is the same; verified: {counts}"
        return
    parts = ", ".join(f"{n:,} in {name}" for name, n in found.by_file.items())
    n_all = counted(found.total, "difference")
    yield f"{found.folder}: NOT VERIFIED, {n_all} ({parts}); looked at: {counts}"


def _difference(one: Difference) -> Iterator[str]:
    why = "" if one.kind == "input" else f" ({_CAUSES[one.cause]})"
    if one.cause == "edited" and one.file == MANIFEST:
        why = " (the file was edited after it was written)"
    yield f"{one.kind}: {one.file}: {one.where}{why}"
    then, now = around_difference(one.then, one.now)
    yield f"  then: {then}"
    yield f"  now:  {now}"


def around_difference(then: str, now: str) -> tuple[str, str]:
    """Return two texts on a line each; of long ones what is around their first difference.

    >>> around_difference("a" * 200 + "b", "a" * 200 + "c")
    ('...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', '...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaac')
    """
    then, now = (" ".join(text.split()) for text in (then, now))
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(then, now, strict=False)))
    start = same - BEFORE if max(len(then), len(now)) > WIDTH and same > WIDTH // 2 else 0
    first, second = (shorten(f"...{x[start:]}" if start else x, WIDTH) for x in (then, now))
    return first, second


def as_json(found: Verification) -> str:
    """Return the same as one JSON object."""
    content = {
        "folder": str(found.folder),
        "verified": found.is_verified,
        "total": found.total,
        "by_file": dict(found.by_file),
        "differences": [one._asdict() for one in found.differences],
        "versions": [one._asdict() for one in found.versions],
        "counts": dict(found.verified),
        "notes": list(found.notes),
    }
    return in_json(content, indent=1) + "\n"
