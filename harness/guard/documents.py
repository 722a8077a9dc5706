"""Rules about documents: whether the judgements know them, for their query or for others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.aligned import Aligned
from ..core.arrow import string_column, take
from ..core.hashing import hash_strings, splitmix64
from ..core.policy import Policy
from ..core.ragged import Bools, Ints
from ..core.tables import Docnos, Qrels
from ..errors import Finding
from ..reports.phrases import counted
from .parts import EXAMPLES, TOP, Firsts, Found, Part, docnos_at
from .registry import percent
from .spelling import OF_DOCNOS, affixes, shown, twins

if TYPE_CHECKING:
    from .facts import Facts, RunFacts

MANY = 0.1
"""Share of unjudged documents at rank 10 or before from which on that is reported."""
SAMPLE = 1024
"""Rows of a part whose docnos are looked up among the judgements."""
ENOUGH_ROWS, ENOUGH_QUERIES = 100, 5
"""Docnos looked up, and queries, below which it may be chance that none is known."""
SOME_KNOWN = 0.01
"""Share of docnos judged for other queries from which on queries may be numbered otherwise."""
MARGIN = 3
"""Documents at rank 10 or before by which a query must be ahead of every other one."""
FEW, SHARE, TIMES, DIFFERENT = 5, 0.25, 3, 2 / 3
"""Queries whose documents are another query's: at least so many, this share of all, this many times
those with documents of their own, and this share of different other queries."""
RESPELLED, OWN_FEW, OWN_MANY, NAMES = 3, 2, 0.5, 256
"""Docnos that must be known in another spelling; how many, or which share, of these must be judged
for their query; docnos that are looked at."""


@dataclass
class DocumentFacts:
    """Of the documents of a run that does not follow the rows of a dataset.

    Parameters
    ----------
    judged : int
        Retrieved documents that are judged.
    shown, judged_shown : int
        Documents at rank 10 or before; those of them that are judged.
    looked_at, known : int
        Rows whose docno was looked up among all judgements; those found, for any query.
    answers, elsewhere : int
        Queries at the beginning; those with most of their judged documents from one other query,
        if there are so many that the run numbers queries otherwise than the judgements.
    way : str
        How docnos differ from those of the judgements; ``""`` if no other spelling is known.
    respelled, unknown : int
        Documents at rank 10 or before of the first queries that are known in that spelling, of
        those that are not known as they are.
    """

    judged: int = 0
    shown: int = 0
    judged_shown: int = 0
    looked_at: int = 0
    known: int = 0
    answers: int = 0
    elsewhere: int = 0
    way: str = ""
    respelled: int = 0
    unknown: int = 0


class Documents:
    """Sums up which documents are judged, part by part, in `facts`."""

    def __init__(self, qrels: Qrels, policy: Policy, first: Firsts) -> None:
        self.qrels, self.policy, self.first = qrels, policy, first
        self.facts = DocumentFacts()

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        known = part.known(sample(part.run.n_rows))
        self.facts.looked_at += known.size
        self.facts.known += int(known.sum())

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        judged = aligned.grade >= 0
        self.facts.judged += int(judged.sum())
        self.facts.judged_shown += int((judged & (aligned.rank <= TOP)).sum())
        self.facts.shown += int(np.minimum(aligned.n_retrieved, TOP).sum())

    def end(self, begin: Part) -> None:
        """Look at the first ranks of the first queries, and keep examples."""
        if not self.qrels.n_rows:
            return
        rows, rank = begin.head(self.policy)
        own, known = begin.own(rows), begin.known(rows)
        ranks = [f"rank {at}" for at in rank[~own][:EXAMPLES].tolist()]
        for rule in ("unjudged-at-10", "other-collection", "nothing-judged"):
            self.first.add(rule, begin.documents(rows[~own], ranks))
        self.first.add("other-topics", begin.documents(rows[known & ~own]))
        n_known, facts = int(known.sum()), self.facts
        facts.unknown = min(NAMES, rows.size - n_known)
        facts.way, facts.respelled = self._respelled(begin, rows[~known][:NAMES], n_known)
        query = begin.query(rows)
        facts.answers = np.unique(query).size
        if facts.judged and 2 * facts.judged_shown <= facts.shown and (known & ~own).any():
            facts.elsewhere = self._elsewhere(begin, rows[known], query[known])

    def _respelled(self, begin: Part, rows: Ints, known: int) -> tuple[str, int]:
        """Return how docnos at some rows differ from judged ones, and how many do.

        Numbers are names in many collections: 'D7' of one and '7' of another agree by chance, and
        then seldom for the query.
        """
        if not rows.size or begin.run.docnos.strings is None:
            return "", 0
        names, n = docnos_at(begin.run.docnos, rows), self.qrels.n_rows
        theirs = docnos_at(self.qrels.docnos, np.arange(0, n, max(n // rows.size, 1))[: rows.size])
        way, found = twins(names, self._knows, {**OF_DOCNOS, **affixes(names, theirs)})
        if len(found) < max(RESPELLED, MANY * (known + len(found))):
            return "", 0
        docnos = string_column(found.values())
        query = begin.query(rows[np.fromiter(found, np.int64, len(found))])
        codes = self.qrels.place(take(begin.run.qids, query))
        own = self.qrels.find(codes, Docnos(docnos, np.array([0, len(docnos)])))[0].size
        chance = n / (self.qrels.n_documents * self.qrels.n_queries)
        share = max(MANY, min(2 * chance, OWN_MANY))
        if own < max(OWN_FEW, share * len(found)):
            return "", 0
        some = sorted(found)[:EXAMPLES]
        notes = [shown(names[at], found[at]) for at in some]
        self.first.add("docno-spelling", begin.documents(rows[some], notes))
        return way, len(found)

    def _knows(self, names: Sequence[str]) -> Bools:
        return self.qrels.knows(hash_strings(string_column(names)))

    def _elsewhere(self, begin: Part, rows: Ints, query: Ints) -> int:
        """Return how many queries are answered by another one's documents; 0 if that may be chance.

        Queries resemble each other, so that some documents are judged for another one by chance;
        and a large pool attracts documents of any query.
        """
        hashes = self.qrels.docnos.hashes
        documents, document = np.unique(begin.run.docnos.hashes[rows], return_inverse=True)
        judged = np.flatnonzero(np.isin(hashes, documents))
        which, topic = np.unique(self.qrels.row[judged], return_inverse=True)
        retrieved = np.zeros((int(query.max()) + 1, documents.size), np.int32)
        retrieved[query, document] = 1
        known = np.zeros((documents.size, which.size + 2), np.int32)
        known[np.searchsorted(documents, hashes[judged]), topic] = 1
        counts = retrieved @ known
        is_own = np.append(which, [-1, -1]) == begin.codes[: counts.shape[0], None]
        own = np.where(is_own, counts, 0).max(axis=1)
        counts = np.where(is_own, 0, counts)
        best = counts.argmax(axis=1)
        second, most = np.sort(counts, axis=1)[:, -2:].T
        moved = np.flatnonzero(most - np.maximum(second, own) >= MARGIN)
        n_own = int((own - most >= MARGIN).sum())
        enough = moved.size >= max(FEW, SHARE * self.facts.answers, TIMES * n_own)
        if not enough or np.unique(best[moved]).size < DIFFERENT * moved.size:
            return 0
        self.first["other-topics"] = begin.queries(moved)
        return moved.size


def sample(n_rows: int) -> Ints:
    """Return all rows, or :data:`SAMPLE` of them that are in step with nothing.

    >>> sample(3).tolist(), sample(100_000)[:3].tolist()
    ([0, 1, 2], [19, 60, 99])
    """
    if n_rows <= SAMPLE:
        return np.arange(n_rows)
    drawn = splitmix64(np.arange(SAMPLE, dtype=np.uint64)) % np.uint64(n_rows)
    return np.unique(drawn).view(np.int64)


def findings(facts: Facts, found: Found) -> Iterator[Finding]:
    """Yield documents that are not judged, and why."""
    run, rows = facts.run.documents, facts.run.queries.rows
    if facts.run.follows:
        return
    if run.way:
        what = f"{run.respelled:,} of {counted(run.unknown, 'unjudged docno')} "
        what += f"differ from judged ones only in {run.way}"
        severity = "warning" if run.judged else None
        yield found(
            "docno-spelling",
            what,
            run.respelled,
            severity,
        )
    what = f"none of the {counted(rows, 'document')} is judged"
    if rows and not run.judged:
        enough = _enough(facts.run) and facts.judgements.rows >= ENOUGH_ROWS
        if enough and not run.known:
            what += f", and none of {run.looked_at:,} docnos is in the qrels"
            yield found("other-collection", what, rows)
        elif enough and run.known >= SOME_KNOWN * run.looked_at:
            what += f" for its query; {run.known:,} of {run.looked_at:,} docnos are for others"
            yield found("other-topics", what, rows)
        else:
            yield found("nothing-judged", what, rows)
    elif run.elsewhere:
        what = (
            f"in {run.elsewhere:,} of {run.answers:,} queries, most of the top 10 documents are "
            "judged for one other query"
        )
        effect = "the values are those of answers to other queries"
        yield found("other-topics", what, run.elsewhere, "warning", effect)
    unjudged = run.shown - run.judged_shown
    if run.judged and unjudged >= MANY * run.shown:
        below = " or have a grade below 0" * (facts.judgements.negative > 0)
        what = f"{percent(unjudged, run.shown)} of the top 10 documents"
        yield found("unjudged-at-10", f"{what} are not judged{below}", unjudged)


def _enough(run: RunFacts) -> bool:
    """Whether there are so many queries and documents that it is not chance."""
    judged_queries = run.queries.queries - run.queries.extra
    return judged_queries >= ENOUGH_QUERIES and run.documents.looked_at >= ENOUGH_ROWS
