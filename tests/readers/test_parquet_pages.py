"""Parquet files made by hand, whose footer says little of what their pages unpack to."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.readers import read_run, unpacking
from harness.readers.parquet_pages import _longest, footer_of, groups_of
from harness.readers.thrift import struct

Field = tuple[int, bytes]
PLAIN, CODES = 0, 8
DATA, DICTIONARY = 0, 2
BYTES, DOUBLE = 6, 5


def varint(n: int) -> bytes:
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])


def i32(n: int) -> Field:
    return 5, varint(2 * n)  # zigzag, of what is not negative


def i64(n: int) -> Field:
    return 6, varint(2 * n)


def text(data: bytes) -> Field:
    return 8, varint(len(data)) + data


def items(*of: Field) -> Field:
    return 9, bytes([len(of) << 4 | of[0][0]]) + b"".join(data for _, data in of)


def fields(given: dict[int, Field]) -> Field:
    """A struct; each field has the one before's number and how much is added."""
    made, last = b"", 0
    for key, (kind, data) in given.items():
        made, last = made + bytes([(key - last) << 4 | kind]) + data, key
    return 12, made + b"\0"


def page(kind: int, content: bytes, n: int, encoding: int) -> bytes:
    packed = bytes(pa.Codec("zstd").compress(content))
    of_kind = {1: i32(n), 2: i32(encoding)}
    if kind == DATA:
        of_kind |= {3: i32(3), 4: i32(3)}
    header = {1: i32(kind), 2: i32(len(content)), 3: i32(len(packed))}
    return fields(header | {5 if kind == DATA else 7: fields(of_kind)})[1] + packed


def string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "little") + data


def codes(n: int) -> bytes:
    """The first text of a dictionary, `n` times, in a few bytes."""
    return b"\1" + varint(n << 1) + b"\0"


