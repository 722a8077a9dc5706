"""Seeded data for the benchmarks: ``python -m benchmarks.generate KIND FOLDER NUMBER...``.

Runs as a process of its own, so that the process that measures stays small: a child's peak
memory, as the kernel counts it, is never below that of the parent that started it.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

SEED = 20240229
LARGEST_DOCNO = 8_841_823  # MS MARCO's passages
LARGEST_QID = 1_102_400
JUDGED_TWICE = 457  # 7,437 judgements on 6,980 queries
ANSWERED = 0.85  # share of the queries whose judged documents the run retrieves
N_FEATURES = 136  # MSLR-WEB30K
LIST_SIZE = 120
POOL = 4000
CONFIG = """output: results
datasets: {passages: {format: trec, path: qrels.txt}}
runs: {"run-{at}": {format: trec, dataset: passages, path: "run-{at}.txt"}}
metrics: [map, "ndcg_cut_5,10,20"]
compare: {baseline: run-000}
"""
AUDITED = (
    "ndcg@10", "ndcg(gain=exp)@5", "dcg@10", "map", "map@10", "P@5", "recip_rank", "err@10",
    "rbp(p=0.8)", "arp",
)  # fmt: skip


Columns = tuple[npt.NDArray[np.generic] | str | int, ...]


def trec(folder: Path, n_queries: int, depth: int = 1000, times: int = 1) -> None:
    """Write ``qrels.txt`` and ``run.txt``, the size of MS MARCO's passage task when 6,980.

    Further copies, up to `times`, have the same documents under other qids.
    """
    run, qrels = _trec(n_queries, depth)
    with (folder / "run.txt").open("wb") as file:
        _write_copies(file, run, times)
    with (folder / "qrels.txt").open("wb") as file:
        _write_copies(file, qrels, times)


def trec_gz(folder: Path, n_queries: int, depth: int = 1000, times: int = 1) -> None:
    """Write what `trec` does, with the run as ``run.txt.gz``, at gzip's default level."""
    run, qrels = _trec(n_queries, depth)
    with (
        (folder / "run.txt.gz").open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as file,
    ):
        _write_copies(file, run, times)
    with (folder / "qrels.txt").open("wb") as file:
        _write_copies(file, qrels, times)


def trec_json(folder: Path, n_queries: int, depth: int = 1000) -> None:
    """Write what `trec` does, with the run as ``run.json``."""
    run, qrels = _trec(n_queries, depth)
    scores: dict[str, dict[str, float]] = {}
    for qid, docno, score in zip(*(run[at].tolist() for at in (0, 2, 4)), strict=True):
        scores.setdefault(str(qid), {})[str(docno)] = score
    (folder / "run.json").write_text(json.dumps(scores))
    write(folder / "qrels.txt", *qrels)


def trec_shuffled(folder: Path, n_queries: int, depth: int = 1000) -> None:
    """Write ``within.txt``, `trec`'s run with each query's rows shuffled, and ``all.txt``."""
    run, qrels = _trec(n_queries, depth)
    rng = np.random.default_rng(SEED)
    within = np.argsort(rng.random((n_queries, depth)), axis=1)
    within += depth * np.arange(n_queries)[:, None]
    for name, order in (("within", within.ravel()), ("all", rng.permutation(within.size))):
        write(folder / f"{name}.txt", *(_taken(column, order) for column in run))
    write(folder / "qrels.txt", *qrels)


def trec_many(folder: Path, n_queries: int, depth: int, n_runs: int, seed: int = SEED) -> None:
    """Write ``qrels.txt`` and ``run-000.txt`` and so on: the same documents, reranked."""
    run, qrels = _trec(n_queries, depth, seed)
    rng = np.random.default_rng(seed)
    for number in range(n_runs):
        scores = np.reshape(run[4], (n_queries, depth)) + rng.normal(0, 2, (n_queries, depth))
        order = np.argsort(-scores, axis=1)
        scores = np.take_along_axis(scores, order, axis=1).ravel().round(4)
        order += depth * np.arange(n_queries)[:, None]
        docnos = _taken(run[2], order.ravel())
        path = folder / f"run-{number:03}.txt"
        write(path, *run[:2], docnos, run[3], scores, f"run{number}")
    write(folder / "qrels.txt", *qrels)


