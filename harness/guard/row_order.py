"""Rules about predictions for rows: whether they fit the grades of these rows, or of others.

A model's scores rise with the grades within a query; those of other rows do not. So a file that
has shifted by a line, or belongs to another fold, fits better elsewhere. The sum of what each row
adds to the fit at the better offset, less what it adds in place, rises along the shifted rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.ragged import Array
from ..core.tables import Qrels
from ..errors import Finding
from ..reports.phrases import counted, listed
from .parts import EXAMPLES, First, Firsts, Found, placing, short, texts_at
from .registry import RULES, SHOWN, finding
from .row_fit import CLEAR, TWICE, Fit, Grades, Rows, fit, is_clear, ranks, starts_of
from .row_permutations import Misplaced, Sorted, look_elsewhere, sorted_by_score

if TYPE_CHECKING:
    from .facts import Facts, RunFacts

SLIP = 5
"""Rows by which scores of the right count may have shifted, at most."""
MOST = 64
"""Offsets that are tried if counts differ; beyond it, both ends alone."""
WINDOWS, WINDOW = 16, 512
"""Pieces of a large file that are looked at first, spread over it; rows of each."""
UNSURE = math.log(100_000)
"""How much less likely a row may be than the likeliest one, and still begin a stretch."""
KEPT = 1 << 20
"""Predictions of a file that are kept, from the first on."""
FEW, MANY = 6, 20
"""Distinct whole numbers that grades are, at most; distinct fractions of what are rather scores."""
ENOUGH, CHANCE = 200, 3.0
"""Rows from which on predictions show that they have to do with the grades; standard errors up to
which a correlation is what chance gives."""
LARGEST = 5_000_000
"""Predictions of one file beyond which no place is looked for that has too many or too few."""
BETTER_COUNT = 2.0
"""Standard errors by which a place must fit better than a cut file's predictions as they are."""


class Slip(NamedTuple):
    """A stretch of rows whose scores are elsewhere: score ``i + offset`` belongs to row ``i``.

    Parameters
    ----------
    first, end : int
        The stretch, about; from the first and to the last row that has a score there if the
        stretch may go so far.
    there, own : Fit
        At the offset and in place.
    """

    first: int
    end: int
    there: Fit
    own: Fit


def look(rows: Rows, scores: Array) -> tuple[Fit, Slip | None]:
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


def _look(rows: Rows, around: Array) -> tuple[Fit, Slip | None]:
    """Return the same by the ranks of the scores around each row, ``(pieces, n + 2 SLIP)``."""
    graded, n, n_rows = Grades(rows), around.shape[1] - 2 * SLIP, rows.grades.size
    at = {by: around[:, SLIP + by : SLIP + by + n].ravel() for by in range(-SLIP, SLIP + 1)}
    by = max(at, key=lambda one: (float(graded.less @ at[one]), not one))
    own, whole = graded.fit(at[0]), graded.fit(at[by], by)
    if not by or not is_clear(whole, own):
        return own, None
    gains = np.append(0.0, np.cumsum(graded.less * (at[by] - at[0])))
    _, first, end = _rise(gains)
    inside = slice(first, end)
    there, here = (Grades(rows.at(inside)).fit(at[one][inside], one) for one in (by, 0))
    gains *= Grades(rows.at(inside)).likelihood(at[by][inside])
    least, most = max(0, -by), n_rows - max(0, by)
    first = least if gains[least] < gains[first] + UNSURE else max(first, least)
    end = most if gains[most] > gains[end] - UNSURE else min(end, most)
    return own, Slip(first, end, there, here)


def _rise(gain: Array) -> tuple[float, int, int]:
    """Return the most that sums rise, and from and to which of them.

    >>> _rise(np.cumsum([0.0, -1.0, 2.0, -1.0, 3.0, -5.0]))
    (4.0, 1, 4)
    """
    above = gain - np.minimum.accumulate(gain)
    end = int(above.argmax())
    return float(above[end]), int(gain[: end + 1].argmin()), end


