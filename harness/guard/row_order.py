"""How well scores fit the rows of a learning-to-rank file: their correlation with its grades.

A model's scores rise with the grades within a query; those of other rows do not. So a file that
has slipped by a line, or belongs to another fold, fits better elsewhere, and it can be told where.
Pure: numbers in, numbers out.

Scores that stand right fit their own rows better than those of their neighbours, wherever one
looks; those that slipped do not. So the sum of what each row adds to the fit at another offset,
less what it adds as it stands, falls along rows that stand right and rises along a slip. Pure:
numbers in, numbers out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from ..core.ragged import Array, Ints, sum_by
from ..core.tables import Qrels
from ..errors import Finding
from .labels import are_labels
from .parts import EXAMPLES, First, Firsts, placing, texts_at
from .registry import SHOWN, finding

if TYPE_CHECKING:
    from .facts import RunFacts

CLEAR = 6.0
"""Standard errors that a fit must be from 0, and from the other: no chance in a million sweeps."""
TWICE = 2.0
"""How many times as large it must be: rows sorted by grade correlate with their neighbours too."""
SLIPS = range(-5, 6)
"""Rows by which scores of the right count may have slipped."""
MOST = 64
"""Offsets that are tried where counts differ; beyond it, both ends alone."""
_CLOSEST = 0.8
"""Correlation beyond which scores are not taken to be closer: some rows may be other ones."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a dataset in the order of its file.

    Parameters
    ----------
    grades : ndarray, shape (n,)
    query : ndarray of int64, shape (n,)
        Position of each row's query.
    qids : pyarrow string array, optional
        What the queries are called.
    """

    grades: Array
    query: Ints
    qids: pa.Array | None = None


class Fit(NamedTuple):
    """How scores fit where score ``i + offset`` belongs to row ``i``.

    `r` is Pearson's correlation of grades and ranks of the scores, both less their mean in the
    query; `n` how many rows are in queries where both differ.
    """

    offset: int
    r: float
    n: int

    @property
    def z(self) -> float:
        """In standard errors of what chance gives."""
        return self.r * math.sqrt(self.n)


def ranks(scores: Array) -> Array:
    """Return the rank of each score among all, equal ones alike, so that none stands out.

    >>> ranks(np.array([5.0, 1e30, 5.0, -1.0])).tolist()
    [1.0, 2.0, 1.0, 0.0]
    """
    found: Array = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    return found


def fit(rows: Rows, ranked: Array, offset: int = 0) -> Fit:
    """Return how scores fit at an offset, over the rows that have one there.

    Parameters
    ----------
    rows : Rows
    ranked : ndarray of float64, shape (m,)
        As :func:`ranks` gives them; as many as there are scores.
    offset : int

    >>> rows = Rows(np.array([0, 1, 2, 2, 1]), np.array([0, 0, 0, 1, 1]))
    >>> fit(rows, np.array([9.0, 0.0, 1.0, 2.0, 2.0, 1.0]), 1)
    Fit(offset=1, r=1.0, n=5)
    """
    first, last = max(0, -offset), min(rows.grades.size, ranked.size - offset)
    if last <= first:
        return Fit(offset, 0.0, 0)
    grades = Grades(rows.query[first:last], rows.grades[first:last])
    return grades.fit(ranked[first + offset : last + offset], offset)


class Grades:
    """Grades less their mean in the query, to hold several scores against.

    Parameters
    ----------
    query : ndarray of int64, shape (n,)
    grades : ndarray, shape (n,)
    """

    def __init__(self, query: Ints, grades: Array) -> None:
        self.query = query - query.min()
        self.n_queries = int(self.query.max()) + 1
        self.lengths = np.bincount(self.query, minlength=self.n_queries)
        self.less = self.centred(grades.astype(np.float64))
        self.squares = self._sum(self.less * self.less)

    def _sum(self, values: Array) -> Array:
        return sum_by(self.query, values, self.n_queries)

    def centred(self, values: Array) -> Array:
        """Return values less their mean in the query."""
        less: Array = values - (self._sum(values) / np.maximum(self.lengths, 1))[self.query]
        return less

    def products(self, ranked: Array) -> Array:
        """Return what each row adds to the sum of which a fit is made."""
        found: Array = self.less * self.centred(ranked)
        return found

    def likelihood(self, ranked: Array) -> float:
        """Return how much likelier scores are by each unit of that sum, as a logarithm.

        They are a line over the grades and noise: of the slope ``b`` and the noise's variance
        ``v`` it is ``b / v``.
        """
        score = self.centred(ranked)
        squares = float(self.less @ self.less), float(score @ score)
        both = math.sqrt(squares[0] * squares[1])
        r = min(float(self.less @ score) / both, _CLOSEST) if both else 0.0
        return r / (1 - r * r) * self.less.size / both if both else 0.0

    def by_query(self, ranked: Array) -> tuple[Ints, Array]:
        """Return the queries where grades and scores differ, from 0, and Pearson's r in each."""
        score = self.centred(ranked)
        squares = self.squares * self._sum(score * score)
        query = np.flatnonzero(squares > 0)
        r: Array = self._sum(self.less * score)[query] / np.sqrt(squares[query])
        return query, r

    def fit(self, ranked: Array, offset: int) -> Fit:
        """Return how well scores fit; `offset` is for the result."""
        score = self.centred(ranked)
        squares = self._sum(score * score)
        differ = (self.squares > 0) & (squares > 0)
        if not differ.any():
            return Fit(offset, 0.0, 0)
        both = self._sum(self.less * score)[differ].sum()
        r = both / math.sqrt(self.squares[differ].sum() * squares[differ].sum())
        return Fit(offset, min(1.0, float(r)), int(self.lengths[differ].sum()))


