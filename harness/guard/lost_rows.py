"""Where predictions that are too many or too few were put in or lost.

A path of offsets goes from 0, at the first row, to the difference of the counts, at the last one.
The likeliest is taken, on which each change of the offset makes scores so much likelier that it is
no chance. Pure: numbers in, numbers out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..core.ragged import Array, Ints
from ..errors import Finding
from .parts import texts_at
from .registry import RULES, SHOWN, finding
from .row_order import (
    CLEAR,
    MOST,
    TWICE,
    UNSURE,
    At,
    Fit,
    Grades,
    Rows,
    Where,
    best,
    fit,
    look,
    nowhere,
    ranks,
)

MOST_CELLS = 1 << 22
"""Rows times offsets that are tried on the way; of more, the best one alone is."""


class Place(NamedTuple):
    """Some that follow each other: predictions put in, or rows whose own were lost.

    `n` is how many, below 0 where they are rows; `at` where the first of them stands.
    """

    n: int
    at: Where


class Lost(NamedTuple):
    """Where predictions were put in or lost, and how they fit without, and as they stand."""

    places: tuple[Place, ...]
    there: Fit
    own: Fit

    @property
    def n(self) -> int:
        """How many are too many; below 0 where rows have none."""
        return sum(place.n for place in self.places)


def find(rows: Rows, scores: Array) -> Lost | None:
    """Return where scores are too many or too few; None where that cannot be told.

    Parameters
    ----------
    rows : Rows
    scores : ndarray, shape (m,)
        Not as many as the rows.
    """
    own, whole = best(rows, scores)
    if whole.z <= CLEAR / 2:  # each of two parts has half of what fits
        return None
    paths = _Paths(rows, ranks(scores), whole.offset)
    likelihood = paths.likelihood(whole.offset)
    changes: list[tuple[int, int, int]] = []
    for _ in range(2):  # what the first path says of the scores, the second one knows
        changes = paths.best(likelihood)
        kept = paths.kept(changes)
        likelihood = paths.likelihood_of(kept)
    there = fit(*_part(rows, paths.ranked, kept))
    if there.z <= CLEAR or not _is_even(rows, paths.ranked, kept, there):
        return None
    if look(*_part(rows, scores, kept))[1] is not None:
        return None
    return Lost(tuple(paths.places(changes, likelihood)), there, own)


def _part(rows: Rows, scores: Array, kept: tuple[Ints, Ints]) -> tuple[Rows, Array]:
    """Return some rows, and the score of each."""
    row, score = kept
    return Rows(rows.grades[row], rows.query[row]), scores[score]


def _is_even(rows: Rows, ranked: Array, kept: tuple[Ints, Ints], whole: Fit) -> bool:
    """Whether scores fit both halves of the rows about as well as all of them."""
    row, score = kept
    middle = row.size // 2
    halves = ((row[part], score[part]) for part in (slice(middle), slice(middle, None)))
    return all(TWICE * fit(*_part(rows, ranked, half)).r > whole.r for half in halves)


class _Paths:
    """What each of the fewer adds to the fit at each offset on the way.

    What is too many is passed over: predictions, or rows. Where there are more predictions, a
    position is that of a row; where there are fewer, that of a prediction.
    """

    def __init__(self, rows: Rows, ranked: Array, offset: int) -> None:
        self.rows, self.ranked = rows, ranked
        self.more = ranked.size - rows.grades.size
        self.n = min(ranked.size, rows.grades.size)
        steps: Sequence[int] = range(abs(self.more) + 1)
        if len(steps) > MOST or len(steps) * self.n > MOST_CELLS:
            steps = sorted({0, abs(offset), abs(self.more)})
        self.steps = steps
        self.held = Grades(rows.query, rows.grades)
        self.sums = np.zeros((len(steps), self.n + 1))
        for sums, step in zip(self.sums, steps, strict=True):
            np.cumsum(self._products(step), out=sums[1:])

    def _moved(self, step: int) -> Array:
        """Return the score of each row; the mean where there is none."""
        moved = np.full(self.rows.grades.size, self.ranked.mean())
        row, score = self._pairs(step, 0, self.n)
        moved[row] = self.ranked[score]
        return moved

    def _pairs(self, step: int, first: int, end: int) -> tuple[Ints, Ints]:
        """Return the rows and the scores at some positions."""
        at = np.arange(first, end)
        return (at, at + step) if self.more > 0 else (at + step, at)

    def _products(self, step: int) -> Array:
        products = self.held.products(self._moved(step))
        found: Array = products[self._pairs(step, 0, self.n)[0]]
        return found

    def likelihood(self, offset: int) -> float:
        """Return how much likelier scores are by each unit of the sums, at one offset."""
        return self.likelihood_of(self._pairs(abs(offset), 0, self.n))

    def likelihood_of(self, kept: tuple[Ints, Ints]) -> float:
        """Return the same for some rows and scores."""
        some, ranked = _part(self.rows, self.ranked, kept)
        return Grades(some.query, some.grades).likelihood(ranked)

    def best(self, likelihood: float) -> list[tuple[int, int, int]]:
        """Return the changes of the best path: the position, and both places in `steps`."""
        sums = self.sums * likelihood
        chance = UNSURE + math.log(sums.size)  # of so many changes, one is likely by chance
        ways = sums[:1]
        begun = np.zeros_like(sums)
        for to in range(1, len(self.steps)):
            begun[to] = ways.max(axis=0) - chance - sums[to]
            ways = np.append(ways, [sums[to] + np.maximum.accumulate(begun[to])], axis=0)
        changes, to, end = [], len(self.steps) - 1, self.n
        while to:
            end = int(begun[to, : end + 1].argmax())
            of = int(ways[:to, end].argmax())
            changes.append((end, of, to))
            to = of
        return changes[::-1]

    def kept(self, changes: Sequence[tuple[int, int, int]]) -> tuple[Ints, Ints]:
        """Return the rows that have a score on a path, and those scores."""
        ends = [at for at, _, _ in changes]
        steps = [0, *(self.steps[to] for _, _, to in changes)]
        parts = zip(steps, [0, *ends], [*ends, self.n], strict=True)
        row, score = zip(*(self._pairs(*part) for part in parts), strict=True)
        return np.concatenate(row), np.concatenate(score)

    def places(self, changes: Sequence[tuple[int, int, int]], likelihood: float) -> list[Place]:
        """Return each change with the positions that are nearly as likely."""
        found = []
        ends = [0, *(at for at, _, _ in changes), self.n]
        for (at, of, to), begin, end in zip(changes, ends, ends[2:], strict=False):
            gain = (self.sums[of] - self.sums[to])[begin : end + 1] * likelihood
            near = begin + np.flatnonzero(gain > gain[at - begin] - UNSURE)
            first = self.steps[of]
            where = Where(*(int(one) + first for one in (at, near[0], near[-1])))
            n = self.steps[to] - first
            found.append(Place(n if self.more > 0 else -n, where))
        return found


LARGEST = 5_000_000
"""Predictions of one file beyond which they are not held against the grades at every offset."""
BETTER_COUNT = 2.0
"""Standard errors by which a place must fit better than a cut file's predictions as they stand."""
CUT = "get the whole dataset, if it was cut; else "


