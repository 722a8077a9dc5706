"""Whether the documents of a run are known to the judgements, for its queries or for others."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..core.hashing import splitmix64
from ..core.policy import Policy
from ..core.ragged import Ints, frozen
from ..core.tables import Qrels
from .first import EXAMPLES, First
from .judged import TOP
from .part import LOOKED_AT, Part
from .respelled import Respelled

WHOLE = 100_000
"""Rows of a run up to which all docnos are looked for among the judgements."""
_FEW = 4
"""Queries that are looked at first for the first of something."""
SAMPLE = 1024
"""Rows of a later part whose docnos are looked for; so of the first part, the second, the fourth,
the eighth..., as the share of those known settles soon."""


class Docnos:
    """Sums up whose docnos are known, part by part.

    Parameters
    ----------
    qrels : Qrels
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.parts = self.rows = self.looked_at = self.known = 0
        self.first_unknown = First()
        self.respelled = Respelled(qrels)

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        self.parts += 1
        if part.follows:
            return
        self.rows += part.run.n_rows
        hashes, some = part.run.docnos.hashes, None
        if self.rows > WHOLE:
            if self.parts & (self.parts - 1):
                return
            some = sample(part.run.n_rows)
            hashes = hashes[some]
        known = self.qrels.knows(hashes)
        n_known = int(np.count_nonzero(known))
        self.looked_at += known.size
        self.known += n_known
        self.respelled.run(part, some, known, n_known)
        if not self.first_unknown.full and n_known < known.size:
            unknown = np.flatnonzero(~known)[:EXAMPLES]
            rows = unknown if some is None else some[unknown]
            self.first_unknown = self.first_unknown.more(_named(part, rows))

    def facts(self) -> dict[str, Any]:
        """Return what :class:`~harness.guard.facts.RunFacts` has of it."""
        also = self.respelled.facts(self.known)
        return {"looked_at": self.looked_at, "known": self.known, **also}

    def first(self) -> dict[str, First]:
        """Return the first of each thing, by rule."""
        return {"unknown-docnos": self.first_unknown, **self.respelled.first(self.known)}


def strangers(begin: Part, policy: Policy, any_own: bool) -> dict[str, First]:
    """Return documents of the first part that are not judged for the queries that they answer.

    Those that are judged for others are of the first ranks, unless none at all is for its own,
    as `any_own` says of the whole run.
    """
    found: dict[str, First] = {}
    for n_queries in (_FEW, LOOKED_AT):
        found = _strangers(begin, policy, any_own, n_queries)
        if all(one.full for one in found.values()):
            break
    return found


def _strangers(begin: Part, policy: Policy, any_own: bool, n_queries: int) -> dict[str, First]:
    if any_own:
        rows = np.sort(begin.top(n_queries, TOP, policy))
        rows = rows[begin.qrels.knows(begin.run.docnos.hashes[rows])]
        return {"other-topics": _named(begin, rows[~begin.own(rows)][:EXAMPLES])}
    n_rows = int(begin.run.offsets[min(n_queries, begin.run.n_queries)])
    others = np.flatnonzero(begin.qrels.knows(begin.run.docnos.hashes[:n_rows]))[:LOOKED_AT]
    first = np.arange(min(n_rows, LOOKED_AT))
    others, first = (rows[~begin.own(rows)][:EXAMPLES] for rows in (others, first))
    unjudged = _named(begin, first)
    return {
        "other-topics": _named(begin, others),
        "other-collection": unjudged,
        "nothing-judged": unjudged,
    }


def _named(part: Part, rows: Ints) -> First:
    return part.documents(rows, [""] * rows.size)


@lru_cache(maxsize=8)
def sample(n_rows: int) -> Ints:
    """Return rows that fall in step with nothing: all, or :data:`SAMPLE` of them at most.

    >>> sample(3).tolist(), sample(100_000)[:3].tolist()
    ([0, 1, 2], [19, 60, 99])
    """
    if n_rows <= SAMPLE:
        return frozen(np.arange(n_rows))
    drawn = splitmix64(np.arange(SAMPLE, dtype=np.uint64)) % np.uint64(n_rows)
    rows: Ints = np.sort(drawn).view(np.int64)
    return frozen(rows[np.append(True, rows[1:] != rows[:-1])])
