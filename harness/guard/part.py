"""A part of a run as it was read: which rows of the file it holds, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from ..core.align import align
from ..core.aligned import Aligned
from ..core.arrow import index_in, take
from ..core.docnos import Docnos
from ..core.policy import Policy
from ..core.ragged import Array, Bools, Ints, lengths_of
from ..core.tables import Qrels, Run
from .first import EXAMPLES, First, docnos_at, of_documents, of_queries, texts_at

LOOKED_AT = 64
"""Queries at the beginning of a part that are looked at for the first of something."""


class Part:
    """Whole queries of a run.

    Parameters
    ----------
    run : Run
    qrels : Qrels
        The dataset.
    follows : bool
        Whether the run's rows are those of the dataset.
    rows, queries : int
        Of the run before this part.
    """

    def __init__(self, run: Run, qrels: Qrels, follows: bool, rows: int, queries: int) -> None:
        self.run, self.qrels, self.follows = run, qrels, follows
        self.rows_before, self.queries_before = rows, queries

    @cached_property
    def lengths(self) -> Ints:
        """Rows of each query, ``(n_queries,)``."""
        return lengths_of(self.run.offsets)

    @property
    def n_source(self) -> int:
        """Rows that the part had in the file, dropped ones among them."""
        n = self.run.n_source
        return self.run.n_rows if n is None or self.follows else n

    def places(self, rows: Ints) -> Ints:
        """Return the positions of some rows in the file, from 0."""
        if self.follows and self.run.order is None:  # RankLib says of which row a score is
            order = self.qrels.order
            return rows + self.rows_before if order is None else order[rows + self.rows_before]
        order = self.run.order
        found: Ints = (rows if order is None else order[rows]) + self.rows_before
        return found

    def documents(self, rows: Ints, said: Iterable[str]) -> First:
        """Return the documents of some rows, with what there is to say of each."""
        query = np.searchsorted(self.run.offsets, rows, side="right") - 1
        qids = texts_at(self.run.qids, query)
        return self._with_words(of_documents(qids, self.run.docnos, rows, said, self.places(rows)))

    def _with_words(self, first: First) -> First:
        """Return it with no words of its line, where the file is one of scores alone."""
        return first._replace(words=()) if self.follows else first

    def pairs(self, ones: Ints, others: Ints) -> First:
        """Return pairs of documents of one query, at the first of them, with their scores.

        The digits are as many as tell the scores apart, where they differ.
        """
        found = self.documents(ones, [""] * ones.size)
        docnos = docnos_at(self.run.docnos, others)
        scores = zip(self.run.scores[ones].tolist(), self.run.scores[others].tolist(), strict=True)
        names = (
            f"{name.replace(', document ', ', documents ', 1)} and {docno}: "
            + " and ".join(map(repr, dict.fromkeys(two)))
            for name, docno, two in zip(found.names, docnos, scores, strict=True)
        )
        return found._replace(names=tuple(names))

    def queries(self, which: Ints) -> First:
        """Return some queries, at the first row of each."""
        which = which[:EXAMPLES]
        starts = self.places(self.run.offsets[which])
        return self._with_words(of_queries(self.run.qids, which, starts))

    @cached_property
    def codes(self) -> Ints:
        """Which queries of the dataset the first ones are; -1 where they are none."""
        return self.qrels.place(self.run.qids.slice(0, LOOKED_AT))

    def first_of(self, wanted: Bools, before: int) -> list[tuple[int, int]]:
        """Return the first queries that are wanted, in the order of the file.

        Parameters
        ----------
        wanted : ndarray of bool, shape (n,)
            Of each query of an aligned part.
        before : int
            Queries of the dataset before these.

        Returns
        -------
        list of (int, int)
            The place of each among those of the aligned part, and in this part; -1 where it
            is not one of its first.
        """
        if self.follows:
            codes = np.flatnonzero(wanted)[:EXAMPLES]
            here = codes + before - self.queries_before
            here[(here < 0) | (here >= self.run.n_queries)] = -1
            return list(zip(codes.tolist(), here.tolist(), strict=True))
        codes = np.flatnonzero(wanted)[:LOOKED_AT]
        if self.run.qids.equals(self.qrels.qids):
            return [(code, code) for code in codes[:EXAMPLES].tolist()]
        here = index_in(take(self.qrels.qids, codes), self.run.qids)
        if (here < 0).all():  # others may be at the beginning of the file
            here = np.flatnonzero((self.codes >= 0) & wanted[self.codes])
            codes = self.codes[here] if here.size else codes[:EXAMPLES]
            here = here if here.size else np.full(codes.size, -1)
        else:
            codes, here = codes[here >= 0], here[here >= 0]
        first = np.argsort(here, kind="stable")[:EXAMPLES]
        return list(zip(codes[first].tolist(), here[first].tolist(), strict=True))

    def compared(self, rows: Ints | slice, policy: Policy) -> Array:
        """Return the scores of some rows as `policy` compares them."""
        scores = self.run.scores[rows]
        if policy.score_type != "float32":
            return scores
        with np.errstate(over="ignore"):
            return scores.astype(np.float32)

    def falling(self, query: int, policy: Policy) -> Ints:
        """Return the rows of a query by falling score, tied ones in the order of the file."""
        return self._falling(query, policy)[0]

    def _falling(self, query: int, policy: Policy) -> tuple[Ints, Array]:
        """Return the same, and the scores."""
        rows = np.arange(self.run.offsets[query], self.run.offsets[query + 1])
        scores = self.compared(rows, policy)
        if not (scores[1:] <= scores[:-1]).all():
            order = np.argsort(-scores, kind="stable")
            rows, scores = rows[order], scores[order]
        return rows, scores

    def at_ranks(self, query: int, ranks: Sequence[int], policy: Policy) -> Ints:
        """Return the rows at some ranks of a query; none where they cannot be told.

        They cannot where the query is not here, or documents were taken out of the ranking.
        """
        at = np.array(ranks) - 1
        if query < 0 or policy.judged_only or policy.score_type == "none":
            return at[:0]
        rows, scores = self._falling(query, policy)
        same = scores[1:] == scores[:-1]
        tied = np.append(same, False)[at] | np.append(False, same)[at]
        found: Ints = (self._ranked(query, policy) if tied.any() else rows)[at]
        return found

    def top(self, n_queries: int, most: int, policy: Policy) -> Ints:
        """Return the rows at the first `most` ranks of the first queries, as :meth:`at_ranks`.

        Queries whose rows stand in their order, without ties there, are looked at together.
        """
        if policy.judged_only or policy.score_type == "none":
            return self.run.offsets[:0]
        offsets = self.run.offsets[: n_queries + 1]
        scores = self.compared(slice(0, int(offsets[-1])), policy)
        starts, stops = offsets[:-1], offsets[1:]
        apart = np.zeros(starts.size, dtype=bool)
        rises = np.flatnonzero(scores[1:] > scores[:-1]) + 1
        query = np.searchsorted(starts, rises, side="right") - 1
        apart[query[rises > starts[query]]] = True
        rows = starts[:, None] + np.arange(most)
        here, more = rows < stops[:, None], rows + 1 < stops[:, None]
        at = np.minimum(rows, scores.size - 2)
        apart |= (more & (scores[at] == scores[at + 1])).any(axis=1)
        found = [rows[here & ~apart[:, None]]]
        for one in np.flatnonzero(apart).tolist():
            n = min(most, int(stops[one] - starts[one]))
            found.append(self.at_ranks(one, range(1, n + 1), policy))
        return np.concatenate(found)

    def _ranked(self, query: int, policy: Policy) -> Ints:
        """Return the rows of a query by rank, ties as `policy` settles them."""
        one = self.run.part(query, query + 1)
        every = Qrels(one.qids, one.offsets, one.docnos, np.arange(one.n_rows))
        found: Ints = self.run.offsets[query] + align(every, one, policy).grade
        return found

    def own(self, rows: Ints) -> Bools:
        """Return which of a few rows of the first queries are judged for the query they answer."""
        query = np.searchsorted(self.run.offsets, rows, side="right") - 1
        docnos = Docnos(self.run.docnos.take(rows), np.array([0, rows.size]))
        found = np.zeros(rows.size, dtype=bool)
        found[self.qrels.find(self.codes[query], docnos)[0]] = True
        return found

    def judged(self, most: int = LOOKED_AT) -> tuple[Ints, Ints]:
        """Return the rows of the first queries that are judged for them, and the judgements'."""
        n_queries = min(most, self.run.n_queries)
        if self.follows:
            rows = np.arange(int(self.run.offsets[n_queries]))
            return rows, rows + self.rows_before
        some = self.run.part(0, n_queries)
        rows, known = self.qrels.find(self.codes[some.row], some.docnos)
        in_order = np.argsort(rows)
        return rows[in_order], known[in_order]


def mask(aligned: Aligned, codes: Ints | int) -> Bools:
    """Return which queries of an aligned part are some of these."""
    found: Bools = np.zeros(aligned.n_queries, dtype=bool)
    found[codes] = True
    return found
