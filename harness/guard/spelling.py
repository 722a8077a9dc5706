"""Names that would be those of the judgements, were they written as these are."""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from unicodedata import normalize
from urllib.parse import quote, unquote

import numpy as np

from ..core.arrow import string_column, take
from ..core.hashing import hash_strings, string_views
from ..core.ragged import Bools, Ints
from ..core.tables import Docnos, Qrels
from .parts import EXAMPLES, Firsts, Part, docnos_at

Twins = dict[int, str]
"""By the place of a name among others, the known name that it stands for."""
Known = Callable[[Sequence[str]], Iterable[bool]]
Way = Callable[[str], Iterable[str]]

ENOUGH = 2
"""Names from which on what all begin or end with says something."""
TENTH, HALF = 0.1, 0.5
"""Share of the names, or of the known ones, that must agree; and for a common beginning or end."""
SPREAD = 10_000
"""Known names that tell what all begin or end with, at most."""
UNSEEN = "\ufeff\u200b\u2060\xa0 \t"
"""A byte order mark, blanks, and what takes no room."""
_LONGEST = 12
"""Digits of a number that is written with leading zeros, at most."""


def _normalised(name: str) -> Iterable[str]:
    return () if name.isascii() else (normalize("NFC", name), normalize("NFD", name))


def _cased(name: str) -> Iterable[str]:
    return name.lower(), name.upper(), name.title(), name.capitalize()


def _quoted(name: str) -> Iterable[str]:
    return name.strip("\"'"), f'"{name}"'


def _without_unseen(name: str) -> Iterable[str]:
    return (name.strip(UNSEEN),)


def _with_zeros(name: str) -> Iterable[str]:
    if not name.isdecimal() or len(name) > _LONGEST:
        return ()
    return name.lstrip("0") or "0", *(name.zfill(n) for n in range(len(name) + 1, _LONGEST + 1))


def _percent(name: str) -> Iterable[str]:
    return () if name.isalnum() else (unquote(name), quote(name))


def _of_a_file(name: str) -> Iterable[str]:
    base = name.rpartition("/")[2]
    return base, os.path.splitext(base)[0], os.path.splitext(name)[0]


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
        way = f"{before!r} before them"
        found[way] = lambda name: (name.removeprefix(before), before + name)
    if after:
        way = f"{after!r} after them"
        found[way] = lambda name: (name.removesuffix(after), name + after)
    return found


def _beyond(one: str, other: str) -> str:
    """Return by how much one of two ends is longer; nothing where they are different ones.

    >>> _beyond("a.txt", "a"), _beyond("", ".gz"), _beyond("a.txt", "b")
    ('.txt', '.gz', '')
    """
    short, long = sorted((one, other), key=len)
    return long[len(short) :] if long.startswith(short) else ""


def _ends(names: Sequence[str]) -> tuple[str, str]:
    """Return what all names begin with, and end with, without digits of numbers alike."""
    before, after = _common(names), _common([name[::-1] for name in names])[::-1]
    return before.rstrip("0123456789"), after.lstrip("0123456789")


def _common(names: Sequence[str]) -> str:
    """Return what all names begin with."""
    return os.path.commonprefix([*names])  # noqa: RUF071 - of names, not of folders


def shown(name: str, twin: str) -> str:
    r"""Return both so that one sees in what they differ.

    >>> print(shown("e\u0301", "\xe9"))
    'e\u0301' for '\xe9'
    """
    return f"{name!a} for {twin!a}"


MANY = 0.1
"""Share of the docnos found under another spelling, among all found, from which on it counts: two
documents of a collection may differ in case alone, but few do."""
FEW = 3
"""How many these must be; and how many of the first documents must not be known."""
OWN_FEW, OWN_MANY = 2, 0.5
"""How many of them must be judged for the query that they answer: so many, and a tenth, and twice
what chance gives, but no more than half. Numbers are names in many collections: 'D7' of one and
'7' of another agree by chance, and then seldom for the query."""
QUERIES, HEAD, SOME, ALL = 16, 3, 12, 256
"""Queries whose first documents are looked at; how many of each; how many of these that are not
known are held against the judgements; how many rows, where nothing at all is known."""
BEYOND = 0x80
"""Bytes from which on a sign is none of ASCII."""