def sweep(folder: Path, n_queries: int, depth: int, n_runs: int, n_datasets: int) -> None:
    """Write what `trec_many` does into a folder for each dataset, ``0``, ``1``, ..."""
    for number in range(n_datasets):
        at = folder / f"{number}"
        at.mkdir()
        trec_many(at, n_queries, depth, n_runs, SEED + number)


def results(folder: Path, n_queries: int, depth: int, n_runs: int) -> None:
    """Write what `trec_many` does, and the results of the runs in a folder ``results``."""
    trec_many(folder, n_queries, depth, n_runs)
    (folder / "config.yaml").write_text(CONFIG)
    argv = [sys.executable, "-m", "harness", "run", str(folder / "config.yaml")]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    config = folder / "results" / "manifest.json"
    final = folder.with_name(folder.name.rpartition(".")[0])  # the folder is renamed afterwards
    config.write_text(config.read_text().replace(str(folder), str(final)))


def _trec(n_queries: int, depth: int, seed: int = SEED) -> tuple[Columns, Columns]:
    """Return the columns of a run, its queries together and its scores falling, and of qrels."""
    rng = np.random.default_rng(seed)
    qids = np.sort(rng.choice(LARGEST_QID, n_queries, replace=False))
    docnos = np.stack([rng.choice(LARGEST_DOCNO, depth, replace=False) for _ in range(n_queries)])
    scores = np.sort(rng.gamma(9.0, 1.5, (n_queries, depth)), axis=1)[:, ::-1]
    ranks = np.tile(np.arange(1, depth + 1), n_queries)

    twice = rng.choice(n_queries, round(n_queries * JUDGED_TWICE / 6980), replace=False)
    query = np.sort(np.concatenate([np.arange(n_queries), twice]))
    rank = np.minimum(rng.geometric(0.03, query.size), depth) - 1
    repeated = np.flatnonzero(np.append(False, query[1:] == query[:-1]))
    rank[repeated] = (rank[repeated - 1] + 1) % depth
    judged = docnos[query, rank] + 1
    absent = (rng.random(n_queries) >= ANSWERED)[query]
    judged[absent] = LARGEST_DOCNO + 1 + np.arange(int(absent.sum()))

    run = (
        np.repeat(qids, depth), "Q0", docnos.ravel() + 1, ranks,
        scores.ravel().round(4), "bm25",
    )  # fmt: skip
    return run, (qids[query], 0, judged, 1)


def _write_copies(file: IO[bytes], columns: Columns, times: int) -> None:
    qids, *others = columns
    for copy in range(times):
        write(file, qids + copy * LARGEST_QID, *others)


def _taken(column: npt.NDArray[np.generic] | str | int, order: npt.NDArray[np.int64]):
    return column[order] if isinstance(column, np.ndarray) else column


def letor(folder: Path, n_queries: int) -> None:
    """Write ``test.txt``, learning-to-rank rows as in MSLR, and ``predictions.txt``."""
    rng = np.random.default_rng(SEED)
    pool = [features.encode() for features in _feature_texts(rng)]
    grades = rng.choice(5, (n_queries, LIST_SIZE), p=[0.52, 0.32, 0.13, 0.02, 0.01])
    chosen = rng.integers(0, POOL, (n_queries, LIST_SIZE))
    with (folder / "test.txt").open("wb") as file:
        for query in range(n_queries):
            qid = b" qid:%d " % (15 * query + 1)
            rows = zip(grades[query].tolist(), chosen[query].tolist(), strict=True)
            file.write(b"".join(b"%d%b%b\n" % (grade, qid, pool[at]) for grade, at in rows))
    write(folder / "predictions.txt", (grades + rng.normal(0, 1.5, grades.shape)).ravel())


