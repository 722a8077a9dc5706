"""The verdicts and simulations of the benchmarks: what they call missed is missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _the_tree_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # benchmarks are not installed


def lines(target_of, *, ours=1.0, peer=8.0, outputs=("map 0.25", "map 0.25"), missing="") -> str:
    """Return the verdicts of a case whose commands took so many seconds, CPU twice, MB 100 x."""
    from benchmarks.cases import Case, Command
    from benchmarks.measure import Sample, Timing
    from benchmarks.table import verdicts

    first = Command("ours", ("a",), digits=9)
    second = Command("peer", ("b",), digits=4, missing=missing)
    timings = {
        command: Timing((Sample(seconds, 2 * seconds, 100 * seconds, output),))
        for command, seconds, output in zip((first, second), (ours, peer), outputs, strict=True)
        if not command.missing
    }
    case = Case("title", "text", (first, second), (target_of(first, second),))
    return "\n".join(verdicts(case, timings))


@pytest.mark.parametrize(
    ("most", "how", "given", "verdict"),
    [  # 4 s take 400 MB and 8 processor seconds
        (1 / 8, {"of": True}, {}, "time at most 1/8 that of peer. Yes, 1/8."),
        (1 / 8, {"of": True}, {"ours": 1.01}, "at most 1/8 that of peer. **No**, 1/7.92."),
        (400, {"by": "memory"}, {"ours": 4.0}, "at most 400 MB. Yes, 400.00 MB."),
        (7, {"by": "cpu"}, {"ours": 4.0}, "at most 7 processor seconds. **No**, 8.00"),
        (0.3, {"of": True, "above": True}, {"ours": 8.5}, "0.3 s above peer. **No**, 0.50 s."),
        (1, {"by": "printed", "text": "read once"}, {"outputs": ("opens 34", "map 0.25")},
         "read once. **No**, 34.00."),
    ],
)  # fmt: skip
def test_verdicts(most: float, how: dict[str, Any], given: dict[str, Any], verdict: str) -> None:
    from benchmarks.cases import Target

    def target(ours: Any, peer: Any) -> Any:
        more = {key: value for key, value in how.items() if key != "of"}
        return Target(ours, most, *([peer] if "of" in how else []), **more)

    assert verdict in lines(target, **given)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        # three cells of 2 s by one worker, and by two that take 10 % longer each
        ({"cells": 3}, 6.0),
        ({"cells": 3, "workers": 2, "slower": 0.1}, 4.4),
        # reading a cell takes 4 s: the second worker waits for the storage
        ({"cells": 2, "workers": 2, "storage": 0.25e6}, 8.0),
        # 8 bytes x 1,000 queries take 1 s to send, one result at a time, and 0.5 s to take in
        ({"cells": 2, "workers": 2, "network": 8e3, "per_result": 0.5}, 2 + 2 * 1.5),
    ],
)
def test_the_simulation_of_a_sweep(given: dict[str, float], seconds: float) -> None:
    from benchmarks.scale import Sweep, bound, simulate

    usual = {
        "queries": 1000, "depth": 1000, "metrics": 1, "row_bytes": 1, "starting": 0.0, "cell": 1.0,
        "per_million_rows": 1.0, "per_result": 0.0, "storage": 1e15, "network": 1e15, "slower": 0.0,
    }  # fmt: skip
    sweep = Sweep(**{**usual, **given})
    assert simulate(sweep) == pytest.approx(seconds)
    assert bound(sweep) <= simulate(sweep) + 1e-9


def test_the_simulation_is_near_what_was_measured() -> None:
    from benchmarks.scale import LARGE, MEASURED, bound, simulate

    for name, (sweep, seconds) in MEASURED.items():
        assert simulate(sweep) == pytest.approx(seconds, rel=0.15), name
    for name, sweep in LARGE.items():
        assert simulate(sweep) == pytest.approx(bound(sweep), rel=0.15), name


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
