"""Who holds a folder or a file that is written, and what becomes of what nobody holds."""

from __future__ import annotations

import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import locks, store

HOLD = """
import sys, warnings
from pathlib import Path
from harness import store
warnings.showwarning = lambda message, *_: print("waits", flush=True)
with store.locked(Path(sys.argv[1])) as hold:
    print("holds", flush=True)
    sys.stdin.readline()
    hold()
    print("holds again", flush=True)
    sys.stdin.readline()
"""


class Holder:
    """A process that holds a folder, and says so."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(folder)], text=True, bufsize=1,
            cwd=Path(__file__).resolve().parents[1],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def is_quiet(self, seconds: float = 0.5) -> bool:
        return not select.select([self.process.stdout], [], [], seconds)[0]

    def goes_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")

    def ends(self) -> None:
        self.process.communicate("\n\n", timeout=30)
        assert self.process.returncode == 0


def test_who_waited_for_a_folder_that_was_deleted_holds_the_new_one(tmp_path: Path) -> None:
    """One holds it, two waits, it is deleted, three comes: two goes on when three has ended."""
    folder = tmp_path / "out"
    one = Holder(folder)
    assert one.says() == "holds"
    two = Holder(folder)
    assert two.says() == "waits"
    shutil.rmtree(folder)
    three = Holder(folder)
    assert three.says() == "holds"
    one.goes_on()
    assert one.says() == "waits", "before it writes, as three holds the folder now"
    one.process.kill()
    one.process.communicate()
    assert two.is_quiet()
    three.ends()
    assert two.says() == "holds"
    two.ends()


def test_a_folder_is_held_again_where_it_was_deleted(tmp_path: Path) -> None:
    with store.locked(tmp_path / "out") as hold:
        shutil.rmtree(tmp_path / "out")
        hold()
        with locks.lock_file(tmp_path / "out") as file:
            assert locks.lock(file, wait=False) is False
        hold()  # nothing, as it is there
    with locks.lock_file(tmp_path / "out") as file:
        assert locks.lock(file, wait=False) is True


def test_a_file_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    dead = tmp_path / ".x.run.q1w2e3r4.part"
    other = tmp_path / ".y.run.q1w2e3r4.part"
    for path in (dead, other):
        path.write_text("half")
    with store.writing(tmp_path / "x.run") as file:
        file.write(b"whole")
        assert not dead.exists()
        assert other.exists(), "of another name"
        assert locks.remove_unfinished(tmp_path) == 1
        with store.writing(tmp_path / "x.run") as second:
            second.write(b"first")
        assert (tmp_path / "x.run").read_bytes() == b"first"
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x.run", b"whole")]


def test_a_file_that_was_taken_before_it_was_held_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Path] = []
    held = locks.lock

    def late(file: object, **given: bool) -> bool | None:
        if not taken:
            taken.extend(tmp_path.iterdir())
            taken[0].unlink()
        return held(file, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(locks, "lock", late)
    store.write_all(tmp_path, {"a": b"1"})
    assert taken
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_folders_that_were_made_go_where_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(KeyError), store.made(tmp_path / "there/new/deep"):
        raise KeyError
    assert [*tmp_path.rglob("*")] == [tmp_path / "there"]
    with store.made(tmp_path / "new/deep"):
        pass
    assert (tmp_path / "new/deep").is_dir()
    mine = tmp_path / "there/new/mine"
    with pytest.raises(FileExistsError), store.made(mine.parent), mine.open("x"):
        mine.touch(exist_ok=False)
    assert mine.exists()
