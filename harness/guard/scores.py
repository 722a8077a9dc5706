"""Rules about the scores of a run: equal ones, too large ones, and an order turned upside down."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.policy import Policy
from ..core.ragged import Array, Ints, lengths_of, rows_of
from ..errors import Finding
from ..reports.phrases import counted
from .parts import EXAMPLES, First, Firsts, Found, Part, docnos_at, texts_at
from .queries import Queries
from .registry import by_share, percent

if TYPE_CHECKING:
    from .facts import Facts

LONG, NEARLY = 10, 0.9
"""Documents of a query whose scores can be nearly constant; and the share with one score."""
SOME = 0.001
"""Share of pairs below which ties are no more than chance in scores of a few digits."""
MANY_ROWS = 0.01
"""Share of rows that are equal in single precision alone, from which on that is a warning."""
_BY_DOCNO = ("trec_eval", "trec_eval10", "docno+")
"""Policies for ties that look at docnos."""
_LARGEST = float(np.finfo(np.float32).max)
ENOUGH_QUERIES = 10
"""Queries below which their spread says little."""
CHANCE, BEHIND = 0.5, 0.4
"""Share of pairs in order by chance; share below which a run is upside down instead of bad."""
CLEAR, APART = 6.0, 5.0
"""Standard errors below chance within queries, and of what differs between queries."""


@dataclass
class ScoreFacts:
    """Of the scores of a run.

    Parameters
    ----------
    several, constant, nearly : int
        Queries with two documents and more; those whose scores are all equal; those of
        :data:`LONG` documents and more that nearly all share one score.
    overflow : int
        Rows beyond the largest number of single precision.
    pairs, tied, tied_whole : int
        Pairs of retrieved documents of one judged query; those with one score; those of queries
        all of whose documents have one.
    by_position : int
        Tied pairs of documents that are called d0, d1, ... by position.
    merged : int
        Rows that single precision gives the score of their neighbour, though they differ.
    """

    several: int = 0
    constant: int = 0
    nearly: int = 0
    overflow: int = 0
    pairs: int = 0
    tied: int = 0
    tied_whole: int = 0
    by_position: int = 0
    merged: int = 0


class Scores:
    """Sums up the scores of a run, part by part, in `facts`.

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
        self.single = policy.score_type == "float32"
        self.facts = ScoreFacts()

    def run(self, part: Part) -> None:
        """Look at a part as it was read."""
        low, high = part.run.extremes
        answered = part.lengths > 0
        several = part.lengths[answered] > 1
        constant = (low == high) & several
        self.facts.several += int(several.sum())
        self.facts.constant += int(constant.sum())
        if constant.any() and self.first.wants("constant-scores"):
            self.first.add("constant-scores", part.queries(np.flatnonzero(answered)[constant]))
        if max(high.max(), -low.min()) > _LARGEST:
            rows = np.flatnonzero(np.abs(part.run.scores) > _LARGEST)
            self.facts.overflow += rows.size
            notes = [f"{score:.3g}" for score in part.run.scores[rows[:EXAMPLES]].tolist()]
            self.first.add("overflow", part.documents(rows, notes))
        if not part.follows and self.single:
            self.facts.merged += self._name_ties(part)

    def _name_ties(self, part: Part) -> int:
        """Keep examples of tied pairs; count those that only single precision ties."""
        ones, others = equal_neighbours(part, self.single)
        differ = part.run.scores[ones] != part.run.scores[others]
        if self.first.wants("score-ties"):
            self.first.add("score-ties", _pairs(part, ones, others))
        if self.first.wants("single-precision"):
            self.first.add("single-precision", _pairs(part, ones[differ], others[differ]))
        return int(differ.sum())

    def aligned(self, aligned: Aligned, part: Part) -> None:
        """Look at a part that was aligned; `part` is what was read for it, or its beginning."""
        n = aligned.n_retrieved
        self.facts.pairs += int((n * (n - 1)).sum()) // 2
        if self.policy.score_type == "none" or not aligned.n_tied.any():
            return
        if "score-ties" not in self.first:
            self._name_ties(part)
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
            if part.follows and self.single:
                at = np.flatnonzero(aligned.rank > aligned.tie_first)
                self.facts.merged += int((aligned.score[at] != aligned.score[at - 1]).sum())
        sizes = np.maximum(lasts - firsts + 1, 0)
        tied = int((sizes * (sizes - 1)).sum()) // 2
        self.facts.tied += tied
        if part.run.docnos.positional and self.policy.ties in _BY_DOCNO:
            self.facts.by_position += tied
        rows = np.flatnonzero(lengths_of(offsets))
        if rows.size:
            n, largest = n[rows], np.maximum.reduceat(sizes, offsets[:-1][rows])
            whole = n[largest >= n]
            self.facts.tied_whole += int((whole * (whole - 1)).sum()) // 2
            nearly = rows[(largest >= NEARLY * n) & (largest < n) & (n >= LONG)]
            self.facts.nearly += nearly.size
            if nearly.size and self.first.wants("nearly-constant-scores"):
                names = texts_at(aligned.qids, nearly[:EXAMPLES])
                self.first.add("nearly-constant-scores", self.queries.start_of(names))


