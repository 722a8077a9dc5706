"""The guard looks at files as the reader read them: with `columns:` and no `format:`."""

from pathlib import Path
from typing import Any

import pytest
from command_line import called

import harness

QRELS = [("2", "0", "d1", "1"), ("2", "0", "d3", "0"), ("10", "0", "d=2", "1"),
         ("10", "0", "e", "0")]  # fmt: skip
RUN = [("10", "x", "d=2", "2.5", "1"), ("10", "x", "e", "1.5", "2"), ("2", "x", "d3", "0.5", "1"),
       ("2", "x", "d1", "0.25", "2")]  # fmt: skip
AS_TREC = [(q, "Q0", d, s, rank, "t") for q, _, d, s, rank in RUN]
"""Score and rank are in each other's place."""
COLUMNS = "{qid: 1, docno: 3, score: 4}"


def table(name: str, rows: Any, sign: str = "\t") -> None:
    Path(name).write_text("".join(sign.join(row) + "\n" for row in rows))


@pytest.mark.parametrize("rows", [RUN, AS_TREC], ids=["five fields", "six fields"])
@pytest.mark.parametrize("sign", ["\t", ","])
def test_a_run_by_the_numbers_of_its_columns(
    rows: Any, sign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table("q.txt", QRELS, " ")
    table("r.tsv", rows, sign)
    Path("c.yaml").write_text(
        f"datasets: {{d: q.txt}}\nruns: {{r: {{path: r.tsv, columns: {COLUMNS}}}}}\n"
        "metrics: [recip_rank]\noutput: o\n"
    )
    done = called("run", "c.yaml")
    assert (done.code, done.err) == (0, "")
    assert "0.7500" in done.out
    assert harness.check("c.yaml").findings == ()


def test_findings_have_the_lines_of_the_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    grades = [(q, g, d) for q, _, d, g in QRELS[:2]]
    table("q.tsv", [("7", "0", "d9"), *grades])
    table("r.tsv", [*RUN[2:], ("7", "x", "d9", "3", "1"), ("7", "x", "d8", "3", "1")])
    Path("c.yaml").write_text(
        "datasets: {d: {path: q.tsv, columns: {qid: 1, docno: 3, grade: 2}}}\n"
        f"runs: {{r: {{path: r.tsv, columns: {COLUMNS}}}}}\nmetrics: [map]\n"
    )
    places = {one.rule: one.place for one in harness.check("c.yaml").findings}
    assert places["constant-scores"] == "r.tsv:3"
    assert places["empty-queries"] == "q.tsv:1"


def test_a_run_whose_dataset_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table("r.tsv", RUN)
    Path("c.yaml").write_text(
        f"datasets: {{d: q.txt}}\nruns: {{r: {{path: r.tsv, columns: {COLUMNS}}}}}\n"
        "metrics: [map]\n"
    )
    Path("q.txt").write_text("2 0 d1\n")
    found = harness.check("c.yaml").findings
    assert {one.place.file for one in found} == {"q.txt"}
