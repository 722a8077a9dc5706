"""Opening: compression by content, pipes, and every way in which a file cannot be read."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from harness import readers
from harness.errors import HarnessWarning, InputError
from harness.readers.hashed import HashedSource
from harness.readers.source import Source, missing

QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
EXPECTED = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}


def zstd(data: bytes) -> bytes:
    buffer = pa.BufferOutputStream()
    with pa.CompressedOutputStream(buffer, "zstd") as stream:
        stream.write(data)
    return bytes(buffer.getvalue())


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        ("", QRELS),
        (".gz", gzip.compress(QRELS, mtime=0)),
        (".gz", gzip.compress(QRELS[:10], mtime=0) + gzip.compress(QRELS[10:], mtime=0)),
        (".bz2", bz2.compress(QRELS)),
        (".xz", lzma.compress(QRELS)),
        (".zst", zstd(QRELS)),
        (".txt", gzip.compress(QRELS, mtime=0)),
        ("", b"\xef\xbb\xbf" + QRELS),
    ],
    ids=["plain", "gz", "gz-members", "bz2", "xz", "zst", "txt-is-gz", "byte-order-mark"],
)  # fmt: skip
def test_bytes_tell_the_compression(write: Callable[..., str], suffix: str, data: bytes) -> None:
    assert readers.read_qrels(write(f"q{suffix}", data)).to_dict() == EXPECTED


@pytest.mark.parametrize(
    ("name", "data", "held"),
    [
        ("q.gz", QRELS, ".gz, but holds plain text"),
        ("q.gz", bz2.compress(QRELS), ".gz, but holds bz2 data"),
        ("q.BZ2", gzip.compress(QRELS, mtime=0), ".bz2, but holds gzip data"),
        ("q.zstd", lzma.compress(QRELS), ".zstd, but holds xz data"),
    ],
)
def test_another_compression_than_named(
    write: Callable[..., str], name: str, data: bytes, held: str
) -> None:
    with pytest.warns(HarnessWarning) as caught:
        assert readers.read_qrels(write(name, data)).to_dict() == EXPECTED
    assert [str(w.message) for w in caught] == [f"{name}: named {held}; read as what it is"]


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("q.gz", flipped(gzip.compress(QRELS, mtime=0), 0)),
        ("q.gz", flipped(gzip.compress(QRELS * 1000, mtime=0), 1)),
        ("q.bz2", flipped(bz2.compress(QRELS), 0)),
        ("q.xz", flipped(lzma.compress(QRELS), 2)),
        ("q.zst", flipped(zstd(QRELS * 1000), 3)),
        ("q.zst", b"\x28\xb5"),
        ("q.gz", bytes(100)),
    ],
)
def test_a_compressed_file_without_its_first_bytes(
    write: Callable[..., str], name: str, data: bytes
) -> None:
    """It is not said to hold text, nor that a text is damaged."""
    with pytest.raises(InputError) as error:
        readers.read_qrels(write(name, data))
    suffix = name[1:]
    assert str(error.value) == (
        f"{name}: named {suffix} and has no {suffix[1:]} header, nor is it text\n"
        "  fix:   get the whole file again"
    )
    assert error.value.problems[0].rule == "damaged"


@pytest.mark.parametrize(
    "data", [QRELS.replace(b"d2", b"d\xe9"), b"\x93NUMPY\x01\0v\0" + bytes(60)]
)
def test_other_data_that_are_not_compressed(write: Callable[..., str], data: bytes) -> None:
    with pytest.warns(HarnessWarning) as caught:
        Source(write("q.gz", data))
    assert [str(w.message) for w in caught] == [
        "q.gz: named .gz, but holds data that are not compressed; read as what it is"
    ]


@pytest.mark.parametrize("n", [1, 4, 5, 512, 100_000])
@pytest.mark.parametrize("rows", [QRELS, QRELS * 50_000])
def test_zero_bytes_behind_gzip_data(tmp_path: Path, n: int, rows: bytes) -> None:
    """As ``gzip`` reads them; the hash is of the file as it is."""
    path = tmp_path / "q.gz"
    path.write_bytes(gzip.compress(rows[:10], mtime=0) + gzip.compress(rows[10:], 1) + bytes(n))
    source = HashedSource(path)
    assert b"".join(source.blocks()) == rows
    assert source.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (flipped(gzip.compress(QRELS * 9, mtime=0), 30) + bytes(9), r"damaged \("),
        (flipped(gzip.compress(QRELS * 9, mtime=0), -6) + bytes(9), r"damaged \(CRC check failed"),
        (gzip.compress(QRELS, mtime=0) + b"more" + bytes(9), r"damaged \(Not a gzipped file"),
        (gzip.compress(QRELS, mtime=0)[:-9] + bytes(9), r"damaged \("),
    ],
)
def test_zero_bytes_behind_damaged_gzip_data(
    write: Callable[..., str], data: bytes, what: str
) -> None:
    with pytest.raises(InputError, match=rf"^q\.gz: the gzip data is {what}"):
        readers.read_qrels(write("q.gz", data))


@pytest.mark.parametrize("size", [1, 5, 11, 30, 1000])
def test_blocks_end_where_lines_end(write: Callable[..., str], size: int) -> None:
    text = b"a\nbb\n\ncccccccccc\nd"
    source = Source(write("x", text))
    blocks = list(source.blocks(size))
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert source.unfinished == b"d"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("q.gz", gzip.compress(QRELS * 99, mtime=0)[:-20], "q.gz: the gzip data is cut short\n"
         "  fix:   get the whole file again"),
        ("q.xz", lzma.compress(QRELS * 99)[:-20], "q.xz: the xz data is cut short\n"
         "  fix:   get the whole file again"),
        ("q.txt", b"", "q.txt: the file is empty\n"
         "  fix:   check how it was written or downloaded"),
        ("q.gz", gzip.compress(b"", mtime=0), "q.gz: the file holds no rows\n"
         "  fix:   check how it was written or downloaded"),
        ("q.txt", b"\n# nothing\n\n", "q.txt: the file holds no rows\n"
         "  fix:   check how it was written or downloaded"),
        ("q.txt", "q1 0 d1 1\n".encode("utf-16"), "q.txt: the text is UTF-16\n"
         "  fix:   save it as UTF-8"),
        ("q.txt", "q1 0 d1 1\n".encode("utf-32"), "q.txt: the text is UTF-32\n"
         "  fix:   save it as UTF-8"),
        ("q.txt", b"\0\0\xfe\xff" + "q1 0 d1 1\n".encode("utf-32-be"), "q.txt: the text is UTF-32\n"
         "  fix:   save it as UTF-8"),
        ("q.txt", b"q1 0 d1 1\rq1 0 d2 0\r", "q.txt: its lines end in a carriage return alone\n"
         "  fix:   end them in a line feed: tr '\\r' '\\n' < FILE > OTHER"),
        ("q.zip", b"PK\x03\x04rest", "q.zip: a zip archive, not text\n"
         "  fix:   unpack it; gz, bz2, xz and zst are read as they are"),
        ("q.bin", b"12 0 d1 1\n12 0\x00\x01\n\0", "q.bin:2: not text: it holds zero bytes\n"
         "  fix:   give a text file; where it was one, copy or download it again"),
    ],
)  # fmt: skip
def test_unreadable_bytes(write: Callable[..., str], name: str, data: bytes, message: str) -> None:
    with pytest.raises(InputError) as error:
        readers.read_qrels(write(name, data), format="trec")
    assert str(error.value) == message
    for kind in ("qrels", "run"):
        with pytest.raises(InputError) as error:
            readers.guess_format(name, kind)  # type: ignore[arg-type]
        assert str(error.value) == message


def test_damaged_data(write: Callable[..., str]) -> None:
    data = bytearray(gzip.compress(QRELS * 99, mtime=0))
    data[-8] ^= 0xFF  # a bit of the checksum
    with pytest.raises(InputError, match=r"^q\.gz: the gzip data is damaged \(CRC check failed"):
        readers.read_qrels(write("q.gz", bytes(data)))


def test_missing_file_names_near_ones(write: Callable[..., str]) -> None:
    write("bm25.run", "x")
    for i in range(9):
        write(f"other{i}.txt", "x")
    with pytest.raises(InputError) as error:
        readers.read_run("bm25.rnu")
    assert str(error.value) == "no file bm25.rnu; the folder holds bm25.run"
    assert missing("zzz") == "no file zzz; the folder holds 10 files, none like it"
    Path("to_nothing").symlink_to("gone.run")
    with pytest.raises(InputError) as error:
        readers.read_run("to_nothing")
    what = "no file to_nothing; it is a link to gone.run, which is not there"
    assert str(error.value) == what
    Path("to_nothing").unlink()
    Path("one").mkdir()
    said = "no file zzz; the folder holds 10 files and 1 folder, none like it"
    assert missing("zzz") == said
    for i in range(7):
        Path(f"one/{i}").mkdir()
    assert (
        missing("one/zzz")
        == "no file one/zzz; the folder holds no files and 7 folders, none like it"
    )
    assert missing("no/x.run") == "no file no/x.run; there is no folder no"
    with pytest.raises(InputError, match=r"^no file bm25\.run/x; there is no folder bm25\.run$"):
        readers.read_run("bm25.run/x")


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    assert missing(tmp_path / "zzzz").endswith("; the folder holds loop")
    for n in range(6):
        (tmp_path / f"{n}").write_text("")
    assert missing(tmp_path / "zzzz").endswith("; the folder holds 7 files, none like it")
    for name, why in ((loop, "Too many levels of symbolic links"), ("x" * 300, "File name too lo")):
        with pytest.raises(
            InputError, match=f"no file can be reached by that name: {why}"
        ) as error:
            readers.read_run(str(name))
        assert error.value.problems[0].rule == "missing-file"


def test_folder(write: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.run").write_text("x")
    (tmp_path / "void").mkdir()
    with pytest.raises(InputError) as error:
        readers.read_run("runs")
    assert str(error.value) == (
        "runs: a folder, not a file; it holds a.run\n"
        "  fix:   name one file; on the command line several runs can be given, as runs/*"
    )
    with pytest.raises(InputError, match=r"^void: a folder, not a file\n"):
        readers.read_run("void")


def test_no_permission(write: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    name = write("q.txt", QRELS)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError) as error:
        Source(name)
    assert str(error.value) == (
        "q.txt: no permission to read it\n  fix:   change its mode or its owner"
    )


def test_standard_input_is_read_as_often_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = SimpleNamespace(buffer=io.BytesIO(gzip.compress(QRELS, mtime=0)))
    monkeypatch.setattr("sys.stdin", stream)
    assert readers.read_qrels("-").to_dict() == EXPECTED
    assert readers.read_qrels("-").to_dict() == EXPECTED
    assert readers.read_qrels("-").name == "<stdin>"


def test_messages_name_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = SimpleNamespace(buffer=io.BytesIO(b"q1 0 d1 x\nq1 0 d2 1\nq1 0 d3 1\n"))
    monkeypatch.setattr("sys.stdin", stream)
    with pytest.raises(InputError, match=r"^<stdin>:1: grade 'x' is not a number"):
        readers.read_qrels("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_as_often_as_needed(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(QRELS,))
    writer.start()
    assert readers.read_qrels(pipe).to_dict() == EXPECTED
    writer.join()
    assert readers.read_qrels(pipe).to_dict() == EXPECTED


@pytest.mark.parametrize("length", [70_000, 300_000])
def test_a_first_line_beyond_the_head_is_told_whole(tmp_path: Path, length: int) -> None:
    """Two names of 70,000 characters each are more than the 64 KiB that a guess looks at."""
    name = "x" * length
    (tmp_path / "q").write_text(f"{name} 0 {name} 1\n")
    (tmp_path / "r").write_text(f"{name} Q0 {name} 1 2.5 t\n{name} Q0 b 2 1.5 t\n")
    (tmp_path / "r.csv").write_text(f"qid,docno,score\n{name},{name},2.5\n{name},b,1.5\n")
    assert readers.read_qrels(tmp_path / "q").to_dict() == {name: {name: 1}}
    for path in (tmp_path / "r", tmp_path / "r.csv")[
        : 2 if length < 100_000 else 1
    ]:  # Arrow's limit
        assert readers.read_run(path).to_dict() == {name: {name: 2.5, "b": 1.5}}


@pytest.mark.parametrize("option", ["--check", "--no-check"])
def test_whether_a_zstd_file_has_a_checksum(tmp_path: Path, option: str) -> None:
    if shutil.which("zstd") is None:
        pytest.skip("no zstd program, whose archives have a checksum")
    text = b"301 Q0 d1 1 0.5 t\n" * 9
    packed = subprocess.run(["zstd", "-qc", option], input=text, capture_output=True, check=True)
    (tmp_path / "a.zst").write_bytes(packed.stdout)
    source = Source(tmp_path / "a.zst")
    assert (source.has_checksum, source.read()) == (option == "--check", text)


def test_a_file_of_zstds_four_first_bytes_promises_no_checksum(tmp_path: Path) -> None:
    (tmp_path / "a.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    assert not Source(tmp_path / "a.zst").has_checksum
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"1\n"))
    assert Source(tmp_path / "a.gz").has_checksum
