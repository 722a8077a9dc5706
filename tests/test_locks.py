"""Who holds a folder or a file that is written, and what becomes of what nobody holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness import files

HOLD = """
import sys, warnings
from pathlib import Path
from harness import files
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
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("end", ["reads", "is killed"])
def test_who_waits_for_a_folder_gets_it_when_the_other_ends(tmp_path: Path, end: str) -> None:
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


def test_a_file_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    dead = tmp_path / ".x.run.q1w2e3r4.part"
    other = tmp_path / ".y.run.q1w2e3r4.part"
    for path in (dead, other):
        path.write_text("half")
    with files.writing(tmp_path / "x.run") as file:
        file.write(b"whole")
        assert not dead.exists()
        assert other.exists(), "of another name"
        assert files.remove_unfinished(tmp_path) == 1
        with files.writing(tmp_path / "x.run") as second:
            second.write(b"first")
        assert (tmp_path / "x.run").read_bytes() == b"first"
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x.run", b"whole")]


def test_folders_that_were_made_go_where_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(KeyError), files.made(tmp_path / "there/new/deep"):
        raise KeyError
    assert [*tmp_path.rglob("*")] == [tmp_path / "there"]
    with files.made(tmp_path / "new/deep"):
        pass
    assert (tmp_path / "new/deep").is_dir()
    mine = tmp_path / "there/new/mine"
    with pytest.raises(FileExistsError), files.made(mine.parent), mine.open("x"):
        mine.touch(exist_ok=False)
    assert mine.exists()
