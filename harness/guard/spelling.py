"""Names that are known in another spelling: another case, leading zeros, a prefix, ..."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable, Mapping, Sequence
from unicodedata import normalize

import numpy as np

from ..core.ragged import Ints

Respelled = dict[int, str]
"""Known names that differ in spelling only, by the position of the unknown name."""
Known = Callable[[Sequence[str]], Iterable[bool]]
"""Whether each of some names is known."""
Way = Callable[[str], Iterable[str]]
"""Other spellings of a name."""

TENTH, HALF = 0.1, 0.5
"""Share of the names, or of the known ones, that must agree; and for a common prefix or ending."""
SPREAD = 10_000
"""Known names that show a common prefix or ending, at most."""
_LONGEST = 12
"""Digits of a number with leading zeros, at most."""


def _zeros(name: str) -> Iterable[str]:
    if not name.isdecimal() or len(name) > _LONGEST:
        return ()
    return name.lstrip("0") or "0", *(name.zfill(n) for n in range(len(name) + 1, _LONGEST + 1))


def _file_name(name: str) -> Iterable[str]:
    base = name.rpartition("/")[2]
    return base, os.path.splitext(base)[0], os.path.splitext(name)[0]


OF_QIDS: Mapping[str, Way] = {
    "Unicode form (NFC, NFD)": lambda name: (normalize("NFC", name), normalize("NFD", name)),
    "upper and lower case": lambda name: (
        name.lower(), name.upper(), name.title(), name.capitalize(),
    ),
    "quotes": lambda name: (name.strip("\"'"), f'"{name}"'),
    "leading zeros": _zeros,
}  # fmt: skip
"""What may differ between two spellings of a name, and the other spellings of it."""
OF_DOCNOS: Mapping[str, Way] = {**OF_QIDS, "a folder or an ending": _file_name}


def spelled_as(
    names: Sequence[str], known: Known, ways: Mapping[str, Way]
) -> tuple[str, Respelled]:
    """Return the way in which most unknown names differ from known ones, and the known ones.

    >>> known = lambda names: [name in ("51", "52") for name in names]
    >>> spelled_as(["051", "052", "Q7"], known, OF_QIDS)
    ('leading zeros', {0: '51', 1: '52'})
    """
    tried = [
        (way, at, other)
        for way, others in ways.items()
        for at, name in enumerate(names)
        for other in others(name)
        if other and other != name
    ]
    found: dict[str, Respelled] = {}
    if tried:
        are_known = known([other for *_, other in tried])
        for (way, at, other), is_known in zip(tried, are_known, strict=True):
            if is_known:
                found.setdefault(way, {}).setdefault(at, other)
    way = max(found, key=lambda one: len(found[one]), default="")
    return way, found.get(way, {})


def of_qids(
    names: Sequence[str], known: Known, n_known: int, some: Sequence[str]
) -> tuple[str, Respelled] | None:
    """Return how most unknown qids differ from `n_known` known ones, and the latter.

    None if fewer than a tenth of either do (a half for a common prefix or ending), or one of
    several: ``1`` and ``001`` may be queries of two collections. `some` are known qids.

    >>> def of(names, known):
    ...     return of_qids(names, lambda some: [one in known for one in some], len(known), known)
    >>> of(["051", "052", "x"], ["51", "52", "53"])
    ('leading zeros', {0: '51', 1: '52'})
    >>> of(["12.1", "12.2"], ["12", "13"]) is of(["1", "2", "3"], ["001"]) is None
    True
    """
    more = affixes(names, some)
    way, found = spelled_as(names, known, {**OF_QIDS, **more})
    share, n = HALF if way in more else TENTH, len({*found.values()})
    if not n or n < min(2, len(names)) or n < share * min(len(names), n_known):
        return None
    return way, found


def spread(n: int) -> Ints:
    """Return the positions of all of `n` names, or of :data:`SPREAD` from first to last."""
    return np.linspace(0, n - 1, min(n, SPREAD)).astype(np.int64)


def affixes(names: Sequence[str], known: Sequence[str]) -> dict[str, Way]:
    """Return the prefix and the ending that all of one sample have, and not all of the other.

    >>> [*affixes(["x/a1.txt", "x/b2.txt"], ["a1", "b9", "c3"])]
    ["the prefix 'x/'", "the ending '.txt'"]
    >>> ways = affixes(["7", "12"], ["D7", "D31"])
    >>> [[*way("7")] for way in ways.values()]
    [['7', 'D7']]
    """
    if min(len(names), len(known)) < 2:
        return {}
    backwards = [[name[::-1] for name in some] for some in (names, known)]
    before = _beyond(*(_common(some).rstrip("0123456789")[::-1] for some in (names, known)))[::-1]
    after = _beyond(*(_common(some)[::-1].lstrip("0123456789") for some in backwards))
    found: dict[str, Way] = {}
    if before:
        found[f"the prefix {before!r}"] = lambda name: (name.removeprefix(before), before + name)
    if after:
        found[f"the ending {after!r}"] = lambda name: (name.removesuffix(after), name + after)
    return found


def _beyond(one: str, other: str) -> str:
    """Return by how much one of two endings is longer; nothing if they differ otherwise."""
    short, long = sorted((one, other), key=len)
    return long[len(short) :] if long.startswith(short) else ""


def _common(names: Sequence[str]) -> str:
    return os.path.commonprefix([*names])  # noqa: RUF071 - of names, not of folders


def shown(name: str, other: str) -> str:
    r"""Return both names, with escapes for what is not ASCII.

    >>> print(shown("e\u0301", "\xe9"))
    'e\u0301' for '\xe9'
    """
    return f"{name!a} for {other!a}"
