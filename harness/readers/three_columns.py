"""Files of three columns: MS MARCO's runs, BEIR's qrels and RankLib's scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, index_in, to_numpy
from ..core.policy import Duplicates
from ..core.tables import Qrels, Run
from ..errors import SHOWN, InputError, Problem
from . import trec as trec
from .build import build, column, gathered, lines_of_rows, warn_cut_line, warn_moved
from .columns import Layout, numbers_of, read_columns, read_judgements
from .format import Format, Head, Kind
from .predictions import needed
from .source import Source
from .text import is_like_number

MSMARCO = Layout(("qid", "docno", "rank"), ("qid", "docno"), number="rank", whole=True)
BEIR = Layout(("qid", "docno", "grade"), ("qid", "docno"), number="grade", whole=True, header=1)
BEIR_NAMES = ["query-id", "corpus-id", "score"]
RANKLIB = Layout(
    ("qid", "row", "score"),
    ("qid", "row"),
    number="score",
    repair="repair the system's output; every row of the dataset needs its score",
)


def read_msmarco(source: Source, *, duplicates: Duplicates, name: str, **how: Any) -> Run:
    """Read a ranking of qid, docno and rank; the score of rank r is -r."""
    table = gathered(read_columns(source, MSMARCO))
    ranks = numbers_of(table, "rank")
    qids, last = table["qid"][-2:].to_pylist(), ranks[-2:].tolist()
    expected = last[0] + 1 if qids[0] == qids[-1] else 1
    if source.unfinished and len(last) == 2 and last[1] < expected:
        warn_cut_line(source, f"expected rank {expected:.0f}, got {last[1]:.0f}")
    is_data = MSMARCO.of(source).is_data
    run = build(Run, source, table, -ranks, is_data, duplicates=duplicates, name=name)
    warn_moved(source, run, duplicates, is_data)
    return run


def read_beir(source: Source, **how: Any) -> Qrels:
    """Read judgements; the first line after comments is the header."""
    return read_judgements(source, BEIR, **how)


def read_ranklib(source: Source, *, dataset: Qrels | None = None, name: str, **how: Any) -> Run:
    """Read scores that name the query and the position of each row of `dataset`."""
    dataset = needed(source, dataset)
    table = gathered(read_columns(source, RANKLIB))
    query, lengths = index_in(column(table["qid"]), dataset.qids), np.diff(dataset.offsets)
    try:
        position = to_numpy(cast(column(table["row"]), pa.uint32())).astype(np.int64)
    except pa.ArrowInvalid as error:
        raise source.error(f"row: expected a whole number ({error})") from None
    counts = np.bincount(query[query >= 0], minlength=dataset.n_queries)
    if (query < 0).any() or (counts != lengths).any():
        what = f"expected {dataset.n_rows} predictions, got {query.size}"
        if (query < 0).any():
            what += f"; query '{table['qid'][int((query < 0).argmax())]}' is not in the dataset"
        if (counts != lengths).any():
            other = int((counts != lengths).argmax())
            what += f"; query '{dataset.qids[other]}' has {lengths[other]} rows"
            what += f" and {counts[other]} predictions"
        fix = "predict every row of the dataset once"
        raise source.error(what, fix, "row-count")
    at = dataset.offsets[query] + position
    is_repeated = np.ones(at.size, dtype=bool)
    is_repeated[np.unique(at, return_index=True)[1]] = False
    wrong = np.flatnonzero((position >= lengths[query]) | is_repeated)
    if wrong.size:
        found = lines_of_rows(source, wrong[:SHOWN], RANKLIB.of(source).is_data)
        what, fix = "the row is beyond its query's rows, or repeated", "count rows from 0"
        problems = [Problem(f"{source.name}:{at}", what, line, fix) for at, line in found.values()]
        raise InputError(problems, total=wrong.size)
    scores, order = np.empty(dataset.n_rows), np.empty(at.size, np.int64)
    scores[at], order[at] = numbers_of(table, "score"), np.arange(at.size)
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name, order=order)


def looks_like_msmarco(head: Head, kind: Kind) -> bool:
    """Whether there are three columns, the last of them a rank that counts from 1."""
    fields = head.fields
    if kind == "qrels" or not head.mostly(fields, lambda f: len(f) == 3 and f[2].isdigit()):
        return False
    return [f[2:3] for f in fields[:2]] == [[str(rank)] for rank in (1, 2)[: len(fields)]]


def looks_like_beir(head: Head, kind: Kind) -> bool:
    """Whether the first line is BEIR's header."""
    return kind == "qrels" and head.fields[:1] == [BEIR_NAMES]


def looks_like_ranklib(head: Head, kind: Kind) -> bool:
    """Whether there are three columns, the second of them counting from 0."""
    fields = head.fields
    if kind == "qrels" or not head.mostly(fields, lambda f: len(f) == 3 and is_like_number(f[2])):
        return False
    return [f[1:2] for f in fields[:2]] in ([["0"]], [["0"], ["0"]], [["0"], ["1"]])


FORMATS = (
    Format(
        name="msmarco",
        about="MS MARCO: run of qid docno rank (score = -rank); qrels as TREC's",
        suffixes=(".tsv", ".txt"),
        looks=looks_like_msmarco,
        qrels=trec.read_qrels,
        run=read_msmarco,
        is_data=lambda source: MSMARCO.of(source).is_data,
    ),
    Format(
        name="beir",
        about="BEIR qrels (query-id corpus-id score, tab-separated, with that header)",
        suffixes=(".tsv",),
        looks=looks_like_beir,
        qrels=read_beir,
        is_data=lambda source: BEIR.of(source).is_data,
    ),
    Format(
        name="ranklib",
        about="RankLib scores (qid row score; rows from 0 in each query), for rows of a dataset",
        suffixes=(".txt", ".score"),
        looks=looks_like_ranklib,
        run=read_ranklib,
        needs_dataset=True,
        is_data=lambda source: RANKLIB.of(source).is_data,
    ),
)
