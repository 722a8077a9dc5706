"""JSON of qids, docnos and numbers."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import refused, warned

import harness
from harness.core.qrels_and_runs import Qrels, Run
from harness.errors import SHOWN, HarnessWarning
from harness.readers import read_qrels, read_run
from harness.readers.in_memory import as_table

NAMES = st.text('ab,:{}[]"\\é€😀\n \u2028', max_size=6)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
OBJECTS = st.dictionaries(NAMES, st.dictionaries(NAMES, NUMBERS, max_size=4), max_size=4)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("json") / "a.json"


@given(OBJECTS, st.sampled_from([None, 1]), st.booleans())
def test_it_is_read_as_python_reads_it(
    path: Path, table: dict[str, dict[str, float]], indent: int | None, ascii: bool
) -> None:
    text = json.dumps(table, indent=indent, ensure_ascii=ascii)
    path.write_bytes(b"\xef\xbb\xbf" * ascii + text.encode())
    if any(table.values()):
        found, _ = warned(read_run, path, format="json")
        answered = {qid: row for qid, row in table.items() if row}
        assert found.to_dict() == {
            qid: {docno: float(score) for docno, score in row.items()}
            for qid, row in answered.items()
        }
        assert [*found.to_dict()] == [*answered]
    else:
        assert refused(read_run, path, format="json") == [(str(path), "empty-file")]


PAIRS = st.lists(
    st.tuples(NAMES, st.lists(st.tuples(st.sampled_from(["a", ":", "é", "a:"]), NUMBERS))),
    min_size=1, max_size=3,
)  # fmt: skip


@given(PAIRS, st.sampled_from([":", r"\u003a", r"\u003A"]))
def test_keys_that_repeat(path: Path, pairs: Any, colon: str) -> None:
    def quoted(name: str) -> str:
        return json.dumps(name).replace(":", colon)

    rows = [",".join(f"{quoted(d)}: {v}" for d, v in row) for _, row in pairs]
    names = [quoted(qid) for qid, _ in pairs]
    path.write_text("{" + ",".join(f"{n}: {{{r}}}" for n, r in zip(names, rows, strict=True)) + "}")
    levels = [[qid for qid, _ in pairs], *([docno for docno, _ in row] for _, row in pairs)]
    repeated = sum(len(names) - len({*names}) for names in levels)
    if repeated:
        found = refused(read_run, path, format="json")
        assert found == [(str(path), "duplicates")] * min(repeated, SHOWN)
    elif any(rows):
        assert warned(read_run, path, format="json")[0].n_rows == sum(len(r) for _, r in pairs)


@pytest.mark.parametrize(
    ("text", "place", "rule"),
    [
        ('{,"a":{"x":1}}', ":1", ""),
        ('{"a":{"x":1},\n"é":{"y":}}', ":2", ""),
        ('{"a":{"x":1}}\n{"b":{"x":}}', ":2", ""),
        ('{"a":{"x":1}}\n{"b":{"x":1}}\n{"a":{"z":1}}', "", "duplicates"),
        ('{"a":[1,2],"b":{"x":1}}', "", ""),
        ('{"a":{"x":1},"b":3}', "", ""),
        ('[{"a":{"x":1}}]', "", ""),
        ('{"a":{"x":[1,{"k":[2]}]}}', ": query 'a', docno 'x'", ""),
        ('{"a":{"x":"1"}}', ": query 'a', docno 'x'", ""),
        ('{"a":{"x":null}}', ": query 'a', docno 'x'", ""),
        ('{"a":{"x":true}}', ": query 'a', docno 'x'", ""),
        ('{"a":{"x":NaN}}', ": query 'a', docno 'x'", "not-finite"),
        ('{"a":{"x":' + "9" * 400 + "}}", ": query 'a', docno 'x'", "not-finite"),
        ('{"a":{"x":' + "9" * 5000 + "}}", "", ""),
        ('{"q1":' * 100_000, "", ""),
        (b'{"a":{"x":1},"b":{"\xff":1}}', "", ""),
    ],
)
def test_faults(path: Path, text: str | bytes, place: str, rule: str) -> None:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert refused(read_run, path, format="json") == [(f"{path}{place}", rule)]


QUERIES = [
    {"1": {"0": 2, "1": 0, "2": 1}, "2": {"0": 1, "1": 1, "2": 0}, "10": {"0": 0, "1": 3, "2": 1}},
    {"qid": {"0": 1, "7": 2}, "true": {"2": 1}, "10": {"0": 1, "1": 0, "2": 2}},
    {"query": {"a": 1, "b": 0}, "label": {"a": 2, "b": 1}},
    {"1": {"qid": 1, "score": 2, "label": 1}, "10": {"qid": 3}},
    {"q1": {"query": 1, "label": 2, "score": 1}, "q2": {"query": 0, "label": 1, "score": 3}},
]
COLUMNS = [
    {"qid": {"0": "1", "1": "10"}, "docno": {"0": "a", "1": "b"}, "score": {"0": 2, "1": 1}},
    {"qid": {"0": 1, "1": 10}, "label": {"0": 2, "1": 1}, "score": {"0": 2, "1": 1}},
    {"qid": {"7": 1}, "docno": {"7": 3}, "label": {"7": 2}, "score": {"7": 1}},
    {"0": {"qid": 1, "docno": 3, "rel": 1, "score": 2}},
    {"qid": ["1", "10"], "docno": ["a", "b"], "score": [2, 1], "rel": [0, 1]},
]


@pytest.mark.parametrize("read", [read_run, read_qrels])
@pytest.mark.parametrize("table", QUERIES)
def test_queries_and_documents_with_names_of_columns(
    path: Path, table: dict[str, dict[str, int]], read: Any
) -> None:
    path.write_text(json.dumps(table))
    assert read(path).to_dict() == table


@pytest.mark.parametrize("read", [read_run, read_qrels])
@pytest.mark.parametrize("table", COLUMNS)
def test_columns_of_a_data_frame(path: Path, table: Any, read: Any) -> None:
    path.write_text(json.dumps(table))
    assert refused(read, path, format="json") == [(str(path), "columns")]


@pytest.mark.parametrize("form", ["lines", "array", "indented", "records"])
@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_rows_in_a_list_of_each_query(tmp_path: Path, form: str, kind: str) -> None:
    number = "score" if kind == "run" else "grade"
    rows: dict[str, dict[str, float]] = {"10": {"a=1": 2, "b": 0}, "2": {}, "1": {"b": 3}}
    records = [
        {"query": qid, "hits": [{"docno": d, number: n, "x": "y"} for d, n in row.items()], "ms": 4}
        for qid, row in rows.items()
    ]
    path = tmp_path / "hits.jsonl"
    text = json.dumps(records, indent=1 if form == "indented" else None)
    path.write_text("\n".join(map(json.dumps, records[::-1])) if form == "lines" else text)
    given: Any = records if form == "records" else path
    expected = {qid: row for qid, row in rows.items() if row}
    table = as_table(Run if kind == "run" else Qrels, given)
    assert table.to_dict() == expected


def test_a_line_of_nested_rows_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "hits.jsonl"
    path.write_text(
        '{"query": "7", "hits": [{"docno": "a", "score": 1}]}\n{"query": "8" "hits": 1}\n'
    )
    assert refused(read_run, path) == [(f"{path}:2", "")]


def test_documents_in_lists_have_the_line_of_their_list(tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    path.write_text(
        '{"qid": "q1", "docnos": ["a", "b", "c"], "grades": [1, 0, 2]}\n'
        '{"qid": "q2", "docnos": ["a", "b"], "grades": [-1, -1]}\n'
        '{"qid": "q3", "docnos": ["a", "b"], "grades": [1, 0.5]}\n'
    )
    assert warned(read_qrels, path)[1] == [("unusable-judgements", 1, 2)]
    with pytest.warns(HarnessWarning):
        problems = refused(harness.evaluate, path, {"q1": {"a": 1.0}}, ["map"])
    assert problems == [(f"{path}:3", "grade-values")]
