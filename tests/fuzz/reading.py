"""Targets: every reader."""

import io
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
from run_parts import run_parts

from harness.core.qrels_and_runs import Qrels
from harness.errors import HarnessError, HarnessWarning
from harness.readers import read_qrels, read_run
from harness.readers.format import ScatteredQueries
from harness.readers.source import Source

from . import literal

_FOLDER = tempfile.TemporaryDirectory(prefix="harness-fuzz-")
FOLDER = Path(_FOLDER.name)


@dataclass(frozen=True)
class Target:
    """One thing to try: valid inputs, and the words that a change may put into them."""

    name: str
    function: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()

    def __call__(self, data: bytes) -> None:
        """Pass `data` to the target; any warning but the harness's own fails, too."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("error")
            warnings.simplefilter("always", HarnessWarning)
            try:
                self.function(data)
            except HarnessError as error:
                check_text(str(error))
        for warning in caught:
            check_text(str(warning.message))


def check_text(text: str) -> None:
    """A text can be printed, is not empty, and is not endless."""
    text.encode()
    assert text.strip(), "an empty message"
    assert len(text) < 100_000, f"a message of {len(text)} characters"


def written(data: bytes, name: str) -> Path:
    """File that holds `data`."""
    path = FOLDER / name
    path.write_bytes(data)
    return path


QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
RUN = b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1e-3 tag\nq2 Q0 d1 1 -0.5 tag\n"
LETOR = b"2 qid:1 1:0.5 2:3 #docid = A\n0 qid:1 1:0.25 #docid = B\n1 qid:2 1:1 #docid = C\n"
DATASET = Qrels.from_dict({"1": {"A": 2, "B": 0}, "2": {"C": 1}})
TEXT = (
    b"\t", b" ", b"\n", b"\r\n", b"\r", b"\v", b"\f", b"\0", b"#", b"qid:", b"nan", b"inf",
    b"1e400", b"1e-400", b"-0.0", b"0x1p3", b"1_000", b"1,5", b"+1", b".5", b"5.", literal.BOM,
    b"\xff", b"\xed\xa0\x80", "\u00a0\u2028\u0085".encode(), "\uff11\u0661".encode(),
    "\U0001f600".encode(), b"a" * 100, b"9" * 400,
)  # fmt: skip


class _InPieces(Source):
    """A file that is read a few bytes at a time, as a large one is."""

    def blocks(self, size: int = 0) -> Iterator[bytes]:
        return super().blocks(37)


def _compared(
    read: Callable[[Any], Any], literally: Callable[[bytes], Any], name: str
) -> Callable[[bytes], None]:
    """A target that compares what `read` gives with what the text literally says."""

    def function(data: bytes) -> None:
        path = written(data, name)
        try:
            expected = literally(data)
        except ValueError:
            expected = None
        try:
            found = read(path)
        except HarnessError as error:
            if expected is not None and literal.is_text(data):
                raise AssertionError(f"a sound file: {error}") from error
            if "cannot be read (" in str(error):  # the words of a library, with no line
                raise AssertionError(f"without a line: {error}") from error
            raise
        assert found == expected, f"{found} in place of {expected}"
        assert read(_pieces(path)) == expected

    return function


def _pieces(path: Path) -> Source:
    source = _InPieces(path)
    source.one_block = False
    return source


def _run(source: Any) -> Any:
    found = read_run(source, format="trec").to_dict()
    parts: dict[str, dict[str, float]] = {}
    try:
        for part in run_parts(source, format="trec"):
            parts.update(part.to_dict())
    except ScatteredQueries:
        return found
    assert parts == found, f"in parts {parts}, whole {found}"
    return found


def _letor(source: Any) -> Any:
    qrels = read_qrels(source, format="letor", duplicates="error")
    order = np.arange(qrels.n_rows) if qrels.order is None else qrels.order
    rows: list[Any] = [None] * qrels.n_rows
    for place, query, grade in zip(order, qrels.row, qrels.grades, strict=True):
        rows[int(place)] = (qrels.qids[int(query)].as_py(), grade)
    return rows


def _scores(source: Any) -> Any:
    return read_run(source, format="scores", dataset=DATASET).scores.tolist()


def _scores_literally(data: bytes) -> Any:
    found = literal.scores(data)
    if len(found) != DATASET.n_rows:
        raise ValueError
    return found


def _any(kind: str, format: str | None, name: str) -> Callable[[bytes], None]:
    """A target without an oracle: it is read, or refused."""

    def function(data: bytes) -> None:
        path = written(data, name)
        if kind in ("qrels", "both"):
            read_qrels(path, format=format)
        if kind in ("run", "both"):
            read_run(path, format=format, dataset=DATASET)

    return function


OTHER_COLUMNS = (
    _compared(lambda p: read_run(p, format="msmarco").to_dict(), literal.msmarco, "a.tsv"),
    _compared(lambda p: read_qrels(p, format="beir").to_dict(), literal.beir, "b.tsv"),
    _any("run", "ranklib", "a.score"),
)


def _other_columns(data: bytes) -> None:
    """MS MARCO's, BEIR's or RankLib's columns, as the first byte says."""
    if data:
        OTHER_COLUMNS[data[0] % 3](data[1:])


