"""Runs whose head says who made them: read as others are, and what they say recorded."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from harness.errors import HarnessWarning
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


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        "# a comment\n" + ROWS,
        HEADER.replace("# ir_metadata.end\n", "") + ROWS,  # which does not end
    ],
)
def test_what_is_no_header(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    assert ir_metadata.header_of(Source(path)) is None
    assert list(read_run(path).to_dict()) == ["q1", "q2"]


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("a: [1", "cannot be read and is ignored: while parsing"),
        ("- a\n- b", "is not a mapping of keys to values"),
        (LAUGHS, "more than 200,000 values, those of aliases"),
        ("a: " + "[" * 30_000, "more than 50 mappings and lists inside each other"),
        ("a: !!python/object/apply:os.system ['true']", "could not determine a constructor"),
    ],
)
def test_a_header_that_cannot_be_read_is_passed_over(tmp_path: Path, yaml: str, said: str) -> None:
    lines = "".join(f"# {line}\n" for line in yaml.splitlines())
    path = written(tmp_path, f"{ir_metadata.START}\n{lines}{ir_metadata.END}\n{ROWS}")
    with pytest.warns(HarnessWarning, match=said):
        assert ir_metadata.header_of(Source(path)) is None
    assert list(read_run(path).to_dict()) == ["q1", "q2"]
