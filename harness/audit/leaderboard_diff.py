"""Two leaderboards -> what differs: values, queries, ranks, and where the results come from."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, index_in, select
from ..core.cell_key import CellKey
from ..core.evaluation import Evaluation, summarise
from ..core.metric import Direction, Metric
from ..core.names import why_not
from ..core.ragged import Bools, Floats
from ..errors import (
    InputError,
    Problem,
    UnknownNameError,
    check_known,
    counted,
    first_of,
    shorten,
    warn,
)
from ..experiment.manifest import Manifest
from ..input_files import url_of
from ..metrics.rank_similarity import RankSimilarity, rank_similarity, ranks
from ..stats.compare import corrected
from ..stats.comparison import Comparison, Plan
from ..stats.differences import differences, largest_first
from ..stats.effects import delta_ri, effect_ratio, nrmse, rmse, unpaired_t
from ..stats.intervals import interval_of
from ..stats.paired_values import same_weights
from ..stats.registry import Stream, Test, find, outcome_of
from .leaderboard_files import (
    NO_DATASET,
    NO_NAMES,
    QUERIES,
    Board,
    canonical,
    matched,
    names_its_columns,
    read_file,
    read_folder,
)
from .verify import leaves

Directions = Mapping[str, Direction | None]
Status = Literal["better", "worse", "changed", "queries", "same"]
_ROUNDING = 1e-9
"""Rounding error of a difference of two sums, as a share of the tolerance."""
ABSENT = "–"
MOST = 5
"""Queries listed in either direction."""


@dataclass(frozen=True, eq=False)
class Paired:
    """Values of the queries that both evaluations have by one metric, in one order.

    `in_old` and `in_new` mark these queries in each evaluation, `only_old` and `only_new` have a
    value in one alone. `weights` are those of the queries in each, if a dataset weights them.
    """

    qids: pa.Array
    old: Floats
    new: Floats
    in_old: Bools
    in_new: Bools
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    weights: tuple[Floats | None, Floats | None] = (None, None)

    @property
    def n(self) -> int:
        """Number of queries with a value in both."""
        return len(self.qids)

    @property
    def moved(self) -> int:
        """Number of these queries with different values."""
        return int((self.old != self.new).sum())

    @property
    def moves(self) -> list[dict[str, Any]]:
        """The queries that rose most, then those that fell most, the largest fall last."""
        raw = self.new - self.old
        at = largest_first(raw, MOST)
        names = ("qid", "old", "new", "difference")
        columns = self.qids.take(pa.array(at)), self.old[at], self.new[at], raw[at]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def tested(self, key: CellKey, metric: Metric, plan: Plan, test: Test) -> Comparison:
        """Return a test of the queries that moved, if any, that is not corrected yet."""
        comparison = Comparison(key.dataset, metric, "old", "new", self.n, math.nan)
        if not self.moved:
            return comparison
        weights = self.weights[0]
        if not same_weights(*self.weights):
            return replace(comparison, note="not tested: the query weights differ")
        mean = summarise(self.new - self.old, "mean", weights)
        comparison = replace(comparison, difference=mean)
        reason = why_not(metric)
        if weights is not None and not test.weighted:
            reason = reason or f"{test.name} takes no query weights"
        if reason:
            return replace(comparison, note=f"not tested: {reason}")
        difference = differences(self.new, self.old)
        if weights is not None:
            difference, weights = difference[weights > 0], weights[weights > 0]
        row = f"{key.run_with_columns} on {key.dataset}"
        drawn, interval = (
            Stream((name, key.dataset, str(metric), row), plan.seed, plan.draws)
            for name in (test.name, plan.interval)
        )
        low, high = interval_of(difference, plan, interval, weights)
        outcome = outcome_of(test, difference, drawn, weights)
        return replace(comparison, low=low, high=high, **vars(outcome))


def paired(old: Evaluation, new: Evaluation, metrics: tuple[Metric, Metric]) -> Paired:
    """Return the values of a metric paired by qid, without queries that have no value.

    A metric with ``undefined=zero`` has a value for every query.
    """
    first, second = (cast(side.qids, pa.string()) for side in (old, new))
    before, after = _values(old, metrics[0]), _values(new, metrics[1])
    at = np.arange(len(first)) if first.equals(second) else index_in(first, second)
    moved = np.append(after, np.nan)[at]  # the last one is for queries that are not there
    both = ~np.isnan(before) & ~np.isnan(moved)
    in_new = np.zeros(len(second), dtype=bool)
    in_new[at[both]] = True
    only_old = select(first, ~np.isnan(before) & ~both).to_pylist()
    only_new = select(second, ~np.isnan(after) & ~in_new).to_pylist()
    only = tuple(only_old), tuple(only_new)
    of_old = old.weights.get(old.names.index(str(metrics[0]))) if old.weighted_by else None
    of_new = new.weights.get(new.names.index(str(metrics[1]))) if new.weighted_by else None
    weights = (
        None if of_old is None else of_old[both],
        None if of_new is None else of_new[at[both]],
    )
    return Paired(select(first, both), before[both], moved[both], both, in_new, *only, weights)


def _values(evaluation: Evaluation, metric: Metric) -> Floats:
    values = np.asarray(evaluation.column(metric), dtype=np.float64)
    return np.nan_to_num(values, nan=0.0) if metric.settings.undefined == "zero" else values


@dataclass(frozen=True)
class Reproduced:
    """One run by one metric, original and reproduction (`harness.stats.effects`).

    `n` queries are in both, over which `rmse`, `nrmse` and the paired t-test are; Welch's is over
    the queries of each. The effects are over the run `baseline`, if any.
    """

    key: CellKey
    metric: str
    n: int = 0
    rmse: float = math.nan
    nrmse: float = math.nan
    p_paired: float = math.nan
    p_welch: float = math.nan
    baseline: str = ""
    effect_ratio: float = math.nan
    delta_ri: float = math.nan
    note: str = ""


def reproduced(
    old: Board,
    new: Board,
    metrics: Sequence[str],
    keys: Sequence[CellKey],
    baselines: Sequence[str],
) -> Iterator[Reproduced]:
    """Yield each run by each metric: over each baseline with the same dataset and columns."""
    for metric, key in product(metrics, keys):
        errors = _errors(old, new, metric, key)
        others = (base for base in keys if base.run in baselines and base != key)
        bases = [base for base in others if base == replace(key, run=base.run)]
        yield from [_effect(errors, old, new, base) for base in bases] or [errors]


def _errors(old: Board, new: Board, name: str, key: CellKey) -> Reproduced:
    before, after = old.rows[key].entry, new.rows[key].entry
    metric, other = old.metrics[name], new.metrics[name]
    if before is None or after is None or metric is None or other is None:
        return Reproduced(key, name)
    pairs = paired(before.evaluation, after.evaluation, (metric, other))
    result = Reproduced(key, name, pairs.n, rmse(pairs.old, pairs.new))
    if metric.definition.summary != "mean":
        return result
    result = replace(
        result,
        nrmse=nrmse(pairs.old, pairs.new, metric.definition.bounds),
        note="" if pairs.n else "no query in both",
    )
    if any(weights is not None for weights in pairs.weights):
        return replace(result, note="no t-tests, as queries have weights")
    columns = before.evaluation.column(metric), after.evaluation.column(other)
    return replace(
        result,
        p_paired=outcome_of(find("paired-t"), differences(pairs.new, pairs.old), Stream()).p,
        p_welch=unpaired_t(*(values[~np.isnan(values)] for values in columns)),
    )


def _effect(errors: Reproduced, old: Board, new: Board, base: CellKey) -> Reproduced:
    metric = old.metrics[errors.metric]
    reason = why_not(metric) if metric is not None else ""
    pairs = product((old, new), (errors.key, base))
    means = [board.rows[key].values[errors.metric] for board, key in pairs]
    if reason or any(map(math.isnan, means)):
        note = f"no effect: {reason or 'a value is missing'}"
        return replace(errors, baseline=base.run, note=note)
    ratio, relative = effect_ratio(*means), delta_ri(*means)
    return replace(errors, baseline=base.run, effect_ratio=ratio, delta_ri=relative)


@dataclass(frozen=True)
class CellChange:
    """One run by one metric, in both leaderboards.

    `old` and `new` are over the queries that have a value in both, `old_all` and `new_all` over
    all of each. `direction` is None for counts. `status` is ``better`` or ``worse`` by more than
    the tolerance; ``changed`` for a new value, or without a direction; ``queries`` if only values
    of queries differ. A value that is gone is ``worse``. `tested` is new against old, over
    `queries`.
    """

    key: CellKey
    metric: str
    direction: Direction | None
    old: float
    new: float
    tolerance: float
    status: Status
    old_all: float
    new_all: float
    queries: Paired | None = None
    tested: Comparison | None = None

    @property
    def has_other_queries(self) -> bool:
        """Whether `old` and `new` are over fewer queries than the leaderboards' own values."""
        both = (self.old_all, self.new_all)
        return (self.old, self.new) != both and not any(map(math.isnan, both))

    @property
    def difference(self) -> float:
        """New minus old."""
        return self.new - self.old


