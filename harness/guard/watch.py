"""Takes the facts of a run while it is read and aligned, part by part."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..core.aligned import Aligned
from ..core.arrow import as_bytes
from ..core.hashing import splitmix64, string_views
from ..core.policy import Policy
from ..core.ragged import Array, Ints, lengths_of, rows_of
from ..core.tables import Qrels, Run
from .ahead import Ahead
from .facts import EXAMPLES, RunFacts, first
from .following import Following
from .moments import Moments

LONG = 10
"""Documents from which on a query's scores can be nearly constant."""
NEARLY = 0.9
"""Share of a query's documents that share one score, from which on its scores are nearly so."""
TOP = 10
"""Ranks that are looked at for documents that nobody judged: what most papers report."""
SAMPLE = 1024
"""Rows of a part of a run whose docnos are looked for among the judgements; so of the first part,
the second, the fourth, the eighth..., as the share of those known settles soon."""
HEAD = 1 << 10
"""Documents that are looked at first for one that comes after one of a lower grade."""
_LARGEST = float(np.finfo(np.float32).max)


class Watch:
    """Sums up what the rules ask of one run.

    Parameters
    ----------
    qrels : Qrels
    policy : Policy
        Under which the run is aligned.
    """

    def __init__(self, qrels: Qrels, policy: Policy) -> None:
        self.qrels, self.policy = qrels, policy
        self._begin()

    def _begin(self) -> None:
        self.depths: list[Ints] = []
        self.qids: list[pa.Array] = []
        self.first_qid, self.last_qid = b"", ""
        self.rows = self.several = self.constant = self.overflow = 0
        self.merged = self.merged_of_rows = self.looked_at = self.known = 0
        self.constant_first: tuple[str, ...] = ()
        self.unknown_first: tuple[str, ...] = ()
        self.lowest, self.highest = np.inf, -np.inf
        self.sum_lowest = self.sum_highest = 0.0
        self.follows = False
        self.following = Following(self.qrels)
        self.missing_first: tuple[str, ...] = ()
        self.answered = self.extra = self.nearly = self.pairs = self.tied = 0
        self.judged = self.positive = self.shown = self.judged_shown = 0
        self.moments, self.ahead = Moments(), Ahead()
        self.ordered, self.disordered = 0, False

    def run(self, part: Run) -> None:
        """Look at a run, or at a part of one, as it was read.

        A part that begins with the first query of all begins anew: a run whose queries are
        scattered is read again, whole.
        """
        if not part.n_rows:
            return
        begins = as_bytes(part.qids[:1])[0]
        if begins == self.first_qid:
            self._begin()
        self.first_qid = self.first_qid or begins
        lengths = lengths_of(part.offsets)
        self.depths.append(lengths)
        self.qids.append(part.qids)
        self.last_qid = as_bytes(part.qids[-1:])[0].decode("utf-8", "replace")
        self.rows += part.n_rows
        low, high = part.extremes
        answered = lengths > 0
        several = lengths[answered] > 1
        constant = (low == high) & several
        self.several += int(several.sum())
        if constant.any():
            self.constant += int(constant.sum())
            mask = np.zeros(lengths.size, dtype=bool)
            mask[np.flatnonzero(answered)[constant]] = True
            self.constant_first = (*self.constant_first, *first(part.qids, mask))[:EXAMPLES]
        lowest, highest = float(low.min()), float(high.max())
        self.lowest, self.highest = min(self.lowest, lowest), max(self.highest, highest)
        with np.errstate(over="ignore"):
            self.sum_lowest += float(low.sum())
            self.sum_highest += float(high.sum())
        if max(highest, -lowest) > _LARGEST:
            self.overflow += int((np.abs(part.scores) > _LARGEST).sum())
        self.follows = shares(part.qids, self.qrels.qids)
        if self.follows:
            self.following.add(part.scores)
        else:
            self._named(part)

    def _named(self, part: Run) -> None:
        """Look at a part whose documents have names."""
        if self.policy.score_type == "float32":
            with np.errstate(over="ignore"):
                single = part.scores.astype(np.float32)
            at = np.flatnonzero(single[1:] == single[:-1])
            at = at[part.scores[at] != part.scores[at + 1]]
            if at.size:
                self.merged_of_rows += int(np.isin(at + 1, part.offsets, invert=True).sum())
        n_parts = len(self.depths)
        if n_parts & (n_parts - 1) == 0:
            some = sample(part.n_rows)
            known = self.qrels.knows(part.docnos.hashes[some])
            self.looked_at += some.size
            self.known += int(known.sum())
            lacking = EXAMPLES - len(self.unknown_first)
            if lacking and not known.all():
                unknown = part.docnos.take(some[~known][:lacking])
                names = tuple(name.decode("utf-8", "replace") for name in as_bytes(unknown))
                self.unknown_first += names

    def aligned(self, part: Aligned) -> Aligned:
        """Look at a run, or at a part of one, that was aligned; return it."""
        self.answered += int(part.answered.sum())
        self.extra += part.n_extra
        if len(self.missing_first) < EXAMPLES and not part.answered.all():
            missing = first(part.qids, ~part.answered)
            self.missing_first = (*self.missing_first, *missing)[:EXAMPLES]
        n = part.n_retrieved
        self.pairs += int((n * (n - 1)).sum()) // 2
        if self.policy.score_type != "none" and part.n_tied.any():
            self._ties(part)
        judged = part.grade >= 0
        score, grade = part.score, part.grade
        if not judged.all():
            score, grade = score[judged], grade[judged]
        self.judged += grade.size
        self.positive += int((grade > 0).sum())
        self.moments += Moments.of(score, grade.astype(np.float64))
        if not self.disordered:
            self._ordered(rows_of(part.offsets)[judged], grade)
        if self.follows:
            return part
        self.ahead = self.ahead.more(Ahead.of(part))
        self.shown += int(np.minimum(n, TOP).sum())
        self.judged_shown += int((judged & (part.rank <= TOP)).sum())
        return part

    def _ordered(self, query: Ints, grade: Array) -> None:
        """Count queries in the order of their grades, until one is not."""
        for some in (slice(HEAD), slice(None)):
            same = query[some][1:] == query[some][:-1]
            if (same & (grade[some][1:] > grade[some][:-1])).any():
                self.ordered, self.disordered = 0, True
                return
        falls = same & (grade[1:] < grade[:-1])
        self.ordered += np.unique(query[1:][falls]).size

    def _ties(self, part: Aligned) -> None:
        """Count pairs of tied documents, and queries of nearly one score."""
        if part.groups is not None:
            offsets, ranks = part.groups.offsets, part.groups.values
            firsts, lasts = ranks[:, 0], ranks[:, 1]
            depth = self.policy.alignment.depth
            if depth is not None:
                lasts = np.minimum(lasts, depth)
        else:
            heads = np.flatnonzero((part.rank == part.tie_first) & (part.tie_last > part.tie_first))
            offsets = np.searchsorted(heads, part.offsets)
            firsts, lasts = part.tie_first[heads], part.tie_last[heads]
            if self.policy.score_type == "float32":
                at = np.flatnonzero(part.rank > part.tie_first)
                at = at[at > 0]
                self.merged += int((part.score[at] != part.score[at - 1]).sum())
        sizes = np.maximum(lasts - firsts + 1, 0)
        self.tied += int((sizes * (sizes - 1)).sum()) // 2
        rows = np.flatnonzero(lengths_of(offsets))
        if rows.size:
            n = part.n_retrieved[rows]
            largest = np.maximum.reduceat(sizes, offsets[:-1][rows])
            nearly = (largest >= NEARLY * n) & (largest < n) & (n >= LONG)
            self.nearly += int(nearly.sum())

    def _extra_first(self) -> tuple[str, ...]:
        """Return the first queries that are not judged."""
        found: tuple[str, ...] = ()
        for qids in self.qids:
            if len(found) < EXAMPLES:
                found += first(qids, self.qrels.place(qids) < 0)
        return found[:EXAMPLES]

    def facts(self) -> RunFacts:
        """Return the facts of all parts that were looked at."""
        depths = np.concatenate([*self.depths, np.zeros(0, np.int64)])
        depths = depths[depths > 0]
        n, last = depths.size, int(depths[-1]) if depths.size else 0
        depths.sort()
        found = self.following.facts()
        if n and not self.follows:
            found = {
                "shallowest": float(depths[0]),
                "median_depth": float(depths[(n - 1) // 2] + depths[n // 2]) / 2,
                "deepest": float(depths[-1]),
                "at_deepest": n - int(np.searchsorted(depths, depths[-1])),
                "last_depth": last,
            }
        return RunFacts(
            follows=self.follows,
            single=self.policy.score_type == "float32",
            rows=self.rows,
            queries=n,
            missing=self.qrels.n_queries - self.answered,
            missing_first=self.missing_first,
            extra=self.extra,
            extra_first=self._extra_first() if self.extra else (),
            last_qid="" if self.follows else self.last_qid,
            lowest=float(self.lowest) if n else 0.0,
            highest=float(self.highest) if n else 0.0,
            mean_lowest=self.sum_lowest / n if n else 0.0,
            mean_highest=self.sum_highest / n if n else 0.0,
            several=self.several,
            constant=self.constant,
            constant_first=self.constant_first,
            nearly=self.nearly,
            pairs=self.pairs,
            tied=self.tied,
            overflow=self.overflow,
            merged=self.merged if self.follows else self.merged_of_rows,
            judged=self.judged,
            positive=self.positive,
            moments=self.moments,
            ordered=self.ordered,
            shown=self.shown,
            judged_shown=self.judged_shown,
            looked_at=self.looked_at,
            known=self.known,
            unknown_first=self.unknown_first,
            ahead=() if self.follows else tuple(self.ahead),
            **found,
        )


def sample(n_rows: int) -> Ints:
    """Return rows that fall in step with nothing: all, or :data:`SAMPLE` of them at most.

    >>> sample(3).tolist(), sample(100_000)[:3].tolist()
    ([0, 1, 2], [19, 60, 99])
    """
    if n_rows <= SAMPLE:
        return np.arange(n_rows)
    drawn = splitmix64(np.arange(SAMPLE, dtype=np.uint64)) % np.uint64(n_rows)
    return np.unique(drawn).astype(np.int64)


def shares(qids: pa.Array, others: pa.Array) -> bool:
    """Whether qids are a part of others in memory, as those of predictions for rows are.

    >>> qids = pa.array(["a", "b"])
    >>> shares(qids.slice(1), qids), shares(pa.array(["a", "b"]), qids)
    (True, False)
    """
    mine, theirs = string_views(qids)[1], string_views(others)[1]
    return bool(np.shares_memory(mine, theirs))
