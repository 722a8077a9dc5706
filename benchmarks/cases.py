"""What is measured: each case with our command, the peers' and the target."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
FILE_METRICS = ("map", "ndcg", "ndcg_cut_10", "P_10", "recall_1000", "recip_rank", "bpref")
LIST_METRICS = (
    "map", "ndcg", "ndcg_cut_5", "ndcg_cut_10", "P_5", "P_10",
    "recall_10", "recall_100", "recip_rank", "bpref", "Rprec", "success_10",
)  # fmt: skip
IR_MEASURES = ("AP", "nDCG", "nDCG@10", "P@10", "R@1000", "RR", "Bpref")


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
        Whether it reports its own seconds; see :func:`benchmarks.measure.run`.
    """

    label: str
    argv: tuple[str, ...]
    repeats: int = 5
    scale: float = 1.0
    reported: bool = False


@dataclass(frozen=True)
class Case:
    """One comparison; the first command is ours, the second the peer that the target names.

    Parameters
    ----------
    title, text : str
        What is compared, for the table.
    commands : tuple of Command
    target : float, optional
        Our seconds divided by the peer's must not be above it.
    limit : float, optional
        Seconds that ours may take above a bare start of the second command.
    less_memory : bool
        Whether our peak memory must be below the peer's.
    """

    title: str
    text: str
    commands: tuple[Command, ...]
    target: float | None = None
    limit: float | None = None
    less_memory: bool = False


def data(folder: Path, kind: str, *numbers: int) -> Path:
    """Return the folder that holds this data, generated where it is not there yet."""
    target = folder / "-".join(map(str, (kind, *numbers)))
    if not target.exists():
        unfinished = target.with_name(f"{target.name}.{os.getpid()}")
        argv = [PYTHON, "-m", "benchmarks.generate", kind, str(unfinished), *map(str, numbers)]
        subprocess.run(argv, check=True, cwd=ROOT)
        unfinished.rename(target)
    return target


def trec_large(folder: Path, size: float, full: bool) -> Case:
    """A run of 6,980 x 1,000 against MS MARCO-sized qrels."""
    at = data(folder, "trec", round(6980 * size), 1000)
    files = (str(at / "qrels.txt"), str(at / "run.txt"))
    return Case(
        "TREC run, 6,980 queries x 1,000 documents, seven metrics",
        "Whole process, from files to numbers. 7,437 judgements.",
        (
            Command("harness evaluate", _harness(files, FILE_METRICS)),
            Command("pytrec_eval: parse_qrel, parse_run, evaluate",
                    _module("peers.pytrec_eval_files", *files, *FILE_METRICS), repeats=3),
            Command("ir_measures (command)", _ir_measures(files), repeats=3),
        ),
        target=1 / 5,
        less_memory=True,
    )  # fmt: skip


def letor(folder: Path, size: float, full: bool) -> Case:
    """A learning-to-rank file of 6,300 x 120 x 136 and its predictions."""
    n_queries, part = round(6300 * size), round(630 * size)
    whole, tenth = data(folder, "letor", n_queries), data(folder, "letor", part)
    peer, label = "peers.sklearn_pytrec_eval", "scikit-learn load_svmlight_file, dicts, pytrec_eval"
    peers = [
        Command(f"{label}: a tenth of the file, time x 10",
                _module(peer, *_letor_files(tenth), *LIST_METRICS),
                repeats=3, scale=n_queries / part),
    ]  # fmt: skip
    if full:
        command = _module(peer, *_letor_files(whole), *LIST_METRICS)
        peers.insert(0, Command(label, command, repeats=1))
    return Case(
        "LETOR file, 6,300 queries x 120 documents x 136 features, twelve metrics",
        "Whole process: grades, qids and predictions read, metrics computed. scikit-learn's time "
        "grows faster than the file, since it also keeps all features.",
        (Command("harness evaluate", _harness(_letor_files(whole), LIST_METRICS)), *peers),
        target=1 / 50,
        less_memory=True,
    )


def batch(folder: Path, size: float, full: bool) -> Case:
    """Padded arrays of 31,531 x 120 in memory."""
    n_queries = str(round(31531 * size))
    return Case(
        "Batch in memory, 31,531 queries x 120 documents, twelve metrics",
        "From numpy arrays to summaries; imports and data are not counted in the time, but "
        "are in the memory.",
        (
            Command("harness.evaluate",
                    _module("ours.batch", n_queries, *LIST_METRICS), reported=True),
            Command("dicts in a loop, pytrec_eval",
                    _module("peers.pytrec_eval_batch", n_queries, *LIST_METRICS),
                    repeats=3, reported=True),
        ),
        target=1 / 10,
        less_memory=True,
    )  # fmt: skip


def imports(folder: Path, size: float, full: bool) -> Case:
    """Time until the library is there."""
    lines = {
        "import harness": "import harness",
        "bare interpreter": "pass",
        "import harness, and all that harness.evaluate needs": "import harness; harness.evaluate",
        "import pytrec_eval": "import pytrec_eval",
        "import ir_measures": "import ir_measures",
    }
    return Case(
        "Import",
        "Whole process. Names of the harness are loaded when they are first used.",
        tuple(Command(label, (PYTHON, "-c", code)) for label, code in lines.items()),
        limit=0.3,
    )


def trec_small(folder: Path, size: float, full: bool) -> Case:
    """A run of 50 x 1,000, where starting up is most of it."""
    at = data(folder, "trec", 50, 1000)
    files = (str(at / "qrels.txt"), str(at / "run.txt"))
    return Case(
        "Small TREC run, 50 queries x 1,000 documents, seven metrics",
        "Whole process, mostly starting up.",
        (
            Command("harness evaluate", _harness(files, FILE_METRICS)),
            Command("ir_measures (command)", _ir_measures(files)),
            Command("pytrec_eval: parse_qrel, parse_run, evaluate",
                    _module("peers.pytrec_eval_files", *files, *FILE_METRICS)),
        ),
    )  # fmt: skip


ALL: dict[str, Callable[[Path, float, bool], Case]] = {
    function.__name__.replace("_", "-"): function
    for function in (trec_large, letor, batch, imports, trec_small)
}


def _module(name: str, *arguments: str) -> tuple[str, ...]:
    return (PYTHON, "-m", f"benchmarks.{name}", *arguments)


def _harness(files: tuple[str, ...], metrics: tuple[str, ...]) -> tuple[str, ...]:
    named = (word for metric in metrics for word in ("-m", metric))
    return (PYTHON, "-m", "harness", "evaluate", *files, *named, "--format", "jsonl")


def _ir_measures(files: tuple[str, ...]) -> tuple[str, ...]:
    return (PYTHON, "-m", "ir_measures", *files, " ".join(IR_MEASURES), "--places", "12")


def _letor_files(folder: Path) -> tuple[str, ...]:
    return str(folder / "test.txt"), str(folder / "predictions.txt")