def written(path: Path, columns: dict[str, tuple[int, list[bytes]]], n: int) -> Path:
    """A file of one group: the pages of each column, its dictionary first if there is one."""
    data, chunks = b"PAR1", []
    schema = [fields({4: text(b"schema"), 5: i32(len(columns))})]
    for name, (kind, pages) in columns.items():
        start, size = len(data), sum(map(len, pages))
        at = start + (len(pages[0]) if len(pages) > 1 else 0)
        meta = {1: i32(kind), 2: items(i32(PLAIN)), 3: items(text(name.encode())), 4: i32(6),
                5: i64(n), 6: i64(100), 7: i64(size), 9: i64(at)}  # fmt: skip
        chunks.append(fields({2: i64(start), 3: fields(meta | ({11: i64(start)} if at > start
                                                               else {}))}))  # fmt: skip
        schema.append(fields({1: i32(kind), 3: i32(0), 4: text(name.encode())} | (
            {6: i32(0)} if kind == BYTES else {})))  # fmt: skip
        data += b"".join(pages)
    group = fields({1: items(*chunks), 2: i64(100), 3: i64(n)})
    footer = fields({1: i32(1), 2: items(*schema), 3: i64(n), 4: items(group)})[1]
    path.write_bytes(data + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return path


def usual(n: int) -> dict[str, tuple[int, list[bytes]]]:
    docnos = b"".join(string(b"%d" % at) for at in range(n))
    return {
        "qid": (BYTES, [page(DICTIONARY, string(b"q"), 1, PLAIN), page(DATA, codes(n), n, CODES)]),
        "docno": (BYTES, [page(DATA, docnos, n, PLAIN)]),
        "score": (DOUBLE, [page(DATA, np.arange(float(n)).tobytes(), n, PLAIN)]),
    }


def longest(path: Path) -> list[int]:
    with pa.OSFile(str(path)) as file:
        return [
            g.longest for g in groups_of(file, footer_of(file), [0, 1, 2], [0, 1], lambda n: None)
        ]


def test_what_is_made_by_hand_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", usual(3), 3)
    assert read_run(path).to_dict() == {"q": {"0": 0.0, "1": 1.0, "2": 2.0}}
    assert longest(path) == [5]  # the dictionary's page: 4 bytes of length, and "q"


LARGE = 1 << 20
N = 5000


def hostile(path: Path) -> Path:
    """A plain page of one text, and then codes for one of a megabyte, 5 GB in a kilobyte."""
    columns = usual(N)
    columns["docno"] = BYTES, [
        page(DICTIONARY, string(b"x" * LARGE), 1, PLAIN),
        page(DATA, string(b"d"), 1, PLAIN),
        page(DATA, codes(N - 1), N - 1, CODES),
    ]  # fmt: skip
    return written(path, columns, N)


READ = """
import re, sys
from harness.errors import HarnessError
from harness.readers import read_run
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) * 1024
read_run(sys.argv[1])
before = peak()
try:
    read_run(sys.argv[2])
except HarnessError as error:
    print(error)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_codes_for_a_long_text_behind_a_page_without(tmp_path: Path) -> None:
    """It is refused at 64 MiB, of which a copy may be under way."""
    path = hostile(tmp_path / "b.parquet")
    assert longest(path) == [LARGE]
    small = written(tmp_path / "a.parquet", usual(3), 3)
    command = [sys.executable, "-W", "ignore", "-c", READ, str(small), str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert re.search(r"bytes that unpack to more than \d+,\d+,\d+: over 200 times", said[0])
    assert int(said[-1]) < 3 * unpacking.FREE


def test_a_page_that_unpacks_to_more_than_the_footer_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The footer says 100 bytes; nothing is unpacked to see that they are more."""
    monkeypatch.setattr(unpacking, "FREE", 1 << 20)
    columns = usual(3)
    columns["score"] = DOUBLE, [page(DATA, bytes(4 << 20), 3, PLAIN)]
    path = written(tmp_path / "a.parquet", columns, 3)
    pool = pa.default_memory_pool()
    before = pool.max_memory()
    with pytest.raises(InputError, match="over 200 times as many"):
        read_run(path)
    assert pool.max_memory() < before + (2 << 20)


def test_texts_that_repeat_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3,000 names of 10 kB, each but a number more than the last: 30 MB in 30 kB; 300 are read."""
    monkeypatch.setattr(unpacking, "FREE", 8 << 20)
    path = tmp_path / "a.parquet"
    for n in (300, 3000):
        docnos = ["x" * 10_000 + str(at) for at in range(n)]
        table = pa.table({"qid": ["q"] * n, "docno": docnos, "score": np.arange(float(n))})
        parquet.write_table(
            table, path, use_dictionary=False, write_statistics=False, compression="none",
            column_encoding={"qid": "PLAIN", "docno": "DELTA_BYTE_ARRAY", "score": "PLAIN"},
        )  # fmt: skip
        if n == 300:
            assert [*read_run(path).to_dict()["q"]] == docnos
    with pytest.raises(InputError, match="over 200 times as many"):
        read_run(path)


def test_bytes_of_one_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their dictionary has no lengths; 5,000 times 10 kB in a few hundred bytes."""
    monkeypatch.setattr(unpacking, "FREE", 1 << 20)
    path = tmp_path / "a.parquet"
    docnos = pa.array([b"x" * 10_000] * N, pa.binary(10_000))
    table = pa.table({"qid": ["q"] * N, "docno": docnos, "score": np.zeros(N)})
    parquet.write_table(table, path, compression="zstd", write_statistics=False)
    assert longest(path)[0] >= 10_000
    with pytest.raises(InputError, match="over 200 times as many"):
        read_run(path)


@given(st.lists(st.binary(max_size=5) | st.sampled_from([b"ab", b"\1\0\0\0", b"x" * 300])))
def test_the_longest_text_of_a_dictionary(texts: list[bytes]) -> None:
    content = b"".join(map(string, texts))
    assert _longest(content, len(texts)) == max([1, *map(len, texts)])


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_many_groups(tmp_path: Path, size: int) -> None:
    path, n = tmp_path / "a.parquet", 1000
    table = pa.table({"qid": ["q"] * n, "docno": [f"{at}" for at in range(n)],
                      "score": np.arange(float(n))})  # fmt: skip
    parquet.write_table(table, path, row_group_size=size)
    assert read_run(path).to_dict() == {"q": {str(at): float(at) for at in range(n)}}


@pytest.mark.parametrize("at", range(0, 200, 7))
def test_pages_that_are_damaged_are_refused(tmp_path: Path, at: int) -> None:
    """A byte is another: an error of ours, or what it is a part of is not used."""
    path = written(tmp_path / "a.parquet", usual(3), 3)
    data = bytearray(path.read_bytes())
    data[4 + at % (len(data) - 12)] ^= 0x5A
    path.write_bytes(data)
    with contextlib.suppress(InputError):
        assert read_run(path).n_rows <= 3


@pytest.mark.parametrize(
    "data",
    [b"\x1c" * 1000, b"\x19\xfc\xff\xff\xff\xff\x0f", b"\x18\xff\xff\x03ab", b"\x1e", b"\x15"],
)
def test_what_is_no_struct(data: bytes) -> None:
    """Structs without end in each other, a list and a text longer than all, a kind there is not."""
    with pytest.raises((ValueError, IndexError)):
        struct(data, 0)
