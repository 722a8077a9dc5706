"""Which queries a run answers, and with how many documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.aligned import Aligned
from ..core.arrow import as_bytes, cast, index_in, string_column
from ..core.ragged import Bools, Ints
from ..core.tables import Qrels
from . import spelling
from .first import EXAMPLES, First, of_queries, texts_at
from .part import Part

MOST = 1000
"""Queries without judgements whose qids are held against those that are not answered, at most."""


class Queries:
    """Sums up the queries of a run, part by part.

    Parameters
    ----------
    qrels : Qrels

    Attributes
    ----------
    rows, n_read : int
        Rows and queries that were read.
    rows_in_file : int
        Rows of the file that these are of, dropped ones among them.
    n_aligned : int
        Queries of the dataset that the run was aligned to.
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.qids: list[pa.Array] = []
        self.depths: list[Ints] = []
        self.starts: list[Ints] = []
        self.rows = self.rows_in_file = 0
        self.n_read = self.n_aligned = self.answered = self.extra = 0
        self.first_missing = First()
        self.follows = False

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        self.follows = part.follows
        self.qids.append(part.run.qids)
        self.depths.append(part.lengths)
        self.starts.append(part.places(np.minimum(part.run.offsets[:-1], part.run.n_rows - 1)))
        self.n_read += part.run.n_queries
        self.rows += part.run.n_rows
        self.rows_in_file += part.n_source

    def aligned(self, part: Aligned) -> None:
        """Look at a part that was aligned."""
        self.n_aligned += part.n_queries
        self.answered += int(part.answered.sum())
        self.extra += part.n_extra
        if not self.first_missing.full and not part.answered.all():
            missing = np.flatnonzero(~part.answered)
            # the run has no row of them
            self.first_missing = self.first_missing.more(
                of_queries(part.qids, missing, np.full(1, -1))
            )

    def start_of(self, names: Sequence[str]) -> First:
        """Return some queries, with the first row of the first of them."""
        wanted = string_column(names[:1])
        for qids, starts in zip(self.qids, self.starts, strict=True):
            at = int(index_in(wanted, qids)[0])
            if at >= 0:
                words = () if self.follows else tuple(names[:1])
                return First(tuple(names), int(starts[at]), words)
        return First(tuple(names))

    def facts(self) -> dict[str, Any]:
        """Return what :class:`~harness.guard.facts.RunFacts` has of it."""
        depths = np.concatenate([*self.depths, np.zeros(0, np.int64)])
        depths = depths[depths > 0]
        n, last = depths.size, int(depths[-1]) if depths.size else 0
        found: dict[str, Any] = {
            "rows": self.rows,
            "queries": n,
            "missing": self.qrels.n_queries - self.answered,
            "extra": self.extra,
        }
        if respelled := self._respelled():
            found["respelled_qids"] = respelled[:2]
        if n and not self.follows:
            depths.sort()
            found |= {
                "shallowest": float(depths[0]),
                "median_depth": float(depths[(n - 1) // 2] + depths[n // 2]) / 2,
                "deepest": float(depths[-1]),
                "at_deepest": n - int(np.searchsorted(depths, depths[-1])),
                "last_depth": last,
            }
        return found

    def first(self) -> dict[str, First]:
        """Return the first of each thing, by rule."""
        found = {"missing-queries": self.first_missing}
        if self.answered < self.qrels.n_queries and not self.first_missing.names:
            found["missing-queries"] = self._left_out()
        if self.extra:
            found["extra-queries"] = self._first_extra()
        if respelled := self._respelled():
            found["qid-spelling"] = respelled[2]
        if self.depths and not self.follows:
            deepest = max(int(depths.max()) for depths in self.depths)
            found["depth"] = self._first_below(deepest)
            if found["depth"].names:
                found["cut-last-query"] = self._last()
        return found

    def _respelled(self) -> tuple[str, int, First] | None:
        """Return in what qids differ from those that are not answered, how many, and the first."""
        missing = self.qrels.n_queries - self.answered
        if not (self.extra and missing) or self.follows:
            return None
        own = pa.concat_arrays([cast(qids, pa.large_string()) for qids in self.qids])
        extra = texts_at(own, np.flatnonzero(self.qrels.place(own) < 0)[:MOST])
        theirs = cast(self.qrels.qids, pa.large_string())
        lacking = np.flatnonzero(index_in(theirs, own) < 0)
        some = texts_at(theirs, lacking[spelling.spread(lacking.size)])

        def known(names: Sequence[str]) -> Bools:
            place = self.qrels.place(string_column(names))
            return (place >= 0) & np.isin(place, lacking, kind="sort")

        found = spelling.of_qids(extra, known, lacking.size, some)
        if found is None:
            return None
        way, twins = found
        first = self.start_of([extra[at] for at in sorted(twins)[:EXAMPLES]])
        names = (spelling.shown(extra[at], twins[at]) for at in sorted(twins)[:EXAMPLES])
        return way, len(twins), first._replace(names=tuple(names))

    def _left_out(self) -> First:
        """Return the first queries that the policy leaves out, as the run has no row of them."""
        if self.follows:
            return self.first_missing
        answered = np.zeros(self.qrels.n_queries, dtype=bool)
        for qids in self.qids:
            places = self.qrels.place(qids)
            answered[places[places >= 0]] = True
        return of_queries(self.qrels.qids, np.flatnonzero(~answered), np.full(1, -1))

    def _first_extra(self) -> First:
        found = First()
        for qids, starts in zip(self.qids, self.starts, strict=True):
            if not found.full:
                which = np.flatnonzero(self.qrels.place(qids) < 0)
                found = found.more(of_queries(qids, which, starts[which]))
        return found

    def _first_below(self, deepest: int) -> First:
        """Return the first queries of fewer documents than others."""
        found = First()
        for qids, depths, starts in zip(self.qids, self.depths, self.starts, strict=True):
            if not found.full:
                which = np.flatnonzero((depths > 0) & (depths < deepest))[:EXAMPLES]
                some = of_queries(qids, which, starts[which])
                counts = depths[which].tolist()
                names = [f"{qid} ({n:,})" for qid, n in zip(some.names, counts, strict=True)]
                found = found.more(some._replace(names=tuple(names)))
        return found

    def _last(self) -> First:
        """Return the query that ends the file, at the last row."""
        qid = as_bytes(self.qids[-1][-1:])[0].decode("utf-8", "replace")
        return First((f"query {qid}",), self.rows_in_file - 1, (qid,))
