"""The path of one value of a leaderboard, from its files to the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .. import readers as readers
from ..config.cells import Cell
from ..config.model import Config
from ..config.patterns import as_if_there
from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import Policy
from ..core.tables import Qrels, Run
from ..core.views import takes_fractions
from ..errors import HarnessError, InputError, Problem, UnknownNameError, did_you_mean
from ..experiment import origin as origin
from ..experiment import results as results
from .why_ranking import Step, steps
from .why_row import QueryRow, Row, States, check_failed, query_row_of, row_of, selected

Several = TypeVar("Several", Row, QueryRow)

EXTREMES = 5
"""How many of the largest and of the smallest values are listed."""
UNCHANGED = "unchanged"


@dataclass(frozen=True, eq=False)
class Account:
    """Where the value of a cell comes from, or that of one of its queries (`qid`).

    `inputs` are the qrels' and the run's file with their ``state`` now; `cell` is the cell's part
    of the `manifest`. Of a query there are also `derived`, its value computed again from the files,
    its `ranking`, and the `ideal` order if the metric divides by it.
    """

    name: str
    metric: Metric
    value: float
    inputs: States
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
        return self.derived is None or np.array_equal(self.derived, self.value, equal_nan=True)

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

    A row of several cells (``summary``) is meant if all of its cells fit; with `query`, those
    that hold it: the one of its fold, or one of each seed.

    Parameters
    ----------
    folder : Path
        Where ``harness run`` wrote them.
    run, dataset, where
        Which cell; see :func:`harness.experiment.origin.one_cell`. Those of a row are taken too.
    metric : str
        One that the results hold, in any spelling.
    query : str, optional
        A qid: its ranking is read again from the files, and must give the value recorded.
    inputs : Path, optional
        The folder from which the config's paths start, if that or the results were moved.

    Raises
    ------
    InputError
        If there are no results, a query's files are gone or have changed, or the cell could
        not be evaluated: with the reason.
    UnknownNameError
        If there is no such cell, metric or query.
    """
    stored = results.read(folder, but=[results.LEADERBOARD])
    manifest = origin.with_inputs(stored.study.manifest, inputs)
    board = stored.study.board
    wanted = _metric(board.entries[0].evaluation.metrics, metric)
    some, rows = selected(board, run, dataset, where)
    if rows and query is None:
        return _with_inputs(row_of(stored, rows, wanted), folder, manifest, some)
    if query is not None and some:
        some = _holding(query, some)
        values = query_row_of(stored, some, wanted, query)
        if values is not None:
            return _with_inputs(values, folder, manifest, some)
    if some:  # a row's names select no more than these
        run = some[0].run
        dataset = some[0].dataset if len({one.dataset for one in some}) == 1 else None
        shared = {*some[0].columns.items()}.intersection(*(one.columns.items() for one in some))
        where = [f"{name}={value}" for name, value in shared]
    else:
        check_failed(board, run, dataset, where)
        every, _ = selected(board, run, dataset, ())
        origin.check_columns([one.columns for one in every], where)
    if query is not None and not wanted.is_built_in:
        fix = "leave --query out; harness verify --plugins computes all values again"
        what = f"expected a metric of the harness with --query, got a plugin's: {wanted}"
        raise InputError(Problem(str(folder), what, fix=fix))
    config, cells = _cells(folder, manifest, needed=query is not None)
    cell = origin.one_cell(cells, run, dataset, where)
    at = [_identity(one) for one in board.entries].index(_identity(cell))
    entry = board.entries[at]
    account = Account(
        origin.name_of(cell), wanted, entry.summary[str(wanted)],
        _states(folder, manifest, [cell]), entry, manifest, manifest["cells"][at],
    )  # fmt: skip
    if query is None:
        return account
    return _of_query(account, folder, cell, query, config.to_policy())


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


def _identity(one: Entry | Cell) -> tuple[Any, ...]:
    return one.dataset, one.run, *sorted(one.columns.items())


