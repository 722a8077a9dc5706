"""Files that would take more memory than there is, and data packed twice, are refused."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from harness.core.tables import Qrels
from harness.errors import InputError
from harness.readers import compression, read_run, stream_run
from harness.readers.hashed import HashedSource
from harness.readers.source import Source

pytestmark = pytest.mark.slow
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: bytes(pa.Codec("zstd").compress(data)),
}
LINE = b"q1\tQ0\td1\t1\t1\tt\n"
DATASET = Qrels.from_dict({"1": {"A": 2}})


@pytest.fixture
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "_HARMLESS", 0)
    monkeypatch.setattr(compression, "free_memory", lambda: 1 << 20)


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("kind", PACK)
def test_compressed_text(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.run.{kind}"
    path.write_bytes(PACK[kind](LINE * 800_000))  # 12 MB
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
        assert error.value.problems[0].rule == "unpacks-too-far"


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("compression_name", ["zstd", "none"])
def test_parquet(tmp_path: Path, compression_name: str) -> None:
    """Only the columns that are used count."""
    path, n = tmp_path / "a.parquet", 20_000
    columns = {"qid": ["q"] * n, "docno": [f"d{at}" for at in range(n)], "score": range(n)}
    table = pa.table(columns | {"vector": [bytes(500)] * n})
    parquet.write_table(table, path, compression=compression_name, use_dictionary=False)
    assert read_run(path).n_rows == n
    table = pa.table(columns | {"docno": [f"{at:099}" for at in range(n)]})
    parquet.write_table(table, path, compression=compression_name, use_dictionary=False)
    with pytest.raises(InputError) as error:
        read_run(path)
    assert error.value.problems[0].rule == "unpacks-too-far"


@pytest.mark.usefixtures("_little_memory")
def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, qids=["1"], n=[2_000_000], scores=np.zeros(2_000_000))
    with pytest.raises(InputError) as error:
        read_run(path, format="batch")
    assert error.value.problems[0].rule == "unpacks-too-far"


@pytest.mark.parametrize("inner", PACK)
@pytest.mark.parametrize("outer", PACK)
def test_compressed_twice(tmp_path: Path, inner: str, outer: str) -> None:
    path = tmp_path / f"a.run.{inner}.{outer}"
    path.write_bytes(PACK[outer](PACK[inner](LINE)))
    with pytest.raises(InputError, match=r"data inside \w+ data\n  fix:   unpack it once"):
        read_run(path, format="trec")


@pytest.mark.parametrize("shape", ["(99999999999999,)", "(-1,)", "(2, 0, 1)", "(4,)", "(3, True)"])
def test_npy_whose_header_lies(tmp_path: Path, shape: str) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + bytes([118, 0]) + header.encode() + b"\0" * 24)
    with pytest.raises(InputError, match=r"a.npy: "):
        read_run(path, format="npy", dataset=DATASET)


def test_deep_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for text in ('{"q1":' * 100_000, '{"q1":{"d1":' + "[" * 100_000):
        path.write_text(text)
        with pytest.raises(InputError, match="too many objects or lists inside each other"):
            read_run(path, format="json")
    row = json.dumps({"qid": "1", "docno": "A", "score": 1})
    path.write_text(row[:-1] + ',"x":' + "[" * 50_000)
    with pytest.raises(InputError, match=r"a.json:1: not JSON"):
        read_run(path, format="jsonl")


def test_a_key_that_stands_twice_is_found_in_time(tmp_path: Path) -> None:
    path, n = tmp_path / "a.json", 200_000
    path.write_text('{"q":{' + ",".join(f'"d{at}":1' for at in [*range(n), n - 1]) + "}}")
    begun = time.process_time()
    with pytest.raises(InputError) as error:
        read_run(path, format="json")
    assert error.value.problems[0].rule == "duplicates"
    assert time.process_time() - begun < 5
