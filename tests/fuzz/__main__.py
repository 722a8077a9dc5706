"""``python -m tests.fuzz [TARGET...] --minutes N``: runs the fuzzers, one after the other.

Needs the extra ``fuzz``. Each target runs in a process of its own with a limit of memory and of
time for one input; the table in docs/reliability.md gets a line for each that ran its time.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
import time
from pathlib import Path

from .targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reliability.md"
CORPUS = Path(__file__).resolve().parent / "corpus"
MEMORY_MB, SECONDS = 2048, 20
"""Memory that a child may take, and time for one input."""
LONG = 3
"""Of the minutes, one in so many goes to long inputs."""
SHORT = 4096
"""Bytes of an input at most, else."""
_BEGIN, _END = "<!-- fuzz -->", "<!-- /fuzz -->"
_HEAD = (
    "| target | executions | minutes | corpus | findings | date |\n|---|---:|---:|---:|---:|---|\n"
)


def fuzz(name: str, minutes: float, work: Path, longest: int) -> tuple[int, float, int, int]:
    """Return executions, minutes, inputs in the corpus and findings of one target."""
    folder, start = work / name, time.monotonic()
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    executions = _until(start + minutes * 60 * (1 - 1 / LONG), name, folder, SHORT)
    executions += _until(start + minutes * 60, name, folder, longest)
    spent = (time.monotonic() - start) / 60
    found = [path for path in (folder / "findings").iterdir() if path.suffix != ".txt"]
    return executions, spent, len([*(folder / "corpus").iterdir()]), len(found)


def _until(end: float, name: str, folder: Path, length: int) -> int:
    """Fuzz with inputs of so many bytes at most; return how many there were."""
    committed = [CORPUS / name] if (CORPUS / name).is_dir() else []
    executions = 0
    while (left := int(end - time.monotonic())) > 1:
        command = [
            sys.executable, "-m", "tests.fuzz.child", name, str(folder), str(length),
            str(folder / "corpus"), *map(str, committed), f"-max_total_time={left}",
            f"-timeout={SECONDS}", f"-rss_limit_mb={MEMORY_MB}", f"-max_len={length}",
            "-print_final_stats=1", f"-artifact_prefix={folder}/findings/", "-verbosity=0",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
        said = re.findall(r"number_of_executed_units: (\d+)", done.stderr)
        executions += int(said[-1]) if said else 0
        if not said:
            sys.stderr.write(done.stderr[-3000:])
            break
        (folder / "last.log").write_text(done.stderr[-20_000:])
    return executions


def record(name: str, figures: tuple[int, float, int, int]) -> None:
    """Put a target's line into the table of the page."""
    executions, minutes, corpus, findings = figures
    date = datetime.datetime.now(datetime.timezone.utc).date()
    line = f"| {name} | {executions:,} | {minutes:.1f} | {corpus:,} | {findings} | {date} |"
    before, _, rest = PAGE.read_text("utf-8").partition(_BEGIN)
    table, _, after = rest.partition(_END)
    lines = {row.split("|")[1].strip(): row for row in table.splitlines() if row.startswith("| ")}
    lines = {key: row for key, row in lines.items() if key in TARGETS} | {name: line}
    body = _HEAD + "".join(f"{lines[key]}\n" for key in TARGETS if key in lines)
    PAGE.write_text(f"{before}{_BEGIN}\n\n{body}\n{_END}{after}", "utf-8")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--minutes", type=float, default=2.0, help="for each target")
    more = f"bytes of an input at most, one {LONG}rd of the time; else {SHORT:,}"
    parser.add_argument("--longest", type=int, default=1 << 16, help=more)
    parser.add_argument("--work", type=Path, default=Path("fuzz-work"), help="corpus and findings")
    parser.add_argument("--no-record", action="store_true", help="leave docs/reliability.md alone")
    given = parser.parse_args()
    for name in given.target or TARGETS:
        figures = fuzz(name, given.minutes, given.work, given.longest)
        executions, _, corpus, findings = figures
        sys.stdout.write(f"{name}: {executions} executions, {corpus} inputs, {findings} findings\n")
        sys.stdout.flush()
        if not given.no_record:
            record(name, figures)


if __name__ == "__main__":
    main()
