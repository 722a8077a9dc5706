"""YAML that is wrong, harmful, or means something else: refused with line and fix."""

import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.config import load as config
from harness.config.yaml_file import parse_yaml as parse
from harness.errors import ConfigError
from harness.readers import ir_metadata as guarded_yaml

DATA = "datasets:\n  d:\n    format: letor\n"


@pytest.mark.parametrize(
    ("text", "line", "fix"),
    [
        (DATA + "   path: x\n", 4, "both by 2 spaces"),
        ('datasets:\n  "f{fold}": {path: "x{fold}"}\n metrics: [map]\n', 3, "both at the start"),
        ('runs:\n  "{a}": {path: x}\n\n    # more\n    "{b}": {path: y}\n', 5, "both by 2 spaces"),
        (DATA + "      path: x\n", 4, "indent both by 4 spaces"),
        ("runs:\n  m:\n    - path: x\n     format: trec\n", 4, "both by 6 spaces"),
        ("datasets:\n\td: 1\n", 2, "indent with spaces, not with tabs"),
        ("datasets:\n  d:\tx\n", 2, ""),
        ("metrics:\n  - map\n - ndcg\n", 3, "in one column"),
        ("metrics:\n  - map\n  name: x\n", 3, "in one column"),
        ("runs:\n  m: {path: x}\n  - n\n", 3, "in one column"),
        ("metrics: - map\n  - ndcg\n", 1, "put every '- ' on its own line"),
        ("metrics:\n  - map\n  -ndcg\n", 3, "and after '-'"),
        ("name: s\nmetrics: [map, ndcg@10\n", 2, "close each bracket"),
        ("metrics: [map\nruns:\n  m: {path: x}\n", 2, "close each bracket"),
        ("metrics: [map, ndcg}\n", 1, "close each bracket"),
        ("metrics: [map]]\n", 1, "the bracket that it closes"),
        ("metrics: [map,, ndcg]\n", 1, "a comma between two entries"),
        ("runs:\n  m: {format: trec path: x}\n", 2, "a comma between two entries"),
        ("runs: {m: {path: a: b}}\n", 1, "text with ': ' in quotes"),
        ("name: a: b\n", 1, "text with ': ' in quotes"),
        ("name:sweep\nmetrics: [map]\n", 2, "write 'key: value'"),
        (DATA + "    path:x/y.txt\n", 4, "write 'key: value'"),
        ("name: x\nmetrics\n  - map\n", 2, "write 'key: value'"),
        ("name = x\nmetrics: [map]\n", 2, "write 'name:'"),
        ('runs:\n  m: {path: "x.txt}\nmetrics: [map]\n', 2, "close the quote"),
        ('runs:\n  m:\n    path: "x.txt\nmetrics: ["map"]\n', 4, "or on a line above"),
        ('name: "a\\data"\n', 1, ""),
        ("name: *.txt\n", 1, "put text that begins with"),
        ("name: |x\n  y\n", 1, "put text that begins with"),
        ("metrics: [@10]\n", 1, "put text that begins with @"),
        ("runs:\n  m:\n    path: {model}/x.txt\n", 3, "put text with braces in quotes"),
        ("datasets:\n  a: {path: F{fold}/t.txt}\n", 2, "put text with braces in quotes"),
        ("name: a\n---\nname: b\n", 2, ""),
        ("name: 'x\n", 1, "close the quote"),
        # far down in a long text
        ("a: {b: c}\n- n\n" + "k: [a, b]\n" * 9000, 2, "in one column"),
        ("".join(f"k{i}: 1\n" for i in range(999)) + "]\n", 1000, ""),
    ],
)  # fmt: skip
def test_a_slip_has_its_line_and_a_hint(text: str, line: int, fix: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(text, "c.yaml")
    (problem,) = error.value.problems
    assert problem.where.startswith(f"line {line}, column ")
    assert fix in problem.fix
    assert problem.found == text.splitlines()[line - 1].strip(" ")


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{new}: &{new} {{<<: [{', '.join([f'*{old}'] * 9)}], k: 1}}\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
GROWS = "more than 200,000 values, those of aliases counted again"
DEEP = "more than 50 mappings and lists inside each other"
HALF = "half of a surrogate pair, which is not a character"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (LAUGHS, "line 6, column 4", GROWS),
        (MERGES, "line 6, column 12", GROWS),
        ("a: " + "[" * 100_000, "line 1, column 53", DEEP),
        ("\na: " + "{a: " * 100_000, "line 2, column 197", DEEP),
        ("- " * 100_000, "line 1, column 101", DEEP),
        ("? " * 100_000, "line 1, column 101", DEEP),
        ("a: " + "x" * (5 << 20), "line 1, column 1", "the text is longer than"),
        ('a: "\\ud800"', "line 1, column 11", HALF),
        ('a: "\\U00110000"', "line 1, column 7", "an escape that is not a character"),
        ("a: *b", "line 1, column 4", "not valid YAML: found undefined alias 'b'"),
    ],
)  # fmt: skip
def test_what_is_refused_at_once(text: str, where: str, what: str) -> None:
    start = time.process_time()  # as a busy machine is no fault of the text
    with pytest.raises(ConfigError) as error:
        config.loads(text, "my.yaml")
    assert time.process_time() - start < (5 if len(text) < 10**5 else 40)
    assert str(error.value).startswith(f"my.yaml: {where}: {what}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: !!python/object/apply:os.system [ls]", "apply:os.system is not allowed here"),
        ("name: !!python/name:os.system", "could not determine a constructor for the tag"),
        ("a: !!set {b}", "the tag tag:yaml.org,2002:set is not allowed here"),
        ("name: !!timestamp x", "expected timestamp, got 'x'"),
        ("name: !!int ''", "expected a whole number, got ''"),
        ("name: !!bool x", "expected 'true' or 'false', got 'x'"),
        ("name: !!float ''", "expected a number, got ''"),
        ("name: 2001-13-45", "expected timestamp, got '2001-13-45'"),
        ("name: " + "9" * 5000, f"expected a whole number, got '{'9' * 57}...'"),
        ("a: &a [*a]", "refers to itself"),
        ("? {a: b}\n: c", "expected text as a key"),
        ("<<: 3", "expected a mapping or list of mappings for merging"),
        ("name: a\nname: b", "the key 'name' occurs twice, first at line 1"),
        ("a: {<<: {x: 1}, x: 2, x: 3}", "the key 'x' occurs twice, first at line 1"),
    ],
)
def test_what_is_refused_with_its_place(text: str, expected: str) -> None:
    with pytest.raises(ConfigError) as error:
        config.loads(text, "my.yaml")
    (line,) = [line for line in str(error.value).splitlines() if expected in line]
    assert "(line " in line