def status_of(old: float, new: float, tolerance: float, direction: Direction | None) -> Status:
    """Return "better", "worse" or "same" for a value; "changed" without a direction.

    A difference as large as the tolerance is within it, even if floating point makes it a little
    larger: 0.51 - 0.5 is above 0.01.

    >>> status_of(0.51, 0.5, 0.01, "higher"), status_of(0.51, 0.4999, 0.01, "higher")
    ('same', 'worse')
    """
    if math.isnan(old) or math.isnan(new):
        return "worse" if not math.isnan(old) else "changed" if not math.isnan(new) else "same"
    rounding = 4 * math.ulp(max(abs(old), abs(new)))
    allowed = tolerance * (1 + _ROUNDING) + rounding if tolerance else 0.0
    if old == new or abs(new - old) <= allowed:
        return "same"
    if direction is None:
        return "changed"
    return "better" if (new > old) == (direction == "higher") else "worse"


class RankChange(NamedTuple):
    """One system's rank in both, among the systems of both; tied ones share the best rank."""

    key: CellKey
    old: int
    new: int

    @property
    def change(self) -> int:
        """Number of ranks that the system gained."""
        return self.old - self.new


@dataclass(frozen=True)
class OrderChange:
    """Similarity of two orders of systems by one metric on one dataset.

    `changes` are of the systems in both; RBO and the top rank in `similarity` use all systems.
    """

    dataset: str
    metric: str
    similarity: RankSimilarity
    changes: tuple[RankChange, ...]

    @property
    def moved(self) -> int:
        """Number of systems with another rank."""
        return sum(rank.change != 0 for rank in self.changes)

    @property
    def differs(self) -> bool:
        """Whether a system has another rank, or is in one of the leaderboards only."""
        return bool(self.moved or self.similarity.only_first or self.similarity.only_second)