def of_count(
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
        Other datasets of the sweep, by their names and files.
    at, at_rows : callable, optional
        Where predictions, and rows of the dataset, are in their files.
    is_cut : bool
        Whether the last prediction's line has no end.
    """
    n_rows = 0 if rows is None else rows.grades.size
    more = scores.size - n_rows
    is_cut = is_cut and more < 0
    what = "the file may be cut, as its last line has no line end: " * is_cut
    what += f"{scores.size:,} predictions for {n_rows:,} rows of {name}"
    same = {other: held for other, held in others.items() if held.grades.size == scores.size}
    known = None
    if rows is not None and n_rows and scores.size and scores.size <= LARGEST:
        known = find(rows, scores)
        known = None if is_cut and known is not None and _is_no_better(known) else known
    best, found = _best(scores, same)
    if found.z > CLEAR and (known is None or found.z > known.there.z):
        what += f"; {_as_many(best, found, same)}"
        return finding("row-count", place, what, abs(more), fix=f"give the predictions of {name}")
    if known is not None:
        what += f"; {_where(known, max(scores.size, n_rows))}"
        starts = ((one, _likeliest(one, max(scores.size, n_rows))) for one in known.places)
        first = [row for one, start in starts for row in range(start, start + abs(one.n))]
    else:
        what += f"; in their order without a {'row' if more > 0 else 'prediction'}"
        first = [*range(min(scores.size, n_rows), max(scores.size, n_rows))[:SHOWN]]
    first = first[:SHOWN]
    if more > 0:
        places = at(first)
        names = [f"prediction {one + 1:,}: {scores[one]:.15g}" for one in first]
        fix = _delete(known, scores.size)
    else:
        places, names = [], [*_rows(rows, first, at_rows)] if rows is not None else []
        fix = "get the whole file again" if is_cut else ""
    if same and known is None:  # the count alone says it
        what += f"; {_as_many(best, found, same)}, and may be theirs"
        fix = f"{fix or RULES['row-count'].fix}; or give the predictions of {name}"
    at_first = places[0] if places else ""
    return finding("row-count", at_first or place, what, abs(more), names, fix=fix)


def _is_no_better(found: Lost) -> bool:
    """Whether predictions fit as they stand, and elsewhere no more than chance gives."""
    there, own = found.there, found.own
    apart = (there.r - own.r) * math.sqrt(min(there.n, own.n))
    return own.z > CLEAR and apart < BETTER_COUNT


def _best(scores: Array, same: Mapping[str, Rows]) -> tuple[str, Fit]:
    """Return the dataset of as many rows that scores fit best, and how; no fit where none is."""
    ranked = ranks(scores)
    found = {other: fit(rows, ranked) for other, rows in same.items()}
    best = max(found, key=lambda other: found[other].z, default="")
    return best, found.get(best, Fit(0, 0.0, 0))


def _as_many(best: str, found: Fit, same: Iterable[str]) -> str:
    """Return in words of which other datasets predictions have the count."""
    what = f"they are as many as the rows of {best}"
    if found.z > CLEAR:
        what += f", whose grades they correlate with ({found.r:.2f})"
    if others := [one for one in same if one != best]:
        what += f" (as many: {'; '.join(others)})"
    return what


def _rows(rows: Rows, first: Sequence[int], at: At) -> Iterator[str]:
    """Yield the names of some rows, with their places."""
    for one, place in zip(first, at(first), strict=True):
        qid = "" if rows.qids is None else texts_at(rows.qids, rows.query[[one]])[0]
        query = f", query {qid}" * bool(qid)
        yield f"row {one + 1:,}{query}" + f" ({place.rpartition('/')[2]})" * bool(place)


def _where(found: Lost, total: int) -> str:
    """Return in words without which predictions the others fit, or which rows have none."""
    noun = "prediction" if found.places[0].n > 0 else "row"
    which = " and ".join(_which(place, noun, total) for place in found.places)
    values = [f"{one.r:.2f}" for one in (found.there, found.own)]
    correlation = f"correlation with the grades {values[0]}"
    if values[0] != values[1]:
        correlation += f", against {values[1]} as they stand"
    if noun == "prediction":
        return f"they fit without {which.removesuffix(',')} ({correlation})"
    return f"they fit if {which} had none ({correlation})"


def _likeliest(place: Place, total: int) -> int:
    """Return where the first of them is, from 0: at an end of the file, if it may be there."""
    low, high = place.at.low, place.at.high
    at_end = high + abs(place.n) == total
    return low if low == 0 else high if at_end else place.at.row


def _which(place: Place, noun: str, total: int) -> str:
    """Return in words which they are.

    >>> _which(Place(1, Where(2, 0, 16)), "prediction", 1209)
    'one of predictions 1 to 17, likeliest 1,'
    >>> _which(Place(-3, Where(99, 83, 116)), "row", 1208)
    '3 rows that follow each other from one of rows 84 to 117 on, likeliest 100,'
    """
    n, low, high = abs(place.n), place.at.low + 1, place.at.high + 1
    if low == high:
        return f"{noun} {low:,}" if n == 1 else f"{noun}s {low:,} to {low + n - 1:,}"
    span = f"one of {noun}s {low:,} to {high:,}"
    likeliest = f"likeliest {_likeliest(place, total) + 1:,},"
    if n == 1:
        return f"{span}, {likeliest}"
    return f"{n:,} {noun}s that follow each other from {span} on, {likeliest}"


def _delete(found: Lost | None, total: int) -> str:
    """Return what to do about too many predictions."""
    if found is None:
        return CUT + "predict its rows, and nothing else"
    spans = [(place.at.low + 1, place.at.high + place.n) for place in found.places]
    some = " and ".join(f"{low:,} to {high:,}" for low, high in spans)
    cut = CUT if spans[-1][1] == total else ""
    if all(place.at.low == place.at.high for place in found.places):
        return f"{cut}delete predictions {some}"
    return (
        f"{cut}look at predictions {some}, and delete what is none, such as a header; if all look "
        "right, predict again"
    )
