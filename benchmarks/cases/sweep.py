"""Sweeps: hundreds of cells by ``harness run``, cold and warm, and hashing while reading."""

from __future__ import annotations

from pathlib import Path

from .case import FILE_METRICS, Case, Command, Setup, Target, module
from .trec import DEPTH, N_QUERIES

FEW, RUNS, DATASETS = 50, 100, 3
SIZES = (100, 300, 900)
READ_ONCE = "qrels are read once each: opened as often as with one run on each dataset (1 x)"


def sweep(setup: Setup) -> Case:
    """A hundred runs on each of three datasets."""
    at = _data(setup)
    one, two, warm, metric, file = (
        Command(label, _sweep(at, DATASETS, state, jobs), repeats=repeats, reported=True)
        for label, state, jobs, repeats in (
            ("cold", "cold", 1, 3),
            ("cold, --jobs 2", "cold", 2, 3),
            ("warm: nothing changed", "warm", 1, 3),
            ("one metric more", "metric", 1, 2),
            ("one file changed", "file", 1, 2),
        )
    )
    counted = Command(
        "cold, in process, opens of the qrels counted",
        module("ours.sweep_reads", str(at), *FILE_METRICS),
        repeats=1,
    )
    return Case(
        "A sweep of 300 cells by `harness run`: 100 runs of 50 x 1,000 on 3 datasets, seven "
        "metrics",
        "Whole process, with the cross-check; *cold* has nothing in the cache. Memory is that of "
        "the largest process.",
        (one, two, warm, metric, file, counted),
        (
            Target(counted, 1, by="printed", text=READ_ONCE),
            Target(two, 1 / 1.7, one),
            Target(warm, 1.5),
        ),
    )


def sweep_memory(setup: Setup) -> Case:
    """More and more cells, of the same files under other names."""
    at = _data(setup)
    few, some, many = commands = tuple(
        Command(f"{n} cells", _sweep(at, n // RUNS, "cold", 2), repeats=1, reported=True)
        for n in SIZES
    )
    return Case(
        "Memory of sweeps of 100, 300 and 900 cells",
        "Cold, with two workers. Peak of the largest process: the one that is called, which holds "
        "every value until all is written.",
        commands,
        tuple(Target(one, 1.1, few, by="memory") for one in (some, many)),
    )


def hashing(setup: Setup) -> Case:
    """Reading a run with the SHA-256 of its bytes, and without."""
    commands, targets = [], []
    for label, kind, name in (("plain", "trec", "run.txt"), ("gz", "trec_gz", "run.txt.gz")):
        _, run = setup.trec(kind, setup.queries(N_QUERIES), DEPTH, run=name)
        hashed, alone = (
            Command(f"{label}, {how}", module("ours.hashing", run, how), repeats=3, reported=True)
            for how in ("hashed", "alone")
        )
        commands += [hashed, alone]
        targets += [Target(hashed, 1.15, alone), Target(hashed, 1.15, alone, by="cpu")]
    return Case(
        "Hashing a run of 6,980 x 1,000 while it is read",
        "Reading alone, as parts that stream past, without the start of the process. The hash is "
        "taken in a thread of its own.",
        tuple(commands),
        tuple(targets),
    )


def _data(setup: Setup) -> Path:
    return setup.data("sweep", FEW, DEPTH, setup.queries(RUNS), DATASETS)


def _sweep(data: Path, n_datasets: int, state: str, jobs: int) -> tuple[str, ...]:
    words = (str(data), str(n_datasets), state, str(jobs))
    return module("ours.sweep", *words, *FILE_METRICS)
