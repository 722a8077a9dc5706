"""The program: read, rank, compute, print, in the order and with the exit status of trec_eval."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter

import numpy as np

from ...core.align import align
from ...core.aligned import Aligned, columns_of
from ...core.arguments import MOST
from ...core.arrow import as_bytes
from ...core.metric import REGISTRY, TREC_CUT
from ...core.policy import Policy
from ...core.qrels_and_runs import Docnos, Qrels, Run
from ...core.ragged import Array, Bools, Floats, Ints, offsets_of
from ...errors import AlignmentError, printable, warn
from ...metrics.cascade import rank_biased_residual, rank_biased_sum
from ...metrics.judged import n_judged_at, n_looked_at
from ...metrics.shared import log2_discount
from ...metrics.trec_average import SMALLEST, precision_from
from ...metrics.trec_gain import Gains, gain_table
from ...readers.format import ScatteredQueries
from .arguments import (
    CALCULATION,
    FILES,
    NOTHING,
    Arguments,
    MeasureRequest,
    Stop,
    atol,
    help_text,
    parse,
    requests,
)
from .input import RunFile, read_qrels, strings, twice_in

PERSISTENCE = 0.9
"""The default p of rbp."""


@np.errstate(over="ignore", invalid="ignore")  # levels of 1e308 and nan are cast as C does
def values_of(request: MeasureRequest, aligned: Aligned, arguments: Arguments) -> Sequence[Array]:
    """Return one array a line of this measure, each ``(n_queries,)``; Stop if parameters misfit."""
    name, numbers, rel = request.measure.name, request.numbers, arguments.level
    is_ten = arguments.version.number == 10
    parameters: dict[str, object] = {}
    if name == "relstring":
        length = int(np.clip(np.nan_to_num(numbers[0]), 0, MOST))
        return [np.array(grade_strings(aligned, length), dtype=object)]
    if name == "11pt_avg":
        return [eleven_point_average(aligned, numbers, rel, is_ten)]
    if name == "iprec_at_recall" and is_ten:
        n = aligned.n_relevant(rel)
        return [precision_from(aligned, rounded(level * n), rel) for level in numbers]
    if name == "unj":
        return [
            (n_looked_at(aligned, int(cutoff)) - n_judged_at(aligned, int(cutoff))) / int(cutoff)
            for cutoff in numbers
        ]
    if request.measure.takes == "gains":
        gains = _gains(request, whole_only=is_ten)
        p = dict(request.pairs).get("p", PERSISTENCE)
        if name in ("dcg", "ideal_dcg"):
            return [discounted_gain(aligned, gains, ideal=name == "ideal_dcg")]
        if name == "rbp":
            return [rank_biased_precision(aligned, gains, p)]
        if name == "rbp_resid":  # 0 if all retrieved documents are judged
            is_partial = n_judged_at(aligned) < aligned.n_retrieved
            return [np.where(is_partial, rank_biased_residual(aligned, p), 0.0)]
        parameters = {"gains": gains}
    elif request.measure.takes in ("cutoffs", "levels"):
        return [_registered(name, aligned, rel, {"cutoff": cutoff}) for cutoff in numbers]
    elif name == "utility":
        if len(numbers) != 4:
            raise Stop(CALCULATION, f"measure '{name}' takes four coefficients, not {len(numbers)}")
        parameters = {"coefficients": numbers, "documents": arguments.documents}
    elif name == "set_F":
        parameters = {"beta": numbers[0]}
    return [_registered(name, aligned, rel, parameters)]


def _registered(name: str, aligned: Aligned, rel: int, parameters: dict[str, object]) -> Array:
    definition = REGISTRY[TREC_CUT.get(name, name)]
    level = {"rel": rel} if "rel" in definition.parameters else {}
    values: Array = definition.function(aligned, **level, **parameters)
    return values


def _gains(request: MeasureRequest, *, whole_only: bool) -> Gains:
    """Read the grades of the gains; version 10 skips names that are not numbers."""
    pairs = [
        (atol(grade), gain)
        for grade, gain in request.pairs
        if not whole_only or re.fullmatch("[+-]?[0-9]+", grade)
    ]
    if any(grade < 0 for grade, _ in pairs):
        message = "gains of documents that nobody judged (grades below 0) are not computed here"
        raise Stop(FILES, f"measure '{request.names[0]}': {message}")
    return tuple(pairs)


def truncated(documents: Array) -> Ints:
    """Return a level of recall as a number of documents, as version 9 does.

    >>> truncated(np.array([0.05, 0.5, 3.2])).tolist()
    [0, 1, 4]
    """
    numbers: Ints = (documents + 0.9).astype(np.int64)
    return numbers


def rounded(documents: Array) -> Ints:
    """Return a level of recall as a number of documents, as version 10 does.

    >>> rounded(np.array([0.49999999999999994, 0.5, 3.2, -0.5])).tolist()
    [0, 1, 3, -1]
    """
    towards_zero = np.trunc(documents)
    away = np.abs(documents - towards_zero) >= 0.5
    numbers: Ints = (towards_zero + np.sign(documents) * away).astype(np.int64)
    return numbers


def eleven_point_average(
    aligned: Aligned, levels: tuple[float, ...], rel: int, is_ten: bool
) -> Floats:
    """Return ``11pt_avg`` for levels in any order, ``(n_queries,)``.

    trec_eval looks for the levels from the last to the first while it walks up the list; one
    that is higher than the one before it is never met, and it and all others then count as
    the largest precision anywhere.
    """
    hits = aligned.found(rel).lengths
    best = precision_from(aligned, np.zeros_like(hits), rel)
    total, remaining = np.zeros(aligned.n_queries), hits
    beyond, stuck = np.ones(hits.size, dtype=bool), np.zeros(hits.size, dtype=bool)
    for level in reversed(levels):
        n_wanted = (rounded if is_ten else truncated)(level * aligned.n_relevant(rel))
        beyond &= n_wanted > hits
        met = ~beyond & ~stuck & (n_wanted >= 1) & (n_wanted <= remaining)
        stuck |= ~beyond & ~met
        remaining = np.where(met, n_wanted, remaining)
        total += np.where(met, precision_from(aligned, n_wanted, rel), np.where(stuck, best, 0.0))
    return total / len(levels)


def discounted_gain(aligned: Aligned, gains: Gains, *, ideal: bool) -> Floats:
    """Return version 10's ``dcg`` or ``ideal_dcg``, ``(n_queries,)``."""
    item, best = gain_table(aligned, gains)
    if ideal:
        return best.sum(best.values / log2_discount(best.rank))
    items = np.flatnonzero(item)
    return aligned.sum(item[items] / log2_discount(aligned.rank[items]), items)


