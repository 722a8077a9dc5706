"""Rules about predictions for rows: whether they fit the grades of these rows, or of others.

A model's scores rise with the grades within a query; those of other rows do not. So a file that
has shifted by a line, has another order or belongs to another fold fits better elsewhere. A fit is
Pearson's correlation, within queries, of the grades and the ranks of the scores.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from ..core.arrow import string_column
from ..core.qrels_and_runs import Qrels, Run, wrong_row_count
from ..core.ragged import Array, Ints, lengths_of, offsets_of, positions_of, sum_by
from ..core.ragged import rows_of as rows_of_offsets
from ..core.rules import SHOWN, finding
from ..errors import Finding, counted
from .findings import Examples, ExamplesByRule, place_of_run_row, short_place, texts_at

if TYPE_CHECKING:
    from ..config.model import RunEntry

CLEAR = 6.0
"""Standard errors that a fit must be from 0, and from the other: no chance in a million sweeps."""
TWICE = 2.0
"""Factor by which it must be larger: rows sorted by grade correlate with their neighbours too."""
SLIP = 5
"""Rows by which scores of the right count may have shifted, at most."""
NEAR = 60
"""Rows from an end of the file within which a stretch is taken to reach that end."""
WINDOWS, WINDOW = 16, 512
"""Pieces of a large file that are checked first, spread over it; rows of each."""
KEPT = 1 << 20
"""Predictions of a file that are kept, from the first on."""
FEW, MANY = 6, 20
"""Largest number of distinct grades, and smallest of distinct fractions that are scores."""
ENOUGH, CHANCE = 200, 3.0
"""Rows from which on predictions show that they have to do with the grades; standard errors up to
which a correlation is what chance gives."""
WEAK = 0.1
"""Correlation that any useful model has: warn if `CHANCE` errors more than a fit are below it."""
MOVED = 1 << 12
"""Rows, about, of the queries that an order moves, in which scores are compared."""
_RANDOM = re.compile(r"random(?!.?forest)", re.IGNORECASE)
_WRONG_ORDER = {"sorted-by-score", "row-order", "shifted", "upside-down"}
RULES_OF_ROWS = _WRONG_ORDER | {"unrelated", "swapped-columns"}
"""Rules about predictions for rows."""
NO_CHANCE = math.log(1e9)
"""Log of the odds against scores that fall, or rise, in every query by chance."""


@dataclass(frozen=True, eq=False)
class GradedRows:
    """Grades and queries (by position) of the rows of a dataset, in the order of its file."""

    grades: Array
    query: Ints
    qids: pa.Array | None = None

    def at(self, rows: Ints | slice) -> GradedRows:
        """Return some of the rows."""
        return GradedRows(self.grades[rows], self.query[rows], self.qids)


class Fit(NamedTuple):
    """Correlation of scores with the grades of rows."""

    r: float
    """Pearson's correlation of grades and ranks of the scores, less their means in the query."""
    n: int
    """Rows in queries with several grades and scores."""

    @property
    def z(self) -> float:
        """Return the correlation in standard errors of chance."""
        return self.r * math.sqrt(self.n)


NO_FIT = Fit(0.0, 0)


def dense_ranks(scores: Array) -> Array:
    """Return the rank of each score among all; equal scores share it. Outliers have no effect.

    >>> dense_ranks(np.array([5.0, 1e30, 5.0, -1.0])).tolist()
    [1.0, 2.0, 1.0, 0.0]
    """
    ranked: Array = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    return ranked


