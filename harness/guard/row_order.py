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

from ..core.qrels_and_runs import Qrels, Run
from ..core.ragged import Array, Ints, offsets_of, positions_of, sum_by
from ..core.ragged import rows_of as rows_of_offsets
from ..core.rules import SHOWN, finding
from ..errors import Finding, counted
from .findings import Examples, ExamplesByRule, place_of_row, short, texts_at

if TYPE_CHECKING:
    from ..config.model import RunEntry

CLEAR = 6.0
"""Standard errors that a fit must be from 0, and from the other: no chance in a million sweeps."""
TWICE = 2.0
"""How many times as large it must be: rows sorted by grade correlate with their neighbours too."""
SLIP = 5
"""Rows by which scores of the right count may have shifted, at most."""
NEAR = 60
"""Rows from an end of the file within which a stretch is taken to reach that end."""
WINDOWS, WINDOW = 16, 512
"""Pieces of a large file that are checked first, spread over it; rows of each."""
KEPT = 1 << 20
"""Predictions of a file that are kept, from the first on."""
FEW, MANY = 6, 20
"""Distinct whole numbers that grades are, at most; distinct fractions of what are rather scores."""
ENOUGH, CHANCE = 200, 3.0
"""Rows from which on predictions show that they have to do with the grades; standard errors up to
which a correlation is what chance gives."""
WEAK = 0.1
"""Correlation that any useful model has: warn if `CHANCE` errors more than a fit are below it."""
MOVED = 1 << 12
"""Rows, about, of the queries that an order moves, in which scores are compared."""
_RANDOM = re.compile(r"random(?!.?forest)", re.IGNORECASE)
RULES_OF_ROWS = {
    "sorted-by-score", "row-order", "shifted", "upside-down", "unrelated", "swapped-columns",
}  # fmt: skip
"""Rules about predictions for rows."""
NO_CHANCE = math.log(1e9)
"""How unlikely it must be that scores in any other order fall, or rise, in every query."""


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
    """How scores fit the grades of rows."""

    r: float
    """Pearson's correlation of grades and ranks of the scores, less their means in the query."""
    n: int
    """Rows in queries with several grades and scores."""

    @property
    def z(self) -> float:
        """Return the correlation in standard errors of chance."""
        return self.r * math.sqrt(self.n)


NO_FIT = Fit(0.0, 0)


def ranks(scores: Array) -> Array:
    """Return the rank of each score among all, equal ones alike, so that no outlier counts.

    >>> ranks(np.array([5.0, 1e30, 5.0, -1.0])).tolist()
    [1.0, 2.0, 1.0, 0.0]
    """
    found: Array = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    return found


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
        """Return how well the ranks of scores fit."""
        score = self.centred(ranked)
        squares = self._sum(score * score)
        differ = (self.squares > 0) & (squares > 0)
        if not differ.any():
            return NO_FIT
        both = self._sum(self.less * score)[differ].sum()
        r = both / math.sqrt(self.squares[differ].sum() * squares[differ].sum())
        return Fit(min(1.0, float(r)), int(self.lengths[differ].sum()))


def is_clear(one: Fit, other: Fit) -> bool:
    """Whether scores fit better in one order than in the other by more than chance."""
    apart = (one.r - max(other.r, 0.0)) * math.sqrt(max(1, min(one.n, other.n) or one.n))
    return one.z > CLEAR and apart > CLEAR and one.r > TWICE * other.r


class Slip(NamedTuple):
    """Rows, from about `first` to before `end`, whose scores are `offset` rows further down."""

    offset: int
    first: int
    end: int
    there: Fit
    own: Fit


def look(rows: GradedRows, scores: Array) -> tuple[Fit, Slip | None]:
    """Return how scores fit in place, and which stretch has shifted.

    Of many rows it looks at some pieces first, and at all only if the fit of these is not clear or
    some of them have shifted.
    """
    span = WINDOWS * WINDOW
    if scores.size > span + 2 * SLIP:
        starts = np.linspace(SLIP, scores.size - WINDOW - SLIP, WINDOWS).astype(np.int64)[:, None]
        around = scores[starts + np.arange(-SLIP, WINDOW + SLIP)]
        some = rows.at((starts + np.arange(WINDOW)).ravel())
        query = np.append(0, np.cumsum(some.query[1:] != some.query[:-1]))
        own, slip = _look(replace(some, query=query), ranks(around.ravel()).reshape(WINDOWS, -1))
        if own.z > CLEAR and slip is None:
            return own, None
    ranked = ranks(scores)
    return _look(rows, np.pad(ranked, SLIP, constant_values=ranked.mean())[None])


