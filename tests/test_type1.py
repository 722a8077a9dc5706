"""The simulation of Type I errors: its hypotheses hold, and its table does not hang on workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _the_tree_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # benchmarks are not installed


@pytest.mark.parametrize("unlike", [False, True])
@pytest.mark.parametrize("metric", ["nDCG", "P@10", "RR"])
def test_the_two_systems_have_equal_means(metric: str, unlike: bool) -> None:
    from benchmarks.type1 import PAIRS

    rng = np.random.default_rng(1)
    pairs = [PAIRS[metric](rng, unlike) for _ in range(300)]
    means = np.array([one.mean() - other.mean() for one, other in pairs])
    assert abs(means.mean()) < 4 * means.std() / np.sqrt(means.size)
    both = np.array(pairs)
    assert both.min() >= 0
    assert both.max() <= 1


def test_systems_are_unlike_where_that_is_said() -> None:
    from benchmarks.type1 import PAIRS

    for draw in PAIRS.values():
        rng = np.random.default_rng(2)
        wins, losses = 0, 0
        for _ in range(300):
            one, other = draw(rng, True)
            wins += (one > other).sum()
            losses += (one < other).sum()
        assert abs(wins - losses) > 6 * np.sqrt(wins + losses)


def test_the_table_marks_what_is_above_its_level() -> None:
    from benchmarks.type1 import SETTINGS, table

    # standard error of 10,000 trials: sqrt(.05 x .95 / 10,000) = .0022; three are .0065
    shares = {"sign": [0.0, 0.05, 0.0565, 0.0566, 0.5, 1.0], "of-a-plugin": [0.05] * len(SETTINGS)}
    text = table(shares, 10_000)
    assert "| `sign` | 0.0000 | 0.0500 | 0.0565 | 0.0566* | 0.5000* | 1.0000* | 0.0600 |" in text
    assert text.count("of-a-plugin` | 0.0500 | ") == 1
    assert "is 0.0022; a star" in text