def by_query(rows: Rows, ranked: Array) -> tuple[Ints, Array]:
    """Return the queries in which grades and scores differ, and Pearson's r in each.

    >>> rows = Rows(np.array([0, 1, 2, 2, 1, 1]), np.array([0, 0, 0, 1, 1, 2]))
    >>> by_query(rows, np.array([2.0, 1.0, 0.0, 5.0, 4.0, 3.0]))
    (array([0, 1]), array([-1.,  1.]))
    """
    query, r = Grades(rows.query, rows.grades).by_query(ranked)
    return query + int(rows.query.min()), r


def starts_of(rows: Rows) -> Ints:
    """Return the first row of each query; the number of rows where it has none."""
    starts = np.full(int(rows.query.max()) + 1, rows.query.size)
    np.minimum.at(starts, rows.query, np.arange(rows.query.size))
    return starts


def offsets_to_try(n_rows: int, n_scores: int) -> Iterable[int]:
    """Return where scores may belong: by the rows they have too many or too few.

    >>> [list(offsets_to_try(10, n)) for n in (12, 9)]
    [[0, 1, 2], [-1, 0]]
    """
    more = n_scores - n_rows
    if not more:
        return SLIPS
    if abs(more) > MOST:
        return sorted((0, more))
    return range(min(0, more), max(0, more) + 1)


def best(rows: Rows, scores: Array) -> tuple[Fit, Fit]:
    """Return the fit at offset 0, and the best of all that are tried."""
    ranked = ranks(scores)
    found = [fit(rows, ranked, offset) for offset in offsets_to_try(rows.grades.size, scores.size)]
    return next(one for one in found if not one.offset), max(found, key=lambda one: one.z)


def is_clear(one: Fit, other: Fit) -> bool:
    """Whether scores fit so much better in one way than in the other that chance is none."""
    apart = (one.r - max(other.r, 0.0)) * math.sqrt(max(1, min(one.n, other.n) or one.n))
    return one.z > CLEAR and apart > CLEAR and one.r > TWICE * other.r


def has_slipped(own: Fit, best: Fit) -> bool:
    """Whether scores fit clearly better at another offset than as they stand."""
    return bool(best.offset) and is_clear(best, own)


