"""Queries that a run does not answer: counted and listed beside its comparisons."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

import harness
from harness.cli.app import app
from harness.experiment import results
from harness.reports.comparisons import notes

QRELS = {f"q{place}": {"a": 1, "b": 0} for place in range(6)}
FULL = {qid: {"a": 2.0, "b": 1.0} for qid in QRELS}


def answering(*qids: str) -> dict[str, dict[str, float]]:
    return {qid: FULL[qid] for qid in qids}


RUNS = {"half": answering("q0", "q1", "q2"), "other": answering("q3", "q4"), "full": FULL}


def test_they_are_counted_and_named() -> None:
    found = harness.compare(QRELS, RUNS, ["map"], dataset="made")
    half, other = found.unanswered
    assert (half.run, half.n, half.n_queries, half.qids) == ("half", 3, 6, ("q3", "q4", "q5"))
    assert (other.run, other.n, other.qids) == ("other", 4, ("q0", "q1", "q2", "q5"))
    assert (
        "made: half answered 3 of 6 queries, other answered 2 of 6 queries; the rest are compared "
        "as they are averaged"
    ) in notes(found)
    assert found.to_pandas()["note"].tolist() == [
        "half answered 3 of 6 queries; other answered 2 of 6 queries",
        "half answered 3 of 6 queries", "other answered 2 of 6 queries",
    ]  # fmt: skip
    assert [one.note for one in found.rows] == ["", "", ""]


def test_beside_a_named_outcome() -> None:
    found = harness.compare(QRELS, {"one": RUNS["half"], "two": RUNS["half"]}, ["map"])
    assert found.remarks(found.rows[0]) == (
        "identical; one answered 3 of 6 queries; two answered 3 of 6 queries"
    )


def test_nothing_is_said_of_what_is_left_out_or_complete() -> None:
    complete = harness.compare(QRELS, {"one": FULL, "two": FULL}, ["map"])
    same = {"one": RUNS["half"], "two": RUNS["half"]}
    skipped = harness.compare(QRELS, same, ["map"], policy={"missing_queries": "skip"})
    for found in (complete, skipped):
        assert found.unanswered == ()
        assert "answered" not in " ".join(notes(found))


def test_many_runs_are_not_all_named() -> None:
    runs = {f"r{place}": RUNS["half"] for place in range(7)}
    (line,) = [one for one in notes(harness.compare(QRELS, runs, ["map"])) if "answered" in one]
    assert "r4 answered 3 of 6 queries, and 2 more runs not all; the rest" in line
    assert "r5" not in line


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with judgements, two runs that share no query, and a config."""
    (tmp_path / "qrels.txt").write_text("".join(f"{qid} 0 a 1\n" for qid in QRELS))
    for name, run in RUNS.items():
        (tmp_path / f"{name}.run").write_text("".join(f"{qid} Q0 a 1 1 t\n" for qid in run))
    (tmp_path / "c.yaml").write_text(
        "datasets: {made: {path: qrels.txt}}\nruns: {'{r}': {path: '{r}.run'}}\nmetrics: [map]\n"
        "compare: {}\noutput: results\n"
    )
    return tmp_path


def test_files_list_them(files: Path) -> None:
    words = ["compare", "half.run", "other.run", "--qrels", "qrels.txt", "-m", "map"]
    words = [str(files / one) if "." in one else one for one in words]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "  qrels: half answered 3 of 6 queries, other answered 2 of 6 queries; " in done.stdout
    lines = [line.split() for line in done.stdout.splitlines()]
    title = lines.index(["qrels,", "queries", "without", "an", "answer"])
    assert lines[title + 1 : title + 5] == [
        ["run", "n", "qids"], ["half", "3", "q3", "q4", "q5"],
        ["other", "4", "q0", "q1", "q2", "q5"], [],
    ]  # fmt: skip


def test_a_config_counts_them_and_so_do_its_results(files: Path) -> None:
    done = CliRunner().invoke(app, ["run", str(files / "c.yaml")])
    assert done.exit_code == 0, done.output
    assert "made: half answered 3 of 6 queries, other answered 2 of 6 queries; " in done.stdout
    with (files / "results/significance.csv").open(encoding="utf-8") as file:
        written = [row["note"] for row in csv.DictReader(file)]
    assert written == [
        "half answered 3 of 6 queries", "other answered 2 of 6 queries",
        "half answered 3 of 6 queries; other answered 2 of 6 queries",
    ]  # fmt: skip
    again = results.with_comparisons(results.read(files / "results")).study.comparisons
    assert again is not None
    assert [(one.run, one.n, one.qids) for one in again.unanswered] == [
        ("half", 3, ()), ("other", 4, ()),
    ]  # fmt: skip
