"""Docnos of a run that would be judged, were they written as the judgements write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.arrow import string_column, take
from ..core.docnos import Docnos
from ..core.hashing import hash_strings, string_views
from ..core.ragged import Bools, Ints
from ..core.tables import Qrels
from .first import EXAMPLES, First, docnos_at
from .part import Part
from .spelling import NORMALISED, OF_DOCNOS, Twins, Way, affixes, most, shown, twins

MANY = 0.1
"""Share of the docnos found under another spelling, among all found, from which on it is told: two
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
    differences in the names of a few queries' first documents, and in all where these have some.

    Parameters
    ----------
    qrels : Qrels
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.counts: dict[str, int] = {}
        self.own: dict[str, int] = {}
        self.firsts: dict[str, First] = {}
        self.ways: Mapping[str, Way] | None = None

    def run(self, part: Part, looked_at: Ints | None, known: Bools, n_known: int) -> None:
        """Look at those of some rows (None: all) whose docnos are not known."""
        n_unknown = known.size - n_known
        if not n_unknown or part.run.docnos.strings is None or not self.qrels.n_rows:
            return
        if _has_beyond_ascii(part):
            rows = _rows(looked_at, known)
            self._add(part, rows[_are_beyond_ascii(part)[rows]], NORMALISED)
        if self.ways is None:
            some = _heads(part, looked_at, known)[:SOME] if n_known else _rows(looked_at, known)
            self.ways = self._ways(part, some[:ALL]) if some.size >= FEW else {}
        if self.ways:
            self._add(part, _rows(looked_at, known), self.ways)

    def _ways(self, part: Part, rows: Ints) -> Mapping[str, Way]:
        """Return in what most of a few names differ from known ones; nothing where none does."""
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
            self.counts[way] = self.counts.get(way, 0) + len(found)
            self.own[way] = self.own.get(way, 0) + self._n_own(part, rows, found)
            first = self.firsts.get(way, First())
            if not first.full:
                places = sorted(found)[:EXAMPLES]
                said = (shown(names[at], found[at]) for at in places)
                self.firsts[way] = first.more(part.documents(rows[places], said))

    def _n_own(self, part: Part, rows: Ints, found: Twins) -> int:
        """Return how many are judged for the query that they answer."""
        names = string_column(found.values())
        at = rows[np.fromiter(found, np.int64, len(found))]
        query = np.searchsorted(part.run.offsets, at, side="right") - 1
        codes = self.qrels.place(take(part.run.qids, query))
        return int(self.qrels.find(codes, Docnos(names, np.array([0, len(names)])))[0].size)

    def facts(self, known: int) -> dict[str, Any]:
        """Return what :class:`~harness.guard.facts.RunFacts` has of it; `known` as it has it."""
        way = self._told(known)
        return {"respelled": (way, self.counts[way]) if way else ()}

    def first(self, known: int) -> dict[str, First]:
        """Return the first of them, by rule."""
        way = self._told(known)
        return {"docno-spelling": self.firsts[way]} if way else {}

    def _told(self, known: int) -> str:
        told = {
            way: n
            for way, n in self.counts.items()
            if way in NORMALISED or (n >= max(FEW, MANY * (known + n)) and self._fits(way))
        }
        return max(told, key=lambda way: told[way], default="")

    def _fits(self, way: str) -> bool:
        """Whether more of them than by chance are judged for the query that they answer."""
        judged = self.qrels
        chance = judged.n_rows / (judged.n_documents * judged.n_queries)
        share = max(MANY, min(2 * chance, OWN_MANY))
        return self.own[way] >= max(OWN_FEW, share * self.counts[way])


def _rows(looked_at: Ints | None, known: Bools) -> Ints:
    """Return the rows whose docnos are not known."""
    unknown = np.flatnonzero(~known)
    rows: Ints = unknown if looked_at is None else looked_at[unknown]
    return rows


def _heads(part: Part, looked_at: Ints | None, known: Bools) -> Ints:
    """Return the first rows of the first queries, more often judged than others, if not known."""
    starts = part.run.offsets[:-1][part.lengths > 0][:QUERIES]
    rows = np.minimum(starts[:, None] + np.arange(HEAD), part.run.n_rows - 1).ravel()
    at = rows if looked_at is None else np.searchsorted(looked_at, rows)
    at = np.unique(np.minimum(at, known.size - 1))
    at = at[~known[at]]
    chosen: Ints = at if looked_at is None else looked_at[at]
    return chosen


def _has_beyond_ascii(part: Part) -> bool:
    offsets, data = string_views(part.run.docnos.strings)
    return bool(data[int(offsets[0]) : int(offsets[-1])].max(initial=0) >= BEYOND)


def _are_beyond_ascii(part: Part) -> Bools:
    """Return which docnos hold signs beyond ASCII."""
    offsets, data = string_views(part.run.docnos.strings)
    begin = int(offsets[0])
    signs = np.flatnonzero(data[begin : int(offsets[-1])] >= BEYOND) + begin
    has: Bools = np.zeros(offsets.size, dtype=bool)
    has[np.searchsorted(offsets, signs, side="right") - 1] = True
    return has[:-1]