WINDOWS = 16
"""Pieces of a large file that are looked at first, spread over it."""
WINDOW = 512
"""Rows of each."""
BETTER = 4.5
"""Standard errors by which a stretch must fit better there than as it stands, where all else stands
right: of 28,800 drawn files of models in place none reached 4 of these and 5.5 of the fit there."""
UNSURE = math.log(100_000)
"""How much less likely a row may be than the likeliest one, and still be where a slip began."""
_FAR = 10
"""Rows apart that may be alike by themselves, as where each stands twice."""


class Where(NamedTuple):
    """A place between two rows: before row `row`, or before one from `low` to `high`."""

    row: int
    low: int
    high: int


class Slip(NamedTuple):
    """Rows whose scores stand elsewhere: score ``i + offset`` belongs to row ``i``.

    Parameters
    ----------
    first : Where
        Before the first of them.
    end : Where
        After the last.
    there, own, others : Fit
        Of these rows at the offset, and as they stand; of all other rows as they stand.
    """

    first: Where
    end: Where
    there: Fit
    own: Fit
    others: Fit

    @property
    def certain(self) -> range:
        """The rows that have slipped wherever it began and ended; one at least."""
        begin = min(self.first.high, self.end.row - 1)
        return range(begin, max(self.end.low, begin + 1))


def look(rows: Rows, scores: Array) -> tuple[Fit, Slip | None]:
    """Return how scores fit as they stand, and where they slipped.

    Of many rows it looks at some pieces, and at all only where the fit of these is not clear, or
    some of them have slipped.

    >>> query = np.arange(100_000) // 100
    >>> scores = np.sin(np.arange(100_000.0))
    >>> own, slip = look(Rows((scores > 0).astype(np.int64), query), scores)
    >>> own.n, slip  # three of the 8,192 are of a query that is cut, and of one grade
    (8189, None)
    """
    if scores.size > WINDOWS * WINDOW + SLIPS[-1] - SLIPS[0]:
        own, slip = _pieces(rows, scores).slip()
        if own.z > CLEAR and slip is None:
            return own, None
    ranked = ranks(scores)
    around = np.full((1, scores.size + SLIPS[-1] - SLIPS[0]), ranked.mean())
    around[0, -SLIPS[0] : -SLIPS[-1]] = ranked
    return _Around(rows.query, rows.grades, around).slip()


def _pieces(rows: Rows, scores: Array) -> _Around:
    most = SLIPS[-1]
    starts = np.linspace(most, scores.size - WINDOW - most, WINDOWS).astype(np.int64)[:, None]
    at = (starts + np.arange(WINDOW)).ravel()
    around = ranks(scores[starts + np.arange(-most, WINDOW + most)].ravel()).reshape(WINDOWS, -1)
    query = rows.query[at]
    return _Around(np.append(0, np.cumsum(query[1:] != query[:-1])), rows.grades[at], around)


