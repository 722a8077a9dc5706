"""``harness trec_eval`` as a user meets it: messages, warnings, help, odd files."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.compat.trec_eval.arguments import parse
from harness.compat.trec_eval.input import RunSource
from harness.compat.trec_eval.program import main
from harness.compat.trec_eval.versions import VERSIONS
from harness.errors import HarnessWarning

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
    "-mnum_nonjudged_ret": (1, "trec_eval 9.0.8 has no measure 'num_nonjudged_ret'; the share of"),
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


def test_arguments_without_end(capsys: pytest.CaptureFixture[str]) -> None:
    """10,001 of them; a level and a cutoff of more digits than Python reads as an integer."""
    assert main(["-q"] * 10_001) == 1
    most = "harness trec_eval: 10,001 arguments, of which 10,000 are the most\nusage:"
    assert capsys.readouterr().err.startswith(most)
    parsed = parse(["-l", "9" * 5000, "-M", "0" * 5000 + "7", "qrels", "run"])
    assert (parsed.level, parsed.depth) == (2**63 - 1, 7)


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
        "run: the score of document 'c' in query q1 is not a number; where trec_eval ranks it "
        "among different scores depends on the C library's sort\n",
    ),
    "a docno twice in the run": (
        QRELS, RUN + "q1 Q0 a 3 1 tag\n", 4, "query q1 of the run ranks a twice\n",
    ),
    "a docno twice in the qrels": (
        QRELS + "q2 0 a 0\n", RUN, 4, "query q2 of the qrels judges a twice\n",
    ),
    "no grade of at least 0 in the first query": (
        "q1 0 a -1\nq2 0 a 1\n", RUN, 4,
        "query q1 of the qrels is evaluated first and has no grade of at least 0, at which "
        "trec_eval stops\n",
    ),
    "a huge grade": (
        QRELS + "q2 0 b 99999999999\n", RUN, 4, "query q2 of the qrels has the grade 99999999999;",
    ),
    "zero bytes before the end": (
        QRELS, RUN.replace("b 1", "b\0 1"), 2,
        "the run cannot be read: it holds zero bytes before its end, where trec_eval takes",
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


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["-D1"], 0),
        (["-D6.q1"], 0),
        (["-D1", "-mmap", "-mgm_bpref"], 0),
        (["-D2", "-mmap", "-mgm_bpref"], 2),
        (["-D1", "-mmap", "-mndcg"], 2),
        (["-D0", "-mndcg"], 0),
        (["-D-1", "-mndcg"], 0),
    ],
)
def test_debugging_where_trec_eval_prints_no_traces(
    options: list[str], status: int, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    names = files()
    assert main([*options, *names]) == status
    if status:
        assert "prints how it is computed, which is not printed here" in capsys.readouterr().err
        return
    found = capsys.readouterr().out
    without = [word for word in options if not word.startswith("-D") or "." in word]
    assert main([*without, *names]) == 0
    assert found == capsys.readouterr().out != ""


def test_standard_input_is_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-", "-"]) == 2
    assert capsys.readouterr().err == (
        "harness trec_eval: both files are '-', and standard input holds one; name the other\n"
    )


def test_the_help_is_true_of_this_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-h", "-m11pt_avg"]) == 0
    assert "levels=" not in capsys.readouterr().out
    assert main(["-h", "--as", "10", "-mrbp"]) == 0
    assert "any measure before it may change" in " ".join(capsys.readouterr().out.split())


GOES_ON = {  # as trec_eval does; all have the average precisions 1/2 and 1 of RUN
    "no grade of at least 0 in a later query": (QRELS + "q3 0 a -1\n", RUN, 0.75),
    "NaN alone in its query": (QRELS, RUN.replace("q2 Q0 a 1 1.0", "q2 Q0 a 1 nan"), 0.75),
    # NaN is neither above nor below 2.0, so that the docno decides, and b precedes a
    "NaN beside one other score": (QRELS, RUN.replace("a 2 1.0", "a 2 nan"), 0.75),
    "NaN beside another NaN": (QRELS, RUN.replace("q1 Q0 b 1 2.0", "q1 Q0 b 1 nan").replace(
        "a 2 1.0", "a 2 -nan"), 0.75),
    "NaN in a query without judgements": (
        QRELS, RUN + "q3 Q0 a 1 nan t\nq3 Q0 b 1 1 t\nq3 Q0 c 1 2 t\n", 0.75,
    ),
    "zero bytes at the end": (QRELS + "\0\0", RUN + "\0\0\0", 0.75),
    "a score in hexadecimal": (QRELS, RUN.replace("2.0", "0x1p4"), 0.75),
    # 1,5 is read as 1, which ties with 1.0, and the higher docno comes first: b
    "a decimal comma": (QRELS, RUN.replace("2.0", "1,5"), 0.75),
    "infinity": (QRELS, RUN.replace("2.0", "inf"), 0.75),
    "a line that begins with #": (QRELS, RUN + "#x Q0 a 1 1 tag\n", 0.75),
    "a byte that is not UTF-8": (QRELS, RUN.encode() + b"q1 Q0 \xff 3 0.5 tag\n", 0.75),
}  # fmt: skip


@pytest.mark.parametrize("name", GOES_ON)
@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_odd_lines_at_which_trec_eval_goes_on(
    name: str, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run, mean = GOES_ON[name]
    assert main(["-mmap", *files(qrels, run)]) == 0
    assert capsys.readouterr().out == f"map                   \tall\t{mean:.4f}\n"


ODD = {  # a line's score and tag, and the rank it gives among 9 to 1 (of which 6 is its own)
    "0x1p4 tag": 1,
    "6,5 tag": 4,
    "1 t\u00e9": 9,  # d8 has 1 too, and precedes d3
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_an_odd_line_among_many_blocks(
    odd: str, files: Files, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunSource.blocks, "__defaults__", (1 << 10,))
    rows = [f"q{query} Q0 d{row} 1 {9 - row} tag\n" for query in range(60) for row in range(9)]
    rows[33 * 9 + 3] = f"q33 Q0 d3 1 {odd}\n"
    qrels = "".join(f"q{query} 0 d3 1\n" for query in range(60))
    assert main(["-q", "-mmap", *files(qrels, "".join(rows).encode("latin-1"))]) == 0
    assert f"map                   \tq33\t{1 / ODD[odd]:.4f}\n" in capsys.readouterr().out


def test_a_malformed_line_is_named_wherever_it_is(
    files: Files, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunSource.blocks, "__defaults__", (1 << 10,))
    rows = [f"q1 Q0 d{row} 1 {row} tag\n" for row in range(500)]
    rows[400] = "q1 Q0 d\n"
    assert main([*files(QRELS, "".join(rows))]) == 2
    assert capsys.readouterr().err.startswith("harness trec_eval: run:401: malformed, 3 fields")


def test_a_docno_twice_in_one_part_of_a_long_run(
    files: Files, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunSource.blocks, "__defaults__", (1 << 10,))
    rows = [f"q{query} Q0 d{row} 1 {9 - row} tag\n" for query in range(60) for row in range(9)]
    rows.insert(300, rows[300])  # of q33
    qrels = "".join(f"q{query} 0 d3 1\n" for query in range(60))
    assert main(["-mmap", "-q", *files(qrels, "".join(rows))]) == 4
    printed = capsys.readouterr()
    # by bytes q0, q1, q10 ... q19, q2, q20 ... q29, q3, q30, q31, q32 precede q33
    assert printed.out.count("\n") == 1 + 1 + 10 + 1 + 10 + 1 + 3
    assert printed.err == "harness trec_eval: query q33 of the run ranks d3 twice\n"


def test_the_run_id_of_a_line_that_is_long(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    names = files(run=RUN + f"q2 Q0 b 2 0.5 last {'more ' * 20000}\n")
    with pytest.warns(HarnessWarning, match="2 tags"):
        assert main(["-mrunid", *names]) == 0
    assert capsys.readouterr().out == "runid                 \tall\tlast\n"


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


@pytest.mark.filterwarnings("ignore:.*queries without a relevant document")
@pytest.mark.parametrize("number", ["99999999999999999999", "1e308", "nan"])
def test_numbers_without_end(number: str, files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """They are cast as C casts them, without numpy's warning (an error in this test)."""
    for measure in ("P", "iprec_at_recall", "11pt_avg", "Rprec_mult", "relstring", "recall"):
        for version in ("9.0.8", "10.0"):
            limits = ["-q", "-M", "9" * 20, "-l", "9" * 20]
            main(["--as", version, *limits, "-m", f"{measure}.{number}", *files()])
            said = capsys.readouterr()
            assert said.out.startswith(measure) or "a cutoff is at least 1" in said.err