class Respelled:
    """Sums up docnos that differ from judged ones in how they are written, part by part.

    Other normalisations of Unicode are looked for in all that is looked at; other
    differences in the names of a few queries' first documents, and in all if these have some.

    Parameters
    ----------
    qrels : Qrels
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.counts: Counter[str] = Counter()
        self.own: Counter[str] = Counter()
        self.firsts = Firsts()
        self.ways: Mapping[str, Way] | None = None

    def run(self, part: Part, looked_at: Ints, unknown: Ints) -> None:
        """Look at those of some rows whose docnos are not known."""
        if not unknown.size or part.run.docnos.strings is None or not self.qrels.n_rows:
            return
        beyond_ascii = unknown[_are_beyond_ascii(part)[unknown]]
        if beyond_ascii.size:
            self._add(part, beyond_ascii, NORMALISED)
        if self.ways is None:
            some = unknown
            if unknown.size < looked_at.size:
                some = np.intersect1d(unknown, _heads(part, looked_at))[:SOME]
            self.ways = self._ways(part, some[:ALL]) if some.size >= FEW else {}
        if self.ways:
            self._add(part, unknown, self.ways)

    def _ways(self, part: Part, rows: Ints) -> Mapping[str, Way]:
        """Return in what most of a few names differ from known ones; nothing if none does."""
        names = docnos_at(part.run.docnos, rows)
        n = self.qrels.n_rows
        theirs = docnos_at(self.qrels.docnos, np.arange(0, n, max(n // rows.size, 1))[: rows.size])
        ways = {**OF_DOCNOS, **affixes(names, theirs)}
        way = most(twins(names, self._known, ways))
        return {way: ways[way]} if way else {}

    def _known(self, names: Sequence[str]) -> Bools:
        return self.qrels.knows(hash_strings(string_column(names)))

    def _add(self, part: Part, rows: Ints, ways: Mapping[str, Way]) -> None:
        names = docnos_at(part.run.docnos, rows)
        for way, found in twins(names, self._known, ways).items():
            self.counts[way] += len(found)
            self.own[way] += self._n_own(part, rows, found)
            places = sorted(found)[:EXAMPLES]
            notes = [shown(names[at], found[at]) for at in places]
            self.firsts.add(way, part.documents(rows[places], notes))

    def _n_own(self, part: Part, rows: Ints, found: Twins) -> int:
        """Return how many are judged for the query that they answer."""
        names = string_column(found.values())
        query = part.query(rows[np.fromiter(found, np.int64, len(found))])
        codes = self.qrels.place(take(part.run.qids, query))
        return int(self.qrels.find(codes, Docnos(names, np.array([0, len(names)])))[0].size)

    def facts(self, known: int, first: Firsts) -> tuple[str, int]:
        """Return in what docnos differ and how many do, and keep examples; `known` are not."""
        fitting = {
            way: n
            for way, n in self.counts.items()
            if way in NORMALISED or (n >= max(FEW, MANY * (known + n)) and self._fits(way))
        }
        if not fitting:
            return "", 0
        way = max(fitting, key=lambda way: fitting[way])
        first.add("docno-spelling", self.firsts[way])
        return way, fitting[way]

    def _fits(self, way: str) -> bool:
        """Whether more of them than by chance are judged for the query that they answer."""
        judged = self.qrels
        chance = judged.n_rows / (judged.n_documents * judged.n_queries)
        share = max(MANY, min(2 * chance, OWN_MANY))
        return self.own[way] >= max(OWN_FEW, share * self.counts[way])


def _heads(part: Part, looked_at: Ints) -> Ints:
    """Return the first rows of the first queries, which are judged more often than others."""
    starts = part.run.offsets[:-1][part.lengths > 0][:QUERIES]
    rows = np.minimum(starts[:, None] + np.arange(HEAD), part.run.n_rows - 1).ravel()
    found: Ints = looked_at[np.minimum(np.searchsorted(looked_at, rows), looked_at.size - 1)]
    return found


def _are_beyond_ascii(part: Part) -> Bools:
    """Return which docnos hold signs beyond ASCII."""
    offsets, data = string_views(part.run.docnos.strings)
    begin = int(offsets[0])
    signs = np.flatnonzero(data[begin : int(offsets[-1])] >= BEYOND) + begin
    has: Bools = np.zeros(offsets.size, dtype=bool)
    has[np.searchsorted(offsets, signs, side="right") - 1] = True
    return has[:-1]