def _holding(query: str, cells: Sequence[Entry]) -> list[Entry]:
    """Return the cells that hold a query; a single cell is left to :func:`_of_query`."""
    if len(cells) == 1:
        return list(cells)
    holding = [one for one in cells if query in one.evaluation.qids.to_pylist()]
    if not holding:
        every = list(dict.fromkeys(q for one in cells for q in one.evaluation.qids.to_pylist()))
        name = f"any of {len(cells)} cells of {cells[0].run}"
        raise _no_query(query, name, every)
    return holding


def _no_query(query: str, name: str, qids: Sequence[str]) -> UnknownNameError:
    near = did_you_mean(query, qids)
    return UnknownNameError(f"no query '{query}' in {name}{near}  ({len(qids)} queries)")


def _cells(
    folder: Path, manifest: Mapping[str, Any], *, needed: bool = False
) -> tuple[Config, list[Cell]]:
    """Return the config and the cells of results, also if files are gone.

    Raises InputError if inputs are `needed`, and none is where it was.
    """
    roots = (origin.root_of(folder, manifest), folder / manifest["base"])
    paths = [root / each["path"] for each in manifest["inputs"] for root in roots]
    with as_if_there(path for path in paths if not path.is_file()):
        return origin.again(folder, manifest, gone=not needed)


def _with_inputs(
    row: Several, folder: Path, manifest: Mapping[str, Any], entries: Sequence[Entry]
) -> Several:
    """Add whether the files of a row's cells are still the same."""
    own = {_identity(one) for one in entries}
    try:
        _, cells = _cells(folder, manifest)
    except HarnessError as error:  # nothing of the row depends on it
        text = str(error.problems[0] if error.problems else error)
        return replace(row, unseen=" ".join(text.split()))
    cells = [cell for cell in cells if _identity(cell) in own]
    return replace(row, inputs=_states(folder, manifest, cells))


def _states(folder: Path, manifest: Mapping[str, Any], cells: Sequence[Cell]) -> States:
    """Return the files of cells, qrels first, each with its state and whether it is there."""
    root = origin.root_of(folder, manifest)
    entries = [cell.dataset_entry for cell in cells]
    paths = [Path(path) for each in entries for path in (each.path, each.group) if path]
    paths += [Path(cell.run_entry.path) for cell in cells]
    recorded = {(root / each["path"]).resolve(): each for each in manifest["inputs"]}
    known = dict.fromkeys(path for one in paths if (path := one.resolve()) in recorded)
    changed = {
        Path(one.where).resolve(): one.what
        for one in origin.changes(folder, manifest, only=map(str, known))
    }
    return tuple(
        {**recorded[path], "state": changed.get(path, UNCHANGED), "there": path.is_file()}
        for path in known
    )


def read_inputs(
    folder: Path, manifest: Mapping[str, Any], cell: Cell, fractions: bool
) -> tuple[Qrels, Run]:
    """Read the qrels and the run of a cell; InputError if they are gone or have changed."""
    judged, ranked = cell.dataset_entry, cell.run_entry
    origin.check_inputs(folder, manifest, only=(judged.path, ranked.path))
    qrels = readers.read_qrels(
        judged.path, name=cell.dataset, fractions=fractions, **judged.options()
    )
    return qrels, readers.read_run(ranked.path, dataset=qrels, name=cell.run, **ranked.options())


def _of_query(account: Account, folder: Path, cell: Cell, query: str, policy: Policy) -> Account:
    """Return the account of one query's value, with its ranking read from the files."""
    evaluation = account.entry.evaluation
    qids = evaluation.qids.to_pylist()
    if query not in qids:
        raise _no_query(query, account.name, qids)
    metric = account.metric
    value = float(evaluation.column(str(metric))[qids.index(query)])
    fractions = takes_fractions((metric,), policy)
    qrels, ranked = read_inputs(folder, account.manifest, cell, fractions)
    ranking, ideal, derived = steps(qrels, ranked, query, metric, policy)
    return replace(account, value=value, qid=query, derived=derived, ranking=ranking, ideal=ideal)
