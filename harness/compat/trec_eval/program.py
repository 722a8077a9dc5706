"""The program: read, rank, compute, print, in the order and with the exit status of trec_eval."""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ... import readers
from ...core.aligned import Aligned
from ...core.arguments import MOST
from ...core.metric import REGISTRY, TREC_CUT
from ...core.policy import Policy
from ...core.ragged import Array, Floats, Ints, offsets_of
from ...errors import AlignmentError, HarnessWarning, InputError
from ...metrics.cascade import rank_biased_residual, rank_biased_sum
from ...metrics.judged import n_judged_at, n_looked_at
from ...metrics.shared import log2_discount
from ...metrics.trec_average import SMALLEST, precision_from
from ...metrics.trec_gain import Gains, gain_table
from ...readers.source import Source
from .arguments import (
    CALCULATION,
    FILES,
    NOTHING,
    Arguments,
    Request,
    Stop,
    help_text,
    parse,
    requests,
    whole,
)

PERSISTENCE = 0.9
"""The default p of rbp."""


@np.errstate(over="ignore", invalid="ignore")  # levels of 1e308 and nan are cast as C does
def values_of(request: Request, aligned: Aligned, arguments: Arguments) -> Sequence[Array]:
    """Return one array a line of this measure, each ``(n_queries,)``; Stop if parameters misfit."""
    name, numbers, rel = request.measure.name, request.numbers, arguments.level
    is_ten = arguments.version.number == 10
    parameters: dict[str, object] = {}
    if name == "relstring":
        length = int(np.clip(np.nan_to_num(numbers[0]), 0, MOST))
        return [np.array(grade_strings(aligned, length), dtype=object)]
    if name == "11pt_avg" and list(numbers) != sorted(numbers):
        raise Stop(CALCULATION, "measure '11pt_avg': expected levels of recall that rise")
    if name in ("11pt_avg", "iprec_at_recall") and is_ten:
        n = aligned.n_relevant(rel)
        found = [precision_from(aligned, rounded(level * n), rel) for level in numbers]
        mean: Floats = sum(reversed(found), np.zeros(n.size)) / len(found)
        return [mean] if name == "11pt_avg" else found
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
    elif name == "11pt_avg":
        parameters = {"levels": numbers}
    return [_registered(name, aligned, rel, parameters)]


def _registered(name: str, aligned: Aligned, rel: int, parameters: dict[str, object]) -> Array:
    definition = REGISTRY[TREC_CUT.get(name, name)]
    level = {"rel": rel} if "rel" in definition.parameters else {}
    values: Array = definition.function(aligned, **level, **parameters)
    return values


def _gains(request: Request, *, whole_only: bool) -> Gains:
    """Read the grades of the gains; version 10 skips names that are not numbers."""
    pairs = [
        (whole(grade), gain)
        for grade, gain in request.pairs
        if not whole_only or re.fullmatch("[+-]?[0-9]+", grade)
    ]
    if any(grade < 0 for grade, _ in pairs):
        what = "gains of documents that nobody judged (grades below 0) are not computed here"
        raise Stop(FILES, f"measure '{request.names[0]}': {what}")
    return tuple(pairs)


def rounded(documents: Array) -> Ints:
    """Return a level of recall as a number of documents, as version 10 does.

    >>> rounded(np.array([0.49999999999999994, 0.5, 3.2, -0.5])).tolist()
    [0, 1, 3, -1]
    """
    towards_zero = np.trunc(documents)
    away = np.abs(documents - towards_zero) >= 0.5
    whole: Ints = (towards_zero + np.sign(documents) * away).astype(np.int64)
    return whole


def discounted_gain(aligned: Aligned, gains: Gains, *, ideal: bool) -> Floats:
    """Return version 10's ``dcg`` or ``ideal_dcg``, ``(n_queries,)``."""
    table = gain_table(aligned, gains)
    if ideal:
        return table.ideal.sum(table.ideal.values / log2_discount(table.ideal.rank))
    items = np.flatnonzero(table.item)
    return aligned.sum(table.item[items] / log2_discount(aligned.rank[items]), items)


def rank_biased_precision(aligned: Aligned, gains: Gains, p: float) -> Floats:
    """Return version 10's ``rbp``, ``(n_queries,)``.

    (1 - p) times the sum of gain times p^(rank - 1). If a query's gains do not all lie in
    [0, 1] they are brought to it: by the largest one of its grades and of those given on the
    command line, and the smallest if that is negative.

    trec_eval does not initialise the two bounds: they are what the measures computed before it
    left on the C program's stack, so that any of them may change its value. Here they are 0, as
    if it computes rbp alone.
    """
    item = gain_table(aligned, gains).item
    own = [gain for _, gain in gains]
    smallest, largest = min([0.0, *own]), np.full(aligned.n_queries, max([0.0, *own]))
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
    first = np.flatnonzero(aligned.rank <= lengths[aligned.row])
    grade = np.clip(aligned.grade[first], -1, 10)
    of_grade = np.frombuffer(b"0123456789>.", dtype=np.uint8)  # the last one is for -1
    signs[offsets[aligned.row[first]] + aligned.rank[first] - 1] = of_grade[grade]
    text = signs.tobytes().decode("ascii")
    bounds = offsets.tolist()
    return [text[start:stop] for start, stop in pairwise(bounds)]


