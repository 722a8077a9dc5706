"""Whether the documents of a run are known to the judgements, for its queries or for others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.hashing import splitmix64
from ..core.policy import Policy
from ..core.ragged import Array, Ints, frozen
from ..core.tables import Qrels
from ..errors import Finding
from .parts import EXAMPLES, LOOKED_AT, TOP, First, Firsts, Part, placing, texts_at
from .registry import RULES, percent, plural
from .spelling import Respelled

if TYPE_CHECKING:
    from .facts import Facts, RunFacts

MANY = 0.1
"""Share of unjudged documents at rank 10 or before from which on that is reported."""
WHOLE = 100_000
"""Rows of a run up to which all docnos are looked for among the judgements."""
SAMPLE = 1024
"""Rows of a later part whose docnos are looked for; so of the first part, the second, the fourth,
the eighth..., as the share of those known settles soon."""
FEW_OWN = 0.5
"""Share of judged documents at rank 10 or before, above which topics are not looked for."""
ENOUGH_ROWS = 100
"""Docnos looked at, and judgements, below which it may be chance that none is known."""
ENOUGH_QUERIES = 5
"""Queries below which it may be chance."""
SOME_KNOWN = 0.01
"""Share of docnos that are judged for other queries, from which on topics may be numbered
otherwise."""
LIFT = 1.2
"""How many times as often as by chance documents at the top may be judged for the query that they
answer, where they are other queries': with less, a system is as good as a random one."""
OWN = 0.25
"""Share of the known documents that are judged for their own query, below which others' are more
than pools that overlap."""
SHARED = 2.0
"""Queries that a document is judged for on average, from which on a random order finds as many
judged documents as a system that answers other topics: on a small closed collection."""
UNKNOWN = 0.01
"""Share of docnos in no judgements from which on it is reported."""
BELOW_0 = " or have a grade below 0"
"""What follows "are not judged" if there are such grades: -1 and -2 mean the same to trec_eval,
though somebody may have seen those documents, as the web track's junk."""
SEEN = (
    "they count as not relevant, so that values are lower bounds, but for documents that somebody "
    "saw and marked as junk"
)
MARGIN = 3
"""Documents at rank 10 or before by which a query must be ahead of every other one: documents
drawn from a pool have the most judgements for some query too, seldom by so many."""
FEW = 5
"""Queries that may be answered by another one's documents, as topics resemble each other."""
SHARE = 0.25
"""Share of the queries from which on they are too many for that."""
TIMES = 3
"""How many times as many they are as those that their own documents answer."""
APART = 2 / 3
"""Share of them whose documents are judged for a query of their own each: topics of other numbers
are so; one large pool that many documents fall into is not."""
LARGEST = 1 << 22
"""Documents times queries that are counted; of more, none is."""


class Topics(NamedTuple):
    """For which queries the documents of the first queries at the first ranks are judged.

    Parameters
    ----------
    looked_at : int
        Queries of the run.
    elsewhere, own : int
        Those most of whose judged documents are one other query's, or their own.
    others : int
        Different other queries that these are.
    """

    looked_at: int = 0
    elsewhere: int = 0
    own: int = 0
    others: int = 0

    @property
    def are_others(self) -> bool:
        """Whether the topics of the run are numbered otherwise than those of the judgements.

        >>> Topics(30, 27, 0, 26).are_others, Topics(30, 5, 0, 1).are_others
        (True, False)
        """
        enough = self.elsewhere >= max(FEW, SHARE * self.looked_at, TIMES * self.own)
        return enough and self.others >= APART * self.elsewhere


@dataclass(frozen=True)
class DocumentFacts:
    """Of the documents of a run that does not follow the rows of a dataset.

    Parameters
    ----------
    judged : int
        Retrieved documents that are judged.
    shown, judged_shown : int
        Documents at rank 10 or before; those of them that are judged.
    looked_at, known : int
        Rows whose docno was looked for among all judgements; those found, for any query.
    way : str
        In what docnos differ from those of the judgements; ``""`` if none would be found otherwise.
    respelled : int
        Rows that would be found then.
    topics : Topics
        For which queries documents at the first ranks are judged.
    """

    judged: int = 0
    shown: int = 0
    judged_shown: int = 0
    looked_at: int = 0
    known: int = 0
    way: str = ""
    respelled: int = 0
    topics: Topics = field(default_factory=Topics)


