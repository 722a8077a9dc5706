"""What is to be computed: each measure asked for, with its parameters and the names it prints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.ragged import Array
from ...metrics.trec_average import SMALLEST
from .arguments import FILES, Arguments, Stop, atof, atol
from .versions import Measure

SHARED = ("dcg", "ideal_dcg", "ndcg")
"""Measures that hold their gains in one place in version 10: each takes those of the one before
it where it is given none, and all are computed with the last ones."""
Pairs = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Request:
    """One measure with its parameters.

    ``numbers`` are the cutoffs, levels or numbers, ``pairs`` the gains as they are written.
    ``names`` are those of its lines.
    """

    measure: Measure
    names: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    pairs: Pairs = ()


def requests(arguments: Arguments) -> list[Request]:
    """Return the measures asked for, in the order in which they are printed.

    Raises
    ------
    Stop
        Where parameters cannot be used.
    """
    version = arguments.version
    found = []
    inherited = None
    for name in version.order:
        if name not in arguments.measures:
            continue
        text = arguments.parameters.get(name)
        if version.number == 10 and name in SHARED:
            inherited = text = text or inherited
        found.append(_request(version.measure(name), text))
    last = next(
        (request.pairs for request in reversed(found) if request.measure.name in SHARED), ()
    )
    return [
        replace(request, pairs=last)
        if version.number == 10 and request.measure.name in SHARED
        else request
        for request in found
    ]


def _request(measure: Measure, text: str | None) -> Request:
    name = measure.name
    if measure.takes == "nothing":
        return Request(measure, (name,))
    if measure.takes in ("cutoffs", "levels"):
        cutoffs = measure.default if text is None else _cutoffs(measure, text)
        return Request(measure, tuple(_name(name, cutoff) for cutoff in cutoffs), cutoffs)
    if text is None:
        return Request(measure, (name,), measure.default)
    names = (f"{name}_{text}",)
    if measure.takes == "gains":
        return Request(measure, names, pairs=_pairs(measure, text))
    return Request(measure, names, tuple(map(atof, text.split(","))))


def _cutoffs(measure: Measure, text: str) -> tuple[float, ...]:
    read = atol if measure.takes == "cutoffs" else atof
    cutoffs = sorted(read(number) for number in text.split(","))
    if measure.takes == "cutoffs" and cutoffs[0] <= 0:
        raise Stop(FILES, f"measure '{measure.name}.{text}': a cutoff is at least 1")
    if len(set(cutoffs)) != len(cutoffs):
        raise Stop(FILES, f"measure '{measure.name}.{text}': a cutoff is there twice")
    return tuple(cutoffs)


def _name(name: str, cutoff: float) -> str:
    """Return the name of one line; a level has two decimals, and eight characters at most.

    >>> _name("P", 5), _name("Rprec_mult", 0.25), _name("Rprec_mult", 123456.0)
    ('P_5', 'Rprec_mult_0.25', 'Rprec_mult_123456.0')
    """
    return (
        f"{name}_{cutoff:.2f}"[: len(name) + 9] if isinstance(cutoff, float) else f"{name}_{cutoff}"
    )


def _pairs(measure: Measure, text: str) -> Pairs:
    """Read ``1=3,2=9``.

    The check is trec_eval's: signs ``=`` and ``,`` take turns, and the last one is ``=``.
    """
    signs = [sign for sign in text if sign in ",="]
    last = ","
    for sign in signs:
        if sign == last:
            last = ","
            break
        last = sign
    if last != "=":
        raise Stop(
            FILES, f"measure '{measure.name}.{text}': write gains as GRADE=GAIN,GRADE=GAIN..."
        )
    items = (item.partition("=") for item in text.split(","))
    return tuple((grade, atof(gain)) for grade, _, gain in items)


_QID = "\0"  # stands for the qid in a line until it is known


def line(request: Request, name: str) -> str:
    """Return the format of one line, without its qid.

    >>> from .versions import VERSIONS
    >>> line(Request(VERSIONS["9"].measure("num_ret"), ("num_ret",)), "num_ret")
    'num_ret               \\t\\x00\\t%d\\n'
    """
    kind = "%d" if request.measure.whole else "%6.4f"
    if request.measure.name in ("relstring", "runid"):
        kind = "'%s'" if request.measure.name == "relstring" else "%s"
    return f"{name:<22}\t{_QID}\t{kind}\n".replace(name, name.replace("%", "%%"), 1)


def per_query(requests: Sequence[Request], columns: Sequence[Array], qids: Iterable[str]) -> str:
    """Return the lines of each query, one query after another.

    Parameters
    ----------
    requests : sequence of Request
        Those whose measures are printed for single queries.
    columns : sequence of ndarray, shape (n_queries,)
        Values, one array a line.
    qids : iterable of str
    """
    if not columns:
        return ""
    template = "".join(line(request, name) for request in requests for name in request.names)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return "".join(fill(template, values, qid) for qid, values in zip(qids, rows, strict=True))


def fill(template: str, values: Sequence[float | str], qid: str) -> str:
    """Return lines with their values and qid; NaN is written with its sign, as by C on x86."""
    text = template % tuple(values)
    if any(value != value for value in values):
        text = text.replace(f"\t{np.nan:6.4f}\n", f"\t{'-nan':>6}\n")
    return text.replace(_QID, qid)


@dataclass(frozen=True)
class Totals:
    """What summaries take from elsewhere than the values.

    ``queries`` is the number of queries they are over, ``evaluated`` how many of them have
    values; ``relevant``, where it is given, takes the place of the sum of ``num_rel``.
    """

    queries: int
    evaluated: int
    relevant: int | None = None
    run_id: str = ""


def summary(request: Request, column: Array, totals: Totals) -> float | str:
    """Return the summary of one line's values, which are added in the order of the queries."""
    how = request.measure.summary
    if how == "runid":
        return totals.run_id
    if how == "queries":
        return totals.queries
    if how == "relevant" and totals.relevant is not None:
        return totals.relevant
    total = float(np.cumsum(np.append(0.0, column))[-1])
    if how == "gm":
        total += (totals.queries - totals.evaluated) * math.log(SMALLEST)
        return math.exp(total / totals.queries)
    return total / totals.queries if how == "mean" else total
