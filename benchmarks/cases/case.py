"""What a case is made of: contenders, targets, and where its data are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
FILE_METRICS = ("map", "ndcg", "ndcg_cut_10", "P_10", "recall_1000", "recip_rank", "bpref")
LIST_METRICS = (
    "map", "ndcg", "ndcg_cut_5", "ndcg_cut_10", "P_5", "P_10",
    "recall_10", "recall_100", "recip_rank", "bpref", "Rprec", "success_10",
)  # fmt: skip


@dataclass(frozen=True)
class Command:
    """A contender.

    Parameters
    ----------
    label : str
        Name in the table.
    argv : tuple of str
        Program and arguments.
    repeats : int
        How often it runs.
    scale : float
        What its seconds are multiplied by, where it works on a part of the data.
    reported : bool
        Whether it reports its own seconds; see `benchmarks.measure.run`.
    digits : int
        To how many digits its summaries must be the first command's; 0 if they are not compared.
    missing : str
        Why it cannot run here; it has no row then, and the table says why.
    """

    label: str
    argv: tuple[str, ...]
    repeats: int = 5
    scale: float = 1.0
    reported: bool = False
    digits: int = 0
    missing: str = ""


@dataclass(frozen=True)
class Target:
    """A bound on a figure of one of our commands.

    Parameters
    ----------
    ours : Command
    most : float
        The figure must not be above it.
    peer : Command, optional
        What the figure is divided by; the figure itself is bounded where there is none.
    by : {"wall", "cpu", "memory", "printed"}
        Seconds by the clock, processor seconds, peak memory in MB, or the number that the
        command prints last.
    above : bool
        The peer's figure is subtracted, and not divided by.
    text : str
        The target in words, where the usual ones would not do.
    """

    ours: Command
    most: float
    peer: Command | None = None
    by: Literal["wall", "cpu", "memory", "printed"] = "wall"
    above: bool = False
    text: str = ""


@dataclass(frozen=True)
class Case:
    """One comparison; the first command is ours, and the ratios are to it.

    Parameters
    ----------
    title, text : str
        What is compared, for the table.
    commands : tuple of Command
    targets : tuple of Target
    """

    title: str
    text: str
    commands: tuple[Command, ...]
    targets: tuple[Target, ...] = ()


@dataclass(frozen=True)
class Setup:
    """How much is measured, and the folder of the data."""

    folder: Path
    size: float = 1.0
    full: bool = False

    def queries(self, number: int) -> int:
        """Return the share of `number` that is asked for."""
        return max(2, round(number * self.size))

    def data(self, kind: str, *numbers: int) -> Path:
        """Return the folder that holds this data, generated where it is not there yet."""
        target = self.folder / "-".join(map(str, (kind, *numbers)))
        if not target.exists():
            unfinished = target.with_name(f"{target.name}.{os.getpid()}")
            argv = [PYTHON, "-m", "benchmarks.generate", kind, str(unfinished), *map(str, numbers)]
            subprocess.run(argv, check=True, cwd=ROOT)
            unfinished.rename(target)
        return target

    def trec(self, kind: str, *numbers: int, run: str = "run.txt") -> tuple[str, str]:
        """Return the paths of qrels and run in the folder of this data."""
        at = self.data(kind, *numbers)
        return str(at / "qrels.txt"), str(at / run)


def module(name: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs one of our modules."""
    return (PYTHON, "-m", f"benchmarks.{name}", *arguments)


def harness(files: tuple[str, ...], metrics: tuple[str, ...] = FILE_METRICS) -> tuple[str, ...]:
    """Return ``harness evaluate`` on qrels and runs."""
    named = (word for metric in metrics for word in ("-m", metric))
    return (PYTHON, "-m", "harness", "evaluate", *files, *named, "--format", "jsonl")


def silent(*words: str) -> tuple[str, ...]:
    """Return a program with its output thrown away, so that writing it costs nothing."""
    return ("sh", "-c", 'exec "$0" "$@" > /dev/null', *words)


def absent(program: str) -> str:
    """Return why `program` cannot run, or ``""``."""
    return "" if shutil.which(program) else f"no program {program} on PATH"
