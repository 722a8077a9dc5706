"""A cache as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..escaping import in_json, legible
from ..reports.table import columns
from .keeping import Kept, Recomputed

_COLUMNS = ("record", "dataset", "run", "files", "queries", "metrics", "size", "days", "")


def table(found: Sequence[Kept]) -> str:
    """Return a line a record, by dataset and run, and the sum."""
    rows = [list(_COLUMNS), *map(_row, ordered(found))]
    shown = [columns(rows, left=4)] if found else []
    return "".join(f"{part.rstrip()}\n" for part in (*shown, summed(found)))


def ordered(found: Iterable[Kept]) -> list[Kept]:
    """Return records by dataset, run and name."""
    return sorted(
        found, key=lambda one: (one.about.get("dataset", ""), one.about.get("run", ""), one.key)
    )


def summed(found: Sequence[Kept]) -> str:
    """Return how many records there are, and of how many bytes.

    >>> summed([])
    '0 records, 0 B'
    """
    n = len(found)
    return f"{n:,} record{'s' * (n != 1)}, {size(sum(one.size for one in found))}"


def size(n: int) -> str:
    """Return bytes as people read them.

    >>> size(999), size(12_345), size(5_000_000)
    ('999 B', '12.3 kB', '5.0 MB')
    """
    for unit, name in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")):
        if n >= unit:
            return f"{n / unit:.1f} {name}"
    return f"{n} B"


def _row(one: Kept) -> list[str]:
    record, about = one.record, one.about
    state = one.error or ("" if one.is_current else "other code")
    if record is None:
        return [one.key[:12], "", "", "", "", "", size(one.size), f"{one.age:.1f}", state]
    return [
        one.key[:12],
        str(about.get("dataset", "")),
        str(about.get("run", "")),
        " ".join(about.get("files", ())),
        str(len(record.qids)),
        str(len(record.values)),
        size(one.size),
        f"{one.age:.1f}",
        state,
    ]


def as_json(found: Sequence[Kept]) -> str:
    """Return all that is known of each record."""
    rows = [
        {
            "record": one.key,
            "path": str(one.path),
            "bytes": one.size,
            "days": round(one.age, 3),
            "current": one.is_current,
            "error": one.error,
            "queries": 0 if one.record is None else len(one.record.qids),
            "metrics": [] if one.record is None else list(one.record.values),
            **one.about,
        }
        for one in ordered(found)
    ]
    return in_json(rows, indent=1) + "\n"


def checked(found: Sequence[Kept], again: Sequence[Recomputed] | None) -> str:
    """Return what is wrong with records, and how many were looked at; `again` where asked for."""
    lines = [f"{one.path}: {one.error}" for one in found if one.error]
    lines += [
        f"{one.kept.path}: {one.kept.about.get('run')} on {one.kept.about.get('dataset')}: "
        f"{one.error}"
        for one in again or ()
        if one.error
    ]
    anew = "" if again is None else "; none evaluated anew, as no record is by the code here"
    if again:
        anew = f"; {len(again):,} evaluated anew, {sum(one.values for one in again):,} values"
    wrong = f"{len(lines)} wrong" if lines else "all sound"
    return "".join(f"{legible(line)}\n" for line in (*lines, f"{summed(found)}: {wrong}{anew}"))
