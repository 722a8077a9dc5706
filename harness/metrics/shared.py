"""Helpers of metrics: parameters, logarithms, division, running totals, short lists, blocks.

The kernels give trec_eval 9.0.7's values to the last bit: sums go document by document in rank
order, divisions are taken in its order. One thing is not defined there: a query whose
judgements are all below 0 reads the memory of another query (``ndcg``, ``G``, ``ndcg_rel``) or
stops the program. Here it is a query without relevant documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import SHOWN, About, Range
from ..core.metric import Function, metric
from ..core.ragged import Array, Bools, Floats, Ints, Ragged, frozen, stretches
from ..errors import InputError, UnknownNameError

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""trec_eval's cutoffs for a name without one."""
LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The eleven points of recall at which precision used to be reported."""
LARGEST_SHARE = 1e9
"""Largest cutoff as a multiple of the relevant documents; it still is a number of documents."""
Cutoff = Annotated[int, Range(1, None), About("Only documents at ranks 1..k count.")]
Rel = Annotated[
    float,
    Range(0, None, open=True),
    About("Smallest grade that counts as relevant; may be a fraction."),
]
Top = Annotated[int, Range(1, None), About("Largest grade that counts as relevant.")]
Persistence = Annotated[float, Range(0, 1, open=True), SHOWN]


def has_threshold(*, above: float | None = None, **_: Any) -> bool:
    """Whether the parameters have a threshold for grades, which may be a fraction."""
    return above is not None


Above = Annotated[float, About("Grades above this number are relevant; replaces rel.")]


_LARGEST_TABLE = 1 << 20
_log = np.frompyfunc(math.log, 1, 1)


@lru_cache(maxsize=4)
def _log2_table(size: int) -> Floats:
    return frozen(np.fromiter(map(math.log2, range(1, size + 1)), dtype=np.float64, count=size))


def log2_of(numbers: Ints) -> Floats:
    """Return the base-2 logarithm of positive integers, as C's ``log2`` computes it.

    ``numpy.log2`` differs from it in the last bit for some numbers on some processors, and
    trec_eval's values come from C's.
    """
    return log2_discount(numbers - 1)


def log2_discount(rank: Ints) -> Floats:
    """Return log2(rank + 1), the divisor of a gain at this rank (from 1)."""
    largest = int(rank.max(initial=0)) + 1
    if largest > _LARGEST_TABLE:
        distinct, which = np.unique(rank, return_inverse=True)
        return np.array([math.log2(number + 1) for number in distinct.tolist()])[which]
    return _log2_table(1 << max(10, largest.bit_length()))[rank]


def log_of(values: Floats) -> Floats:
    """Return the natural logarithm of positive numbers, as C's ``log`` computes it.

    Use it for values of queries, not of documents: ``numpy.log`` is faster, and may differ in the
    last bit.
    """
    return np.asarray(_log(values), dtype=np.float64)


def powers(base: float, exponent: Ints) -> Floats:
    """Return ``base ** exponent`` for whole exponents from 0, by multiplying in turn.

    `numpy.power` has another last digit on other processors and in other versions.
    """
    factors = np.full(1 + int(exponent.max(initial=0)), float(base))
    factors[0] = 1.0
    with np.errstate(under="ignore"):
        table: Floats = np.multiply.accumulate(factors)
    return table[exponent]


share_metric = partial(metric, direction="higher", bounds=(0, 1))
"""Register a metric that is a share, higher is better."""


def trec_measure(name: str, file: str, **facts: Any) -> Callable[[Function], Function]:
    """Register a measure of trec_eval under its name there.

    `facts` are the other arguments of `harness.core.metric.metric`.
    """
    return share_metric(name, source=f"trec_eval 9.0.7, {file}", **{"trec_name": name} | facts)


def share(part: Array, total: Array, empty: float = 0.0) -> Floats:
    """Return ``part / total``, and `empty` if `total` is 0."""
    values: Floats = np.divide(part, total, out=np.full(part.shape, empty), where=total != 0)
    return values


def hits_at(aligned: Aligned, cutoff: int | Ints, rel: float) -> Ints:
    """Return the relevant documents among the first `cutoff`, ``(n_queries,)``.

    `cutoff` is one for all queries, or one for each.
    """

    def make() -> Ints:
        deepest, relevant = aligned.deepest, aligned.found(rel)
        span = deepest + 1
        # query and rank as one rising number, so that a search finds each cutoff
        keys = aligned.memo(
            ("hit_keys", rel), lambda: relevant.row * span + aligned.rank_of_relevant(rel)
        )
        limit = np.minimum(cutoff, deepest)
        ends = np.searchsorted(keys, np.arange(aligned.n_queries) * span + limit, side="right")
        return frozen(ends - relevant.offsets[:-1])

    return aligned.memo(("hits_at", cutoff, rel), make) if isinstance(cutoff, int) else make()


def graded(aligned: Aligned) -> Ints:
    """Return the judged and retrieved documents with a grade above 0, as indices."""
    if aligned.grade.dtype.kind == "i":
        return aligned.relevant(1)
    return aligned.memo("graded", lambda: np.flatnonzero(aligned.grade > 0))


def precision_at_hits(aligned: Aligned, rel: float) -> Floats:
    """Return the precision at the rank of each relevant document retrieved, ``(n_hits,)``."""
    if (key := ("precision_at_hits", rel)) not in aligned.memos:
        aligned.memos[key] = aligned.found(rel).rank / aligned.rank_of_relevant(rel)
    precision: Floats = aligned.memos[key]
    return precision


def running(operation: np.ufunc, row: Ints, values: Floats) -> Floats:
    """Return the running sum, maximum... of each row's items, one after another as in C.

    Rows are padded to the next power of two and done together with those of their size, which
    at most doubles the memory. A difference of running totals over all rows would be rounded
    differently from a loop over one row. `operation` is ``np.add``, ``np.maximum``...; the items
    of a row are contiguous.
    """
    starts, lengths = stretches(row)
    result = np.empty_like(values)
    sizes = np.frexp(lengths - 1)[1]
    for size in np.unique(sizes).tolist() if row.size else ():
        members = sizes == size
        column = np.arange(1 << size)
        place = starts[members, None] + column
        inside = column < lengths[members, None]
        padded = values[np.minimum(place, row.size - 1)]
        result[place[inside]] = operation.accumulate(padded, axis=1)[inside]
    return result


def judged_as(
    aligned: Aligned, rel: float = 1, above: float | None = None, top: int | None = None
) -> tuple[Aligned, float]:
    """Return the alignment that applies the thresholds, and its smallest relevant grade.

    `rel`, `above` and `top` are as in `Rel`, `Above` and `Top`. It is the
    alignment as it is if a smallest grade is enough; else one whose grades are 1 for what is
    relevant and 0 for what is not.
    """
    if above is None and top is None:
        return aligned, rel
    if above is not None and above >= 0 and top is None and aligned.ideal.values.dtype.kind != "f":
        return aligned, math.floor(above) + 1

    def relevant(grades: Array) -> Bools:
        accepted: Bools = grades >= rel if above is None else grades > above
        return accepted if top is None else accepted & (grades <= top)

    def make() -> Aligned:
        return _cut_down(aligned, relevant(aligned.grade), relevant(aligned.ideal.values))

    return aligned.memo(("judged_as", rel, above, top), make), 1


def largest_only(aligned: Aligned) -> Aligned:
    """Return an alignment in which only each query's largest grade, above 0, is relevant."""

    def make() -> Aligned:
        ideal = aligned.ideal
        largest = np.zeros(aligned.n_queries, dtype=ideal.values.dtype)
        np.maximum.at(largest, ideal.row, ideal.values)
        return _cut_down(
            aligned,
            (aligned.grade > 0) & (aligned.grade == largest[aligned.row]),
            (ideal.values > 0) & (ideal.values == largest[ideal.row]),
        )

    return aligned.memo("largest_only", make)


