"""Seeded data of the loads: ``python -m benchmarks.load.data KIND FOLDER NUMBER...``.

A process of its own, as `benchmarks.generate`. Rows go to the disk in blocks. What is
relevant where is arithmetic, so that some values are known without a computation:
`benchmarks.load.cases` says which.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..generate import SEED, Columns, write

BLOCK = 1_000_000
"""Rows that are made at a time."""
PRIME = 7_368_787
"""Docnos of one list are multiples of it, so that they come in no order."""
LARGE = 100_000_007
DEPTH = 1000
EVERY = 1000
"""The distance between relevant documents of the long list, and the first of them."""
LONG_NAME = 10_000
CONVENTIONS = ("lightgbm", "xgboost", "sklearn", "ranx", "allrank")
CELLS = """output: out
datasets: {{"fold{{fold}}": {{format: letor, path: "fold{{fold}}.txt"}}}}
runs: {{"{{model}}": {{format: scores, path: "{{model}}/fold{{fold}}-seed{{seed}}.txt"}}}}
metrics: [{metrics}]
"""


def cells(folder: Path, models: int, folds: int, seeds: int) -> None:
    """Write learning-to-rank rows and predictions of ten queries, a file for each cell."""
    rng = np.random.default_rng(SEED)
    query = np.repeat(np.arange(10), 10)
    for fold in range(folds):
        grades = rng.choice(5, query.size)
        qids = np.char.add("qid:", (query + 10 * fold).astype(str))
        write(folder / f"fold{fold}.txt", grades, qids, "1:0.5")
        for model in range(models):
            at = folder / f"model{model}"
            at.mkdir(exist_ok=True)
            scores = (grades + rng.normal(0, 1 + model, (seeds, query.size))).round(4)
            for seed, column in enumerate(scores.tolist()):
                text = "\n".join(map(str, column))
                (at / f"fold{fold}-seed{seed}.txt").write_text(f"{text}\n")
    config = CELLS.format(metrics='map, ndcg@10, "swaps(normalize=true)"')
    (folder / "config.yaml").write_text(config)


def rows(folder: Path, n_queries: int) -> None:
    """Write a run of ``n_queries`` x 1,000; the relevant document of query ``q`` has rank
    ``q % 1000 + 1``.
    """
    qids = np.arange(n_queries)
    _write_all(folder / "run.txt", (_run(part) for part in _parts(qids, BLOCK // DEPTH)))
    relevant = _docno(qids, qids % DEPTH)
    write(folder / "qrels.txt", qids, 0, relevant, 1)
    _config(folder)


def queries(folder: Path, n_queries: int) -> None:
    """Write queries of one document, every second one relevant, for TREC and as rows."""
    qids = np.arange(n_queries)
    rng = np.random.default_rng(SEED)
    docnos, scores = _docno(qids, 0 * qids), rng.gamma(9.0, 1.5, n_queries).round(4)
    write(folder / "qrels.txt", qids, 0, docnos, qids % 2)
    write(folder / "run.txt", qids, "Q0", docnos, 1, scores, "bm25")
    write(folder / "rows.txt", qids % 2, _named("qid:", qids), "1:0.5")
    write(folder / "predictions.txt", scores)
    _config(folder)


def documents(folder: Path, n_documents: int) -> None:
    """Write one query with many documents, every thousandth relevant, for TREC and as rows."""
    number = np.arange(n_documents)
    grades = ((number + 1) % EVERY == 0).astype(np.int64)

    def falling(part: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        return 1e4 - part / 1e3 * (1e7 / max(n_documents, 10_000_000))

    def run() -> Iterator[Columns]:
        for part in _parts(number, BLOCK):
            yield np.full(part.size, 1), "Q0", _docno(0 * part, part), part + 1, falling(part), "x"

    _write_all(folder / "run.txt", run())
    judged = _parts(number, BLOCK)
    columns = ((np.full(at.size, 1), 0, _docno(0 * at, at), grades[at]) for at in judged)
    _write_all(folder / "qrels.txt", columns)
    relevant = np.flatnonzero(grades)
    write(folder / "few.txt", np.full(relevant.size, 1), 0, _docno(0 * relevant, relevant), 1)
    write(folder / "rows.txt", grades, "qid:1", "1:0.5")
    _write_all(folder / "predictions.txt", ((falling(part),) for part in _parts(number, BLOCK)))


def metrics(folder: Path, number: int) -> None:
    """Write a run of 50 x 1,000 and a config of this many metrics: cutoffs and conventions."""
    rows(folder, 50)
    cutoffs = range(1, -(-number // 5) + 1)
    kinds = ("P@{}", "recall@{}", "ndcg@{}", '"ndcg(gain=exp)@{}"', '"rbp(p=0.{:04})"')
    names = [kind.format(cutoff) for cutoff in cutoffs for kind in kinds]
    more = [f'"ndcg(convention={name})@{k}"' for k in (5, 10) for name in CONVENTIONS]
    listed = ", ".join([*more, *names][:number])
    _config(folder, metrics=listed)


def names(folder: Path, length: int) -> None:
    """Write a run whose qids and docnos, and a config whose names, are so long."""
    rng = np.random.default_rng(SEED)
    tail = "x" * length

    def long(head: str, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
        return np.char.add(np.char.add(head, np.char.zfill(numbers.astype(str), 4)), tail[5:])

    query, rank = np.divmod(np.arange(200), 20)
    qids, docnos = long("q", query), long("d", np.arange(200))
    write(folder / "qrels.txt", qids, 0, docnos, (rank % 4 == 0).astype(np.int64))
    for run in range(3):
        scores = np.sort(rng.random((10, 20)), axis=1)[:, ::-1].ravel()
        order = np.lexsort((rng.random(200), query)) if run else np.arange(200)
        write(folder / f"run{run}.txt", qids, "Q0", docnos[order], rank + 1, scores, tail)
    # keys of more than 1,024 characters have to be called that in YAML, by a question mark
    runs = "".join(
        f'  ? "{run}{tail[1:]}"\n  : {{format: trec, path: run{run}.txt}}\n' for run in range(3)
    )
    config = (
        "output: out\n"
        f'datasets:\n  ? "{tail}"\n  : {{format: trec, path: qrels.txt}}\n'
        f"runs:\n{runs}"
        "metrics: [map, ndcg@10, P@5]\n"
        f'compare: {{baseline: "0{tail[1:]}"}}\n'
        "reports: [csv, markdown, html, jsonl, table, trec]\n"
        "tables: {main: {formats: [latex, markdown, html, csv, text]}}\n"
    )
    (folder / "config.yaml").write_text(config)


def _run(qids: npt.NDArray[np.int64]) -> Columns:
    """Return the rows of some queries, 1,000 each, their scores falling."""
    query, place = np.repeat(qids, DEPTH), np.tile(np.arange(DEPTH), qids.size)
    rng = np.random.default_rng([SEED, int(qids[0])])
    scores = np.sort(rng.gamma(9.0, 1.5, (qids.size, DEPTH)), axis=1)[:, ::-1].ravel().round(4)
    scores += np.tile(np.arange(DEPTH, 0, -1), qids.size)  # none are tied
    return query, "Q0", _docno(query, place), place + 1, scores, "bm25"


def _docno(query: npt.NDArray[np.int64], place: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the document at a place of a query's list; all those of a list are different."""
    return (query * 1_299_709 + place * PRIME) % LARGE


def _named(head: str, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
    return np.char.add(head, numbers.astype(str))


def _parts(numbers: npt.NDArray[np.int64], size: int) -> Iterator[npt.NDArray[np.int64]]:
    for first in range(0, numbers.size, size):
        yield numbers[first : first + size]


def _write_all(path: Path, blocks: Iterable[Columns]) -> None:
    with path.open("wb") as file:
        for columns in blocks:
            write(file, *columns)


def _config(folder: Path, metrics: str = "map, ndcg@10, recip_rank") -> None:
    text = (
        "output: out\n"
        "datasets: {trec: {format: trec, path: qrels.txt}}\n"
        "runs: {bm25: {format: trec, path: run.txt}}\n"
        f"metrics: [{metrics}]\n"
    )
    (folder / "config.yaml").write_text(text)


if __name__ == "__main__":
    kind, target, *sizes = sys.argv[1:]
    Path(target).mkdir(parents=True, exist_ok=True)
    kinds = (cells, rows, queries, documents, metrics, names)
    {function.__name__: function for function in kinds}[kind](Path(target), *map(int, sizes))