class Documents:
    """Sums up which documents are judged, part by part.

    Parameters
    ----------
    qrels : Qrels
    policy : Policy
        Under which the run is aligned.
    first : Firsts
    """

    def __init__(self, qrels: Qrels, policy: Policy, first: Firsts) -> None:
        self.qrels, self.policy, self.first = qrels, policy, first
        self.parts = self.rows = self.looked_at = self.n_known = 0
        self.judged = self.shown = self.judged_shown = 0
        self.respelled = Respelled(qrels)

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        self.parts += 1
        self.rows += part.run.n_rows
        if self.rows > WHOLE:
            if self.parts & (self.parts - 1):
                return
            some = sample(part.run.n_rows)
        else:
            some = np.arange(part.run.n_rows)
        known = part.known(some)
        unknown = some[~known]
        self.looked_at += known.size
        self.n_known += known.size - unknown.size
        self.respelled.run(part, some, unknown)
        if self.first.lacks("unknown-docnos"):
            self.first.add("unknown-docnos", part.documents(unknown))

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        judged = aligned.grade >= 0
        self.judged += int(judged.sum())
        self.judged_shown += int((judged & (aligned.rank <= TOP)).sum())
        self.shown += int(np.minimum(aligned.n_retrieved, TOP).sum())

    def facts(self, begin: Part | None) -> DocumentFacts:
        """Return the facts of all parts; examples are of the first one."""
        topics = Topics() if begin is None else self._name(begin)
        way, respelled = self.respelled.facts(self.n_known, self.first)
        return DocumentFacts(
            self.judged, self.shown, self.judged_shown, self.looked_at, self.n_known, way,
            respelled, topics,
        )  # fmt: skip

    def _name(self, begin: Part) -> Topics:
        """Keep examples of documents that are not judged for their query; return the topics."""
        rows, rank = begin.head(self.policy)
        asked = begin.codes[begin.query(rows)] >= 0
        rows, rank = rows[asked], rank[asked]
        own, known = begin.own(rows), begin.known(rows)
        unjudged = begin.documents(rows[~own])
        if self.shown - self.judged_shown >= MANY * self.shown:
            ranks = [f"rank {at}" for at in rank[~own][:EXAMPLES].tolist()]
            self.first.add("unjudged-at-10", begin.documents(rows[~own], ranks))
        self.first.add("other-topics", begin.documents(rows[known & ~own]))
        if self.judged:
            few = self.judged_shown <= FEW_OWN * self.shown
            topics, first = self._topics(begin, rows, own) if few else (Topics(), First())
            if topics.are_others:
                self.first["other-topics"] = first
            return topics
        self.first.add("other-collection", unjudged)
        self.first.add("nothing-judged", unjudged)
        return Topics()

    def _topics(self, begin: Part, rows: Ints, own: Array) -> tuple[Topics, First]:
        """Return for which queries the documents at some rows are judged, and the first queries."""
        query = begin.query(rows)
        looked_at = np.unique(query).size
        known = begin.known(rows)
        rows, query, own = rows[known], query[known], own[known]
        if rows.size - int(own.sum()) < FEW * MARGIN:
            return Topics(), First()
        counts, which = _counts(begin, rows, query)
        if not which.size:
            return Topics(), First()
        is_own = which == begin.codes[: counts.shape[0], None]
        its = np.where(is_own, counts, 0).max(axis=1)
        counts = np.where(is_own, 0, counts)
        best = counts.argmax(axis=1)
        two = np.sort(np.partition(np.pad(counts, ((0, 0), (1, 0))), -2, axis=1)[:, -2:], axis=1)
        moved = np.flatnonzero(two[:, 1] - np.maximum(two[:, 0], its) >= MARGIN)
        found = Topics(
            looked_at, moved.size, int((its - two[:, 1] >= MARGIN).sum()),
            np.unique(best[moved]).size,
        )  # fmt: skip
        some = moved[:EXAMPLES]
        others = texts_at(begin.qrels.qids, which[best[some]])
        first = begin.queries(some)
        names = (
            f"{qid} ({most} for query {other}, {n} for its own)"
            for qid, other, most, n in zip(
                first.names, others, two[some, 1].tolist(), its[some].tolist(), strict=True
            )
        )
        return found, first._replace(names=tuple(names))


def _counts(begin: Part, rows: Ints, query: Ints) -> tuple[Array, Ints]:
    """Return how many documents of each query are judged for each of some, and which these are."""
    hashes = begin.qrels.docnos.hashes
    documents, document = np.unique(begin.run.docnos.hashes[rows], return_inverse=True)
    judged = np.flatnonzero(np.isin(hashes, documents))
    which, topic = np.unique(begin.qrels.row[judged], return_inverse=True)
    if max(documents.size, LOOKED_AT) * which.size > LARGEST:
        return np.zeros((0, 0)), which[:0]
    # products of whole numbers, as BLAS would take memory for itself
    retrieved = np.zeros((int(query.max()) + 1, documents.size), np.int32)
    retrieved[query, document] = 1
    known = np.zeros((documents.size, which.size), np.int32)
    known[np.searchsorted(documents, hashes[judged]), topic] = 1
    counts: Array = retrieved @ known
    return counts, which


