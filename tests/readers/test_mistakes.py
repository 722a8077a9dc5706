"""Mistakes that people make in files: the line and the rule of each error."""

import bz2
import gzip
import io
import lzma
import pickle
import tarfile
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from outcomes import refused
from refusals import refuses
from run_parts import run_parts

from harness import readers
from harness.core.qrels_and_runs import Qrels
from harness.errors import InputError, UnknownNameError
from harness.readers import memory_limit, source

Write = Callable[..., str]

TREC = "q1 Q0 d1 1 2.0 t\n{}\nq1 Q0 d9 3 0.1 t\n"
QRELS = "q0 0 d0 1\n{}\nq2 0 d2 1\n"
LETOR = "# c\n{}\n1 qid:1 1:0\n2 qid:1 1:0\n"
RANKLIB = "q1\t0\t3\n{}\nq1\t2\t1\nq2\t0\t0.5\nq2\t1\t1.5\n"
CSV = "qid,docno,score\nq,x,1\n{}\nq,z,2\n"
JSONL = '{{"qid": "q", "docno": "a", "score": 1}}\n{}\n{{"qid": "q", "docno": "c", "score": 1}}\n'

LINES = [  # format, file around the line, its number there, the line, rule
    ("trec", TREC, 2, "301 Q0 x 17 nan t", "not-finite"),
    ("trec", TREC, 2, "301 Q0 x 17 -inf t", "not-finite"),
    ("trec", TREC, 2, "301 Q0 x 17 1e999 t", "not-finite"),
    ("trec", TREC, 2, "301 Q0 x 17 high t", ""),
    ("trec", TREC, 2, "301 Q0 x 17 0x10 t", ""),
    ("trec", TREC, 2, "301 Q0 x 17 1,5 t", ""),
    ("trec", TREC, 2, "301 Q0 x 17 t", "columns"),
    ("trec", TREC, 2, "301 Q0 x  1.0 t", "columns"),
    ("trec", TREC, 2, "301 Q0 x 1 1.0 ", "columns"),
    ("trec", TREC, 2, "301", "columns"),
    ("trec", TREC, 2, "q1 Q0 My Doc D13 2 0.5 t", "columns"),
    ("trec", TREC, 2, "# mine", "columns"),
    ("trec", TREC, 2, "q1 Q0 d1 2 0.5 t", "duplicates"),
    ("trec", TREC, 2, "q1 Q0 d\xff 2 0.5 t", ""),
    ("qrels", QRELS, 2, "q1 0 d1 nan", "not-finite"),
    ("qrels", QRELS, 2, "q1 0 d1 x", ""),
    ("qrels", QRELS, 2, "q1 0 d1 99999999999", ""),
    ("qrels", QRELS, 2, "q1 0 d1", "columns"),
    ("qrels", QRELS, 2, "q1 0 d1 1 1", "columns"),
    ("qrels", QRELS, 2, "q0 0 d0 1", "duplicates"),
    ("letor", LETOR, 2, "nan qid:1 1:0", "not-finite"),
    ("letor", LETOR, 2, "python 2:2.5", ""),
    ("letor", LETOR, 2, "2222222222221 qid:1 1:1", ""),
    ("letor", LETOR, 2, "1 1:0.5 2:1", "columns"),
    ("letor", LETOR, 2, "1 qid: 1:0.5", "columns"),
    ("letor", LETOR, 2, "1 qid:\xff 1:0", ""),
    ("beir", "query-id\tcorpus-id\tscore\n1\td\t1\n{}\n2\td\t1\n", 3, "1\te\tx", ""),
    ("beir", "query-id\tcorpus-id\tscore\n1\td\t1\n{}\n2\td\t1\n", 3, "1\td\t0", "duplicates"),
    ("msmarco", "1\td\t1\n{}\n2\td\t1\n", 2, "1\te\t1.5", ""),
    ("msmarco", "1\td\t1\n{}\n2\td\t1\n", 2, "1\td\t2", "duplicates"),
    ("msmarco", "1\td\t1\n{}\n2\td\t1\n", 2, "# by me on Monday", "columns"),
    ("ranklib", RANKLIB, 2, "q1\t1\tinf", "not-finite"),
    ("ranklib", RANKLIB, 3, "q1\t2\t1", ""),
    ("ranklib", RANKLIB, 2, "q1\t7\t1", ""),
    ("table", CSV, 3, "q,y,high", ""),
    ("table", CSV, 3, "q,y,", ""),
    ("table", CSV, 3, "q,y,inf", "not-finite"),
    ("table", CSV, 3, "q,y", "columns"),
    ("table", CSV, 3, "q,x,1", "duplicates"),
    ("table", CSV, 3, "q,,1", ""),
    ("table", CSV, 3, ",y,1", ""),
    ("table", CSV, 3, "q,\xff,1", ""),
    ("jsonl", JSONL, 2, '{"qid": "q", "docno": "b"}', "columns"),
    ("jsonl", JSONL, 2, '{"qid": "q", "docno": "b", "score": NaN}', "not-finite"),
    ("jsonl", JSONL, 2, '{"qid": "q", "docno": "b", "score": "1"}', ""),
    ("jsonl", JSONL, 2, '{"qid": "q", "docno": "b", "score": true}', ""),
    ("jsonl", JSONL, 2, '{"qid": 7, "docno": "b", "score": 1}', ""),
    ("jsonl", JSONL, 2, '{"qid": "q", "docno": null, "score": 1}', "columns"),
    ("jsonl", JSONL, 2, '{"qid": "q", "docno": "a", "score": 1}', "duplicates"),
    ("jsonl", JSONL, 2, '["q", "a", 1]', ""),
    ("jsonl", JSONL, 2, '{"qid": "q"', ""),
    ("jsonl", JSONL, 2, '{"qid": "q", "docno": "\xff", "score": 1}', ""),
]


