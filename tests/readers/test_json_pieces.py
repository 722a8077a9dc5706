"""JSON read in pieces says, of any text cut anywhere, what Python's reader says of the whole."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.errors import HarnessWarning, InputError
from harness.readers import json_pieces, read_qrels, read_run
from harness.readers.json_pieces import LONGEST
from harness.readers.json_text import once

NAMES = st.text('ab,:{}[]"\\é€😀\n \u2028', max_size=6)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
OBJECTS = st.dictionaries(NAMES, st.dictionaries(NAMES, NUMBERS, max_size=4), max_size=4)
WORDS = [
    *'{}[],:"\\ \n1.-e',
    '"a"',
    '{"a":1}',
    "null",
    "\\u0041",
    "\\ud800",
    "é",
    "{}",
    ",,",
    "[1]",
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("json") / "a.json"


def whole(text: str) -> str:
    """What is wrong with a text as a whole, in our words; "" where it is JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"a.json:{error.lineno}: not JSON ({error.msg}, column {error.colno})"
    return ""


def said(path: Path, size: int, kind: Any = read_run) -> Any:
    """What the reader makes of a file in blocks of `size` bytes; the message of an error."""
    with mock.patch.object(json_pieces, "_BLOCK", size), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return kind(path, format="json").to_dict()
        except InputError as error:
            return str(error).replace(str(path), "a.json")


@given(OBJECTS, st.integers(3, 60), st.sampled_from([None, 1]), st.booleans())
@example({"": {"": 0}}, 3, None, True)  # a block that is the mark
@example({}, 3, None, True)
def test_cut_anywhere_it_is_what_it_says(
    path: Path, table: dict[str, dict[str, float]], size: int, indent: int | None, ascii: bool
) -> None:
    text = json.dumps(table, indent=indent, ensure_ascii=ascii)
    path.write_bytes(b"\xef\xbb\xbf" * ascii + text.encode())
    found = said(path, size)
    if any(table.values()):
        rounded = {qid: {d: float(v) for d, v in rows.items()} for qid, rows in table.items()}
        assert found == rounded
        assert [*found] == [*table]
        assert [[*rows] for rows in found.values()] == [[*rows] for rows in table.values()]
    else:
        assert found.startswith("a.json: the file holds no rows")


@given(st.data(), OBJECTS, st.integers(1, 60))
def test_cut_anywhere_its_errors_are_those_of_the_whole(
    path: Path, data: st.DataObject, table: dict[str, dict[str, float]], size: int
) -> None:
    text = json.dumps(table, indent=data.draw(st.sampled_from([None, 1])), ensure_ascii=False)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.sampled_from(WORDS)) + text[at + gone :]
    path.write_bytes(text.encode())
    found, expected = said(path, size), whole(text)
    if text.lstrip(" \n").startswith("["):
        assert found.startswith("a.json: not a mapping of qid to docno to number")
    elif expected:
        half = "a.json: not JSON (\\ud800 is half of a surrogate pair"  # in a piece before
        assert str(found).startswith((expected, half) if "\\ud800" in text else expected)
    else:
        assert found == said(path, 1 << 20)


@given(st.data(), OBJECTS, st.integers(1, 300))
def test_blanks_are_left_out_where_they_are_no_part_of_a_name(
    path: Path, data: st.DataObject, table: dict[str, dict[str, float]], size: int
) -> None:
    """With 300 bytes in place of 512 KiB, and eight blanks in place of 1,024 that are left out."""
    text = json.dumps(table, indent=data.draw(st.sampled_from([None, 1])), ensure_ascii=False)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        blanks = data.draw(st.text(" \n\t\r", min_size=1, max_size=9)) * data.draw(
            st.integers(1, 12)
        )
        text = text[:at] + blanks + text[at:]
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(WORDS)) + text[at:]
    path.write_bytes(text.encode())
    expected = whole(text) or said(path, 1 << 20)
    with (
        mock.patch.object(json_pieces, "LONGEST", 300),
        mock.patch.object(json_pieces, "_BLANKS", re.compile(rb"[ \t\r\n]{8,}")),
    ):
        found = said(path, size)
    if text.lstrip(" \n\t\r").startswith("["):
        assert found.startswith("a.json: not a mapping of qid to docno to number")
    elif isinstance(found, str) and "300 bytes without" in found:
        assert max(map(len, re.split(r"[ \t\r\n]{8,}|,", text))) > 100
    elif isinstance(expected, str):
        half = "half of a surrogate" in expected or "\\ud800" in text
        starts = [expected.partition(" (")[0]]  # of two faults any may be told
        starts += ["a.json: not JSON (\\ud800 is half"] * ("\\ud800" in text)
        assert str(found).startswith(tuple(starts))
        assert half or str(found).startswith(expected)
    else:
        assert found == expected


