"""The committed table, from timings."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version

from .cases import Case, Command, Target
from .measure import Timing

PACKAGES = (
    "ranking-harness", "numpy", "pyarrow", "pytrec-eval-terrier", "ir_measures", "ranx", "numba",
    "scikit-learn", "torchmetrics", "torch",
)  # fmt: skip
NAMES = {"wall": "time", "cpu": "processor seconds", "memory": "peak memory"}
UNITS = {"wall": "s", "cpu": "processor seconds", "memory": "MB", "printed": ""}
HEAD = """# Results

Written by `python -m benchmarks`; `docs/performance.md` says what is measured and how. Medians,
with the fastest and the slowest run in brackets; *ratio* is a row's time divided by the harness's.
Times of other machines differ, ratios much less.
"""


def render(results: Sequence[tuple[Case, Mapping[Command, Timing]]], size: float = 1.0) -> str:
    """Return the whole file as Markdown; `size` is the share of the queries that were measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = f"{os.cpu_count()} cores, {memory:.0f} GB; Python {platform.python_version()}"
    head = [HEAD, f"{machine}, {versions}."]
    if size != 1:
        head.append(f"\nA trial with {size:g} of the queries; the targets are for all of them.")
    return "\n".join([*head, *(_section(case, timings) for case, timings in results)])


def _section(case: Case, timings: Mapping[Command, Timing]) -> str:
    lines = [
        f"\n## {case.title}\n\n{case.text}\n",
        "| | seconds | processor seconds | peak memory, MB | ratio | runs |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    first = timings[case.commands[0]]
    for command, timing in timings.items():
        spread = f"({timing.fastest:.2f}-{timing.slowest:.2f})"
        lines.append(
            f"| {command.label} | {timing.wall:.2f} {spread} | {timing.cpu:.2f} "
            f"| {timing.memory:.0f} | {timing.wall / first.wall:.1f} "
            f"| {len(timing.samples)} |"
        )
    lines += ["", *verdicts(case, timings)]
    return "\n".join(lines)


def verdicts(case: Case, timings: Mapping[Command, Timing]) -> list[str]:
    """Return a sentence for each target of the case, and on whether the values agree."""
    lines = [_verdict(target, case, timings) for target in case.targets]
    lines += [f"* No row for {c.label}: {c.missing}." for c in case.commands if c.missing]
    compared = [(c, _agrees(timings, c, case.commands[0])) for c in timings if c.digits]
    lines += [
        f"* Same summaries to {command.digits} digits, {command.label}: {_answer(same).lower()}."
        for command, same in compared
        if command is not case.commands[0]
    ]
    return lines


def _verdict(target: Target, case: Case, timings: Mapping[Command, Timing]) -> str:
    """Return one target, whether it is met, and the figure."""
    who = "" if target.ours is case.commands[0] else f"{target.ours.label}: "
    line = f"* Target: {who}{_in_words(target)}."
    if not {target.ours, target.peer} - {None} <= {*timings}:
        return f"{line} Not measured."
    found = _figure(timings[target.ours], target.by)
    if target.peer is not None:
        base = _figure(timings[target.peer], target.by)
        found = found - base if target.above else found / base
    return f"{line} {_answer(found <= target.most)}, {_number(found, target)}."


def _in_words(target: Target) -> str:
    if target.text:
        return target.text
    if target.peer is None:
        return f"at most {target.most:g} {UNITS[target.by]}"
    if target.above:
        return f"at most {target.most:g} s above {target.peer.label}"
    bound = "no more than" if target.most == 1 else f"at most {_share(target.most)}"
    return f"{NAMES[target.by]} {bound} that of {target.peer.label}"


def _number(found: float, target: Target) -> str:
    if target.peer is None or target.above:
        return f"{found:.2f} {UNITS[target.by]}".rstrip()
    return _share(found)


def _share(ratio: float) -> str:
    """Return a ratio as it is easiest to read: 1/6.9, 0.97 x, 11.5 x."""
    return f"1/{1 / ratio:.3g}" if ratio <= 0.5 else f"{ratio:.3g} x"


def _figure(timing: Timing, by: str) -> float:
    if by == "printed":
        return float(timing.samples[-1].output.split()[-1])
    return float(getattr(timing, by))


def _answer(met: bool) -> str:
    return "Yes" if met else "**No**"


def _agrees(timings: Mapping[Command, Timing], command: Command, ours: Command) -> bool:
    """Return whether a command's summaries are ours, to the digits that it prints."""
    one, other = (sorted(_summaries(timings[c].samples[0].output)) for c in (ours, command))
    rounded = command.digits <= 4  # as printed, which is half a digit off at most
    tolerance = (0.51 if rounded else 1.0) * 10.0**-command.digits
    close = {"abs_tol" if rounded else "rel_tol": tolerance}
    return len(one) == len(other) and all(map(partial(math.isclose, **close), one, other))


def _summaries(output: str) -> list[float]:
    """Return the summary on each line: JSON lines or the last column."""
    return [
        json.loads(line)["value"] if line.startswith("{") else float(line.split()[-1])
        for line in output.splitlines()
    ]