def letor_tied(folder: Path, n_queries: int) -> None:
    """Write ``test.txt``, rows without features, and ``predictions.txt``, many of them tied.

    Lists of 7 to 140 documents, a sixth of them without a relevant one; some scores are tied as
    float32 alone.
    """
    rng = np.random.default_rng(SEED)
    sizes = rng.integers(60, 141, n_queries)
    sizes[::10] = 7
    query = np.repeat(np.arange(n_queries), sizes)
    grades = rng.choice(5, query.size, p=[0.52, 0.30, 0.12, 0.04, 0.02])
    grades[query % 6 == 0] = 0
    scores = (grades + rng.normal(0, 1.5, query.size)).round(1)
    with (folder / "test.txt").open("wb") as file:
        rows = zip(grades.tolist(), query.tolist(), strict=True)
        file.write(b"".join(b"%d qid:%d 1:0\n" % row for row in rows))
    write(folder / "predictions.txt", scores + rng.choice(3, query.size) * 1e-9)


def batch(n_queries: int) -> tuple[npt.NDArray[np.float64], ...]:
    """Return scores and relevance ``(n_queries, 120)`` and n ``(n_queries,)``, as MSLR's size."""
    rng = np.random.default_rng(SEED)
    relevance = rng.choice(5, (n_queries, LIST_SIZE), p=[0.52, 0.32, 0.13, 0.02, 0.01])
    scores = relevance + rng.normal(0, 1.5, relevance.shape)
    return scores, relevance, np.full(n_queries, LIST_SIZE)


def audit(folder: Path, n_queries: int, depth: int, n_runs: int) -> None:
    """Write learning-to-rank rows, ``n_runs`` files of predictions and a config of ten metrics.

    Scores are rounded to hundredths, so that some documents of a query are tied.
    """
    rng = np.random.default_rng(SEED)
    grades = rng.choice(5, n_queries * depth, p=[0.52, 0.32, 0.13, 0.02, 0.01])
    qids = np.char.add("qid:", np.repeat(np.arange(n_queries), depth).astype(str))
    write(folder / "test.txt", grades, qids, "1:0.5")
    for number in range(n_runs):
        scores = grades + rng.normal(0, 1 + number / n_runs, grades.size)
        write(folder / f"system-{number:02}.txt", scores.round(2))
    metrics = ", ".join(f'"{metric}"' for metric in AUDITED)
    config = (
        "datasets: {ltr: {format: letor, path: test.txt}}\n"
        'runs: {"{system}": {format: scores, path: "{system}.txt"}}\n'
        f"metrics: [{metrics}]\n"
    )
    (folder / "config.yaml").write_text(config.replace('"{system}.txt"', '"system-{system}.txt"'))


def _feature_texts(rng: np.random.Generator) -> Iterator[str]:
    """Yield ``POOL`` texts ``1:3 2:0.25 ... 136:0``, of counts, ratios and scores."""
    counts = rng.geometric(0.05, (POOL, N_FEATURES)) - 1
    ratios = rng.random((POOL, N_FEATURES)).round(4)
    is_count = rng.random(N_FEATURES) < 0.75
    for whole, part in zip(counts.tolist(), ratios.tolist(), strict=True):
        yield " ".join(
            f"{at}:{whole[at - 1] if is_count[at - 1] else part[at - 1]}"
            for at in range(1, N_FEATURES + 1)
        )


def write(path: Path | IO[bytes], *columns: npt.NDArray[np.generic] | str | int) -> None:
    """Write columns separated by one blank; a single value is repeated in every row."""
    n_rows = next(len(column) for column in columns if isinstance(column, np.ndarray))
    table = pa.table(
        {
            str(at): pa.array(column)
            if isinstance(column, np.ndarray)
            else pa.repeat(column, n_rows)
            for at, column in enumerate(columns)
        }
    )
    options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    csv.write_csv(table, path, options)


if __name__ == "__main__":
    kind, target, *numbers = sys.argv[1:]
    Path(target).mkdir(parents=True, exist_ok=True)
    kinds = (
        trec, trec_gz, trec_json, trec_shuffled, trec_many, results, sweep, letor, letor_tied,
        audit,
    )  # fmt: skip
    make = {function.__name__: function for function in kinds}[kind]
    make(Path(target), *map(int, numbers))
