"""Large TREC runs: whole, packed, long, and out of order."""

from __future__ import annotations

import shutil

from .case import (
    FILE_METRICS,
    PYTHON,
    Case,
    Command,
    Setup,
    Target,
    absent,
    harness,
    module,
    silent,
)

N_QUERIES, N_JSON, DEPTH = 6980, 2200, 1000
N_SHALLOW, SHALLOW = 200_000, 20
GZ_TEN_GB = 0.75
MEMORY = 400
LOAD = "import json, sys; json.load(open(sys.argv[1]))"
IR_MEASURES = ("AP", "nDCG", "nDCG@10", "P@10", "R@1000", "RR", "Bpref")
RANX = ("map", "ndcg", "ndcg@10", "precision@10", "recall@1000", "mrr", "bpref")
TREC_EVAL = ("map", "ndcg", "ndcg_cut.10", "P.10", "recall.1000", "recip_rank", "bpref")


def trec_large(setup: Setup) -> Case:
    """A run of 6,980 x 1,000 against MS MARCO-sized qrels."""
    files = setup.trec("trec", setup.queries(N_QUERIES), DEPTH)
    ours = Command("harness evaluate", harness(files))
    c_program = trec_eval(files)
    arrow = Command("pyarrow read_csv alone, all six columns",
                    module("peers.pyarrow_read_csv", files[1]))  # fmt: skip
    reading = pytrec_eval(files)
    ranx = Command("ranx: Qrels.from_file, Run.from_file, evaluate",
                   module("peers.ranx_files", *files, *RANX), repeats=3)  # fmt: skip
    return Case(
        "TREC run, 6,980 queries x 1,000 documents, seven metrics",
        "Whole process, from files to numbers. 7,437 judgements. ranx's time holds what numba "
        "compiles in each process; its bpref is NaN on these qrels.",
        (ours, c_program, arrow, reading, ir_measures(files), ranx),
        (
            Target(ours, 1 / 6, c_program),
            Target(ours, 4, arrow),
            Target(ours, 1 / 5, reading),
            Target(ours, 1, reading, by="memory"),
        ),
    )


def trec_gz(setup: Setup) -> Case:
    """The same run, gz."""
    files = setup.trec("trec_gz", setup.queries(N_QUERIES), DEPTH, run="run.txt.gz")
    ours = Command("harness evaluate", harness(files))
    plain = Command("plain", harness(setup.trec("trec", setup.queries(N_QUERIES), DEPTH)))
    program = Command("gzip -dc", silent("gzip", "-dc", files[1]), missing=absent("gzip"))
    return Case(
        "The same run, gz",
        "Whole process. Next to it the run unpacked, and what unpacking alone takes.",
        (ours, plain, program),
        (Target(ours, 1.25, plain),),
    )


def trec_json(setup: Setup) -> Case:
    """A run of 43 MB as pytrec_eval takes it."""
    files = setup.trec("trec_json", setup.queries(N_JSON), DEPTH, run="run.json")
    ours = Command("harness evaluate", harness(files))
    python = Command("Python's json.load alone", (PYTHON, "-c", LOAD, files[1]))
    return Case(
        "JSON run, 2,200 queries x 1,000 documents, 43 MB, seven metrics",
        "Whole process.",
        (ours, python),
        (Target(ours, 1.5),),
    )


def trec_twice(setup: Setup) -> Case:
    """The same run, twice as long."""
    once, twice = _plain(setup, 1), _plain(setup, 2)
    return Case(
        "The same run twice as long",
        "Whole process; 13,960 queries, all judged. The summaries are those of the run once.",
        (once, twice),
        _flat(once, twice, 2),
    )


