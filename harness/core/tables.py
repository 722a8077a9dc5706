"""Qrels and runs: the two tables everything starts from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import InputError, Problem
from .arrow import equal, take
from .docnos import Docnos
from .hashing import Index, Sieve, hash_strings, pair_keys
from .ragged import Array, Bools, Floats, Ints, Ragged, frozen, lengths_of
from .ragged import where as where_true
from .table import Table

GRADE_LIMIT = 2**31 - 1
"""The largest grade, and with a sign the smallest; what is beyond it is an identifier that
stands in the wrong column."""


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(Table):
    """All judgements of a dataset.

    ``numbers`` are the grades, in int64 or a smaller type that holds them (a byte a row is a
    large part of what a learning-to-rank file takes in memory); a grade below 0 means unjudged,
    as in trec_eval. Fractions are float64; they are judgements only to conventions that take them
    (:class:`~harness.core.grade_rule.GradeRule`).

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 2, "d2": 0}, "q2": {"d9": 1}})
    >>> qrels.n_queries, qrels.n_rows, qrels.grades.tolist()
    (2, 3, [2, 0, 1])
    """

    kind: ClassVar[str] = "qrels"
    dtypes: ClassVar[tuple[npt.DTypeLike, ...]] = (np.int64, np.int32, np.int16, np.int8)

    def __post_init__(self) -> None:
        fractions = np.asarray(self.numbers)
        super().__post_init__()
        if fractions.dtype.kind == "f" and not np.array_equal(fractions, self.numbers):
            object.__setattr__(self, "numbers", frozen(fractions.astype(np.float64)))

    @property
    def grades(self) -> Ints:
        """Grade of each judgement, ``(n_rows,)`` int64; float64 where some are fractions."""
        if self.numbers.dtype.kind == "f":
            return self.numbers
        return frozen(self.numbers.astype(np.int64, copy=False))

    @cached_property
    def ideal(self) -> Ragged:
        """Grades of each query in descending order."""
        grades = self.grades
        if not self.n_rows:
            return Ragged(self.offsets, grades)
        if grades.dtype.kind == "f":
            return Ragged(self.offsets, grades[np.lexsort((-grades, self.row))])
        top = int(grades.max())
        span = top - int(grades.min()) + 1
        # numbers that rise from query to query, and as grades fall
        tops = np.repeat(top + span * np.arange(self.n_queries), lengths_of(self.offsets))
        levels = tops - grades
        if self.n_queries * span <= self.n_rows:  # few levels: count the rows of each
            counts = np.bincount(levels, minlength=self.n_queries * span)
            falling = np.tile(np.arange(top, top - span, -1), self.n_queries)
            return Ragged(self.offsets, np.repeat(falling, counts))
        levels.sort()
        return Ragged(self.offsets, tops - levels)

    @cached_property
    def _indexes(self) -> tuple[Index, Sieve, Index]:
        """What finds qids, docnos that may be judged, and pairs of both."""
        hashes = self.docnos.hashes
        return Index(hash_strings(self.qids)), Sieve(hashes), Index(self.keys)

    def place(self, qids: pa.Array) -> Ints:
        """Return the position of each of these qids, -1 where it is not judged, ``(n,)``."""
        place = np.full(len(qids), -1)

        def same(rows: Ints, known: Ints) -> Bools:
            return equal(take(qids, rows), take(self.qids, known))

        found, known = self._indexes[0].find(hash_strings(qids), same)
        place[found] = known
        return place

    def find(self, query: Ints, docnos: Docnos) -> tuple[Ints, Ints]:
        """Return which of the given pairs are judged, and the judgement's row of each of those.

        Parameters
        ----------
        query : ndarray of int64, shape (n,)
            Position of the pair's query in `qids`, or -1 where it is not here.
        docnos : Docnos
            The pairs' docnos, `n` of them.
        """
        _, sieve, index = self._indexes
        rows = sieve.pass_on(docnos.hashes)
        rows = rows[query[rows] >= 0]

        def same(at: Ints, known: Ints) -> Bools:
            names = equal(docnos.take(rows[at]), self.docnos.take(known))
            pairs: Bools = names & (query[rows[at]] == self.row[known])
            return pairs

        found, judgement = index.find(pair_keys(query[rows], docnos.hashes[rows]), same)
        return rows[found], judgement

    @cached_property
    def _docno_hashes(self) -> Array:
        return np.sort(self.docnos.hashes)

    @property
    def n_documents(self) -> int:
        """How many different documents are judged, told by their hashes."""
        known = self._docno_hashes
        return int((known[1:] != known[:-1]).sum()) + 1 if known.size else 0

    def knows(self, hashes: Array) -> Bools:
        """Return which docnos of these hashes are judged, for whichever query, ``(n,)``."""
        found = np.zeros(hashes.size, dtype=bool)
        rows = self._indexes[1].pass_on(hashes)
        if rows.size:
            wanted = hashes[rows]
            order = np.argsort(wanted)  # what is looked for in order is found three times as fast
            known, wanted = self._docno_hashes, wanted[order]
            at = np.minimum(np.searchsorted(known, wanted), known.size - 1)
            found[rows[order]] = known[at] == wanted
        return found

    @classmethod
    def check_numbers(cls, numbers: npt.ArrayLike, where: str, *, fractions: bool = False) -> Array:
        """Return grades as int32, as float64 where some are fractions; see the base class."""
        grades = np.asarray(numbers)
        if grades.size == 0:
            return np.zeros(0, dtype=np.int32)
        if grades.dtype.kind not in "iubf":
            raise TypeError(f"grades must be whole numbers, not {grades.dtype}")
        whole = True
        if grades.dtype.kind == "f":
            broken = where_true(_is_broken, grades)
            whole = not broken.any()
            if fractions:
                bad = grades[broken]  # a small part, or all of fractions
                _refuse(where, bad[~np.isfinite(bad)], "finite", "not-finite")
            else:
                bad, rule = grades[broken], "grade-values"
                _refuse(where, bad, "a whole number", rule, several="whole numbers")
        large = where_true(lambda some: ~((some >= -GRADE_LIMIT) & (some <= GRADE_LIMIT)), grades)
        _refuse(where, grades[large], f"between -{GRADE_LIMIT} and {GRADE_LIMIT}")
        return grades.astype(np.int32 if whole else np.float64)


def _is_broken(grades: Array) -> Bools:
    """Whether each is no whole number."""
    broken: Bools = ~(np.isfinite(grades) & (grades == np.trunc(grades)))
    return broken


def _refuse(where: str, bad: Array, what: str, rule: str = "", *, several: str = "") -> None:
    if bad.size:
        first = bad[0].item()
        # an identifier of 11 digits is no 99999999999.0
        first = int(first) if abs(first) < 1e15 and first == int(first) else first
        said = f"1 grade is not {what}: "
        if bad.size > 1:
            said = f"{bad.size:,} grades are not {several or what}, the first is "
        raise InputError(
            Problem(
                where,
                f"{said}{first!r}",
                fix="judgements are small integers; scale or round them before",
                rule=rule,
            )
        )


@dataclass(frozen=True, eq=False, repr=False)
class Run(Table):
    """One system's scores for all queries.

    ``numbers`` are the scores, float64, all finite. `tags` are the distinct values of a TREC
    file's last column, a thousand at most.

    Examples
    --------
    >>> run = Run.from_dict({"q1": {"d1": 0.5, "d2": 1.5}}, name="bm25")
    >>> run.scores.tolist()
    [0.5, 1.5]
    """

    tags: tuple[str, ...] = field(default=())

    kind: ClassVar[str] = "run"

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """Score of each row, ``(n_rows,)`` float64."""
        return self.numbers

    @cached_property
    def extremes(self) -> tuple[Floats, Floats]:
        """Smallest and largest score of each query that has rows, ``(n_answered,)`` each."""
        # Empty queries share their start with the next one and are left out.
        starts = self.offsets[:-1][lengths_of(self.offsets) > 0]
        if not starts.size:
            return np.zeros(0), np.zeros(0)
        return np.minimum.reduceat(self.scores, starts), np.maximum.reduceat(self.scores, starts)

    @classmethod
    def check_numbers(cls, numbers: npt.ArrayLike, where: str, *, fractions: bool = True) -> Array:
        """Return finite scores as float64; see :meth:`Table.check_numbers`."""
        given = np.asarray(numbers)
        if given.size and given.dtype.kind not in "iufb":
            raise TypeError(f"scores must be numbers, not {given.dtype}")
        scores = given.astype(np.float64)
        if not np.isfinite(scores).all():
            bad = scores[~np.isfinite(scores)]
            said = "1 score is not finite: "
            if bad.size > 1:
                said = f"{bad.size:,} scores are not finite, the first is "
            raise InputError(
                Problem(
                    where,
                    f"{said}{float(bad[0])!r}",
                    fix="repair the system's output; a ranking cannot be read from NaN or inf",
                    rule="not-finite",
                )
            )
        return scores

    @classmethod
    def for_rows(cls, qrels: Qrels, scores: npt.ArrayLike, *, name: str = "") -> Run:
        """Return the run that gives one score for each row of `qrels`, in its order.

        This is how predictions for a learning-to-rank file become a run: no docno is looked
        up, since both tables share their rows.

        Parameters
        ----------
        qrels : Qrels
            The dataset that the scores follow.
        scores : array_like, shape (n_rows,)
            One finite score a row.
        """
        checked = cls.check_numbers(scores, name or "scores")
        n_rows = qrels.n_rows if qrels.n_source is None else qrels.n_source
        if checked.shape != (n_rows,):
            raise InputError(
                Problem(
                    name or "scores",
                    f"{checked.size} scores for {n_rows} rows of the dataset",
                    fix="give one score for each row of the dataset, in its order",
                    rule="row-count",
                )
            )
        if qrels.order is not None:
            checked = checked[qrels.order]
        return cls(qrels.qids, qrels.offsets, qrels.docnos, checked, name)
