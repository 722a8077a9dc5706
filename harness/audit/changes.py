"""Two leaderboards -> everything that is not the same in them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from ..core.comparison import Plan, family_of
from ..core.metric import Direction
from ..errors import InputError, Problem, UnknownNameError, did_you_mean
from ..metrics.similarity import RankSimilarity, rank_similarity, ranks
from ..stats.corrections import adjust
from ..stats.registry import Test
from .changes_board import Board, Key, Names, canonical, matched, read_folder
from .changes_csv import read_csv
from .changes_origins import Difference, origins
from .changes_queries import Paired, paired, paired_test, pairing
from .changes_reproduced import Rankings, Reproduced, check_baselines, rankings, reproduced

Status = Literal["better", "worse", "changed", "queries", "same"]
_ROUNDING = 1e-9
"""What the sums behind two values may add to a difference, as a share of the tolerance."""


@dataclass(frozen=True)
class Cell:
    """One run by one metric, in both leaderboards.

    Parameters
    ----------
    key : Key
    metric : str
    direction : {"higher", "lower"} or None
        Which way is better; None for counts.
    old, new : float
        Over the queries that have a value in both; NaN if there is no value, or no such query.
    tolerance : float
        The largest difference that is none.
    status : str
        ``better`` or ``worse`` by more than the tolerance, ``changed`` where the metric has no
        better, ``queries`` where the values are within it and those of some query are not the
        same, ``same``. A value that is gone is ``worse``; one that was not there is ``changed``.
    queries : Paired, optional
        With two folders.
    old_all, new_all : float
        Over all queries of each leaderboard, as it has them.
    """

    key: Key
    metric: str
    direction: Direction | None
    old: float
    new: float
    tolerance: float
    status: Status
    queries: Paired | None = None
    old_all: float = math.nan
    new_all: float = math.nan

    @property
    def has_other_queries(self) -> bool:
        """Whether `old` and `new` are over fewer queries than the leaderboards' own values."""
        return (self.old, self.new) != (self.old_all, self.new_all) and not (
            math.isnan(self.old_all) or math.isnan(self.new_all)
        )

    @property
    def difference(self) -> float:
        """New minus old."""
        return self.new - self.old

    @property
    def size(self) -> float:
        """Absolute difference; infinite for a value that came or went."""
        return math.inf if math.isnan(self.difference) else abs(self.difference)

    @property
    def has_moved(self) -> bool:
        """Whether the value moved by more than the tolerance, came, or went."""
        return self.status in ("better", "worse", "changed")


def status_of(old: float, new: float, tolerance: float, direction: Direction | None) -> Status:
    """Return which way a value went.

    A difference as large as the tolerance is within it, also where floating point makes it a
    little larger: 0.51 - 0.5 is above 0.01.

    >>> status_of(0.51, 0.5, 0.01, "higher"), status_of(0.51, 0.4999, 0.01, "higher")
    ('same', 'worse')
    >>> status_of(0.3, 0.2, 0.0, "higher"), status_of(0.3, 0.2, 0.0, "lower")
    ('worse', 'better')
    >>> status_of(0.3, 0.25, 0.05, "higher"), status_of(0.3, float("nan"), 0.05, "higher")
    ('same', 'worse')
    """
    if math.isnan(old) or math.isnan(new):
        if math.isnan(old) and math.isnan(new):
            return "same"
        return "worse" if math.isnan(new) else "changed"
    rounding = 4 * math.ulp(max(abs(old), abs(new)))
    allowed = tolerance * (1 + _ROUNDING) + rounding if tolerance else 0.0
    if old == new or abs(new - old) <= allowed:
        return "same"
    if direction is None:
        return "changed"
    return "better" if (new > old) == (direction == "higher") else "worse"


@dataclass(frozen=True)
class RankChange:
    """One system's rank in both, among those of both; tied ones have the best of theirs."""

    key: Key
    old: int
    new: int

    @property
    def change(self) -> int:
        """By how many ranks it stands higher."""
        return self.old - self.new


@dataclass(frozen=True)
class Order:
    """How alike the orders by one metric on one dataset are.

    Parameters
    ----------
    dataset, metric : str
    similarity : RankSimilarity
        RBO, average overlap and same top are of the whole leaderboards, the rest of the systems
        of both.
    changes : tuple of RankChange
        Of every system in both, in the order of the new leaderboard.
    """

    dataset: str
    metric: str
    similarity: RankSimilarity
    changes: tuple[RankChange, ...]

    @property
    def has_ties(self) -> bool:
        """Whether one of them has two systems at one rank."""
        sides = {one.old for one in self.changes}, {one.new for one in self.changes}
        return any(len(side) < len(self.changes) for side in sides)

    @property
    def is_partly_shared(self) -> bool:
        """Whether a system is in one of the leaderboards alone."""
        return bool(self.similarity.only_first or self.similarity.only_second)

    @property
    def differs(self) -> bool:
        """Whether a system has another rank, or is in one of the leaderboards alone."""
        return bool(self.moved or self.is_partly_shared)

    @property
    def moved(self) -> int:
        """How many systems have another rank."""
        return sum(one.change != 0 for one in self.changes)

    @property
    def max_change(self) -> int:
        """Largest absolute rank change."""
        return max(abs(one.change) for one in self.changes)

    @property
    def mean_change(self) -> float:
        """Mean absolute rank change."""
        return sum(abs(one.change) for one in self.changes) / len(self.changes)


