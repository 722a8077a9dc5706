"""The verdicts of the benchmarks: a target that is missed, or not measured, is called that."""

from __future__ import annotations

from pathlib import Path

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


def test_a_share_of_a_peer() -> None:
    from benchmarks.cases import Target

    def target(ours, peer):
        return Target(ours, 1 / 8, peer)

    assert lines(target).startswith("* Target: time at most 1/8 that of peer. Yes, 1/8.")
    assert lines(target, ours=1.01).startswith(
        "* Target: time at most 1/8 that of peer. **No**, 1/7.92."
    )


def test_a_limit_and_a_difference() -> None:
    from benchmarks.cases import Target

    # 4 s take 400 MB and 8 processor seconds
    assert "at most 400 MB. Yes, 400.00 MB." in lines(
        lambda ours, _: Target(ours, 400, by="memory"), ours=4.0
    )
    assert "at most 7 processor seconds. **No**, 8.00" in lines(
        lambda ours, _: Target(ours, 7, by="cpu"), ours=4.0
    )
    assert "at most 0.3 s above peer. **No**, 0.50 s." in lines(
        lambda ours, peer: Target(ours, 0.3, peer, above=True), ours=8.5
    )


def test_the_number_that_a_command_prints() -> None:
    from benchmarks.cases import Target

    def target(ours, _):
        return Target(ours, 1, by="printed", text="read once")

    assert "read once. Yes, 1.00." in lines(target, outputs=("opens 1.0", "map 0.25"))
    assert "read once. **No**, 34.00." in lines(target, outputs=("opens 34", "map 0.25"))


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
