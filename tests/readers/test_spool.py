"""What a pipe gives: where it is kept, how much, and that nothing of it is left."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import InputError
from harness.readers import source as spool
from harness.readers.source import Source, spooled


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    spool.forget()


def test_it_is_opened_as_often_as_wanted_and_gone_when_forgotten(folder: Path) -> None:
    stream = io.BytesIO(b"a b\n" * 3)
    for _ in range(2):
        assert Path(spooled(stream, "it")).read_bytes() == b"a b\na b\na b\n"
    assert len(list(folder.iterdir())) == 1
    spool.forget()
    assert not list(folder.iterdir())


def test_half_of_the_free_space_is_left_to_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=20))
    assert Path(spooled(io.BytesIO(b"0123456789"), "it")).read_bytes() == b"0123456789"
    with pytest.raises(InputError) as told:
        spooled(io.BytesIO(b"0123456789a"), "it")
    assert str(told.value) == (
        "it: cannot be kept in a temporary file: it takes more than half of the free "
        "space\n  fix:   free space there, or name another folder for temporary files in TMPDIR"
    )


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="the system has no such device")
def test_a_device_without_an_end_is_refused_and_one_with_nothing_is_empty() -> None:
    for device, what in [
        ("/dev/zero", "a device that gives data without end\n  fix:   name a file, or - for "),
        (os.devnull, "the file is empty"),
    ]:
        with pytest.raises(InputError) as told:
            Source(device)
        assert str(told.value).startswith(f"{device}: {what}")
