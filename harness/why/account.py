"""The path of one cell of a leaderboard, from its files to its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .. import origin, readers, results
from ..config.cells import Cell
from ..core.grade_check import takes_fractions
from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import Policy
from ..errors import HarnessError, UnknownNameError, did_you_mean
from .inputs import again, states
from .query_row import QueryRow, query_row_of
from .ranking import Step as Step
from .ranking import steps
from .row import Row, check_failed, meant, row_of

Several = TypeVar("Several", Row, QueryRow)

EXTREMES = 5
"""How many of the largest and of the smallest values are listed."""


@dataclass(frozen=True, eq=False)
class Account:
    """Where a value comes from.

    Parameters
    ----------
    name : str
        The cell: run, dataset and captured columns.
    metric : Metric
    value : float
        The summary, or the query's value where one was asked for.
    inputs : tuple of mapping
        Path, bytes and sha256 of the judgements' and the run's file, and ``state``: whether they
        are still the same.
    entry : Entry
        The evaluation that the results hold.
    manifest : mapping
        Of the results.
    cell : mapping
        What the manifest says of the cell: counts, cross-check.
    qid : str, optional
    derived : float, optional
        The query's value computed again from the files.
    ranking : tuple of Step
        The query's documents in rank order, each with what it adds; empty where no query was
        asked for.
    ideal : tuple of Step
        The judged documents in the ideal order, for metrics that divide by it.
    """

    name: str
    metric: Metric
    value: float
    inputs: tuple[Mapping[str, Any], ...]
    entry: Entry
    manifest: Mapping[str, Any]
    cell: Mapping[str, Any]
    qid: str | None = None
    derived: float | None = None
    ranking: tuple[Step, ...] = ()
    ideal: tuple[Step, ...] = ()

    @property
    def is_confirmed(self) -> bool:
        """Whether the files still give the query's value, to the last bit."""
        if self.derived is None or (self.derived != self.derived) != (self.value != self.value):
            return self.derived is None
        return self.derived != self.derived or self.derived == self.value

    @property
    def extremes(self) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Queries with the largest and with the smallest values, five each."""
        values = self.entry.evaluation.column(str(self.metric))
        qids = self.entry.evaluation.qids.to_pylist()
        order = np.argsort(values, kind="stable")
        order = order[~np.isnan(values[order])]
        low = [(qids[at], float(values[at])) for at in order[:EXTREMES].tolist()]
        high = [(qids[at], float(values[at])) for at in order[::-1][:EXTREMES].tolist()]
        return high, low


def why(
    folder: Path, run: str, metric: str, *, dataset: str | None = None,
    where: Sequence[str] = (), query: str | None = None, inputs: Path | None = None,
) -> Account | Row | QueryRow:  # fmt: skip
    """Return the path of one cell of a folder of results, or what a row is made of.

    A row of several cells (``summary``) is meant where all of its cells fit; with `query`, those
    that hold it: the one of its fold, or one of each seed.

    Parameters
    ----------
    folder : Path
        Where ``harness run`` wrote them.
    run, dataset, where
        Which cell; see :func:`harness.origin.one_cell`. Those of a row are taken too.
    metric : str
        One that the results hold, in any spelling.
    query : str, optional
        A qid: its ranking is read again from the files, and must give the value recorded.
    inputs : Path, optional
        The folder from which the config's paths start, where that or the results were moved.

    Raises
    ------
    InputError
        Where there are no results, a query's files are gone or have changed, or the cell could
        not be evaluated: with the reason.
    UnknownNameError
        Where there is no such cell, metric or query.
    """
    stored = results.read(folder, but=[results.LEADERBOARD])
    manifest = origin.with_inputs(stored.study.manifest, inputs)
    board = stored.study.board
    wanted = _metric(stored.config.parsed_metrics(), metric)
    some, rows = meant(board, run, dataset, where)
    if rows and query is None:
        row = row_of(stored, rows, wanted)
        return _looked_at(row, folder, manifest, some)
    if query is not None and some:
        some = _holding(query, some)
        values = query_row_of(stored, some, wanted, query)
        if values is not None:
            return _looked_at(values, folder, manifest, some)
    if not some:
        check_failed(board, run, dataset, where)
        every, _ = meant(board, run, dataset, ())
        origin.check_columns([one.columns for one in every], where)
    if some:  # a row's names say no more than these
        run = some[0].run
        dataset = some[0].dataset if len({one.dataset for one in some}) == 1 else None
        alike = {*some[0].columns.items()}.intersection(*(one.columns.items() for one in some))
        where = [f"{name}={value}" for name, value in alike]
    config, cells = again(folder, manifest, needed=query is not None)
    cell = origin.one_cell(cells, run, dataset, where)
    at = next(place for place, one in enumerate(board.entries) if _identity(one) == _identity(cell))
    entry = board.entries[at]
    account = Account(
        origin.name_of(cell), wanted, entry.summary[str(wanted)],
        states(folder, manifest, [cell]), entry, manifest, manifest["cells"][at],
    )  # fmt: skip
    if query is None:
        return account
    origin.check_inputs(folder, manifest, only=(cell.dataset_entry.path, cell.run_entry.path))
    return _of_query(account, cell, query, config.to_policy())


def _looked_at(
    row: Several, folder: Path, manifest: Mapping[str, Any], entries: Sequence[Entry]
) -> Several:
    """Add whether the files of a row's cells are still the same."""
    own = {_identity(one) for one in entries}
    try:
        _, cells = again(folder, manifest)
    except HarnessError as error:  # nothing of the row depends on it
        said = str(error.problems[0] if error.problems else error)
        return replace(row, unseen=" ".join(said.split()))
    cells = [cell for cell in cells if _identity(cell) in own]
    return replace(row, inputs=states(folder, manifest, cells))


