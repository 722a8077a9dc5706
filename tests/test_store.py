"""Files are written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import files as store
from harness.errors import HarnessError, Problem


def test_all_files_are_written_and_nothing_else(tmp_path: Path) -> None:
    store.write_all(tmp_path / "out", {"a.csv": b"1", "tables/b.md": b"2"})
    found = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.*")}
    assert found == {"a.csv", "tables/b.md"}
    assert (tmp_path / "out/a.csv").read_bytes() == b"1"


def test_files_have_the_permissions_of_ordinary_ones(tmp_path: Path) -> None:
    store.write_all(tmp_path, {"a": b""})
    (tmp_path / "b").write_bytes(b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_failure_leaves_the_old_files_and_no_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write_all(tmp_path, {"a": b"old", "b": b"old"})
    calls = 0

    def full(_: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HarnessError, match=r"cannot write the results: No space left on device"):
        store.write_all(tmp_path, {"a": b"new", "b": b"new"})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(HarnessError) as caught:
        store.write_all(tmp_path / "out", {"a": b""})
    assert "cannot write the results" in str(caught.value)
    assert "fix:   move away the file, or the link to nothing, that stands there" in str(
        caught.value
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(HarnessError, match="Permission denied"):
        store.write_all(tmp_path, {"a": b""})


def test_sha256_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc" * 1_000_000)
    assert store.sha256(tmp_path / "x") == hashlib.sha256(b"abc" * 1_000_000).hexdigest()


def test_parquet_reads_back(tmp_path: Path) -> None:
    table = pa.table({"value": [0.1, None]})
    (tmp_path / "t.parquet").write_bytes(store.parquet([table]))
    assert pq.read_table(tmp_path / "t.parquet").equals(table)
    assert store.parquet([table]) == store.parquet([table])


def test_parquet_in_parts_is_a_group_of_rows_each(tmp_path: Path) -> None:
    parts = [
        pa.table({"run": pa.array([name] * 3).dictionary_encode(), "value": [value, None, 0.5]})
        for name, value in (("a", 0.25), ("b", 1.0))
    ]
    (tmp_path / "t.parquet").write_bytes(store.parquet(parts))
    assert pq.ParquetFile(tmp_path / "t.parquet").num_row_groups == 2
    expected = pa.concat_tables(parts).to_pylist()
    assert pq.read_table(tmp_path / "t.parquet").to_pylist() == expected


def test_a_shortage_of_memory_is_known_however_it_is_reported() -> None:
    expected = Problem("", store.NO_MEMORY, fix=store.MORE_MEMORY)
    for error in (
        MemoryError(),
        pa.lib.ArrowMemoryError("malloc of size 9 failed"),
        pa.lib.ArrowException("Unknown error: Wrapping letor-fold2 failed"),
        ImportError("libx.so: failed to map segment from shared object"),
    ):
        assert store.shortage(error) == store.problem(error) == expected
    for error in (
        pa.lib.ArrowException("Unknown error: a wrong byte"),
        pa.lib.ArrowInvalid("Invalid: Wrapping"),
        FileNotFoundError(2, "No such file"),
    ):
        assert store.shortage(error) is None
