"""Files in a folder of results that no run wrote so: an error with a fix, or as if absent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.experiment.cache import INDEX, Cache
from harness.experiment.origin import MANIFEST, TIMING, Written, read_manifest, written
from harness.readers.source import Source

DEEP = b"[" * 100_000
FIX = "\n  fix:   put the file back, or run the config again and use those results"


def test_a_manifest_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / MANIFEST
    for content, what in (
        (DEEP, "too many objects or lists inside each other"),
        (
            b'{"a": "\xff"}',
            "'utf-8' codec can't decode byte 0xff in position 7: invalid start byte",
        ),
        (b'"\\ud800"', "\\ud800 is half of a surrogate pair, which is no character"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError) as error:
            read_manifest(tmp_path)
        assert str(error.value) == f"{path}: cannot be read: {what}{FIX}"
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError) as error:
        read_manifest(tmp_path)
    assert str(error.value) == f"{path}: expected a regular file, got a folder{FIX}"


def test_what_earlier_runs_wrote_is_then_not_known(tmp_path: Path) -> None:
    for name in (MANIFEST, TIMING):
        (tmp_path / name).write_bytes(DEEP)
    assert written(tmp_path) == Written({}, (), {})


@pytest.mark.parametrize(
    "content",
    [
        DEEP,
        b'{"files": {}, "sizes": [1e400], "records": []}',
        b'{"files": {"a": [1e400, 1, 1, 1, "x"]}, "sizes": [], "records": []}',
        b'{"files": [], "sizes": [], "records": []}',
        b"\xff",
        b"null",
    ],
)
def test_an_index_of_the_cache_that_means_nothing(tmp_path: Path, content: bytes) -> None:
    """It is as if there were none: the hash is taken while a file is read."""
    (tmp_path / INDEX).write_bytes(content)
    (tmp_path / "a").write_text("x")
    assert Cache(tmp_path).known(str(tmp_path / "a")) is None


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", None)  # as Python has it then
    with pytest.raises(InputError) as error:
        Source("-")
    assert str(error.value) == (
        "<stdin>: standard input is closed\n"
        "  fix:   give the name of a file, or send one to the command: < a.run"
    )
    (tmp_path / "q").write_text("1 0 a 1\n")
    command = f"{sys.executable} -m harness evaluate q - -m map <&-"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input is closed" in done.stderr
