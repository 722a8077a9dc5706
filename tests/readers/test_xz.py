"""xz files of several streams with padding, as ``xz`` itself writes and takes them."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from harness import readers
from harness.errors import InputError
from harness.readers import xz

ONE = b"1 Q0 a 1 2 t\n"
TWO = b"1 Q0 b 2 1 t\n"
A, B = lzma.compress(ONE), lzma.compress(TWO)


@pytest.mark.parametrize("piece", [1, 5, 1 << 16])
@pytest.mark.parametrize(
    ("data", "n"),
    [
        (A, 1),
        (A + bytes(4), 1),
        (A + bytes(512), 1),
        (A + B, 2),
        (A + bytes(8) + B, 2),
        (A + bytes(4) + B + bytes(4), 2),
        (A + lzma.compress(b"") + bytes(4) + lzma.compress(b"") + B, 2),
    ],
)
def test_streams_and_padding(
    tmp_path: Path, data: bytes, n: int, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xz, "_PIECE", piece)
    path = tmp_path / "a.run.xz"
    path.write_bytes(data)
    with xz.opened(str(path)) as stream:
        assert stream.read() == (ONE + TWO if n == 2 else ONE)
    with xz.opened(str(path)) as stream:
        assert stream.read(5) == ONE[:5]
    assert readers.read_run(path, format="trec").n_rows == n


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (A + bytes(3), r"is damaged \(3 zero bytes behind a stream, no multiple of 4\)"),
        (A + bytes(5) + B, r"is damaged \(5 zero bytes behind a stream, no multiple of 4\)"),
        (A + b"1 Q0 c 1 1 t\n", r"is damaged \(Input format not supported by decoder\)"),
        (A[:-6], "is cut short"),
        (A + B[:20], "is cut short"),
        (A + bytes(4) + B[:3], "is cut short"),
    ],
)
def test_what_is_refused(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "a.run.xz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"a\.run\.xz: the xz data {what}\n  fix:   get the"):
        readers.read_run(path, format="trec")