def _orders(
    old: Board, new: Board, datasets: Iterable[str], directions: Directions, p: float
) -> Iterator[OrderChange]:
    """Yield the similarity of both orders of the systems of each dataset, by each metric.

    If one prints fewer digits, both are ranked at these, so that its ties are ties.
    """
    for dataset, (metric, direction) in product(datasets, directions.items()):
        if direction is None:
            continue
        sign = -1.0 if direction == "lower" else 1.0
        slack = max(board.slack.get(metric, 0.0) for board in (old, new))
        digits = round(-math.log10(2 * slack)) if slack else 400
        sides: list[dict[CellKey, float]] = []
        for board in (old, new):
            rows = {key: row for key, row in board.rows.items() if key.dataset == dataset}
            values = {key: row.values.get(metric, math.nan) for key, row in rows.items()}
            known = {key: value for key, value in values.items() if not math.isnan(value)}
            sides.append({key: sign * round(value, digits) for key, value in known.items()})
        if not (shared := [key for key in sides[0] if key in sides[1]]):
            continue
        first, second = ({key.run_with_columns: side[key] for key in side} for side in sides)
        places = [ranks([side[key] for key in shared]) for side in sides]
        moves = [RankChange(*move) for move in zip(shared, *places, strict=True)]
        moves.sort(key=lambda move: (move.new, move.old))
        yield OrderChange(dataset, metric, rank_similarity(first, second, p=p), tuple(moves))


class Difference(NamedTuple):
    """One difference in where results come from: `of` is its kind (input, version, ...)."""

    of: str
    what: str
    old: str
    new: str


def origins(old: Board, new: Board) -> Iterator[Difference]:
    """Yield differences of inputs, config, versions, code and counts of two folders."""
    first, second = old.manifest, new.manifest
    if first is None or second is None:
        return
    yield from _inputs(first, second)
    for path, before, after in leaves(first.config, second.config):
        if path not in ("output", "name"):  # they always differ, and cause nothing
            kind = "policy" if path.startswith("policy.") else "config"
            yield Difference(kind, path.removeprefix("policy."), _text(before), _text(after))
    for name, before, after in leaves(first.versions, second.versions):
        yield Difference("version", name, _text(before), _text(after))
    for of, what, most in (("code", "of the harness", 12), ("platform", "", 60), ("git", "", 60)):
        before, after = (side.model_dump(include={of})[of] for side in (first, second))
        if before != after:
            yield Difference(of, what, _text(before)[:most], _text(after)[:most])
    for key in (key for key in old.rows if key in new.rows):
        for name, before, after in leaves(old.rows[key].counts, new.rows[key].counts):
            yield Difference("count", f"{name}, {key}", _text(before), _text(after))