class Grades:
    """Grades less their mean in the query, to compare with several scores."""

    def __init__(self, rows: GradedRows) -> None:
        self.query = rows.query - rows.query.min()
        self.n_queries = int(self.query.max()) + 1
        self.lengths = np.bincount(self.query, minlength=self.n_queries)
        self.less = self.centred(rows.grades.astype(np.float64))
        self.squares = self._sum(self.less * self.less)

    def _sum(self, values: Array) -> Array:
        return sum_by(self.query, values, self.n_queries)

    def centred(self, values: Array) -> Array:
        """Return values less their mean in the query."""
        less: Array = values - (self._sum(values) / np.maximum(self.lengths, 1))[self.query]
        return less

    def by_query(self, ranked: Array) -> tuple[Ints, Array]:
        """Return the queries with several grades and scores, and Pearson's r in each."""
        score = self.centred(ranked)
        squares = self.squares * self._sum(score * score)
        query = np.flatnonzero(squares > 0)
        r: Array = self._sum(self.less * score)[query] / np.sqrt(squares[query])
        return query, r

    def fit(self, ranked: Array) -> Fit:
        """Return the correlation of grades and ranks of scores, within queries."""
        score = self.centred(ranked)
        squares = self._sum(score * score)
        differ = (self.squares > 0) & (squares > 0)
        if not differ.any():
            return NO_FIT
        both = self._sum(self.less * score)[differ].sum()
        r = both / math.sqrt(self.squares[differ].sum() * squares[differ].sum())
        return Fit(min(1.0, float(r)), int(self.lengths[differ].sum()))


def is_clear(fit: Fit, alternative: Fit) -> bool:
    """Whether scores fit better in one order than in the other by more than chance."""
    n = min(fit.n, alternative.n) or fit.n
    apart = (fit.r - max(alternative.r, 0.0)) * math.sqrt(max(1, n))
    return fit.z > CLEAR and apart > CLEAR and fit.r > TWICE * alternative.r


class Slip(NamedTuple):
    """Rows from about `start` to before `end`; their scores are `offset` rows further down."""

    offset: int
    start: int
    end: int
    moved_fit: Fit
    own_fit: Fit


def find_shift(rows: GradedRows, scores: Array) -> tuple[Fit, Slip | None]:
    """Return the fit of scores in place, and the stretch of rows that shifted.

    Of many rows it checks some pieces first, and the rest only if their fit is unclear or some of
    them are shifted.
    """
    span = WINDOWS * WINDOW
    if scores.size > span + 2 * SLIP:
        starts = np.linspace(SLIP, scores.size - WINDOW - SLIP, WINDOWS).astype(np.int64)[:, None]
        nearby = scores[starts + np.arange(-SLIP, WINDOW + SLIP)]
        sample = rows.at((starts + np.arange(WINDOW)).ravel())
        query = np.append(0, np.cumsum(sample.query[1:] != sample.query[:-1]))
        ranks = dense_ranks(nearby.ravel()).reshape(WINDOWS, -1)
        own_fit, slip = _find_shift(replace(sample, query=query), ranks)
        if own_fit.z > CLEAR and slip is None:
            return own_fit, None
    ranked = dense_ranks(scores)
    return _find_shift(rows, np.pad(ranked, SLIP, constant_values=ranked.mean())[None])


def _find_shift(rows: GradedRows, around: Array) -> tuple[Fit, Slip | None]:
    """Return the same by the ranks of the scores around each row, ``(pieces, n + 2 SLIP)``.

    What each row adds to the fit at an offset, less what it adds in place, sums up to the most
    along the rows that shifted by it. The best offset is that with the largest such sum.
    """
    graded, n, n_rows = Grades(rows), around.shape[1] - 2 * SLIP, rows.grades.size
    shifted = {
        shift: around[:, SLIP + shift : SLIP + shift + n].ravel()
        for shift in range(-SLIP, SLIP + 1)
    }
    own_fit = graded.fit(shifted[0])
    most, offset, start, end = 0.0, 0, 0, 0
    for shift in shifted:
        sums = np.append(0.0, np.cumsum(graded.less * (shifted[shift] - shifted[0])))
        gains = sums - np.minimum.accumulate(sums)
        last = int(gains.argmax())
        if gains[last] > most:
            most, offset, start, end = gains[last], shift, int(sums[: last + 1].argmin()), last
    if not offset:
        return own_fit, None
    stretch = Grades(rows.at(slice(start, end)))
    moved_fit, fixed_fit = (stretch.fit(shifted[shift][start:end]) for shift in (offset, 0))
    if not is_clear(moved_fit, fixed_fit):
        return own_fit, None
    lowest, highest = max(0, -offset), n_rows - max(0, offset)
    start = lowest if start < lowest + NEAR else start
    end = highest if end > highest - NEAR else end
    return own_fit, Slip(offset, start, end, moved_fit, fixed_fit)