def rank_biased_precision(aligned: Aligned, gains: Gains, p: float) -> Floats:
    """Return version 10's ``rbp``, ``(n_queries,)``.

    (1 - p) times the sum of gain times p^(rank - 1). If a query's gains do not all lie in
    [0, 1] they are brought to it: by the largest one of its grades and of those given on the
    command line, and the smallest if that is negative.

    trec_eval does not initialise the two bounds; here they are 0, as if it computes rbp alone.
    """
    item, _ = gain_table(aligned, gains)
    values = [gain for _, gain in gains]
    smallest, largest = min([0.0, *values]), np.full(aligned.n_queries, max([0.0, *values]))
    ideal = aligned.ideal
    filled = ideal.lengths > 0
    top = np.full(aligned.n_queries, -1)
    top[filled] = ideal.values[ideal.offsets[:-1][filled]]
    named = {grade for grade, _ in gains}
    for grade in np.unique(top).tolist():
        top_gain = next((level for level in range(grade, 0, -1) if level not in named), 0)
        largest[top == grade] = np.maximum(largest[top == grade], top_gain)
    row = aligned.row
    scaled = (smallest < 0) | (largest[row] > 1)
    gain = np.divide(item - smallest, largest[row] - smallest, out=item.copy(), where=scaled)
    items = np.flatnonzero((aligned.grade >= 0) & (gain != 0))
    return rank_biased_sum(aligned, gain[items], items, p)