def _json(data: bytes) -> None:
    path = written(data, "a.json")
    found = read_run(path, format="json")
    assert found.to_dict() == {
        qid: {docno: float(score) for docno, score in row.items()}
        for qid, row in json.loads(data.removeprefix(literal.BOM)).items()
        if row  # an empty ranking does not answer its query
    }


def _jsonl(data: bytes) -> None:
    path = written(data, "a.jsonl")
    found = read_run(path, format="jsonl").to_dict()
    rows = [json.loads(line) for line in literal.lines(data) if line.strip()]
    assert sum(map(len, found.values())) == len(rows)


def _guessed(data: bytes) -> None:
    path = written(data[1:], f"a{('', '.npz', '.csv', '.txt')[data[0] % 4]}" if data else "a")
    for read in (read_qrels, lambda path: read_run(path, dataset=DATASET)):
        try:
            read(path)
        except HarnessError as error:
            str(error).encode()


def _array(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _arrow(write: Callable[..., Any], table: pa.Table, **options: Any) -> bytes:
    path = FOLDER / "seed"
    write(table, path, **options)
    return path.read_bytes()


def _seeds_of_tables() -> tuple[bytes, ...]:
    table = pa.table({"qid": ["1", "1", "2"], "docno": ["A", "B", "C"], "score": [1.5, 0.5, 2.0]})
    other = pa.table({"qid": [1, 1, 2], "docno": pa.array(["A", "B", "C"]).dictionary_encode(),
                      "score": pa.array([1, 2, 3], pa.float32())})  # fmt: skip
    return (
        _arrow(parquet.write_table, table),
        _arrow(parquet.write_table, other, compression="zstd"),
        _arrow(feather.write_feather, table),
        _arrow(feather.write_feather, other, compression="uncompressed"),
    )


CSV = b'qid,docno,score\n1,A,0.5\n1,"B, too",1e3\n2,C,-1\n'
JSON = b'{"1": {"A": 0.5, "B": 1e3}, "2": {"C": -1}}'
JSONL = b'{"qid": "1", "docno": "A", "score": 0.5}\n{"qid": "2", "docno": "B", "score": 1}\n'
_JSON_WORDS = (
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\ud800", b"\\u0000", b"NaN", b"1e400", b"-0",
    b"true", b"null", b"9" * 30, b"[" * 2000, *TEXT,
)  # fmt: skip

TARGETS = (
    Target("trec-qrels", _compared(lambda p: read_qrels(p, format="trec").to_dict(),
           literal.trec_qrels, "a.qrels"), (QRELS,), TEXT),
    Target("trec-run", _compared(_run, literal.trec_run, "a.run"), (RUN,), TEXT),
    Target("letor", _compared(_letor, literal.letor, "a.txt"), (LETOR,), TEXT),
    Target("scores", _compared(_scores, _scores_literally, "a.pred"), (b"1\n0.5\n2e-3\n",), TEXT),
    Target("other-columns", _other_columns, (
           b"\0" b"1\tA\t1\n1\tB\t2\n2\tC\t1\n",
           b"\1" b"query-id\tcorpus-id\tscore\n1\tA\t1\n2\tB\t0\n",
           b"\2" b"1\t0\t0.5\n1\t1\t2\n2\t0\t-1\n"), TEXT),
    Target("json", _json, (JSON,), _JSON_WORDS),
    Target("jsonl", _jsonl, (JSONL,), _JSON_WORDS),
    Target("csv", _any("run", "table", "a.csv"), (CSV, CSV.replace(b",", b"\t")), (b'"', *TEXT)),
    Target("parquet-arrow", _any("run", "table", "a.parquet"), _seeds_of_tables()),
    Target("npy", _any("run", "npy", "a.npy"),
           (_array(np.ones(3)), _array(np.ones((3, 1), ">f4")), _array(np.array([1, 2, 3]))),
           (b"(3,)", b"(9999999999999,)", b"|O", b"<f8", b"<U9", b"True")),
    Target("guess", _guessed, tuple(b"\0" + seed for seed in (QRELS, RUN, LETOR, JSON, JSONL, CSV)),
           TEXT),
)  # fmt: skip
