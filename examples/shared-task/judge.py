"""Stand in for the assessors: add a column of grades to pooled documents, from known qrels."""

from __future__ import annotations

import csv
import sys
from pathlib import Path


def judged(pooled: Path, qrels: Path) -> list[list[str]]:
    """Return qid, docno and grade of each pooled document; 0 if the qrels do not have it."""
    rows = [line.split() for line in qrels.read_text().splitlines()]
    grades = {(qid, docno): grade for qid, _, docno, grade in rows}
    with pooled.open(newline="") as file:
        return [
            [qid, docno, grades.get((qid, docno), "0")] for qid, docno in [*csv.reader(file)][1:]
        ]


if __name__ == "__main__":
    to_judge, known = map(Path, sys.argv[1:3])
    rows = [["qid", "docno", "grade"], *judged(to_judge, known)]
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
