"""Memory that hostile files take, measured in processes of their own: peak beyond an idle reader's.

At most three times the file, or 60 MB where that is more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
import pytest

Array = np.ndarray[Any, Any]
MB = 1 << 20
SIZE = 20 * MB * int(os.environ.get("HARNESS_TRIALS", "1"))
LEAST = 60_000_000
"""What a small file may take; three times one of 20 MB is no less."""

READ = """
import re, sys, warnings
warnings.simplefilter("ignore")
from harness.core.tables import Qrels
from harness.errors import HarnessError
from harness.readers import read_qrels, read_run
dataset = Qrels.from_dict({"1": {"A": 2, "B": 0}})
path, kind, format = sys.argv[1:]
format = None if format == "guessed" else format
said = "read"
try:
    if kind == "qrels":
        read_qrels(path, format=format)
    else:
        read_run(path, format=format, dataset=dataset)
except HarnessError as error:
    said = str(error)
# of this program alone: ru_maxrss begins with what its parent had
print(int(re.search("VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) * 1024)
print(said[:4000])
"""


def measured(path: Path, kind: str, format: str) -> tuple[int, str]:
    """Peak memory in bytes, and what was said."""
    command = [sys.executable, "-c", READ, str(path), kind, format]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    peak, _, said = done.stdout.partition("\n")
    return int(peak), said.strip()


class Numbers:
    """A number for each line: what is written of it once is a pattern of all the lines."""

    def __init__(self, values: Array, written: list[Array]) -> None:
        self.values, self.written = values, written

    def __mod__(self, by: int) -> Numbers:
        return Numbers(self.values % by, self.written)

    def __floordiv__(self, by: int) -> Numbers:
        return Numbers(self.values // by, self.written)

    def __format__(self, how: str) -> str:
        assert not how
        self.written.append(self.values)
        return "\0"

    __eq__ = __bool__ = None  # type: ignore[assignment]  # a pattern has no branches


def _lines(line: Callable[[Any], str], of: int | Array) -> bytes:
    """The lines of a pattern, of 0 to ``of`` or of these numbers, joined as columns of text."""
    written: list[Array] = []
    text = pa.large_string()
    numbers = np.arange(of) if isinstance(of, int) else of
    first, *others = line(Numbers(numbers, written)).split("\0")
    parts = [pa.scalar(first, text)]
    for values, after in zip(written, others, strict=True):
        parts += [pa.array(values).cast(text), pa.scalar(after, text)]
    if not written:
        return first.encode() * len(numbers)
    joined = compute.binary_join_element_wise(*parts, pa.scalar("", text))
    return joined.buffers()[2].to_pybytes()


def _tags(size: int) -> bytes:
    return _lines(lambda i: f"1 Q0 d{i} 1 {i % 97} t{i}\n", size // 27)


def _pairs(size: int) -> bytes:
    return _lines(lambda i: f"q{i // 2} Q0 d{i % 2} 1 {i % 97} t\n", size // 21)


def _scattered(size: int) -> bytes:
    return _lines(lambda i: f"{i % 2} Q0 d{i} 1 {i % 97} t\n", size // 21)


def _repeated(size: int) -> bytes:
    return _lines(lambda i: f"1 Q0 d{i // 2} 1 {i % 97} t\n", size // 21)


def _million_queries(size: int) -> bytes:
    return _lines(lambda i: f"q{i} Q0 d 1 {i % 97} t\n", size // 21)


def _distinct(size: int) -> bytes:
    return _lines(lambda i: f"1 Q0 doc{i} 1 {i % 97} t\n", size // 23)


def _long_columns(size: int) -> bytes:
    token = "x" * 10_000
    return _lines(lambda i: f"{token}{i} {token} {token}{i} {token} {i} {token}\n", size // 50_000)


def _json(size: int) -> bytes:
    return b'{"q": {' + _lines(lambda i: f'"d{i}": {i}, ', size // 18)[:-2] + b"}}"


def _json_of_long_strings(size: int) -> bytes:
    return json.dumps({"q": {f"{i}" + "x" * 10_000: i for i in range(size // 10_000)}}).encode()


def _json_of_queries(size: int) -> bytes:
    return b"{" + _lines(lambda i: f'"q{i}": {{"d": {i}}}, ', size // 22)[:-2] + b"}"


def _json_of_lists(size: int) -> bytes:
    return b'{"q":{' + _lines(lambda i: f'"d{i}":[[],[],[]],', size // 20)[:-1] + b"}}"


def _jsonl(size: int) -> bytes:
    return _lines(lambda i: f'{{"qid":"q","docno":"d{i}","score":{i % 97}}}\n', size // 41)


def _csv(size: int) -> bytes:
    return b"qid,docno,score\n" + _lines(lambda i: f"q,d{i},{i % 97}\n", size // 13)


def _csv_scattered(size: int) -> bytes:
    return b"qid,docno,score\n" + _lines(lambda i: f"{i % 2},d{i},{i % 97}\n", size // 13)


def _csv_repeated(size: int) -> bytes:
    return b"qid,docno,score\n" + _lines(lambda i: f"q,d{i // 2},{i % 97}\n", size // 13)


def _csv_of_queries(size: int) -> bytes:
    return b"qid,docno,score\n" + _lines(lambda i: f"q{i},d,{i % 97}\n", size // 13)


def _grades(size: int) -> bytes:
    return _lines(lambda i: f"1 0 d{i} {i % 4}\n", size // 14)


def _grades_of_queries(size: int) -> bytes:
    return _lines(lambda i: f"q{i} 0 d {i % 4}\n", size // 14)


def _grades_scattered(size: int) -> bytes:
    return _lines(lambda i: f"{i % 2} 0 d{i} {i % 4}\n", size // 14)


def _grades_repeated(size: int) -> bytes:
    return _lines(lambda i: f"1 0 d{i // 2} {i % 4}\n", size // 14)


def _as_csv(lines: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Judgements without the column that means nothing."""
    return lambda size: b"qid,docno,grade\n" + lines(size).replace(b" 0 ", b",").replace(b" ", b",")


def _long(line: str, above: bytes = b"") -> Callable[[int], bytes]:
    """Lines of 7 MB: in place of ``{}`` a name of its own, of that length."""
    x = "x" * (7 * MB)
    return lambda size: above + _lines(lambda i: line.replace("{}", f"{i}{x}"), -(-size // len(x)))


def _letor(line: str) -> Callable[[int], bytes]:
    return lambda size: _lines(line.format, size // len(line.format(1_000_000)))


def _json_of_short_queries(size: int) -> bytes:
    return b"{" + _lines(lambda i: f'"{i}":{{"d":1}},', size // 18)[:-1] + b"}"


def _mixed_names(size: int) -> bytes:
    row = '{{"qid":{0},"docno":"d","score":1}}\n{{"qid":"q{0}","docno":"d","score":1}}\n'
    return _lines(row.format, size // 75)


def _rows(line: Callable[[Any], str], above: bytes = b"") -> Callable[[int], bytes]:
    """Short lines, as many as of the millionth."""
    return lambda size: above + _lines(line, size // len(line(1_000_000)))


def _mixed(line: Callable[[Any], str]) -> Callable[[int], bytes]:
    """Lines in no order."""

    def make(size: int) -> bytes:
        n = size // len(line(499_999))
        return _lines(line, np.random.default_rng(1).permutation(n))

    return make


_DOCID = b"0 qid:1 #" + b"x" * (7 * MB) + b"\n"


def _around(line: Callable[[Any], str], *, first: bool) -> Callable[[int], bytes]:
    """Short LETOR lines, and one docid of 7 MB before or after them."""

    def make(size: int) -> bytes:
        short = _rows(line)(size - len(_DOCID))
        return _DOCID + short if first else short + _DOCID

    return make


def _both_types(line: str) -> Callable[[int], bytes]:
    """JSON lines of 7 MB, three of them: ``Q`` is text in one line and a number in the next."""
    x = "x" * (7 * MB)
    names = ['"a"', "1", '"b"']
    return lambda size: "".join(
        line.replace("Q", name).replace("{}", f"{i}{x}") for i, name in enumerate(names)
    ).encode()


_BEIR = b"query-id\tcorpus-id\tscore\n"
_ROW = b'{"qid":"q","docno":"d","score":1}\n'
_UNUSED = b'{"qid":"q","docno":"%d","score":1,"x":[' + b"{}," * (2 * MB) + b"{}]}\n"
_NESTED = b'{"qid":"q","docno":"%d","score":1,"x":[' + b"[1],{}," * MB + b"1]}\n"


def _wide(header: str, score: str, last: str = "") -> Callable[[int], bytes]:
    """A CSV with 9,000 columns, of which three are used: names and values of the others."""
    above = f"qid,docno,score{header * 8997}\n".encode()
    row = f",{score}{',' * 8997}\n"
    return lambda size: above + _lines(lambda i: f"1,{i}{row}", size // 9010) + last.encode()


# name, kind, format, bytes of about a size, times the file that it may take
SHAPES: list[tuple[str, str, str, Callable[[int], bytes], float]] = [
    ("one line without an end", "run", "trec", lambda n: b"x" * n, 3),
    ("one line of short fields", "run", "trec", lambda n: b"1 " * (n // 2), 3),
    ("one line of digits", "qrels", "letor", lambda n: b"9" * n, 3),
    ("one line as predictions", "run", "scores", lambda n: b"1," * (n // 2), 3),
    ("one line of a CSV", "run", "table", lambda n: b"qid,docno,score\n" + b"x," * (n // 2), 3),
    ("one line of JSON lines", "run", "jsonl", lambda n: b'{"qid":"' + b"x" * n, 3),
    ("a query a line", "run", "trec", _million_queries, 3),
    ("two lines a query", "run", "trec", _pairs, 3),
    ("a tag a line", "run", "trec", _tags, 3),
    ("one query", "run", "trec", _distinct, 3),
    ("scattered lines", "run", "trec", _scattered, 3),
    ("each docno twice", "run", "trec", _repeated, 3),
    ("columns of one long token", "run", "trec", _long_columns, 3),
    ("lines without a field", "run", "trec", lambda n: b" \n" * (n // 2), 3),
    ("empty lines", "run", "trec", lambda n: b"\n" * n, 3),
    ("comments", "run", "trec", lambda n: b"#\n" * (n // 2), 3),
    ("wrong lines", "run", "trec", lambda n: b"1 Q0 d 1 x t\n" * (n // 13), 3),
    ("deep JSON", "run", "json", lambda n: b'{"q":' * (n // 5), 3),
    ("JSON of short names", "run", "json", _json, 3),
    ("JSON of long names", "run", "json", _json_of_long_strings, 3),
    ("JSON of a query a row", "run", "json", _json_of_queries, 3),
    ("JSON of a list without an end", "run", "json",
     lambda n: b'{"q":{"d":[' + b"[]," * (n // 3), 3),
    ("JSON of values that are lists", "run", "json", _json_of_lists, 3),
    ("JSON of blanks", "run", "json", lambda n: b'{"q":{"d":1}}' + b" " * n, 3),
    ("JSON of one key", "run", "json", lambda n: b'{"q":{' + b'"d":1,' * (n // 6) + b'"e":1}}', 3),
    ("JSON lines", "run", "jsonl", _jsonl, 3),
    ("rows of a CSV", "run", "table", _csv, 3),
    ("a query a row of a CSV", "run", "table", _csv_of_queries, 3),
    ("scattered rows of a CSV", "run", "table", _csv_scattered, 3),
    ("each docno of a CSV twice", "run", "table", _csv_repeated, 3),
    ("judgements", "qrels", "trec", _grades, 3),
    ("judgements, a query a line", "qrels", "trec", _grades_of_queries, 3),
    ("scattered judgements", "qrels", "trec", _grades_scattered, 3),
    ("each judgement twice", "qrels", "trec", _grades_repeated, 3),
    ("judgements of a CSV", "qrels", "table", _as_csv(_grades), 3),
    ("judgements of a CSV, a query a row", "qrels", "table", _as_csv(_grades_of_queries), 3),
    ("scattered judgements of a CSV", "qrels", "table", _as_csv(_grades_scattered), 3),
    ("each judgement of a CSV twice", "qrels", "table", _as_csv(_grades_repeated), 3),
    ("npy of another size", "run", "npy", lambda n: b"\x93NUMPY\x01\x00v\x00" + (
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }".ljust(117) + b"\n"
        + b"\0" * n), 3),
    ("docnos of 7 MB", "run", "trec", _long("1 Q0 {} 1 1 t\n"), 3),
    ("docnos of 7 MB between many blanks", "run", "trec", _long("1\t Q0 {} 1 1 t\n"), 3),
    ("docnos of 7 MB and wrong scores", "run", "trec", _long("1 Q0 {} 1 x t\n"), 3),
    ("qids of 7 MB", "run", "trec", _long("{} Q0 d 1 1 t\n"), 3),
    ("docnos of 7 MB, judged", "qrels", "trec", _long("1 0 {} 1\n"), 3),
    ("docnos of 7 MB", "run", "jsonl", _long('{"qid":"1","docno":"{}","score":1}\n'), 3),
    ("qids of 7 MB", "run", "jsonl", _long('{"qid":"{}","docno":"d","score":1}\n'), 3),
    ("values of 6 MB that are not used", "run", "jsonl",
     lambda n: b"".join(_UNUSED % i for i in range(n // (6 * MB))), 3),
    ("docnos of 7 MB", "run", "table", _long("1,{},1\n", b"qid,docno,score\n"), 3),
    ("a query a line", "qrels", "letor", _letor("1 qid:{}\n"), 3),
    ("docids and a query a line", "qrels", "letor", _letor("1 qid:{0} #docid={0}\n"), 3),
    ("comments", "qrels", "letor", lambda n: b"#\n" * (n // 2) + b"1 qid:1\n", 3),
    ("empty lines", "qrels", "letor", lambda n: b"\n" * n + b"1 qid:1\n", 3),
    ("wrong lines", "qrels", "letor", lambda n: b"1 qid:1\n" + b"x\n" * (n // 2), 3),
    ("names of both types", "run", "jsonl", _mixed_names, 3),
    ("wrong lines", "run", "jsonl", lambda n: _ROW + b"{}\n" * (n // 3), 3),
    ("JSON of a short query a row", "run", "json", _json_of_short_queries, 3),
    ("JSON of a short query a row, judged", "qrels", "json", _json_of_short_queries, 3),
    ("JSON of a short query a row", "run", "guessed", _json_of_short_queries, 3),
    ("rows that are all the same", "run", "msmarco", lambda n: b"1\t1\t1\n" * (n // 6), 3),
    ("rows that are all the same", "qrels", "trec", lambda n: b"1 0 1 1\n" * (n // 8), 3),
    ("rows that are all the same", "run", "trec", lambda n: b"1 0 1 1 1 1\n" * (n // 12), 3),
    ("rows without names", "run", "table", lambda n: b"qid,docno,score\n" + b",,1\n" * (n // 4), 3),
    ("rows that are all the same", "run", "table",
     lambda n: b"qid,docno,score\n" + b"1,1,1\n" * (n // 6), 3),
    ("ten docnos", "run", "msmarco", _rows(lambda i: f"1\t{i % 10}\t1\n"), 3),
    ("ten docnos, judged", "qrels", "trec", _rows(lambda i: f"1 0 {i % 10} 1\n"), 3),
    ("a query a short line", "qrels", "beir", _rows(lambda i: f"{i}\t1\t1\n", _BEIR), 3),
    ("one query of short lines", "qrels", "beir", _rows(lambda i: f"1\t{i}\t1\n", _BEIR), 3),
    ("one query of short lines", "run", "msmarco", _rows(lambda i: f"1\t{i}\t1\n"), 3),
    ("judgements, a query a line, in no order", "qrels", "trec",
     _mixed(lambda i: f"{i} 0 1 1\n"), 3),
    ("judgements of 100,000 queries in turn", "qrels", "trec",
     _rows(lambda i: f"{i % 100_000} 0 d{i // 100_000} 1\n"), 3),
    ("100,000 queries in turn", "run", "trec",
     _rows(lambda i: f"{i % 100_000} 0 d{i // 100_000} 1 1 t\n"), 3),
    ("judgements of two queries in turn", "qrels", "trec",
     _rows(lambda i: f"{i % 2} 0 {i} 1\n"), 3),
    ("half a million queries that come back in no order", "run", "msmarco",
     _mixed(lambda i: f"{i % 500_000}\t{i}\t1\n"), 3),
    ("half a million queries that come back in no order, in rows of 11 bytes", "run", "msmarco",
     _mixed(lambda i: f"{i % 500_000}\t{i // 500_000}\t1\n"), 3),
    ("half a million queries that come back with a docno again", "run", "msmarco",
     _mixed(lambda i: f"{i % 500_000}\t1\t1\n"), 3),
    ("queries of one row of 12 bytes each", "run", "msmarco", _rows(lambda i: f"{i}\t1\t1\n"), 3),
    ("queries of one row of 12 bytes each, in no order", "run", "msmarco",
     _mixed(lambda i: f"{i}\t1\t1\n"), 3),
    ("half a million queries that come back in no order", "run", "trec",
     _mixed(lambda i: f"{i % 500_000} 0 {i // 500_000} 1 1 1\n"), 3),
    ("queries of one row each, in no order", "run", "trec",
     _mixed(lambda i: f"{i} 0 1 1 1 1\n"), 3),
    ("a query a short row", "run", "trec", _rows(lambda i: f"{i} 0 1 1 1 1\n"), 3),
    ("two queries in turn, in short rows", "run", "msmarco",
     _rows(lambda i: f"{i % 2}\t{i}\t1\n"), 3),
    ("two queries in turn, in short rows", "qrels", "beir",
     _rows(lambda i: f"{i % 2}\t{i}\t1\n", _BEIR), 3),
    ("two queries in turn, in short rows", "qrels", "letor",
     _rows(lambda i: f"1 qid:{i % 2}\n"), 3),
    ("judgements below 0", "qrels", "trec", _rows(lambda i: f"q{i} 0 d -1\n"), 3),
    ("rows of one docid", "qrels", "letor", _rows(lambda i: "0 qid:1 #a\n"), 3),
    ("rows of one docid after a blank", "qrels", "letor", _rows(lambda i: " 0 qid:1 #a\n"), 3),
    ("100,000 docids", "qrels", "letor", _rows(lambda i: f"0 qid:1 #{i % 100_000}\n"), 3),
    ("qids of 7 MB", "qrels", "letor", _long("1 qid:{} 1:2\n"), 3),
    ("docids of 7 MB", "qrels", "letor", _long("1 qid:1 1:2 #docid={}\n"), 3),
    ("comments of 7 MB of #", "qrels", "letor",
     lambda n: (b"1 qid:1 " + b"#" * (7 * MB) + b"\n") * -(-n // (7 * MB)), 3),
    ("JSON of queries without rows", "run", "json",
     lambda n: b"{" + _rows(lambda i: f'"{i}":{{}},')(n) + b'"q":{"d":1}}', 3),
    ("docnos of 7 MB and wrong scores", "run", "table", _long("1,{},x\n", b"qid,docno,score\n"), 3),
    ("nested values of 6 MB", "run", "jsonl",
     lambda n: b"".join(_NESTED % i for i in range(n // (6 * MB))), 3),
    ("rows that are all the same", "qrels", "beir", lambda n: _BEIR + b"1\t1\t1\n" * (n // 6), 3),
    ("docnos of 7 MB before words", "run", "trec", _long("1 Q0 {} 1 1 t words after it\n"), 3),
    ("rows without docnos", "qrels", "table",
     lambda n: b"qid,grade\n" + b"1,1\n" * (n // 4), 3),
    ("docnos of 7 MB and wrong scores", "run", "jsonl",
     _long('{"qid":"1","docno":"{}","score":"x"}\n'), 3),
    ("nested values of 6 MB, names of both types", "run", "jsonl",
     lambda n: b"".join(_NESTED.replace(b'"q"', [b'"q"', b"1"][i % 2]) % i
                        for i in range(n // (6 * MB))), 3),
    ("9,000 columns", "run", "table", _wide(",x", "1"), 3),
    ("9,000 columns with quoted names", "run", "table", _wide(',"x"', "1"), 3),
    ("9,000 columns and wrong scores", "run", "table", _wide(",x", "x"), 3),
    ("9,000 columns and a last row without them", "run", "table", _wide(",x", "1", "1,d,1\n"), 3),
    ("a docid of 7 MB before rows of one docid", "qrels", "letor",
     _around(lambda i: "0 qid:1 #x\n", first=True), 3),
    ("a docid of 7 MB before scattered rows", "qrels", "letor",
     _around(lambda i: f"0 qid:{i % 2} #{i}\n", first=True), 3),
    ("a docid of 7 MB after short rows", "qrels", "letor",
     _around(lambda i: f"0 qid:1 #{i}\n", first=False), 3),
    ("docnos of 7 MB, qids of both types", "run", "jsonl",
     _both_types('{"qid":Q,"docno":"{}","score":1}\n'), 3),
    ("docnos of 7 MB and others, qids of both types", "run", "jsonl",
     _both_types('{"qid":"1","docno":"{}","score":1}\n{"qid":1,"docno":Q,"score":1}\n'), 3),
    ("JSON of one key", "run", "guessed", lambda n: b"{" + b'"q":{"d":1},' * (n // 12) + b"1}", 3),
]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> int:
    """What a reader takes for a file of two lines."""
    path = tmp_path_factory.mktemp("base") / "a"
    path.write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n")
    return measured(path, "run", "trec")[0]


def report(name: str, size: int, used: int, said: str) -> None:
    """Append a line for the page to the file that HARNESS_MEMORY_REPORT names."""
    if path := os.environ.get("HARNESS_MEMORY_REPORT"):
        outcome = "read" if said == "read" else "refused"
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"| {name} | {size / 1e6:.0f} | {outcome} | {used / size:.1f} |\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize(
    ("name", "kind", "format", "make", "times"), SHAPES, ids=[f"{s[0]}, {s[2]}" for s in SHAPES]
)
def test_memory(
    tmp_path: Path, base: int, name: str, kind: str, format: str,
    make: Callable[[int], bytes], times: float,
) -> None:  # fmt: skip
    path = tmp_path / "a"
    path.write_bytes(make(SIZE))
    size = path.stat().st_size
    peak, said = measured(path, kind, format)
    used = max(peak - base, 0)
    report(f"{name} ({format})", size, used, said)
    assert used <= times * size, f"{used / size:.1f} times the file; {said}"
    assert len(said) < 4000


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize(
    "name",
    ["a query a line", "two lines a query", "scattered lines", "scattered rows of a CSV",
     "judgements, a query a line", "JSON lines"],
)  # fmt: skip
def test_memory_of_small_files(tmp_path: Path, base: int, name: str) -> None:
    _, kind, format, make, _ = next(shape for shape in SHAPES if shape[0] == name)
    path = tmp_path / "a"
    path.write_bytes(make(5 * MB))
    peak, said = measured(path, kind, format)
    assert said == "read"
    assert peak - base <= LEAST


_LONG_LINES: list[tuple[str, str, bytes, str]] = [
    ("qrels", "letor", b"1 qid:1 1:2 # " + b"x" * 6 * MB + b"\n0 qid:1 1:3\n", "read"),
    ("qrels", "letor", b"1 qid:1" + b" 1:2" * (6 * MB // 4) + b"\n0 qid:1 1:3\n", "read"),
    ("run", "jsonl", b'{"qid":"1","docno":"d","score":1' + b',"x":1' * MB + b"}\n",
     "more than 10,000 keys"),
    ("run", "jsonl", _NESTED % 1, "read"),
    ("run", "jsonl", (_NESTED % 1)[:-4], "not JSON"),
    ("run", "table", b"qid,docno,score" + b",x" * 3 * MB + b"\n1,d,1\n",
     "more than 10,000 columns"),
]  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize(
    ("kind", "format", "text", "what"),
    _LONG_LINES,
    ids=[
        "a comment",
        "features",
        "keys of JSON lines",
        "values",
        "a cut line",
        "a header of a CSV",
    ],
)
def test_memory_of_one_long_line(
    tmp_path: Path, base: int, kind: str, format: str, text: bytes, what: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(text)
    peak, said = measured(path, kind, format)
    assert what in said
    assert peak - base <= LEAST


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize("name", ["comments", "wrong lines"])
def test_memory_of_refused_lines_does_not_grow(tmp_path: Path, name: str) -> None:
    """It is what blocks take that are under way, which are no larger beyond 96 MB."""
    make = next(shape[3] for shape in SHAPES if shape[0] == name)
    path, peaks = tmp_path / "a", []
    for size in (96 * MB, 224 * MB):
        path.write_bytes(make(size))
        peaks.append(measured(path, "run", "trec")[0])
    slope = (peaks[1] - peaks[0]) / (128 * MB)
    if report_to := os.environ.get("HARNESS_MEMORY_REPORT"):
        with open(report_to, "a", encoding="utf-8") as file:
            file.write(f"{name}: {slope:.2f} bytes for each of the file\n")
    assert slope < 0.4, f"{slope:.2f} bytes for each of the file"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize(
    ("shape", "times"), [("a huge dictionary", 3), ("texts without a dictionary", 3)]
)
def test_memory_of_parquet(tmp_path: Path, base: int, shape: str, times: float) -> None:
    """A dictionary is there as a page and as texts, then as texts and in the rows."""
    path = tmp_path / "a.parquet"
    n = SIZE // 100
    coded = shape == "a huge dictionary"
    names = pa.array([f"{i:090}" for i in range(n)])
    docnos = names.dictionary_encode() if coded else names
    table = pa.table({"qid": ["q"] * n, "docno": docnos, "score": np.zeros(n)})
    limit = 1 << 30
    parquet.write_table(
        table, path, compression="none", use_dictionary=coded, dictionary_pagesize_limit=limit
    )
    peak, said = measured(path, "run", "table")
    size = path.stat().st_size
    report(f"{shape} (Parquet)", size, peak - base, said)
    assert said == "read"
    assert peak - base <= times * size, f"{(peak - base) / size:.1f} times the file"
