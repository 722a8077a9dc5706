"""Names that are known in another spelling: another case, leading zeros, a prefix, ..."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable, Mapping, Sequence
from unicodedata import normalize

import numpy as np

from ..core.ragged import Ints

Twins = dict[int, str]
"""By the place of a name among others, the known name that it stands for."""
Known = Callable[[Sequence[str]], Iterable[bool]]
Way = Callable[[str], Iterable[str]]

ENOUGH = 2
"""Names from which on what all begin or end with says something."""
TENTH, HALF = 0.1, 0.5
"""Share of the names, or of the known ones, that must agree; and for a common beginning or end."""
SPREAD = 10_000
"""Known names that show what all begin or end with, at most."""
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
    "Unicode form (NFC, NFD)": lambda name: (
        () if name.isascii() else (normalize("NFC", name), normalize("NFD", name))
    ),
    "upper and lower case": lambda name: (
        name.lower(), name.upper(), name.title(), name.capitalize(),
    ),
    "quotes": lambda name: (name.strip("\"'"), f'"{name}"'),
    "leading zeros": _zeros,
}  # fmt: skip
"""What may differ between two spellings of a name, and the other spellings of it."""
OF_DOCNOS: Mapping[str, Way] = {**OF_QIDS, "a folder or an ending": _file_name}


def twins(names: Sequence[str], known: Known, ways: Mapping[str, Way]) -> tuple[str, Twins]:
    """Return how most unknown names differ from known ones, and which these are.

    Parameters
    ----------
    names : sequence of str
        None of them known.
    known : callable
        ``known(names)``: whether each is.
    ways : mapping of str to callable
        Those that are tried.

    >>> twins(["051", "052", "Q7"], lambda names: [name in ("51", "52") for name in names], OF_QIDS)
    ('leading zeros', {0: '51', 1: '52'})
    """
    asked = [
        (way, at, other)
        for way, others in ways.items()
        for at, name in enumerate(names)
        for other in others(name)
        if other and other != name
    ]
    found: dict[str, Twins] = {}
    if asked:
        are_known = known([other for *_, other in asked])
        for (way, at, other), is_known in zip(asked, are_known, strict=True):
            if is_known:
                found.setdefault(way, {}).setdefault(at, other)
    way = max(found, key=lambda one: len(found[one]), default="")
    return way, found.get(way, {})


def of_qids(
    names: Sequence[str], known: Known, n_known: int, some: Sequence[str]
) -> tuple[str, Twins] | None:
    """Return how most qids differ from known ones, and which they stand for.

    None if fewer than a tenth of either do (a half for what all begin or end with), or one of
    several: ``1`` and ``001`` may be queries of two collections.

    Parameters
    ----------
    names : sequence of str
        None of them known.
    known : callable
        ``known(names)``: whether each is.
    n_known : int
        How many are.
    some : sequence of str
        Some of these, as :func:`spread` has them.

    >>> def of(names, known):
    ...     return of_qids(names, lambda some: [one in known for one in some], len(known), known)
    >>> of(["051", "052", "x"], ["51", "52", "53"])
    ('leading zeros', {0: '51', 1: '52'})
    >>> of(["12.1", "12.2"], ["12", "13"]) is of(["1", "2", "3"], ["001"]) is None
    True
    """
    more = affixes(names, some)
    way, found = twins(names, known, {**OF_QIDS, **more})
    share, n = HALF if way in more else TENTH, len({*found.values()})
    if not n or n < min(ENOUGH, len(names)) or n < share * min(len(names), n_known):
        return None
    return way, found


def spread(n: int) -> Ints:
    """Return the places of all of `n` names, or of :data:`SPREAD` from the first to the last."""
    return np.linspace(0, n - 1, min(n, SPREAD)).astype(np.int64)


def affixes(names: Sequence[str], known: Sequence[str]) -> dict[str, Way]:
    """Return what all of one sample begin or end with, and not all of another, as ways.

    >>> [*affixes(["x/a1.txt", "x/b2.txt"], ["a1", "b9", "c3"])]
    ["the prefix 'x/'", "the ending '.txt'"]
    >>> ways = affixes(["7", "12"], ["D7", "D31"])
    >>> [[*way("7")] for way in ways.values()]
    [['7', 'D7']]
    """
    if min(len(names), len(known)) < ENOUGH:
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
    """Return by how much one of two ends is longer; nothing if they are different ones.

    >>> _beyond("a.txt", "a"), _beyond("", ".gz"), _beyond("a.txt", "b")
    ('.txt', '.gz', '')
    """
    short, long = sorted((one, other), key=len)
    return long[len(short) :] if long.startswith(short) else ""


def _common(names: Sequence[str]) -> str:
    """Return what all names begin with."""
    return os.path.commonprefix([*names])  # noqa: RUF071 - of names, not of folders


def shown(name: str, twin: str) -> str:
    r"""Return both so that one sees the difference.

    >>> print(shown("e\u0301", "\xe9"))
    'e\u0301' for '\xe9'
    """
    return f"{name!a} for {twin!a}"