def _inputs(old: Manifest, new: Manifest) -> Iterator[Difference]:
    """Yield inputs with other bytes; a file that was moved or renamed is the same input."""
    before, after = (
        {file.path: f"sha256 {file.sha256[:12]}, {file.bytes} bytes" for file in side}
        for side in (old.inputs, new.inputs)
    )
    moved = {*before.values()} & {*after.values()}
    for path in dict.fromkeys((*before, *after)):
        then, now = before.get(path, ABSENT), after.get(path, ABSENT)
        is_moved = ABSENT in (then, now) and moved & {then, now}
        if then != now and not is_moved:
            yield Difference("input", path, then, now)


def _text(value: Any) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, Mapping):
        value = [f"{name}: {_text(item)}" for name, item in value.items()]
    return shorten(", ".join(map(_text, value)), 60) if isinstance(value, list) else str(value)


@dataclass(frozen=True, eq=False)
class Changes:
    """Differences between two leaderboards, `old` and `new`.

    `cells` has every row by every metric of both, `orders` the ranks by dataset and metric.
    `origins` and `reproduced` are of two folders; `has_queries` is whether both are.
    `family` tests were corrected together, as in the `plan`; `notes` are assumptions.
    """

    old: str
    new: str
    cells: tuple[CellChange, ...]
    only_old: tuple[CellKey, ...]
    only_new: tuple[CellKey, ...]
    metrics_only_old: tuple[str, ...]
    metrics_only_new: tuple[str, ...]
    orders: tuple[OrderChange, ...]
    origins: tuple[Difference, ...]
    reproduced: tuple[Reproduced, ...]
    plan: Plan
    family: int
    has_queries: bool
    tolerance: float | None
    p: float
    notes: tuple[str, ...]

    def having(self, status: str) -> list[CellChange]:
        """Return the cells of a status, by any metric: values that went first, then the largest."""

        def size(cell: CellChange) -> float:
            return math.inf if math.isnan(cell.difference) else abs(cell.difference)

        cells = [cell for cell in self.cells if cell.status == status]
        return sorted(cells, key=size, reverse=True)

    @property
    def has_regression(self) -> bool:
        """Whether a value became worse by more than the tolerance, or is gone."""
        return any(cell.status == "worse" for cell in self.cells)

    @property
    def has_change(self) -> bool:
        """Whether a value, a row or a metric differs; without a tolerance, also a query's value."""
        lists = (self.only_old, self.only_new, self.metrics_only_old, self.metrics_only_new)
        unchanged = {"same", "queries"} if self.tolerance else {"same"}
        return any(cell.status not in unchanged for cell in self.cells) or any(lists)


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
    """Compare two leaderboards, folders of results or tables, by cells, queries and ranks.

    By default, all metrics and datasets of both are compared, and the `tolerance` is half a unit
    of the last digit that a table prints, and 0 between folders. `lower` are metrics of others that
    are better when lower, `keys` a table's column of runs and others that identify rows, `names`
    pairs of old and new names, and `p` is RBO's persistence. A `reproduction` is also measured by
    its errors and effects, over the baselines of the `plan` of tests.

    Raises InputError with file and line for something other than a leaderboard, or if they share
    no row or metric; UnknownNameError for a metric, dataset, column, baseline or test.
    """
    plan = plan or Plan(())
    plan = replace(plan, family=plan.family or "table")
    paths = (Path(old), dict(names)), (Path(new), NO_NAMES)
    boards = _boards(paths, keys)
    if dataset is not None and any(board.datasets == NO_DATASET for board in boards):
        boards = [
            board if board.datasets == NO_DATASET else _of_dataset(board, dataset)
            for board in boards
        ]
    first, second, notes = matched(*boards)
    _check_names(first, second, names)
    if dataset is not None:
        first, second = (_of_dataset(board, dataset) for board in (first, second))
    rows = [key for key in first.rows if key in second.rows]
    both = [name for name in first.metrics if name in second.metrics]
    chosen = [name if name in both else canonical(name)[0] for name in metrics]
    for name in chosen:
        check_known("metric", name, both, "in both")
    shared = list(dict.fromkeys(chosen)) if metrics else both
    for kind, in_both, sides in (
        ("row", rows, (first.rows, second.rows)),
        ("metric", shared, (first.metrics, second.metrics)),
    ):
        if not in_both:
            parts = [first_of([*map(str, names)], 3) for names in sides]
            has = f"{first.name} has {parts[0]}; {second.name} has {parts[1]}"
            fix = _pairing(kind, first, second)
            raise InputError(f"no {kind} is in both: {has}", fix=fix)
    for name in plan.baselines:
        check_known("baseline", name, dict.fromkeys(key.run for key in rows), "in both")
    directions = _directions(first, second, shared, lower, notes)
    datasets = dict.fromkeys(key.dataset for key in rows)
    has_queries = first.manifest is not None and second.manifest is not None
    if not has_queries:
        _warn_of_queries(first, second, rows)
    test = find(plan.test) if has_queries else None
    if test is not None and test.kind != "paired":
        message = f"expected a test of two runs, got '{plan.test}', which tests more than two"
        raise UnknownNameError(Problem("test", message, fix="use paired-t or randomization"))
    cells = [
        _cell(key, name, first, second, tolerance, directions[name])
        for name, key in product(shared, rows)
    ]
    cells = [_tested(cell, first, second, plan, test) for cell in cells]
    rows_tested, sizes = corrected([cell.tested for cell in cells if cell.tested], plan)
    adjusted = iter(rows_tested)
    cells = [replace(cell, tested=next(adjusted)) if cell.tested else cell for cell in cells]
    is_reproduction = reproduction or bool(plan.baselines)
    errors = reproduced(first, second, shared, rows, plan.baselines) if is_reproduction else ()
    only_old, only_new = (
        () if metrics else tuple(name for name in side.metrics if name not in other.metrics)
        for side, other in ((first, second), (second, first))
    )
    return Changes(
        old=str(old),
        new=str(new),
        cells=tuple(cells),
        only_old=tuple(key for key in first.rows if key not in second.rows),
        only_new=tuple(key for key in second.rows if key not in first.rows),
        metrics_only_old=only_old,
        metrics_only_new=only_new,
        orders=tuple(_orders(first, second, datasets, directions, p)),
        origins=tuple(origins(first, second)),
        reproduced=tuple(errors),
        plan=plan,
        family=sum(sizes.values()),
        has_queries=has_queries,
        tolerance=tolerance,
        p=p,
        notes=(*first.notes, *second.notes, *notes),
    )