class Misplaced(NamedTuple):
    """The order that predictions fit: both fits of the rows moved, the first, and their places."""

    name: str
    own_fit: Fit
    moved_fit: Fit
    moved: int
    rows: tuple[int, ...]
    places: tuple[int, ...]


def sorted_by_score(query: Ints, scores: Array) -> tuple[bool, int] | None:
    """Tell if all queries are sorted by score, falling or rising; None if that may be chance.

    Returns whether scores fall, and the number of queries with several scores.

    >>> sorted_by_score(np.arange(30) // 10, -np.arange(30.0))
    (True, 3)
    >>> sorted_by_score(np.arange(30), -np.arange(30.0))  # queries of one row
    """
    steps = np.where(query[1:] == query[:-1], np.diff(scores), 0)
    falls, rises = (steps < 0).any(), (steps > 0).any()
    if falls == rises:  # both or neither
        return None
    distinct = np.bincount(query[1:][steps != 0])
    log_factorials = np.append(0.0, np.cumsum(np.log(np.arange(1, int(distinct.max()) + 2))))
    if log_factorials[distinct + 1].sum() < NO_CHANCE:
        return None
    return bool(falls), int((distinct > 0).sum())


def query_orders(qids: pa.Array | None, sizes: Ints) -> dict[str, Ints]:
    """Return usual orders of queries, each with the order of its rows.

    Data frames and loaders reorder queries (as text, by size) and keep the rows of each together.
    """
    n = sizes.size
    orders: dict[str, Ints] = {}
    if qids is not None:
        names = texts_at(qids, np.arange(n))
        orders["rows sorted by qid as text"] = np.array(sorted(range(n), key=names.__getitem__))
        numbers = [float(qid) for qid in names if qid.strip("-").isdecimal()]
        if len(numbers) == n:
            orders["rows sorted by qid as numbers"] = np.argsort(numbers, kind="stable")
    orders["rows sorted by group size"] = np.argsort(sizes, kind="stable")
    orders["rows sorted by group size, largest first"] = np.argsort(-sizes, kind="stable")
    orders["queries in reverse order"] = np.arange(n)[::-1]
    return orders


def usual_orders(rows: GradedRows, sizes: Ints) -> Iterator[tuple[str, Ints, int]]:
    """Yield usual orders: a name, where the predictions of each query begin, and the step."""
    for name, queries in query_orders(rows.qids, sizes).items():
        begin = np.empty(sizes.size, np.int64)
        begin[queries] = offsets_of(sizes[queries])[:-1]
        yield name, begin, 1
    yield "rows in reverse order", int(sizes.sum()) - 1 - offsets_of(sizes)[:-1], -1


def _apart(grades: Array, sizes: Ints) -> float:
    """Return the difference of grades between groups of these sizes, in standard errors.

    Their sum of squares between groups, in variances, is chi-square with ``n - 1`` degrees.
    """
    sums = np.add.reduceat(grades - grades.mean(), offsets_of(sizes)[:-1])
    n = max(sizes.size - 1, 1)
    return float(((sums**2 / sizes).sum() / grades.var() - n) / math.sqrt(2 * n))


def find_size_order(qrels: Qrels) -> str:
    """Return the order of group sizes that clearly fits the grades better; empty if there is none.

    Grades differ between queries, and less within a query. Grades that rise or fall along the rows
    of the queries show that the sizes are right.
    """
    rows, sizes = graded_rows(qrels), lengths_of(qrels.offsets)
    if rows is None or sizes.size < 2 or not sizes.all() or rows.grades.var() == 0:
        return ""
    grades = rows.grades.astype(np.float64)
    if abs(Grades(rows).fit(positions_of(qrels.offsets).astype(np.float64)).z) >= CHANCE:
        return ""
    # the queries may have been numbered from 0 or 1; the rows may be in that order and the sizes
    # not, or the other way round
    numbered = [string_column(map(str, range(first, first + sizes.size))) for first in (0, 1)]
    fits = [
        (_apart(grades, order), name, order)
        for qids in (qrels.qids, *numbered)
        for name, queries in query_orders(qids, sizes).items()
        for order in (sizes[queries], sizes[np.argsort(queries)])
    ]
    fit, name, order = max(fits, key=lambda candidate: candidate[0])
    gain = (fit - _apart(grades, sizes)) / _inflation(grades, order)
    return name if fit > CLEAR and gain > CLEAR else ""