def equal_neighbours(part: Part, single: bool) -> tuple[Ints, Ints]:
    """Return the rows that are ranked next to each other in a query and compare as equal.

    Parameters
    ----------
    part : Part
    single : bool
        Whether scores are compared in single precision.
    """
    scores, offsets = part.run.scores, part.run.offsets
    rises = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    in_order = (offsets[np.searchsorted(offsets, rises)] == rises).all()  # rises between queries
    order = None if in_order else np.lexsort((-scores, rows_of(offsets)))
    compared = scores if order is None else scores[order]
    if single:
        with np.errstate(over="ignore"):
            compared = compared.astype(np.float32)
    at = np.flatnonzero(compared[1:] == compared[:-1])
    at = at[offsets[np.searchsorted(offsets, at + 1)] != at + 1]  # of one query
    return (at, at + 1) if order is None else (order[at], order[at + 1])


def _pairs(part: Part, ones: Ints, others: Ints) -> First:
    """Return pairs of documents of one query, at the first of them, with their scores."""
    ones, others = ones[:EXAMPLES], others[:EXAMPLES]
    found = part.documents(ones)
    scores = zip(part.run.scores[ones].tolist(), part.run.scores[others].tolist(), strict=True)
    docnos = docnos_at(part.run.docnos, others)
    names = (
        f"{name.replace(', document ', ', documents ', 1)} and {docno}: "
        + " and ".join(map(repr, dict.fromkeys(two)))
        for name, docno, two in zip(found.names, docnos, scores, strict=True)
    )
    return found._replace(names=tuple(names))


class Ahead(NamedTuple):
    """Sums over queries of the share of pairs in which the relevant document comes first.

    Of all pairs of a relevant document and another that the query retrieved: a half by chance.

    Parameters
    ----------
    queries : int
        Those that retrieved both.
    shares, squares : float
        Sums of the shares, and of their squares.
    variance : float
        Sum of the shares' variances if every order were as likely.
    behind : int
        Queries whose share is below a half.
    """

    queries: int = 0
    shares: float = 0.0
    squares: float = 0.0
    variance: float = 0.0
    behind: int = 0

    @classmethod
    def of(cls, part: Aligned) -> Ahead:
        """Return the sums of some queries."""
        query, share, variance = shares_ahead(part)
        return cls(
            query.size, float(share.sum()), float((share**2).sum()), float(variance.sum()),
            int((share < CHANCE).sum()),
        )  # fmt: skip

    @property
    def upside_down(self) -> bool:
        """Whether relevant documents come after the others, by more than chance."""
        if self.queries < ENOUGH_QUERIES:
            return False
        n, mean = self.queries, self.shares / self.queries
        spread = math.sqrt(max(self.squares / n - mean * mean, 0.0) / (n - 1))
        clear = max(CLEAR * math.sqrt(self.variance) / n, APART * spread)
        return mean < BEHIND and CHANCE - mean > clear