@dataclass(frozen=True)
class OrderFacts:
    """Of predictions: how they fit the rows of their dataset.

    Parameters
    ----------
    fit : Fit, optional
        In place; None if they were not compared with the grades.
    slip : Slip, optional
        The stretch that has shifted.
    misplaced : Misplaced, optional
        The order that they fit instead.
    by_score : Sorted, optional
        How their file is sorted by score.
    compared, falling : int
        Queries with several grades and predictions; those in which predictions fall as grades
        rise. 0 if they fit clearly on the whole.
    whole_scores : tuple of float
        The scores, if they look like grades, and the grades like scores.
    different_grades : int
        How many there are then.
    """

    fit: Fit | None = None
    slip: Slip | None = None
    misplaced: Misplaced | None = None
    by_score: Sorted | None = None
    compared: int = 0
    falling: int = 0
    whole_scores: tuple[float, ...] = ()
    different_grades: int = 0


class Following:
    """The scores of a run that follows the rows of a dataset."""

    def __init__(self, qrels: Qrels, first: Firsts) -> None:
        self.qrels, self.first = qrels, first
        self.parts: list[Array] = []
        self.n = self.n_kept = 0

    def add(self, scores: Array) -> None:
        """Keep the scores of the next rows."""
        self.n += scores.size
        if self.n_kept < KEPT:
            self.parts.append(scores)
            self.n_kept += scores.size

    def facts(self) -> OrderFacts:
        """Return how they fit, and keep examples."""
        rows = rows_of(self.qrels)
        if rows is None or not self.n or self.n != rows.grades.size:
            return OrderFacts()
        scores, whole, order = np.concatenate(self.parts), self.n_kept == self.n, self.qrels.order
        if whole and are_grades(self.qrels, scores):
            different = np.unique(self.qrels.numbers).size
            distinct = tuple(np.unique(scores).tolist())
            return OrderFacts(whole_scores=distinct, different_grades=different)
        if order is not None and not whole:
            return OrderFacts()
        if order is not None:  # back to the order of the file
            in_file = np.empty_like(scores)
            in_file[order] = scores
            scores = in_file
        every, rows = rows, rows.at(slice(0, self.n_kept))
        own, slip = look(rows, scores)
        if (by_score := sorted_by_score(rows.query, scores)) is not None:
            first = scores[rows.query == rows.query[0]][:EXAMPLES].tolist()
            qid = texts_at(self.qrels.qids, rows.query[:1])[0]
            name = f"query {qid} has {', '.join(f'{one:.6g}' for one in first)}"
            self.first.add("sorted-by-score", First((name,), 0))
            return OrderFacts(own, by_score=by_score)
        moved = look_elsewhere(every, scores, fits=own.z > CLEAR)
        if moved is not None and (slip is None or moved.there.z > slip.there.z):
            self.first.add("row-order", self._placed(every, moved.rows, moved.at))
            return OrderFacts(own, misplaced=moved)
        if slip is not None:
            if slip.end == self.n_kept - max(0, slip.there.offset):
                slip = slip._replace(end=slip.end + self.n - self.n_kept)
            shifted = range(slip.first, min(slip.first + EXAMPLES, self.n_kept))
            at = [row + slip.there.offset for row in shifted]
            self.first.add("shifted", self._placed(rows, shifted, at))
            return OrderFacts(own, slip)
        if own.z > CLEAR:
            return OrderFacts(own)
        query, r = Grades(rows).by_query(ranks(scores))
        query = query + int(rows.query.min())
        wanted = np.flatnonzero(r < 0) if own.z < -CLEAR else np.arange(r.size)
        if wanted.size:
            rule = "upside-down" if own.z < -CLEAR else "unrelated"
            starts = starts_of(rows)[query[wanted]]
            some = np.argsort(starts, kind="stable")[:EXAMPLES]
            names_of = texts_at(self.qrels.qids, query[wanted[some]])
            each = zip(names_of, r[wanted[some]].tolist(), strict=True)
            names = (f"{qid} ({one:.2f})" for qid, one in each)
            self.first.add(rule, First(tuple(names), int(starts[some[0]])))
        return OrderFacts(own, compared=query.size, falling=int((r < 0).sum()))

    def _placed(self, rows: Rows, some: Sequence[int], at: Sequence[int]) -> First:
        """Return some rows with where their predictions are, at the first of these."""
        qids = texts_at(self.qrels.qids, rows.query[list(some)])
        names = (
            f"prediction {there + 1:,} -> row {row + 1:,} (query {qid})"
            for row, there, qid in zip(some, at, qids, strict=True)
        )
        return First(tuple(names), at[0])