def _inflation(grades: Array, sizes: Ints) -> float:
    """Return the factor by which similar neighbours increase the variance between groups."""
    query = np.repeat(np.arange(sizes.size), sizes)
    less = Grades(GradedRows(grades, query)).less
    both = (less[1:] * less[:-1])[query[1:] == query[:-1]].sum()
    r = min(max(float(both / max((less * less).sum(), 1e-300)), 0.0), 0.99)
    return (1 + r) / (1 - r)


def find_order(rows: GradedRows, scores: Array) -> Misplaced | None:
    """Return the usual order that scores of the first rows clearly fit better than their own.

    None if the rows of a query are not next to each other.
    """
    best: Misplaced | None = None
    if (rows.query[1:] < rows.query[:-1]).any():
        return None
    sizes = np.bincount(rows.query)
    starts = offsets_of(sizes)[:-1]
    for name, begin, step in usual_orders(rows, sizes):
        moved = np.flatnonzero((begin != starts) | (step < 0))
        n_moved = int(sizes[moved].sum())
        sampled = moved[:: max(1, n_moved // MOVED)]
        offsets = offsets_of(sizes[sampled])
        query, place = rows_of_offsets(offsets), positions_of(offsets)
        row, target = starts[sampled][query] + place, begin[sampled][query] + step * place
        inside = (row < scores.size) & (target < scores.size)
        row, target, query = row[inside], target[inside], query[inside]
        if not row.size:
            continue
        graded = Grades(GradedRows(rows.grades[row], query))
        own_fit, moved_fit = (graded.fit(dense_ranks(scores[at])) for at in (row, target))
        differ = np.flatnonzero(row != target)[:SHOWN]
        first_rows, first_targets = (tuple(at[differ].tolist()) for at in (row, target))
        if is_clear(moved_fit, own_fit) and (best is None or moved_fit.z > best.moved_fit.z):
            best = Misplaced(name, own_fit, moved_fit, n_moved, first_rows, first_targets)
    return best


class Following:
    """The scores of a run that follows the rows of a dataset."""

    def __init__(self, qrels: Qrels, examples: ExamplesByRule) -> None:
        self.qrels, self.examples = qrels, examples
        self.parts: list[Array] = []
        self.n = self.n_kept = 0
        self.named: Array | None = None
        self.fit = NO_FIT
        """Fit in place; none if the scores are not compared with the grades."""
        self.unrelated: Finding | None = None
        """Finding that scores fit neither these rows nor others of this dataset."""

    def add(self, scores: Array) -> None:
        """Keep the scores of the next rows."""
        self.n += scores.size
        if self.n_kept < KEPT:
            self.parts.append(scores)
            self.n_kept += scores.size

    def add_named(self, run: Run) -> None:
        """Keep the scores of documents d0, d1, ..., by their rows."""
        rows, dataset_rows = self.qrels.find(self.qrels.place(run.qids)[run.row], run.docnos)
        if self.named is None:
            self.named = np.full(self.qrels.n_rows, np.nan)
        self.named[dataset_rows] = run.scores[rows]

    def findings(self) -> Iterator[Finding]:
        """Yield findings about scores that fit other rows, or fall as the grades rise."""
        if self.named is None:
            if self.n:
                yield from self._findings()
        elif not np.isnan(self.named).any():
            self.add(self.named)
            yield from self._findings()
            for rule in RULES_OF_ROWS & self.examples.keys():  # the file has another order of rows
                self.examples[rule] = self.examples[rule]._replace(row=-1)

    def _findings(self) -> Iterator[Finding]:
        rows = graded_rows(self.qrels)
        if rows is None or not self.n or self.n != rows.grades.size:
            return
        scores, order = np.concatenate(self.parts), self.qrels.order
        is_complete = self.n_kept == self.n
        if is_complete and are_grades(self.qrels, scores):
            listed = ", ".join(f"{number:g}" for number in np.unique(scores).tolist())
            message = f"the predictions are whole numbers ({listed}); the grades have "
            message += f"{np.unique(self.qrels.numbers).size:,} different fractions"
            yield self.examples.finding("swapped-columns", message, self.n)
            return
        if order is not None:  # back to the order of the file
            if not is_complete:
                return
            in_file = np.empty_like(scores)
            in_file[order] = scores
            scores = in_file
        all_rows, rows = rows, rows.at(slice(0, self.n_kept))
        own_fit, slip = find_shift(rows, scores)
        self.fit = own_fit
        if (by_score := sorted_by_score(rows.query, scores)) is not None:
            yield self._sorted(rows, scores, *by_score)
            return
        moved = find_order(all_rows, scores) if own_fit.z <= CLEAR else None
        if moved is not None and (slip is None or moved.moved_fit.z > slip.moved_fit.z):
            self.examples.add("row-order", self._placed(all_rows, moved.rows, moved.places))
            message = f"the predictions fit the {moved.name} "
            message += f"(correlation {moved.moved_fit.r:.2f} against {moved.own_fit.r:.2f})"
            yield self.examples.finding("row-order", message, moved.moved)
        elif slip is not None:
            yield self._shifted(rows, slip)
        elif own_fit.z <= CLEAR:
            yield from self._unrelated(rows, scores)

    def _sorted(self, rows: GradedRows, scores: Array, falls: bool, n: int) -> Finding:
        first_scores = scores[rows.query == rows.query[0]][:SHOWN].tolist()
        qid = texts_at(self.qrels.qids, rows.query[:1])[0]
        name = f"query {qid} has {', '.join(f'{score:.6g}' for score in first_scores)}"
        self.examples.add("sorted-by-score", Examples((name,), 0))
        fall = "fall" if falls else "rise"
        queries = counted(n, "query", "queries")
        message = f"scores {fall} in all {queries}: the file is sorted by score, not in row order"
        if self.named is not None:
            message = (
                f"scores {fall} from d0 to d1, d2, ... in all {queries}: the rows were sorted by "
            )
            message += "score before they got these docnos"
        return self.examples.finding("sorted-by-score", message, n)

    def _shifted(self, rows: GradedRows, slip: Slip) -> Finding:
        offset, end = slip.offset, slip.end
        if end == self.n_kept - max(0, offset):
            end += self.n - self.n_kept
        shifted = range(slip.start, min(slip.start + SHOWN, self.n_kept))
        self.examples.add("shifted", self._placed(rows, shifted, [row + offset for row in shifted]))
        n, affected, effect = end - slip.start, "predictions", ""
        if n < self.n - SLIP:
            affected = f"predictions from about row {slip.start + 1:,} to {end:,}"
            effect = "documents there have the score of a neighbour"
        message = (
            f"{affected} look shifted {'down' if offset > 0 else 'up'} by "
            f"{counted(abs(offset), 'row')}: correlation with the grades {slip.own_fit.r:.2f}, "
            f"moved back {slip.moved_fit.r:.2f}"
        )
        return self.examples.finding("shifted", message, n, None, effect)

    def _unrelated(self, rows: GradedRows, scores: Array) -> Iterator[Finding]:
        """Yield a finding if predictions fall as the grades rise; keep one if they fit nothing."""
        own_fit = self.fit
        query, r = Grades(rows).by_query(dense_ranks(scores))
        query, falling = query + int(rows.query.min()), int((r < 0).sum())
        rule = "upside-down" if own_fit.z < -CLEAR else "unrelated"
        indexes = np.flatnonzero((r < 0) | (rule == "unrelated"))[:SHOWN]
        pairs = zip(texts_at(self.qrels.qids, query[indexes]), r[indexes].tolist(), strict=True)
        row = int(np.isin(rows.query, query[indexes[:1]]).argmax())
        texts = tuple(f"{qid} ({value:.2f})" for qid, value in pairs)
        self.examples.add(rule, Examples(texts, row))
        message = f"correlation with the grades {own_fit.r:.2f}, below 0 in {falling:,} of "
        message += counted(query.size, "query", "queries")
        if rule == "unrelated" and own_fit.n:
            self.unrelated = self.examples.finding(rule, message, query.size)
        elif rule == "upside-down" and self.named is None:
            message = f"scores rank the documents upside down: {message}"
            yield self.examples.finding(rule, message, falling)

    def _placed(
        self, rows: GradedRows, moved_rows: Sequence[int], places: Sequence[int]
    ) -> Examples:
        """Return some rows with where their predictions are, at the first of these."""
        qids = texts_at(self.qrels.qids, rows.query[list(moved_rows)])
        names = (
            f"prediction {place + 1:,} -> row {row + 1:,} (query {qid})"
            for row, place, qid in zip(moved_rows, places, qids, strict=True)
        )
        return Examples(tuple(names), places[0])


def graded_rows(qrels: Qrels) -> GradedRows | None:
    """Return the rows of a dataset in the order of its file; None if some were dropped."""
    if qrels.order is None:
        return GradedRows(qrels.numbers, qrels.row, qrels.qids)
    if qrels.n_source != qrels.n_rows:
        return None
    grades, query = np.empty_like(qrels.numbers), np.empty_like(qrels.row)
    grades[qrels.order], query[qrels.order] = qrels.numbers, qrels.row
    return GradedRows(grades, query, qrels.qids)


def are_grades(qrels: Qrels, scores: Array) -> bool:
    """Whether grades look like scores, and scores like grades."""
    grades = qrels.numbers
    if grades.dtype.kind != "f" or (scores != np.trunc(scores)).any():
        return False
    return np.unique(scores).size <= FEW and np.unique(grades).size >= MANY


def is_random(name: str) -> bool:
    """Whether a name is that of a random baseline, which is meant to fit nothing."""
    return _RANDOM.search(name) is not None


def is_chance(fit: Fit) -> bool:
    """Whether a fit is that of chance, on enough rows to see that of a weak model."""
    return fit.z < CHANCE and fit.r + CHANCE / math.sqrt(max(fit.n, 1)) < WEAK


def unrelated_finding(
    finding: Finding, own_fit: Fit, better: tuple[str, Fit] | None, wary: bool
) -> Finding | None:
    """Return the finding about predictions unrelated to the grades, unless there are few rows.

    It is a warning if `wary`, or if `better`, a related model or fold, fits: no random baseline
    would be among those.
    """
    if better is not None and is_clear(better[1], own_fit):
        message = f"{finding.what}; that of {better[0]} is {better[1].r:.2f}"
        return replace(finding, what=message, severity="warning")
    if own_fit.n < ENOUGH or own_fit.z >= CHANCE:
        return None
    return replace(finding, severity="warning") if wary else finding


def swapped_fold(
    place: str, own_fit: Fit, scores: Array, candidates: Mapping[str, GradedRows]
) -> Finding | None:
    """Return a finding if predictions fit one of the `candidates` (as many rows each) instead."""
    name, best = _best_dataset(dense_ranks(scores), candidates)
    if not is_clear(best, own_fit):
        return None
    message = (
        f"the predictions fit the rows of {name} (correlation {best.r:.2f}), "
        f"not their own ({own_fit.r:.2f})"
    )
    return finding("swapped-fold", place, message, scores.size, [name])


def _best_dataset(ranked: Array, candidates: Mapping[str, GradedRows]) -> tuple[str, Fit]:
    """Return the dataset that scores fit best, and how; no fit if there are no datasets."""
    fits = {name: Grades(rows).fit(ranked) for name, rows in candidates.items()}
    best = max(fits, key=lambda name: fits[name].z, default="")
    return best, fits.get(best, NO_FIT)


def wrong_count(
    run: RunEntry, name: str, rows: GradedRows, scores: Array, candidates: Mapping[str, GradedRows]
) -> Finding | None:
    """Return the finding for more or fewer predictions than the rows of dataset `name`.

    It names one of the `candidates`, which have as many rows, or else the first extra predictions;
    None if there are neither.
    """
    n_rows, n = rows.grades.size, scores.size
    message = wrong_row_count(n_rows, n, name)
    best, fit = _best_dataset(dense_ranks(scores), candidates)
    if best:
        message += f"; {short_place(best)} has {n:,} rows"
        message += f", which they fit (correlation {fit.r:.2f})" if fit.z > CLEAR else ""
        fix = f"give the predictions of {name}"
        return finding("row-count", run.path, message, abs(n - n_rows), fix=fix)
    if n < n_rows:
        return None
    extra = range(n_rows, n)[:SHOWN]
    names = [f"prediction {index + 1:,}: {scores[index]:.15g}" for index in extra]
    return finding("row-count", place_of_run_row(run, n_rows), message, n - n_rows, names)
