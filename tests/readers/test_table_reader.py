"""Tables with named columns, in files and in memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from harness import readers
from harness.core.tables import Qrels, Run
from harness.errors import HarnessWarning, InputError

Write = Callable[..., str]

QRELS = {"007": {"a,b": 2, "NA": 0}, "8": {"a,b": 1}}
COLUMNS = {"query_id": ["007", "007", "8"], "docId": ["a,b", "NA", "a,b"], "rel": [2, 0, 1]}


@pytest.mark.parametrize(
    "text",
    [
        'query_id,docId,rel\n007,"a,b",2\n007,NA,0\n8,"a,b",1\n',
        "rel\tquery_id\ttext\tdocId\n2\t007\tx y\ta,b\n0.0\t007\t\tNA\n1\t8\t\ta,b\n",
        'extra,query_id,docId,rel\r\n1,007,"a,b",2\r\n1,007,NA,0\r\n1,8,"a,b",1\r\n',
    ],
    ids=["csv", "tsv", "crlf"],
)
def test_text(write: Write, text: str) -> None:
    assert readers.read_qrels(write("q.csv", text)).to_dict() == QRELS


def test_binary(write: Write) -> None:
    write("x", "")
    table = pa.table(COLUMNS)
    parquet.write_table(table, "q.parquet")
    feather.write_feather(table, "q.feather")
    feather.write_feather(table, "q.arrow", compression="uncompressed")
    for name in ("q.parquet", "q.feather", "q.arrow"):
        assert readers.read_qrels(name).to_dict() == QRELS


@pytest.mark.parametrize("codec", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("name", ["q.parquet", "q.feather"])
def test_packed_binary(write: Write, name: str, codec: str) -> None:
    buffer = pa.BufferOutputStream()
    of = {"q.parquet": parquet.write_table, "q.feather": feather.write_feather}
    of[name](pa.table(COLUMNS), buffer)
    data = buffer.getvalue().to_pybytes()
    packed = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}.get(
        codec, lambda data: pa.compress(data, "zstd", asbytes=True)
    )
    assert readers.read_qrels(write(f"{name}.{codec}", packed(data))).to_dict() == QRELS


FRAMES = {
    "arrow": lambda columns: pa.table(columns),
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "categories": lambda columns: pd.DataFrame(columns).astype(
        {"query_id": "category", "docId": "category"}
    ),
    "chunks": lambda columns: pa.concat_tables([pa.table(columns).slice(i, 1) for i in range(3)]),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames(make: Callable[[Any], Any]) -> None:
    qrels = readers.from_frame(make(COLUMNS), Qrels)
    assert qrels.to_dict() == QRELS
    columns = {**COLUMNS, "mine": [0.5, 1.0, -1.0]}
    del columns["rel"]
    run = readers.from_frame(make(columns), Run, {"score": "mine"})
    assert run.to_dict() == {"007": {"a,b": 0.5, "NA": 1.0}, "8": {"a,b": -1.0}}


def test_whole_numbers_as_names() -> None:
    frame = pd.DataFrame({"qid": [1.0, 1.0], "docno": [10, 11], "score": [1, 2]})
    assert readers.from_frame(frame, Run).to_dict() == {"1": {"10": 1, "11": 2}}


def test_ranks_in_place_of_scores(write: Write) -> None:
    run = readers.read_run(write("r.csv", "qid,docno,rank\nq,a,1\nq,b,2\n"))
    assert run.to_dict() == {"q": {"a": -1, "b": -2}}


def test_columns_by_number(write: Write) -> None:
    # xgboost's sample: label, three features, group.
    path = write("rank.csv", "0,10.02,7.3,0.1,1\n1,9.9,9.9,0.04,1\n0,1,1,1,2\n")
    qrels = readers.read_qrels(path, format="table", columns={"grade": 1, "qid": 5})
    assert qrels.to_dict() == {"1": {"d0": 0, "d1": 1}, "2": {"d0": 0}}


def test_too_many_columns(write: Write) -> None:
    def table(n: int) -> str:
        return "qid,docno,score" + ",x" * (n - 3) + "\nq,d,1" + ",0" * (n - 3) + "\n"

    most = readers.read_run(write("most.csv", table(10_000)), format="table")
    assert most.to_dict() == {"q": {"d": 1.0}}
    with pytest.raises(InputError) as error:
        readers.read_run(write("more.csv", table(10_001)), format="table")
    assert str(error.value) == (
        "more.csv: more than 10,000 columns, which are the most that are read\n"
        "  fix:   write a file of the columns that are used"
    )


def test_a_column_of_qids_may_hold_more(write: Write) -> None:
    path = write("x.csv", "a,b\n1,7\n2,7\n")
    as_scores = readers.read_run(path, columns={"qid": "a", "docno": "b", "score": "a"})
    assert as_scores.to_dict() == {"1": {"7": 1.0}, "2": {"7": 2.0}}
    path = write("y.csv", "a,b\n1,7\n2,8\n")
    as_docnos = readers.read_run(path, columns={"qid": "a", "docno": "a", "score": "b"})
    assert as_docnos.to_dict() == {"1": {"1": 7.0}, "2": {"2": 8.0}}


def test_scores_for_the_rows_of_a_dataset(write: Write, dataset: Qrels) -> None:
    text = "qid,score\nq1,3\nq1,1\nq1,2\nq2,0\nq2,1\n"
    run = readers.read_run(write("p.csv", text), dataset=dataset)
    assert run.scores.tolist() == [3, 1, 2, 0, 1]
    with pytest.raises(InputError) as error:
        readers.read_run(write("p.csv", text.replace("q1,2\n", "")), dataset=dataset)
    assert str(error.value) == (
        "p.csv:4: 4 predictions for 5 rows; query 'q2' stands where query 'q1' belongs\n"
        "  fix:   predict the dataset's rows in their order"
    )
    with pytest.raises(
        InputError, match="6 predictions for 5 rows; query 'q3' stands where the end"
    ):
        readers.read_run(write("p.csv", text + "q3,1\n"), dataset=dataset)
    with pytest.raises(InputError, match="no column of docnos found"):
        readers.read_run(write("p.csv", text))


def test_scores_for_scattered_rows(write: Write) -> None:
    with pytest.warns(HarnessWarning):
        dataset = readers.read_qrels(write("a.txt", "1 qid:a\n2 qid:b\n0 qid:a\n"))
    run = readers.read_run(write("p.csv", "qid,score\na,1\nb,2\na,3\n"), dataset=dataset)
    assert run.scores.tolist() == [1, 3, 2]


def test_scattered_rows(write: Write) -> None:
    with pytest.warns(HarnessWarning, match=r"^q\.csv: 1 query comes back after another began"):
        readers.read_qrels(write("q.csv", "qid,docno,grade\na,x,1\nb,x,1\na,y,1\n"))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "qid,docno,grade\na,x,1\na,y,0\na,x,1\n",
            {},
            "q.csv:4: the docno stands already on line 2, for the same query\n  found: a,x,1\n",
        ),
        ("qid,docno,grade\na,x,1\na,y,0.5\n", {}, "q.csv:3: grade '0.5' is not a whole number\n"),
        ("qid,docno,grade\na,x,nan\na,y,0\n", {}, "q.csv:2: grade 'nan' is not a finite number\n"),
        (
            'qid,docno,grade\n"a",x,1\n"a","y,",z\n\na,v,\r\na,w,0.5\n',
            {},
            "q.csv:3: grade 'z' is not a number\n"
            '  found: "a","y,",z\n'
            "q.csv:5: grade '' is not a number\n"
            "  found: a,v,\n"
            "  fix:   repair the line\n"
            "q.csv:6: grade '0.5' is not a whole number\n"
            "  found: a,w,0.5\n"
            "  fix:   judgements are integers; scale or round them",
        ),
        (
            "qid,docno,grade\na,x,1\na,y\na,z,1\n",
            {},
            "q.csv:3: 2 fields where 3 belong (qid, docno, grade)\n"
            "  found: a,y\n"
            "  fix:   repair the line",
        ),
        (
            "qid,docno,grade\na,x,1\na,y",
            {},
            "q.csv:3: the file ends in the middle of a line: 2 fields where 3 belong "
            "(qid, docno, grade)\n  found: a,y\n  fix:   get the whole file: lines after this "
            "one may be lost too",
        ),
        (
            "topic,judged\n1,2\n",
            {"columns": {"qid": 1, "grade": 2}},
            "q.csv:1: grade 'judged' is not a number; it looks like a header line\n"
            "  found: topic,judged\n"
            "  fix:   give the columns by their names, or delete the header line",
        ),
        (b"qid,docno,grade\na,\xff,1\n", {}, "q.csv:2: the line is not UTF-8 text\n"),
        (
            "qid,docno,usefulness\na,x,1\n",
            {},
            "q.csv: no column of grades found\n"
            "  found: columns: qid, docno, usefulness\n"
            "  fix:   name it in a config: columns: {grade: ...}; or rename the column",
        ),
        (
            "qid,docno,usefulness\na,x,1\n",
            {"columns": {"grade": "useful"}},
            "q.csv: no column 'useful'; did you mean 'usefulness'?\n"
            "  found: columns: qid, docno, usefulness",
        ),
        (
            "qid,docno,grade\na,x,1\n",
            {"columns": {"grad": "grade"}},
            "q.csv: unknown entry 'grad' in columns; did you mean 'grade'?",
        ),
        ("1,2,3\n", {"columns": {"qid": 1, "grade": 4}}, "q.csv: no column '4'"),
    ],
)
def test_refused(write: Write, text: str | bytes, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        readers.read_qrels(write("q.csv", text), format="table", **options)
    assert str(error.value).startswith(message)


def test_frames_refused() -> None:
    columns = {"qid": ["a", "a", "a"], "docno": ["x", "y", "x"], "score": [1.0, 2.0, 3.0]}
    with pytest.raises(InputError) as error:
        readers.from_frame(pa.table(columns), Run, name="runs")
    assert str(error.value) == (
        "runs: row 3: the docno stands already in row 1, for the same query\n"
        "  fix:   keep one of them, or give duplicates='last'"
    )
    with pytest.warns(HarnessWarning) as caught:
        assert readers.from_frame(pa.table(columns), Run, duplicates="last").n_rows == 2
    assert [str(w.message) for w in caught] == [
        "data frame: 1 row of 1 query repeats a docno and was dropped; the last of each is kept"
    ]
    with pytest.raises(
        InputError, match=r"^data frame: row 2: 1 value of docno \(column 'docno'\)"
    ):
        readers.from_frame(pa.table({**columns, "docno": ["x", None, "y"]}), Run)
    with pytest.raises(InputError, match=r"^data frame: row 2: score 'nan' is not a finite number"):
        readers.from_frame(pa.table({**columns, "score": [1.0, float("nan"), 1.0]}), Run)
    with pytest.raises(InputError, match=r"^data frame: a score is not a number \("):
        readers.from_frame(pa.table({**columns, "score": ["high", "low", "low"]}), Run)


def test_damaged_parquet(write: Write) -> None:
    with pytest.raises(InputError, match=r"^q\.parquet: the file is cut short"):
        readers.read_qrels(write("q.parquet", b"PAR1 and no more"))


def test_ten_lines_and_the_count_of_all(write: Write) -> None:
    text = "qid,docno,score\n" + "".join(f"q,d{i},high\n" for i in range(12)) + "q,d,1\n"
    with pytest.raises(InputError) as error:
        readers.read_run(write("r.csv", text))
    assert str(error.value).startswith("r.csv:2: score 'high' is not a number\n")
    assert str(error.value).endswith("fix:   repair the line\n... and 2 more")


@pytest.mark.parametrize("kind", [pl.Categorical(), pl.Enum(["q1", "q2", "d1", "d2"]), pl.String()])
@pytest.mark.parametrize("rows", [3, 0])
def test_categories_of_polars(kind: pl.DataType, rows: int) -> None:
    frame = pl.DataFrame({"qid": ["q1", "q1", "q2"], "docno": ["d1", "d2", "d1"], "s": [1, 2, 3]})
    frame = frame.with_columns(pl.col("qid", "docno").cast(kind)).head(rows)
    read = readers.from_frame(frame, Run)
    assert read.to_dict() == ({"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 3}} if rows else {})


@pytest.mark.parametrize("values", [pa.string(), pa.large_string(), pa.string_view()])
def test_categories_of_arrow(values: pa.DataType) -> None:
    def categories(places: list[int], names: list[str]) -> pa.ChunkedArray:
        chunks = [
            pa.DictionaryArray.from_arrays(pa.array(part, pa.int8()), pa.array(names, values))
            for part in (places[:1], places[1:])
        ]
        return pa.chunked_array(chunks)

    table = pa.table(
        {
            "qid": categories([1, 0, 0], ["q1", "q2"]),
            "docno": categories([0, 0, 1], ["d1", "d2"]),
            "grade": [1, 0, 2],
        }
    )
    read = readers.from_frame(table, Qrels)
    assert read.to_dict() == {"q2": {"d1": 1}, "q1": {"d1": 0, "d2": 2}}


def test_categories_that_are_numbers() -> None:
    numbers = pd.DataFrame({"qid": [7.0, 8.0], "docno": ["a", "b"], "score": [1, 2]})
    read = readers.from_frame(numbers.astype({"qid": "category"}), Run)
    assert read.to_dict() == {"7": {"a": 1}, "8": {"b": 2}}


@pytest.mark.usefixtures("write")
@pytest.mark.parametrize(("role", "is_a"), [
    ("qid", "a qid is text or a whole number"),
    ("docno", "a docno is text or a whole number"),
    ("score", "a score is a number"),
])  # fmt: skip
@pytest.mark.parametrize(("values", "kind"), [
    ([["a"], ["b"]], r"list<\w+: string>"),
    ([{"x": "a"}, {"x": "b"}], "struct<x: string>"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_columns_of_lists_and_structs_are_named(
    name: str, values: list[object], kind: str, role: str, is_a: str
) -> None:
    columns = {"qid": ["1", "2"], "docno": ["a", "b"], "score": [1.0, 2.0], role: values}
    {"a.parquet": parquet.write_table, "a.arrow": feather.write_feather}[name](
        pa.table(columns), name
    )
    message = rf"^{name}: the column '{role}' is of type {kind}\n  fix:   {is_a}$"
    with pytest.raises(InputError, match=message):
        readers.read_run(name)


@pytest.mark.usefixtures("write")
@pytest.mark.parametrize("groups", [1, 7, 1000])
@pytest.mark.parametrize("categories", [False, True])
def test_parquet_in_batches(groups: int, categories: bool) -> None:
    docnos = pa.array([f"d{i}é" for i in range(100)])
    qids = pa.array([f"q{i // 10}" for i in range(100)])
    if categories:
        docnos, qids = docnos.dictionary_encode(), qids.dictionary_encode()
    table = pa.table({"qid": qids, "docno": docnos, "score": range(100), "other": [["x"]] * 100})
    parquet.write_table(table, "a.parquet", row_group_size=groups)
    assert readers.read_run("a.parquet").to_dict() == {
        f"q{q}": {f"d{i}é": i for i in range(q * 10, q * 10 + 10)} for q in range(10)
    }


def test_scores_are_not_those_of_the_frame() -> None:
    """Which its owner may change: Arrow shares numpy's memory."""
    scores = np.array([0.5, 0.25])
    run = readers.from_frame(pa.table({"qid": ["q", "q"], "docno": ["a", "b"], "s": scores}), Run)
    scores[0] = 7
    assert run.to_dict() == {"q": {"a": 0.5, "b": 0.25}}


