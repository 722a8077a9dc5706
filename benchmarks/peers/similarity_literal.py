"""RBO with ties and swaps as they are written down, query by query: ``N_QUERIES LENGTH``.

The two rankings of each query are in memory as lists of documents with the first and the last
rank of each one's group of ties.
"""

import sys
import time
from bisect import bisect_right, insort

import numpy as np

P = 0.9
LEVELS = 300


def scores_of(n_queries: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two tables of scores with ties, ``(n_queries, length)``, that agree somewhat."""
    rng = np.random.default_rng(20240711)
    truth = rng.random((n_queries, length))
    first, second = (truth + rng.random(truth.shape) for _ in range(2))
    return np.floor(first * LEVELS), np.floor(second * LEVELS)


def ranked(scores: np.ndarray) -> list[tuple[int, int, int]]:
    """Return (document, first rank, last rank) of its group, best first."""
    falling = np.sort(-scores)
    order = np.argsort(-scores, kind="stable")
    first = np.searchsorted(falling, -scores[order], side="left") + 1
    last = np.searchsorted(falling, -scores[order], side="right")
    return list(zip(order.tolist(), first.tolist(), last.tolist(), strict=True))


def rbo(one: list[tuple[int, int, int]], other: list[tuple[int, int, int]], tied: str) -> float:
    """Return RBO_ext of two rankings of the same documents, depth by depth."""
    spans = {docno: (first, last) for docno, first, last in other}
    total, depth = 0.0, 0
    for depth in range(1, len(one) + 1):
        overlap = sums = squares_a = squares_b = 0.0
        for docno, first, last in one:
            a = counted(first, last, depth, tied)
            b = counted(*spans[docno], depth, tied)
            overlap += a * b
            sums += a + b
            squares_a += a * a
            squares_b += b * b
        norm = {"w": sums / 2, "a": depth, "b": (squares_a * squares_b) ** 0.5}[tied]
        agreement = overlap / norm
        total += P ** (depth - 1) * agreement
    return (1 - P) * total + P**depth * agreement


def counted(first: int, last: int, depth: int, tied: str) -> float:
    if depth < first:
        return 0.0
    if tied == "w" or depth >= last:
        return 1.0
    return (depth - first + 1) / (last - first + 1)


def swaps(one: list[tuple[int, int, int]], other: list[tuple[int, int, int]]) -> int:
    """Count the pairs in the opposite order by insertion into a sorted list."""
    ranks = {docno: first for docno, first, _ in other}
    found, above = 0, []
    for docno, _, _ in one:
        found += len(above) - bisect_right(above, ranks[docno])
        insort(above, ranks[docno])
    return found


def main(n_queries: int, length: int) -> None:
    first, second = scores_of(n_queries, length)
    pairs = [(ranked(a), ranked(b)) for a, b in zip(first, second, strict=True)]
    wall, cpu = time.perf_counter(), time.process_time()
    means = {
        f"rbo(p=0.9,tied={tied})": float(np.mean([rbo(one, other, tied) for one, other in pairs]))
        for tied in ("w", "a", "b")
    }
    means["swaps"] = float(np.mean([swaps(one, other) for one, other in pairs]))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    for metric, mean in means.items():
        print(metric, repr(mean))
    print("seconds", wall, cpu)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
