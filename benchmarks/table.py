"""The committed table, from timings."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from importlib.metadata import version

from .cases import Case
from .measure import Timing

PACKAGES = (
    "ranking-harness", "numpy", "pyarrow", "pytrec-eval-terrier", "ir_measures", "scikit-learn",
)  # fmt: skip
HEAD = """# Results

Written by `python -m benchmarks`; `docs/performance.md` says what is measured and how. Medians,
with the fastest and the slowest run in brackets; *ratio* is a row's time divided by the harness's.
Times of other machines differ, ratios much less.
"""


def render(results: Sequence[tuple[Case, Sequence[Timing]]]) -> str:
    """Return the whole file as Markdown."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    machine = f"2 cores, 24 GB; Python {platform.python_version()}, {versions}."
    return "\n".join([HEAD, machine, *(_section(case, timings) for case, timings in results)])


def _section(case: Case, timings: Sequence[Timing]) -> str:
    lines = [
        f"\n## {case.title}\n\n{case.text}\n",
        "| | seconds | processor seconds | peak memory, MB | ratio | runs |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for command, timing in zip(case.commands, timings, strict=True):
        spread = f"({timing.fastest:.2f}-{timing.slowest:.2f})"
        lines.append(
            f"| {command.label} | {timing.wall:.2f} {spread} | {timing.cpu:.2f} "
            f"| {timing.memory:.0f} | {timing.wall / timings[0].wall:.1f} "
            f"| {len(timing.samples)} |"
        )
    lines += ["", *verdicts(case, timings)]
    return "\n".join(lines)


def verdicts(case: Case, timings: Sequence[Timing]) -> list[str]:
    """Return a sentence for each target of the case, and one on whether the values agree."""
    ours, peer = timings[0], timings[1]
    lines = []
    if case.target is not None:
        share = ours.wall / peer.wall
        lines.append(
            f"* Target: at most 1/{1 / case.target:.0f} of the time. "
            f"{_answer(share <= case.target)}, 1/{1 / share:.1f}."
        )
    if case.limit is not None:
        extra = ours.wall - peer.wall
        lines.append(
            f"* Target: at most {case.limit} s above the bare interpreter. "
            f"{_answer(extra <= case.limit)}, {extra:.2f} s."
        )
    if case.less_memory:
        lines.append(
            f"* Target: less memory. {_answer(ours.memory < peer.memory)}, "
            f"{ours.memory / peer.memory:.2f} of it."
        )
    summaries = [_summaries(timing.samples[0].output) for timing in timings]
    if summaries[0] and case.commands[1].scale == 1 and len(summaries[0]) == len(summaries[1]):
        same = all(
            math.isclose(one, other, rel_tol=1e-9)
            for one, other in zip(sorted(summaries[0]), sorted(summaries[1]), strict=True)
        )
        lines.append(f"* Same summaries to nine digits: {_answer(same).lower()}.")
    return lines


def _answer(met: bool) -> str:
    return "Yes" if met else "**No**"


def _summaries(output: str) -> list[float]:
    """Return the summary on each line: JSON lines or the last column."""
    return [
        json.loads(line)["value"] if line.startswith("{") else float(line.split()[-1])
        for line in output.splitlines()
    ]
