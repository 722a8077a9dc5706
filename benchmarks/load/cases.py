"""What is loaded: data of `benchmarks.load.data`, and the commands that must bear them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

METRICS = ("map", "recip_rank", "ndcg@10")
TREC, ROWS = ("qrels.txt", "run.txt"), ("rows.txt", "predictions.txt")


@dataclass(frozen=True)
class Command:
    """A command in the folder of the data.

    Parameters
    ----------
    label : str
        Its name in the table.
    words : tuple of str
        What follows ``harness``.
    expected : mapping of str to float
        Summaries that are known without a computation.
    lines : int
        How many rows of a leaderboard, summaries or cells it prints.
    """

    label: str
    words: tuple[str, ...]
    lines: int
    expected: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Load:
    """A load: its title, its data, and commands, in turn."""

    title: str
    kind: str
    numbers: tuple[int, ...]
    commands: tuple[Command, ...]


def cells(size: float) -> Load:
    """Ten folds and ten seeds of a hundred models."""
    models, each = max(2, round(100 * size)), 10 if size > 0.1 else 2
    number = models * each * each
    run = ("run", "config.yaml", "--format", "csv")
    return Load(
        f"a config of {number:,} cells", "cells", (models, each, each),
        (
            Command("first run", run, number),
            Command("second run, nothing changed", run, number),
            Command("first run, `--jobs 2`", (*run, "--jobs", "2", "--set", "output=two"), number),
            Command("pooled, all compared with one",
                    (*run, "--set", "summary.pool=[fold]", "--set", "summary.spread=[seed]",
                     "--set", "compare.baseline=model0"), models),
        ),
    )  # fmt: skip


def checked(size: float) -> Load:
    """The same cells, read and looked at before anything is computed."""
    whole = cells(size)
    words = ("check", "config.yaml", "--format", "json")
    check = Command("`check`", words, whole.commands[0].lines)
    return Load(f"{whole.title}, checked", whole.kind, whole.numbers, (check,))


def rows(size: float) -> Load:
    """A run of a hundred million rows, 3.5 GB."""
    n_queries = max(2, round(100_000 * size))
    ranks = range(1, min(n_queries, 1000) + 1)  # each as often as the others
    mean = sum(1 / rank for rank in ranks) / len(ranks)
    known = {"recip_rank": mean, "map": mean}
    run = ("run", "config.yaml", "--format", "jsonl")
    return Load(
        f"a run of {n_queries * 1000:,} rows", "rows", (n_queries,),
        (_evaluate("`evaluate`", TREC, known), Command("`run`", run, len(METRICS), known)),
    )  # fmt: skip


def queries(size: float) -> Load:
    """A million queries of one document; every second document is relevant."""
    number = max(1000, round(1_000_000 * size))
    known = dict.fromkeys(METRICS, 0.5)
    run = ("run", "config.yaml", "--format", "jsonl")
    return Load(
        f"{number:,} queries with one document each", "queries", (number,),
        (
            _evaluate("TREC", TREC, known),
            _evaluate("LETOR rows and predictions", ROWS, known),
            Command("TREC, `run`", run, len(METRICS), known),
        ),
    )  # fmt: skip


def documents(size: float) -> Load:
    """One query with ten million documents, every thousandth relevant: precision is 1/1000."""
    number = max(10_000, round(10_000_000 * size))
    known = {"map": 0.001, "recip_rank": 0.001, "ndcg@10": 0.0}
    return Load(
        f"one query with {number:,} documents", "documents", (number,),
        (
            _evaluate(f"TREC, {number // 1000:,} judged", ("few.txt", "run.txt"), known),
            _evaluate("TREC, all judged", TREC, known),
            _evaluate("LETOR rows and predictions", ROWS, known),
        ),
    )  # fmt: skip


def metrics(size: float) -> Load:
    """Cutoffs of four metrics, parameters of a fifth, conventions."""
    number = max(50, round(5000 * size))
    run = ("run", "config.yaml", "--format", "jsonl")
    known = dict.fromkeys(("ndcg@1", "P@1", "recall@1"), 1 / 50)  # of 50 queries one has rank 1
    return Load(
        f"{number:,} metrics in one config", "metrics", (number,),
        (
            Command("first run", run, number, known),
            Command("second run, nothing changed", run, number, known),
        ),
    )  # fmt: skip


def names(size: float) -> Load:
    """Names of ten thousand characters: of a dataset, runs, tags, qids, docnos."""
    length = max(100, round(10_000 * size))
    run = ("run", "config.yaml", "--format", "jsonl")
    several = ("qrels.txt", "run0.txt", "run1.txt", "run2.txt")
    two = ("compare", *several[1:3], "--qrels", several[0], "-m", "map", "--format", "jsonl")
    return Load(
        f"names of {length:,} characters", "names", (length,),
        (
            Command("`evaluate`, three runs", _evaluate("", several, {}).words, 9),
            Command("`run`: all reports, a comparison, tables", run, 9),
            Command("`compare` two runs", two, 1),
        ),
    )  # fmt: skip


def _evaluate(label: str, files: tuple[str, ...], known: dict[str, float]) -> Command:
    asked = (word for metric in METRICS for word in ("-m", metric))
    words = ("evaluate", *files, *asked, "--format", "jsonl")
    return Command(label, words, len(METRICS) * (len(files) - 1), known)


ALL: dict[str, Callable[[float], Load]] = {
    function.__name__: function
    for function in (cells, checked, rows, queries, documents, metrics, names)
}
"""Every load by name, in the order of the table; each takes a share of the whole size."""
