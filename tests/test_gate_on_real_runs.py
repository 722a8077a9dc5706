"""The gate on the 143 runs of TREC-COVID, against values and statistics of other programs."""

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from csv_rows import csv_rows
from scipy import stats

from harness.core.leaderboard import Leaderboard
from harness.core.names import parse
from harness.core.systems import systems_of
from harness.errors import HarnessWarning
from harness.experiment.evaluate import evaluate_files
from harness.experiment.gate import gate_baseline
from harness.stats.gate import Margin, MarginRule, Pair, judge

MEASURE, MARGIN, LEVEL = "ndcg_cut_10", 0.05, 0.05


@pytest.fixture(scope="module")
def covid(shared: Path) -> Path:
    return shared / "data/trec_covid_round1"


@pytest.fixture(scope="module")
def board(covid: Path) -> Leaderboard:
    runs = sorted(map(str, (covid / "runs").glob("*.gz")))
    assert len(runs) == 143
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)  # of ranks and ties
        return evaluate_files(str(covid / "qrels-rnd1.txt"), runs, ["ndcg@10"])


@pytest.fixture(scope="module")
def values(covid: Path) -> dict[str, np.ndarray]:
    """Each run's values by pytrec_eval, 0 for queries that it does not answer."""
    qrels: dict[str, dict[str, int]] = {}
    for line in (covid / "qrels-rnd1.txt").read_text().splitlines():
        qid, _, docno, grade = line.split()
        qrels.setdefault(qid, {})[docno] = int(grade)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {MEASURE})
    found = {}
    for path in sorted((covid / "runs").glob("*.gz")):
        run: dict[str, dict[str, float]] = {}
        words = gzip.decompress(path.read_bytes()).decode().split()
        for qid, docno, score in zip(words[::6], words[2::6], words[4::6], strict=True):
            run.setdefault(qid, {})[docno] = float(score)
        own = evaluator.evaluate(run)
        found[path.stem] = np.array([own[qid][MEASURE] if qid in own else 0.0 for qid in qrels])
    return found


def test_every_pair_with_the_best_run(
    covid: Path, board: Leaderboard, values: dict[str, np.ndarray]
) -> None:
    published = csv_rows(covid / "leaderboard.csv")
    best = max(published, key=lambda row: float(row["ndcg@10"]))["run"]
    rules = {"ndcg@10": MarginRule(margin=MARGIN)}
    verdicts = gate_baseline(systems_of(board), best, rules, level=LEVEL)
    assert len(verdicts) == 142
    gains = {one.run: values[one.run] - values[best] for one in verdicts}
    alone = {
        run: stats.ttest_1samp(own, -MARGIN, alternative="less").pvalue
        for run, own in gains.items()
    }
    holm, largest = {}, 0.0
    for rank, (run, p) in enumerate(sorted(alone.items(), key=lambda pair: pair[1])):
        largest = max(largest, min(1.0, p * (len(alone) - rank)))
        holm[run] = largest
    outcomes = {"pass": 0, "fail": 0, "undecided": 0}
    for one in verdicts:
        own = gains[one.run]
        low, high = stats.ttest_rel(
            values[one.run], values[best]
        ).confidence_interval(1 - LEVEL)  # fmt: skip
        is_fail = high < -MARGIN or holm[one.run] <= LEVEL
        expected = "pass" if low > -MARGIN else "fail" if is_fail else "undecided"
        assert one.outcome == expected, one.run
        assert one.n == 30
        assert one.difference == pytest.approx(own.mean(), abs=1e-12)
        assert (one.low, one.high) == pytest.approx((low, high), abs=1e-9)
        assert one.p_adjusted == pytest.approx(holm[one.run], abs=1e-12)
        outcomes[one.outcome] += 1
    assert outcomes["fail"] > 50
    assert outcomes["undecided"] > 10


def test_planted_regressions(values: dict[str, np.ndarray]) -> None:
    """A drop of .2 fails, the same run passes, and 8 queries cannot tell."""
    (metric,) = parse("ndcg@10")
    qids, margin = [str(n) for n in range(30)], Margin(0.05)
    rng = np.random.default_rng(0)
    for run, before in list(values.items())[::20]:
        if before.mean() < 0.3:
            continue
        worse = np.clip(before - 0.2 + rng.normal(0, 0.02, before.size), -1, 1)
        for after, outcome in ((before, "pass"), (worse, "fail")):
            pair = Pair("covid", "", run, metric, qids, before, after)
            assert judge([(pair, margin)])[0].outcome == outcome, run
        noisy = before[:8] + rng.normal(0, 0.2, 8)
        (one,) = judge([(Pair("covid", "", run, metric, qids[:8], before[:8], noisy), margin)])
        assert one.outcome == "undecided"
        spread = np.std(noisy - before[:8], ddof=1)
        powers = {n: _power(n, spread) for n in (one.needed - 1, one.needed)}
        assert powers[one.needed - 1] < 0.8 <= powers[one.needed]


def _power(n: int, deviation: float) -> float:
    """Return how often an equally good candidate passes with n queries."""
    quantile = stats.t.ppf(1 - LEVEL / 2, n - 1)
    shift = 0.05 / (deviation / np.sqrt(n))
    return float(stats.nct.sf(quantile, n - 1, shift))
