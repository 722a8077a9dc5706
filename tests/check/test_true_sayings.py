"""What findings say of how many there are, of what, and what to do, is true."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner

import harness
from harness import readers
from harness.cli.app import app
from harness.errors import Finding, HarnessError, InputError
from harness.guard import documents as docnos
from harness.guard.check import Checked, check_config, check_files
from harness.readers import source


def the(found: Checked, rule: str) -> Finding:
    (one,) = [one for one in found.findings if one.rule == rule]
    return one


def of_files(qrels: Path, run: Path) -> Checked:
    return check_files(str(qrels), [str(run)], of_qrels={}, of_runs={})


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "a.qrels"
    path.write_text("".join(f"{q} 0 d{d} {d % 2}\n" for q in range(1, 4) for d in range(4)))
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "a.run"
    path.write_text("".join(f"{q} Q0 d{d} {d + 1} {9 - d} t\n" for q in (1, 3) for d in range(4)))
    return path


def test_keys_that_stand_twice_are_counted(qrels: Path, tmp_path: Path) -> None:
    run = tmp_path / "r.json"
    run.write_text('{"1":{' + ",".join(f'"d{i % 100}":{i}' for i in range(900)) + "}}")
    one = the(of_files(qrels, run), "duplicates")
    assert one.count == 800
    assert not one.at_least


# 216 fractional grades: 3 are shown, and 213 are not.
def test_how_many_grades_are_left_out_where_a_dataset_fails(run: Path, tmp_path: Path) -> None:
    qrels = tmp_path / "f.qrels"
    qrels.write_text("".join(f"{q} 0 d{d} 0.5\n" for q in (1, 2, 3) for d in range(72)))
    (tmp_path / "b.run").write_bytes(run.read_bytes())
    config = tmp_path / "c.yaml"
    config.write_text(
        "datasets: {a: {path: f.qrels}}\nruns: {m: {path: a.run}, n: {path: b.run}}\n"
        "metrics: [map]\n"
    )
    with pytest.raises(InputError) as error:
        harness.run(config)
    (said,) = error.value.texts
    assert "(+213 more) (2 cells) [grade-values]" in said
    assert the(of_files(qrels, run), "fractional-grades").count == 216


# the run answers queries 1 and 3 of 3
@pytest.mark.parametrize(("policy", "severity"), [("skip", "note"), ("zero", "warning")])
def test_queries_that_are_left_out_are_named(
    qrels: Path, run: Path, policy: str, severity: str
) -> None:
    config = qrels.parent / "c.yaml"
    config.write_text(
        f"datasets: {{a: {{path: {qrels.name}}}}}\nruns: {{m: {{path: {run.name}}}}}\n"
        "metrics: [map]\noutput: out\n"
        f"policy: {{missing_queries: {policy}}}\n"
    )
    one = the(check_config(config), "missing-queries")
    assert (one.severity, one.count, one.examples) == (severity, 1, ("2",))
    assert one.effect.startswith("each counts as 0 for metrics where higher is better; under")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (kept,) = [f for f in harness.run(config).findings if f.rule == "missing-queries"]
    assert (kept.severity, kept.examples) == (severity, ("2",))


@pytest.mark.parametrize("complete", ["true", "false"])
def test_gaps_are_one_finding(qrels: Path, run: Path, complete: str) -> None:
    folder = qrels.parent
    for name in ("a_1", "a_2", "b_1"):
        (folder / f"{name}.run").write_bytes(run.read_bytes() + f"1 Q0 {name} 5 0 t\n".encode())
    config = folder / "c.yaml"
    config.write_text(
        f'datasets: {{a: {{path: a.qrels}}}}\nruns: {{"{{m}}": {{path: "{{m}}_{{seed}}.run"}}}}\n'
        "metrics: [map]\n"
        f"complete: {complete}\n"
    )
    found = check_config(config)
    (one,) = [one for one in found.findings if one.rule in ("gaps", "config")]
    assert (one.what, one.examples) == (
        "1 of 4 cells of the grids are missing",
        ("b on a seed=2",),
    )
    printed = CliRunner().invoke(app, ["check", str(config)]).stdout
    assert "\\n" not in printed
    if complete == "true":
        assert (one.rule, one.severity, one.place) == (
            "config", "error", f"{config}: $.complete (line 4)",
        )  # fmt: skip
        assert one.fix == "make them, leave them out with 'where:', or take 'complete' out"
    else:
        assert (one.rule, one.severity) == ("gaps", "warning")


# 1 Q0 d0 is there twice, with one grade; of a run that is refused no rows are counted
def test_a_document_that_is_judged_twice(qrels: Path, run: Path) -> None:
    qrels.write_text(qrels.read_text() + "1 0 d0 0\n")
    assert the(of_files(qrels, run), "duplicates").effect.startswith("one document is judged twice")


def test_rows_are_those_of_runs_that_could_be_read(qrels: Path, run: Path) -> None:
    assert of_files(qrels, run).rows == 8
    run.write_text(run.read_text() + "1 Q0 d9 1 1 t\n")  # of a query that came before
    assert of_files(qrels, run).rows == 9
    run.write_text(run.read_text() + "no row\n")
    assert of_files(qrels, run).rows == 0


# Of 3 x 500 documents the 4 first of each query are judged.
def test_unknown_docnos_are_counted(
    qrels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "long.run"
    run.write_text("".join(f"{q} Q0 d{d} 1 {-d} t\n" for q in (1, 2, 3) for d in range(500)))
    one = the(of_files(qrels, run), "unknown-docnos")
    assert one.what == "1,488 of 1,500 docnos looked at are judged for no query"
    assert (one.count, one.at_least) == (1488, False)
    monkeypatch.setattr(docnos, "WHOLE", 1499)
    one = the(of_files(qrels, run), "unknown-docnos")
    assert ", a sample of 1,500, are judged for no query" in one.what
    assert one.at_least
    assert one.count < 1488


@pytest.mark.parametrize(
    ("rule", "fix"), [("not-finite", "leave it out"), ("no-such", "docs/check.md lists them")]
)
def test_what_to_do_is_no_example(
    qrels: Path, run: Path, capsys: pytest.CaptureFixture[str], rule: str, fix: str
) -> None:
    config = qrels.parent / "c.yaml"
    config.write_text(
        f"datasets: {{a: {{path: {qrels.name}}}}}\nruns: {{m: {{path: {run.name}}}}}\n"
        "metrics: [map]\n"
        f"guard: {{accept: [{rule}]}}\n"
    )
    one = the(check_config(config), "config")
    assert (one.examples, one.fix) == ((), fix)
    with pytest.raises(HarnessError) as error:
        harness.run(config)
    assert f"fix:   {fix}" in str(error.value)
    assert "found:" not in str(error.value)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_half_a_binary_table_is_cut(qrels: Path, tmp_path: Path, suffix: str) -> None:
    table = pa.table({"qid": ["1"] * 400, "docno": [f"d{i}" for i in range(400)],
                      "score": [float(i) for i in range(400)]})  # fmt: skip
    path = tmp_path / f"r.{suffix}"
    (parquet.write_table if suffix == "parquet" else feather.write_feather)(table, path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    one = the(of_files(qrels, path), "truncated")
    called = "a Parquet" if suffix == "parquet" else "an Arrow"
    assert one.what == f"the file is cut short: it begins as {called} file and does not end as one"


LONG = b"x" * (source.LONGEST + source.BLOCK)
HALF = b'{"qid": "\\ud800", "docno": "d", "score": 1}\n'
TOO_LONG = "the line is longer than 1,048,576 bytes"
NO_HALF = r"not JSON (\ud800 is half of a surrogate pair, which is no character)"


@pytest.mark.parametrize("kind", ["run", "qrels"])
@pytest.mark.parametrize(
    ("text", "format", "what"),
    [
        (HALF, "jsonl", NO_HALF),
        (b'{"qid": "q", "docno": "' + LONG + b'", "score": 1}\n', "jsonl", TOO_LONG),
        (b"q Q0 " + LONG + b" 1 1 t\n", "trec", TOO_LONG),
    ],
    ids=["half", "jsonl", "trec"],
)
def test_the_reason_is_said_where_the_format_is_guessed(
    tmp_path: Path, kind: str, text: bytes, format: str, what: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(text)
    read: Any = readers.read_run if kind == "run" else readers.read_qrels
    for named in (None, format):
        with pytest.raises(InputError) as error:
            read(path, format=named)
        (problem,) = error.value.problems
        assert (problem.where, problem.what) == (f"{path}:1", what)


def test_json_after_many_blanks_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for blanks in (b" " * len(LONG), b"\n" * len(LONG)):
        path.write_bytes(blanks + b'{"q": {"d": 1}}')
        assert readers.read_run(path).to_dict() == {"q": {"d": 1}}
        path.write_bytes(blanks)
        with pytest.raises(InputError, match="the file holds no rows"):
            readers.read_run(path)