def shares_ahead(part: Aligned) -> tuple[Ints, Array, Array]:
    """Return queries, the shares of their pairs in order, and the variances of these by chance.

    ``share = 1/2 - (S - r (n + 1) / 2) / (r (n - r))`` for the sum S of the ranks of r relevant
    documents among n; its variance by chance is ``(n + 1) / (12 r (n - r))`` (Mann and Whitney,
    1947). Queries are left out if most of their documents are tied.
    """
    found, ranks = part.found(), part.rank_of_relevant()
    r, n = found.lengths, part.n_retrieved
    query: Ints = np.flatnonzero((r > 0) & (r < n) & (2 * part.n_tied <= n))
    if not query.size:
        return query, np.zeros(0), np.zeros(0)
    sums = np.bincount(found.row, ranks, minlength=r.size)[query]
    r, n = r[query].astype(np.float64), n[query]
    share: Array = CHANCE - (sums - r * (n + 1) / 2) / (r * (n - r))
    variance: Array = (n + 1) / (12 * r * (n - r))
    return query, share, variance


class Order:
    """Sums up in which order relevant documents come, part by part."""

    def __init__(self, queries: Queries, first: Firsts) -> None:
        self.queries, self.first, self.ahead = queries, first, Ahead()

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        self.ahead = Ahead(*map(sum, zip(self.ahead, Ahead.of(aligned), strict=True)))  # type: ignore[arg-type]
        if self.first.wants("upside-down"):
            query, share, _ = shares_ahead(aligned)
            behind = np.flatnonzero(share < CHANCE)[:EXAMPLES]
            some = self.queries.start_of(texts_at(aligned.qids, query[behind]))
            shares = (100 * share[behind]).tolist()
            names = (f"{qid} ({one:.0f}%)" for qid, one in zip(some.names, shares, strict=True))
            self.first.add("upside-down", some._replace(names=tuple(names)))


def findings(facts: Facts, found: Found) -> Iterator[Finding]:
    """Yield equal scores, scores that single precision cannot hold, and a turned order."""
    run, scores = facts.run, facts.run.scores
    n_rows = run.queries.rows
    if n := scores.constant:
        what = f"all scores are equal in {n:,} of {counted(scores.several, 'query', 'queries')}"
        yield found("constant-scores", what, n, by_share(n, scores.several))
    if (n := scores.overflow) and run.single:
        yield found("overflow", f"{n:,} of {counted(n_rows, 'score')} beyond 3.4e38", n)
    if n := scores.nearly:
        of = scores.several if run.follows else run.queries.queries - run.queries.extra
        what = f"nearly all documents share one score in {n:,} of "
        what += counted(of, "judged query", "judged queries")
        yield found("nearly-constant-scores", what, n, by_share(n, of))
    whole = scores.tied_whole if scores.constant else 0
    infinite = run.single and 2 * scores.overflow >= n_rows > 0  # so most are tied
    if scores.tied - whole > SOME * scores.pairs and not infinite:
        single = " (in single precision)" if run.single else ""
        what = (
            f"{percent(scores.tied, scores.pairs)} of within-query document pairs have tied scores"
        )
        severity = by_share(scores.tied, scores.pairs)
        if n := scores.by_position:
            single += f"; without docnos, {n:,} pairs are ordered by d0, d1, ... of their rows"
        yield found("score-ties", what + single, scores.tied, severity)
    if n := scores.merged:
        what = f"{n:,} of {counted(n_rows, 'row')} equal the one ranked before in single precision"
        yield found("single-precision", what, n, by_share(n, n_rows, MANY_ROWS))
    if run.ahead.upside_down:
        ahead = run.ahead
        what = (
            f"relevant documents come first in {100 * ahead.shares / ahead.queries:.0f}% of pairs "
            f"(chance: 50%), below half in {ahead.behind:,} of {ahead.queries:,} queries"
        )
        yield found("upside-down", what, ahead.behind)