@dataclass(frozen=True)
class Matched:
    """The queries that are evaluated, sorted by the bytes of their qids.

    ``rows`` are their rows in ``aligned``. Summaries are over ``queries``. ``relevant`` replaces
    the sum of ``num_rel`` if it is not None, and ``run_id`` is the tag of the run's last line.
    """

    aligned: Aligned
    qids: list[str]
    rows: Ints
    queries: int
    relevant: int | None
    run_id: str


def policy_of(arguments: Arguments) -> Policy:
    """Return the order of the documents, and the queries and documents that count."""
    return Policy(
        ties=arguments.version.ties,
        missing_queries="zero" if arguments.version.number == 10 else "skip",
        depth=None if arguments.depth is None else min(arguments.depth, MOST),
        judged_only=arguments.judged_only,
    )


def match(arguments: Arguments) -> Matched:
    """Read both files and join them; Stop if they cannot be read or share no query.

    Version 9 evaluates the queries that both have. Version 10 evaluates all that are judged, and
    stops at one that the run does not answer, unless ``-c`` counts it as 0.
    """
    try:
        qrels = readers.read_qrels(arguments.qrels, format="trec")
        source = Source(arguments.run)
        (aligned,) = readers.align_run(qrels, source, policy_of(arguments), format="trec")
    except InputError as error:
        is_repeated = error.problems[0].rule == "duplicates"
        raise Stop(CALCULATION if is_repeated else FILES, str(error)) from None
    except AlignmentError:
        raise Stop(NOTHING, "no query has both judgements and results") from None
    qids = aligned.qids.to_pylist()
    order = sorted((qid, row) for row, qid in enumerate(qids) if arguments.only in (None, qid))
    rows = np.array([row for _, row in order], dtype=np.int64)
    if not order:
        raise Stop(NOTHING, f"no query '{arguments.only}' has both judgements and results")
    unanswered = rows[~aligned.answered[rows]]
    if unanswered.size and not arguments.complete:
        what = f"the run does not answer query {qids[unanswered[0]]}; with -c it counts as 0"
        raise Stop(CALCULATION, f"{what} (trec_eval 10)")
    last = [line for line in source.last_lines if line.strip()][-1]
    return Matched(
        aligned, [qid for qid, _ in order], rows,
        queries=qrels.n_queries if arguments.complete else len(order),
        relevant=int((qrels.grades > 0).sum()) if arguments.complete else None,
        run_id=last.split()[5].decode(),
    )  # fmt: skip


def _warn(aligned: Aligned, rows: Ints, arguments: Arguments) -> None:
    for what, count in (
        ("queries not in the qrels, left out", aligned.n_extra),
        (
            "judged queries that the run does not answer, left out (-c counts them as 0)",
            0 if arguments.complete else aligned.n_left_out,
        ),
        (
            "queries without a relevant document",
            np.count_nonzero(aligned.n_relevant(arguments.level)[rows] == 0),
        ),
    ):
        if count:
            warnings.warn(HarnessWarning(f"{arguments.run}: {what}: {count}"), stacklevel=3)


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
    """Write text with the line ends of trec_eval."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def _evaluate(arguments: Arguments) -> None:
    wanted = requests(arguments.version, arguments.measures, arguments.parameters)
    matched = match(arguments)
    values = [(request, _columns(request, matched, arguments)) for request in wanted]
    if arguments.per_query:
        write(per_query([one for one in values if one[0].measure.per_query], matched.qids))
    if arguments.summary:
        write("".join(summaries(request, columns, matched) for request, columns in values))
    _warn(matched.aligned, matched.rows, arguments)


def _columns(request: Request, matched: Matched, arguments: Arguments) -> list[Array]:
    """Return the values of one measure, 0 for a query that is not answered."""
    columns = [values[matched.rows] for values in values_of(request, matched.aligned, arguments)]
    if request.measure.name in ("utility", "rbp_resid"):
        answered = matched.aligned.answered[matched.rows]
        columns = [np.where(answered, column, 0.0) for column in columns]
    return columns


_QID = "\0"  # in a line in place of the qid
_FORMATS = {"relstring": "'%s'", "runid": "%s"}


def _line(request: Request, name: str) -> str:
    """Return the format of one line, without its qid.

    >>> from harness.compat.trec_eval.arguments import measure_of
    >>> _line(Request(measure_of("num_ret"), ("num_ret",)), "num_ret")
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


def per_query(values: Sequence[tuple[Request, Sequence[Array]]], qids: Iterable[str]) -> str:
    """Return the lines of each query, from the values ``(n_queries,)`` of each line."""
    template = "".join(_line(request, name) for request, _ in values for name in request.names)
    rows = zip(*(column.tolist() for _, some in values for column in some), strict=True)
    return "".join(_fill(template, row, qid) for qid, row in zip(qids, rows, strict=False))


def summaries(request: Request, columns: Sequence[Array], matched: Matched) -> str:
    """Return the lines of one measure for all queries."""
    if request.measure.summary == "nothing":
        return ""
    return "".join(
        _fill(_line(request, name), (_summary(request, column, matched),), "all")
        for name, column in zip(request.names, columns, strict=True)
    )


def _summary(request: Request, column: Array, matched: Matched) -> float | str:
    """Return the summary of one line's values, which are added in the order of the queries."""
    how = request.measure.summary
    if how == "runid":
        return matched.run_id
    if how == "queries":
        return matched.queries
    if how == "relevant" and matched.relevant is not None:
        return matched.relevant
    total = float(np.cumsum(np.append(0.0, column))[-1])
    if how == "gm":
        total += (matched.queries - len(matched.qids)) * math.log(SMALLEST)
        return math.exp(total / matched.queries)
    return total / matched.queries if how == "mean" else total
