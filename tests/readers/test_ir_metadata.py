"""Runs whose head says who made them: read as others are, and what they say recorded."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from harness.readers import ir_metadata, read_run
from harness.readers.source import Source

HEADER = """\
# ir_metadata.start
# tag: mine
# actor:
#   name: A. Author
#   team: Ünïcode
# platform:
#   hardware:
#     cpu:
#       number of cores: 8
# research goal:
#   venue:
#     year: 2024
#   date: 2024-05-01
# ir_metadata.end
"""
ROWS = "q1 Q0 a 1 3.5 mine\nq1 Q0 b 2 2.5 mine\nq2 Q0 a 1 1.5 mine\n"
CONTENT = {
    "tag": "mine",
    "actor": {"name": "A. Author", "team": "Ünïcode"},
    "platform": {"hardware": {"cpu": {"number of cores": 8}}},
    "research goal": {"venue": {"year": 2024}, "date": "2024-05-01"},
}


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd,
}  # fmt: skip


def written(folder: Path, text: str, ending: str = "", name: str = "x.run") -> Path:
    path = folder / f"{name}{ending}"
    path.write_bytes(PACKED[ending](text.encode()))
    return path


@pytest.mark.parametrize("ending", PACKED)
def test_the_rows_are_those_without_the_header(tmp_path: Path, ending: str) -> None:
    plain = read_run(written(tmp_path, ROWS, name="plain.run"))
    for before in ("", "\ufeff", "# something else\n"):
        path = written(tmp_path, before + HEADER + ROWS, ending)
        assert read_run(path).to_dict() == plain.to_dict()
        assert ir_metadata.header_of(Source(path)) == CONTENT
