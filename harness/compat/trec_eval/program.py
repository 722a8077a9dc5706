"""The program: read, rank, compute, print, in the order and with the exit status of trec_eval."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ... import files as output
from ...core.align import align
from ...core.aligned import Aligned
from ...core.arrow import as_bytes
from ...core.docnos import Docnos
from ...core.parameter import MOST
from ...core.policy import Policy
from ...core.ragged import Array, Bools, Ints
from ...core.tables import Qrels, Run
from ...errors import AlignmentError, HarnessWarning
from ...readers.format import ScatteredQueries
from . import arguments as command_line
from .arguments import CALCULATION, NOTHING, Arguments, Stop
from .input import RunFile, read_qrels, strings, twice_in
from .requests import Request, Totals, fill, line, per_query, requests, summary
from .values import emptied, values_of

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


def main(given: Sequence[str]) -> int:
    """Run ``harness trec_eval`` with these arguments, and return its exit status."""
    try:
        arguments = command_line.parse(given)
        if arguments.help:
            from .arguments import help_text

            write(help_text(arguments))
        else:
            _evaluate(arguments)
    except Stop as stop:
        sys.stdout.flush()
        sys.stderr.write(f"harness trec_eval: {stop.message}\n")
        return stop.status
    return 0


def write(text: str) -> None:
    """Write text that holds a character for each byte."""
    sys.stdout.flush()
    with output.printing():
        sys.stdout.buffer.write(text.encode("latin-1"))
        sys.stdout.buffer.flush()


@dataclass(frozen=True)
class _Values:
    """A request with its values, one array a line, for the queries in the order of their qids."""

    request: Request
    columns: Sequence[Array]


def _evaluate(arguments: Arguments) -> None:
    wanted = requests(arguments)
    version = arguments.version.number
    qrels = read_qrels(arguments.qrels, version)
    only = None if arguments.only is None else {arguments.only.encode("latin-1")}
    judged = frozenset(as_bytes(qrels.qids))
    run = RunFile(arguments.run, version, policy_of(arguments), only or judged)
    matched = match(qrels, run, arguments, any(r.measure.needs_documents for r in wanted))
    evaluated = [_Values(request, _columns(request, matched, arguments)) for request in wanted]
    if arguments.per_query:
        printed = [values for values in evaluated if values.request.measure.per_query]
        qids = [qid.decode("latin-1") for qid in matched.qids]
        columns = [column for values in printed for column in values.columns]
        write(per_query([values.request for values in printed], columns, qids))
    if matched.stop is not None:
        raise matched.stop
    if arguments.summary:
        totals = Totals(
            qrels.n_queries if arguments.complete else len(matched.qids),
            len(matched.qids),
            int((qrels.grades > 0).sum()) if arguments.complete else None,
            run.run_id,
        )
        write("".join(_summary_lines(values, totals) for values in evaluated))
    _warn(run, matched, arguments)


def _columns(request: Request, matched: Matched, arguments: Arguments) -> list[Array]:
    """Return the values of one measure, with version 10's for queries that are not answered."""
    if not matched.qids:
        return [np.zeros(0) for _ in request.names]
    columns = []
    for name, values in zip(
        request.names, values_of(request, matched.aligned, arguments), strict=True
    ):
        column = values[matched.rows]
        if matched.stood_in.any():
            if name in ("num_ret", "utility", "rbp_resid") or name.startswith("unj"):
                column = np.where(matched.stood_in, 0, column)
            elif name == "relstring":
                column = np.where(matched.stood_in, "", column)
        columns.append(column)
    return columns


def _summary_lines(values: _Values, totals: Totals) -> str:
    request = values.request
    if request.measure.summary == "nothing":
        return ""
    return "".join(
        fill(line(request, name), (summary(request, column, totals),), "all")
        for name, column in zip(request.names, values.columns, strict=True)
    )


def _warn(run: RunFile, matched: Matched, arguments: Arguments) -> None:
    """Say what trec_eval passes over in silence, and the reader of the run does not tell."""
    counts = {
        "queries without judgements, left out": matched.n_extra,
        "judged queries that the run does not answer, left out (-c counts them as 0)": (
            0 if arguments.complete else matched.n_missing
        ),
        "queries without a relevant document": matched.n_empty,
    }
    for what, count in counts.items():
        if count:
            warnings.warn(HarnessWarning(f"{run.path}: {what}: {count}"), stacklevel=2)