def _look(rows: GradedRows, around: Array) -> tuple[Fit, Slip | None]:
    """Return the same by the ranks of the scores around each row, ``(pieces, n + 2 SLIP)``.

    What each row adds to the fit at the better offset, less what it adds in place, sums up to the
    most along the shifted rows.
    """
    graded, n, n_rows = Grades(rows), around.shape[1] - 2 * SLIP, rows.grades.size
    at = {by: around[:, SLIP + by : SLIP + by + n].ravel() for by in range(-SLIP, SLIP + 1)}
    by = max(at, key=lambda one: (float(graded.less @ at[one]), not one))
    own = graded.fit(at[0])
    if not by or not is_clear(graded.fit(at[by]), own):
        return own, None
    gains = np.append(0.0, np.cumsum(graded.less * (at[by] - at[0])))
    end = int((gains - np.minimum.accumulate(gains)).argmax())
    first = int(gains[: end + 1].argmin())
    stretch = Grades(rows.at(slice(first, end)))
    there, here = (stretch.fit(at[one][first:end]) for one in (by, 0))
    least, most = max(0, -by), n_rows - max(0, by)
    first = least if first < least + NEAR else first
    end = most if end > most - NEAR else end
    return own, Slip(by, first, end, there, here)


class Misplaced(NamedTuple):
    """The order that predictions fit: both fits of the rows moved, the first, and their places."""

    name: str
    own: Fit
    there: Fit
    moved: int
    rows: tuple[int, ...]
    at: tuple[int, ...]


