"""Nothing that only POSIX has is called without an alternative, and text has an encoding."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "harness"
MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline"}
NAMES = {
    "os": {"fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "getpgid", "setsid",
           "killpg", "nice", "mkfifo", "mknod", "uname", "wait", "chown", "lchown", "chroot",
           "getloadavg", "statvfs", "posix_spawn", "posix_fadvise", "sendfile", "openpty",
           "sched_getaffinity", "sched_setaffinity", "sched_yield"},
    "signal": {"SIGHUP", "SIGKILL", "SIGALRM", "SIGPIPE", "SIGUSR1", "SIGUSR2", "SIGCHLD",
               "SIGQUIT", "alarm", "setitimer", "pause", "pthread_sigmask", "sigwait"},
    "time": {"tzset"},
}  # fmt: skip
TEXT = {"read_text", "write_text"}


def found(text: str) -> Iterator[str]:
    """What a file uses that Windows lacks, and text that it reads in the system's encoding."""
    tree = ast.parse(text)
    asked = {
        ast.unparse(node.args[1]).strip("'")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "hasattr"
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            of = {a.name for a in node.names} if isinstance(node, ast.Import) else {node.module}
            yield from (f"{node.lineno}: import {name}" for name in of & MODULES)
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if node.attr in NAMES.get(owner, set()) - asked:
                yield f"{node.lineno}: {owner}.{node.attr}"
        if isinstance(node, ast.Call) and not any(k.arg == "encoding" for k in node.keywords):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            is_open = isinstance(node.func, ast.Name) and node.func.id == "open"
            mode = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant)]
            if (is_open and "b" not in str(mode)) or (
                name in TEXT and len(node.args) == (name == "write_text")
            ):
                yield f"{node.lineno}: text without an encoding"


def test_no_call_of_one_system_alone() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    wrong = [(path, one) for path in files for one in found(path.read_text("utf-8"))]
    assert wrong == []


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize(
    "words",
    [["metrics"], ["metrics", "ndcg"], ["compare", "--help"],
     ["evaluate", "runs/trec/qrels.txt", "-m", "map"], ["evaluate", "no↑such±file", "no.run"]],
    ids=lambda words: " ".join(words[:2]),
)  # fmt: skip
def test_no_console_encoding_is_an_error(encoding: str, words: list[str]) -> None:
    if words[:2] == ["evaluate", "runs/trec/qrels.txt"]:
        words = [*words, *sorted(map(str, Path("runs/trec").glob("*.run")))]
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words], capture_output=True, cwd=ROOT, check=False,
        env={**os.environ, "PYTHONIOENCODING": f"{encoding}:strict", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert done.returncode == (2 if "no.run" in words else 0), done.stderr
    assert b"Traceback" not in done.stderr