def test_anchors_aliases_and_merge_keys_are_fine() -> None:
    text = "a: &one {x: 1, y: 2}\nb: {<<: *one, y: 3}\nc: [*one, *one]\nd: &d [1]\ne: *d"
    one = {"x": 1, "y": 2}
    expected = {"a": one, "b": {"x": 1, "y": 3}, "c": [one, one], "d": [1], "e": [1]}
    assert guarded_yaml.load(text) == expected
    many = "a: &a {x: 1}\nb: [" + "*a, " * 10_000 + "]"
    assert len(guarded_yaml.load(many)["b"]) == 10_000


@given(st.text("abc:{}[]#&*!|>'\"%@`,-\n\t \\x0123?~", max_size=60))
def test_any_text_is_read_or_refused_with_a_config_error(text: str) -> None:
    try:
        data = parse(text, "x.yaml").data
    except ConfigError as error:
        data = {"expected": str(error)}
    assert isinstance(data, dict)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=5)
        | st.floats(allow_nan=False),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("abc.{} ", min_size=1), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_plain_data_is_read_as_yaml_reads_it(value: object) -> None:
    text = yaml.safe_dump({"value": value}, allow_unicode=True)
    source = parse(text, "x.yaml")
    assert source.data == yaml.safe_load(text)
    assert source.problems == []


HEAD = "datasets: {d: {path: q}}\n"
RUNS = "runs: {r: {path: r}}\n"


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        (HEAD + 'runs:\n"{model}": {path: r}\n', "$.runs (line 2)", "indent"),
        ("datasets:\n  d:\n  path: q\n" + RUNS, "$.datasets.d (line 2)", "indent the lines that"),
        ("datasets: {d: {path:q}}\n" + RUNS, "$.datasets.d['path:q'] (line 1)", "use path"),
        (HEAD + RUNS + "metrics:\n  -map\n  -P@5\n", "$.metrics (line 3)", "after every '-'"),
        (HEAD + RUNS + "metrics:\n  - map\n    - P@5\n", "$.metrics[0] (line 4)", "same column"),
        (HEAD + RUNS + 'metrics: ["map;P@5"]\n', "$.metrics[0] (line 3)", "each metric separately"),
    ],
)  # fmt: skip
def test_what_was_meant(tmp_path: Path, text: str, place: str, hint: str) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1.0 t\n")
    text += "" if "metrics:" in text else "metrics: [map]\n"
    with pytest.raises(ConfigError) as error:
        config.loads(text, "c.yaml", tmp_path)
    first = error.value.problems[0]
    assert first.where == place
    assert hint in first.what + first.fix