def grade_strings(aligned: Aligned, length: int) -> list[str]:
    """Return the grades of the first documents of each query, a character each.

    A digit, or ``>`` above 9; ``.`` for a document in the pool that was not judged, ``-`` for
    one outside it.
    """
    lengths = np.minimum(aligned.n_retrieved, max(length, 0))
    offsets = offsets_of(lengths)
    signs = np.full(offsets[-1], ord("-"), dtype=np.uint8)
    listed = np.flatnonzero(aligned.rank <= lengths[aligned.row])
    grade = np.clip(aligned.grade[listed], -1, 10)
    of_grade = np.frombuffer(b"0123456789>.", dtype=np.uint8)  # the last one is for -1
    signs[offsets[aligned.row[listed]] + aligned.rank[listed] - 1] = of_grade[grade]
    text = signs.tobytes().decode("ascii")
    bounds = offsets.tolist()
    return [text[start:stop] for start, stop in pairwise(bounds)]


def emptied(aligned: Aligned) -> Aligned:
    """Return the alignment of the same queries with nothing retrieved (``-M 0``)."""
    n_retrieved, offsets = np.zeros_like(aligned.n_retrieved), np.zeros_like(aligned.offsets)
    nothing = columns_of(aligned, slice(0))
    return replace(aligned, n_retrieved=n_retrieved, n_tied=n_retrieved, offsets=offsets, **nothing)


_LARGEST = 2**32
"""The largest grade, for which trec_eval takes 32 GB of memory."""
_STAND_IN = b"no document"  # a blank, so that no document has this name


@dataclass(frozen=True)
class Matched:
    """The queries that are evaluated, sorted by the bytes of their qids.

    ``rows`` are their rows in ``aligned``; ``stood_in`` marks those that the run does not
    answer. ``stop`` is why the program ends after them, if it does. Summaries are over ``queries``;
    ``relevant`` replaces the sum of ``num_rel`` if it is not None.
    """

    aligned: Aligned
    qids: list[bytes]
    rows: Ints
    stood_in: Bools
    run_id: str
    queries: int
    relevant: int | None = None
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
        run.run_id,
        qrels.n_queries if arguments.complete else len(order),
        int((qrels.grades > 0).sum()) if arguments.complete else None,
        None if stop is None else stop[1],
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
    largest = np.maximum.reduceat(qrels.grades, qrels.offsets[:-1]) if qrels.n_rows else ()
    tops = dict(zip(as_bytes(qrels.qids), map(int, largest), strict=False))
    for place, qid in enumerate(qids):
        query, top = f"query {qid.decode('utf-8', 'replace')}", tops.get(qid, 0)
        reason = ""
        if qid in ranked:
            reason = f"{query} of the run ranks {ranked[qid]} twice"
        elif qid in judged:
            reason = f"{query} of the qrels judges {judged[qid]} twice"
        elif top > _LARGEST:
            reason = f"{query} of the qrels has the grade {top}, for which trec_eval has no memory"
        elif top < 0 and place == 0:
            reason = f"{query} of the qrels comes first and has no grade of 0 or more"
        if reason:
            return place, Stop(CALCULATION, reason)
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
        if arguments.shows_version:
            sys.stderr.write(f"trec_eval version {arguments.version.title}\n")
        elif arguments.help:
            write(help_text(arguments))
        else:
            _evaluate(arguments)
    except Stop as stop:
        sys.stdout.flush()
        sys.stderr.write(f"harness trec_eval: {stop.message}\n")
        return stop.status
    return 0