class _Around:
    """Rows, and the ranks of the scores that stand around each.

    Parameters
    ----------
    query, grades : ndarray, shape (pieces * n,)
    around : ndarray, shape (pieces, n + 10)
        Ranks from five rows before a piece to five after it.
    """

    def __init__(self, query: Ints, grades: Array, around: Array) -> None:
        self.query, self.grades, self.around = query, grades, around
        self.held = Grades(query, grades)

    def at(self, offset: int) -> Array:
        """Return the rank of the score of each row at an offset."""
        start = offset - SLIPS[0]
        n = self.around.shape[1] - SLIPS[-1] + SLIPS[0]
        return self.around[:, start : start + n].ravel()

    def slip(self) -> tuple[Fit, Slip | None]:
        """Return how they fit as they stand, and where they slipped."""
        own = self.held.fit(self.at(0), 0)
        sums = {offset: np.cumsum(self.held.less * self.at(offset)) for offset in SLIPS}
        best = max(sums, key=lambda offset: (sums[offset][-1], not offset))
        whole = self.held.fit(self.at(best), best)
        if max(own.z, whole.z) <= CLEAR:
            return own, None
        slipped = has_slipped(own, whole)
        others = [best] if slipped else [offset for offset in SLIPS if offset]
        gains = {offset: _highest(np.append(0.0, sums[offset] - sums[0])) for offset in others}
        offset = max(gains, key=lambda one: gains[one][0])
        gain, first, end = gains[offset]
        step = (self.held.less * (self.at(offset) - self.at(0)))[first:end]
        chance = BETTER * math.sqrt(float(step @ step))
        if first == end or (not slipped and gain <= chance):
            return own, None
        slip = self._stretch(offset, first, end)
        return own, slip if slip is not None and (slipped or self._is_clear(slip)) else None

    def _stretch(self, offset: int, first: int, end: int) -> Slip | None:
        """Return the rows from `first` to `end`, which fit best at an offset, with their places."""
        inside = slice(first, end)
        held = Grades(self.query[inside], self.grades[inside])
        there, own = (held.fit(self.at(one)[inside], one) for one in (offset, 0))
        if there.r <= 0:
            return None
        gain = np.append(0.0, np.cumsum(self.held.less * (self.at(offset) - self.at(0))))
        gain *= held.likelihood(self.at(offset)[inside])
        begin = np.flatnonzero(gain[:end] < gain[first] + UNSURE)
        stop = first + 1 + np.flatnonzero(gain[first + 1 :] > gain[end] - UNSURE)
        others = np.r_[0:first, end : self.query.size]
        out = Fit(0, 0.0, 0)
        if others.size:
            out = Grades(self.query[others], self.grades[others]).fit(self.at(0)[others], 0)
        least, most = max(0, -offset), self.query.size - max(0, offset)  # which have a score there
        return Slip(
            Where(max(first, least), int(begin[0]), max(int(begin[-1]), least)),
            Where(end, min(int(stop[0]), most), int(stop[-1])),
            there, own, out,
        )  # fmt: skip

    def _is_clear(self, slip: Slip) -> bool:
        """Whether a stretch fits so much better elsewhere that it is no chance, and others do not.

        The limits rise with the rows, as more stretches are looked at.
        """
        if slip.others.z <= CLEAR or slip.there.r <= TWICE * slip.own.r:
            return False
        inside = slice(slip.first.row, slip.end.row)
        held = Grades(self.query[inside], self.grades[inside])
        there, own = (held.products(self.at(one)[inside]) for one in (slip.there.offset, 0))
        more = 2 * math.log(max(1.0, self.query.size / 1000))
        return in_errors(there) > math.sqrt(CLEAR**2 + more) and in_errors(there - own) > math.sqrt(
            BETTER**2 + more
        )


def _highest(gain: Array) -> tuple[float, int, int]:
    """Return the most that sums rise, and from and to which of them.

    >>> _highest(np.cumsum([0.0, -1.0, 2.0, -1.0, 3.0, -5.0]))
    (4.0, 1, 4)
    """
    above = gain - np.minimum.accumulate(gain)
    end = int(above.argmax())
    return float(above[end]), int(gain[: end + 1].argmin()), end


def in_errors(products: Array) -> float:
    """Return a sum in standard errors, those of terms that are alike a few rows apart too.

    >>> in_errors(np.array([1.0, 1.0, -1.0, 1.0]))
    1.0
    """
    own = float((products * products).sum())
    x = products - products.mean()
    far = min(_FAR, x.size - 1)
    both = sum((1 - by / (far + 1)) * float(x[by:] @ x[:-by]) for by in range(1, far + 1))
    square = max(own, float(x @ x) + 2 * both)
    return float(products.sum()) / math.sqrt(square) if square else 0.0


HELD = 1 << 20
"""Predictions of a file that are kept; of a longer one the first, which a slip moves too."""
FEW = 6
"""Distinct whole numbers that grades are, at most."""
MANY = 20
"""Distinct fractions from which on grades are rather scores."""


At = Callable[[Sequence[int]], Sequence[str]]
"""Returns the places of some rows of a file, by their positions from 0: ``["a.txt:3"]``."""


