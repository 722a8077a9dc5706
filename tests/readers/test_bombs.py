"""Small files that would become large ones: they stop at a stated ratio, however they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from harness.core.tables import Qrels
from harness.errors import InputError
from harness.readers import Source, read_run, stream_run, unpacking
from harness.readers.hashed import HashedSource

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: bytes(pa.Codec("zstd").compress(data)),
}
LINE = b"q1\tQ0\td1\t1\t1\tt\n"
QUOTE = '\\"'
DATASET = Qrels.from_dict({"1": {"A": 2}})


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files may unpack to a megabyte in place of 64, so that the tests are quick."""
    monkeypatch.setattr(unpacking, "FREE", 1 << 20)


@pytest.mark.parametrize("kind", PACK)
def test_compressed_text(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.run.{kind}"
    path.write_bytes(PACK[kind](LINE * 800_000))  # 12 MB
    packed = path.stat().st_size
    for read in (
        lambda: read_run(path, format="trec"),
        lambda: list(stream_run(path, format="trec")),
        lambda: read_run(HashedSource(path), format="trec"),
        lambda: read_run(path, format="table", columns={"qid": 1, "docno": 3, "score": 5}),
        lambda: read_run(path, format="npy", dataset=DATASET),
        lambda: Source(path).read(),
    ):
        with pytest.raises(InputError) as error:
            read()
        assert str(error.value).startswith(f"{path}: {packed:,} bytes that unpack to more than ")
        assert str(error.value).endswith(
            ": over 200 times as many\n"
            "  fix:   if it is what it should be, unpack it yourself and name the unpacked file"
        )


@pytest.mark.parametrize("kind", PACK)
def test_compressed_json(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.json.{kind}"
    keys = b",".join(b'"%05d%s":1' % (at, b"x" * 20_000) for at in range(600))
    path.write_bytes(PACK[kind](b'{"q1":{' + keys + b"}}"))
    with pytest.raises(InputError, match="over 200 times as many"):
        read_run(path, format="json")


@pytest.mark.filterwarnings("ignore:.*all scores are equal")
def test_what_may_unpack(tmp_path: Path) -> None:
    """Both a small file of any ratio, and a large one below 200, are read."""
    path = tmp_path / "a.run.gz"
    rows = b"".join(b"q1 Q0 d%d 1 1 t\n" % n for n in range(100_000))
    path.write_bytes(gzip.compress(rows))
    assert len(rows) > unpacking.FREE
    assert read_run(path, format="trec").n_rows == 100_000
    path.write_bytes(gzip.compress(b"\n" * 1_000_000 + LINE, mtime=0))
    assert 1_000_000 / path.stat().st_size > 500
    assert read_run(path, format="trec").n_rows == 1


@pytest.mark.parametrize("inner", PACK)
@pytest.mark.parametrize("outer", PACK)
def test_compressed_twice_is_refused_without_unpacking(
    tmp_path: Path, inner: str, outer: str
) -> None:
    path = tmp_path / f"a.run.{inner}.{outer}"
    path.write_bytes(PACK[outer](PACK[inner](LINE)))
    with pytest.raises(InputError, match=r"data inside \w+ data\n  fix:   unpack it once"):
        read_run(path, format="trec")


def test_npz_of_many_members(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for at in range(1001):
            archive.writestr(f"{at}.npy", b"")
    with pytest.raises(InputError, match="1,001 arrays, where 1,000 are the most"):
        read_run(path, format="batch")


def test_npz_of_a_long_directory(tmp_path: Path) -> None:
    """A hundred thousand names, of which zipfile would make as many objects, are not looked at."""
    path, name = tmp_path / "a.npz", b"scores.npy"
    entry = b"PK\x01\x02" + bytes(24) + len(name).to_bytes(2, "little") + bytes(16) + name
    n = 100_000
    end = b"PK\x05\x06" + bytes(4) + (1).to_bytes(2, "little") * 2  # it says that there is one
    end += (n * len(entry)).to_bytes(4, "little") + (4).to_bytes(4, "little") + bytes(2)
    path.write_bytes(b"PK\x03\x04" + entry * n + end)
    with pytest.raises(InputError, match="a directory of 5,600,000 bytes, where 1,048,576 are"):
        read_run(path, format="batch")


def test_npz_of_a_large_array_is_read(tmp_path: Path) -> None:
    """The limit of the directory is none of its members."""
    path, n = tmp_path / "a.npz", 300_000
    scores = np.random.default_rng(0).random(n)
    np.savez(path, qids=["1"], n=[n], scores=scores)
    assert path.stat().st_size > 2 << 20
    assert read_run(path, format="batch").n_rows == n


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, qids=["1"], n=[2_000_000], scores=np.zeros(2_000_000))
    with pytest.raises(InputError, match="over 200 times as many"):
        read_run(path, format="batch")


LIES = """
import re, sys
from harness.errors import HarnessError
from harness.readers import read_run
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) * 1024
try:
    read_run(sys.argv[1], format="batch")
except HarnessError as error:
    print(error)
before = peak()
try:
    read_run(sys.argv[2], format="batch")
except HarnessError as error:
    print(error)
print(peak() - before)
"""


def _lying(path: Path, method: int, size: int) -> None:
    """Write an archive of `size` zeros that says, of size and CRC, that it has 1,000 of them."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("scores.npy", bytes(size))
    with zipfile.ZipFile(file) as archive:
        crc = archive.getinfo("scores.npy").CRC
    data = file.getvalue()
    for old, new in ((size, 1000), (crc, zlib.crc32(bytes(1000)))):
        assert data.count(old.to_bytes(4, "little")) == 2
        data = data.replace(old.to_bytes(4, "little"), new.to_bytes(4, "little"))
    path.write_bytes(data)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize(
    ("method", "why"),
    [
        (zipfile.ZIP_DEFLATED, "no file of numpy's"),
        (zipfile.ZIP_BZIP2, "'scores.npy' is neither stored nor deflated"),
        (zipfile.ZIP_LZMA, "'scores.npy' is neither stored nor deflated"),
    ],
)
def test_npz_whose_directory_lies_about_sizes(tmp_path: Path, method: int, why: str) -> None:
    """The size that the archive says is the most that is unpacked; of 60 MB, not one."""
    _lying(tmp_path / "small.npz", method, 2_000)
    _lying(tmp_path / "large.npz", method, 60_000_000)
    command = [sys.executable, "-c", LIES, str(tmp_path / "small.npz"), str(tmp_path / "large.npz")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[:2] == [
        f"{tmp_path}/{name}.npz: not an .npz archive of arrays ({why})"
        for name in ("small", "large")
    ]
    assert int(said[2]) < (1 << 20)


@pytest.mark.parametrize(
    "shape", ["(99999999999999,)", "(-1,)", "(2, 0, 1)", "(4,)", "(1,)", "(3, True)"]
)
def test_npy_whose_header_lies(tmp_path: Path, shape: str) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + bytes([118, 0]) + header.encode() + b"\0" * 24)
    with pytest.raises(InputError, match=r"a.npy: not an array of numbers \(its header says shape"):
        read_run(path, format="npy", dataset=DATASET)


def test_parquet_of_one_value_a_thousand_times_over(tmp_path: Path) -> None:
    """Five million rows of a kilobyte each in a few kilobytes: 5 GB as strings."""
    path = tmp_path / "a.parquet"
    n = 5_000_000
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array(["x" * 1000]))
    table = pa.table({"qid": texts, "docno": texts, "score": pa.array(np.zeros(n))})
    parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 2_000_000
    with pytest.raises(InputError, match="over 200 times as many"):
        read_run(path)


def test_parquet_of_a_column_that_is_not_used(tmp_path: Path) -> None:
    """Only what is used counts, by the headers of its pages: 100 MB of zeros beside it are fine."""
    path, n = tmp_path / "a.parquet", 20_000
    columns = {"qid": ["q"] * n, "docno": [f"d{at}" for at in range(n)], "score": range(n)}
    table = pa.table(columns | {"vector": [bytes(5000)] * n})
    parquet.write_table(table, path, compression="zstd", use_dictionary=False)
    assert n * 5000 > 200 * path.stat().st_size
    assert read_run(path).n_rows == n


def test_parquet_of_honest_repetition_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    n = 50_000
    table = pa.table({"qid": ["q1"] * n, "docno": [f"d{i}" for i in range(n)], "score": range(n)})
    parquet.write_table(table, path, compression="zstd")
    assert read_run(path).n_rows == n


@pytest.mark.parametrize("compression", ["zstd", "lz4", "uncompressed"])
def test_arrow_of_one_value_a_thousand_times_over(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "a.arrow"
    n = 200_000
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int8)), pa.array(["x" * 5000]))
    table = pa.table({"qid": texts, "docno": texts, "score": pa.array(np.zeros(n, np.int8))})
    feather.write_feather(table, path, compression=compression)
    with pytest.raises(InputError, match="over 200 times as many"):
        read_run(path)


def test_deep_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for text in ('{"q1":' * 100_000, '{"q1":{"d1":' + "[" * 100_000):
        path.write_text(text)
        with pytest.raises(InputError, match="too many objects or lists inside each other"):
            read_run(path, format="json")
    path.write_text(
        json.dumps({"qid": "1", "docno": "A", "score": 1})[:-1] + ',"x":' + "[" * 50_000
    )
    with pytest.raises(InputError, match=r"a.json:1: not JSON \(too many objects or lists"):
        read_run(path, format="jsonl")


def test_json_of_a_name_without_end_behind_a_key_that_stands_twice(tmp_path: Path) -> None:
    """The rest is looked through for integers with too many digits: 2 s if anew at each escape."""
    path, sound = tmp_path / "a.jsonl", json.dumps({"qid": "1", "docno": "A", "score": 1})
    path.write_text(f'{sound}\n{{"x":{{"a":1,"a":1}},"{QUOTE * 8_000}\n')
    begun = time.process_time()
    with pytest.raises(InputError, match=r"a.jsonl:2: not JSON \(the key 'a' stands twice\)"):
        read_run(path, format="jsonl")
    assert time.process_time() - begun < 0.5


def test_json_of_integers_without_end(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"q1":{"d1":' + "9" * 400 + "}}")
    with pytest.raises(InputError, match=r"query 'q1', docno 'd1': score 9{57}... is not a finite"):
        read_run(path, format="json")
    path.write_text('{"q1":{"d1":' + "9" * 5000 + "}}")
    with pytest.raises(InputError, match=r"a.json:1: an integer of more than 4,300 digits is no"):
        read_run(path, format="json")
