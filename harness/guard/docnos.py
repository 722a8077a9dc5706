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

WHOLE = 100_000
"""Rows of a run up to which all docnos are looked for among the judgements."""
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

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        self.parts += 1
        if part.follows:
            return
        self.rows += part.run.n_rows
        if self.rows <= WHOLE:
            some = np.arange(part.run.n_rows)
        elif self.parts & (self.parts - 1):
            return
        else:
            some = sample(part.run.n_rows)
        known = self.qrels.knows(part.run.docnos.hashes[some])
        self.looked_at += some.size
        self.known += int(known.sum())
        if not self.first_unknown.full and not known.all():
            unknown = some[~known][:EXAMPLES]
            self.first_unknown = self.first_unknown.more(_named(part, unknown))

    def facts(self) -> dict[str, Any]:
        """Return what :class:`~harness.guard.facts.RunFacts` has of it."""
        return {"looked_at": self.looked_at, "known": self.known}

    def first(self) -> dict[str, First]:
        """Return the first of each thing, by rule."""
        return {"unknown-docnos": self.first_unknown}


def strangers(begin: Part, policy: Policy) -> dict[str, First]:
    """Return documents of the first part that are not judged for the queries that they answer.

    Those that are judged for others are of the first ranks, unless none at all is for its own.
    """
    own = begin.judged()[0]
    n_rows = int(begin.run.offsets[min(LOOKED_AT, begin.run.n_queries)])
    others = begin.qrels.knows(begin.run.docnos.hashes[:n_rows])
    others[own] = False
    none = np.ones(n_rows, dtype=bool)
    none[own] = False
    unjudged = _named(begin, np.flatnonzero(none)[:EXAMPLES])
    if own.size:
        others = np.isin(np.arange(n_rows), _top(begin, policy)) & others
    return {
        "other-topics": _named(begin, np.flatnonzero(others)[:EXAMPLES]),
        "other-collection": unjudged,
        "nothing-judged": unjudged,
    }


def _top(begin: Part, policy: Policy) -> Ints:
    """Return the rows of the first queries at the first ranks."""
    n = begin.lengths[:LOOKED_AT].tolist()
    rows = (begin.at_ranks(q, range(1, min(TOP, n[q]) + 1), policy) for q in range(len(n)))
    return np.concatenate([*rows, np.zeros(0, np.int64)])


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