def _cut_down(aligned: Aligned, of_items: Bools, of_ideal: Bools) -> Aligned:
    ideal = aligned.ideal
    values = _zero_or_one(ideal.values, of_ideal)
    values = values[np.lexsort((-values, ideal.row))]
    return replace(
        aligned,
        grade=_zero_or_one(aligned.grade, of_items),
        ideal=Ragged(ideal.offsets, values),
        views={},
    )


def _zero_or_one(grades: Array, relevant: Bools) -> Array:
    """Return 1 for relevant grades, 0 for others, and grades below 0 as they are."""
    unjudged = np.floor(np.minimum(grades, 0)).astype(np.int64)
    return np.where(relevant, 1, unjudged)


Short = Annotated[
    Literal["cut", "nan", "zero", "error"],
    About(
        "Value of a list with fewer than k documents. ``cut``: computed from these. ``nan``: no "
        "value. ``zero``: 0. ``error``: an error."
    ),
]


def without_short_lists(
    aligned: Aligned, values: Floats, cutoff: int | Ints | None, short: Short
) -> Floats:
    """Return the values with those of short lists replaced."""
    if short == "cut" or cutoff is None:
        return values
    lengths = aligned.n_retrieved if values.ndim == 1 else aligned.n_retrieved[:, None]
    is_short = lengths < cutoff
    if short == "error":
        short_lists = (aligned.n_retrieved < np.max(cutoff)) & aligned.answered
        names = [aligned.qids[row].as_py() for row in np.flatnonzero(short_lists)[:5]]
        if names:
            fewer = f"have fewer than {np.max(cutoff)} documents: {', '.join(names)}"
            message = f"{short_lists.sum()} of {aligned.n_queries} lists {fewer}"
            fix = "take a smaller cutoff, or write short=cut, short=nan or short=zero"
            raise InputError(message, fix=fix)
    return np.where(is_short, np.nan if short == "nan" else 0.0, values)


