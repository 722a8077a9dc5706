"""Opening a file: compression by content, missing files, and standard input."""

import bz2
import gzip
import hashlib
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from outcomes import refused
from refusals import refuses

from harness import readers
from harness.readers.source import Source, missing

Write = Callable[..., str]
QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
EXPECTED = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: bytes(pa.Codec("zstd").compress(data)),
}


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        ("", QRELS),
        ("", b"\xef\xbb\xbf" + QRELS),
        (".gz", PACK["gz"](QRELS[:10]) + PACK["gz"](QRELS[10:])),
        (".gz", PACK["gz"](QRELS) + bytes(512)),
        (".txt", PACK["gz"](QRELS)),
        *((f".{kind}", pack(QRELS)) for kind, pack in PACK.items()),
    ],
)
def test_bytes_tell_the_compression(write: Write, suffix: str, data: bytes) -> None:
    assert readers.read_qrels(write(f"q{suffix}", data)).to_dict() == EXPECTED
    source = Source(f"q{suffix}", hashed=True)
    assert b"".join(source.blocks()) == QRELS
    assert source.sha256() == hashlib.sha256(data).hexdigest()


def test_missing_files(write: Write, tmp_path: Path) -> None:
    write("bm25.run", "x")
    Path("to_nothing").symlink_to("gone.run")
    Path("loop").symlink_to("loop")
    Path("runs").mkdir()
    for name, place in [("bm25.rnu", ""), ("to_nothing", ""), ("bm25.run/x", ""), ("runs", "runs"),
                        ("loop", ""), ("x" * 300, "")]:  # fmt: skip
        assert refused(readers.read_run, name) == [(place, "missing-file")]
    fixes = [("bm25.rnu", "use bm25.run"), ("to_nothing", "correct the link"),
             ("no/x.run", "correct the path"), ("other.run", "correct the path")]  # fmt: skip
    for name, fix in fixes:
        assert missing(name).problems[0].fix == fix
    with refuses("", "missing-file"):
        readers.read_run("bm25.rnu")
    assert Path(missing("bm25.rnu").problems[0].fix.removeprefix("use ")).is_file()


def test_standard_input_is_read_as_often_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = SimpleNamespace(buffer=io.BytesIO(gzip.compress(QRELS)))
    monkeypatch.setattr("sys.stdin", stream)
    monkeypatch.setattr("harness.readers.source._SPOOLED", {})
    for _ in range(2):
        qrels = readers.read_qrels("-")
        assert (qrels.to_dict(), qrels.name) == (EXPECTED, "<stdin>")
    monkeypatch.setattr("harness.readers.source._SPOOLED", {})
    stream.buffer = io.BytesIO(b"q1 0 7 x\nq1 0 d2 1\nq1 0 d3 1\n")
    assert refused(readers.read_qrels, "-") == [("<stdin>:1", "")]
