"""How often each test finds a difference that does not exist, and how often the gate is wrong.

``python -m benchmarks.type1`` draws systems with equal means: two for the paired tests, five for
the tests of all pairs. It counts the trials in which a test finds two of them to differ at .05. The
gate judges candidates with a known drop. Each trial has a seed, so the table is the same with any
number of workers.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from tqdm import tqdm

import harness.metrics as built_in
from harness.core.names import parse
from harness.stats.corrections import adjust
from harness.stats.differences import differences
from harness.stats.gate import Margin, Pair, judge
from harness.stats.registry import Kind, Stream, load_all, outcome_of

assert built_in  # it registers them
NDCG = parse("ndcg@10")[0]
N_QUERIES = 50
TRIALS = 10_000
DRAWS = 1999  # (b + 1) / 2,000 can be .05
LEVEL = 0.05
BLOCK = 500
SYSTEMS = 5
SHARE = 10  # one of this many trials is of all pairs
HOLM = "paired-t` with Holm's correction"
PUBLISHED = {
    "paired-t": 0.0501,
    "randomization": 0.0504,
    "bootstrap": 0.0602,
    "wilcoxon": 0.0606,
    "sign": 0.0600,
}
HEAD = """# Type I error of the tests

This page shows how often each significance test finds a difference that does not exist.
`python -m benchmarks.type1` wrote it: it draws {trials:,} pairs of systems with equal expected
values on {n} queries, and counts the pairs that a test finds to differ at .05. The standard error
of a share is {error:.4f}; a star marks shares more than three standard errors above .05. Tests that
draw at random take {draws:,} draws.

*Exchangeable*: both systems draw the values of a query from the same distribution. *Unlike*: the
expected values are equal for each query, but one system varies less. The differences are then
skewed: the null hypothesis holds for means, but not for ranks and signs. *Published*: two-sided
tests at .05 in Urbano, Lima and Hanjalic (SIGIR 2019), who simulate systems fitted to TREC runs.
Their data differ from ours, so compare which tests keep their level, not the digits.
"""
NOTES = """
The values of *nDCG* have a beta distribution around the query's mean (concentration 5; unlike: 2
and 20). *P@10* is binomial (unlike: for half of the queries one system finds all ten or none). *RR*
is 1 over a geometric rank, and 0 below rank 1,000 (unlike: one system has rank 1 or finds nothing).
If few p-values are possible (signs, tenths), an exact test stays below .05.
"""
SEVERAL = """
## All pairs

Each of {trials:,} tables has {systems} systems with equal expected values. The shares count the
tables in which a test finds any of the {pairs} pairs to differ at .05 (the familywise error). Their
standard error is {error:.4f}. *Unlike*: one of the {systems} is unlike the others, as above.
"""
SEVERAL_NOTES = """
The tests of all pairs assume that all systems have one variance (Tukey), or one distribution
(randomised Tukey, Friedman). A system that varies more breaks this assumption. A paired t-test
uses the variance of its pair.
"""
GATE = """
## The gate