def rows_of(qrels: Qrels) -> Rows | None:
    """Return the rows of a dataset in the order of its file; None if some were dropped."""
    if qrels.order is None:
        return Rows(qrels.numbers, qrels.row, qrels.qids)
    if qrels.n_source != qrels.n_rows:
        return None
    grades, query = np.empty_like(qrels.numbers), np.empty_like(qrels.row)
    grades[qrels.order], query[qrels.order] = qrels.numbers, qrels.row
    return Rows(grades, query, qrels.qids)


def are_grades(qrels: Qrels, scores: Array) -> bool:
    """Whether grades look like scores, and scores like grades."""
    grades = qrels.numbers
    if grades.dtype.kind != "f" or (scores != np.trunc(scores)).any():
        return False
    return np.unique(scores).size <= FEW and np.unique(grades).size >= MANY


def findings(facts: Facts, found: Found) -> Iterator[Finding]:
    """Yield by how many rows predictions have shifted, or that they fall as the grades rise."""
    order, n_rows = facts.run.order, facts.run.queries.rows
    if (slip := order.slip) is not None:
        offset, n = slip.there.offset, slip.end - slip.first
        which = f"all {counted(n_rows, 'row')}"
        effect = ""
        if n < n_rows - SLIP:
            which = f"about rows {slip.first + 1:,} to {slip.end:,}"
            effect = "documents there have the score of a neighbour"
        what = (
            f"{which} fit predictions {counted(abs(offset), 'line')} "
            f"{'further down' if offset > 0 else 'further up'}: correlation {slip.there.r:.2f}, "
            f"in place {slip.own.r:.2f}"
        )
        yield found("shifted", what, n, None, effect)
    elif (one := order.by_score) is not None:
        fall = "fall" if one.falls else "rise"
        of = counted(one.queries, "query", "queries")
        what = f"scores {fall} in all {of}: the file is sorted by score, not in row order"
        yield found("sorted-by-score", what, one.queries)
    elif (moved := order.misplaced) is not None:
        what = f"the predictions fit the {moved.name}"
        if moved.by_score:
            what += ", and then by score: scores fall or rise in every query there"
        else:
            what += f" (correlation {moved.there.r:.2f} against {moved.own.r:.2f})"
        yield found("row-order", what, moved.moved)
    elif order.fit is not None and order.fit.z < -CLEAR:
        what = f"{_correlation(order.fit)}, below 0 in {counted(order.falling, 'query', 'queries')}"
        yield found("upside-down", what, order.falling)


def _correlation(own: Fit) -> str:
    return f"correlation with the grades {own.r:.2f}"


def is_odd(run: RunFacts) -> bool:
    """Whether predictions fit neither their own rows nor their neighbours, and are no labels."""
    own, order = run.order.fit, run.order
    labels = run.labels.grades or run.labels.split
    named = order.slip or order.misplaced or order.by_score
    return own is not None and abs(own.z) <= CLEAR and named is None and not labels


