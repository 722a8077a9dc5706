"""One query's value in a row of several repetitions."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..core.systems import systems_of
from ..escaping import lines_of
from ..results import Results
from . import inputs
from .row import row_key, row_name


@dataclass(frozen=True, eq=False)
class QueryRow:
    """The values of a query in the repetitions of a row, and their mean.

    Parameters
    ----------
    name : str
        Run and dataset of the row.
    run, dataset : str
        What the cells that hold the query are called.
    metric : Metric
    qid : str
    value : float
        The mean: what comparisons take for the query. NaN where a repetition has none.
    values : tuple of (mapping, float)
        Of each repetition: what tells it from the others, and its value.
    inputs : tuple of mapping
        As those of :class:`~harness.why.Account`.
    unseen : str
        Why the inputs were not looked at.
    """

    name: str
    run: str
    dataset: str
    metric: Metric
    qid: str
    value: float
    values: tuple[tuple[Mapping[str, str], float], ...]
    inputs: inputs.States = ()
    unseen: str = ""

    @property
    def is_confirmed(self) -> bool:
        """True: nothing is derived again."""
        return True


def query_row_of(
    stored: Results, cells: Sequence[Entry], metric: Metric, query: str
) -> QueryRow | None:
    """Return a query's values in a row; None where cells are not the repetitions of one.

    Parameters
    ----------
    stored : Results
    cells : sequence of Entry
        Those that hold the query.
    metric : Metric
    query : str
    """
    board = stored.study.board
    keys = {row_key(one, board) for one in cells}
    if len(cells) < 2 or len(keys) > 1:
        return None
    (key,) = keys
    rows = [one for one in systems_of(board) if (one.dataset, one.run) == key]
    if not rows or len(rows[0].entries) != len(cells) or query not in rows[0].qids:
        return None
    (system,) = rows
    at = system.qids.index(query)
    values = system.repetitions(metric)[:, at].tolist()
    varying = [{name: one.columns[name] for name in system.varying} for one in system.entries]
    return QueryRow(
        row_name(key), cells[0].run, cells[0].dataset, metric, query,
        float(np.asarray(system.values(metric))[at]), tuple(zip(varying, values, strict=True)),
    )  # fmt: skip


def render(found: QueryRow, folder: str) -> str:
    """Return what ``harness why`` prints; `folder` as the command was given it."""
    return lines_of(_lines(found, folder))


def _lines(found: QueryRow, folder: str) -> Iterator[str]:
    yield f"{found.metric} of query {found.qid}, {found.name}: {_shown(found.value)}"
    yield f"  mean of {len(found.values)} repetitions, as comparisons take it"
    for columns, value in found.values:
        yield f"  {' '.join(f'{name}={text}' for name, text in columns.items())}: {_shown(value)}"
    yield ""
    yield from inputs.lines(found.inputs, found.unseen)
    columns, _ = found.values[0]
    where = " ".join(f"--where {shlex.quote(f'{name}={text}')}" for name, text in columns.items())
    said = ("--run", found.run, "--metric", str(found.metric), "--dataset", found.dataset)
    yield ""
    yield "The ranking behind one of them:"
    yield f"  harness why {shlex.join((folder, *said, '--query', found.qid))} {where}"


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else repr(value)