The shares are those of the outcomes of `harness gate` over {trials:,} pairs of a baseline and a
candidate, with margin {margin}, one metric and exchangeable values, by the candidate's true drop.
A type I error is a pass at a drop of the margin or more (at most {pass_level} by design), or a fail
at a drop of the margin or less (at most {fail_level}). A type II error is no pass without a drop,
or no fail at twice the margin. A star marks type I errors more than three standard errors above
their level.
"""
GATE_NOTES = """
With few queries most outcomes are undecided, so errors are rare. The values are those above; the
drop is subtracted from every value of the candidate.
"""
GATE_TITLE = GATE.split("\n")[1]
MARGIN = 0.05
DROPS = (0.0, MARGIN / 2, MARGIN, 2 * MARGIN)
GATED = [(metric, n) for metric in ("nDCG", "P@10", "RR") for n in (50, 200, 1000)]
OUTCOMES = ("pass", "fail", "undecided")

Systems = Callable[..., tuple[np.ndarray, ...]]


def ndcg(rng: Generator, unlike: bool, systems: int = 2) -> tuple[np.ndarray, ...]:
    """Return values like nDCG@10: anything from 0 to 1."""
    mean = np.clip(rng.beta(1.2, 1.8, N_QUERIES), 0.02, 0.98)
    one, other = (2, 20) if unlike else (5, 5)
    weights = (one, *[other] * (systems - 1))
    return tuple(rng.beta(mean * weight, (1 - mean) * weight) for weight in weights)


def precision(rng: Generator, unlike: bool, systems: int = 2) -> tuple[np.ndarray, ...]:
    """Return values like P@10: tenths."""
    mean = rng.beta(0.8, 2.0, N_QUERIES)
    one = rng.binomial(10, mean) / 10
    if unlike:
        together = rng.random(N_QUERIES) < 0.5
        one = np.where(together, rng.random(N_QUERIES) < mean, one)
    return one, *(rng.binomial(10, mean) / 10 for _ in range(systems - 1))


def reciprocal_rank(rng: Generator, unlike: bool, systems: int = 2) -> tuple[np.ndarray, ...]:
    """Return values like reciprocal rank: 1, 1/2, 1/3, ..., 0."""
    chance = np.clip(rng.beta(0.6, 1.4, N_QUERIES), 0.001, 0.999)

    def drawn() -> np.ndarray:
        rank = rng.geometric(chance)
        return np.where(rank <= 1000, 1 / rank, 0.0)

    if unlike:
        ranks = np.arange(1, 1001)[:, None]
        mean = (chance * (1 - chance) ** (ranks - 1) / ranks).sum(axis=0)
        one = (rng.random(N_QUERIES) < mean).astype(float)
    else:
        one = drawn()
    return one, *(drawn() for _ in range(systems - 1))


PAIRS: dict[str, Systems] = {"nDCG": ndcg, "P@10": precision, "RR": reciprocal_rank}
SETTINGS = [(metric, unlike) for unlike in (False, True) for metric in PAIRS]
WORDS = [f"{metric}, {'unlike' if unlike else 'exchangeable'}" for metric, unlike in SETTINGS]


def found(setting: tuple[str, bool], first: int, tests: tuple[str, ...]) -> np.ndarray:
    """Number of trials of a block that each test finds to differ."""
    metric, unlike = setting
    known = load_all()
    counts = np.zeros(len(tests), dtype=np.int64)
    for trial in range(first, first + BLOCK):
        names = ("type1", metric, str(unlike), str(trial))
        one, other = PAIRS[metric](Stream(names).rng(), unlike)
        stream = Stream((*names, "draws"), draws=DRAWS)
        differing = differences(one, other)
        counts += [outcome_of(known[name], differing, stream).p <= LEVEL for name in tests]
    return counts


def found_of_all(setting: tuple[str, bool], first: int, tests: tuple[str, ...]) -> np.ndarray:
    """Return in how many of a block of trials each test finds any pair to differ."""
    metric, unlike = setting
    known = load_all()
    counts = np.zeros(len(tests), dtype=np.int64)
    for trial in range(first, first + BLOCK):
        names = ("type1", "several", metric, str(unlike), str(trial))
        values = np.array(PAIRS[metric](Stream(names).rng(), unlike, SYSTEMS))
        stream = Stream((*names, "draws"), draws=DRAWS)
        for at, name in enumerate(tests):
            if name == HOLM:
                pairs = combinations(values, 2)
                test = known["paired-t"]
                found = [outcome_of(test, differences(*two), stream).p for two in pairs]
                p = adjust(np.array(found), "holm")
            else:
                p = known[name].function(values, stream, LEVEL).p
            counts[at] += (p <= LEVEL).any()
    return counts


def found_of_gate(
    setting: tuple[str, int], first: int, tests: tuple[tuple[float, str], ...]
) -> np.ndarray:
    """Number of trials of a block with each outcome at each drop."""
    metric, n = setting
    counts = dict.fromkeys(tests, 0)
    qids = [str(at) for at in range(n)]
    for trial in range(first, first + BLOCK):
        rng = Stream(("type1", "gate", metric, str(n), str(trial))).rng()
        draws = [PAIRS[metric](rng, False) for _ in range(n // N_QUERIES)]
        baseline, candidate = map(np.concatenate, zip(*draws, strict=True))
        for drop in DROPS:
            pair = Pair("d", "", "new", NDCG, qids, baseline, candidate - drop)
            counts[drop, judge([(pair, Margin(MARGIN))], LEVEL)[0].outcome] += 1
    return np.array(list(counts.values()))


def table_of_gate(shares: dict[tuple[float, str], list[float]], trials: int) -> str:
    """Return the page's part on the gate, from the share of each outcome at each drop."""
    levels = {"pass": LEVEL / 2, "fail": LEVEL}
    names = {0.0: "none", MARGIN / 2: "half the margin", MARGIN: "margin", 2 * MARGIN: "twice"}
    head = GATE.format(
        trials=trials, margin=MARGIN, pass_level=levels["pass"], fail_level=levels["fail"]
    )
    lines = [
        head,
        "| values | queries | drop | pass | fail | undecided |",
        "|---|---:|---|---:|---:|---:|",
    ]
    for at, (metric, n) in enumerate(GATED):
        for drop in DROPS:
            row = []
            for outcome in OUTCOMES:
                share, level = shares[drop, outcome][at], levels.get(outcome, 1.0)
                is_wrong = drop >= MARGIN if outcome == "pass" else drop <= MARGIN
                far = share > level + 3 * (level * (1 - level) / trials) ** 0.5
                row.append(f"{share:.4f}{'*' * (is_wrong and far)}")
            lines.append(f"| {metric} | {n:,} | {names[drop]} | {' | '.join(row)} |")
    return "\n".join([*lines, GATE_NOTES])


