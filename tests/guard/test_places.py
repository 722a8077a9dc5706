"""Places of examples: lines of predictions, rows of arrays and tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.errors import Finding
from harness.guard.check import check_files


def found(qrels: Path, run: Path) -> dict[str, Finding]:
    """What is found, by rule."""
    checked = check_files(str(qrels), [str(run)], of_qrels={}, of_runs={})
    return {one.rule: one for one in checked.findings}


def test_lines_of_predictions_for_documents_with_names(tmp_path: Path) -> None:
    """A file of scores has a line for each row, and neither its query nor its document."""
    judged, run = tmp_path / "test", tmp_path / "p"
    rows = [f"{at % 3} qid:{at // 10} 1:{at} #docid = GX{at}\n" for at in range(100)]
    judged.write_text("# made by\n" + "".join(rows))
    scores = [f"{at * 7 % 10}\n" for at in range(60)] + ["5\n"] * 9 + ["4\n"] + ["1.5\n"] * 30
    run.write_text("".join(scores))
    findings = found(judged, run)
    assert findings["constant-scores"].place == f"{run}:71"
    assert findings["constant-scores"].examples == ("7", "8", "9")
    # of query 6, most of whose scores are 5: the pair of ranks 1 and 2
    assert findings["score-ties"].place == f"{run}:61"
    assert findings["score-ties"].examples[0] == "query 6, documents GX60 and GX61: 5.0"


def test_places_in_files_without_lines(tmp_path: Path) -> None:
    """A row of an array or a Parquet table by its number, a mapping by its keys."""
    grades = np.random.default_rng(1).integers(0, 4, 200)
    judged = "".join(f"{g} qid:{at // 10} 1:{at}\n" for at, g in enumerate(grades))
    (tmp_path / "judged.txt").write_text(judged)
    scores = grades + np.random.default_rng(2).normal(size=200)
    scores[120:130] = 7
    np.save(tmp_path / "p.npy", scores)
    table = {"qid": [f"q{at // 10}" for at in range(200)], "docno": [f"d{at}" for at in range(200)]}
    pq.write_table(pa.table({**table, "grade": grades}), tmp_path / "q.parquet")
    pq.write_table(pa.table({**table, "score": scores}), tmp_path / "r.parquet")
    for name, values in (("q.json", grades.tolist()), ("r.json", scores.tolist())):
        content: dict[str, dict[str, float]] = {}
        for qid, docno, value in zip(*table.values(), values, strict=True):
            content.setdefault(qid, {})[docno] = value
        (tmp_path / name).write_text(json.dumps(content))
    for qrels, run, place in [
        ("judged.txt", "p.npy", "p.npy: row 121"),
        ("q.parquet", "r.parquet", "r.parquet: row 121"),
        ("q.json", "r.json", "r.json"),
    ]:
        one = found(tmp_path / qrels, tmp_path / run)["constant-scores"]
        assert one.place == f"{tmp_path}/{place}"
        assert one.examples[0].endswith("12")
