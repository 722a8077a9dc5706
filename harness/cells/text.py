"""A cache as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..config.patterns import natural
from ..escaping import in_json, legible
from ..reports.table import columns
from .keeping import OTHER_CODE, Kept, Recomputed

SPARED = "not asked for"
_COLUMNS = ("record", "dataset", "run", "files", "queries", "metrics", "size", "days", "")


def table(found: Sequence[Kept], why: Mapping[str, str] | None = None) -> str:
    """Return a line a record, by dataset, run and files, and the sum.

    `why` says what is the matter with records, by their names.
    """
    rows = [list(_COLUMNS), *(_row(one, (why or {}).get(one.key, "")) for one in ordered(found))]
    shown = [columns(rows, left=4)] if found else []
    return "".join(f"{part.rstrip()}\n" for part in (*shown, summed(found)))


def ordered(found: Iterable[Kept]) -> list[Kept]:
    """Return records by dataset, run and files (which have the seed), numbers by their size."""

    def place(one: Kept) -> tuple[Any, ...]:
        names = (str(one.about.get(name, "")) for name in ("dataset", "run"))
        files = [natural(str(name)) for name in one.about.get("files", ())]
        return *map(natural, names), files, one.key

    return sorted(found, key=place)


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


def _row(one: Kept, why: str) -> list[str]:
    record, about = one.record, one.about
    state = one.error or ("" if one.is_current else OTHER_CODE) or why
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


def checked(
    found: Sequence[Kept], again: Sequence[Recomputed] | None, others: Mapping[str, str]
) -> str:
    """Return what is wrong with records, and how many were looked at.

    Parameters
    ----------
    found : sequence of Kept
    again : sequence of Recomputed, optional
        Where asked for.
    others : mapping of str to str
        Why records were not evaluated again, by their names.
    """
    lines = [f"{one.path}: {one.error}" for one in found if one.error]
    lines += [
        f"{one.kept.path}: {one.kept.about.get('run')} on {one.kept.about.get('dataset')}: "
        f"{one.error}"
        for one in again or ()
        if one.error
    ]
    anew = ""
    if again is not None:
        n = sum(one.values for one in again)
        anew = (
            f"; {len(again):,} evaluated anew, {n:,} values" if again else "; none evaluated anew"
        )
        reasons = Counter(others.values())
        rest = sum(not one.error for one in found) - len(again) - len(others)
        if rest > 0:
            reasons[SPARED] = rest
        anew += "".join(f"; {count:,} not: {why}" for why, count in reasons.items())
    wrong = f"{len(lines)} wrong" if lines else "all sound"
    return "".join(f"{legible(line)}\n" for line in (*lines, f"{summed(found)}: {wrong}{anew}"))