def nowhere(rows: Sequence[int]) -> Sequence[str]:
    """Return no places."""
    return [""] * len(rows)


@dataclass(frozen=True)
class OrderFacts:
    """Of predictions: how they fit the rows of their dataset.

    Parameters
    ----------
    fit : Fit, optional
        As they stand; None if they were not compared with the grades.
    slip : Slip, optional
        Where they have slipped.
    compared, falling : int
        Queries in which grades and predictions differ; those in which predictions fall as the
        grades rise. 0 if they fit clearly on the whole.
    whole_scores : tuple of float
        The scores, if they look like grades, and the grades like scores.
    different_grades : int
        How many there are then.
    """

    fit: Fit | None = None
    slip: Slip | None = None
    compared: int = 0
    falling: int = 0
    whole_scores: tuple[float, ...] = ()
    different_grades: int = 0


class Following:
    """The scores of a run that follows the rows of a dataset."""

    def __init__(self, qrels: Qrels, first: Firsts) -> None:
        self.qrels, self.first = qrels, first
        self.parts: list[Array] = []
        self.n = self.n_held = 0

    def add(self, scores: Array) -> None:
        """Keep the scores of the next rows."""
        self.n += scores.size
        if self.n_held < HELD:
            self.parts.append(scores)
            self.n_held += scores.size

    def facts(self) -> OrderFacts:
        """Return how they fit, and keep examples."""
        rows = rows_of(self.qrels)
        if rows is None or not self.n or self.n != rows.grades.size:
            return OrderFacts()
        scores = np.concatenate(self.parts)
        whole = self.n_held == self.n
        if whole and are_grades(self.qrels, scores):
            different = np.unique(self.qrels.numbers).size
            distinct = tuple(np.unique(scores).tolist())
            return OrderFacts(whole_scores=distinct, different_grades=different)
        if self.qrels.order is not None:  # back to the order of the file
            if not whole:
                return OrderFacts()
            in_file = np.empty_like(scores)
            in_file[self.qrels.order] = scores
            scores = in_file
        elif not whole:
            rows = Rows(rows.grades[: self.n_held], rows.query[: self.n_held])
        own, slip = look(rows, scores)
        if slip is not None:
            if not whole and slip.end.high == rows.grades.size:
                slip = slip._replace(end=slip.end._replace(high=self.n))
            self._name_slipped(rows, slip)
            return OrderFacts(own, slip)
        if own.z > CLEAR:
            return OrderFacts(own)
        query, r = by_query(rows, ranks(scores))
        if query.size:
            upside_down = own.z < -CLEAR
            rule = "upside-down" if upside_down else "unrelated"
            wanted = np.flatnonzero((r < 0) | (not upside_down))
            self.first.add(rule, first_queries(self.qrels, rows, query[wanted], r[wanted]))
        return OrderFacts(own, compared=query.size, falling=int((r < 0).sum()))

    def _name_slipped(self, rows: Rows, slip: Slip) -> None:
        """Keep the first rows that have slipped for certain, at the predictions that are theirs."""
        some = np.array(slip.certain[:EXAMPLES])
        qids = texts_at(self.qrels.qids, rows.query[some])
        row = some + slip.there.offset
        names = (
            f"prediction {of:,} -> row {at:,} (query {qid}, grade {grade:.15g})"
            for of, at, qid, grade in zip(
                (row + 1).tolist(), (some + 1).tolist(), qids, rows.grades[some].tolist(),
                strict=True,
            )
        )  # fmt: skip
        self.first.add("shifted", First(tuple(names), int(row[0])))


def first_queries(qrels: Qrels, rows: Rows, query: Ints, r: Array) -> First:
    """Return the first of some queries in the file, each with its correlation."""
    starts = starts_of(rows)[query]
    some = np.argsort(starts, kind="stable")[:EXAMPLES]
    names = texts_at(qrels.qids, query[some])
    said = (f"{qid} ({one:.2f})" for qid, one in zip(names, r[some].tolist(), strict=True))
    return First(tuple(said), int(starts[some[0]]))


