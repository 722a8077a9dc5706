"""Rules about the queries of a run: which are missing, not judged, or cut short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ..core.aligned import Aligned
from ..core.arrow import as_bytes, cast, index_in, string_column
from ..core.ragged import Bools, Ints
from ..core.tables import Qrels
from ..errors import Finding
from ..reports.phrases import counted
from .parts import EXAMPLES, First, Firsts, Found, Part, of_queries, texts_at
from .spelling import of_qids, shown, spread

if TYPE_CHECKING:
    from .facts import Facts

MOST = 1000
"""Unjudged queries whose qids are compared with those of unanswered ones, at most."""
ENOUGH_QUERIES = 5
"""Queries below which equal depths may be chance."""
NO_ROW: Ints = np.full(1, -1)


@dataclass(frozen=True)
class QueryFacts:
    """Of the queries of a run.

    Parameters
    ----------
    rows, queries : int
        In the file.
    missing, extra : int
        Queries that are judged and not answered; answered and not judged.
    deepest, at_deepest, last_depth : int
        The most documents of a query, the queries that have as many, and the documents of the
        query that ends the file; 0 if the run follows rows.
    way : str
        How qids differ from those of judged queries; ``""`` if no other spelling is judged.
    respelled : int
        Queries that are judged in that spelling.
    """

    rows: int = 0
    queries: int = 0
    missing: int = 0
    extra: int = 0
    deepest: int = 0
    at_deepest: int = 0
    last_depth: int = 0
    way: str = ""
    respelled: int = 0


class Queries:
    """Sums up the queries of a run, part by part.

    Attributes
    ----------
    rows, rows_in_file : int
        Rows that were read; rows of the file, dropped ones among them.
    """

    def __init__(self, qrels: Qrels, first: Firsts) -> None:
        self.qrels, self.first = qrels, first
        self.qids: list[pa.Array] = []
        self.depths: list[Ints] = []
        self.starts: list[Ints] = []
        self.rows = self.rows_in_file = self.answered = self.extra = 0
        self.follows = False

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        self.follows = part.follows
        self.qids.append(part.run.qids)
        self.depths.append(part.lengths)
        self.starts.append(part.places(np.minimum(part.run.offsets[:-1], part.run.n_rows - 1)))
        self.rows += part.run.n_rows
        self.rows_in_file += part.n_source

    def aligned(self, part: Aligned) -> None:
        """Look at a part that was aligned."""
        self.answered += int(part.answered.sum())
        self.extra += part.n_extra

    def start_of(self, names: Sequence[str]) -> First:
        """Return some queries, with the first row of the first of them."""
        wanted = string_column(names[:1])
        for qids, starts in zip(self.qids, self.starts, strict=True):
            at = int(index_in(wanted, qids)[0]) if names else -1
            if at >= 0:
                words = () if self.follows else tuple(names[:1])
                return First(tuple(names), int(starts[at]), words)
        return First(tuple(names))

    def facts(self) -> QueryFacts:
        """Return the facts of all parts, and keep their examples."""
        depths = np.concatenate([*self.depths, np.zeros(0, np.int64)])
        depths = depths[depths > 0]
        n, missing = depths.size, self.qrels.n_queries - self.answered
        if self.follows or not n:
            return QueryFacts(self.rows, n, missing, self.extra)
        own = pa.concat_arrays([cast(qids, pa.large_string()) for qids in self.qids])
        judged = cast(self.qrels.qids, pa.large_string())
        unanswered = np.flatnonzero(index_in(judged, own) < 0) if missing else NO_ROW[:0]
        unjudged = np.flatnonzero(self.qrels.place(own) < 0) if self.extra else NO_ROW[:0]
        self.first.add("missing-queries", of_queries(self.qrels.qids, unanswered, NO_ROW))
        starts = np.concatenate(self.starts)
        self.first.add("extra-queries", of_queries(own, unjudged, starts[unjudged]))
        way, respelled = self._respelled(own, unjudged[:MOST], unanswered)
        deepest = int(depths.max())
        last = as_bytes(self.qids[-1][-1:])[0].decode("utf-8", "replace")
        self.first.add("cut-last-query", First((f"query {last}",), self.rows_in_file - 1, (last,)))
        return QueryFacts(
            self.rows, n, missing, self.extra, deepest, int((depths == deepest).sum()),
            int(depths[-1]), way, respelled,
        )  # fmt: skip

    def _respelled(self, own: pa.Array, unjudged: Ints, unanswered: Ints) -> tuple[str, int]:
        """Return how qids differ from those that are not answered, and how many do."""
        if not unjudged.size or not unanswered.size:
            return "", 0
        names = texts_at(own, unjudged)

        def known(names: Sequence[str]) -> Bools:
            place = self.qrels.place(string_column(names))
            return (place >= 0) & np.isin(place, unanswered)

        some = texts_at(self.qrels.qids, unanswered[spread(unanswered.size)])
        found = of_qids(names, known, unanswered.size, some)
        if found is None:
            return "", 0
        way, twins = found
        examples = sorted(twins)[:EXAMPLES]
        first = self.start_of([names[at] for at in examples])
        both = tuple(shown(names[at], twins[at]) for at in examples)
        self.first.add("qid-spelling", first._replace(names=both))
        return way, len(twins)


def findings(facts: Facts, found: Found) -> Iterator[Finding]:
    """Yield queries that are missing, extra, or cut short."""
    run = facts.run.queries
    if facts.run.follows:
        return
    if run.way:
        what = f"{run.respelled:,} of {counted(run.extra, 'unjudged qid')} "
        what += f"differ from unanswered queries only in {run.way}"
        yield found("qid-spelling", what, run.respelled)
    if run.missing > run.respelled:
        judged = counted(facts.judgements.queries, "judged query", "judged queries")
        yield found("missing-queries", f"no answer to {run.missing:,} of {judged}", run.missing)
    if run.extra > run.respelled:
        what = f"no judgement of {run.extra:,} of {counted(run.queries, 'query', 'queries')}"
        yield found("extra-queries", what, run.extra)
    alike = run.queries >= ENOUGH_QUERIES and run.at_deepest == run.queries - 1
    if alike and run.last_depth < run.deepest:
        depths = f"{counted(run.last_depth, 'document')}, every other one {run.deepest:,}"
        yield found("cut-last-query", f"the last query has {depths}", 1)
