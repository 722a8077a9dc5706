"""The verdicts and simulations of the benchmarks: what they call missed is missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


def test_the_simulation_is_near_what_was_measured() -> None:
    from benchmarks.scale import LARGE, MEASURED, bound, simulate

    for name, (sweep, seconds) in MEASURED.items():
        assert simulate(sweep) == pytest.approx(seconds, rel=0.15), name
    for name, sweep in LARGE.items():
        assert simulate(sweep) == pytest.approx(bound(sweep), rel=0.15), name
