"""How often each paired test finds a difference where there is none.

``python -m benchmarks.type1``: pairs of systems with equal means are drawn again and again, and
each registered test is asked whether they differ at .05. Every trial has its own seed, so the
table is the same with any number of workers.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from numpy.random import Generator
from tqdm import tqdm

from harness.stats.differences import differences
from harness.stats.registry import load_all
from harness.stats.streams import Stream

N_QUERIES = 50
TRIALS = 10_000
DRAWS = 1999  # (b + 1) / 2,000 can be .05
LEVEL = 0.05
BLOCK = 500
PUBLISHED = {
    "paired-t": 0.0501,
    "randomization": 0.0504,
    "bootstrap": 0.0602,
    "wilcoxon": 0.0606,
    "sign": 0.0600,
}
HEAD = """# Type I error of the paired tests

Written by `python -m benchmarks.type1`: of {trials:,} pairs of systems with equal expected values
on {n} queries, the share that each test finds to differ at .05. The standard error of a share
is {error:.4f}; a star marks those more than three of them above .05. Tests that draw take
{draws:,} draws.

*Exchangeable*: for each query both systems draw from one distribution. *Unlike*: their expected
values for each query are equal, but one system is steadier than the other, so that differences
are skewed: the null hypothesis of the mean holds, those of ranks and signs do not. *Published*:
two-sided tests at .05 in Urbano, Lima and Hanjalic (SIGIR 2019), who simulate systems fitted to
runs of TREC. Theirs and ours are other data: compare which tests keep their level, not digits.
"""
NOTES = """
Values: *nDCG* is beta distributed about the query's mean (concentration 5; unlike: 2 and 20).
*P@10* is binomial (unlike: for half of the queries one system finds all ten or none). *RR* is 1
over a geometric rank, 0 below rank 1,000 (unlike: one system has rank 1 or finds nothing).
Where few p-values are possible (signs, tenths) an exact test stays below .05.
"""

Pair = Callable[[Generator, bool], tuple[np.ndarray, np.ndarray]]


def ndcg(rng: Generator, unlike: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return values like nDCG@10: anything from 0 to 1."""
    mean = np.clip(rng.beta(1.2, 1.8, N_QUERIES), 0.02, 0.98)
    one, other = (2, 20) if unlike else (5, 5)
    return tuple(rng.beta(mean * weight, (1 - mean) * weight) for weight in (one, other))


def precision(rng: Generator, unlike: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return values like P@10: tenths."""
    mean = rng.beta(0.8, 2.0, N_QUERIES)
    one = rng.binomial(10, mean) / 10
    if unlike:
        together = rng.random(N_QUERIES) < 0.5
        one = np.where(together, rng.random(N_QUERIES) < mean, one)
    return one, rng.binomial(10, mean) / 10


def reciprocal_rank(rng: Generator, unlike: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return values like reciprocal rank: 1, 1/2, 1/3, ..., 0."""
    chance = np.clip(rng.beta(0.6, 1.4, N_QUERIES), 0.001, 0.999)

    def drawn() -> np.ndarray:
        rank = rng.geometric(chance)
        return np.where(rank <= 1000, 1 / rank, 0.0)

    if unlike:
        ranks = np.arange(1, 1001)[:, None]
        mean = (chance * (1 - chance) ** (ranks - 1) / ranks).sum(axis=0)
        return (rng.random(N_QUERIES) < mean).astype(float), drawn()
    return drawn(), drawn()


PAIRS: dict[str, Pair] = {"nDCG": ndcg, "P@10": precision, "RR": reciprocal_rank}
SETTINGS = [(metric, unlike) for unlike in (False, True) for metric in PAIRS]


def found(setting: tuple[str, bool], first: int, tests: tuple[str, ...]) -> np.ndarray:
    """Return how many of a block of trials each test finds to differ."""
    metric, unlike = setting
    known = load_all()
    counts = np.zeros(len(tests), dtype=np.int64)
    for trial in range(first, first + BLOCK):
        names = ("type1", metric, str(unlike), str(trial))
        one, other = PAIRS[metric](Stream(names).rng(), unlike)
        stream = Stream((*names, "draws"), draws=DRAWS)
        differing = differences(one, other)
        counts += [known[name].function(differing, stream).p <= LEVEL for name in tests]
    return counts


def table(shares: dict[str, list[float]], trials: int) -> str:
    """Return the page, from each test's share in each setting."""
    error = (LEVEL * (1 - LEVEL) / trials) ** 0.5
    words = [f"{metric}, {'unlike' if unlike else 'exchangeable'}" for metric, unlike in SETTINGS]
    lines = [
        HEAD.format(trials=trials, n=N_QUERIES, error=error, draws=DRAWS),
        f"| test | {' | '.join(words)} | published |",
        f"|---|{'---:|' * (len(words) + 1)}",
    ]
    for name, row in shares.items():
        cells = [f"{share:.4f}{'*' * (share > LEVEL + 3 * error)}" for share in row]
        published = f"{PUBLISHED[name]:.4f}" if name in PUBLISHED else "-"
        lines.append(f"| `{name}` | {' | '.join(cells)} | {published} |")
    return "\n".join([*lines, NOTES])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.type1", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="a multiple of 500")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="default: benchmarks/TYPE1.md if all is run")
    given = parser.parse_args()
    tests = tuple(
        sorted((name for name, test in load_all().items() if test.kind == "paired"), key=_place)
    )
    firsts = range(0, given.trials, BLOCK)
    jobs = [(setting, first) for setting in SETTINGS for first in firsts]
    with ProcessPoolExecutor(given.workers) as pool:
        counted = pool.map(partial(found, tests=tests), *zip(*jobs, strict=True))
        blocks = np.array(list(tqdm(counted, total=len(jobs), disable=None)))
    by_setting = blocks.reshape(len(SETTINGS), len(firsts), len(tests)).sum(axis=1)
    trials = len(firsts) * BLOCK
    shares = {name: (by_setting[:, at] / trials).tolist() for at, name in enumerate(tests)}
    text = table(shares, trials)
    whole = given.trials == TRIALS
    out = given.out or (Path(__file__).with_name("TYPE1.md") if whole else None)
    if out is not None:
        out.write_text(text, encoding="utf-8")
    print(text)


def _place(name: str) -> tuple[int, str]:
    return ([*PUBLISHED].index(name) if name in PUBLISHED else len(PUBLISHED), name)


if __name__ == "__main__":
    main()
