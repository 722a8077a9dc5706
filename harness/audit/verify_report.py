"""What a verification found, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import in_json, lines_of, shorten
from ..experiment.origin import MANIFEST
from ..reports.phrases import counted
from .verify import Changed, Verification
from .verify_files import Difference

_CAUSES = {
    "input": "an input changed",
    "edited": "not the file that manifest.json was written with: edited, or a run was stopped; run "
    "the config again",
    "version": "other versions compute it now",
    "code": "the harness's code is another",
    "unhashed": "an input of it was not hashed then, as it could not be read or was changing",
    "unknown": "inputs and versions are the same",
}

FEW = 3
"""Inputs that are each listed with their hashes; more are counted by dataset and run."""
NAMED = 2
"""Files of a dataset or run that are named then."""
FILES = 5
"""Files whose differences are counted each."""
WIDTH, BEFORE = 120, 30
"""Characters of a text that are shown, and how many of them before the first that differs."""


def text(found: Verification) -> str:
    """Return what ``harness verify`` prints."""
    return lines_of(_lines(found))


def _lines(found: Verification) -> Iterator[str]:
    n_inputs = sum(one.kind == "input" for one in found.differences)
    grouped = found.changed if n_inputs > FEW else ()
    for each in grouped:
        yield _changed(each)
    for one in found.differences:
        if one.kind != "input" or not grouped:
            yield from _difference(one)
    for version in found.versions:
        yield f"version: {version.name} was {version.then or 'none'}, is {version.now or 'none'}"
    for note in found.notes:
        yield f"note: {note}"
    counts = ", ".join(f"{n:,} {name}" for name, n in found.verified.items() if n)
    if found.is_verified:
        others = " by other versions" if found.versions else ""
        yield f"{found.folder}: every digit is the same{others}; verified: {counts}"
    else:
        n = counted(found.total, "difference")
        parts = [f"{n:,} in {name}" for name, n in found.by_file.items()]
        if len(parts) > FILES:
            rest = sum(list(found.by_file.values())[FILES:])
            parts[FILES:] = [f"{rest:,} in {len(parts) - FILES} other files"]
        n += f" ({', '.join(parts)})" if len(parts) > 1 else ""
        yield f"{found.folder}: NOT VERIFIED, {n}; looked at: {counts or 'nothing'}"


def _changed(one: Changed) -> str:
    listed = ", ".join((*one.inputs[:NAMED], "...") if len(one.inputs) > NAMED else one.inputs)
    name = f"{one.kind} {one.name}".strip()
    line = f"input: {name}: {counted(len(one.inputs), 'file')} gone or changed ({listed})"
    if one.differ is None:
        return line
    names = f": {', '.join(one.differ)}" if one.differ else ""
    return f"{line}; {len(one.differ)} of {one.of} metrics differ{names}"


def _difference(one: Difference) -> Iterator[str]:
    why = f" ({_CAUSES[one.cause]})"
    if one.kind == "input":
        why = ""
    elif one.cause == "edited" and one.file == MANIFEST:
        why = " (the file was edited after it was written)"
    yield f"{one.kind}: {one.file}: {one.where}{why}"
    then, now = from_where_they_differ(one.then, one.now)
    yield f"  then: {then}"
    yield f"  now:  {now}"


def from_where_they_differ(then: str, now: str) -> tuple[str, str]:
    """Return two texts on a line each; of long ones what is around their first difference.

    >>> from_where_they_differ("a" * 200 + "b", "a" * 200 + "c")
    ('...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', '...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaac')
    """
    lines = [" ".join(text.split()) for text in (then, now)]
    if lines[0] == lines[1]:  # they differ in spaces alone
        lines = [repr(text) for text in (then, now)]
    pairs = enumerate(zip(*lines, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(map(len, lines)))
    start = same - BEFORE if max(map(len, lines)) > WIDTH and same > WIDTH // 2 else 0
    first, second = (shorten(f"...{line[start:]}" if start else line, WIDTH) for line in lines)
    return first, second


def as_json(found: Verification) -> str:
    """Return the same as one JSON object."""
    content = {
        "folder": str(found.folder),
        "verified": found.is_verified,
        "total": found.total,
        "by_file": dict(found.by_file),
        "changed": [one._asdict() for one in found.changed],
        "differences": [one._asdict() for one in found.differences],
        "versions": [one._asdict() for one in found.versions],
        "counts": dict(found.verified),
        "notes": list(found.notes),
    }
    return in_json(content, indent=1) + "\n"