def rows_of(qrels: Qrels) -> Rows | None:
    """Return the rows of a dataset in the order of its file; None where some were dropped."""
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


ENOUGH = 200
"""Rows from which on a model's predictions show that they have to do with the grades."""
CHANCE_OF_SLIP = 3.0
"""Standard errors up to which a correlation is what chance gives."""
WORSE = (
    "the order is worse than a random one",
    "negate them, if they are ranks, distances or losses; else predict in the order of the "
    "dataset's rows",
)
"""What predictions do, and how to mend it, that fall as grades rise, less than six standard errors
clearly."""
OTHER_FOLD = (
    "predict in the order of this fold's rows (they may have been shuffled, sorted, turned round "
    "or moved by some rows), or name this fold's file: it may be that of a fold of as many rows "
    "that the config does not name, or that of another fold, cut"
)


def of_facts(run: RunFacts, place: str, name: str) -> Iterator[Finding]:
    """Yield what is wrong with the rows or the columns of predictions, by their facts."""
    order = run.order
    if order.whole_scores:
        listed = ", ".join(f"{one:g}" for one in order.whole_scores)
        what = (
            f"the predictions are whole numbers ({listed}), and the grades of {name} are "
            f"{order.different_grades:,} different fractions: the columns have changed places"
        )
        yield finding("swapped-columns", place, what, run.queries.rows)
    elif order.slip is not None:
        yield _slip(run, order.slip, place, name)


def _slip(run: RunFacts, slip: Slip, place: str, name: str) -> Finding:
    """Return by how many rows predictions have slipped, and in which part of the file."""
    first = run.first.get("shifted", First())
    fit = f"the predictions fit the rows of {name}"
    certain = slip.certain
    moved = _moved(slip.there.offset, certain.start + 1)
    there, own = f"{slip.there.r:.2f}", f"against {slip.own.r:.2f} as they stand"
    correlation = "correlation with the grades within queries"
    begins, ends = slip.first.low == 0, slip.end.high == run.queries.rows
    count, effect = len(certain), ""
    if begins and ends:
        what = f"{fit} better if {moved} and so on"
        if len(certain) < run.queries.rows:
            what += f", rows {certain.start + 1:,} to {certain.stop:,} at least"
        what += f": {correlation} {there}, {own}"
        fix = ""
    else:
        since = _about(slip.first)
        until = _about(slip.end)
        if ends:
            what = f"{fit} as they stand up to {since}, and from there on"
            effect = "documents from there on have the score of a neighbour"
        elif begins:
            what = f"{fit} as they stand from {until} on, and before it"
            effect = "documents before that row have the score of a neighbour"
        else:
            what = f"{fit} as they stand but from {since} to {until}, and there"
            effect = "documents there have the score of a neighbour"
        what += (
            f" if {moved} and so on: {correlation} {there} there, {own}, and "
            f"{slip.others.r:.2f} elsewhere"
        )
        fix = "find what was inserted or lost about there, and predict again"
    found = finding("shifted", first.at(place), what, count, first.names, effect=effect, fix=fix)
    return replace(found, at_least=count < run.queries.rows)


def _about(where: Where) -> str:
    """Return about which row a place is, the row before it or after it.

    >>> _about(Where(302, 290, 310)), _about(Where(302, 302, 302))
    ('about row 302 (290 to 310)', 'row 302')
    """
    row, low, high = (max(1, one) for one in where)
    return f"row {row:,}" if low == high else f"about row {row:,} ({low:,} to {high:,})"


def _moved(offset: int, row: int) -> str:
    """Return which prediction belongs to a row.

    >>> _moved(1, 1), _moved(-2, 3)
    ('prediction 2 belongs to row 1', 'prediction 1 belongs to row 3')
    """
    return f"prediction {row + offset:,} belongs to row {row:,}"


def is_odd(run: RunFacts) -> bool:
    """Whether predictions fit neither their own rows nor their neighbours."""
    own = run.order.fit
    return own is not None and own.z <= CLEAR and run.order.slip is None and not are_labels(run)


