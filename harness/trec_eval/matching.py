"""The queries to evaluate: those of the run and the qrels that the version looks at, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..core.align import align
from ..core.aligned import Aligned
from ..core.arrow import as_bytes
from ..core.docnos import Docnos
from ..core.parameter import MOST
from ..core.policy import Policy
from ..core.ragged import Bools, Ints
from ..core.tables import Qrels, Run
from ..errors import AlignmentError
from ..readers import ScatteredQueries
from .arguments import Arguments
from .duplicates import twice_in
from .judgements import strings
from .ranking import RunFile
from .stop import CALCULATION, NOTHING, Stop
from .values import emptied

_LARGEST = 2**32
"""The largest grade, for which trec_eval takes 32 GB of memory."""
_STAND_IN = b"no document"  # a blank, so that no document has this name


@dataclass(frozen=True)
class Matched:
    """The queries that are evaluated, sorted by the bytes of their qids.

    ``rows`` are their rows in ``aligned``; ``stood_in`` says which of them the run does not
    answer. ``stop`` is why the program ends after them, where it does.
    """

    aligned: Aligned
    qids: list[bytes]
    rows: Ints
    stood_in: Bools
    n_extra: int
    n_missing: int
    n_empty: int
    stop: Stop | None = None


def policy_of(arguments: Arguments) -> Policy:
    """Return the order of the documents, and the queries and documents that count."""
    return Policy(
        ties=arguments.version.ties,
        missing_queries="zero" if arguments.version.number == 10 else "skip",
        depth=None if arguments.depth is None else min(max(arguments.depth, 1), MOST),
        judged_only=arguments.judged_only,
    )


def match(qrels: Qrels, run: RunFile, arguments: Arguments, needs_documents: bool) -> Matched:
    """Join a run to qrels.

    Version 9 evaluates the queries that both have. Version 10 evaluates all that are judged,
    and stops at one that the run does not answer, or with ``-c`` gives it a list of one
    unjudged document.

    Raises
    ------
    Stop
        Where no query is in both.
    """
    ten = arguments.version.number == 10
    policy = run.policy
    stood_in: set[bytes] = set()
    aligned = _aligned(qrels, run, policy, stood_in if ten and arguments.complete else None)
    only = None if arguments.only is None else arguments.only.encode("latin-1")
    if aligned is None:
        judged = [qid for qid in as_bytes(qrels.qids) if only in (None, qid)]
        raise _unanswered(min(judged)) if ten and judged else _nothing()
    if arguments.depth == 0:
        aligned = emptied(aligned)
    qids = as_bytes(aligned.qids)
    order = [row for row, qid in sorted(enumerate(qids), key=_second) if only in (None, qid)]
    stop = None
    if needs_documents:
        stop = _first_refused(qrels, run, [qids[row] for row in order])
    unanswered = np.flatnonzero(~aligned.answered[order])
    if unanswered.size and (stop is None or unanswered[0] <= stop[0]):
        place = int(unanswered[0])
        stop = place, _unanswered(qids[order[place]])
    if stop is not None:
        order = order[: stop[0]]
    elif not order:
        raise _nothing()
    rows = np.array(order, dtype=np.int64)
    return Matched(
        aligned,
        [qids[row] for row in order],
        rows,
        np.array([qids[row] in stood_in for row in order], dtype=bool),
        n_extra=aligned.n_extra,
        n_missing=qrels.n_queries - aligned.n_queries,
        n_empty=int((aligned.n_relevant(arguments.level)[rows] == 0).sum()),
        stop=None if stop is None else stop[1],
    )


def _aligned(
    qrels: Qrels, run: RunFile, policy: Policy, stood_in: set[bytes] | None
) -> Aligned | None:
    """Align the run, in the first of the ways to read it that works; None without an overlap."""
    for form in run.forms():
        parts = form()
        try:
            if stood_in is not None:
                parts = _with_stand_ins(qrels, parts, stood_in)
            return align(qrels, parts, policy)
        except ScatteredQueries:
            continue
        except AlignmentError:
            break
    return None


def _with_stand_ins(qrels: Qrels, parts: Iterable[Run], stood_in: set[bytes]) -> Iterator[Run]:
    """Yield the parts, then one document for each query that none of them answers."""
    missing = dict.fromkeys(as_bytes(qrels.qids))
    for part in parts:
        for qid in as_bytes(part.qids):
            missing.pop(qid, None)
        yield part
    stood_in.clear()
    stood_in.update(missing)
    if missing:
        offsets = np.arange(len(missing) + 1)
        docnos = Docnos(strings([_STAND_IN] * len(missing)), offsets)
        yield Run(strings(list(missing)), offsets, docnos, np.ones(len(missing)))


def _first_refused(qrels: Qrels, run: RunFile, qids: list[bytes]) -> tuple[int, Stop] | None:
    """Return the first query that trec_eval does not rank, and the message.

    It stops at a docno that is there twice, and where it gets no memory to count the documents
    of each grade: it asks for none where all grades of the first query are below 0 (a later one
    has what was there before), and for more than there is where a grade is huge.
    """
    ranked, judged, tops = run.twice, twice_in(qrels), _odd_tops(qrels)
    for place, qid in enumerate(qids):
        query = f"query {qid.decode('utf-8', 'replace')}"
        if qid in ranked:
            return place, Stop(CALCULATION, f"{query} of the run ranks {ranked[qid]} twice")
        if qid in judged:
            return place, Stop(CALCULATION, f"{query} of the qrels judges {judged[qid]} twice")
        top = tops.get(qid, 0)
        if top > _LARGEST:
            what = f"{query} of the qrels has the grade {top}; trec_eval counts the documents of "
            return place, Stop(
                CALCULATION, what + "each grade up to it, and has no memory for them"
            )
        if top < 0 and place == 0:
            what = f"{query} of the qrels is evaluated first and has no grade of at least 0, at "
            return place, Stop(CALCULATION, what + "which trec_eval stops")
    return None


def _odd_tops(qrels: Qrels) -> dict[bytes, int]:
    """Return the largest grade of the queries where it is below 0 or huge."""
    tops = np.maximum.reduceat(qrels.grades, qrels.offsets[:-1]) if qrels.n_rows else qrels.grades
    odd = np.flatnonzero((tops < 0) | (tops > _LARGEST))
    qids = as_bytes(qrels.qids) if odd.size else []
    return {qids[query]: int(tops[query]) for query in odd.tolist()}


def _second(pair: tuple[int, bytes]) -> bytes:
    return pair[1]


def _unanswered(qid: bytes) -> Stop:
    name = qid.decode("utf-8", "replace")
    return Stop(
        CALCULATION, f"the run does not answer query {name}; with -c it counts as 0 (trec_eval 10)"
    )


def _nothing() -> Stop:
    return Stop(NOTHING, "no query has both judgements and results")