def _warn_of_queries(old: Board, new: Board, keys: Iterable[CellKey]) -> None:
    """Warn if a row of a table has another number of queries; only folders pair them."""
    for key in keys:
        before, after = (board.rows[key].counts.get(QUERIES) for board in (old, new))
        if before and after and before != after:
            counts = f"{old.name} has {counted(before, 'query', 'queries')}, {new.name} {after:,}"
            warn(f"{key}: {counts}; means over different queries are not comparable")
            return


def _of_dataset(board: Board, dataset: str) -> Board:
    """Return the rows of one dataset; UnknownNameError if there are none."""
    check_known("dataset", dataset, board.datasets, board.name)
    rows = {key: row for key, row in board.rows.items() if key.dataset == dataset}
    return replace(board, rows=rows)


def _boards(sides: Sequence[tuple[Path, Mapping[str, str]]], keys: Sequence[str]) -> list[Board]:
    """Return both leaderboards; a table without repetitions is held against means over them."""
    boards: list[Board | None]
    boards = [
        read_folder(path, names) if path.is_dir() or url_of(path) else None for path, names in sides
    ]
    if boards[0] is not None and boards[1] is not None:
        return [boards[0], boards[1]]
    if keys and all(
        board is not None or names_its_columns(path)
        for board, (path, _) in zip(boards, sides, strict=True)
    ):
        what = "--key is not for leaderboards of harness, whose columns are known"
        raise UnknownNameError(what, fix="leave --key out")
    result = []
    for at, (path, names) in enumerate(sides):
        board, other = boards[at], boards[1 - at]
        result.append(board or read_file(path, keys, names, other))
    for at, (path, names) in enumerate(sides):
        if boards[at] is not None and {*result[at].columns} - {*result[1 - at].columns}:
            result[at] = read_folder(path, names, of_systems=True)
    return result