def of_order(
    place: str, name: str, run: RunFacts, others: Sequence[tuple[str, Fit]] = ()
) -> Iterator[Finding]:
    """Yield that predictions have nothing to do with the grades, or the contrary.

    `others` are the same model's on its other folds, with their names: where these fit clearly, it
    is no random baseline.
    """
    own, falling, compared = run.order.fit or Fit(0, 0.0, 0), run.order.falling, run.order.compared
    what = f"predictions and grades of {name} have a correlation of {own.r:.2f} within queries"
    if own.z < -CLEAR:
        what += f", below 0 in {falling:,} of them"
        yield placing(place, run.first)("upside-down", what, falling)
        return
    found = placing(place, run.first)
    what += f", below 0 in {falling:,} of {compared:,}"
    if own.n and (fitting := [(other, fit) for other, fit in others if is_clear(fit, own)]):
        some = fitting[:SHOWN]
        values = _listed([f"{fit.r:.2f}" for _, fit in some])
        more = f" (and {len(fitting) - SHOWN:,} more)" if len(fitting) > SHOWN else ""
        on = _listed([other for other, _ in some])
        what += f"; those of the same model {values} on {on}{more}"
        effect = "each document has the score of another one"
        yield found("unrelated", what, compared, "warning", effect, OTHER_FOLD)
    elif own.n >= ENOUGH and own.z < CHANCE_OF_SLIP:
        effect, fix = WORSE if own.z < -CHANCE_OF_SLIP else ("", "")
        yield found("unrelated", what, compared, None, effect, fix)


def _listed(some: Sequence[str]) -> str:
    """Return a few as people list them.

    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(some[:-1]), some[-1]]))


class Swapped(NamedTuple):
    """Which dataset predictions fit in place of their own, how, and what is said of it."""

    other: str
    fit: Fit
    finding: Finding


def of_others(
    place: str, name: str, own: Fit, scores: Array, others: Mapping[str, Rows],
    own_rows: Rows | None = None, at: At = nowhere,
) -> Swapped | None:  # fmt: skip
    """Return the dataset of as many rows whose grades predictions fit in place of their own.

    `own_rows` are those of their own dataset; `at` returns where predictions are in their file.
    """
    ranked = ranks(scores)
    found = {other: fit(rows, ranked) for other, rows in others.items()}
    other = max(found, key=lambda one: found[one].z, default="")
    if not found or not is_clear(found[other], own):
        return None
    query, there, here = _by_query(others[other], own_rows, ranked)
    better = np.flatnonzero(there > here)
    what = (
        f"the predictions fit the rows of {other} (correlation with the grades within "
        f"queries {found[other].r:.2f}) and not those of {name} ({own.r:.2f}), as many; so in "
        f"{better.size:,} of {query.size:,} queries of the other"
    )
    starts = starts_of(others[other])[query[better]]
    first = np.argsort(starts, kind="stable")[:SHOWN]
    qids = others[other].qids
    some = better[first]
    names = [] if qids is None else texts_at(qids, query[some])
    said = [
        f"query {qid} ({one:.2f}, and {its:.2f})"
        for qid, one, its in zip(names, there[some].tolist(), here[some].tolist(), strict=False)
    ]
    where = at([int(starts[first[0]])])[0] if some.size else ""
    told = finding("swapped-fold", where or place, what, better.size, said)
    return Swapped(other, found[other], told)


def _by_query(other: Rows, own: Rows | None, ranked: Array) -> tuple[Ints, Array, Array]:
    """Return the queries of another dataset, and how scores correlate with its grades in each.

    The third is how they do with those of their own dataset on the same rows; 0 where they do not
    differ there, or are not known.
    """
    query, there = by_query(other, ranked)
    here = np.zeros(int(other.query.max()) + 1)
    if own is not None:
        some, r = by_query(Rows(own.grades, other.query), ranked)
        here[some] = r
    return query, there, here[query]
