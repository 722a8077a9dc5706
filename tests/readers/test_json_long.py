"""Long JSON texts read part by part, against Python's reader of the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.readers import json_pieces, jsonl, read_run
from harness.readers.json_long import parse_long
from harness.readers.json_text import once, parse

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(',"\\é[}:a\ud83d', max_size=4),
    lambda of: st.lists(of, max_size=4) | st.dictionaries(st.text(max_size=3), of, max_size=4),
)


def _short(value: Any) -> Any:
    if isinstance(value, dict) and value:
        return {"...": "..."}
    return ["..."] if isinstance(value, list) and value else value


def _said(text: bytes, read: Any) -> Any:
    try:
        found = read(text)
    except UnicodeDecodeError:
        return "no UTF-8"
    except ValueError as error:
        return str(error)
    if read is parse_long:
        return found
    is_object = isinstance(found, dict)
    return {key: _short(of) for key, of in found.items()} if is_object else _short(found)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_pieces, "_BLOCK", 7)


def _whole(text: bytes) -> Any:
    return _said(text, lambda text: parse(text, once))


@settings(max_examples=200)
@given(_VALUES, st.booleans())
def test_values_are_those_of_the_whole(value: Any, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii).encode("utf-8", "replace")
    assert _said(text, parse_long) == _whole(text)


@settings(max_examples=200)
@given(_VALUES, st.data())
def test_what_is_wrong_is_what_is_said_of_the_whole(value: Any, data: st.DataObject) -> None:
    """One character is another one, or is not there."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from([b"", *(bytes([one]) for one in b'{}[],":\\ 1a\xff')]))
    text = text[:at] + other + text[at + 1 :]
    assert _said(text, parse_long) == _whole(text)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":[[],[],[],[],[],[]],"b":{"c":1,"d":2,"e":3},"a":1}',
        b'{"a":[1,2,3,4,5,"\\ud800",6,7,8,9]}',
        b'{"a":[1,2,3,4,5,6,7,8,9],"b":' + b"9" * 5000 + b"}",
        b'{"a":[1,2,3,4,5,6,7,8,9,],"b":2}',
        b'{"a":[,1,2,3,4,5,6,7,8,9],"b":2}',
        b'{"a":1,"b":2},{"c":3,"d":4}',
        b'{"a":[{"b":1,"c":2]},"d":3}',
        b"[" * 100_000,
        b"[[],[]," * 50_000,
        b"",
    ],
    ids=["twice", "half", "digits", "comma", "no value", "two", "closed", "deep", "wide", "none"],
)
def test_faults(text: bytes) -> None:
    said = _whole(text)
    assert isinstance(said, str)
    assert _said(text, parse_long) == said


def test_a_mark_before_the_text() -> None:
    assert parse_long(b'\xef\xbb\xbf{"a":1,"b":[2,3,4,5]}') == {"a": 1, "b": ["..."]}


def test_long_lines_are_read_and_refused_as_short_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong line has each read by Python, the first is so always."""
    monkeypatch.setattr(jsonl, "_LONG", 16)
    path = tmp_path / "a.jsonl"
    row = '{"qid": "q", "docno": "%s", "score": %s, "x": [[1], {}, 2, [[]]]}\n'
    path.write_text(row % ("a", 1) + row % ("b", 2))
    assert read_run(path).to_dict() == {"q": {"a": 1.0, "b": 2.0}}
    path.write_text(row % ("a", 1) + row % ("b", "[1, 2]"))
    with pytest.raises(InputError, match=r'jsonl:2: score \["..."\] is not a number'):
        read_run(path)
    wide = ",".join(f'"k{i}": 1' for i in range(10_001))
    path.write_text(row % ("a", 1) + row.replace("]]]}", "]]], " + wide + "}") % ("b", "[]"))
    with pytest.raises(InputError, match=r"jsonl:2: more than 10,000 keys"):
        read_run(path)