@pytest.mark.parametrize(("format", "text", "number", "line", "rule"), LINES)
def test_a_wrong_line(
    write: Write, dataset: Qrels, format: str, text: str, number: int, line: str, rule: str
) -> None:
    path = write("f", text.format(line).encode("latin-1"))
    if format in ("qrels", "letor", "beir"):
        found = refused(readers.read_qrels, path, format=format.replace("qrels", "trec"))
    else:
        found = refused(readers.read_run, path, format=format, dataset=dataset)
    assert found == [(f"f:{number}", rule)]


PREDICTIONS = [  # text for five rows, place, rule
    ("3\n1\n2\n0.5\n", "p.txt", "row-count"),
    ("3\n1\n2\n0.5", "p.txt:4", "row-count"),
    ("3\n1\n2\n0.5\n1\n1\n", "p.txt", "row-count"),
    ("my scores\n3\n1\n2\n0.5\n1\n", "p.txt:1", "header-line"),
    ("0\n3.5\n1.5\n2\n0.5\n1\n", "p.txt", "row-count"),
    ("3\n1\nnan\n0.5\n1\n", "p.txt:3", "not-finite"),
    ("# a\n3\n1\nnan\n\n", "p.txt:4", "not-finite"),
    ("3\n1\n2\nx1\n1\n", "p.txt:4", ""),
    ("3\n1\n2 7\n0.5\n1\n", "p.txt:3", "columns"),
    ("3\n1\n\n0.5\n1\n", "p.txt:3", "row-count"),
    ("3\n1\n2\n0.5\n1\n\n# the end\n", "p.txt:7", "columns"),
    ("0.5\n# mine\n1\n1\n2\n", "p.txt:2", "columns"),
    ("3\n1\n2\n0.5\n1e", "p.txt:5", "truncated"),
    (str([-1.27, 2.5, 0.1, 4.0, 1e-9]), "p.txt:1", "columns"),
    (f"# of a model\n{[-1.27, 2.5, 0.1, 4.0, 1e-9]}\n", "p.txt:2", "columns"),
    (str([i / 7 for i in range(20_000)]), "p.txt:1", "columns"),
    ("[-1.27 2.5\n 3. 1.25\n 0.5]\n", "p.txt:1", "columns"),
    ("tensor([0.5, 0.25], device='cuda:0')\n", "p.txt:1", "columns"),
    ("tensor(1.33, grad_fn=<X>)\n" * 5, "p.txt:1", "columns"),
    ("np.float64(-2.)\n" * 5, "p.txt:1", "columns"),
    ("0.3 0.7\n" * 5, "p.txt:1", "columns"),
    ("0.1,0.2,0.7\n" * 5, "p.txt:1", "columns"),
    ("0 0.25\n1 0.5\n2 0.5\n3 1\n4 1\n", "p.txt:1", "columns"),
    ("0,5\n0,25\n1,5\n1,25\n1,75\n", "p.txt:1", "columns"),
]


@pytest.mark.parametrize("format", [None, "scores"])
@pytest.mark.parametrize(("text", "place", "rule"), PREDICTIONS)
def test_wrong_predictions(
    write: Write, dataset: Qrels, format: str | None, text: str, place: str, rule: str
) -> None:
    path = write("p.txt", text)
    for read in (readers.read_run, lambda *at, **how: list(run_parts(*at, **how))):
        assert refused(read, path, dataset=dataset, format=format)[0] == (place, rule)


