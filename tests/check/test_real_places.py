"""Every line that ``harness check`` names in real runs, looked up: it shows what is said of it."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from harness.guard.check import check_files

CASES = {
    "trec_covid_round1/qrels-rnd1.txt": [
        f"trec_covid_round1/runs/{name}.gz" for name in ("BERT", "TU_Vienna_TKL_1", "ERST_PROSE")
    ],
    "codec/qrels/document_ndcg.qrels": ["codec/runs/document_bm25+rm3-tuned.run"],
    "web_table_retrieval/data/rel_table_qrels.txt": [
        f"web_table_retrieval/rankings/pool/{name}.txt" for name in ("title", "header", "content")
    ],
    "trec_eval_test/test/qrels.test": ["trec_eval_test/test/results.trunc"],
    "msmarco_dev_anserini_head/qrels.msmarco-doc.dev.txt": [
        "msmarco_dev_anserini_head/run.msmarco-doc.dev.opt-mrr.txt"
    ],
}


class Row(NamedTuple):
    """A line of a run."""

    line: int
    qid: str
    docno: str
    rank: str
    score: float


def lines(path: Path) -> list[str]:
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode().split("\n")


@dataclass
class Said:
    """One finding of a run: its row, and what is said of it."""

    rows: list[Row]
    grades: dict[str, dict[str, float]]
    line: int
    text: str
    example: str

    @cached_property
    def row(self) -> Row:
        return next(row for row in self.rows if row.line == self.line)

    @cached_property
    def query(self) -> list[Row]:
        """The rows of its query, best first as trec_eval ranks them."""
        mine = (row for row in self.rows if row.qid == self.row.qid)
        return sorted(mine, key=lambda row: (np.float32(row.score), row.docno), reverse=True)

    @cached_property
    def depths(self) -> Counter[str]:
        return Counter(qid for qid, _ in {(row.qid, row.docno) for row in self.rows})

    @cached_property
    def named(self) -> list[str]:
        """Query, document, perhaps another one, and what is said of them."""
        found = re.fullmatch(r"query (\S+), documents? (\S+?)(?: and (\S+?))?(?:: (.*))?",
                             self.example)  # fmt: skip
        assert found
        assert [found[1], found[2]] == [self.row.qid, self.row.docno]
        return [*map(str, found.groups())]

    def scores(self) -> tuple[float, float]:
        """Of the document named, and of the other one."""
        (other,) = (row for row in self.query if row.docno == self.named[2])
        return self.row.score, other.score

    def is_unjudged(self) -> bool:
        rank = 1 + self.query.index(self.row)
        unjudged = self.row.docno not in self.grades[self.row.qid]
        return unjudged and rank <= 10 and self.named[3] == f"rank {rank}"

    def is_short(self) -> bool:
        begins = min(row.line for row in self.query) == self.line
        depth = self.depths[self.row.qid]
        told = self.example == f"{self.row.qid} ({depth:,})"
        return begins and told and depth < max(self.depths.values())

    def contradicts(self) -> bool:
        before = (row for row in self.query if row.line < self.line)
        return any(
            (int(row.rank) - int(self.row.rank)) * (row.score - self.row.score) > 0
            for row in before
        )


def share(said: Said, one: float = 0.9) -> bool:
    most = max(Counter(np.float32(row.score) for row in said.query).values())
    return said.example == said.row.qid and most >= one * len(said.query)


SHOWS: dict[str, Callable[[Said], bool]] = {
    "single-precision": lambda said: (
        len({*said.scores()}) == 2 and len({*map(np.float32, said.scores())}) == 1
    ),
    "score-ties": lambda said: len({*map(np.float32, said.scores())}) == 1,
    "nearly-constant-scores": share,
    "constant-scores": lambda said: share(said, 1),
    "unjudged-at-10": Said.is_unjudged,
    "unjudged-unlike-others": Said.is_unjudged,
    "unknown-docnos": lambda said: (
        bool(said.named) and not any(said.row.docno in rows for rows in said.grades.values())
    ),
    "depth": Said.is_short,
    "cut-last-query": lambda said: (
        said.row == said.rows[-1] and len(said.query) < max(said.depths.values())
    ),
    "rank-as-score": lambda said: float(said.row.rank) == said.row.score,
    "ranks-against-scores": Said.contradicts,
    "extra-queries": lambda said: said.row.qid not in said.grades,
    "scattered-queries": lambda said: (
        min(row.line for row in said.query) < said.line - 1
        and not any(row.line == said.line - 1 for row in said.query)
    ),
    "extra-fields": lambda said: len(said.text.split()) > 6,
    "dropped-rows": lambda said: [row.docno for row in said.query].count(said.row.docno) == 2,
    "cut-line": lambda said: said.row == said.rows[-1],
}


@pytest.mark.parametrize("judgements", [*CASES])
def test_each_line_shows_what_is_said_of_it(shared: Path, judgements: str) -> None:
    data, n = shared / "data", 0
    grades: dict[str, dict[str, float]] = {}
    for line in lines(data / judgements):
        if len(fields := line.split()) >= 4:
            grades.setdefault(fields[0], {})[fields[2]] = float(fields[3])
    for name in CASES[judgements]:
        texts = lines(data / name)
        split = ((at, text.split()) for at, text in enumerate(texts, 1))
        rows = [Row(at, f[0], f[2], f[3], float(f[4])) for at, f in split if len(f) >= 5]
        checked = check_files(
            str(data / judgements), [str(data / name)], of_qrels={}, of_runs={"duplicates": "last"}
        )
        for one in checked.findings:
            path, _, at = one.place.rpartition(":")
            if path.endswith(name):
                said = Said(rows, grades, int(at), texts[int(at) - 1], one.examples[0])
                assert SHOWS[one.rule](said), one
                n += 1
            else:
                assert one.rule == "missing-queries"
    assert n
