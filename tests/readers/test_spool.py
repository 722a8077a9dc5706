"""What a pipe gives: where it is kept, how much, and that nothing of it is left."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import InputError
from harness.readers import spool
from harness.readers.source import Source

spooled = spool.spooled.__wrapped__
WAITING = """
import sys
from harness.readers.spool import spooled
kept = spooled(sys.stdin.buffer, "it")
print(open(kept.path).read(), end="", flush=True)
import time
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("open_files", [spool._OPEN_FILES, "/no/such/folder"])
def test_it_is_opened_as_often_as_wanted_and_gone_when_dropped(
    folder: Path, open_files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "_OPEN_FILES", open_files)
    kept = spooled(io.BytesIO(b"a b\n" * 3), "it")
    for _ in range(2):
        assert Path(kept.path).read_bytes() == b"a b\na b\na b\n"
    assert os.path.getsize(kept.path) == 12
    named = not os.path.isdir(open_files)
    assert len(list(folder.iterdir())) == named
    del kept
    assert not list(folder.iterdir())


@pytest.mark.skipif(not os.path.isdir(spool._OPEN_FILES), reason="the system has no such folder")
def test_nothing_is_left_of_it_by_a_process_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"what it gave\n")
        process.stdin.close()
        assert process.stdout.readline() == b"what it gave\n"
        process.send_signal(signal.SIGKILL)
    assert not list(tmp_path.iterdir())


def test_half_of_the_free_space_is_left_to_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=20))
    assert Path(spooled(io.BytesIO(b"0123456789"), "it").path).read_bytes() == b"0123456789"
    with pytest.raises(InputError) as told:
        spooled(io.BytesIO(b"0123456789a"), "it")
    assert str(told.value) == (
        f"it: cannot be kept in a temporary file in {folder}: it takes more than half of the free "
        "space\n  fix:   free space there, or name another folder for temporary files in TMPDIR"
    )
    assert not list(folder.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="the system has no such device")
def test_a_device_without_an_end_is_refused_and_one_with_nothing_is_empty() -> None:
    for device, what in [
        ("/dev/zero", "a device that gives data without end\n  fix:   name a file, or - for "),
        (os.devnull, "the file is empty"),
    ]:
        with pytest.raises(InputError) as told:
            Source(device)
        assert str(told.value).startswith(f"{device}: {what}")
