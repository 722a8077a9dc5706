"""The queries to evaluate: those of the run and the qrels that the version looks at, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..core.align import align
from ..core.aligned import Aligned
from ..core.docnos import Docnos
from ..core.policy import Policy
from ..core.ragged import Bools, Ints
from ..core.tables import Qrels, Run
from ..errors import AlignmentError
from .arguments import Arguments
from .duplicates import twice_in, twice_ranked
from .judgements import strings, texts
from .ranking import NEXT, RunFile
from .stop import CALCULATION, NOTHING, Stop
from .values import emptied

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
    policy = Policy(
        ties=arguments.version.ties,
        missing_queries="zero" if ten else "skip",
        depth=None if arguments.depth is None else max(arguments.depth, 1),
        judged_only=arguments.judged_only,
    )
    stood_in: set[bytes] = set()
    aligned = _aligned(qrels, run, policy, stood_in if ten and arguments.complete else None)
    only = None if arguments.only is None else arguments.only.encode("latin-1")
    if aligned is None:
        judged = [qid for qid in texts(qrels.qids) if only in (None, qid)]
        raise _unanswered(min(judged)) if ten and judged else _nothing()
    if arguments.depth == 0:
        aligned = emptied(aligned)
    qids = texts(aligned.qids)
    order = [row for row, qid in sorted(enumerate(qids), key=_second) if only in (None, qid)]
    stop = None
    if needs_documents:
        stop = _first_duplicate(qrels, run, policy, arguments.depth, [qids[row] for row in order])
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
        except NEXT:
            continue
        except AlignmentError:
            break
    return None


def _with_stand_ins(qrels: Qrels, parts: Iterable[Run], stood_in: set[bytes]) -> Iterator[Run]:
    """Yield the parts, then one document for each query that none of them answers."""
    missing = dict.fromkeys(texts(qrels.qids))
    for part in parts:
        for qid in texts(part.qids):
            missing.pop(qid, None)
        yield part
    stood_in.clear()
    stood_in.update(missing)
    if missing:
        offsets = np.arange(len(missing) + 1)
        docnos = Docnos(strings([_STAND_IN] * len(missing)), offsets)
        yield Run(strings(list(missing)), offsets, docnos, np.ones(len(missing)))


def _first_duplicate(
    qrels: Qrels, run: RunFile, policy: Policy, depth: int | None, qids: list[bytes]
) -> tuple[int, Stop] | None:
    """Return the first query at which trec_eval meets a docno twice, and the message."""
    ranked = {} if run.whole is None else twice_ranked(run.whole, policy, depth)
    judged = twice_in(qrels)
    place = next((at for at, qid in enumerate(qids) if qid in ranked or qid in judged), None)
    if place is None:
        return None
    qid = qids[place]
    name = qid.decode("utf-8", "replace")
    if qid in ranked:
        return place, Stop(CALCULATION, f"query {name} of the run ranks {ranked[qid]} twice")
    return place, Stop(CALCULATION, f"query {name} of the qrels judges {judged[qid]} twice")


def _second(pair: tuple[int, bytes]) -> bytes:
    return pair[1]


def _unanswered(qid: bytes) -> Stop:
    name = qid.decode("utf-8", "replace")
    return Stop(
        CALCULATION, f"the run does not answer query {name}; with -c it counts as 0 (trec_eval 10)"
    )


def _nothing() -> Stop:
    return Stop(NOTHING, "no query has both judgements and results")