def table_of_all(shares: dict[str, list[float]], trials: int) -> str:
    """Return the page's second part, from each test's share in each setting."""
    error = (LEVEL * (1 - LEVEL) / trials) ** 0.5
    n_pairs = SYSTEMS * (SYSTEMS - 1) // 2
    head = SEVERAL.format(trials=trials, systems=SYSTEMS, pairs=n_pairs, error=error)
    lines = [head, f"| test | {' | '.join(WORDS)} |", f"|---|{'---:|' * len(WORDS)}"]
    for name, row in shares.items():
        lines.append(f"| `{name}{'`' * (name != HOLM)} | {' | '.join(_cells(row, error))} |")
    return "\n".join([*lines, SEVERAL_NOTES])


def table(shares: dict[str, list[float]], trials: int) -> str:
    """Return the page, from each test's share in each setting."""
    error = (LEVEL * (1 - LEVEL) / trials) ** 0.5
    lines = [
        HEAD.format(trials=trials, n=N_QUERIES, error=error, draws=DRAWS),
        f"| test | {' | '.join(WORDS)} | published |",
        f"|---|{'---:|' * (len(WORDS) + 1)}",
    ]
    for name, row in shares.items():
        cells = _cells(row, error)
        published = f"{PUBLISHED[name]:.4f}" if name in PUBLISHED else "-"
        lines.append(f"| `{name}` | {' | '.join(cells)} | {published} |")
    return "\n".join([*lines, NOTES])


def _cells(row: list[float], error: float) -> list[str]:
    return [f"{share:.4f}{'*' * (share > LEVEL + 3 * error)}" for share in row]


def counted(
    find: Callable[..., np.ndarray],
    tests: tuple[Any, ...],
    trials: int,
    workers: int | None,
    settings: list[Any] = SETTINGS,
) -> dict[Any, list[float]]:
    """Return each test's share of trials with a finding, in each setting."""
    firsts = range(0, trials, BLOCK)
    jobs = [(setting, first) for setting in settings for first in firsts]
    with ProcessPoolExecutor(workers) as pool:
        counts = pool.map(partial(find, tests=tests), *zip(*jobs, strict=True))
        blocks = np.array(list(tqdm(counts, total=len(jobs), disable=None)))
    by_setting = blocks.reshape(len(settings), len(firsts), len(tests)).sum(axis=1)
    shares = by_setting / (len(firsts) * BLOCK)
    return {name: shares[:, at].tolist() for at, name in enumerate(tests)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.type1", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="a multiple of 500")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="default: benchmarks/TYPE1.md if all is run")
    parser.add_argument("--gate", action="store_true", help="replace the last part alone")
    given = parser.parse_args()
    trials = -(-given.trials // BLOCK) * BLOCK
    page = Path(__file__).with_name("TYPE1.md")
    outcomes = tuple((drop, outcome) for drop in DROPS for outcome in OUTCOMES)
    of_gate = counted(found_of_gate, outcomes, trials, given.workers, GATED)
    gate = table_of_gate(of_gate, trials)
    if given.gate:
        kept = page.read_text(encoding="utf-8").partition(GATE_TITLE)[0].rstrip("\n")
        page.write_text(f"{kept}\n{gate}", encoding="utf-8")
        return
    fewer = -(-trials // SHARE // BLOCK) * BLOCK
    shares = counted(found, _tests("paired"), trials, given.workers)
    of_all = counted(found_of_all, (*_tests("all-pairs"), HOLM), fewer, given.workers)
    text = table(shares, trials) + table_of_all(of_all, fewer) + gate
    whole = given.trials == TRIALS
    out = given.out or (page if whole else None)
    if out is not None:
        out.write_text(text, encoding="utf-8")
    print(text)


def _tests(kind: Kind) -> tuple[str, ...]:
    names = (name for name, test in load_all().items() if test.kind == kind)
    return tuple(sorted(names, key=_place))


def _place(name: str) -> tuple[int, str]:
    return ([*PUBLISHED].index(name) if name in PUBLISHED else len(PUBLISHED), name)


if __name__ == "__main__":
    main()