@pytest.mark.usefixtures("write")
@pytest.mark.parametrize("column", ["qid", "docno", "score"])
def test_missing_values_in_later_batches(column: str) -> None:
    columns: dict[str, list[object]] = {
        "qid": ["q"] * 10, "docno": [f"d{i}" for i in range(10)], "score": [*range(10)]
    }  # fmt: skip
    columns[column][5] = columns[column][8] = None
    parquet.write_table(pa.table(columns), "a.parquet")
    message = rf"^a.parquet: row 6: 2 values of {column} \(column '{column}'\) are missing"
    with pytest.raises(InputError, match=message):
        readers.read_run("a.parquet")
    columns[column][5] = columns[column][4]
    parquet.write_table(pa.table(columns), "a.parquet")
    message = rf"^a.parquet: row 9: 1 value of {column} \(column '{column}'\) is missing"
    with pytest.raises(InputError, match=message):
        readers.read_run("a.parquet")


@pytest.mark.parametrize("n", [140_000, 1_000_000])
def test_long_fields_of_csv(write: Write, n: int) -> None:
    """Python's csv has fields of 131,072 characters, Arrow rows of its block, by default."""
    name = "x" * n
    assert readers.read_run(
        write("a.csv", f'qid,docno,score\nq,"{name}",1\nq,b,2\n')
    ).to_dict() == {"q": {name: 1, "b": 2}}
    assert readers.read_run(write("a.csv", f"qid,docno,score,z\nq,a,1,{name}\n")).n_rows == 1
    assert (
        readers.read_run(
            write("a.csv", f"{name},qid,docno,score\n1,q,a,1\n"), format="table"
        ).n_rows
        == 1
    )
    with pytest.raises(InputError, match=r"^a.csv:3: score 'z' is not a number\n"):
        readers.read_run(write("a.csv", f'qid,docno,score\nq,"{name}",1\nq,b,z\n'), format="table")


@pytest.mark.parametrize(
    ("text", "line", "role"),
    [("q1,a,1\nq1,,1\n,b,1\n", 3, "docno"), ('q1,a,1\n\n"",b,1\n', 4, "qid")],
)
def test_a_name_that_is_missing_is_no_name(write: Write, text: str, line: int, role: str) -> None:
    path = write("a.csv", "qid,docno,score\n" + text)
    message = rf"^a.csv:{line}: a value of {role} \(column '{role}'\) is missing"
    with pytest.raises(InputError, match=message):
        readers.read_run(path)