@pytest.mark.parametrize("blanks", [" " * 3 * LONGEST, ("\n" + " " * 2000) * (LONGEST // 700)])
@pytest.mark.parametrize("is_gone", [False, True])
def test_many_blanks_are_no_fault(path: Path, blanks: str, is_gone: bool) -> None:
    """Between any two parts, before and after all; a fault behind them is where it is."""
    tokens = ["", "{", '"a  b"', ":", "{", '"c"', ":", "1", ",", '"d"', ":", "2", "}", "}", ""]
    if is_gone:
        tokens[10] = ""
    path.write_text(blanks.join(tokens))
    expected = whole(blanks.join(tokens)) if is_gone else {"a  b": {"c": 1.0, "d": 2.0}}
    assert said(path, json_pieces._BLOCK) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 7, 30, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":{"x":1,"y":2}}', {"a": {"x": 1, "y": 2}}),
        # a comma, a quote and braces in names; names that look like the members put in
        ('{"a,\\"":{"x,{":1,"\\\\":2},"":{"":0,"b":1}}', {'a,"': {"x,{": 1, "\\": 2},
                                                           "": {"": 0, "b": 1}}),
        ('{,"a":{"x":1}}', "a.json:1: not JSON (Expecting property name enclosed in double "
                           "quotes, column 2)"),
        ('{"a":{"x":1},,"b":{"x":1}}', "a.json:1: not JSON (Expecting property name enclosed in "
                                       "double quotes, column 14)"),
        ('{"a":{"x":1 "y":2}}', "a.json:1: not JSON (Expecting ',' delimiter, column 13)"),
        ('{"a":{"x":1},\n"é":{"y":}}', "a.json:2: not JSON (Expecting value, column 10)"),
        ('{"a":{"x":1}}\n{"b":{"x":1}}', "a.json:2: not JSON (Extra data, column 1)"),
        ('{"a":[1,2],"b":{"x":1}}', "a.json: not a mapping of qid to docno to number\n"
                                    '  fix:   write {"q1": {"d1": 1, "d2": 0}}'),
        ('{"a":{"x":1},"b":3}', "a.json: not a mapping of qid to docno to number\n"
                                '  fix:   write {"q1": {"d1": 1, "d2": 0}}'),
        ('[{"a":{"x":1}}]', "a.json: not a mapping of qid to docno to number\n"
                            '  fix:   write {"q1": {"d1": 1, "d2": 0}}'),
        ("12", "a.json: not a mapping of qid to docno to number\n"
               '  fix:   write {"q1": {"d1": 1, "d2": 0}}'),
        ('{"a":{"x":[1,{"k":[2]}],"y":{"z":1,"z":2}}}',
         "a.json: query 'a', docno 'x': score [1, {\"k\": [2]}] is not a number\n"
         "a.json: query 'a', docno 'y': score {\"z\": 2} is not a number"),
        ('{"a":{"x":"\\ud800"}}', "a.json: not JSON (\\ud800 is half of a surrogate pair, which "
                                  "is no character)"),
    ],
)  # fmt: skip
def test_texts_cut_anywhere(path: Path, size: int, text: str, expected: object) -> None:
    path.write_text(text, encoding="utf-8")
    assert said(path, size) == expected


@pytest.mark.parametrize("size", [1, 8, 30, 1000])
def test_bytes_that_are_no_characters(path: Path, size: int) -> None:
    path.write_bytes(b'{"a":{"x":1},"b":{"\xff":1}}')
    assert said(path, size) == "a.json: not UTF-8 text"


@pytest.mark.parametrize("size", [1, 8, 30, 1000])
def test_the_same_keys_far_apart(path: Path, size: int) -> None:
    rows = ", ".join(f'"d{i}": {i}' for i in range(20))
    path.write_text(f'{{"a": {{{rows}, "d3": 99}}, "b": {{"x": 1}}, "a": {{"x": 5}}}}')
    assert said(path, size).startswith(
        "a.json: a key stands twice in one object\n  found: d3\n"
        "a.json: a key stands twice in one object\n  found: a\n"
        "  fix:   keep one: 'duplicates: last' (or first) in the file's own entry of a config, as "
        "in runs: {NAME: {path: ..., duplicates: last}}; --duplicates last on the command line"
    )
    first = {f"d{i}": i for i in range(20)}
    for kept, found in (
        ("first", {"a": first, "b": {"x": 1}}),
        ("last", {"b": {"x": 1}, "a": {"x": 5}}),
    ):
        with (
            mock.patch.object(json_pieces, "_BLOCK", size),
            pytest.warns(HarnessWarning, match="2 keys stand twice in one object; the"),
        ):
            assert read_run(path, duplicates=kept).to_dict() == found  # type: ignore[arg-type]


def test_numbers_of_every_kind(path: Path) -> None:
    path.write_text('{"a": {"x": 1, "y": 2.0, "z": -3e0, "w": 1}}')
    assert said(path, 8, read_qrels) == {"a": {"x": 1, "y": 2, "z": -3, "w": 1}}
    path.write_text('{"a": {"x": 1, "y": 123456789012345678901234567890, "z": 0.1}}')
    assert said(path, 8) == {"a": {"x": 1, "y": 123456789012345678901234567890.0, "z": 0.1}}
    path.write_text('{"a": {"x": 1, "y": 4294967296}}')
    assert said(path, 8, read_qrels).startswith(
        "a.json: 1 grade is not between -2147483647 and 2147483647: 4294967296"
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a":{"' + "x" * 2 * LONGEST + '":1}}', "524,288 bytes without the end of a name or"),
        ('{"a":{"b":1,\n"x":[' + "1," * LONGEST + "1]}}", "a.json:1: 524,288 bytes without"),
        ('{"a":{"x":' + "9" * 2 * LONGEST + "}}", "a.json:1: an integer of more than 4,300 digits"),
        ('{"a":\n\n ' + "]" * 2 * LONGEST, "a.json:3: not JSON (Expecting value, column 2)"),
        ("1 0 a 1\n" * LONGEST, "a.json:1: not JSON (Extra data, column 3)"),
        ('{"a":{"x":' + "[" * 2 * LONGEST, "a.json: not JSON (too many objects or lists inside"),
    ],
)  # fmt: skip
def test_what_has_no_end(path: Path, text: str, what: str) -> None:
    path.write_text(text)
    assert what in said(path, 1 << 18)