def _identity(one: Entry | Cell) -> tuple[Any, ...]:
    return one.dataset, one.run, *sorted(one.columns.items())


def _holding(query: str, cells: Sequence[Entry]) -> list[Entry]:
    """Return the cells that hold a query; all of them where they are one, which says it better."""
    if len(cells) == 1:
        return list(cells)
    holding = [one for one in cells if query in one.evaluation.qids.to_pylist()]
    if not holding:
        every = list(dict.fromkeys(q for one in cells for q in one.evaluation.qids.to_pylist()))
        raise UnknownNameError(
            f"no query '{query}' in any of {len(cells)} cells of {cells[0].run}"
            f"{did_you_mean(query, every)}  ({len(every)} queries)"
        )
    return holding


def _metric(known: Sequence[Metric], name: str) -> Metric:
    metrics = {str(metric): metric for metric in known}
    if name not in metrics:
        try:
            found = [str(one) for one in parse(name)]
        except UnknownNameError:
            found = []
        if len(found) != 1 or found[0] not in metrics:
            raise UnknownNameError(
                f"these results hold no metric '{name}'{did_you_mean(name, metrics)}"
                f"  (they hold: {', '.join(metrics)})"
            )
        name = found[0]
    return metrics[name]


def _of_query(account: Account, cell: Cell, query: str, policy: Policy) -> Account:
    evaluation = account.entry.evaluation
    qids = evaluation.qids.to_pylist()
    if query not in qids:
        near = did_you_mean(query, qids)
        raise UnknownNameError(f"no query '{query}' in {account.name}{near}  ({len(qids)} queries)")
    metric, entry = account.metric, cell.dataset_entry
    value = float(evaluation.column(str(metric))[qids.index(query)])
    fractions = takes_fractions((metric,), policy)
    qrels = readers.read_qrels(
        entry.path, name=cell.dataset, fractions=fractions, **entry.options()
    )
    ranked = readers.read_run(
        cell.run_entry.path, dataset=qrels, name=cell.run, **cell.run_entry.options()
    )
    ranking, ideal, derived = steps(qrels, ranked, query, metric, policy)
    return replace(account, value=value, qid=query, derived=derived, ranking=ranking, ideal=ideal)
