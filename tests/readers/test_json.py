"""JSON of qids, docnos and numbers: what Python's reader says of it, with file and line."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessWarning, InputError
from harness.readers import read_qrels, read_run
from harness.readers.json_dict import once, parse

NAMES = st.text('ab,:{}[]"\\é€😀\n \u2028', max_size=6)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
OBJECTS = st.dictionaries(NAMES, st.dictionaries(NAMES, NUMBERS, max_size=4), max_size=4)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("json") / "a.json"


def outcome(path: Path, kind: Any = read_run) -> Any:
    """The dict that is read; the message of an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return kind(path, format="json").to_dict()
        except InputError as error:
            return str(error).replace(str(path), "a.json")


@given(OBJECTS, st.sampled_from([None, 1]), st.booleans())
def test_it_is_read_as_python_reads_it(
    path: Path, table: dict[str, dict[str, float]], indent: int | None, ascii: bool
) -> None:
    text = json.dumps(table, indent=indent, ensure_ascii=ascii)
    path.write_bytes(b"\xef\xbb\xbf" * ascii + text.encode())
    found = outcome(path)
    if any(table.values()):
        assert found == {qid: {d: float(v) for d, v in row.items()} for qid, row in table.items()}
        assert [*found] == [*table]
        assert [[*rows] for rows in found.values()] == [[*rows] for rows in table.values()]
    else:
        assert found.startswith("a.json: the file holds no rows")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{,"a":{"x":1}}', "a.json:1: not JSON"),
        ('{"a":{"x":1},\n"é":{"y":}}', "a.json:2: not JSON (Expecting value, column 10)"),
        ('{"a":{"x":1}}\n{"b":{"x":1}}', "a.json:2: not JSON (Extra data, column 1)"),
        ('{"a":[1,2],"b":{"x":1}}', "a.json: not a mapping of qid to docno to number"),
        ('{"a":{"x":1},"b":3}', "a.json: not a mapping of qid to docno to number"),
        ('[{"a":{"x":1}}]', "a.json: not a mapping of qid to docno to number"),
        ("12", "a.json: not a mapping of qid to docno to number"),
        ('{"a":{"x":[1,{"k":[2]}],"y":{"z":1,"z":2}}}',
         "a.json: query 'a', docno 'x': score [1, {\"k\": [2]}] is not a number"),
        ('{"a":{"x":"\\ud800"}}', "a.json: not JSON (\\ud800 is half of a surrogate pair"),
        ('{"a":{"x":' + "9" * 5000 + "}}", "a.json: not JSON"),
        ('{"a":{"x":' + "9" * 400 + "}}", "a.json: query 'a', docno 'x': score 9"),
        (b'{"a":{"x":1},"b":{"\xff":1}}', "a.json: not UTF-8 text"),
    ],
)  # fmt: skip
def test_faults(path: Path, text: str | bytes, what: str) -> None:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert outcome(path).startswith(what)


def test_repeated_keys(path: Path) -> None:
    rows = ", ".join(f'"d{i}": {i}' for i in range(20))
    path.write_text(f'{{"a": {{{rows}, "d3": 99}}, "b": {{"x": 1}}, "a": {{"x": 5}}}}')
    with pytest.raises(InputError) as error:
        read_run(path)
    assert [(one.rule, one.found) for one in error.value.problems] == [
        ("duplicates", "d3"), ("duplicates", "a"),
    ]  # fmt: skip
    first = {f"d{i}": i for i in range(20)}
    for kept, found in (
        ("first", {"a": first, "b": {"x": 1}}),
        ("last", {"b": {"x": 1}, "a": {"x": 5}}),
    ):
        with pytest.warns(HarnessWarning, match="2 keys stand twice in one object; the"):
            assert read_run(path, duplicates=kept).to_dict() == found  # type: ignore[arg-type]


def test_numbers_of_every_kind(path: Path) -> None:
    path.write_text('{"a": {"x": 1, "y": 2.0, "z": -3e0, "w": 1}}')
    assert outcome(path, read_qrels) == {"a": {"x": 1, "y": 2, "z": -3, "w": 1}}
    path.write_text('{"a": {"x": 1, "y": 123456789012345678901234567890, "z": 0.1}}')
    assert outcome(path) == {"a": {"x": 1, "y": 123456789012345678901234567890.0, "z": 0.1}}
    path.write_text('{"a": {"x": 1, "y": 4294967296}}')
    assert outcome(path, read_qrels).startswith("a.json: 1 grade is not between -2147483647 and")


def test_once() -> None:
    pairs = [(str(at), 0) for at in range(100_000)]
    assert parse(b'{"a": 1, "b": 2}', once) == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="the key '99999' stands twice"):
        once([*pairs, pairs[-1]])