def test_a_name_of_many_blocks_is_read(path: Path) -> None:
    name = "x" * (LONGEST - 1000)
    path.write_text(json.dumps({"a": {name: 1, "y": 2}}))
    assert said(path, 1 << 16) == {"a": {name: 1, "y": 2}}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"q":{' + '"d1":1,' * 100_000 + '"z":1}}', "d1"),
        ('{"z":{"z":1}' + ',"q":{"d1":1}' * 100_000 + "}", "q"),
        # further apart than any piece is long
        ('{"q":{' + ",".join(f'"d{i % 100_000}":1' for i in range(1_100_000)) + "}}", "d0"),
    ],
    ids=["docnos", "qids", "far apart"],
)
def test_of_many_keys_that_stand_twice_not_all_are_listed(path: Path, text: str, key: str) -> None:
    path.write_text(text)
    message = said(path, 1 << 18)
    assert message.startswith(f"a.json: a key stands twice in one object\n  found: {key}\n")
    (last,) = [line for line in message.splitlines() if line.startswith("...")]
    assert re.fullmatch(r"\.\.\. and at least [\d,]+ more; what follows was not looked at", last)
    n = int(last.split()[4].replace(",", ""))
    assert 990 <= n < text.count(f'"{key}"') + 200_000


def test_keys_that_stand_twice_are_counted_up_to_a_thousand(path: Path) -> None:
    path.write_text('{"q":{' + '"d1":1,' * 500 + '"z":1}}')
    assert said(path, 1 << 18).endswith("... and 489 more")


def test_the_key_that_stands_twice_is_found_in_time() -> None:
    """A million keys, the last two of which are one: not the square of their number."""
    pairs = [(str(at), 0) for at in range(1_000_000)]
    with pytest.raises(ValueError, match="the key '999999' stands twice"):
        once([*pairs, pairs[-1]])
