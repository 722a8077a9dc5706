"""``harness trec_eval`` as a user meets it: messages, warnings, help, odd files."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import HarnessWarning
from harness.trec_eval import main
from harness.trec_eval.arguments import parse
from harness.trec_eval.versions import VERSIONS

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n"
RUN = "q1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\nq2 Q0 a 1 1.0 tag\n"
MAP = "map                   \tall\t0.7500\n"  # (1/2 + 1) / 2

Files = Callable[..., list[str]]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Writes the two files and returns their names."""
    monkeypatch.chdir(tmp_path)

    def write(qrels: str | bytes = QRELS, run: str | bytes = RUN) -> list[str]:
        for name, data in (("qrels", qrels), ("run", run)):
            Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
        return ["qrels", "run"]

    return write


WRONG = {
    "-x": (1, "option -x not recognized\nusage: harness trec_eval [-q]"),
    "-m": (1, "option -m requires argument\nusage: harness trec_eval [-q]"),
    "-mmpa": (1, "trec_eval 9.0.8 has no measure 'mpa'; did you mean 'map'?\n"),
    "-mP.": (1, "measure 'P.': parameters must follow the point\n"),
    "-mdcg": (1, "trec_eval 9.0.8 has no measure 'dcg'; did you mean"),
    "--as=11": (1, "--as takes 9 (9.0.8) or 10 (10.0), not '11'\n"),
    "-l-1": (1, "-l: below 0, documents that nobody judged would count as relevant; give 0 or"),
    "-M-1": (1, "-M: give 0 or more; trec_eval itself crashes below it\n"),
    "third": (1, "two files are needed, not 3\nusage:"),
    "-mP.5,0": (2, "measure 'P.5,0': a cutoff is at least 1\n"),
    "-mP.5,5": (2, "measure 'P.5,5': a cutoff is there twice\n"),
    "-mndcg.5": (2, "measure 'ndcg.5': write gains as GRADE=GAIN,GRADE=GAIN...\n"),
    "-mndcg.-1=2": (2, "measure 'ndcg_-1=2': gains of documents that nobody judged (grades below"),
    "-Rprefs": (2, "-R prefs: preferences and judgement groups are not read here, only qrels; use"),
    "-Rqrels_jg": (2, "-R qrels_jg: preferences and judgement groups are not read here"),
    "-Rxml": (2, "-R xml: there is no such format of judgements\n"),
    "-Txml": (2, "-T xml: there is no such format of runs\n"),
    "-Zscores": (2, "-Z: z-scores are not computed here; use trec_eval itself for them\n"),
    "-D2": (2, "-D: no traces of the computation are printed here; only -D 0.QID works\n"),
    "-mutility.1,2": (4, "measure 'utility' takes four coefficients, not 2\n"),
    "-mprefs_pair": (4, "measure 'prefs_pair' needs preferences or judgement groups, and only"),
}


