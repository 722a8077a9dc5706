"""The commands, as a user types them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import finished
from command_line import started as harness


@pytest.fixture
def here(tmp_path: Path, root: Path) -> Path:
    for name in ("configs", "runs"):
        shutil.copytree(root / name, tmp_path / name)
    return tmp_path


TREC = ("runs/trec/qrels.txt", "runs/trec/bm25.run")


def test_the_first_command(here: Path) -> None:
    done = harness("run", "configs/quickstart.yaml", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "lambdamart" in done.stdout
    assert "queries not answered (zero): lsi 1" in done.stdout
    assert done.stdout.rstrip().endswith(
        "written to results/quickstart: leaderboard.csv, per_query.parquet, manifest.json"
    )
    assert {p.name for p in (here / "results/quickstart").iterdir()} == {
        "leaderboard.csv", "per_query.parquet", "manifest.json", "timing.json", "cells", ".lock",
    }  # fmt: skip


def test_output_can_be_piped(here: Path) -> None:
    done = harness("run", "configs/quickstart.yaml", "--format", "csv", cwd=here)
    assert done.stdout == (here / "results/quickstart/leaderboard.csv").read_text()
    assert "written to" in done.stderr
    assert "%|" not in done.stderr  # no progress bar in a pipe


def test_dry_run_writes_nothing(here: Path) -> None:
    (here / "runs/letor/gbrt/fold2-seed1.txt").unlink()
    done = finished("run", "configs/sweep.yaml", "--dry-run", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "1 of 20 cells are missing" in done.stdout
    assert "\nseed  1  2  1  2\ngbrt  x  x  -  x\n" in done.stdout
    assert "19 cells x" in done.stdout
    assert not (here / "results").exists()


def test_set_overrides_a_value(here: Path) -> None:
    done = finished("run", "configs/trec.yaml", "--set", "metrics=[P@5]", cwd=here)
    assert "P(rel=2)@5" in done.stdout
    wrong = finished("run", "configs/trec.yaml", "--set", "policy.tie=stable", cwd=here)
    assert wrong.returncode == 2
    assert "did you mean" in wrong.stderr


def test_unanswered_queries_are_said_where_values_stand_alone(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 d 1\n2 0 d 1\n")
    for name, queries in (("a", "12"), ("b", "1")):
        rows = [f"{query} Q0 d 1 1 t\n" for query in queries]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    files = ("evaluate", "q", "a.run", "b.run", "-m", "P@1")
    for format in ("csv", "jsonl", "trec"):
        for how, value in (("zero", "0.5"), ("skip", "1.0")):
            done = finished(*files, "-f", format, "--missing", how, cwd=tmp_path)
            assert done.stderr == f"warning: queries not answered ({how}): b 1\n"
            assert value in done.stdout.splitlines()[-1]
    done = finished(*files, "--missing", "skip", cwd=tmp_path)
    assert "b        1/2 " in done.stdout
    assert "  queries not answered (skip): b 1\n" in done.stdout
    assert done.stderr == ""
    done = finished(*files, "--missing", "error", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: b.run: the run does not answer 1 of the 2 judged queries: '2'\n"
        "  fix:   complete the run, or give --missing zero (as trec_eval -c) or skip\n"
    )
    done = finished("evaluate", "q", "a.run", "-m", "runid", cwd=tmp_path)
    assert done.stderr == (
        "error: runid is the run's tag, and no number; name another metric too\n"
    )


@pytest.mark.parametrize("format", ["table", "csv", "markdown", "jsonl", "trec"])
@pytest.mark.parametrize("per_query", [(), ("-q",)])
def test_evaluate_in_every_format(here: Path, format: str, per_query: tuple[str, ...]) -> None:
    done = finished(
        "evaluate", *TREC, "runs/trec/query-likelihood.run.gz", "-m", "map", "-m", "ndcg_cut_10",
        "-m", "rbo(p=0.9)", "--format", format, *per_query, cwd=here,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "query-likelihood" in done.stdout
    assert (re.search(r"\b17\b", done.stdout) is not None) == bool(per_query)
    if format == "jsonl":
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert list(rows[0]) == ["dataset", "run", "metric", "qid", "value"]
        assert rows[-1]["qid"] == "all"


def test_evaluate_learning_to_rank_files(here: Path) -> None:
    done = finished(
        "evaluate", "runs/letor/fold1/test.txt", "runs/letor/gbrt/fold1-seed1.txt",
        "-m", "ndcg@5", "-f", "jsonl", cwd=here,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metric"] == "ndcg@5"


def test_a_run_from_standard_input(here: Path) -> None:
    text = (here / TREC[1]).read_text()
    piped = harness("evaluate", TREC[0], "-", "-m", "map", "-f", "csv", cwd=here, stdin=text)
    named = harness("evaluate", *TREC, "-m", "map", "-f", "csv", cwd=here)
    assert (
        piped.stdout.splitlines()[1].split(",")[2:] == named.stdout.splitlines()[1].split(",")[2:]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", *TREC, "-m", "ndgc@10"), "unknown metric 'ndgc@10'; did you mean 'ndcg@10'?"),
        (("evaluate", TREC[0], "runs/trec/bm52.run", "-m", "map"), "no file runs/trec/bm52.run"),
        (("evaluate", *TREC, "-m", "rbo(reference=x)"), "reference=x: no such run"),
        (("evaluate", *TREC, "-m", "map", "--ties", "x"), "unknown ties policy 'x'"),
        (("run", "configs/quickstrat.yaml"), "quickstart.yaml"),
        (("metrics", "ndgc"), "did you mean 'ndcg'"),
    ],
)  # fmt: skip
def test_wrong_usage_is_said_and_exits_2(
    here: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = finished(*arguments, cwd=here)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_debug_shows_the_traceback(here: Path) -> None:
    done = harness("--debug", "evaluate", *TREC, "-m", "ndgc", cwd=here)
    assert "Traceback" in done.stderr
    assert done.returncode != 0


def test_warnings_go_to_standard_error_without_python_s_trappings(here: Path) -> None:
    rows = [f"{q} Q0 DOC-{i:05d} {i} 1.0 flat\n" for q in range(1, 31) for i in range(5)]
    (here / "flat.run").write_text("".join(rows))
    done = finished("evaluate", TREC[0], "flat.run", "-m", "map", cwd=here)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: flat.run: ")
    assert "HarnessWarning" not in done.stderr


def test_metrics_are_listed_and_defined(here: Path) -> None:
    listing = finished("metrics", cwd=here).stdout
    assert "ndcg(" in listing
    assert "all_trec:" in listing
    definition = finished("metrics", "ndcg", cwd=here).stdout
    assert "direction    higher is better" in definition
    assert "source" in definition


def test_a_convention_in_capitals_is_printed_as_it_is_known(here: Path) -> None:
    lines = [
        finished("evaluate", *TREC, "-m", "ndcg@5", "--convention", name, "-f", "csv", cwd=here)
        for name in ("lightgbm", "LightGBM")
    ]
    assert lines[0].stdout == lines[1].stdout
    assert "ndcg(convention=lightgbm)@5" in lines[0].stdout


SLOW = """
import time
from pathlib import Path

