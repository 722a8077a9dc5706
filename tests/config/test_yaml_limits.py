"""YAML that means harm, or that nobody means: refused at once, with file and line."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from unittest import mock

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.config import load as config
from harness.config import yaml_file as yamlfile
from harness.errors import ConfigError
from harness.readers import ir_metadata as guarded_yaml
from harness.readers.ir_metadata import LOADERS

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{new}: &{new} {{<<: [{', '.join([f'*{old}'] * 9)}], k: 1}}\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
GROWS = "more than 200,000 values, what aliases repeat counted each time"
DEEP = "more than 50 mappings and lists inside each other"
HALF = "half of a surrogate pair, which is no character"


BOTH = [*guarded_yaml.LOADERS], [guarded_yaml.PlainLoader]
"""libyaml where it is, with PyYAML's own scanner for what it refuses; and that alone."""


@pytest.fixture(params=BOTH, ids=["fast", "plain"], autouse=True)
def _loaders(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded_yaml, "LOADERS", request.param)


def test_the_fast_loader_is_there() -> None:
    """PyYAML's wheels hold libyaml; without it this test tells that one loader was not tested."""
    assert [kind.__name__ for kind in BOTH[0]] == ["FastLoader", "PlainLoader"]


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
        ('a: "\\U00110000"', "line 1, column 7", "an escape of no character"),
        ("k: 1\n" * 110_000, "line 1, column 1", GROWS),
        ("a: *b", "line 1, column 4", "not valid YAML: found undefined alias 'b'"),
    ],
)  # fmt: skip
def test_what_is_refused_at_once(text: str, where: str, what: str) -> None:
    start = time.process_time()  # as a busy machine is no fault of the text
    with pytest.raises(ConfigError) as error:
        config.loads(text, "my.yaml")
    assert time.process_time() - start < (5 if len(text) < 10**5 else 40)
    assert str(error.value).startswith(f"my.yaml: 1 problem\n  {where}  {what}")
    if "no character" in what:
        fix = "write the character itself, and save the file as UTF-8"
        assert str(error.value).endswith(f"\n    fix:   {fix}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a: !!python/object/apply:os.system [ls]",
            "the tag tag:yaml.org,2002:python/object/apply:os.system is not allowed here",
        ),
        ("name: !!python/name:os.system", "could not determine a constructor for the tag"),
        ("a: !!set {b}", "the tag tag:yaml.org,2002:set is not allowed here"),
        ("name: !!timestamp x", "'x' is no timestamp"),
        ("name: !!int ''", "'' is no whole number"),
        ("name: !!bool x", "'x' is no 'true' or 'false'"),
        ("name: !!float ''", "'' is no number"),
        ("name: 2001-13-45", "'2001-13-45' is no timestamp"),
        ("name: " + "9" * 5000, f"'{'9' * 57}...' of 5,000 characters is no whole number"),
        ("a: &a [*a]", "refers to itself"),
        ("? {a: b}\n: c", "a key must be text"),
        ("<<: 3", "expected a mapping or list of mappings for merging"),
        ("name: a\nname: b", "the key 'name' is here twice, first at line 1"),
        ("a: {<<: {x: 1}, x: 2, x: 3}", "the key 'x' is here twice, first at line 1"),
    ],
)
def test_what_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        config.loads(text, "my.yaml")
    (line,) = [line for line in str(error.value).splitlines() if said in line]
    assert "(line " in line


def test_anchors_aliases_and_merge_keys_are_fine() -> None:
    text = "a: &one {x: 1, y: 2}\nb: {<<: *one, y: 3}\nc: [*one, *one]\nd: &d [1]\ne: *d"
    one = {"x": 1, "y": 2}
    expected = {"a": one, "b": {"x": 1, "y": 3}, "c": [one, one], "d": [1], "e": [1]}
    assert guarded_yaml.load(text) == expected
    many = "a: &a {x: 1}\nb: [" + "*a, " * 10_000 + "]"
    assert len(guarded_yaml.load(many)["b"]) == 10_000


KEYS = ("a", "'b c'", '"d\\n"', "1", "yes", "<<", "? e", "é", "*x", "x y z")
VALUES = ("1", "[a, b]", "{c: 1, d}", "'x: y'", '"\\u00e9\\t"', "|\n  two\n  lines",
          ">-\n  a\n  b", "", "~", "2001-01-01", "1.5", "&x y", "*x", "!t z", "{a}.txt", "- 1",
          "{a?b: 1}", "010",
          "a #b", "%x", "@y", "'un", "[", "\tz", "x:y", "a: b", "\\x", "\x07", "\x85z",
          "!!str 1")  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES), st.integers(0, 3)),
                max_size=8))  # fmt: skip
