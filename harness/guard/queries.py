"""The queries of a run: how many documents each has, and which are missing or not judged."""

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
from . import spelling as spelling
from .parts import EXAMPLES, First, Firsts, Part, of_queries, placing, texts_at
from .registry import plural

if TYPE_CHECKING:
    from .facts import Facts

MOST = 1000
"""Queries without judgements whose qids are compared with those that are not answered, at most."""
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
    shallowest, median_depth, deepest : float
        Documents of a query; 0 if the run follows rows.
    at_deepest : int
        Queries of the largest depth.
    last_depth : int
        Of the query that ends the file.
    way : str
        In what qids differ from those of judged queries; ``""`` if none would be found otherwise.
    respelled : int
        Queries that would be found then.
    """

    rows: int = 0
    queries: int = 0
    missing: int = 0
    extra: int = 0
    shallowest: float = 0.0
    median_depth: float = 0.0
    deepest: float = 0.0
    at_deepest: int = 0
    last_depth: int = 0
    way: str = ""
    respelled: int = 0


class Queries:
    """Sums up the queries of a run, part by part.

    Parameters
    ----------
    qrels : Qrels
    first : Firsts

    Attributes
    ----------
    rows : int
        Rows that were read.
    rows_in_file : int
        Rows of the file that these are of, dropped ones among them.
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
        if not part.answered.all():
            missing = of_queries(part.qids, np.flatnonzero(~part.answered), NO_ROW)
            self.first.add("missing-queries", missing)

    def start_of(self, names: Sequence[str]) -> First:
        """Return some queries, with the first row of the first of them."""
        wanted = string_column(names[:1])
        for qids, starts in zip(self.qids, self.starts, strict=True):
            at = int(index_in(wanted, qids)[0])
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
        if missing and "missing-queries" not in self.first:  # the policy leaves them out
            self.first.add("missing-queries", self._unanswered())
        if self.extra:
            self._name_extra()
        way, respelled = self._respelled() if self.extra and missing else ("", 0)
        deepest = int(depths.max())
        self._name_shallow(deepest)
        return QueryFacts(
            self.rows, n, missing, self.extra, float(depths.min()), float(np.median(depths)),
            float(deepest), int((depths == deepest).sum()), int(depths[-1]), way, respelled,
        )  # fmt: skip

    def _unanswered(self) -> First:
        answered = np.zeros(self.qrels.n_queries, dtype=bool)
        for qids in self.qids:
            places = self.qrels.place(qids)
            answered[places[places >= 0]] = True
        return of_queries(self.qrels.qids, np.flatnonzero(~answered), NO_ROW)

    def _name_extra(self) -> None:
        for qids, starts in zip(self.qids, self.starts, strict=True):
            if self.first.lacks("extra-queries"):
                which = np.flatnonzero(self.qrels.place(qids) < 0)
                self.first.add("extra-queries", of_queries(qids, which, starts[which]))

    def _respelled(self) -> tuple[str, int]:
        """Return in what qids differ from those that are not answered, and how many do."""
        own = pa.concat_arrays([cast(qids, pa.large_string()) for qids in self.qids])
        extra = texts_at(own, np.flatnonzero(self.qrels.place(own) < 0)[:MOST])
        unanswered = np.flatnonzero(index_in(cast(self.qrels.qids, pa.large_string()), own) < 0)
        some = texts_at(self.qrels.qids, unanswered[spelling.spread(unanswered.size)])

        def known(names: Sequence[str]) -> Bools:
            place = self.qrels.place(string_column(names))
            return (place >= 0) & np.isin(place, unanswered, kind="sort")

        found = spelling.of_qids(extra, known, unanswered.size, some)
        if found is None:
            return "", 0
        way, twins = found
        some_extra = sorted(twins)[:EXAMPLES]
        names = tuple(spelling.shown(extra[at], twins[at]) for at in some_extra)
        first = self.start_of([extra[at] for at in some_extra])
        self.first.add("qid-spelling", first._replace(names=names))
        return way, len(twins)

    def _name_shallow(self, deepest: int) -> None:
        """Keep the first queries of fewer documents than others, and the last of the file."""
        for qids, depths, starts in zip(self.qids, self.depths, self.starts, strict=True):
            if self.first.lacks("depth"):
                which = np.flatnonzero((depths > 0) & (depths < deepest))[:EXAMPLES]
                some = of_queries(qids, which, starts[which])
                counts = depths[which].tolist()
                names = (f"{qid} ({n:,})" for qid, n in zip(some.names, counts, strict=True))
                self.first.add("depth", some._replace(names=tuple(names)))
        if "depth" in self.first:
            qid = as_bytes(self.qids[-1][-1:])[0].decode("utf-8", "replace")
            last = First((f"query {qid}",), self.rows_in_file - 1, (qid,))
            self.first.add("cut-last-query", last)


def findings(facts: Facts, place: str, renumbered: bool) -> Iterator[Finding]:
    """Yield queries that are missing, extra, or of another depth than others.

    `renumbered` topics are why some are missing and others extra.
    """
    run, found = facts.run.queries, placing(place, facts.run.first)
    if run.way:
        are = (
            "is that of a query that is" if run.respelled == 1 else "are those of queries that are"
        )
        what = (
            f"{run.respelled:,} of {plural(run.extra, 'qid')} without judgements {are} not "
            f"answered but for {run.way}"
        )
        yield found("qid-spelling", what, run.respelled)
    explained = renumbered and run.missing > 0 and run.extra > 0
    if run.missing > run.respelled and not explained:
        judged = plural(facts.judgements.queries, "judged query")
        yield found("missing-queries", f"no answer to {run.missing:,} of {judged}", run.missing)
    if run.extra > run.respelled and not explained:
        what = f"no judgement of {run.extra:,} of {plural(run.queries, 'query')}"
        yield found("extra-queries", what, run.extra)
    if run.shallowest == run.deepest:
        return
    alike = run.queries >= ENOUGH_QUERIES and run.at_deepest == run.queries - 1
    if alike and run.last_depth < run.deepest:
        what = (
            f"the last query has {run.last_depth:,} documents, every other one {run.deepest:,.0f}"
        )
        yield found("cut-last-query", what, 1)
    else:
        what = (
            f"queries have {run.shallowest:,.0f} to {run.deepest:,.0f} documents, "
            f"{run.median_depth:,g} in the middle"
        )
        yield found("depth", what, run.queries - run.at_deepest)
