"""The commands, as a user types them."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import called, succeeds
from command_line import started as harness

from harness.cli.main import COMMANDS

TREC = ("runs/trec/qrels.txt", "runs/trec/bm25.run")


def test_dry_run_writes_nothing(examples: Path) -> None:
    (examples / "runs/letor/gbrt/fold2-seed1.txt").unlink()
    shown = succeeds("run", "configs/sweep.yaml", "--dry-run", cwd=examples)
    missing = "1 of 20 cells are missing:\n  gbrt on letor-fold2 fold=2 seed=1\n"
    assert missing in shown
    assert "19 cells x" in shown
    assert not (examples / "results").exists()


def test_debug_shows_the_traceback(root: Path) -> None:
    done = harness("--debug", "evaluate", *TREC, "-m", "ndgc", cwd=root)
    assert "Traceback" in done.stderr
    assert done.returncode != 0


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


def test_ctrl_c_is_said_and_leaves_nothing(examples: Path) -> None:
    (examples / "configs/slow.py").write_text(SLOW)
    command = [
        sys.executable, "-m", "harness", "run", "configs/trec.yaml", "--set", "plugins=[slow.py]",
        "--set", "metrics=[map, slow]",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=examples, stderr=subprocess.PIPE, text=True) as process:
        while not (examples / "begun").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130
    assert stderr.rstrip().endswith(
        "stopped; nothing is left half written; the same command continues"
    )
    files = [path for path in (examples / "results/trec").rglob("*") if path.is_file()]
    assert {path.name for path in files} == {".lock"}


STRUCK = """
import os, signal, sys
from pkgutil import resolve_name

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
_, script, module = sys.argv
sys.argv = ["harness", "metrics"]
run = resolve_name(script)
run()
"""


@pytest.mark.parametrize("module", ["harness.cli.main", "click", "harness.errors"])
def test_ctrl_c_while_the_program_is_imported(module: str, root: Path, tmp_path: Path) -> None:
    (script,) = re.findall(r'^harness = "(.+:.+)"$', (root / "pyproject.toml").read_text(), re.M)
    done = subprocess.run(
        [sys.executable, "-c", STRUCK, script, module],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


GONE = "{python} -m harness {command} | true; echo ${{PIPESTATUS[0]}}"


@pytest.mark.parametrize(
    "command",
    ["metrics", "evaluate {} {} -m map -f csv"],
)
@pytest.mark.parametrize("also", ["", " 2>&1"])
def test_a_reader_that_is_gone_is_no_error(command: str, also: str, root: Path) -> None:
    words = GONE.format(python=sys.executable, command=command.format(*TREC) + also)
    done = subprocess.run(["bash", "-c", words], cwd=root, capture_output=True, text=True)
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
@pytest.mark.parametrize("command", ["trec_eval -h", "evaluate {} {} -m map"])
@pytest.mark.parametrize(("where", "message"), [("> /dev/full", FULL), (">&-", CLOSED)])
def test_output_that_cannot_be_written(command: str, where: str, message: str, root: Path) -> None:
    words = f"{sys.executable} -m harness {command.format(*TREC)} {where}"
    done = subprocess.run(["bash", "-c", words], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, message)


FILES = {"q.txt": "1 0 a 1\n1 0 b 0\n", "a.run": "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n"}
PLAIN = ("evaluate", "q.txt", "a.run")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_one_wrong_run_does_not_stop_the_others(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (small / "bad.run").write_text("1 Q0 a 1 nan t\n")
    (small / "b.run").write_text(FILES["a.run"])
    done = called("evaluate", "q.txt", "a.run", "bad.run", "b.run", "-m", "map", cwd=small)
    assert done.code == 2
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "q", "run", "a", "b", "^", "bad"
    ]  # fmt: skip
    assert "bad could not be evaluated; " in done.out
    assert done.err.startswith("error: bad.run:1: ")
    alone = called("evaluate", "q.txt", "bad.run", "-m", "map", cwd=small)
    assert (alone.code, alone.out, alone.err) == (2, "", done.err)


def test_trec_eval_gets_its_words_as_they_are(small: Path) -> None:
    done = called("trec_eval", "-q", "-m", "map", "--", "q.txt", "a.run", cwd=small)
    assert done.out.split() == ["map", "1", "1.0000", "map", "all", "1.0000"]


def test_no_plugins_holds_wherever_it_is_written(small: Path) -> None:
    (small / "p.py").write_text("")
    words = ("-m", "map", "-p", "p.py")
    assert called(*PLAIN, *words, cwd=small).code == 0
    for given in ((*PLAIN, "--no-plugins", *words), ("--no-plugins", *PLAIN, *words)):
        assert called(*given, cwd=small).code == 2


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize(
    "words",
    [["metrics"], ["metrics", "ndcg"], ["compare", "--help"],
     ["evaluate", "runs/trec/qrels.txt", "-m", "map"], ["evaluate", "no↑such±file", "no.run"]],
    ids=lambda words: " ".join(words[:2]),
)  # fmt: skip
def test_no_console_encoding_is_an_error(root: Path, encoding: str, words: list[str]) -> None:
    if words[:2] == ["evaluate", "runs/trec/qrels.txt"]:
        words = [*words, *sorted(map(str, Path("runs/trec").glob("*.run")))]
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words], capture_output=True, cwd=root, check=False,
        env={**os.environ, "PYTHONIOENCODING": f"{encoding}:strict", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert done.returncode == (2 if "no.run" in words else 0), done.stderr
    assert b"Traceback" not in done.stderr


def test_a_file_that_is_read_again_is_warned_of_once(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("1 0 a 1\n10 0 b 1\n2 0 c 1\n")
    rows = "10 Q0 b 1 1.5 x\n10 Q0 a 2 2.5 x\n2 Q0 c 1 3.5 x\n1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n"
    (tmp_path / "r.run").write_text(rows)
    (tmp_path / "c.yaml").write_text(
        "output: out\ndatasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}}\n"
        "metrics: [map]\nreports: [page]\npage: {rankings: 5}\n"
    )
    ran = called("run", "c.yaml", cwd=tmp_path)
    assert (ran.code, ran.err.count("[ranks-against-scores]")) == (0, 1)
    assert ran.err.count("warning: ") == 1
    for command in ("trace out --run r --metric map --query 10", "verify out"):
        again = called(*command.split(), cwd=tmp_path)
        assert (again.code, again.err) == (0, ""), command


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that can go while it is used")
@pytest.mark.parametrize("command", [*COMMANDS, "--help"])
def test_a_deleted_current_folder_is_reported(tmp_path: Path, command: str) -> None:
    (tmp_path / "gone").mkdir()
    code = (
        "import os, shutil; os.chdir('gone'); shutil.rmtree(os.getcwd())\n"
        f"from harness.cli.main import main; main([{command!r}, 'a', 'b'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: the current folder cannot be used: No such file or directory\n"
        "  fix:   cd to a folder that exists, and run the command again\n"
    )
