"""Rules about the queries and documents of a run: missing, not judged, or spelled otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ..config.cells import Cell
from ..core.align import ranking_hash
from ..core.aligned import Aligned
from ..core.arrow import as_bytes, cast, index_in, select, string_column, take, unique
from ..core.hashing import hash_strings
from ..core.ragged import Bools, Ints
from ..core.tables import Docnos, Qrels
from ..errors import Finding, HarnessError
from ..readers import trec as trec
from ..readers.columns import Refused, read_block
from ..readers.source import Source
from ..reports.phrases import counted
from .examples import Examples, ExamplesByRule, MakeFinding, docnos_at, of_queries, short, texts_at
from .registry import RULES, SHOWN, by_share, finding, percent
from .spelling import OF_DOCNOS, affixes, of_qids, shown, spelled_as, spread

if TYPE_CHECKING:
    from .facts import Facts, Part

TOP = 10
"""Ranks that are checked for unjudged documents: most papers report these."""
MANY = 0.1
"""Share of unjudged documents at rank 10 or before from which on that is reported."""
SAMPLE = 1024
"""Rows of a part that are matched with the docnos of the qrels."""
NEARLY_ALL, DENSE = 0.9, 20
"""The same share in a run of another round, and the judgements a query that it takes."""
ENOUGH_ROWS, ENOUGH_QUERIES = 100, 5
"""Docnos and queries below which it may be chance that all are unjudged, or that depths agree."""
SOME_KNOWN = 0.01
"""Share of docnos judged for other queries from which on queries may be numbered otherwise."""
RESPELLED, OWN, NAMES = 3, 0.25, 64
"""Docnos that must be known in another spelling; the share of these that must be judged for their
query, as '7' of one collection and 'D7' of another agree by chance; docnos that are looked at."""
MOST = 1000
"""Unjudged queries whose qids are compared with those of unanswered ones, at most."""
NO_ROW: Ints = np.full(1, -1)


@dataclass(frozen=True)
class QueryFacts:
    """Facts about the queries of a run; empty after `extra` if the run follows rows."""

    rows: int = 0
    queries: int = 0
    missing: int = 0
    """Judged queries that are not answered."""
    extra: int = 0
    """Answered queries that are not judged."""
    deepest: int = 0
    """The most documents of a query."""
    at_deepest: int = 0
    """Queries with as many."""
    last_depth: int = 0
    """Documents of the query that ends the file."""
    way: str = ""
    """How qids differ from those of judged queries; ``""`` if no other spelling is judged."""
    respelled: int = 0
    """Queries that are judged in that spelling."""
    ranking: str = ""
    """:func:`harness.core.align.ranking_hash`; ``""`` if the run follows rows."""


class Queries:
    """Sums up the queries of a run, part by part."""

    def __init__(self, qrels: Qrels, first: ExamplesByRule) -> None:
        self.qrels, self.first = qrels, first
        self.qids: list[pa.Array] = []
        self.depths: list[Ints] = []
        self.starts: list[Ints] = []
        self.rows = self.rows_in_file = self.answered = self.extra = self.ranking = 0
        self.follows = False

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        self.follows = part.follows
        self.qids.append(part.run.qids)
        self.depths.append(part.lengths)
        self.starts.append(part.places(np.minimum(part.run.offsets[:-1], part.run.n_rows - 1)))
        self.rows += part.run.n_rows
        self.ranking += 0 if part.follows else ranking_hash(part.run)
        self.rows_in_file += part.n_source

    def aligned(self, part: Aligned) -> None:
        """Look at a part that was aligned."""
        self.answered += int(part.answered.sum())
        self.extra += part.n_extra

    def start_of(self, names: Sequence[str]) -> Examples:
        """Return some queries, with the first row of the first of them."""
        wanted = string_column(names[:1])
        for qids, starts in zip(self.qids, self.starts, strict=True):
            at = int(index_in(wanted, qids)[0]) if names else -1
            if at >= 0:
                words = () if self.follows else tuple(names[:1])
                return Examples(tuple(names), int(starts[at]), words)
        return Examples(tuple(names))

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
        cut = Examples((f"query {last}",), self.rows_in_file - 1, (last,))
        self.first.add("cut-last-query", cut)
        return QueryFacts(
            self.rows, n, missing, self.extra, deepest, int((depths == deepest).sum()),
            int(depths[-1]), way, respelled, f"{self.ranking % 2**64:016x}",
        )  # fmt: skip

    def _respelled(self, own: pa.Array, unjudged: Ints, unanswered: Ints) -> tuple[str, int]:
        """Return how qids differ from those that are not answered, and how many do."""
        if not unjudged.size or not unanswered.size:
            return "", 0
        names = texts_at(own, unjudged)

        def known(names: Sequence[str]) -> Bools:
            return np.isin(self.qrels.place(string_column(names)), unanswered)

        some = texts_at(self.qrels.qids, unanswered[spread(unanswered.size)])
        found = of_qids(names, known, unanswered.size, some)
        if found is None:
            return "", 0
        way, known_as = found
        at = sorted(known_as)[:SHOWN]
        first = self.start_of([names[one] for one in at])
        both = tuple(shown(names[one], known_as[one]) for one in at)
        self.first.add("qid-spelling", first._replace(names=both))
        return way, len(known_as)


@dataclass
class DocumentFacts:
    """Facts about the documents of a run that does not follow rows."""

    judged: int = 0
    """Retrieved documents that are judged."""
    shown: int = 0
    """Documents at rank 10 or before."""
    judged_shown: int = 0
    looked_at: int = 0
    """Rows whose docno was looked up among all judgements."""
    known: int = 0
    """Rows whose docno is judged for some query."""
    way: str = ""
    """How docnos differ from those of the qrels; ``""`` if no other spelling is known."""
    respelled: int = 0
    """Unknown documents at rank 10 or before of the first queries that are known so spelled."""
    unknown: int = 0
    identical: int = 0
    """Documents whose docno equals the qid, if the policy keeps them."""


class Documents:
    """Sums up which documents are judged, part by part, in `facts`."""

    def __init__(self, qrels: Qrels, first: ExamplesByRule) -> None:
        self.qrels, self.first = qrels, first
        self.facts = DocumentFacts()

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        rows, n = np.arange(part.run.n_rows), part.run.n_rows
        if n > SAMPLE:  # at random, as even steps could meet one rank only
            rows = np.random.default_rng(0).integers(0, n, SAMPLE)
        known = part.known(rows)
        identical = part.run.identical_ids()
        if identical.size:
            self.facts.identical += identical.size
            self.first.add("identical-ids", part.documents(identical[:SHOWN]))
        self.facts.looked_at += known.size
        self.facts.known += int(known.sum())

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        judged = aligned.grade >= 0
        self.facts.judged += int(judged.sum())
        self.facts.judged_shown += int((judged & (aligned.rank <= TOP)).sum())
        self.facts.shown += int(np.minimum(aligned.n_retrieved, TOP).sum())
        if aligned.policy.drop_identical_ids:
            self.facts.identical = 0

    def end(self, begin: Part) -> None:
        """Look at the first rows of the first queries, and keep examples."""
        if not self.qrels.n_rows:
            return
        rows = begin.head(TOP)
        own, known = begin.own(rows), begin.known(rows)
        for rule in ("unjudged-at-10", "other-collection", "nothing-judged"):
            self.first.add(rule, begin.documents(rows[~own]))
        self.first.add("other-topics", begin.documents(rows[known & ~own]))
        self._respell(begin, rows[~known][:NAMES], int(known.sum()))

    def _respell(self, begin: Part, rows: Ints, n_known: int) -> None:
        """Look for another spelling in which the docnos of some rows are judged."""
        if not rows.size or begin.run.docnos.strings is None:
            return
        names, n = docnos_at(begin.run.docnos, rows), self.qrels.n_rows
        theirs = docnos_at(self.qrels.docnos, np.arange(0, n, max(n // rows.size, 1))[: rows.size])
        way, found = spelled_as(names, self._knows, {**OF_DOCNOS, **affixes(names, theirs)})
        if len(found) < max(RESPELLED, MANY * (n_known + len(found))):
            return
        docnos = string_column(found.values())
        query = begin.query(rows[np.fromiter(found, np.int64, len(found))])
        codes = self.qrels.place(take(begin.run.qids, query))
        own = self.qrels.find(codes, Docnos(docnos, np.array([0, len(docnos)])))[0].size
        if own < max(2, OWN * len(found)):
            return
        some = sorted(found)[:SHOWN]
        notes = [shown(names[at], found[at]) for at in some]
        self.first.add("docno-spelling", begin.documents(rows[some], notes))
        self.facts.way, self.facts.respelled, self.facts.unknown = way, len(found), rows.size

    def _knows(self, names: Sequence[str]) -> Bools:
        return self.qrels.knows(hash_strings(string_column(names)))


def findings(facts: Facts, make: MakeFinding) -> Iterator[Finding]:
    """Yield queries that are missing, extra or cut short, and documents that are not judged."""
    if not facts.run.follows:
        yield from _of_queries(facts, make)
        yield from _of_documents(facts, make)


def _of_queries(facts: Facts, make: MakeFinding) -> Iterator[Finding]:
    run = facts.run.queries
    if run.way:
        extra = "unjudged qid" if facts.judgements.rows else "unknown qid"
        what = f"{run.respelled:,} of {counted(run.extra, extra)} "
        what += f"differ from unanswered queries only in {run.way}"
        yield make("qid-spelling", what, run.respelled)
    if run.missing > run.respelled:
        kind = "judged " if facts.judgements.rows else ""
        judged = counted(facts.judgements.queries, f"{kind}query", f"{kind}queries")
        yield make("missing-queries", f"no answer to {run.missing:,} of {judged}", run.missing)
    if run.extra > run.respelled:
        what = f"{run.extra:,} of {counted(run.queries, 'query', 'queries')}"
        what = f"no judgement of {what}" if facts.judgements.rows else f"{what} not in the list"
        yield make("extra-queries", what, run.extra)
    alike = run.queries >= ENOUGH_QUERIES and run.at_deepest == run.queries - 1
    if alike and run.last_depth < run.deepest:
        depths = f"{counted(run.last_depth, 'document')}, every other one {run.deepest:,}"
        yield make("cut-last-query", f"the last query has {depths}", 1)


def _of_documents(facts: Facts, make: MakeFinding) -> Iterator[Finding]:
    run, rows = facts.run.documents, facts.run.queries.rows
    if run.way:
        what = f"{run.respelled:,} of {counted(run.unknown, 'unjudged docno')} "
        what += f"differ from judged ones only in {run.way}"
        yield make("docno-spelling", what, run.respelled, "warning" if run.judged else None)
    answered, judged = facts.run.queries.queries - facts.run.queries.extra, facts.judgements
    if rows and not run.judged and facts.judgements.rows:
        what = f"none of the {counted(rows, 'document')} is judged"
        enough = answered >= ENOUGH_QUERIES
        enough = enough and min(run.looked_at, facts.judgements.rows) >= ENOUGH_ROWS
        if enough and not run.known:
            what += f", and none of {run.looked_at:,} docnos is in the qrels"
            yield make("other-collection", what, rows)
        elif enough and run.known >= SOME_KNOWN * run.looked_at:
            what += f" for its query; {run.known:,} of {run.looked_at:,} docnos are for others"
            yield make("other-topics", what, rows)
        else:
            yield make("nothing-judged", what, rows)
    if run.identical:
        queries = facts.run.queries.queries
        of = counted(queries, "query", "queries")
        what = f"the docno equals the qid in {run.identical:,} of {of}"
        yield make("identical-ids", what, run.identical, by_share(run.identical, queries))
    unjudged = run.shown - run.judged_shown
    if run.judged and unjudged >= MANY * run.shown:
        below = " or have a grade below 0" if facts.judgements.negative else ""
        what = f"{percent(unjudged, run.shown)} of the top 10 documents are not judged{below}"
        is_dense = answered >= ENOUGH_QUERIES and judged.rows >= DENSE * judged.queries
        if is_dense and unjudged >= NEARLY_ALL * run.shown:
            effect = "they count as not relevant; the qrels may belong to another round"
            yield make("unjudged-at-10", what, unjudged, "warning", effect)
        else:
            yield make("unjudged-at-10", what, unjudged)


def explain_no_common_query(
    cell: Cell, qrels: Qrels | None, datasets: Mapping[str, pa.Array]
) -> Finding | None:
    """Return why a TREC run shares no query with its qrels, as far as pieces of it show.

    Its qids and docnos are swapped, its qids are spelled otherwise, or it answers another one of
    the `datasets` (their qids by file).
    """
    place, name = cell.run_entry.path, cell.dataset
    try:
        source = Source(place)
        for _ in source.blocks():
            pass
        rows = read_block(b"".join(source.sample.pieces), trec.RUN)
    except (HarnessError, Refused):
        return None
    qids, docnos = (unique(rows[name].combine_chunks()) for name in ("qid", "docno"))
    alone = f"no query is in {short(name)}"
    if qrels is not None and not (qrels.place(qids) >= 0).any():
        as_qids = select(docnos, qrels.place(docnos) >= 0)
        as_docnos = select(qids, qrels.knows(hash_strings(cast(qids, pa.string()))))
        half = 2 * len(as_qids) >= len(docnos) or 2 * len(as_docnos) >= len(qids)
        if len(as_qids) and len(as_docnos) and half:
            what = (
                f"{len(as_qids):,} of {len(docnos):,} docnos are qids in {short(name)}, and "
                f"{len(as_docnos):,} of {len(qids):,} qids are docnos there"
            )
            effect, some = RULES["no-common-query"].effect, as_qids[:SHOWN].to_pylist()
            return finding("swapped-columns", place, what, len(as_qids), some, effect=effect)
        names = texts_at(qids, np.arange(len(qids)))
        known = of_qids(
            names, lambda some: qrels.place(string_column(some)) >= 0, qrels.n_queries,
            texts_at(qrels.qids, spread(qrels.n_queries)),
        )  # fmt: skip
        if known is not None:
            way, known_as = known
            examples = [shown(names[at], one) for at, one in [*known_as.items()][:SHOWN]]
            what = f"{alone}; {len(known_as):,} of {len(qids):,} differ only in {way}"
            fix = RULES["qid-spelling"].fix
            return finding("no-common-query", place, what, len(known_as), examples, fix=fix)
    wide = cast(qids, pa.large_string())
    for path, theirs in datasets.items():
        n = int((index_in(wide, cast(theirs, pa.large_string())) >= 0).sum())
        if path != cell.dataset_entry.path and 2 * n >= len(qids):
            what = f"{alone}; {n:,} of {len(qids):,} are in {short(path)}"
            return finding("no-common-query", place, what, n, fix=f"give the run of {name}")
    return None
