"""Values to lines, as C's ``printf`` writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..core.ragged import Array
from .requests import Request

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
