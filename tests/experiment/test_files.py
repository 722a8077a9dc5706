"""Files are written whole or not at all, by one process at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.readers import files

HOLD = """
import sys, warnings
from pathlib import Path
from harness.readers import files
warnings.showwarning = lambda message, *_: print("waits", flush=True)
with files.locked(Path(sys.argv[1])):
    print("holds", flush=True)
    sys.stdin.readline()
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    """A process that holds a folder until it reads a line or is killed."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], text=True, bufsize=1,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def line(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline().strip()


@pytest.mark.parametrize("end", ["reads", "is killed"])
def test_a_waiting_process_gets_the_folder_when_the_other_ends(tmp_path: Path, end: str) -> None:
    one = holder(tmp_path / "out")
    assert line(one) == "holds"
    two = holder(tmp_path / "out")
    assert line(two) == "waits"
    if end == "is killed":
        one.kill()
    one.communicate("\n" if end == "reads" else None)
    assert line(two) == "holds"
    two.communicate("\n")
    assert two.returncode == 0


def test_unfinished_files_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".x.run.q1w2e3r4.part").write_text("half")
    (tmp_path / ".mine.part").write_text("of another program")
    files.write_all(tmp_path, {"x.run": b"whole"})
    assert files.remove_unfinished(tmp_path) == 1
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert found == {"x.run": b"whole", ".mine.part": b"of another program"}


def test_a_cache_keeps_what_another_run_may_be_writing(tmp_path: Path) -> None:
    young, old = tmp_path / "0a/.x.q1w2e3r4.part", tmp_path / "0a/.x.q1w2e3r5.part"
    young.parent.mkdir()
    for path in (young, old):
        path.write_text("half")
    os.utime(old, (0, 0))
    files.remove_unfinished(tmp_path, *tmp_path.glob(files.RECORDS), age=files.ABANDONED)
    assert [*young.parent.iterdir()] == [young]


def test_no_process_waits_on_a_system_without_locks(tmp_path: Path) -> None:
    refused = "import errno, fcntl\ndef flock(*_): raise OSError(errno.ENOSYS, 'none')\n"
    command = [sys.executable, "-c", f"{refused}fcntl.flock = flock{HOLD}", str(tmp_path)]
    done = subprocess.run(
        command, input="\n", capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "holds\n", done.stderr


def test_all_files_are_written_with_ordinary_permissions(tmp_path: Path) -> None:
    files.write_all(tmp_path / "out", {"a.csv": b"1", "tables/b.md": b"2"})
    found = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.*")}
    assert found == {"a.csv", "tables/b.md"}
    (tmp_path / "b").write_bytes(b"")
    assert (tmp_path / "out/a.csv").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_failure_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write_all(tmp_path, {"a": b"old", "b": b"old"})
    calls = iter([None, OSError(28, "No space left on device")])

    def full(_: int) -> None:
        if error := next(calls):
            raise error

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HarnessError, match=r"No space left"):
        files.write_all(tmp_path, {"a": b"new", "b": b"new"})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "a").read_bytes() == b"old"
