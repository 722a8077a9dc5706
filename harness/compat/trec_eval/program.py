"""The program: read, rank, compute, print, in the order and with the exit status of trec_eval."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from ...core.align import align
from ...core.aligned import Aligned
from ...core.arguments import MOST
from ...core.arrow import as_bytes
from ...core.policy import Policy
from ...core.ragged import Array, Bools, Ints
from ...core.tables import Docnos, Qrels, Run
from ...errors import AlignmentError, HarnessWarning
from ...readers.format import ScatteredQueries
from .arguments import Arguments, help_text, parse
from .input import RunFile, read_qrels, strings, twice_in
from .measures import CALCULATION, NOTHING, Request, Stop, Totals, per_query, requests, summaries
from .values import emptied, values_of

_LARGEST = 2**32
"""The largest grade, for which trec_eval takes 32 GB of memory."""
_STAND_IN = b"no document"  # a blank, so that no document has this name


@dataclass(frozen=True)
class Matched:
    """The queries that are evaluated, sorted by the bytes of their qids.

    ``rows`` are their rows in ``aligned``; ``stood_in`` marks those that the run does not
    answer. ``stop`` is why the program ends after them, if it does.
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
    unjudged document. Stop if no query is in both.
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
    order = [row for row, qid in sorted(enumerate(qids), key=itemgetter(1)) if only in (None, qid)]
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

    It stops at a docno that comes twice, and if it gets no memory to count the documents of each
    grade: it asks for none if all grades of the first query are below 0, and for too much if a
    grade is huge.
    """
    ranked, judged = run.twice, twice_in(qrels)
    tops = np.maximum.reduceat(qrels.grades, qrels.offsets[:-1]) if qrels.n_rows else qrels.grades
    refused = np.flatnonzero((tops < 0) | (tops > _LARGEST))
    names = as_bytes(qrels.qids) if refused.size else []
    refused_tops = {names[query]: int(tops[query]) for query in refused.tolist()}
    for place, qid in enumerate(qids):
        query, top = f"query {qid.decode('utf-8', 'replace')}", refused_tops.get(qid, 0)
        what = ""
        if qid in ranked:
            what = f"{query} of the run ranks {ranked[qid]} twice"
        elif qid in judged:
            what = f"{query} of the qrels judges {judged[qid]} twice"
        elif top > _LARGEST:
            what = f"{query} of the qrels has the grade {top}, for which trec_eval has no memory"
        elif top < 0 and place == 0:
            what = f"{query} of the qrels comes first and has no grade of 0 or more"
        if what:
            return place, Stop(CALCULATION, what)
    return None


def _unanswered(qid: bytes) -> Stop:
    name = qid.decode("utf-8", "replace")
    return Stop(
        CALCULATION, f"the run does not answer query {name}; with -c it counts as 0 (trec_eval 10)"
    )


def _nothing() -> Stop:
    return Stop(NOTHING, "no query has both judgements and results")


def main(words: Sequence[str]) -> int:
    """Run ``harness trec_eval`` with these arguments, and return its exit status."""
    try:
        arguments = parse(words)
        if arguments.help:
            write(help_text(arguments))
        else:
            _evaluate(arguments)
    except Stop as stop:
        sys.stdout.flush()
        sys.stderr.write(f"harness trec_eval: {stop.message}\n")
        return stop.status
    return 0


def write(text: str) -> None:
    """Write text that has a character for each byte."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("latin-1"))
    sys.stdout.buffer.flush()


def _evaluate(arguments: Arguments) -> None:
    version = arguments.version
    wanted = requests(version, arguments.measures, arguments.parameters)
    qrels = read_qrels(arguments.qrels, version.number)
    only = None if arguments.only is None else {arguments.only.encode("latin-1")}
    judged = frozenset(as_bytes(qrels.qids))
    run = RunFile(arguments.run, version.number, policy_of(arguments), only or judged)
    matched = match(qrels, run, arguments, any(one.measure.needs_documents for one in wanted))
    values = [(request, _columns(request, matched, arguments)) for request in wanted]
    if arguments.per_query:
        printed = [one for one in values if one[0].measure.per_query]
        columns = [column for _, some in printed for column in some]
        qids = [qid.decode("latin-1") for qid in matched.qids]
        write(per_query([request for request, _ in printed], columns, qids))
    if matched.stop is not None:
        raise matched.stop
    if arguments.summary:
        totals = Totals(
            qrels.n_queries if arguments.complete else len(matched.qids),
            len(matched.qids),
            int((qrels.grades > 0).sum()) if arguments.complete else None,
            run.run_id,
        )
        write("".join(summaries(request, columns, totals) for request, columns in values))
    for what, count in (
        ("queries not in the qrels, left out", matched.n_extra),
        (
            "judged queries that the run does not answer, left out (-c counts them as 0)",
            0 if arguments.complete else matched.n_missing,
        ),
        ("queries without a relevant document", matched.n_empty),
    ):
        if count:
            warnings.warn(HarnessWarning(f"{run.path}: {what}: {count}"), stacklevel=2)


def _columns(request: Request, matched: Matched, arguments: Arguments) -> list[Array]:
    """Return the values of one measure, with version 10's for queries that are not answered."""
    if not matched.qids:
        return [np.zeros(0) for _ in request.names]
    columns = []
    for name, values in zip(
        request.names, values_of(request, matched.aligned, arguments), strict=True
    ):
        column = values[matched.rows]
        if name in ("num_ret", "utility", "rbp_resid", "relstring") or name.startswith("unj"):
            column = np.where(matched.stood_in, "" if name == "relstring" else 0, column)
        columns.append(column)
    return columns