def order_of(
    dataset: str, metric: str, direction: Direction, old: Board, new: Board, p: float
) -> Order | None:
    """Return how alike two leaderboards order the systems of a dataset; None without a shared one.

    Where one prints fewer digits, both are ranked at these, so that its ties are ties.
    """
    sign = -1.0 if direction == "lower" else 1.0
    slack = max(board.slack.get(metric, 0.0) for board in (old, new))
    digits = round(-math.log10(2 * slack)) if slack else None
    first, second = (
        {
            key: sign * (value if digits is None else round(value, digits))
            for key, row in board.rows.items()
            if key.dataset == dataset and not math.isnan(value := row.values.get(metric, math.nan))
        }
        for board in (old, new)
    )
    shared = [key for key in first if key in second]
    if not shared:
        return None
    systems = [{key.name: value for key, value in side.items()} for side in (first, second)]
    similarity = rank_similarity(systems[0], systems[1], p=p)
    places = [ranks([side[key] for key in shared]) for side in (first, second)]
    changes = [RankChange(*one) for one in zip(shared, *places, strict=True)]
    changes.sort(key=lambda one: (one.new, one.old))
    return Order(dataset, metric, similarity, tuple(changes))


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
        return sorted(found, key=lambda one: -one.size)

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
        Whether `new` is a reproduction of `old`: see :class:`~.changes_reproduced.Reproduced`.

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
    first, second, notes = _boards(Path(old), Path(new), keys, names)
    if dataset is not None:
        first, second = (_on(board, dataset) for board in (first, second))
    rows = [key for key in first.rows if key in second.rows]
    shared = _metrics(first, second, metrics)
    _check_common(first, second, rows, shared)
    check_baselines(rows, plan.baselines)
    directions, assumed = _directions(first, second, shared, lower)
    if assumed:
        notes.append(
            f"higher is taken to be better by {', '.join(assumed)}; --lower says otherwise"
        )
    has_queries = first.manifest is not None and second.manifest is not None
    test = paired_test(plan) if has_queries else None
    cells = []
    for name in shared:
        allowed = max(board.slack.get(name, 0.0) for board in (first, second))
        allowed = allowed if tolerance is None else tolerance
        for key in rows:
            before, after = (
                board.rows[key].values.get(name, math.nan) for board in (first, second)
            )
            status = status_of(before, after, allowed, directions[name])
            cell = Cell(
                key, name, directions[name], before, after, allowed, status, None, before, after
            )
            cells.append(_with_queries(cell, first, second, plan, test) if test else cell)
    cells, family = _corrected(cells, first, plan)
    orders = [
        order_of(where, name, way, first, second, p)
        for where in dict.fromkeys(key.dataset for key in rows)
        for name in shared
        if (way := directions[name]) is not None
    ]
    again: list[Reproduced] = []
    alike: list[Rankings] = []
    if reproduction or plan.baselines:
        again = list(reproduced(first, second, shared, rows, plan.baselines))
        if has_queries:
            alike = rankings(first, second, rows, p, notes)
    only_metrics = [
        () if metrics else tuple(name for name in one.metrics if name not in other.metrics)
        for one, other in ((first, second), (second, first))
    ]
    return Changes(
        old=str(old),
        new=str(new),
        cells=tuple(cells),
        only_old=tuple(key for key in first.rows if key not in second.rows),
        only_new=tuple(key for key in second.rows if key not in first.rows),
        metrics_only_old=only_metrics[0],
        metrics_only_new=only_metrics[1],
        orders=tuple(one for one in orders if one is not None),
        origins=origins(first, second),
        reproduced=tuple(again),
        rankings=tuple(alike),
        plan=plan,
        family=family,
        has_queries=has_queries,
        exact=tolerance is None and not any(cell.tolerance for cell in cells),
        tolerance=tolerance,
        p=p,
        notes=(*first.notes, *second.notes, *notes),
        repetitions={
            key: (had, has)
            for key in rows
            if (had := first.rows[key].repetitions) is not None
            and (has := second.rows[key].repetitions) is not None
            and had != has
        },
    )


def _directions(
    old: Board, new: Board, metrics: Sequence[str], lower: Collection[str]
) -> tuple[dict[str, Direction | None], list[str]]:
    """Return which way each metric is better, and those for which it is only assumed."""
    lower = {*lower, *(canonical(one)[0] for one in lower)}
    found: dict[str, Direction | None] = {}
    for name in metrics:
        metric = old.metrics[name] or new.metrics[name]
        known = metric.definition.direction if metric is not None else "higher"
        found[name] = "lower" if name in lower else known
    assumed = [name for name in metrics if name not in lower and not old.metrics[name]]
    return found, [name for name in assumed if not new.metrics[name]]