@pytest.mark.parametrize("option", WRONG)
def test_wrong_usage(option: str, files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    status, message = WRONG[option]
    assert main([*files(), option]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"harness trec_eval: {message}")


BROKEN = {
    "no qrels": ("", RUN, 2, "the qrels cannot be read: qrels: "),
    "no run": (QRELS, "", 2, "the run cannot be read: run: "),
    "short line in the qrels": (
        QRELS + "q1 0 c\n", RUN, 2,
        "qrels:4: malformed, 3 fields where 4 belong (qid iteration docno grade)\n"
        "  found: q1 0 c\n",
    ),
    "short line in the run": (
        QRELS, RUN + "\nq1 Q0 c 3 1\n", 2,
        "run:5: malformed, 5 fields where 6 belong (qid Q0 docno rank score tag)\n"
        "  found: q1 Q0 c 3 1\n",
    ),
    "not a number": (
        QRELS, RUN + "q1 Q0 c 3 nan tag\n", 2,
        "run: the score of document 'c' is not a number; where trec_eval ranks it depends on the "
        "C library's sort\n",
    ),
    "a docno twice in the run": (
        QRELS, RUN + "q1 Q0 a 3 1 tag\n", 4, "query q1 of the run ranks a twice\n",
    ),
    "a docno twice in the qrels": (
        QRELS + "q2 0 a 0\n", RUN, 4, "query q2 of the qrels judges a twice\n",
    ),
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


def test_missing_files_name_what_is_near(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    files()
    assert main(["qrel", "run"]) == 2
    assert main(["qrels", "ruin"]) == 2
    assert capsys.readouterr().err == (
        "harness trec_eval: the qrels cannot be read: no file qrel; the folder holds qrels\n"
        "harness trec_eval: the run cannot be read: no file ruin; the folder holds run\n"
    )


def test_version_10_stops_at_a_query_without_an_answer(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    names = files(run="q1 Q0 a 1 1 tag\n")
    assert main(["--as", "10", "-q", "-mmap", *names]) == 4
    assert capsys.readouterr() == (
        "map                   \tq1\t1.0000\n",
        "harness trec_eval: the run does not answer query q2; with -c it counts as 0 "
        "(trec_eval 10)\n",
    )


SILENT = {
    "queries without judgements, left out: 1": (QRELS, RUN + "q3 Q0 a 1 1 tag\n"),
    "queries without a relevant document: 1": (QRELS + "q3 0 a 0\n", RUN + "q3 Q0 a 1 1 tag\n"),
    "judged queries that the run does not answer, left out (-c counts them as 0): 1": (
        QRELS + "q3 0 a 1\n", RUN,
    ),
}  # fmt: skip


@pytest.mark.parametrize("warning", SILENT)
def test_warnings(warning: str, files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(HarnessWarning) as caught:
        assert main(["-mmap", *files(*SILENT[warning])]) == 0
    assert [str(one.message) for one in caught] == [f"run: {warning}"]
    assert capsys.readouterr().out.startswith("map  ")


def test_packed_files_and_standard_input(
    files: Files, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = files(gzip.compress(QRELS.encode()), gzip.compress(RUN.encode()))
    assert main(["-mmap", *packed]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert main(["-mmap", "qrels", "-"]) == 0
    assert capsys.readouterr().out == MAP * 2


def test_names_that_are_not_utf_8(files: Files, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    qrels, run = b"\xff\x01 0 \xfe 1\n", b"\xff\x01 Q0 \xfe 1 1 \xe9\n"
    assert main(["-q", "-mmap", "-mrunid", *files(qrels, run)]) == 0
    assert capfdbinary.readouterr().out == (
        b"map                   \t\xff\x01\t1.0000\n"
        b"runid                 \tall\t\xe9\n"
        b"map                   \tall\t1.0000\n"
    )


def test_a_byte_order_mark_is_part_of_the_first_qid(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    # as in trec_eval; so q1 of the run is another query than q1 of the qrels
    with pytest.warns(HarnessWarning) as caught:
        assert main(["-mmap", *files("\ufeffq1 0 a 1\nq2 0 a 1\n")]) == 0
    assert len(caught) == 2  # one query of the run and one of the qrels are left out
    assert capsys.readouterr().out == MAP.replace("0.7500", "1.0000")


def test_scattered_queries_are_gathered(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    lines = RUN.splitlines(keepends=True)
    with pytest.warns(HarnessWarning, match="gathered by qid"):
        assert main(["-mmap", *files(run="".join([lines[0], lines[2], lines[1]]))]) == 0
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
    assert max(map(len, general.splitlines())) <= 100


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-v"]) == 0
    assert main(["-v", "--as", "10"]) == 0
    assert capsys.readouterr() == (
        "",
        "harness trec_eval: follows trec_eval 9.0.8\nharness trec_eval: follows trec_eval 10.0\n",
    )


def test_the_first_parameters_count_and_the_last_of_other_options() -> None:
    arguments = parse(["-mP.5", "-m", "P.7", "-l2", "-l", "3x", "--meas=all_trec", "a", "b"])
    assert arguments.parameters == {"P": "5"}
    assert arguments.level == 3
    assert {"P", "map"} <= arguments.measures


def test_the_command(files: Files) -> None:
    names = files()
    run = [sys.executable, "-m", "harness", "trec_eval"]
    done = subprocess.run([*run, *names, "-mmap"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, MAP, "")
    failed = subprocess.run([*run, "-mfoo"], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout) == (1, "")
