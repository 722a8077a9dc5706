"""Documents of one query that share a score, or would in single precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.aligned import Aligned
from ..core.policy import Policy
from ..core.ragged import lengths_of
from ..errors import Finding
from .parts import EXAMPLES, Firsts, Part, placing, texts_at
from .queries import Queries
from .registry import by_share, percent, plural

if TYPE_CHECKING:
    from .facts import RunFacts

LONG = 10
"""Documents from which on a query's scores can be nearly constant."""
SOME = 0.001
"""Share of pairs below which ties are no more than chance in scores of a few digits."""
NEARLY = 0.9
"""Share of a query's documents that share one score, from which on its scores are nearly so."""
MANY_ROWS = 0.01
"""Share of rows that are equal in single precision alone, from which on that is a warning."""


@dataclass(frozen=True)
class TieFacts:
    """Of documents that share a score.

    Parameters
    ----------
    nearly : int
        Queries of at least :data:`LONG` documents of which nearly all share one score.
    pairs, tied, tied_whole : int
        Pairs of retrieved documents of one judged query; those with one score; those of queries
        all of whose documents have one.
    merged : int
        Rows that single precision gives the score of their neighbour, though they differ.
    """

    nearly: int = 0
    pairs: int = 0
    tied: int = 0
    tied_whole: int = 0
    merged: int = 0


class Ties:
    """Sums up ties, part by part.

    Parameters
    ----------
    policy : Policy
        Under which the run is aligned.
    queries : Queries
        Of the same run.
    first : Firsts
    """

    def __init__(self, policy: Policy, queries: Queries, first: Firsts) -> None:
        self.policy, self.queries, self.first = policy, queries, first
        self.nearly = self.pairs = self.tied = self.tied_whole = self.merged = 0

    def run(self, part: Part) -> None:
        """Look at a part as it was read: at documents that single precision makes equal."""
        if not part.follows and self.policy.score_type == "float32":
            self.merged += self._name(part)

    def _name(self, part: Part) -> int:
        """Keep examples of tied pairs, and of those that single precision ties; count these."""
        ones, others = part.equal_neighbours(self.policy)
        differ = part.run.scores[ones] != part.run.scores[others]
        if self.first.lacks("score-ties"):
            self.first.add("score-ties", part.pairs(ones, others))
        if self.first.lacks("single-precision"):
            self.first.add("single-precision", part.pairs(ones[differ], others[differ]))
        return int(differ.sum())

    def aligned(self, aligned: Aligned, part: Part) -> None:
        """Look at a part that was aligned; `part` is what was read for it, or its beginning."""
        n = aligned.n_retrieved
        self.pairs += int((n * (n - 1)).sum()) // 2
        if self.policy.score_type == "none" or not aligned.n_tied.any():
            return
        if "score-ties" not in self.first:
            self._name(part)
        if aligned.groups is not None:
            offsets, ranks = aligned.groups.offsets, aligned.groups.values
            firsts, lasts = ranks[:, 0], ranks[:, 1]
            if (depth := self.policy.alignment.depth) is not None:
                lasts = np.minimum(lasts, depth)
        else:
            heads = np.flatnonzero(
                (aligned.rank == aligned.tie_first) & (aligned.tie_last > aligned.tie_first)
            )
            offsets = np.searchsorted(heads, aligned.offsets)
            firsts, lasts = aligned.tie_first[heads], aligned.tie_last[heads]
            if part.follows and self.policy.score_type == "float32":
                at = np.flatnonzero(aligned.rank > aligned.tie_first)
                self.merged += int((aligned.score[at] != aligned.score[at - 1]).sum())
        sizes = np.maximum(lasts - firsts + 1, 0)
        self.tied += int((sizes * (sizes - 1)).sum()) // 2
        rows = np.flatnonzero(lengths_of(offsets))
        if not rows.size:
            return
        n = n[rows]
        largest = np.maximum.reduceat(sizes, offsets[:-1][rows])
        whole = n[largest >= n]
        self.tied_whole += int((whole * (whole - 1)).sum()) // 2
        nearly = rows[(largest >= NEARLY * n) & (largest < n) & (n >= LONG)]
        self.nearly += nearly.size
        if nearly.size and self.first.lacks("nearly-constant-scores"):
            names = texts_at(aligned.qids, nearly[:EXAMPLES])
            self.first.add("nearly-constant-scores", self.queries.start_of(names))

    def facts(self) -> TieFacts:
        """Return the facts of all parts."""
        return TieFacts(self.nearly, self.pairs, self.tied, self.tied_whole, self.merged)


def findings(run: RunFacts, place: str) -> Iterator[Finding]:
    """Yield how many documents share a score."""
    ties, found = run.ties, placing(place, run.first)
    judged = "judged " if run.queries.extra else ""
    if ties.nearly:
        of = run.queries.queries - run.queries.extra if judged else run.scores.several
        noun = plural(of, f"{judged}query")
        what = f"nearly all documents share one score in {ties.nearly:,} of {noun}"
        yield found("nearly-constant-scores", what, ties.nearly, by_share(ties.nearly, of))
    whole = ties.tied_whole if run.scores.constant else 0
    rows = run.queries.rows
    infinite = run.single and 2 * run.scores.overflow >= rows > 0  # so most are tied
    if ties.tied - whole > SOME * ties.pairs and not infinite:
        single = ", in single precision, as trec_eval compares" if run.single else ""
        what = (
            f"{percent(ties.tied, ties.pairs)} of the pairs of documents that a {judged}query "
            f"retrieved share a score{single}"
        )
        yield found("score-ties", what, ties.tied, by_share(ties.tied, ties.pairs))
    if ties.merged:
        what = (
            f"{ties.merged:,} of {plural(rows, 'row')} have the score of the one ranked before "
            "in single precision alone"
        )
        yield found("single-precision", what, ties.merged, by_share(ties.merged, rows, MANY_ROWS))
