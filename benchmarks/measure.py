"""Run a command some times and see what it takes: wall clock, processor time, peak memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One run of a command: seconds of wall clock and processor, peak memory in MB, its output."""

    wall: float
    cpu: float
    memory: float
    output: str


@dataclass(frozen=True)
class Timing:
    """Several runs of one command."""

    samples: tuple[Sample, ...]
    scale: float = 1.0

    @property
    def wall(self) -> float:
        """Median seconds, scaled to the whole data."""
        return self.scale * statistics.median(sample.wall for sample in self.samples)

    @property
    def fastest(self) -> float:
        """Fewest seconds, scaled to the whole data."""
        return self.scale * min(sample.wall for sample in self.samples)

    @property
    def slowest(self) -> float:
        """Most seconds, scaled to the whole data."""
        return self.scale * max(sample.wall for sample in self.samples)

    @property
    def cpu(self) -> float:
        """Median processor seconds (user and system), scaled to the whole data."""
        return self.scale * statistics.median(sample.cpu for sample in self.samples)

    @property
    def memory(self) -> float:
        """Median peak memory in MB, as measured (never scaled)."""
        return statistics.median(sample.memory for sample in self.samples)


def run(command: Sequence[str], *, reported: bool = False) -> Sample:
    """Run `command` once.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    reported : bool
        Take the seconds from the last line that the command prints, ``seconds WALL CPU``, and
        not from the whole process: for work on arrays that are already in memory.

    Raises
    ------
    RuntimeError
        Where the command fails; holds what it wrote to standard error.
    """
    sample, code, said = attempt(command)
    if code != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{said[-2000:]}")
    if not reported:
        return sample
    output, _, line = sample.output.rstrip().rpartition("\n")
    wall, cpu = map(float, line.split()[1:])
    return Sample(wall, cpu, sample.memory, output)


def attempt(command: Sequence[str], *, cwd: str | None = None) -> tuple[Sample, int, str]:
    """Run `command` once; return what it took, its exit code, and its standard error."""
    # Programs start from compiled files, as they do after their first start.
    here = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=here, cwd=cwd)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output, said = out.read(), err.read()
    cpu = usage.ru_utime + usage.ru_stime
    return Sample(wall, cpu, usage.ru_maxrss / 1024, output), process.returncode, said