def test_both_loaders_say_the_same(parts: list[tuple[str, str, int]]) -> None:
    """The same values and lines of a text, or the same error at the same place."""
    text = "".join(f"{'  ' * deep}{key}: {value}\n" for key, value, deep in parts)
    said = []
    for loaders in BOTH:
        with mock.patch.object(guarded_yaml, "LOADERS", loaders):
            try:
                read = yamlfile.parse_yaml(text, "x.yaml")
                said.append((repr(read.data), read.lines, read.problems))
            except ConfigError as error:
                said.append(str(error))
    assert said[0] == said[1]


def test_a_long_list_is_read_soon() -> None:
    """190,000 entries; libyaml takes a quarter of the time of PyYAML's own scanner."""
    text = "a:\n" + "".join(f"- item{i}\n" for i in range(190_000))
    start = time.process_time()
    assert len(guarded_yaml.load(text)["a"]) == 190_000
    assert time.process_time() - start < (40 if len(guarded_yaml.LOADERS) == 1 else 10)


def test_the_extended_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(LAUGHS)
    (tmp_path / "my.yaml").write_text("extends: base.yaml\n")
    with pytest.raises(ConfigError) as error:
        config.load(tmp_path / "my.yaml")
    assert str(error.value).startswith(f"{tmp_path / 'base.yaml'}: 1 problem\n  line 6, column 4")


def test_overrides_are_held_to_the_same() -> None:
    with pytest.raises(ConfigError, match=r"cannot read the value: .*inside each other"):
        config.loads("name: x", overrides=["name=" + "[" * 10_000])


def test_a_config_is_a_regular_file_that_ends(tmp_path: Path) -> None:
    """Neither is a device read without end, nor a pipe waited for."""
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "long.yaml").write_bytes(b"#" * (4 * guarded_yaml.SIZE + 1))
    for name, what in (
        ("/dev/zero", "is no regular file: a device or a pipe may have no end"),
        ("pipe.yaml", "is no regular file: a device or a pipe may have no end"),
        ("long.yaml", "is longer than 4,194,304 characters"),
    ):
        with pytest.raises(ConfigError, match=rf"\$\.extends \(line 1\)  {what}"):
            config.loads(f"extends: {name}", "my.yaml", tmp_path)
        with pytest.raises(ConfigError, match=what):
            config.load(tmp_path / name)


@pytest.mark.parametrize("key", ["cache", "output", "datasets.d.path", "runs.r.path"])
def test_a_zero_byte_is_in_no_path(tmp_path: Path, key: str) -> None:
    text = "datasets: {d: {path: a}}\nruns: {r: {path: a}}\nmetrics: [map]\n"
    (tmp_path / "a").write_text("x")
    with pytest.raises(ConfigError, match=r"holds the character \\0, which no path may") as error:
        config.loads(f'{text}"plugins": ["a\\0.py"]', "my.yaml", tmp_path, [f'{key}="a\\0b"'])
    assert str(error.value).count("which no path may") == 2
    with pytest.raises(ConfigError, match=r"\$\.extends \(line 1\)  holds the character"):
        config.loads('extends: "a\\0b"', "my.yaml", tmp_path)


def test_a_device_is_no_plugin(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="/dev/zero is no regular file"):
        config.loads("plugins: [/dev/zero]", "my.yaml", tmp_path)


@pytest.mark.skipif(len(LOADERS) == 1, reason="libyaml is not there")
def test_what_libyaml_takes_in_pyyaml_reads_alike() -> None:
    """Random texts of YAML's own characters; what differs is left to PyYAML's scanner."""
    draw = random.Random(7)
    pieces = [*"a:-#|>\"'[]{},&*!%@\n \t01", ": ", "- ", "\n  ", "a: ", "a: |", "- >"]
    taken = 0
    for _ in range(int(os.environ.get("HARNESS_TRIALS", 4000))):
        text = "".join(draw.choices(pieces, k=draw.randint(1, 12)))
        if guarded_yaml._TOLD_APART.search(text):
            continue
        try:
            node = LOADERS[0](text).get_single_node()
        except yaml.YAMLError:
            continue  # is read once more
        taken += 1
        again = LOADERS[-1](text).get_single_node()
        assert (node and yaml.serialize(node)) == (again and yaml.serialize(again)), text
    assert taken


@pytest.mark.parametrize("text", ["a: |#x", "a: >#x", "a: |-#", "- >+2#x\n   b", "a: |0#\n b"])
def test_a_comment_that_touches_a_block_indicator_is_refused(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        guarded_yaml.load(text)
    assert guarded_yaml.load("a: | #x\n  b") == {"a": "b"}