@lru_cache(maxsize=8)
def sample(n_rows: int) -> Ints:
    """Return rows that fall in step with nothing: all, or :data:`SAMPLE` of them at most.

    >>> sample(3).tolist(), sample(100_000)[:3].tolist()
    ([0, 1, 2], [19, 60, 99])
    """
    if n_rows <= SAMPLE:
        return frozen(np.arange(n_rows))
    drawn = splitmix64(np.arange(SAMPLE, dtype=np.uint64)) % np.uint64(n_rows)
    return frozen(np.unique(drawn).view(np.int64))


def findings(facts: Facts, place: str, in_order: bool) -> Iterator[Finding]:
    """Yield documents that are not judged, and why.

    `in_order` is False if another finding says that the order is wrong.
    """
    run = facts.run.documents
    found, rows = placing(place, facts.run.first), facts.run.queries.rows
    part = f", a sample of {rows:,}," if run.looked_at < rows else ""
    unknown = run.looked_at - run.known
    if run.way:
        are = "is that of a judged document"
        if run.respelled > 1:
            are = "are those of judged documents"
        what = (
            f"{run.respelled:,} of {run.looked_at:,} docnos looked at{part} {are} but for {run.way}"
        )
        one = found("docno-spelling", what, run.respelled, "warning" if run.judged else None)
        yield replace(one, at_least=bool(part))
    if 2 * run.respelled > unknown:
        return  # that is why most are not judged
    if rows and not run.judged:
        yield _nothing_judged(facts, place)
    elif run.topics.are_others:
        what = (
            f"in {run.topics.elsewhere:,} of {plural(run.topics.looked_at, 'query')} looked at, "
            "more documents at rank 10 or before are judged for one other query than for any else, "
            "its own too"
        )
        effect = "the values are those of answers to other topics"
        yield found("other-topics", what, run.topics.elsewhere, "warning", effect)
    elif in_order and _answers_others(facts):
        what = (
            f"{percent(run.judged_shown, run.shown)} of the documents at rank 10 or before are "
            "judged for their query, no more than by chance, and "
            f"{percent(run.known, run.looked_at)} of all documents for some query"
        )
        shared = facts.judgements.rows >= SHARED * facts.judgements.documents
        yield found(
            "other-topics", what, run.shown - run.judged_shown, "note" if shared else "warning",
            "the values say no more than those of a random order",
            f"if it is no random baseline: {RULES['other-topics'].fix}",
        )  # fmt: skip
    elif unknown > UNKNOWN * run.looked_at:
        what = f"{unknown:,} of {run.looked_at:,} docnos looked at{part} are judged for no query"
        yield replace(found("unknown-docnos", what, unknown), at_least=bool(part))
    unjudged = run.shown - run.judged_shown
    if run.judged and unjudged >= MANY * run.shown:
        seen = facts.judgements.negative > 0
        what = (
            f"{percent(unjudged, run.shown)} of the documents at rank 10 or before are not judged"
        )
        what, effect = (what + BELOW_0, SEEN) if seen else (what, "")
        yield found("unjudged-at-10", what, unjudged, effect=effect)


def _nothing_judged(facts: Facts, place: str) -> Finding:
    """Return why no document is judged for its query."""
    run, rows = facts.run.documents, facts.run.queries.rows
    found = placing(place, facts.run.first)
    what = f"none of the {rows:,} documents retrieved is judged"
    if _enough(facts.run) and facts.judgements.rows >= ENOUGH_ROWS:
        if not run.known:
            what += f", and of {run.looked_at:,} docnos looked at none is, for any query"
            return found("other-collection", what, rows)
        if run.known >= SOME_KNOWN * run.looked_at:
            what += (
                f" for its query; of {run.looked_at:,} docnos looked at {run.known:,} are judged "
                "for others"
            )
            fix = f"{RULES['other-topics'].fix}, and that they are of one fold"
            return found("other-topics", what, rows, fix=fix)
    return found("nothing-judged", what, rows)


def _enough(run: RunFacts) -> bool:
    """Whether so many queries and documents are looked at that it is not chance."""
    judged_queries = run.queries.queries - run.queries.extra
    return judged_queries >= ENOUGH_QUERIES and run.documents.looked_at >= ENOUGH_ROWS


def _answers_others(facts: Facts) -> bool:
    """Whether documents are judged for their own query no more often than for any other."""
    run, queries, judged = facts.run.documents, facts.run.queries, facts.judgements
    if not (_enough(facts.run) and run.shown >= ENOUGH_ROWS and judged.documents):
        return False
    known = run.known / run.looked_at
    chance = known * judged.rows / (judged.documents * judged.queries)
    own, answered = (
        run.judged_shown / run.shown,
        queries.rows * (1 - queries.extra / queries.queries),
    )
    few = own <= min(OWN * known, LIFT * chance) and run.judged <= LIFT * chance * answered
    return known >= SOME_KNOWN and few
