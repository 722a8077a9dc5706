"""Documents of one query that share a score, or would in single precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..core.aligned import Aligned
from ..core.policy import Policy
from ..core.ragged import Bools, Ints, Ragged, lengths_of, rows_of
from .first import EXAMPLES, First, joined, texts, texts_at
from .part import Part, mask
from .queries import Queries

LONG = 10
"""Documents from which on a query's scores can be nearly constant."""
SOME = 0.001
"""Share of pairs below which ties are no more than chance in scores of a few digits."""
NEARLY = 0.9
"""Share of a query's documents that share one score, from which on its scores are nearly so."""


class Ties:
    """Sums up ties, part by part.

    Parameters
    ----------
    policy : Policy
        Under which the run is aligned.
    queries : Queries
        Of the same run.
    """

    def __init__(self, policy: Policy, queries: Queries) -> None:
        self.policy, self.queries = policy, queries
        self.nearly = self.pairs = self.tied = self.tied_whole = self.merged = 0
        self.first_nearly = self.first_merged = First()
        self._tied_in: list[Callable[[], First]] = []

    def run(self, part: Part) -> None:
        """Look at a part as it was read: at documents that single precision makes equal."""
        if part.follows or self.policy.score_type != "float32":
            return
        scores, order = part.run.scores, _falling(part)
        scores = scores if order is None else scores[order]
        with np.errstate(over="ignore"):
            single = scores.astype(np.float32)
        at = np.flatnonzero(single[1:] == single[:-1])
        at = at[scores[at] != scores[at + 1]]
        if at.size:
            at = at[part.run.row[at] == part.run.row[at + 1]]
            self.merged += at.size
            if not self.first_merged.full:
                ones, others = at[:EXAMPLES], at[:EXAMPLES] + 1
                if order is not None:
                    ones, others = order[ones], order[others]
                self.first_merged = self.first_merged.more(part.pairs(ones, others))

    def aligned(self, aligned: Aligned, part: Part, before: int) -> None:
        """Look at a part that was aligned.

        `part` is what was read for it, or the beginning of that; `before` as
        :meth:`Part.first_of` takes it.
        """
        n = aligned.n_retrieved
        self.pairs += int((n * (n - 1)).sum()) // 2
        if self.policy.score_type == "none" or not aligned.n_tied.any():
            return
        if aligned.groups is not None:
            offsets, ranks = aligned.groups.offsets, aligned.groups.values
            firsts, lasts = ranks[:, 0], ranks[:, 1]
            depth = self.policy.alignment.depth
            if depth is not None:
                lasts = np.minimum(lasts, depth)
        else:
            heads = np.flatnonzero(
                (aligned.rank == aligned.tie_first) & (aligned.tie_last > aligned.tie_first)
            )
            offsets = np.searchsorted(heads, aligned.offsets)
            firsts, lasts = aligned.tie_first[heads], aligned.tie_last[heads]
            if self.policy.score_type == "float32":
                self._merged_ranks(aligned, part, before)
        sizes = np.maximum(lasts - firsts + 1, 0)
        self.tied += int((sizes * (sizes - 1)).sum()) // 2
        rows = np.flatnonzero(lengths_of(offsets))
        if not rows.size:
            return
        n = n[rows]
        largest = np.maximum.reduceat(sizes, offsets[:-1][rows])
        whole = n[largest >= n]
        self.tied_whole += int((whole * (whole - 1)).sum()) // 2
        nearly = (largest >= NEARLY * n) & (largest < n) & (n >= LONG)
        self.nearly += int(nearly.sum())
        if nearly.any() and not self.first_nearly.full:
            some = part.first_of(mask(aligned, rows[nearly]), before)
            names = texts_at(aligned.qids, np.array([code for code, _ in some]))
            self.first_nearly = self.first_nearly.more(self.queries.start_of(names))
        if self.tied and len(self._tied_in) < EXAMPLES:
            wanted = mask(aligned, rows[largest > 1])
            groups = Ragged(offsets, firsts), sizes
            self._tied_in.append(partial(self._pairs, aligned, part, before, wanted, *groups))

    def _pairs(
        self, aligned: Aligned, part: Part, before: int, wanted: Bools, firsts: Ragged, sizes: Ints
    ) -> First:
        """Return the first two of some groups of tied documents, by ranks where they are not here.

        A group has the same ranks whatever the policy for ties.
        """
        found = First()
        for code, here in part.first_of(wanted, before):
            inside = slice(firsts.offsets[code], firsts.offsets[code + 1])
            ranks = firsts.values[inside][sizes[inside] > 1][:EXAMPLES]
            if here >= 0 and not self.policy.judged_only:
                rows = part.falling(here, self.policy)
                found = found.more(part.pairs(rows[ranks - 1], rows[ranks]))
            else:
                found = found.more(self._by_ranks(aligned, code, ranks.tolist()))
            if found.full:
                break
        return found

    def _merged_ranks(self, aligned: Aligned, part: Part, before: int) -> None:
        """Look at documents whose scores differ from that of the rank before, and are tied."""
        at = np.flatnonzero(aligned.rank > aligned.tie_first)
        at = at[at > 0]
        at = at[aligned.score[at] != aligned.score[at - 1]]
        self.merged += at.size
        if at.size and not self.first_merged.full:
            at = at[:EXAMPLES]
            queries = np.searchsorted(aligned.offsets, at, side="right") - 1
            for item, code in zip(at.tolist(), queries.tolist(), strict=True):
                ((_, here),) = part.first_of(mask(aligned, code), before)
                if here < 0:
                    rank = int(aligned.rank[item])
                    some = self._by_ranks(aligned, code, [rank - 1])
                else:
                    rows = np.arange(*part.run.offsets[[here, here + 1]])
                    scores = part.run.scores[rows]
                    two = (rows[scores == aligned.score[one]][:1] for one in (item - 1, item))
                    some = part.pairs(*two)
                self.first_merged = self.first_merged.more(some)

    def _by_ranks(self, aligned: Aligned, code: int, ranks: list[int]) -> First:
        """Return pairs of documents by their ranks, where their names are not at hand."""
        found = self.queries.start_of(texts(aligned.qids.slice(code, 1)))
        named = (f"query {found.names[0]}, ranks {rank} and {rank + 1}" for rank in ranks)
        return found._replace(names=tuple(named))

    def facts(self) -> dict[str, Any]:
        """Return what :class:`~harness.guard.facts.RunFacts` has of it."""
        return {
            "nearly": self.nearly,
            "pairs": self.pairs,
            "tied": self.tied,
            "tied_whole": self.tied_whole,
            "merged": self.merged,
        }

    def first(self) -> dict[str, First]:
        """Return the first of each thing, by rule."""
        tied = joined(self._tied_in if self.tied > SOME * self.pairs else ())
        self._tied_in.clear()  # a task holds this, and parts of the run as long as it is there
        return {
            "nearly-constant-scores": self.first_nearly,
            "score-ties": tied,
            "single-precision": self.first_merged,
        }


def _falling(part: Part) -> Ints | None:
    """Return the rows by falling score, query by query; None where they are in that order."""
    scores, offsets = part.run.scores, part.run.offsets
    rises = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    if (offsets[np.searchsorted(offsets, rises)] == rises).all():  # at the first of a query alone
        return None
    return np.lexsort((-scores, rows_of(offsets)))