def sorted_by_score(query: Ints, scores: Array) -> tuple[bool, int] | None:
    """Return whether scores fall, not rise, in every query, and in how many; None if by chance.

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


def orders(rows: GradedRows, sizes: Ints) -> Iterator[tuple[str, Ints, int]]:
    """Yield usual orders: a name, where the predictions of each query begin, and the step.

    Data frames and loaders reorder queries (as text, by size) and keep the rows of each together.
    """
    n = sizes.size
    by: dict[str, Ints] = {}
    if rows.qids is not None:
        qids = texts_at(rows.qids, np.arange(n))
        by["rows sorted by qid as text"] = np.array(sorted(range(n), key=qids.__getitem__))
        numbers = [float(qid) for qid in qids if qid.strip("-").isdecimal()]
        if len(numbers) == n:
            by["rows sorted by qid as numbers"] = np.argsort(numbers, kind="stable")
    by["rows sorted by group size"] = np.argsort(sizes, kind="stable")
    by["rows sorted by group size, largest first"] = np.argsort(-sizes, kind="stable")
    by["queries in reverse order"] = np.arange(n)[::-1]
    for name, queries in by.items():
        begin = np.empty(n, np.int64)
        begin[queries] = offsets_of(sizes[queries])[:-1]
        yield name, begin, 1
    yield "rows in reverse order", int(sizes.sum()) - 1 - offsets_of(sizes)[:-1], -1


def look_elsewhere(rows: GradedRows, scores: Array) -> Misplaced | None:
    """Return the usual order that scores of the first rows clearly fit better than their own.

    None if the rows of a query are not next to each other.
    """
    best: Misplaced | None = None
    if (rows.query[1:] < rows.query[:-1]).any():
        return None
    sizes = np.bincount(rows.query)
    starts = offsets_of(sizes)[:-1]
    for name, begin, step in orders(rows, sizes):
        moved = np.flatnonzero((begin != starts) | (step < 0))
        n_moved = int(sizes[moved].sum())
        some = moved[:: max(1, n_moved // MOVED)]
        offsets = offsets_of(sizes[some])
        query, place = rows_of_offsets(offsets), positions_of(offsets)
        row, at = starts[some][query] + place, begin[some][query] + step * place
        known = (row < scores.size) & (at < scores.size)
        row, at, query = row[known], at[known], query[known]
        if not row.size:
            continue
        graded = Grades(GradedRows(rows.grades[row], query))
        own, there = graded.fit(ranks(scores[row])), graded.fit(ranks(scores[at]))
        differ = np.flatnonzero(row != at)[:SHOWN]
        some_rows, some_at = (tuple(one[differ].tolist()) for one in (row, at))
        if is_clear(there, own) and (best is None or there.z > best.there.z):
            best = Misplaced(name, own, there, n_moved, some_rows, some_at)
    return best


class Following:
    """The scores of a run that follows the rows of a dataset."""

    def __init__(self, qrels: Qrels, first: ExamplesByRule) -> None:
        self.qrels, self.first = qrels, first
        self.parts: list[Array] = []
        self.n = self.n_kept = 0
        self.named: Array | None = None
        self.fit = NO_FIT
        """Fit in place; none if the scores are not compared with the grades."""
        self.unrelated: Finding | None = None
        """That they fit neither these rows nor other ones of this dataset."""

    def add(self, scores: Array) -> None:
        """Keep the scores of the next rows."""
        self.n += scores.size
        if self.n_kept < KEPT:
            self.parts.append(scores)
            self.n_kept += scores.size

    def add_named(self, run: Run) -> None:
        """Keep the scores of documents d0, d1, ..., by their rows."""
        rows, at = self.qrels.find(self.qrels.place(run.qids)[run.row], run.docnos)
        if self.named is None:
            self.named = np.full(self.qrels.n_rows, np.nan)
        self.named[at] = run.scores[rows]

    def findings(self) -> Iterator[Finding]:
        """Yield which other rows the scores fit, or that they fall as the grades rise."""
        if self.named is None:
            yield from self._findings()
        elif not np.isnan(self.named).any():
            self.add(self.named)
            yield from self._findings()
            for rule in RULES_OF_ROWS & self.first.keys():  # the file has another order of rows
                self.first[rule] = self.first[rule]._replace(row=-1)

    def _findings(self) -> Iterator[Finding]:
        rows = rows_of(self.qrels)
        if rows is None or not self.n or self.n != rows.grades.size:
            return
        scores, whole, order = np.concatenate(self.parts), self.n_kept == self.n, self.qrels.order
        if whole and are_grades(self.qrels, scores):
            listed = ", ".join(f"{one:g}" for one in np.unique(scores).tolist())
            what = f"the predictions are whole numbers ({listed}); the grades have "
            what += f"{np.unique(self.qrels.numbers).size:,} different fractions"
            yield self.first.finding("swapped-columns", what, self.n)
            return
        if order is not None:  # back to the order of the file
            if not whole:
                return
            in_file = np.empty_like(scores)
            in_file[order] = scores
            scores = in_file
        every, rows = rows, rows.at(slice(0, self.n_kept))
        own, slip = look(rows, scores)
        self.fit = own
        if (by_score := sorted_by_score(rows.query, scores)) is not None:
            yield self._sorted(rows, scores, *by_score)
            return
        moved = look_elsewhere(every, scores) if own.z <= CLEAR else None
        if moved is not None and (slip is None or moved.there.z > slip.there.z):
            self.first.add("row-order", self._placed(every, moved.rows, moved.at))
            what = f"the predictions fit the {moved.name} "
            what += f"(correlation {moved.there.r:.2f} against {moved.own.r:.2f})"
            yield self.first.finding("row-order", what, moved.moved)
        elif slip is not None:
            yield self._shifted(rows, slip)
        elif own.z <= CLEAR:
            yield from self._unrelated(rows, scores)

    def _sorted(self, rows: GradedRows, scores: Array, falls: bool, n: int) -> Finding:
        first = scores[rows.query == rows.query[0]][:SHOWN].tolist()
        qid = texts_at(self.qrels.qids, rows.query[:1])[0]
        name = f"query {qid} has {', '.join(f'{one:.6g}' for one in first)}"
        self.first.add("sorted-by-score", Examples((name,), 0))
        fall = "fall" if falls else "rise"
        of = counted(n, "query", "queries")
        what = f"scores {fall} in all {of}: the file is sorted by score, not in row order"
        if self.named is not None:
            what = f"scores {fall} from d0 to d1, d2, ... in all {of}: the rows were sorted by "
            what += "score before they got these docnos"
        return self.first.finding("sorted-by-score", what, n)

    def _shifted(self, rows: GradedRows, slip: Slip) -> Finding:
        offset, end = slip.offset, slip.end
        if end == self.n_kept - max(0, offset):
            end += self.n - self.n_kept
        shifted = range(slip.first, min(slip.first + SHOWN, self.n_kept))
        self.first.add("shifted", self._placed(rows, shifted, [row + offset for row in shifted]))
        n, which, effect = end - slip.first, f"all {counted(self.n, 'row')}", ""
        if n < self.n - SLIP:
            which = f"about rows {slip.first + 1:,} to {end:,}"
            effect = "documents there have the score of a neighbour"
        what = (
            f"{which} fit predictions {counted(abs(offset), 'line')} "
            f"{'further down' if offset > 0 else 'further up'}: correlation {slip.there.r:.2f}, "
            f"in place {slip.own.r:.2f}"
        )
        return self.first.finding("shifted", what, n, None, effect)

    def _unrelated(self, rows: GradedRows, scores: Array) -> Iterator[Finding]:
        """Yield that predictions fall as the grades rise, or note that they fit nothing."""
        own = self.fit
        query, r = Grades(rows).by_query(ranks(scores))
        query, falling = query + int(rows.query.min()), int((r < 0).sum())
        rule = "upside-down" if own.z < -CLEAR else "unrelated"
        some = np.flatnonzero((r < 0) | (rule == "unrelated"))[:SHOWN]
        each = zip(texts_at(self.qrels.qids, query[some]), r[some].tolist(), strict=True)
        row = int(np.isin(rows.query, query[some[:1]]).argmax())
        self.first.add(rule, Examples(tuple(f"{qid} ({one:.2f})" for qid, one in each), row))
        what = f"correlation with the grades {own.r:.2f}, below 0 in "
        if rule == "unrelated" and own.n:
            what += f"{falling:,} of {counted(query.size, 'query', 'queries')}"
            self.unrelated = self.first.finding(rule, what, query.size)
        elif rule == "upside-down" and self.named is None:
            yield self.first.finding(rule, f"{what}{counted(falling, 'query', 'queries')}", falling)

    def _placed(self, rows: GradedRows, some: Sequence[int], at: Sequence[int]) -> Examples:
        """Return some rows with where their predictions are, at the first of these."""
        qids = texts_at(self.qrels.qids, rows.query[list(some)])
        names = (
            f"prediction {there + 1:,} -> row {row + 1:,} (query {qid})"
            for row, there, qid in zip(some, at, qids, strict=True)
        )
        return Examples(tuple(names), at[0])


def rows_of(qrels: Qrels) -> GradedRows | None:
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


def unrelated(
    found: Finding, own: Fit, better: tuple[str, Fit] | None = None, wary: bool = False
) -> Finding | None:
    """Return that predictions have nothing to do with the grades, unless there are few rows.

    It is a warning if `wary`, or if `better`, a related model or fold, fits: no random baseline
    would be among those.
    """
    if better is not None and is_clear(better[1], own):
        what = f"{found.what}; that of {better[0]} is {better[1].r:.2f}"
        return replace(found, what=what, severity="warning")
    if own.n < ENOUGH or own.z >= CHANCE:
        return None
    return replace(found, severity="warning") if wary else found


def swapped_fold(
    place: str, own: Fit, scores: Array, others: Mapping[str, GradedRows]
) -> Finding | None:  # fmt: skip
    """Return the one of `others` (as many rows each) that predictions fit instead of their own."""
    other, best = _best(ranks(scores), others)
    if not is_clear(best, own):
        return None
    what = (
        f"the predictions fit the rows of {other} (correlation {best.r:.2f}), "
        f"not their own ({own.r:.2f})"
    )
    return finding("swapped-fold", place, what, scores.size, [other])


def _best(ranked: Array, others: Mapping[str, GradedRows]) -> tuple[str, Fit]:
    """Return the dataset that scores fit best, and how; no fit if there are no datasets."""
    found = {other: Grades(rows).fit(ranked) for other, rows in others.items()}
    best = max(found, key=lambda other: found[other].z, default="")
    return best, found.get(best, NO_FIT)


def wrong_count(
    run: RunEntry, name: str, rows: GradedRows, scores: Array, others: Mapping[str, GradedRows]
) -> Finding:
    """Return the finding for more or fewer predictions than the rows of dataset `name`.

    It names one of the `others`, which have as many rows, or else the first extra predictions.
    """
    n_rows, n = rows.grades.size, scores.size
    what = f"{n:,} predictions for {n_rows:,} rows of {short(name)}"
    best, there = _best(ranks(scores), others)
    if best:
        what += f"; {short(best)} has {n:,} rows"
        what += f", which they fit (correlation {there.r:.2f})" if there.z > CLEAR else ""
        fix = f"give the predictions of {name}"
        return finding("row-count", run.path, what, abs(n - n_rows), fix=fix)
    names = [f"prediction {at + 1:,}: {scores[at]:.15g}" for at in range(n_rows, n)[:SHOWN]]
    place = place_of_row(run, n_rows) if names else run.path
    return finding("row-count", place, what, abs(n - n_rows), names)