def tar() -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("p.txt"), io.BytesIO(b""))
    return sink.getvalue()


WHOLE = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
FILES = [  # name, bytes, place, rule: read as a run and as qrels
    ("q.gz", gzip.compress(WHOLE * 99, mtime=0)[:-20], "q.gz", "truncated"),
    ("q.xz", lzma.compress(WHOLE * 99)[:-20], "q.xz", "truncated"),
    ("q.gz", gzip.compress(WHOLE * 99, mtime=0)[:-8] + b"12345678", "q.gz", "damaged"),
    ("q.run.gz", gzip.compress(bz2.compress(WHOLE), mtime=0), "q.run.gz", ""),
    ("q.txt", b"", "q.txt", "empty-file"),
    ("q.gz", gzip.compress(b"", mtime=0), "q.gz", "empty-file"),
    ("q.txt", b"\n# nothing\n\n", "q.txt", "empty-file"),
    ("q.txt", WHOLE.decode().encode("utf-16"), "q.txt", ""),
    ("q.txt", WHOLE.decode().encode("utf-32"), "q.txt", ""),
    ("q.txt", b"q1 0 d1 1\rq1 0 d2 0\r", "q.txt", ""),
    ("q.zip", b"PK\x03\x04rest", "q.zip", ""),
    ("q.pred", pickle.dumps([0.5, 0.25]), "q.pred", ""),
    ("q.bin", b"12 0 d1 1\n12 0\x00\x01\n\0", "q.bin", ""),
    ("q.txt", WHOLE + b"x" * (6 << 20) + b"\n", "q.txt:4", ""),
    ("q.tar", tar(), "q.tar", ""),
    ("q.html", b"<!DOCTYPE html>\n<html><body>404</body></html>\n", "q.html", ""),
]


@pytest.mark.parametrize(("name", "data", "place", "rule"), FILES)
def test_an_unreadable_file(write: Write, name: str, data: bytes, place: str, rule: str) -> None:
    path = write(name, data)
    if not name.endswith("html"):
        assert refused(readers.read_qrels, path, format="trec") == [(place, rule)]
        if place != "q.txt:4":
            assert refused(readers.read_run, path, format="trec") == [(place, rule)]
    if place != "q.txt:4":  # beyond what a guess looks at
        assert refused(readers.read_qrels, path) == [(place, rule)]


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst", "parquet", "arrow", "npz"])
def test_data_that_unpack_to_more_than_the_memory(
    write: Write, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(memory_limit, "_HARMLESS", 0)
    for module in (memory_limit, source):
        monkeypatch.setattr(module, "free_memory", lambda: 1 << 20)
    rows = b"q1\tQ0\td1\t1\t1\tt\n" * 80_000  # 1.3 MB
    table = pa.table({"qid": ["q"] * 20_000, "docno": [f"{at:099}" for at in range(20_000)]})
    packed, batches, arrays = io.BytesIO(), io.BytesIO(), io.BytesIO()
    table = table.append_column("score", [range(20_000)])
    parquet.write_table(table, packed)
    feather.write_feather(table, batches, "zstd", chunksize=1_000)
    np.savez_compressed(arrays, qids=["1"], n=[500_000], scores=np.zeros(500_000))
    data = {
        "gz": gzip.compress(rows, mtime=0), "bz2": bz2.compress(rows), "xz": lzma.compress(rows),
        "zst": bytes(pa.Codec("zstd").compress(rows)), "parquet": packed.getvalue(),
        "arrow": batches.getvalue(), "npz": arrays.getvalue(),
    }  # fmt: skip
    path = write(f"a.{kind}", data[kind])
    known = {"parquet": ["table"], "arrow": ["table"], "npz": ["batch"]}
    formats = known.get(kind, ["trec", "json"])
    for format in formats:
        assert refused(readers.read_run, path, format=format) == [(path, "unpacks-too-far")]


NEARLY = [  # kind, text, rule: files that are in no format
    ("run", "q Q0 d1 1 2.0\nq Q0 d2 2 1.0\n", "columns"),
    ("run", "q1 d1 1.5\nq1 d2 0.5\n", "columns"),
    ("run", "q1,d1,1.5\nq1,d2,0.5\n", "columns"),
    ("run", "q1\td1\t1.5\nq1\td2\t0.5\n", "columns"),
    ("run", "number,text,value\nq1,d1,1.5\nq1,d2,0.5\n", "columns"),
    ("run", "q1,Q0,d1,1,1.5,t\nq1,Q0,d2,2,0.5,t\n", "columns"),
    ("qrels", "q1,d1,1\nq1,d2,0\n", "columns"),
    ("qrels", "q1,0,d1,1\nq1,0,d2,0\n", "columns"),
    ("qrels", "q1 d1 1\nq1 d2 0\n", "columns"),
    ("qrels", "q1 d1 1\nq1 d2 2\n", "columns"),
    ("run", "some words\nof prose\n", ""),
]


@pytest.mark.parametrize(("kind", "text", "rule"), NEARLY)
def test_a_file_in_nearly_a_format(write: Write, kind: str, text: str, rule: str) -> None:
    read = readers.read_run if kind == "run" else readers.read_qrels
    assert refused(read, write("a", text)) == [("a:1", rule)]


def test_swapped_files(write: Write) -> None:
    swapped = [("a.run", "swapped-files")]
    assert refused(readers.read_qrels, write("a.run", "q Q0 d 1 2.0 t\n")) == swapped
    assert refused(readers.read_run, write("a.run", "q 0 d 1\n")) == swapped
    assert refused(readers.read_run, write("a.run", "1 qid:1 1:0\n")) == swapped


@pytest.mark.parametrize(
    ("format", "text", "place"),
    [
        ("trec", "q Q0 d1 1 2 t\nq Q0 d3 3 0.", "f:2"),
        ("msmarco", "q\td1\t1\nq\td3", "f:2"),
        ("table", "qid,docno,score\nq,d,1\nq,e", "f:3"),
    ],
)
def test_a_file_that_ends_in_the_middle_of_a_line(
    write: Write, format: str, text: str, place: str
) -> None:
    assert refused(readers.read_run, write("f", text), format=format) == [(place, "truncated")]


def test_a_header_line(write: Write) -> None:
    text = "{} Q0 docno rank {} tag\n8 Q0 d1 1 2 t\n8 Q0 d2 2 1 t\n"
    path = write("a.run", text.format("who", "much"))
    assert refused(readers.read_run, path) == [("a.run:1", "header-line")]
    path = write("a.run", text.format("topic", "score"))
    assert refused(readers.read_run, path) == [("a.run:1", "header-line")]
    assert readers.read_run(path, format="table").to_dict() == {"8": {"d1": 2, "d2": 1}}
    table, columns = write("q.csv", "wer,judged\n1,2\n"), {"qid": 1, "grade": 2}
    found = refused(readers.read_qrels, table, format="table", columns=columns)
    assert found == [("q.csv:1", "header-line")]
    # a word in place of the only score is no header
    assert refused(readers.read_run, write("a.run", "301 Q0 DOC 1 x t\n")) == [("a.run:1", "")]


def npy(array: object) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)  # type: ignore[arg-type]
    return file.getvalue()