def unrelated(
    place: str, run: RunFacts, others: Sequence[tuple[str, Fit]],
    best: tuple[str, Fit] | None = None, wary: bool = False,
) -> Iterator[Finding]:  # fmt: skip
    """Yield that predictions have nothing to do with the grades.

    Parameters
    ----------
    place : str
        Their file.
    run : RunFacts
    others : sequence of (str, Fit)
        The same model's fits on its other folds: if these are clear, it is no random baseline.
    best : (str, Fit), optional
        The model that fits the same rows best.
    wary : bool
        Whether that is a warning in any case.
    """
    own, found = run.order.fit or Fit(0, 0.0, 0), placing(place, run.first)
    what, compared = _correlation(own), counted(run.order.compared, "query", "queries")
    if own.n and (fitting := [(other, fit) for other, fit in others if is_clear(fit, own)]):
        values = listed(f"{fit.r:.2f} on {other}" for other, fit in fitting[:SHOWN])
        effect = "each document has the score of another one"
        fix = "predict in the order of this fold's rows, or name this fold's file"
        what += f"; the same model has {values}"
        yield found("unrelated", what, run.order.compared, "warning", effect, fix)
    elif own.n >= ENOUGH and own.z < CHANCE:
        if best is not None and is_clear(best[1], own):
            wary = True
            what += f"; those of {best[0]} {best[1].r:.2f}"
        severity, worse = "warning" if wary else None, own.z < -CHANCE
        effect = "the order is worse than a random one" if worse else ""
        what += f", below 0 in {run.order.falling:,} of {compared}"
        fix = f"{RULES['upside-down'].fix}; else predict in the order of the dataset's rows"
        yield found("unrelated", what, run.order.compared, severity, effect, fix if worse else "")


At = Callable[[Sequence[int]], Sequence[str]]
"""Returns the places of some rows of a file, by their positions from 0: ``["a.txt:3"]``."""


def nowhere(rows: Sequence[int]) -> Sequence[str]:
    """Return no places."""
    return [""] * len(rows)


class Swapped(NamedTuple):
    """Which dataset predictions fit instead of their own, how well, and the finding."""

    other: str
    fit: Fit
    finding: Finding


def swapped_fold(
    place: str, own: Fit, scores: Array, others: Mapping[str, Rows]
) -> Swapped | None:  # fmt: skip
    """Return the dataset of as many rows whose grades predictions fit instead of their own.

    Parameters
    ----------
    place : str
        The file of predictions and the line of the first.
    own : Fit
        With their own rows.
    scores : ndarray, shape (n,)
    others : mapping of str to Rows
        Other datasets with as many rows, by name.
    """
    other, best = _best(ranks(scores), others)
    if not is_clear(best, own):
        return None
    what = (
        f"the predictions fit the rows of {other} (correlation {best.r:.2f}), "
        f"not their own ({own.r:.2f})"
    )
    return Swapped(other, best, finding("swapped-fold", place, what, scores.size, [other]))


def _best(ranked: Array, others: Mapping[str, Rows]) -> tuple[str, Fit]:
    """Return the dataset that scores fit best, and how; no fit if there are no datasets."""
    found = {other: fit(rows, ranked) for other, rows in others.items()}
    best = max(found, key=lambda other: found[other].z, default="")
    return best, found.get(best, Fit(0, 0.0, 0))


class Lost(NamedTuple):
    """A block of predictions put in, or of rows that lost theirs.

    `low` to `high` are the positions that are nearly as likely to begin it as `at`.
    """

    at: int
    low: int
    high: int
    there: Fit
    own: Fit


