"""Run the loads and write their table into ``LOADS.md``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tqdm import tqdm

from ..cases import ROOT
from ..measure import Sample, attempt
from .cases import ALL, Command, Load

PAGE = ROOT / "benchmarks" / "LOADS.md"
BEGIN, END = "<!-- written by python -m benchmarks.load -->", "<!-- end -->"
HEAD = (
    "| load | command | seconds | processor seconds | peak memory, MB | outcome |\n"
    "|---|---|---:|---:|---:|---|"
)
DIGITS = 9
"""To which known summaries must be right: a mean of a million values is no exact number."""


def outcome(command: Command, sample: Sample, code: int, said: str) -> str:
    """Outcome of a command: "right", or the mistake."""
    if code != 0 or "Traceback" in said:
        return f"**exit {code}**: {said.strip().splitlines()[-1][:100] if said.strip() else ''}"
    lines = sample.output.splitlines()
    if "--format" in command.words and "jsonl" in command.words:
        rows = [json.loads(line) for line in lines if line.startswith("{")]
        found = {row["metric"]: row["value"] for row in rows if row.get("qid") == "all"}
        for name, value in command.expected.items():
            if round(found.get(name, float("nan")), DIGITS) != round(value, DIGITS):
                return f"**wrong**: {name} is {found.get(name)}, not {value}"
        n_rows = len(rows)
    elif command.words[0] == "check":
        n_rows = len(json.loads(sample.output)["checked"])
    else:
        n_rows = sum(line.count(",") > 0 for line in lines) - 1  # a header
    if n_rows < command.lines:
        return f"**{n_rows} rows** of {command.lines}"
    return "right" if command.expected else "done"


def run(load: Load, folder: Path, bar: tqdm) -> list[tuple[Command, Sample, str]]:
    """Make the data in `folder`, and run the commands in it."""
    numbers = map(str, load.numbers)
    make = [sys.executable, "-m", "benchmarks.load.data", load.kind, str(folder), *numbers]
    bar.set_description(f"data for {load.kind}")
    subprocess.run(make, check=True, cwd=ROOT)
    found = []
    for command in load.commands:
        bar.set_description(f"{load.kind}: {command.label}")
        words = [sys.executable, "-m", "harness", *command.words]
        sample, code, said = attempt(words, cwd=str(folder))
        found.append((command, sample, outcome(command, sample, code, said)))
    return found


def rows_of(load: Load, found: Sequence[tuple[Command, Sample, str]]) -> list[str]:
    """Return the rows of the table."""
    return [
        f"| {load.title} | {command.label} | {sample.wall:.1f} | {sample.cpu:.1f} "
        f"| {sample.memory:.0f} | {said} |"
        for command, sample, said in found
    ]


def machine() -> str:
    """Return where it was measured, and when."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pyarrow"))
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GB; Python {platform.python_version()}, {packages}; "
        f"{date.today():%Y-%m-%d}."
    )


def put(text: str, table: Mapping[str, Sequence[str]]) -> str:
    """Return the page with these rows in the place of those of the same loads."""
    before, rest = text.split(BEGIN)
    known, after = rest.split(END)
    rows = [line for line in known.splitlines() if line.startswith("| ")][1:]
    for title, new in table.items():
        rows = [row for row in rows if not row.startswith(f"| {title} |")] + list(new)
    titles = [load(1.0).title for load in ALL.values()]
    rows.sort(key=lambda row: [row.startswith(f"| {title} |") for title in titles], reverse=True)
    return f"{before}{BEGIN}\n" + "\n".join([HEAD, *rows]) + f"\n\n{machine()}\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the arguments, run, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("loads", nargs="*", metavar="CASE", help=f"all, or some of {list(ALL)}")
    parser.add_argument(
        "--data", type=Path, default=Path(tempfile.gettempdir()) / "harness-loads",
        help="folder for generated data, at most 6 GB at a time (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--size", type=float, default=1.0, help="share of the size, for a trial")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the table goes if size is 1")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.loads) - set(ALL))
    if unknown:
        parser.error(f"unknown case {', '.join(unknown)}; there are {', '.join(ALL)}")
    print(HEAD)
    with tqdm(disable=None) as bar:
        for name in given.loads or ALL:
            load = ALL[name](given.size)
            folder = given.data.resolve() / name
            try:
                rows = rows_of(load, run(load, folder, bar))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            print("\n".join(rows), flush=True)
            if given.size == 1:
                page = given.page.read_text(encoding="utf-8")
                given.page.write_text(put(page, {load.title: rows}), encoding="utf-8")


if __name__ == "__main__":
    main()
