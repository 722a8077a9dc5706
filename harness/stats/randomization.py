"""Fisher's randomisation test of paired differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.ragged import Floats
from .differences import EPS, means, multiples, unequal
from .registry import Outcome, Stream, as_p, paired_test

MOST_STEPS = 2**26
"""Most additions (some 0.07 s) for an exact distribution over whole numbers."""
FEW = 36
"""Most numbers for which every way to flip their signs is counted (some 0.02 s)."""
BITS = 8
"""Number of values that share a table of sums; one random byte gives all their signs."""
SUMS_AT_ONCE = 2**17
"""Largest number of looked-up sums in memory. The draws do not depend on it."""


def sign_flip_p(numbers: Floats, stream: Stream) -> tuple[float, bool]:
    """Return the two-sided p of ``sum(numbers)`` under random signs, and whether it is drawn.

    ``p = P(|sum s_i x_i| >= |sum x_i|)`` for signs s_i that are -1 or 1 with equal chances.
    Exact if the numbers lie on a grid that is not too fine (`MOST_STEPS`), or if at
    most `FEW` are not 0; else from draws, ``(b + 1) / (m + 1)`` with the b of m draws that
    are as far from 0. Sums that differ by less than floating point adds to them are equal.
    """
    nonzero = numbers[numbers != 0]
    sizes = np.abs(nonzero)
    tolerance = EPS * float(sizes.sum())
    grid = multiples(sizes)
    if grid is not None:
        observed = int(grid[nonzero > 0].sum() - grid[nonzero < 0].sum())
        p = exact_on_grid(grid, observed)
        if p is not None:
            return p, False
        sizes, tolerance, total = grid.astype(np.float64), 0.5, float(observed)
    else:
        total = float(nonzero.sum())
    least = abs(total) - tolerance
    if least <= 0:
        return 1.0, False
    if sizes.size <= FEW:
        return exact_of_few(sizes, least), False
    as_far = int(np.count_nonzero(np.abs(drawn_sums(sizes, stream)) >= least))
    return (as_far + 1) / (stream.draws + 1), True


def exact_on_grid(grid: NDArray[np.int64], observed: int) -> float | None:
    """Return the exact p of whole numbers by convolution, or None if that takes too long.

    A sum with signs is the total less twice what has a minus, so the distribution of the sum of a
    random subset is enough, up to the sum that is as far from 0 as `observed`. It is built number
    by number, smallest first, by additions of numbers that are not negative: no digit is lost, in
    the farthest tail either. The time grows with the numbers times the grid's points.
    """
    if observed == 0:
        return 1.0
    rising = np.sort(grid)
    common = int(np.gcd.reduce(rising))
    rising //= common
    limit = (int(rising.sum()) - abs(observed) // common) // 2
    if rising.size * (limit + 1) > MOST_STEPS:
        return None
    ways = np.zeros(limit + 1)  # subsets with each sum, over a power of 2
    ways[0] = 1.0
    reach = 0
    for done, size in enumerate(rising.tolist(), 1):
        reach = min(reach + size, limit)
        ways[size : reach + 1] += ways[: max(reach + 1 - size, 0)]
        if done % 512 == 0:  # before it overflows
            ways *= 2.0**-512
    return as_p(2 * float(ways.sum()) * 2.0 ** -(rising.size % 512))


def exact_of_few(sizes: Floats, least: float) -> float:
    """Return the exact p of at most `FEW` numbers: how many sums are at least `least`.

    Two halves are flipped in all ways each, and the pairs of half sums counted by bisection.
    """
    half = sizes.size // 2
    left, right = (np.sort(tables_of_sums(part[None, :])[0]) for part in np.split(sizes, [half]))
    below = np.searchsorted(right, least - left, side="left")
    return as_p(2 * float((right.size - below).sum()) / 2.0**sizes.size)


def tables_of_sums(rows: Floats) -> Floats:
    """Return each row's sum with every choice of signs, ``(n_rows, 2**n_columns)``.

    Bit c of a sum's place says whether column c is added (1) or subtracted (0).
    """
    sums = np.zeros((rows.shape[0], 1))
    for column in rows.T[:, :, None]:
        sums = np.concatenate([sums - column, sums + column], axis=1)
    return sums


def drawn_sums(sizes: Floats, stream: Stream) -> Floats:
    """Return sums of `sizes` with random signs, ``(n_draws,)``.

    The numbers are taken eight at a time: their 256 sums are a table, and a random byte chooses
    one of them for each draw, so that a draw takes an eighth of the look-ups and random numbers.
    """
    rng = stream.rng()
    rows = np.append(sizes, np.zeros(-sizes.size % BITS)).reshape(-1, BITS)
    tables = tables_of_sums(rows)
    words = -(-stream.draws // 8)  # of 8 bytes, for each table
    at_once = max(1, SUMS_AT_ONCE // max(8 * words, 1))
    total = np.zeros(8 * words)
    for start in range(0, tables.shape[0], at_once):
        part = tables[start : start + at_once]
        random = rng.integers(2**64 - 1, size=(part.shape[0], words), dtype="u8", endpoint=True)
        # The same bytes on every machine, and each table's own place in the flattened tables.
        places = np.add(
            random.astype("<u8", copy=False).view(np.uint8),
            np.arange(part.shape[0])[:, None] << BITS,
            dtype=np.intp,
        )
        total += np.take(part.ravel(), places, mode="clip").sum(axis=0)
    return total[: stream.draws]


@paired_test(
    "randomization",
    title="two-sided paired randomisation test",
    sources=("fisher1935", "smucker2007", "phipson2010"),
    random=True,
    weighted=True,
)
def randomization(differences: Floats, stream: Stream, weights: Floats | None = None) -> Outcome:
    """Test that the two systems are exchangeable on each query, by flipping signs.

    If it makes no difference which of two systems a value comes from, each difference is as
    likely with the other sign: ``p = P(|sum s_i d_i| >= |sum d_i|)`` over random signs s_i.

    Exact if values lie on a grid (P@10, values of few decimals) or few queries differ; else
    from draws, ``(b + 1) / (m + 1)`` with the b of m draws at least as far from 0, which is never
    0. Differences that tie the observed mean count, also if floating point would hide it.

    Its statistic is the mean difference. With query weights w it is the weighted mean, and
    ``p = P(|sum s_i w_i d_i| >= |sum w_i d_i|)``.

    References
    ----------
    Fisher, The Design of Experiments, 1935, section 21. In retrieval: Smucker, Allan and
    Carterette, CIKM 2007. That a drawn p is (b + 1) / (m + 1): Phipson and Smyth, Statistical
    Applications in Genetics and Molecular Biology 9(1), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> randomization(np.array([0.1, 0.2, 0.3, 0.0]), Stream()).p  # 2 of 8 ways
    0.25
    """
    weights = unequal(weights)
    p, drawn = sign_flip_p(differences if weights is None else differences * weights, stream)
    method = f"{stream.draws} draws" if drawn else "exact"
    return Outcome(p, float(means(differences[None], weights)[0]), method, drawn=drawn)