def _boards(
    old: Path, new: Path, keys: Sequence[str], names: Names
) -> tuple[Board, Board, list[str]]:
    """Return both boards: a row a system, as leaderboards have; cell by cell if that fits not."""
    for cells in (False, True):
        first, second = (
            read_folder(path, some, cells=cells) if path.is_dir() else read_csv(path, keys, some)
            for path, some in ((old, names), (new, ()))
        )
        found = matched(first, second)
        if any(key in found[1].rows for key in found[0].rows):
            break
    return found


def _on(board: Board, dataset: str) -> Board:
    if dataset not in board.datasets:
        known = ", ".join(board.datasets)
        near = did_you_mean(dataset, board.datasets)
        raise UnknownNameError(
            f"{board.name}: no dataset '{dataset}'{near}  (there are: {known or 'none'})"
        )
    rows = {key: row for key, row in board.rows.items() if key.dataset == dataset}
    return replace(board, rows=rows)


def _metrics(old: Board, new: Board, asked: Collection[str]) -> list[str]:
    """Return the metrics asked for: by name, our name, or the one that adds settings to it."""
    both = [name for name in old.metrics if name in new.metrics]
    found = []
    for name in asked:
        own, metric = canonical(name)
        like = [
            one
            for one in both
            if (known := old.metrics[one]) is not None
            and metric is not None
            and not (metric.params or metric.given)
            and (known.definition, known.cutoff) == (metric.definition, metric.cutoff)
        ]
        some = [one for one in (name, own) if one in both] or like
        if not some or (len(like) > 1 and some is like):
            raise UnknownNameError(
                f"no metric '{name}' in both{did_you_mean(name, both)}  "
                f"(there are: {', '.join(both) or 'none'})"
            )
        found.append(some[0])
    return list(dict.fromkeys(found)) if asked else both


def _check_common(old: Board, new: Board, rows: Sequence[Key], metrics: Sequence[str]) -> None:
    for what, found, sides in (
        ("row", rows, [list(map(str, one.rows)) for one in (old, new)]),
        ("metric", metrics, [list(one.metrics) for one in (old, new)]),
    ):
        if not found:
            has = "; ".join(
                f"{board.name} has {', '.join(side[:3])}{', ...' if len(side) > 3 else ''}"
                for board, side in zip((old, new), sides, strict=True)
            )
            fix = "say what one is called in the other: --name OLD=NEW"
            raise InputError(Problem("compare", f"no {what} is in both: {has}", fix=fix))


def _with_queries(cell: Cell, old: Board, new: Board, plan: Plan, test: Test) -> Cell:
    """Return a cell with what its queries say, tested where anything moved.

    If the queries are not the same, its values are over those of both, which decide what it counts
    as. A value that came or went stays so. Without a shared query there is nothing to compare.
    """
    before, after = old.rows[cell.key].entry, new.rows[cell.key].entry
    metric, other = old.metrics[cell.metric], new.metrics[cell.metric]
    if before is None or after is None or metric is None or other is None:
        return cell
    pairs = pairing(before.evaluation, after.evaluation, (str(metric), str(other)))
    has_values = not (math.isnan(cell.old) or math.isnan(cell.new))
    if has_values and pairs.differ and not len(pairs.qids):
        cell = replace(cell, old=math.nan, new=math.nan, status="changed")
    elif has_values and pairs.differ:
        first = before.summary_over(str(metric), pairs.in_old)
        second = after.summary_over(str(other), pairs.in_new)
        status = status_of(first, second, cell.tolerance, cell.direction)
        cell = replace(cell, old=first, new=second, status=status)
    queries = paired(pairs, cell.key, metric, plan, test)
    if cell.status == "same" and (queries.moved or pairs.differ):
        cell = replace(cell, status="queries")
    return cell if cell.status == "same" else replace(cell, queries=queries)


def _corrected(cells: Sequence[Cell], old: Board, plan: Plan) -> tuple[list[Cell], int]:
    """Return the cells with adjusted p-values, and how many have one."""
    families: dict[str, list[int]] = {}
    for place, cell in enumerate(cells):
        metric = old.metrics[cell.metric]
        if metric is not None and cell.queries is not None and not math.isnan(cell.queries.p):
            family = family_of(cell.key.dataset, metric, plan.family)
            families.setdefault(family, []).append(place)
    result = list(cells)
    for places in families.values():
        found = [one for place in places if (one := cells[place].queries) is not None]
        adjusted = adjust(np.array([one.p for one in found]), plan.correction).tolist()
        for place, one, p in zip(places, found, adjusted, strict=True):
            result[place] = replace(cells[place], queries=replace(one, p_adjusted=p))
    return result, sum(map(len, families.values()))
