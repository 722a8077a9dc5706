"""JSON of qids, docnos and numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import refused, warned

from harness.readers import read_run

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
        assert found.to_dict() == {q: {d: float(v) for d, v in r.items()} for q, r in table.items()}
        assert [*found.to_dict()] == [*table]
    else:
        assert refused(read_run, path, format="json") == [(str(path), "empty-file")]


@pytest.mark.parametrize(
    ("text", "place", "rule"),
    [
        ('{,"a":{"x":1}}', ":1", ""),
        ('{"a":{"x":1},\n"é":{"y":}}', ":2", ""),
        ('{"a":{"x":1}}\n{"b":{"x":1}}', ":2", ""),
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
