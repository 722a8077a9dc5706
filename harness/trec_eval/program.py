"""The program: read, rank, compute, print, in the order and with the exit status of trec_eval."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import output
from ..core.arrow import as_bytes
from ..core.ragged import Array
from ..errors import HarnessWarning
from . import arguments as command_line
from .arguments import Arguments
from .judgements import read_qrels
from .matching import Matched, match, policy_of
from .printing import fill, line, per_query
from .ranking import RunFile
from .requests import Request, requests
from .stop import Stop
from .summaries import Totals, summary
from .values import values_of


def main(given: Sequence[str]) -> int:
    """Run ``harness trec_eval`` with these arguments, and return its exit status."""
    try:
        arguments = command_line.parse(given)
        if arguments.help:
            from .help import help_text

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
