"""``python -m tests.fuzz [TARGET...] --minutes N``: runs the fuzzers, one after the other.

Needs the extra ``fuzz``. Each target runs under atheris in a process of its own with a limit of
memory and of time for one input; the table in docs/reliability.md gets a line for each.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reliability.md"
CORPUS = Path(__file__).resolve().parent / "corpus"
MEMORY_MB, SECONDS, LENGTH = 2048, 20, 4096
"""Memory that a child may take, time for one input, and its bytes."""


def fuzz(name: str, minutes: float, folder: Path) -> str:
    """Return a line of the table: executions, minutes, inputs in the corpus, findings, date."""
    for part in ("corpus", "findings", "seeds"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    corpus = [str(one) for one in (folder / "corpus", folder / "seeds", CORPUS / name)
              if one.is_dir()]  # fmt: skip
    end, executions = time.monotonic() + minutes * 60, 0
    while (left := int(end - time.monotonic())) > 1:
        command = [
            sys.executable, "-m", "tests.fuzz", "child", name, str(folder), *corpus,
            f"-max_total_time={left}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEMORY_MB}",
            f"-max_len={LENGTH}", "-print_final_stats=1", f"-artifact_prefix={folder}/findings/",
            "-verbosity=0",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
        counts = re.findall(r"number_of_executed_units: (\d+)", done.stderr)
        if not counts:
            sys.stderr.write(done.stderr[-3000:])
            break
        executions += int(counts[-1])
    found = [path for path in (folder / "findings").iterdir() if path.suffix != ".txt"]
    n, date = len([*(folder / "corpus").iterdir()]), datetime.datetime.now(datetime.timezone.utc)
    return f"| {name} | {executions:,} | {minutes:.1f} | {n:,} | {len(found)} | {date.date()} |"


def child(name: str, folder: Path, arguments: list[str]) -> None:
    """Fuzz one target; write down one input for each place in the code that raises."""
    import atheris  # here, as this module is looked through for doctests without it

    with atheris.instrument_imports(include=["harness"]):
        from tests.fuzz.test_fuzz_targets import TARGETS
    target, found = TARGETS[name], folder / "findings"
    for number, seed in enumerate(target.seeds):
        (folder / "seeds" / f"{number}").write_bytes(seed)

    def once(data: bytes) -> None:
        try:
            target(data)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__}-{Path(last.filename).stem}-{last.lineno}"
            if not (found / f"{key}.input").exists():
                (found / f"{key}.input").write_bytes(data)
                (found / f"{key}.txt").write_text(traceback.format_exc(), "utf-8", "replace")

    atheris.Setup([sys.argv[0], *arguments], once)
    atheris.Fuzz()


def record(line: str) -> None:
    """Put a target's line into the table of the page."""
    name = line.split("|")[1]
    rows = PAGE.read_text("utf-8").splitlines(keepends=True)
    PAGE.write_text("".join(f"{line}\n" if row.startswith(f"|{name}|") else row for row in rows))


def main() -> None:
    """Read the arguments and run."""
    from tests.fuzz.test_fuzz_targets import TARGETS

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--minutes", type=float, default=2.0, help="for each target")
    parser.add_argument("--work", type=Path, default=Path("fuzz-work"), help="corpus and findings")
    parser.add_argument("--no-record", action="store_true", help="leave docs/reliability.md alone")
    given = parser.parse_args()
    for name in given.target or TARGETS:
        line = fuzz(name, given.minutes, given.work / name)
        sys.stdout.write(f"{line}\n")
        if not given.no_record:
            record(line)


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    else:
        main()