def _pairing(kind: str, old: Board, new: Board) -> str:
    """Return the fix that pairs rows or metrics of two leaderboards that share none."""
    both = old.datasets, new.datasets
    if kind == "row" and NO_DATASET in both and both != (NO_DATASET, NO_DATASET):
        own, other = (old, new) if old.datasets == NO_DATASET else (new, old)
        runs = {key.run for key in own.rows}
        shared = [key.dataset for key in other.rows if key.run in runs]
        dataset = [*shared, *other.datasets][0]
        return f"name the dataset of {own.name}, such as --dataset {shlex.quote(dataset)}"
    sides = map(_parts_of_rows, (old, new) if kind == "row" else ())
    pairs = [
        shlex.quote(f"{first[0]}={second[0]}")
        for first, second in zip(*sides, strict=True)
        if not {*first} & {*second}
    ]
    such_as = f", such as {' '.join(f'--name {pair}' for pair in pairs)}" if pairs else ""
    return f"pair a name in OLD with its name in NEW: --name OLD=NEW{such_as}"


def _parts_of_rows(board: Board) -> list[tuple[str, ...]]:
    return [board.datasets, tuple(dict.fromkeys(key.run for key in board.rows))]


def names_of(old: str, new: str, keys: Sequence[str]) -> list[str]:
    """Return the names of the metrics, datasets and runs of the old leaderboard."""
    board, _ = _boards(((Path(old), NO_NAMES), (Path(new), NO_NAMES)), keys)
    return _names_in(board)


def _names_in(board: Board) -> list[str]:
    return [*dict.fromkeys(chain(board.metrics, *((key.dataset, key.run) for key in board.rows)))]


def _check_names(old: Board, new: Board, names: Sequence[tuple[str, str]]) -> None:
    """Raise UnknownNameError for a name that one side does not have; `old` is renamed already."""
    of_old, of_new = map(_names_in, (old, new))
    for first, second in names:
        check_known("run, dataset or metric", second, of_new, f"{new.name}, --name OLD=NEW")
        if second not in of_old:
            check_known("run, dataset or metric", first, of_old, f"{old.name}, --name OLD=NEW")


def _directions(
    old: Board, new: Board, metrics: Sequence[str], lower: Collection[str], notes: list[str]
) -> dict[str, Direction | None]:
    """Return the direction of each metric; `notes` gets the assumed directions."""
    lower = {name if name in metrics else canonical(name)[0] for name in lower}
    for name in lower:
        check_known("metric", name, metrics, "--lower")
    directions: dict[str, Direction | None] = {}
    assumed = []
    for name in metrics:
        metric = old.metrics[name] or new.metrics[name]
        directions[name] = "higher" if metric is None else metric.definition.direction
        if name in lower:
            directions[name] = "lower"
        elif metric is None:
            assumed.append(name)
    if assumed:
        names = ", ".join(assumed)
        notes.append(f"Higher is assumed to be better by {names}; give --lower for others.")
    return directions


def _cell(
    key: CellKey, name: str, old: Board, new: Board, tolerance: float | None, way: Direction | None
) -> CellChange:
    if tolerance is None:
        tolerance = max(board.slack.get(name, 0.0) for board in (old, new))
    before, after = (board.rows[key].values.get(name, math.nan) for board in (old, new))
    status = status_of(before, after, tolerance, way)
    return CellChange(key, name, way, before, after, tolerance, status, before, after)


def _tested(cell: CellChange, old: Board, new: Board, plan: Plan, test: Test | None) -> CellChange:
    """Return a cell with its queries if there is a test, tested if any moved.

    If the queries differ, its values are over the queries of both, which decide its status. A value
    that came or went stays so. Without a shared query there is nothing to compare.
    """
    key, name, tolerance, way = cell.key, cell.metric, cell.tolerance, cell.direction
    before, after = old.rows[key].entry, new.rows[key].entry
    metric, other = old.metrics[name], new.metrics[name]
    if not (test and before and after and metric and other):
        return cell
    pairs = paired(before.evaluation, after.evaluation, (metric, other))
    differ = pairs.only_old or pairs.only_new
    if differ and not math.isnan(cell.difference):
        values = (math.nan, math.nan)
        status: Status = "changed"
        if pairs.n:
            values = (
                before.summary_over(str(metric), pairs.in_old),
                after.summary_over(str(other), pairs.in_new),
            )
            status = status_of(*values, tolerance, way)
        cell = replace(cell, old=values[0], new=values[1], status=status)
    if cell.status == "same" and not pairs.moved and not differ:
        return cell
    worst: Status = "queries" if cell.status == "same" else cell.status
    tested = pairs.tested(key, metric, plan, test)
    return replace(cell, status=worst, queries=pairs, tested=tested)