class Trap:
    """Ends the process if it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, ("raise SystemExit('unpickled')",))


ARRAYS = [
    (npy(np.zeros((5, 2))), "p.npy", ""),
    (npy(np.array(["a"] * 5)), "p.npy", ""),
    (npy(np.zeros(5, "<c8")), "p.npy", ""),
    (npy(np.zeros(4)), "p.npy", "row-count"),
    (npy(np.array([1, np.nan, 1, 1, 1])), "p.npy: row 2", "not-finite"),
    (npy(np.array([Trap()] * 5, object)), "p.npy", ""),
    (npy(np.zeros(5))[:-9], "p.npy", ""),
    (npy(np.zeros(5)).replace(b"(5,)", b"(-1,"), "p.npy", ""),
    (npy(np.zeros(5)).replace(b"(5,), }" + b" " * 13, b"(99999999999999,), }"), "p.npy", ""),
    (b"1\n2\n", "p.npy", ""),
    (pickle.dumps([0.5] * 5), "p.npy", ""),
]


@pytest.mark.parametrize(("data", "place", "rule"), ARRAYS)
def test_a_wrong_array(write: Write, dataset: Qrels, data: bytes, place: str, rule: str) -> None:
    path = write("p.npy", data)
    assert refused(readers.read_run, path, dataset=dataset, format="npy") == [(place, rule)]


def test_misspelt_formats_and_options(write: Write) -> None:
    path = write("a.run", "q Q0 d 1 2.0 t\n")
    with refuses("a.run", error=UnknownNameError, suggests="trec"):
        readers.read_run(path, format="treck")
    with refuses("a.run", error=UnknownNameError, suggests="group"):
        readers.read_qrels(path, format="letor", groups="x")
    with refuses("a.run", error=UnknownNameError):
        list(run_parts(path, group="x"))
    with refuses("a.run", error=InputError):
        readers.read_run(path, format="beir")
    with pytest.raises(InputError, match=r"^a: .*\bmsmarco\b.*\branklib\b"):
        readers.guess_format(write("a", "q\t0\t1\nq\t1\t2\n"), "run")
