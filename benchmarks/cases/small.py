"""Small runs, and what is around the work: starting, many runs in one command, the cross-check."""

from __future__ import annotations

from pathlib import Path

from .case import FILE_METRICS, PYTHON, Case, Command, Setup, Target, absent, harness, module
from .trec import DEPTH, N_QUERIES, TREC_EVAL, ir_measures, pytrec_eval, trec_eval

FEW, MANY = 50, 100
DICTS = "{'q1': {'d1': 1, 'd2': 0}}, {'q1': {'d1': 1.5, 'd2': 2.5}}"
OF_PYTREC_EVAL = "RelevanceEvaluator({'q1': {'d1': 1, 'd2': 0}}, {'ndcg_cut_10'})"
OF_PYTREC_EVAL += ".evaluate({'q1': {'d1': 1.5, 'd2': 2.5}})"
OF_IR_MEASURES = "nDCG, calc_aggregate; qrels, run = {}; calc_aggregate([nDCG @ 10], qrels, run)"
OF_RANX = "Qrels, Run, evaluate; qrels, run = {}; evaluate(Qrels(qrels), Run(run), 'ndcg@10')"
LOOP = 'for run; do trec_eval {} "$0" "$run"; done'
READ_ONCE = "qrels are read once: their file is opened as often as with one run (1 x)"
CONFIG = """output: results
datasets: {{passages: {{format: trec, path: "{qrels}"}}}}
runs: {{"{name}": {{format: trec, path: "{run}"}}}}
metrics: [{metrics}]
"""


def imports(setup: Setup) -> Case:
    """Time until the library is there."""
    lines = {
        "import harness": "import harness",
        "bare interpreter": "pass",
        "import harness, and all that harness.evaluate needs": "import harness; harness.evaluate",
        "import pytrec_eval": "import pytrec_eval",
        "import ir_measures": "import ir_measures",
    }
    commands = tuple(Command(label, (PYTHON, "-c", code)) for label, code in lines.items())
    return Case(
        "Import",
        "Whole process. Names of the harness are loaded when they are first used.",
        commands,
        (Target(commands[0], 0.3, commands[1], above=True),),
    )


def first_number(setup: Setup) -> Case:
    """Time from the start of Python to nDCG@10 of one query."""
    lines = {
        "harness.evaluate": f"import harness; harness.evaluate({DICTS}, ['ndcg_cut_10'])",
        "harness.compat": f"from harness.compat import *; {OF_PYTREC_EVAL}",
        "pytrec_eval": f"from pytrec_eval import *; {OF_PYTREC_EVAL}",
        "ir_measures": f"from ir_measures import {OF_IR_MEASURES.format(DICTS)}",
        "ranx": f"from ranx import {OF_RANX.format(DICTS)}",
    }
    commands = tuple(Command(label, (PYTHON, "-c", code)) for label, code in lines.items())
    ours, compat, peer, _, ranx = commands
    return Case(
        "From the first import to the first number: nDCG@10 of two documents as dicts",
        "Whole process. ranx's time holds what numba compiles.",
        commands,
        (Target(ours, 0.3), Target(compat, 0.2, peer, above=True), Target(ours, 1, ranx)),
    )


def trec_small(setup: Setup) -> Case:
    """A run of 50 x 1,000, where starting up is most of it."""
    files = setup.trec("trec", FEW, DEPTH)
    ours, peer = Command("harness evaluate", harness(files)), ir_measures(files)
    return Case(
        "Small TREC run, 50 queries x 1,000 documents, seven metrics",
        "Whole process, mostly starting up.",
        (ours, peer, pytrec_eval(files), trec_eval(files)),
        (Target(ours, 0.5), Target(ours, 1, peer)),
    )


def trec_many(setup: Setup) -> Case:
    """A hundred runs of 50 x 1,000 in one command."""
    n_runs = setup.queries(MANY)
    at = setup.data("trec_many", FEW, DEPTH, n_runs)
    qrels, *runs = files = (str(at / "qrels.txt"), *(str(path) for path in _runs(at)))
    ours = Command("harness evaluate", harness(files))
    config = _config(at, "many.yaml", "{system}", "qrels.txt", "run-{system}.txt")
    from_config, unchecked = (
        Command(label, _run(config, mode), digits=9)
        for label, mode in (
            ("harness run, crosscheck: sample", "sample"),
            ("harness run, crosscheck: none", "none"),
        )
    )
    counted = Command(
        "harness evaluate, in process, opens of the qrels counted",
        module("ours.qrels_reads", qrels, *FILE_METRICS, "--", *runs),
        repeats=1,
    )
    loop = LOOP.format(" ".join(f"-m {metric}" for metric in TREC_EVAL))
    c_program = Command("trec_eval (C), a process for each run", ("sh", "-c", loop, *files),
                        digits=4, missing=absent("trec_eval"))  # fmt: skip
    return Case(
        "A hundred runs of one dataset, 50 queries x 1,000 documents each, seven metrics",
        "Whole process. That qrels are read once is seen from how often their file is opened: with "
        "all runs as often as with one. A sample of 50 is every query of these runs.",
        (ours, from_config, unchecked, c_program, counted),
        (
            Target(counted, 1, by="printed", text=READ_ONCE),
            Target(ours, 3),
            Target(from_config, 3),
            Target(unchecked, 3),
            Target(from_config, 1.1, unchecked),
        ),
    )  # fmt: skip


def crosscheck(setup: Setup) -> Case:
    """A config with the cross-check and without, of a large run and a small one."""
    commands, targets = [], []
    for label, n_queries in (("6,980 x 1,000", setup.queries(N_QUERIES)), ("50 x 1,000", FEW)):
        at = setup.data("trec", n_queries, DEPTH)
        config = _config(at, "one.yaml", "bm25", "qrels.txt", "run.txt")
        sample, none = (
            Command(f"{label}, crosscheck: {mode}", _run(config, mode))
            for mode in ("sample", "none")
        )
        commands += [sample, none]
        targets.append(Target(sample, 1.1, none))
    return Case(
        "The cross-check of `harness run`: 50 queries of a run evaluated again by pytrec_eval",
        "Whole process, seven metrics; the same config with `--set crosscheck=`.",
        tuple(commands),
        tuple(targets),
    )


def _runs(folder: Path) -> list[Path]:
    return sorted(folder.glob("run-*.txt"))


def _config(folder: Path, file: str, name: str, qrels: str, run: str) -> Path:
    """Write a config next to the data, and return its path."""
    path = folder / file
    metrics = ", ".join(FILE_METRICS)
    path.write_text(
        CONFIG.format(name=name, qrels=qrels, run=run, metrics=metrics), encoding="utf-8"
    )
    return path


def _run(config: Path, mode: str) -> tuple[str, ...]:
    """Return ``harness run`` from an empty folder: what is kept there of a run is not run again."""
    fresh = ("sh", "-c", 'rm -rf "$0"; exec "$@"', str(config.parent / "results"))
    return (*fresh, PYTHON, "-m", "harness", "run", str(config),
            "--set", f"crosscheck={mode}", "--format", "jsonl")  # fmt: skip
