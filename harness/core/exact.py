"""Logarithms and rank discounts, to the last bit of the C library's."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .ragged import Floats, Ints, frozen

_LARGEST_TABLE = 1 << 20
_log = np.frompyfunc(math.log, 1, 1)


@lru_cache(maxsize=4)
def _log2_table(size: int) -> Floats:
    return frozen(np.fromiter(map(math.log2, range(1, size + 1)), dtype=np.float64, count=size))


def log2_of(numbers: Ints) -> Floats:
    """Return the base-2 logarithm of positive integers, as C's ``log2`` computes it.

    ``numpy.log2`` differs from it in the last bit for some numbers on some processors, and
    trec_eval's values come from C's.

    >>> log2_of(np.array([1, 2, 8])).tolist()
    [0.0, 1.0, 3.0]
    """
    return log2_discount(numbers - 1)


def log2_discount(rank: Ints) -> Floats:
    """Return log2(rank + 1), what a gain at this rank (from 1) is divided by.

    >>> log2_discount(np.array([1, 3])).tolist()
    [1.0, 2.0]
    """
    largest = int(rank.max(initial=0)) + 1
    if largest > _LARGEST_TABLE:
        distinct, which = np.unique(rank, return_inverse=True)
        return np.array([math.log2(number + 1) for number in distinct.tolist()])[which]
    return _log2_table(1 << max(10, largest.bit_length()))[rank]


def log_of(values: Floats) -> Floats:
    """Return the natural logarithm of positive numbers, as C's ``log`` computes it.

    Meant for one value a query, not one a document: ``numpy.log`` is faster and may differ in
    the last bit.

    >>> log_of(np.array([1.0, 0.5])).tolist()
    [0.0, -0.6931471805599453]
    """
    return np.asarray(_log(values), dtype=np.float64)


def powers(base: float, exponent: Ints) -> Floats:
    """Return ``base ** exponent`` for whole exponents from 0, by multiplying in turn.

    :func:`numpy.power` has another last digit on other processors and in other versions.

    >>> powers(0.5, np.array([0, 3, 1])).tolist()
    [1.0, 0.125, 0.5]
    """
    factors = np.full(1 + int(exponent.max(initial=0)), float(base))
    factors[0] = 1.0
    with np.errstate(under="ignore"):
        table: Floats = np.multiply.accumulate(factors)
    return table[exponent]