import numpy as np

from harness.core.metric import metric


@metric("slow", direction="higher", bounds=(0, 1), source="a test")
def slow(aligned):
    \"\"\"Say that it has begun, and take its time.\"\"\"
    Path("begun").touch()
    time.sleep(60)
    return np.zeros(aligned.n_queries)
"""


def test_ctrl_c_is_said_and_leaves_nothing(here: Path) -> None:
    (here / "configs/slow.py").write_text(SLOW)
    command = [
        sys.executable, "-m", "harness", "run", "configs/trec.yaml", "--set", "plugins=[slow.py]",
        "--set", "metrics=[map, slow]",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, text=True) as process:
        while not (here / "begun").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130
    assert stderr.rstrip().endswith(
        "stopped; nothing is left half written; the same command goes on where it was"
    )
    files = [path for path in (here / "results/trec").rglob("*") if path.is_file()]
    assert {path.name for path in files} == {".lock"}


def test_group_sizes_and_plugins(here: Path) -> None:
    (here / "d.txt").write_text("1 1:2\n0 1:3\n2 1:1\n")
    (here / "sizes").write_text("2\n1\n")
    (here / "p.txt").write_text("0.1\n0.2\n0.3\n")
    done = finished(
        "evaluate", "d.txt", "p.txt", "-m", "best_grade@1", "--group", "sizes",
        "--plugin", "configs/my_metrics.py", "-f", "jsonl", cwd=here,
    )  # fmt: skip
    # the first document has grade 0 in the first query, 2 in the second
    assert json.loads(done.stdout)["value"] == 1.0, done.stderr


def test_a_run_named_twice_is_refused(here: Path) -> None:
    done = finished("evaluate", *TREC, TREC[1], "-m", "map", cwd=here)
    assert done.returncode == 2
    assert "runs/trec/bm25.run: the run is named twice" in done.stderr


def test_a_closed_pipe_is_no_error(here: Path) -> None:
    command = f"{sys.executable} -m harness metrics | head -n 1"
    done = subprocess.run(["bash", "-c", command], cwd=here, capture_output=True, text=True)
    assert done.stderr == ""


GONE = "{python} -m harness {command} | true; echo ${{PIPESTATUS[0]}}"


@pytest.mark.parametrize(
    "command",
    [
        "metrics",
        "table --help",
        "--version",
        "evaluate {} {} -m map",
        "evaluate {} {} -m map -f csv",
    ],
)
@pytest.mark.parametrize("also", ["", " 2>&1"])
def test_a_reader_that_is_gone_is_no_error(command: str, also: str, here: Path) -> None:
    words = GONE.format(python=sys.executable, command=command.format(*TREC) + also)
    done = subprocess.run(["bash", "-c", words], cwd=here, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


UPSIDE_DOWN = "1 Q0 a 1 1.0 x\n1 Q0 b 2 2.0 x\n"


def test_warnings_that_nobody_reads_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "r.run").write_text(UPSIDE_DOWN)
    (tmp_path / "c.yaml").write_text(
        "datasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}}\nmetrics: [map]\n"
    )
    for command, expected in (("run c.yaml", "written to results/c"), ("table results/c", "Means")):
        words = f"({sys.executable} -m harness {command}; echo $? >&3) 2>&1 >out | true"
        done = subprocess.run(
            ["bash", "-c", f"({words}) 3>status"], cwd=tmp_path, capture_output=True, text=True
        )
        assert (tmp_path / "status").read_text() == "0\n", done.stderr
        assert expected in (tmp_path / "out").read_text()
        words = GONE.format(python=sys.executable, command=f"{command} 2>&1")
        done = subprocess.run(["bash", "-c", words], cwd=tmp_path, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("0\n", "")


FULL = (
    "error: the output cannot be written (No space left on device)\n"
    "  fix:   free space, or send it elsewhere\n"
)
CLOSED = (
    "error: the output cannot be written (standard output is closed)\n"
    "  fix:   send it to a file, or to /dev/null\n"
)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
@pytest.mark.parametrize(
    "command", ["metrics", "trec_eval -h", "evaluate {} {} -m map", "--version", "run --help"]
)
@pytest.mark.parametrize(("where", "message"), [("> /dev/full", FULL), (">&-", CLOSED)])
def test_output_that_cannot_be_written(command: str, where: str, message: str, here: Path) -> None:
    words = f"{sys.executable} -m harness {command.format(*TREC)} {where}"
    done = subprocess.run(["bash", "-c", words], cwd=here, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, message)


def test_a_current_folder_that_is_gone_is_no_fault_of_the_output(here: Path) -> None:
    command = f"{sys.executable} -m harness run configs/quickstart.yaml"
    words = f'd=$(mktemp -d); cd "$d"; rmdir "$d"; PYTHONPATH={here} {command}'
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert done.stderr == (
        "error: the current folder was deleted\n  fix:   change to another one\n"
    )
    assert done.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="as only Linux counts so")
@pytest.mark.parametrize("given", ["-", "<(cat {})"])
@pytest.mark.parametrize("command", ["evaluate {} GIVEN -m map", "trec_eval -m map {} GIVEN"])
def test_no_room_for_what_a_pipe_gives_is_no_fault_of_the_output(
    command: str, given: str, here: Path, tmp_path: Path
) -> None:
    """As with a full disk, where a limit on the size of files is easier to have."""
    spool = tmp_path / "spool"
    spool.mkdir()
    words = command.format(TREC[0]).replace("GIVEN", given.format(TREC[1]))
    words = f"ulimit -f 8; cat {TREC[1]} | {sys.executable} -m harness {words}"
    done = subprocess.run(
        ["bash", "-c", words], cwd=here, capture_output=True, text=True,
        env={**os.environ, "TMPDIR": str(spool)},
    )  # fmt: skip
    name = "<stdin>" if given == "-" else "/dev/fd/[0-9]+"
    begin = (
        "error" if command.startswith("evaluate") else "harness trec_eval: the run cannot be read"
    )
    assert re.fullmatch(
        f"{begin}: {name}: cannot be kept in a temporary file: File too large\n"
        "  fix:   free space there, or name another folder for temporary files in TMPDIR\n",
        done.stderr,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert not list(spool.iterdir())


def test_trec_eval_ends_by_the_signal_of_a_closed_pipe(here: Path, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    # the reader ends at once, and nothing is printed before all is read
    command = f"{sys.executable} -m harness trec_eval -q -m all_trec {TREC[0]} - | true"
    words = f"cat {TREC[1]} | {command}; echo ${{PIPESTATUS[1]}}"
    done = subprocess.run(
        ["bash", "-c", words], cwd=here, capture_output=True, text=True,
        env={**os.environ, "TMPDIR": str(spool)},
    )  # fmt: skip
    assert done.stdout == "141\n"  # 128 + SIGPIPE, as trec_eval's own
    assert not list(spool.iterdir())  # what standard input gave was kept here


def test_the_version_is_printed(here: Path) -> None:
    assert harness("--version", cwd=here).stdout.startswith("harness 0.")