def lost_rows(rows: Rows, scores: Array) -> Lost | None:
    """Return where scores are too many or too few; None if that cannot be told.

    One block of as many as the difference is left out where the others fit best.

    Parameters
    ----------
    rows : Rows
    scores : ndarray, shape (m,)
        Not as many as the rows.
    """
    ranked, n_rows, n_scores = ranks(scores), rows.grades.size, scores.size
    more, n = n_scores - n_rows, min(n_rows, n_scores)
    step, at = abs(more), np.arange(n)
    steps: Iterable[int] = range(step + 1) if step <= MOST else (0, step)
    fits = [fit(rows, ranked, one if more > 0 else -one) for one in steps]
    if max(one.z for one in fits) <= CLEAR / 2:  # each of two parts has half of what fits
        return None
    graded = Grades(rows)
    pairs = [(at, at), (at, at + step) if more > 0 else (at + step, at)]
    sums = []
    for row, score in pairs:
        moved = np.full(n_rows, ranked.mean())
        moved[row] = ranked[score]
        products = graded.less * graded.centred(moved)
        sums.append(np.append(0.0, np.cumsum(products[row])))
    total = sums[0] + sums[1][-1] - sums[1]
    best = int(total.argmax())
    row, score = (np.append(one[:best], two[best:]) for one, two in zip(*pairs, strict=True))
    kept = rows.at(row)
    there = Grades(kept).fit(ranked[score])
    halves = (slice(n // 2), slice(n // 2, None))
    each = [Grades(kept.at(half)).fit(ranked[score][half]).r for half in halves]
    if there.z <= CLEAR or TWICE * min(each) <= there.r or look(kept, scores[score])[1] is not None:
        return None
    likelihood = Grades(kept).likelihood(ranked[score])
    near = np.flatnonzero(total * likelihood > total[best] * likelihood - UNSURE)
    low, high = int(near[0]), int(near[-1])
    return Lost(0 if low == 0 else n if high == n else best, low, high, there, fits[0])


def wrong_count(
    place: str, name: str, rows: Rows | None, scores: Array, others: Mapping[str, Rows],
    at: At = nowhere, at_rows: At = nowhere, is_cut: bool = False,
) -> Finding:  # fmt: skip
    """Return the finding for more or fewer predictions than rows: where they would fit.

    Parameters
    ----------
    place : str
        The file of predictions.
    name : str
        The dataset's.
    rows : Rows, optional
        Its own.
    scores : ndarray, shape (m,)
    others : mapping of str to Rows
        Other datasets of the sweep with as many rows, by name.
    at, at_rows : callable
        Where predictions, and rows of the dataset, are in their files.
    is_cut : bool
        Whether the last line of the predictions has no end.
    """
    n_rows, n = 0 if rows is None else rows.grades.size, scores.size
    more, lost, fix = n - n_rows, None, ""
    is_cut = is_cut and more < 0
    what = f"{n:,} predictions for {n_rows:,} rows of {short(name)}"
    if is_cut:
        what += "; the last line has no end, so the file may be cut"
    if rows is not None and n_rows and n and n <= LARGEST:
        lost = lost_rows(rows, scores)
        if lost is not None and is_cut:
            apart = (lost.there.r - lost.own.r) * math.sqrt(min(lost.there.n, lost.own.n))
            lost = None if lost.own.z > CLEAR and apart < BETTER_COUNT else lost
    best, there = _best(ranks(scores), others)
    if best and (lost is None or there.z > max(CLEAR, lost.there.z)):
        what += f"; they are as many as {short(best)}'s rows"
        if there.z > CLEAR:
            what += f" and fit them (correlation {there.r:.2f})"
        return finding("row-count", place, what, abs(more), fix=f"give the predictions of {name}")
    start = min(n, n_rows)
    if lost is not None:
        start, noun = lost.at, "prediction" if more > 0 else "row"
        span = f"{noun} {lost.low + 1:,}"
        if lost.high > lost.low:
            span = f"{noun} {start + 1:,} ({lost.low + 1:,} to {lost.high + 1:,})"
        which = span if abs(more) == 1 else f"{abs(more):,} {noun}s from {span} on"
        what += f"; they fit without {which} (correlation {lost.there.r:.2f}, now {lost.own.r:.2f})"
    first = [*range(start, start + abs(more))[:SHOWN]]
    if more > 0:
        places = at(first)
        names = [f"prediction {one + 1:,}: {scores[one]:.15g}" for one in first]
        fix = f"delete what is not a prediction; {RULES['row-count'].fix}"
    else:
        places, names = [], list[str]()
        if rows is not None and lost is not None:  # else any row may be missing
            names = [*_row_names(rows, first, at_rows)]
        fix = "get the whole file again" if is_cut else ""
    return finding("row-count", (places or [""])[0] or place, what, abs(more), names, fix=fix)


def _row_names(rows: Rows, first: Sequence[int], at: At) -> Iterator[str]:
    """Yield the names of some rows, with their places."""
    for one, place in zip(first, at(first), strict=True):
        query = (
            ""
            if rows is None or rows.qids is None
            else f", query {texts_at(rows.qids, rows.query[[one]])[0]}"
        )
        yield f"row {one + 1:,}{query}" + (f" ({place.rpartition('/')[2]})" if place else "")
