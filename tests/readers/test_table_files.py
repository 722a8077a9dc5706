"""Tables with named columns: CSV, TSV, JSON lines, Parquet, Arrow, and frames in memory."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from outcomes import refused, warned
from table_forms import FILES, OBJECTS, table_as

from harness import readers
from harness.core.qrels_and_runs import Qrels, Run
from harness.readers.column_roles import NAMES

Write = Callable[..., str]
Columns = dict[str, list[Any]]
pytestmark = pytest.mark.filterwarnings("ignore:.* are not next to each other")

QIDS = ["10", "2", "1", "10", "2", "1", "10"]
DOCNOS = ["x7", "30", "b", "30", "x7", "zz", "b"]
GRADES = [0, 2, 1, 2, 0, 0, 1]
SHUFFLED = [4, 0, 6, 5, 3, 1, 2]
SCORES = [GRADES[at] - 0.25 for at in SHUFFLED]
RUN: Columns = {
    "qid": [QIDS[at] for at in SHUFFLED],
    "docno": [DOCNOS[at] for at in SHUFFLED],
    "score": SCORES,
}
QRELS: Columns = {"qid": QIDS, "docno": DOCNOS, "grade": GRADES}
UNKNOWN = ["thing", "my_document_column", "key_of_hit", "id", "docket", "Unnamed", "text"]


every_form = pytest.mark.parametrize("form", [*FILES, *OBJECTS])


def renamed(table: Columns, **names: str) -> Columns:
    return {names.get(role, role): values for role, values in table.items()}


def as_table(given: Any, of: type[Qrels] | type[Run], **options: Any) -> Any:
    if not isinstance(given, (str, readers.Source)):
        return readers.from_frame(given, of, **options)
    return (readers.read_qrels if of is Qrels else readers.read_run)(given, **options)


@pytest.mark.parametrize("role", ["qid", "docno", "grade", "score"])
def test_every_usual_name(tmp_path: Path, role: str) -> None:
    of, table = (Qrels, QRELS) if role == "grade" else (Run, RUN)
    for name in NAMES[role]:
        read = readers.from_frame(pa.table(renamed(table, **{role: name})), of)
        assert read.n_rows == 7, name
        assert not read.docnos.positional, name


@every_form
@pytest.mark.parametrize("whole", [False, True], ids=["text", "integers"])
def test_unknown_names_are_refused(tmp_path: Path, form: str, whole: bool) -> None:
    numbers = {docno: at for at, docno in enumerate(dict.fromkeys(DOCNOS), 100)}
    for name, (of, table) in itertools.product(UNKNOWN, ((Qrels, QRELS), (Run, RUN))):
        docnos = [numbers[one] for one in table["docno"]] if whole else table["docno"]
        given = table_as(form, renamed({**table, "docno": docnos}, docno=name), tmp_path)
        options = {} if of is Qrels else {"dataset": Qrels.from_dict({"10": {"a": 1}})}
        place = given if isinstance(given, str) else "data frame"
        assert refused(as_table, given, of, **options) == [(place, "columns")]
        read = as_table(given, of, columns={"docno": name})
        assert read.n_rows == 7
        assert not read.docnos.positional


@pytest.mark.parametrize("columns", [{"grade": "useful"}, {"grad": "usefulness"}, {"grade": 9}])
def test_wrong_columns(write: Write, columns: dict[str, str]) -> None:
    path = write("q.csv", "qid,docno,usefulness\na,x,1\n")
    rule = "columns" if columns == {"grade": 9} else ""
    assert refused(readers.read_qrels, path, format="table", columns=columns) == [(path, rule)]
    assert refused(readers.read_qrels, path, format="table") == [(path, "")]


def test_columns_between_blanks(write: Write) -> None:
    expected = {"10": {"d 1": 0.5}, "2": {"d3": -1.0, "d1": 2.0}}
    text = '"qid" "docno" "my_score"\n10 "d 1" 0.5\n2 "d3" -1\n2 "d1" 2\n'
    path = write("r.txt", text)  # as R's write.table has it
    assert readers.read_run(path, columns={"score": "my_score"}).to_dict() == expected
    path = write("s.txt", "score  topic doc\n0.5 10\t d1\r\n  2 2 d1 \n-1   2 d3\n")
    expected = {"10": {"d1": 0.5}, "2": {"d1": 2.0, "d3": -1.0}}
    assert readers.guess_format(path, "run") == "table"
    assert readers.read_run(path).to_dict() == expected
    path = write("t.txt", "0.5 10 d1\n2  2\td1\n-1 2 d3\n")
    assert readers.read_run(path, columns={"score": 1, "qid": 2, "docno": 3}).to_dict() == expected
    assert refused(readers.read_run, write("u.txt", "qid docno score\n1 d\n2 d 7\n3 d 7\n")) == [
        ("u.txt:2", "columns")
    ]


def test_ranks_in_place_of_scores(write: Write) -> None:
    run = readers.read_run(write("r.csv", "qid,docno,rank\nq,a,1\nq,b,2\n"))
    assert run.to_dict() == {"q": {"a": -1, "b": -2}}


def test_columns_by_number(write: Write) -> None:
    # xgboost's sample: label, three features, group
    path = write("rank.csv", "# by me\n0,10.02,7.3,0.1,1\n1,9.9,9.9,0.04,1\n0,1,1,1,2\n")
    qrels = readers.read_qrels(path, format="table", columns={"grade": 1, "qid": 5})
    assert qrels.to_dict() == {"1": {"d0": 0, "d1": 1}, "2": {"d0": 0}}
    for between in ",\t":
        rows = [["0.5", f'"b{between}2"', '"10"'], ["2", '"a"', '"1"']]
        path = write("r.csv", "".join(between.join(row) + "\n" for row in rows))
        read = readers.read_run(path, format="table", columns={"qid": 3, "docno": 2, "score": 1})
        assert read.to_dict() == {"10": {f"b{between}2": 0.5}, "1": {"a": 2.0}}


FAULTS = [  # column, values of three rows, row, rule
    ("docno", ["x", "y", "x"], 3, "duplicates"),
    ("docno", ["x", None, "z"], 2, ""),
    ("qid", ["a", "a", None], 3, ""),
    ("score", [1.0, None, 1.0], 2, ""),
    ("score", [1.0, float("nan"), 1.0], 2, "not-finite"),
    ("score", ["high", "low", "low"], 0, "columns"),
    ("score", [[1.0], [2.0], [3.0]], 0, "columns"),
    ("qid", [{"x": "a"}] * 3, 0, "columns"),
]


@pytest.mark.parametrize("form", ["parquet", "arrow", "table"])
@pytest.mark.parametrize(("column", "values", "row", "rule"), FAULTS)
def test_wrong_rows_of_binary_tables(
    tmp_path: Path, form: str, column: str, values: list[Any], row: int, rule: str
) -> None:
    table = {"qid": ["a"] * 3, "docno": ["x", "y", "z"], "score": [1.0, 2.0, 3.0], column: values}
    given = table_as(form, table, tmp_path)
    place = given if isinstance(given, str) else "data frame"
    expected = [(f"{place}: row {row}" if row else place, rule)]
    assert refused(as_table, given, Run) == expected
    if rule == "duplicates":
        run, found = warned(as_table, given, Run, duplicates="last")
        assert (run.n_rows, found[0][:2]) == (2, ("dropped-rows", 1))


def test_grades_of_a_table(write: Write) -> None:
    for grade, rule in (("nan", "not-finite"), ("99999999999", "")):
        path = write("q.csv", f"qid,docno,grade\na,x,1\na,y,{grade}\n")
        assert refused(readers.read_qrels, path) == [("q.csv:3", rule)]
        frame = pd.DataFrame({"qid": ["a"], "docno": ["x"], "grade": [float(grade)]})
        if grade != "nan":
            assert refused(readers.from_frame, frame, Qrels) == [("data frame: row 1", rule)]
    path = write("q.csv", "qid,docno,grade\na,x,1\na,y,0.5\n")
    assert readers.read_qrels(path).to_dict() == {"a": {"x": 1, "y": 0.5}}


@pytest.mark.parametrize("form", ["jsonl", "parquet", "arrow", *OBJECTS])
def test_text_that_looks_like_a_float_is_an_identifier_as_it_is(tmp_path: Path, form: str) -> None:
    for qids in (["10.0", "2.0"], [10.0, 2.0]):
        table = {"qid": qids, "docno": ["7.0", "7.0"], "grade": [1, 1]}
        read = as_table(table_as(form, table, tmp_path), Qrels)
        assert read.to_dict() == {f"{qid:g}" if qid in (10, 2) else qid: {"7.0": 1} for qid in qids}


@pytest.mark.parametrize("sign", [",", "\t", ";"])
def test_quotes_make_a_qid_of_a_csv_file_text(write: Callable[[str, str], str], sign: str) -> None:
    rows = [("qid", "docno", "grade"), ("10.0", "7.0", "1"), ("2.0", "7.0", "2")]
    text = "\n".join(map(sign.join, rows)) + "\n"
    assert readers.read_qrels(write("a.csv", text)).to_dict() == {"10": {"7.0": 1}, "2": {"7.0": 2}}
    text = "\n".join(sign.join([f'"{qid}"', *more]) for qid, *more in rows) + "\n"
    expected = {"10.0": {"7.0": 1}, "2.0": {"7.0": 2}}
    assert readers.read_qrels(write("b.csv", text)).to_dict() == expected
