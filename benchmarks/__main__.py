"""Time the harness next to its peers and write the table."""

from __future__ import annotations

import argparse
import compileall
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from .cases import ALL, ON_REQUEST, ROOT, Case, Command, Setup
from .measure import Sample, Timing, run
from .table import render


def measure(case: Case, repeats: int | None, bar: tqdm) -> dict[Command, Timing]:
    """Run the case's commands in turn, so that a busy moment of the machine meets all of them."""
    commands = [command for command in case.commands if not command.missing]
    wanted = [min(repeats or command.repeats, command.repeats) for command in commands]
    samples: list[list[Sample]] = [[] for _ in commands]
    bar.reset(total=sum(wanted))
    for turn in range(max(wanted)):
        for at, command in enumerate(commands):
            if turn < wanted[at]:
                bar.set_description(command.label[:40])
                samples[at].append(run(command.argv, reported=command.reported))
                bar.update()
    return {
        command: Timing(tuple(taken), command.scale)
        for taken, command in zip(samples, commands, strict=True)
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the arguments, measure, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"all, or some of {list(ALL)}")
    parser.add_argument(
        "--data", type=Path, default=Path(tempfile.gettempdir()) / "harness-benchmarks",
        help="folder for generated data, 3 GB, or 6 GB with --full (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--full",
        action="store_true",
        help="also what takes minutes: scikit-learn on the whole LETOR file, a run of 2.4 GB",
    )
    parser.add_argument("--size", type=float, default=1.0, help="share of the queries, for a trial")
    parser.add_argument("--repeats", type=int, help="at most this many runs of each command")
    parser.add_argument("--out", type=Path, help="default: benchmarks/RESULTS.md if all is run")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.cases) - set(ALL))
    if unknown:
        parser.error(f"unknown case {', '.join(unknown)}; there are {', '.join(ALL)}")

    os.chdir(ROOT)
    for folder in ("harness", "benchmarks"):
        compileall.compile_dir(folder, quiet=2)
    given.data.mkdir(parents=True, exist_ok=True)
    setup = Setup(given.data.resolve(), given.size, given.full)
    usual = [name for name in ALL if given.full or name not in ON_REQUEST]
    results = []
    with tqdm(disable=None) as bar:
        for name in given.cases or usual:
            bar.set_description(f"data for {name}")
            case = ALL[name](setup)
            results.append((case, measure(case, given.repeats, bar)))
    text = render(results, given.size)
    whole = not given.cases and given.size == 1
    out = given.out or (ROOT / "benchmarks" / "RESULTS.md" if whole else None)
    if out is not None:
        out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
