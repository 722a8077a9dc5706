"""``harness trec_eval`` as a user meets it: errors, warnings, help, unusual files."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.compat.trec_eval.arguments import VERSIONS, parse
from harness.compat.trec_eval.input import RunSource
from harness.compat.trec_eval.program import main

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n"
RUN = "q1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\nq2 Q0 a 1 1.0 tag\n"
MAP = "map                   \tall\t0.7500\n"  # (1/2 + 1) / 2
ROWS = [f"q{query} Q0 d{row} 1 {9 - row} tag\n" for query in range(60) for row in range(9)]

Files = Callable[..., list[str]]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Writes the two files and returns their names; blocks are small."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(RunSource.blocks, "__defaults__", (1 << 10,))

    def write(qrels: str | bytes = QRELS, run: str | bytes = RUN) -> list[str]:
        for name, data in (("qrels", qrels), ("run", run)):
            Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
        return ["qrels", "run"]

    return write


WRONG = {
    "-x": (1, "option -x not recognized\nusage: harness trec_eval [-q]"),
    "-m": (1, "option -m requires argument\nusage: harness trec_eval [-q]"),
    "-mmpa": (1, "trec_eval 9.0.7 has no measure 'mpa'; did you mean 'map'?\n"),
    "-mdcg": (1, "trec_eval 9.0.7 has no measure 'dcg'; did you mean"),
    "-mP.": (1, "measure 'P.': "),
    "--as=11": (1, "--as: expected 9 (9.0.7), 9.0.8 or 10 (10.0), got '11'\n"),
    "-l-1": (1, "-l: "),
    "-M-1": (1, "-M: "),
    "third": (1, "expected two files, got 3\nusage:"),
    "-mP.5,0": (2, "measure 'P.5,0': "),
    "-mP.5,5": (2, "measure 'P.5,5': "),
    "-mndcg.5": (2, "measure 'ndcg.5': write gains as GRADE=GAIN,GRADE=GAIN...\n"),
    "-mndcg.-1=2": (2, "measure 'ndcg_-1=2': gains of documents that nobody judged"),
    "-Rprefs": (2, "-R, -T, -Z: "),
    "-Txml": (2, "-R, -T, -Z: "),
    "-Zscores": (2, "-R, -T, -Z: "),
    "-D1 -mmap -mndcg": (2, "-D 1: how ndcg is computed"),
    "-D2 -mgm_bpref": (2, "-D 2: how gm_bpref is computed"),
    "-mutility.1,2": (4, "measure 'utility' takes four coefficients, not 2\n"),
    "-mprefs_pair": (4, "preferences and judgement groups are not read here"),
}


@pytest.mark.parametrize("options", WRONG)
def test_wrong_usage(options: str, files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    status, message = WRONG[options]
    assert main([*files(), *options.split()]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"harness trec_eval: {message}")


BROKEN = {
    "no qrels": ("", RUN, 2, "the qrels cannot be read: qrels: "),
    "no run": (QRELS, "", 2, "the run cannot be read: run: "),
    "short line in the qrels": (QRELS + "q1 0 c\n", RUN, 2, "qrels:4: malformed: expected 4"),
    "short line in the run": (
        QRELS, RUN + "\nq1 Q0 c 3 1\n", 2,
        "run:5: malformed: expected 6 fields (qid Q0 docno rank score tag), got 5\n"
        "  found: q1 Q0 c 3 1\n",
    ),
    "short line in a later block": (
        QRELS, "".join([*ROWS[:400], "q1 Q0 d\n", *ROWS[400:]]), 2, "run:401: malformed",
    ),
    "not a number": (
        QRELS, RUN + "q1 Q0 c 3 nan tag\n", 2,
        "run: expected numbers as scores, got NaN for document 'c' in query q1\n",
    ),
    "zero bytes": (QRELS, RUN.replace("b 1", "b\0 1"), 2, "the run cannot be read: expected text"),
    "a docno twice in the run": (
        QRELS, RUN + "q1 Q0 a 3 1 tag\n", 4, "query q1 of the run ranks a twice\n",
    ),
    "a docno twice in the qrels": (
        QRELS + "q2 0 a 0\n", RUN, 4, "query q2 of the qrels judges a twice\n",
    ),
    "no grade of at least 0 in the first query": (
        "q1 0 a -1\nq2 0 a 1\n", RUN, 4, "query q1 of the qrels comes first and has no grade",
    ),
    "a huge grade": (
        QRELS + "q2 0 b 99999999999\n", RUN, 4, "query q2 of the qrels has the grade 99999999999,",
    ),
    "no row in the run": (QRELS, "\n \n", 7, "no query has both judgements and results\n"),
    "nothing in common": (
        QRELS, "q3 Q0 a 1 1 tag\n", 7, "no query has both judgements and results\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_broken_files(name: str, files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run, status, message = BROKEN[name]
    assert main(["-mmap", *files(qrels, run)]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"harness trec_eval: {message}")


def test_files_that_are_missing(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    files()
    assert [main(["qrel", "run"]), main(["qrels", "ruin"]), main(["-", "-"])] == [2, 2, 2]
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[2][:40] for line in lines] == [
        " the qrels cannot be read: no file qrel;", "   use qrels",
        " the run cannot be read: no file ruin; t", "   use run",
        " expected one file as '-', standard inpu",
    ]  # fmt: skip


def test_standard_input(
    files: Files, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert main(["-mmap", "qrels", "-"]) == 0
    assert capsys.readouterr().out == MAP


@pytest.mark.parametrize("version", VERSIONS)
def test_help_defines_every_measure(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-h", "--as", version]) == 0
    general = capsys.readouterr().out
    for name in VERSIONS[version].order:
        assert f" {name}" in general
        assert main(["-h", "-m", name, "--as", version]) == 0
        title, about = capsys.readouterr().out.split("\n", 1)
        assert title == name
        assert len(about) > 20
    assert main(["-v", "--as", version]) == 0
    title = VERSIONS[version].title
    assert capsys.readouterr().err == f"trec_eval version {title}\n"


@pytest.mark.parametrize(
    ("options", "title", "value"),
    [("", "9.0.7", "0.5000"), ("--as 9", "9.0.7", "0.5000"), ("--as=9.0.7", "9.0.7", "0.5000"),
     ("--as 9.0.8", "9.0.8", "1.0000"), ("--as 10.0", "10.0-rc3", "1.0000")],
)  # fmt: skip
def test_each_version_compares_scores_in_its_own_type(
    options: str, title: str, value: str, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    # 2.00000001 is above 2 as a double; as floats they tie, and b comes before a
    names = files("q 0 a 1\nq 0 b 0\n", "q Q0 a 1 2.00000001 t\nq Q0 b 2 2 t\n")
    assert main([*options.split(), "-m", "map", *names]) == 0
    assert capsys.readouterr().out == f"map                   \tall\t{value}\n"
    assert main([*options.split(), "--version"]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"trec_eval version {title}\n"  # as the program of that version
    assert printed.out == ""


def test_the_first_parameters_count_and_the_last_of_other_options() -> None:
    arguments = parse(["-mP.5", "-m", "P.7", "-l2", "-l", "3x", "--meas=all_trec", "a", "b"])
    assert (arguments.parameters, arguments.level) == ({"P": "5"}, 3)
    assert {"P", "map"} <= arguments.measures


def test_the_command(files: Files) -> None:
    names = files()
    run = [sys.executable, "-m", "harness", "trec_eval"]
    done = subprocess.run([*run, *names, "-mmap"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, MAP, "")
    failed = subprocess.run([*run, "-mfoo"], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout) == (1, "")
