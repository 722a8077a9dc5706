"""What a verification found, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from ..escaping import in_json, lines_of
from ..origin import MANIFEST
from .findings import Changed, Difference, Verification

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
        n = f"{found.total:,} difference{'s' * (found.total > 1)}"
        parts = [f"{n:,} in {name}" for name, n in found.by_file.items()]
        if len(parts) > FILES:
            rest = sum(list(found.by_file.values())[FILES:])
            parts[FILES:] = [f"{rest:,} in {len(parts) - FILES} other files"]
        n += f" ({', '.join(parts)})" if len(parts) > 1 else ""
        yield f"{found.folder}: NOT VERIFIED, {n}; looked at: {counts or 'nothing'}"


def _changed(one: Changed) -> str:
    n = len(one.inputs)
    listed = ", ".join(one.inputs[:NAMED]) + ", ..." * (n > NAMED)
    said = f"{one.kind} {one.name}".strip()
    line = f"input: {said}: {n} file{'s' * (n > 1)} gone or changed ({listed})"
    if one.differ is None:
        return line
    names = f": {', '.join(one.differ)}" if one.differ else ""
    return f"{line}; {len(one.differ)} of {one.of} metrics differ{names}"


def _difference(one: Difference) -> Iterator[str]:
    why = "" if one.kind == "input" else f" ({_why(one)})"
    yield f"{one.kind}: {one.file}: {one.where}{why}"
    then, now = from_where_they_differ(one.then, one.now)
    yield f"  then: {then}"
    yield f"  now:  {now}"


def _why(one: Difference) -> str:
    is_it = one.cause == "edited" and one.file == MANIFEST
    return "the file was edited after it was written" if is_it else _CAUSES[one.cause]


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
    first, second = ("..." * (start > 0) + line[start:] for line in lines)
    return _cut(first), _cut(second)


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."


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
