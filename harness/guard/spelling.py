"""Names that would be those of the judgements, were they written as these are."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from unicodedata import normalize
from urllib.parse import quote, unquote

import numpy as np

from ..core.ragged import Ints

Twins = dict[int, str]
"""By the place of a name among others, the known name that it stands for."""
Known = Callable[[Sequence[str]], Iterable[bool]]
Way = Callable[[str], Iterable[str]]

ENOUGH = 2
"""Names from which on what all begin or end with says something."""
TENTH, HALF = 0.1, 0.5
SPREAD = 10_000
"""Known names that tell what all begin or end with, at most."""
UNSEEN = "\ufeff\u200b\u2060\xa0 \t"
"""A byte order mark, blanks, and what takes no room."""
_LONGEST = 12
"""Digits of a number that is written with leading zeros, at most."""


def _normalised(name: str) -> Iterator[str]:
    if not name.isascii():
        yield normalize("NFC", name)
        yield normalize("NFD", name)


def _cased(name: str) -> Iterator[str]:
    yield name.lower()
    yield name.upper()
    yield name.title()
    yield name.capitalize()


def _quoted(name: str) -> Iterator[str]:
    yield name.strip("\"'")
    yield f'"{name}"'


def _without_unseen(name: str) -> Iterator[str]:
    yield name.strip(UNSEEN)


def _with_zeros(name: str) -> Iterator[str]:
    if name.isdecimal() and len(name) <= _LONGEST:
        yield name.lstrip("0") or "0"
        yield from (name.zfill(width) for width in range(len(name) + 1, _LONGEST + 1))


def _percent(name: str) -> Iterator[str]:
    if "%" in name:
        yield unquote(name)
    if not name.isalnum():
        yield quote(name)


def _of_a_file(name: str) -> Iterator[str]:
    base = name.rpartition("/")[2]
    yield base
    yield os.path.splitext(base)[0]
    yield os.path.splitext(name)[0]


NORMALISED: Mapping[str, Way] = {"their Unicode normalisation (NFC, NFD)": _normalised}
_WAYS: Mapping[str, Way] = {
    "upper and lower case": _cased,
    "quotes around them": _quoted,
    "blanks or signs at their ends that are not seen": _without_unseen,
    "leading zeros": _with_zeros,
}
OF_QIDS: Mapping[str, Way] = {**NORMALISED, **_WAYS}
"""What may differ between two ways to write a name, and the other ways to write it."""
OF_DOCNOS: Mapping[str, Way] = {
    **_WAYS,
    "escapes such as %20": _percent,
    "the folder or the ending of a file": _of_a_file,
}


def twins(names: Sequence[str], known: Known, ways: Mapping[str, Way]) -> dict[str, Twins]:
    """Return which names stand for known ones, by what they differ in.

    Parameters
    ----------
    names : sequence of str
        None of them known.
    known : callable
        ``known(names)``: whether each is.
    ways : mapping of str to callable
        Those that are tried.

    >>> twins(["051", "Q7"], lambda names: [name in ("51", "q7") for name in names], OF_QIDS)
    {'upper and lower case': {1: 'q7'}, 'leading zeros': {0: '51'}}
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
    return found


def most(found: Mapping[str, Twins]) -> str:
    """Return in what most names differ, the first of several; nothing where none does."""
    return max(found, key=lambda way: len(found[way]), default="")


def of_qids(
    names: Sequence[str], known: Known, n_known: int, some: Sequence[str]
) -> tuple[str, Twins] | None:
    """Return in what most qids differ from known ones, and which they stand for.

    None where fewer than a tenth of either do; for what all begin or end with, fewer than half; and
    where one of several does, as ``1`` and ``001`` may be topics of two collections.

    Parameters
    ----------
    names : sequence of str
        None of them known.
    known : callable
        ``known(names)``: whether each is. A set of a million takes ten times their text.
    n_known : int
        How many are.
    some : sequence of str
        Some of these, as :func:`spread` has them.

    >>> def of(names, known):
    ...     return of_qids(names, lambda some: [one in known for one in some], len(known), known)
    >>> of(["051", "052", "x"], ["51", "52", "53"])
    ('leading zeros', {0: '51', 1: '52'})
    >>> of(["12.1", "12.2"], ["12", "13"]) is None
    True
    >>> of(["1", "2", "3"], ["001"]) is None
    True
    """
    more = affixes(names, some)
    found = twins(names, known, {**OF_QIDS, **more})
    way = most(found)
    share = HALF if way in more else TENTH
    n = len({*found[way].values()}) if way else 0
    if n < min(ENOUGH, len(names)) or n < share * min(len(names), n_known):
        return None
    return way, found[way]


def spread(n: int) -> Ints:
    """Return the places of all of `n` names, or of :data:`SPREAD` from the first to the last.

    >>> spread(3).tolist(), spread(25_000)[[0, 1, -1]].tolist()
    ([0, 1, 2], [0, 2, 24999])
    """
    return np.linspace(0, n - 1, min(n, SPREAD)).astype(np.int64)


def affixes(names: Sequence[str], known: Sequence[str]) -> dict[str, Way]:
    """Return what all of one sample begin or end with, and not all of another, as ways.

    >>> [*affixes(["x/a1.txt", "x/b2.txt"], ["a1", "b9", "c3"])]
    ["'x/' before them", "'.txt' after them"]
    >>> [*affixes(["xd1", "xd2"], ["d7", "d12"])]
    ["'x' before them"]
    >>> ways = affixes(["7", "12"], ["D7", "D31"])
    >>> [[*way("7")] for way in ways.values()]
    [['7', 'D7']]
    """
    if min(len(names), len(known)) < ENOUGH:
        return {}
    mine, theirs = _ends(names), _ends(known)
    before = _beyond(mine[0][::-1], theirs[0][::-1])[::-1]
    after = _beyond(mine[1], theirs[1])
    found: dict[str, Way] = {}
    if before:
        found[f"{before!r} before them"] = partial(_before, before)
    if after:
        found[f"{after!r} after them"] = partial(_after, after)
    return found


def _beyond(one: str, other: str) -> str:
    """Return by how much one of two ends is longer; nothing where they are different ones.

    >>> _beyond("a.txt", "a"), _beyond("", ".gz"), _beyond("a.txt", "b")
    ('.txt', '.gz', '')
    """
    short, long = sorted((one, other), key=len)
    return long[len(short) :] if long.startswith(short) else ""


def _before(affix: str, name: str) -> Iterator[str]:
    yield name.removeprefix(affix)
    yield affix + name


def _after(affix: str, name: str) -> Iterator[str]:
    yield name.removesuffix(affix)
    yield name + affix


def _ends(names: Sequence[str]) -> tuple[str, str]:
    """Return what all names begin with, and end with, without digits of numbers alike."""
    before, after = _common(names), _common([name[::-1] for name in names])[::-1]
    return before.rstrip("0123456789"), after.lstrip("0123456789")


def _common(names: Sequence[str]) -> str:
    """Return what all names begin with: the first and the last in order do."""
    first, last = min(names), max(names)
    differ = (at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differ, len(first))]


def shown(name: str, twin: str) -> str:
    r"""Return both so that one sees in what they differ.

    >>> print(shown("e\u0301", "\xe9"))
    'e\u0301' for '\xe9'
    """
    return f"{name!a} for {twin!a}"