def write(text: str) -> None:
    """Write text that has a character for each byte; a terminal gets control bytes as escapes."""
    sys.stdout.flush()
    content = text.encode("latin-1")
    if sys.stdout.isatty():
        fields = content.decode("utf-8", "surrogateescape").split("\t")
        content = "\t".join(map(printable, fields)).encode("utf-8", "backslashreplace")
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _evaluate(arguments: Arguments) -> None:
    version = arguments.version
    asked = requests(version, arguments.measures, arguments.parameters)
    qrels = read_qrels(arguments.qrels, version.number)
    only = None if arguments.only is None else {arguments.only.encode("latin-1")}
    judged = frozenset(as_bytes(qrels.qids))
    run = RunFile(arguments.run, version.number, policy_of(arguments), only or judged)
    matched = match(
        qrels, run, arguments, any(request.measure.needs_documents for request in asked)
    )
    values = [(request, _columns(request, matched, arguments)) for request in asked]
    if arguments.per_query:
        qids = [qid.decode("latin-1") for qid in matched.qids]
        write(per_query([entry for entry in values if entry[0].measure.per_query], qids))
    if matched.stop is not None:
        raise matched.stop
    if arguments.summary:
        write("".join(summaries(request, columns, matched) for request, columns in values))
    aligned = matched.aligned
    n_empty = np.count_nonzero(aligned.n_relevant(arguments.level)[matched.rows] == 0)
    n_missing = 0 if arguments.complete else aligned.n_left_out
    for finding, count in (
        ("queries not in the qrels, left out", aligned.n_extra),
        ("judged queries that the run does not answer, left out (-c counts them as 0)", n_missing),
        ("queries without a relevant document", n_empty),
    ):
        if count:
            warn(f"{run.path}: {finding}: {count}")


def _columns(request: MeasureRequest, matched: Matched, arguments: Arguments) -> list[Array]:
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


_QID = "\0"  # in a line in place of the qid
_FORMATS = {"relstring": "'%s'", "runid": "%s"}


def _line(request: MeasureRequest, name: str) -> str:
    """Return the format of one line, without its qid.

    >>> from harness.compat.trec_eval.arguments import measure_of
    >>> _line(MeasureRequest(measure_of("num_ret"), ("num_ret",)), "num_ret")
    'num_ret               \\t\\x00\\t%d\\n'
    """
    kind = _FORMATS.get(request.measure.name, "%d" if request.measure.whole else "%6.4f")
    return f"{name:<22}\t{_QID}\t{kind}\n".replace(name, name.replace("%", "%%"), 1)


def _fill(template: str, values: Sequence[float | str], qid: str) -> str:
    """Return lines with their values and qid; NaN is written with its sign, as by C on x86."""
    text = template % tuple(values)
    if any(value != value for value in values):
        text = text.replace(f"\t{np.nan:6.4f}\n", f"\t{'-nan':>6}\n")
    return text.replace(_QID, qid)


def per_query(values: Sequence[tuple[MeasureRequest, Sequence[Array]]], qids: Iterable[str]) -> str:
    """Return the lines of each query, from the values ``(n_queries,)`` of each line."""
    template = "".join(_line(request, name) for request, _ in values for name in request.names)
    rows = zip(*(column.tolist() for _, columns in values for column in columns), strict=True)
    return "".join(_fill(template, row, qid) for qid, row in zip(qids, rows, strict=False))


def summaries(request: MeasureRequest, columns: Sequence[Array], matched: Matched) -> str:
    """Return the lines of one measure for all queries."""
    if request.measure.summary == "nothing":
        return ""
    return "".join(
        _fill(_line(request, name), (_summary(request, column, matched),), "all")
        for name, column in zip(request.names, columns, strict=True)
    )


def _summary(request: MeasureRequest, column: Array, matched: Matched) -> float | str:
    """Return the summary of one line's values, which are added in the order of the queries."""
    summary = request.measure.summary
    if summary == "runid":
        return matched.run_id
    if summary == "queries":
        return matched.queries
    if summary == "relevant" and matched.relevant is not None:
        return matched.relevant
    total = float(np.cumsum(np.append(0.0, column))[-1])
    if summary == "gm":
        total += (matched.queries - len(matched.qids)) * math.log(SMALLEST)
        return math.exp(total / matched.queries)
    return total / matched.queries if summary == "mean" else total
