"""A run's ranking as what another run is compared to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from .aligned import Aligned
from .arrow import index_in
from .docnos import Docnos
from .policy import Policy
from .ragged import Ints, lengths_of, offsets_of
from .ranking import by_score, settle_ties
from .tables import Qrels, Run


@dataclass(frozen=True, eq=False, repr=False)
class Reference(Qrels):
    """Qrels made from a run by :func:`as_reference`, which keep its ties.

    ``tie_first`` says of each rank of each query, from the top, at which rank its group of tied
    scores begins, ``(n_rows,)``.
    """

    tie_first: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def as_reference(run: Run, qids: pa.Array, policy: Policy | None = None) -> Reference:
    """Return qrels whose ideal order is the ranking of `run`, for these queries.

    The last document has grade 1, the first as many as there are documents: no two have the
    same, as the policy orders tied scores too. Which of them are tied is kept beside. With it,
    a metric that compares a ranking to the ideal order compares two runs.

    >>> run = Run.from_dict({"q1": {"a": 0.1, "b": 0.9, "c": 0.1}})
    >>> reference = as_reference(run, pa.array(["q0", "q1"]))
    >>> reference.to_dict(), reference.tie_first.tolist()
    ({'q0': {}, 'q1': {'a': 1, 'b': 3, 'c': 2}}, [1, 2, 2])
    """
    policy = policy or Policy()
    order, ties = by_score(run, [policy.score_type])[policy.score_type]
    order = settle_ties(run, order, ties, None, policy)
    place = np.empty(run.n_rows, dtype=np.int64)
    place[slice(None) if order is None else order] = np.arange(run.n_rows)
    grades = run.offsets[1:][run.row] - place
    first = np.arange(run.n_rows)
    tied = np.flatnonzero(ties.member)
    first[tied] = ties.starts[ties.group(tied)]
    first -= run.offsets[run.row] - 1
    at = index_in(qids, run.qids)
    lengths = np.where(at >= 0, lengths_of(run.offsets)[at], 0)
    offsets = offsets_of(lengths)
    rows = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - run.offsets[at], lengths)
    docnos = Docnos(run.docnos.take(rows), offsets)
    return Reference(qids, offsets, docnos, grades[rows], run.name, tie_first=first[rows])


def levels(aligned: Aligned) -> Ints:
    """Return the grade of each item, documents that the reference run ties having the same.

    Against judgements these are the grades themselves.

    >>> from harness.core.align import align
    >>> run = Run.from_dict({"q": {"a": 2.0, "b": 1.0, "c": 0.0}})
    >>> other = Run.from_dict({"q": {"a": 0.5, "b": 0.5, "c": 0.9}})
    >>> aligned = align(as_reference(other, run.qids), run)
    >>> aligned.grade.tolist(), levels(aligned).tolist()
    ([1, 2, 3], [2, 2, 3])
    """
    first = aligned.reference_ties
    if first is None:
        return aligned.grade

    def make() -> Ints:
        lengths = aligned.ideal.lengths[aligned.row]
        rank = lengths - aligned.grade
        return lengths + 1 - first[aligned.ideal.offsets[aligned.row] + rank]

    return aligned.memo("levels", make)
