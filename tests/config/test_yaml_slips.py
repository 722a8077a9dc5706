"""Common slips in YAML: the line of each, and what to do."""

from __future__ import annotations

import os
import random

import pytest

from harness.config.yaml_file import parse_yaml as parse
from harness.errors import ConfigError

DATA = "datasets:\n  d:\n    format: letor\n"


@pytest.mark.parametrize(
    ("text", "line", "fix"),
    [
        (DATA + "   path: x\n", 4, "in one column"),
        ('datasets:\n  "f{fold}": {path: "x{fold}"}\n metrics: [map]\n', 3, "in one column"),
        ('runs:\n  "{a}": {path: x}\n\n    # more\n    "{b}": {path: y}\n', 5, "in one column"),
        (DATA + "      path: x\n", 4, "indent both alike"),
        ("runs:\n  m:\n    - path: x\n     format: trec\n", 4, "in one column"),
        ("datasets:\n\td: 1\n", 2, "indent with spaces, not with tabs"),
        ("datasets:\n  d:\tx\n", 2, "put a space there"),
        ("metrics:\n  - map\n - ndcg\n", 3, "in one column"),
        ("metrics:\n  - map\n  name: x\n", 3, "in one column"),
        ("runs:\n  m: {path: x}\n  - n\n", 3, "in one column"),
        ("metrics: - map\n  - ndcg\n", 1, "put every '- ' on its own line"),
        ("metrics:\n  - map\n  -ndcg\n", 3, "and after '-'"),
        ("name: s\nmetrics: [map, ndcg@10\n", 2, "close each bracket"),
        ("metrics: [map\nruns:\n  m: {path: x}\n", 2, "close each bracket"),
        ("metrics: [map, ndcg}\n", 1, "close each bracket"),
        ("metrics: [map]]\n", 1, "the bracket that it closes"),
        ("metrics: [map,, ndcg]\n", 1, "a comma parts two entries"),
        ("runs:\n  m: {format: trec path: x}\n", 2, "a comma parts two entries"),
        ("runs: {m: {path: a: b}}\n", 1, "text that holds ': ' in quotes"),
        ("name: a: b\n", 1, "text that holds ': ' in quotes"),
        ("name:sweep\nmetrics: [map]\n", 2, "write 'key: value'"),
        (DATA + "    path:x/y.txt\n", 4, "write 'key: value'"),
        ("name: x\nmetrics\n  - map\n", 2, "write 'key: value'"),
        ("name = x\nmetrics: [map]\n", 2, "write 'key: value'"),
        ('runs:\n  m: {path: "x.txt}\nmetrics: [map]\n', 2, "close the quote"),
        ('runs:\n  m:\n    path: "x.txt\nmetrics: ["map"]\n', 4, "or on a line above"),
        ('name: "a\\data"\n', 1, "for a backslash"),
        ("name: *.txt\n", 1, "put text that begins with"),
        ("name: |x\n  y\n", 1, "put text that begins with"),
        ("metrics: [@10]\n", 1, "put text that begins with @"),
        ("runs:\n  m:\n    path: {model}/x.txt\n", 3, "put text that holds braces in quotes"),
        ("datasets:\n  a: {path: F{fold}/t.txt}\n", 2, "put text that holds braces in quotes"),
        ("name: a\n---\nname: b\n", 2, "leave out the line ---"),
        ("name: 'x\n", 1, "close the quote"),
        # far down in a long text
        ("a: {b: c}\n- n\n" + "k: [a, b]\n" * 9000, 2, "in one column"),
        ("".join(f"k{i}: 1\n" for i in range(20_000)) + "]\n", 20_001, ""),
    ],
)  # fmt: skip
def test_a_slip_has_its_line_and_a_hint(text: str, line: int, fix: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(text, "c.yaml")
    (problem,) = error.value.problems
    assert problem.where.startswith(f"line {line}, column ")
    assert fix in problem.fix
    assert problem.found == text.splitlines()[line - 1].strip(" ")


def test_no_text_breaks_the_words_for_it() -> None:
    """Random texts of YAML's own characters are read, or refused with a place within them."""
    draw = random.Random(11)
    pieces = [*"ab:-#|>\"'[]{},&*!%@=\n \t\\", ": ", "- ", "\n  ", "\n", "a: ", "{a}", "key"]
    pieces += ["\r\n", "\x85", "\u2028", "\xe9"]
    refused = 0
    for _ in range(int(os.environ.get("HARNESS_TRIALS", 4000))):
        text = "".join(draw.choices(pieces, k=draw.randint(1, 14)))
        try:
            parse(text, "c.yaml")
        except ConfigError:
            refused += 1
    assert refused > 1000