def none_relevant(
    aligned: Aligned,
    *,
    rel: float = 1,
    above: float | None = None,
    top: int | None = None,
    **_: Any,
) -> Bools:
    """Return a mask of the queries without a relevant document under `rel`, `above` and `top`."""
    judged, level = judged_as(aligned, rel, above, top)
    none: Bools = judged.n_relevant(level) == 0
    return none


def too_short(
    aligned: Aligned, *, cutoff: int | None = None, short: Short = "cut", **_: Any
) -> Bools:
    """Return a mask of the short lists that `short` treats separately, ``(n_queries,)``."""
    if short == "cut" or cutoff is None:
        return np.zeros(aligned.n_queries, dtype=bool)
    return np.less(aligned.n_retrieved, cutoff)


def check_thresholds(
    *, rel: float | None = None, above: float | None = None, top: int | None = None, **_: Any
) -> None:
    """Raise UnknownNameError for contradicting `Rel`, `Above` and `Top`; None if not given."""
    if rel is not None and above is not None:
        message = "expected rel or above, got both"
        raise UnknownNameError(message, fix="remove one: both set which grades count")
    least = rel or 1
    if top is not None and (top < least if above is None else top <= above):
        lowest = f"at least {least}" if above is None else f"above {above:g}"
        message = f"no document would be relevant: no grade is {lowest} and at most {top}"
        raise UnknownNameError(message, fix="raise top, or lower the other one")


def check_short(
    *, short: Short = "cut", depth: int | None = None, cutoff: int | None = None, **thresholds: Any
) -> None:
    """Raise UnknownNameError if a depth makes every list too short, or thresholds contradict."""
    if short == "error" and depth is not None and cutoff is not None and depth < cutoff:
        message = f"short=error rejects every query: depth={depth} cuts lists before rank {cutoff}"
        fix = "raise the depth, or leave out short=error"
        raise UnknownNameError(message, fix=fix)
    check_thresholds(**thresholds)


BLOCK = 1 << 15
"""Ranks in a block; a few arrays of them fit a processor's cache."""


def by_block(aligned: Aligned, kernel: Callable[[Aligned], Array]) -> Array:
    """Values of `kernel` for each query, ``(n_queries, ...)``, computed block by block.

    A kernel that makes dozens of arrays as long as the rankings takes a fraction of the time
    if these stay in the processor's cache. Nothing is copied.
    """
    ends = np.cumsum(np.maximum(aligned.n_retrieved, aligned.ideal.lengths))
    if not ends.size or ends[-1] <= BLOCK:
        return kernel(aligned)
    stops = np.searchsorted(ends, np.arange(BLOCK, ends[-1] + BLOCK, BLOCK)) + 1
    bounds = np.unique(np.minimum(stops, ends.size)).tolist()
    parts = [kernel(aligned.of_queries(slice(*bound))) for bound in pairwise([0, *bounds])]
    return np.concatenate(parts)
