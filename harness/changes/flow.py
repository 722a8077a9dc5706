"""Two leaderboards -> everything that is not the same in them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.metric import Direction, Metric
from ..core.plan import Plan
from ..errors import InputError, Problem, UnknownNameError, did_you_mean
from .board import Board, Key, canonical, matched
from .cells import (
    Cell,
    directions_of,
    only_in,
    other_repetitions,
    shared_keys,
    status_of,
    tolerance_of,
)
from .folder import read_folder
from .origins import Difference, origins
from .queries import Paired, corrected, paired, pairing, test_of
from .rankings import Rankings, rankings
from .ranks import Order, order
from .reproduced import Reproduced, check_baselines, reproduced
from .sheet import read_csv


@dataclass(frozen=True, eq=False)
class Changes:
    """What is not the same in two leaderboards.

    Parameters
    ----------
    old, new : str
        Folder or file of each.
    cells : tuple of Cell
        Every row by every metric of both.
    only_old, only_new : tuple of Key
        Rows of one of them.
    metrics_only_old, metrics_only_new : tuple of str
    orders : tuple of Order
        By dataset and metric: ranks and how alike they are.
    origins : tuple of Difference
        Of two folders: inputs, config, policies, versions, counts.
    reproduced : tuple of Reproduced
    rankings : tuple of Rankings
        Where that was asked for: values, and the rankings of two folders.
    plan : Plan
        How the queries of cells that moved were tested.
    family : int
        How many tests were corrected together.
    has_queries : bool
        Whether both hold the values of each query.
    exact : bool
        Whether any digit counts, and no rounding was allowed for.
    tolerance : float or None
        The one given.
    p : float
        Persistence of RBO.
    notes : tuple of str
        What was taken for what.
    repetitions : mapping of Key to (int, int)
        Rows that stand for another number of repetitions (seeds) in `new` than in `old`.
    """

    old: str
    new: str
    cells: tuple[Cell, ...]
    only_old: tuple[Key, ...]
    only_new: tuple[Key, ...]
    metrics_only_old: tuple[str, ...]
    metrics_only_new: tuple[str, ...]
    orders: tuple[Order, ...]
    origins: tuple[Difference, ...]
    reproduced: tuple[Reproduced, ...]
    rankings: tuple[Rankings, ...]
    plan: Plan
    family: int
    has_queries: bool
    exact: bool
    tolerance: float | None
    p: float
    notes: tuple[str, ...]
    repetitions: Mapping[Key, tuple[int, int]]

    def having(self, status: str) -> list[Cell]:
        """Return the cells of a status, the largest difference first, by any metric."""
        found = [one for one in self.cells if one.status == status]
        return sorted(found, key=lambda one: -_size(one))

    @property
    def has_regression(self) -> bool:
        """Whether a value became worse by more than the tolerance, or is gone."""
        return any(one.status == "worse" for one in self.cells)

    @property
    def has_change(self) -> bool:
        """Whether a value, a row or a metric is not the same; a query, where any digit counts."""
        lists = (self.only_old, self.only_new, self.metrics_only_old, self.metrics_only_new)
        moved = any(one.has_moved for one in self.cells)
        queries = any(one.status == "queries" for one in self.cells)
        return moved or (queries and not self.tolerance) or any(lists)


def _size(cell: Cell) -> float:
    return math.inf if math.isnan(cell.difference) else abs(cell.difference)


def changes(
    old: str | Path,
    new: str | Path,
    *,
    metrics: Collection[str] = (),
    dataset: str | None = None,
    tolerance: float | None = None,
    lower: Collection[str] = (),
    keys: Sequence[str] = (),
    names: Sequence[tuple[str, str]] = (),
    p: float = 0.9,
    plan: Plan | None = None,
    reproduction: bool = False,
) -> Changes:
    """Compare two leaderboards: what moved, which queries did it, who changed places, and why.

    Parameters
    ----------
    old, new : path
        Folders that ``harness run`` wrote, or leaderboards as CSV, ours or anyone's.
    metrics : collection of str
        Those looked at; all of both where empty.
    dataset : str, optional
        The one looked at.
    tolerance : float, optional
        The largest difference that is none. Where left out, half a unit of the last digit that a
        CSV prints, and 0 between folders.
    lower : collection of str
        Metrics of which lower is better, where we do not know them.
    keys : sequence of str
        Of a CSV: the column of runs, then others that tell rows apart.
    names : sequence of (str, str)
        What runs, datasets and metrics of `old` are called in `new`.
    p : float
        Persistence of RBO.
    plan : Plan, optional
        Test, correction and level for the queries; paired t with Holm's correction over all cells
        that moved. Its baselines are those that effects of a reproduction are over.
    reproduction : bool
        Whether `new` is a reproduction of `old`: see :class:`~.reproduced.Reproduced`.

    Returns
    -------
    Changes

    Raises
    ------
    InputError
        With file and line, where one is no leaderboard; where they have no row or no metric in
        common.
    UnknownNameError
        Where there is no such metric, dataset, column, baseline or test.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name, text in ("old", "bm25,0.31\\nlsi,0.25"), ("new", "bm25,0.30\\nlsi,0.32"):
    ...         _ = Path(folder, f"{name}.csv").write_text(f"run,map\\n{text}\\n")
    ...     found = changes(Path(folder, "old.csv"), Path(folder, "new.csv"))
    >>> [(cell.key.run, cell.status) for cell in found.cells], found.has_regression
    ([('bm25', 'worse'), ('lsi', 'better')], True)
    >>> found.orders[0].similarity.swaps
    1
    """
    if tolerance is not None and not 0 <= tolerance < math.inf:
        raise UnknownNameError(f"the tolerance must be 0 or above, and is {tolerance:g}")
    if not 0 < p < 1:
        raise UnknownNameError(f"RBO's p must lie in (0, 1), and is {p:g}")
    plan = plan or Plan(())
    reproduction = reproduction or bool(plan.baselines)
    first, second, said = _boards(Path(old), Path(new), keys, names)
    if dataset is not None:
        first, second = (_on(board, dataset) for board in (first, second))
    rows = shared_keys(first, second)
    shared = _metrics(first, second, metrics)
    _check_common(first, second, rows, shared)
    wanted = {canonical(name)[0] for name in lower} | set(lower)
    directions, assumed = directions_of(first, second, shared, wanted)
    if assumed:
        said.append(f"higher is taken to be better by {', '.join(assumed)}; --lower says otherwise")
    cells = [
        _cell(first, second, key, name, directions[name], tolerance)
        for name in shared
        for key in rows
    ]
    has_queries = bool(first.evaluations and second.evaluations)
    family = 0
    if has_queries:
        cells, family = _with_queries(cells, first, second, plan)
    orders = [
        order(where, name, way, first, second, p)
        for where in dict.fromkeys(key.dataset for key in rows)
        for name in shared
        if (way := directions[name]) is not None
    ]
    check_baselines(rows, plan.baselines)
    again: Iterator[Reproduced] = iter(())
    alike: list[Rankings] = []
    if reproduction:
        own = {name: (str(first.metrics[name]), str(second.metrics[name])) for name in shared}
        again = reproduced(first, second, own, rows, plan.baselines)
        alike, unsaid = rankings(first, second, rows, p) if has_queries else ([], [])
        said += unsaid
    return Changes(
        str(old), str(new), tuple(cells),
        only_in(first, second.values), only_in(second, first.values),
        *((), ()) if metrics else (_lacking(first, second), _lacking(second, first)),
        tuple(one for one in orders if one is not None), origins(first, second), tuple(again),
        tuple(alike),
        plan, family, has_queries,
        tolerance is None and not any(cell.tolerance for cell in cells),
        tolerance, p, (*first.notes, *second.notes, *said), other_repetitions(first, second, rows),
    )  # fmt: skip


def _boards(
    old: Path, new: Path, keys: Sequence[str], names: Sequence[tuple[str, str]]
) -> tuple[Board, Board, list[str]]:
    """Return both boards: a row a system, as leaderboards have; cell by cell if that fits not."""
    found = matched(_read(old, keys, names), _read(new, keys, ()))
    if shared_keys(*found[:2]):
        return found
    return matched(_read(old, keys, names, cells=True), _read(new, keys, (), cells=True))


def _read(
    path: Path, keys: Sequence[str], names: Sequence[tuple[str, str]], *, cells: bool = False
) -> Board:
    if path.is_dir():
        return read_folder(path, names, cells=cells)
    return read_csv(path, keys, names)


def _on(board: Board, dataset: str) -> Board:
    if dataset not in board.datasets:
        known = ", ".join(board.datasets)
        near = did_you_mean(dataset, board.datasets)
        raise UnknownNameError(
            f"{board.name}: no dataset '{dataset}'{near}  (there are: {known or 'none'})"
        )
    kept = {key: row for key, row in board.values.items() if key.dataset == dataset}
    return replace(board, values=kept)


def _metrics(old: Board, new: Board, asked: Collection[str]) -> list[str]:
    both = [name for name in old.metrics if name in new.metrics]
    if not asked:
        return both
    found = []
    for name in asked:
        known = next((one for one in _spelled(name, old, both) if one in both), None)
        if known is None:
            raise UnknownNameError(
                f"no metric '{name}' in both{did_you_mean(name, both)}  "
                f"(there are: {', '.join(both) or 'none'})"
            )
        found.append(known)
    return list(dict.fromkeys(found))


def _spelled(name: str, board: Board, both: Sequence[str]) -> Iterator[str]:
    """Yield what a name may stand for: itself, ours, the one metric that adds settings to it."""
    own, metric = canonical(name)
    yield from (name, own)
    like = [
        one
        for one in both
        if (known := board.metrics[one]) is not None
        and metric is not None
        and not (metric.params or metric.given)
        and (known.definition, known.cutoff) == (metric.definition, metric.cutoff)
    ]
    if len(like) == 1:
        yield like[0]


def _check_common(old: Board, new: Board, rows: Sequence[Key], metrics: Sequence[str]) -> None:
    for what, found, sides in (
        ("row", rows, [list(map(str, one.values)) for one in (old, new)]),
        ("metric", metrics, [list(one.metrics) for one in (old, new)]),
    ):
        if not found:
            told = "; ".join(
                f"{board.name} has {', '.join(side[:3])}{', ...' * (len(side) > 3)}"
                for board, side in zip((old, new), sides, strict=True)
            )
            fix = "say what one is called in the other: --name OLD=NEW"
            raise InputError(Problem("compare", f"no {what} is in both: {told}", fix=fix))


def _lacking(board: Board, other: Board) -> tuple[str, ...]:
    return tuple(name for name in board.metrics if name not in other.metrics)


def _cell(
    old: Board,
    new: Board,
    key: Key,
    name: str,
    direction: Direction | None,
    given: float | None,
) -> Cell:
    before, after = old.values[key].get(name, math.nan), new.values[key].get(name, math.nan)
    tolerance = tolerance_of(old, new, name, given)
    status = status_of(before, after, tolerance, direction)
    return Cell(key, name, direction, before, after, tolerance, status)


def _with_queries(
    cells: Sequence[Cell], old: Board, new: Board, plan: Plan
) -> tuple[list[Cell], int]:
    """Return the cells with what their queries say, tested where anything moved."""
    test = test_of(plan)
    found: list[Paired | None] = []
    where: list[tuple[str, Metric | None]] = []
    result = []
    for cell in cells:
        before, after = old.evaluations.get(cell.key), new.evaluations.get(cell.key)
        metric, other = old.metrics[cell.metric], new.metrics[cell.metric]
        queries = None
        if before is not None and after is not None and metric is not None and other is not None:
            pairs = pairing(before, after, (str(metric), str(other)))
            queries = paired(pairs, cell.key, metric, plan, test)
            if cell.status == "same" and (queries.moved or queries.only_old or queries.only_new):
                cell = replace(cell, status="queries")
        found.append(queries if cell.has_moved or cell.status == "queries" else None)
        where.append((cell.key.dataset, metric))
        result.append(cell)
    done, family = corrected(found, where, plan)
    cells = [replace(cell, queries=one) for cell, one in zip(result, done, strict=True)]
    return cells, family