def trec_ten(setup: Setup) -> Case:
    """The same run, ten times as long: 2.4 GB, and packed."""
    n_queries = setup.queries(N_QUERIES)
    once, ten = _plain(setup, 1), _plain(setup, 10)
    packed_once = setup.trec("trec_gz", n_queries, DEPTH, run="run.txt.gz")
    once_gz = Command("once, gz", harness(packed_once), digits=9)
    missing, argv = _no_room(setup), ()
    if not missing:
        argv = harness(setup.trec("trec_gz", n_queries, DEPTH, 10, run="run.txt.gz"))
    ten_gz = Command("10 times, gz", argv, digits=9, missing=missing)
    return Case(
        "The same run ten times as long, plain and gz",
        "Whole process; 69,800 queries, all judged. Qids are longer too: 10.3 times the bytes.",
        (once, ten, once_gz, ten_gz),
        (*_flat(once, ten, 10), *_flat(once_gz, ten_gz, 10)),
    )


def trec_queries(setup: Setup) -> Case:
    """A run of 200,000 x 20: many queries, few documents of each."""
    files = setup.trec("trec", setup.queries(N_SHALLOW), SHALLOW)
    ours, reading = Command("harness evaluate", harness(files)), pytrec_eval(files)
    return Case(
        "TREC run, 200,000 queries x 20 documents, seven metrics",
        "Whole process, from files to numbers. trec_eval is left out: it compares each query with "
        "all others and takes ten minutes.",
        (ours, reading),
        (Target(ours, 1 / 3, reading),),
    )


def trec_shuffled(setup: Setup) -> Case:
    """The same run with its rows out of order."""
    at = setup.data("trec_shuffled", setup.queries(N_QUERIES), DEPTH)
    qrels = str(at / "qrels.txt")
    once = Command("harness evaluate: sorted", _plain(setup, 1).argv)
    within, everywhere = (
        Command(label, harness((qrels, str(at / name))), digits=9)
        for label, name in (
            ("rows shuffled within queries", "within.txt"),
            ("all rows shuffled", "all.txt"),
        )
    )
    return Case(
        "The same run, shuffled",
        "Whole process.",
        (once, within, everywhere),
        (Target(within, 2, once), Target(everywhere, 5, once)),
    )


def trec_eval(files: tuple[str, ...]) -> Command:
    """Return the C program, where it is installed."""
    named = (word for metric in TREC_EVAL for word in ("-m", metric))
    argv = ("trec_eval", *named, *files)
    return Command("trec_eval (C)", argv, digits=4, missing=absent("trec_eval"))


def pytrec_eval(files: tuple[str, ...]) -> Command:
    """Return pytrec_eval with its own readers."""
    argv = module("peers.pytrec_eval_files", *files, *FILE_METRICS)
    return Command("pytrec_eval: parse_qrel, parse_run, evaluate", argv, digits=9)


def ir_measures(files: tuple[str, ...]) -> Command:
    """Return the command of ir_measures."""
    argv = (PYTHON, "-m", "ir_measures", *files, " ".join(IR_MEASURES), "--places", "12")
    return Command("ir_measures (command)", argv, digits=9)


def _plain(setup: Setup, times: int) -> Command:
    numbers = (setup.queries(N_QUERIES), DEPTH, *([times] if times > 1 else []))
    label = "harness evaluate: once" if times == 1 else f"{times} times"
    return Command(label, harness(setup.trec("trec", *numbers)), digits=9)


def _flat(once: Command, longer: Command, times: int) -> tuple[Target, ...]:
    """Return that time grows as the run does, and memory does not."""
    words = f"processor seconds at most 1.15 x {times} times those of the run once"
    return (
        Target(longer, 1.15 * times, once, by="cpu", text=words),
        Target(longer, MEMORY, by="memory"),
    )


def _no_room(setup: Setup) -> str:
    needed = GZ_TEN_GB * setup.size
    free = shutil.disk_usage(setup.folder).free / 1e9
    there = (setup.folder / f"trec_gz-{setup.queries(N_QUERIES)}-{DEPTH}-10").exists()
    return "" if there or free > 2 * needed else f"needs {needed:.2f} GB of disk; {free:.2f} free"
