"""Common slips in YAML: each with its place, what it is, the line and what to do."""

from __future__ import annotations

import os
import random

import pytest

from harness.config.yamlfile import parse
from harness.errors import ConfigError

BRACES = 'put text that holds braces in quotes: path: "runs/{model}.txt"'
DATA = "datasets:\n  d:\n    format: letor\n"


@pytest.mark.parametrize(
    ("text", "place", "what", "fix"),
    [
        # indentation
        (
            DATA + "   path: x\n", (4, 4), "indented by 3 blanks, as nothing above it is",
            "indent it by 4 blanks like line 3 (format: letor), or by 2 blanks like line 2 (d:)",
        ),
        (
            'datasets:\n  "fold{fold}": {path: "x{fold}"}\n metrics: [map]\n', (3, 2),
            "indented by 1 blank, as nothing above it is",
            'indent it by 2 blanks like line 2 ("fold{fold}": {path: "x{fold}"}), '
            "or by 0 blanks like line 1 (datasets:)",
        ),
        (
            'runs:\n  "{a}": {path: x}\n\n    # more\n    "{b}": {path: y}\n', (5, 5),
            "indented by 4 blanks, as nothing above it is",
            'indent it by 2 blanks like line 2 ("{a}": {path: x})',
        ),
        (
            DATA + "      path: x\n", (4, 7),
            "indented deeper than line 3, whose value stands there already",
            "indent it by 4 blanks like line 3 (format: letor)",
        ),
        (
            "runs:\n  m:\n    - path: x\n     format: trec\n", (4, 6),
            "indented by 5 blanks, as nothing above it is",
            "indent it by 6 blanks like line 3 (- path: x), or by 2 blanks like line 2 (m:)",
        ),
        ("datasets:\n\td: 1\n", (2, 1), r"found character '\t' that cannot start any token",
         "indent with blanks, not with tabs"),
        ("datasets:\n  d:\tx\n", (2, 5), r"found character '\t' that cannot start any token",
         "put a blank there"),
        # lists
        ("metrics:\n  - map\n - ndcg\n", (3, 2), "indented by 1 blank, as nothing above it is",
         "indent it by 2 blanks like line 2 (- map)"),
        ("metrics: - map\n  - ndcg\n", (1, 10), "a list with '- ' cannot begin beside its key",
         "put every '- ' on a line of its own, or write [map, ndcg@10]"),
        ("metrics:\n  - map\n  -ndcg\n", (3, 3), "a blank is missing after '-'", "write '- ndcg'"),
        ("metrics:\n  - map\n  name: x\n", (3, 3), "a key among the entries of a list",
         "begin it with '- ', or indent it by 0 blanks like line 1 (metrics:)"),
        ("runs:\n  m: {path: x}\n  - n\n", (3, 3), "an entry of a list among the keys of a mapping",
         "leave out the '- ', or indent it deeper than the key it belongs to"),
        # brackets
        ("name: s\nmetrics: [map, ndcg@10\n", (2, 10), "'[' is not closed", "close it with ']'"),
        ("metrics: [map\nruns:\n  m: {path: x}\n", (1, 10), "'[' is not closed",
         "close it with ']'"),
        ("runs:\n  a: {path: x\n  b: {path: y}\n", (2, 6), "'{' is not closed",
         "close it with '}'"),
        ("metrics: [map, ndcg}\n", (1, 20),
         "'}' stands where '[' of line 1, column 10 is to be closed", "close it with ']' first"),
        ("metrics: [map]]\n", (1, 15), "']' closes nothing", "leave it out, or open it with '['"),
        ("metrics: [map,, ndcg]\n", (1, 15), "nothing stands before a comma",
         "leave the comma out"),
        ("runs:\n  m: {format: trec path: x}\n", (2, 20), "a comma is missing between two entries",
         "put a comma before this"),
        ('metrics: ["map" "ndcg"]\n', (1, 17), "a comma is missing between two entries",
         "put a comma before this"),
        # colons
        ("name:sweep\nmetrics: [map]\n", (1, 6), "a blank is missing after the colon",
         "write name: sweep"),
        (DATA + "    path:x/y.txt\n", (4, 10), "a blank is missing after the colon",
         "write path: x/y.txt"),
        ("name: x\nmetrics\n  - map\n", (2, 8), "a colon is missing after the key",
         "write metrics:"),
        ("datasets\n  d: {path: x}\n", (1, 9), "a colon is missing after the key",
         "write datasets:"),
        ("name = x\nmetrics: [map]\n", (1, 5), "'=' stands in place of a colon", "write name: x"),
        ("name: a: b\n", (1, 8), "a second ': ' in one value",
         """put text that holds ': ' in quotes: name: "a: b\""""),
        ("runs: {m: {path: a: b}}\n", (1, 19), "a second ': ' in one value",
         """put text that holds ': ' in quotes: path: "a: b\""""),
        # quotes
        ('runs:\n  m: {path: "x.txt}\nmetrics: [map]\n', (2, 13), "a quote is not closed",
         'close it with another "'),
        ('runs:\n  m:\n    path: "x.txt\nmetrics: ["map"]\n', (3, 11),
         "a quote is closed as late as in line 4", 'close it on its line with another "'),
        ('name: "x"y\n', (1, 10), "text after a closing quote", "put the quotes around all of it"),
        ('name: "a\\data"\n', (1, 10), "found unknown escape character 'd' in double quotes",
         r"write the backslash twice (\\), or put the text in single quotes"),
        # signs
        ("name: *.txt\n", (1, 7), "a text cannot begin with '*'",
         "put text that begins with '*' in quotes"),
        ("name: |x\n  y\n", (1, 7), "a text cannot begin with '|'",
         "put text that begins with '|' in quotes"),
        ("runs:\n  m:\n    path: {model}/x.txt\n", (3, 18),
         "expected <block end>, but found '<scalar>' (while parsing a block mapping that began in "
         "line 3)", BRACES),
        ("name: a\n---\nname: b\n", (2, 1), "a second document begins", "leave out the line ---"),
    ],
)  # fmt: skip
def test_a_slip_is_named(text: str, place: tuple[int, int], what: str, fix: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(text, "c.yaml")
    line, column = place
    assert str(error.value).splitlines() == [
        "c.yaml: 1 problem",
        f"  line {line}, column {column}  not valid YAML: {what}",
        f"    found: {text.splitlines()[line - 1].strip()}".replace("\t", r"\t"),
        f"    fix:   {fix}",
    ]


def test_a_slip_at_the_beginning_of_a_long_text_is_named_as_well() -> None:
    more = "".join(f"k{i}: [a, b, c]\n" for i in range(8000))  # 130,000 characters
    with pytest.raises(ConfigError, match="an entry of a list among the keys of a mapping"):
        parse("runs:\n  m: {path: x}\n  - n\n" + more, "c.yaml")


def test_no_text_breaks_the_words_for_it() -> None:
    """Random texts of YAML's own characters are read, or refused with a place within them."""
    draw = random.Random(11)
    pieces = [*"ab:-#|>\"'[]{},&*!%@=\n \t\\", ": ", "- ", "\n  ", "\n", "a: ", "{a}", "key"]
    pieces += ["\r\n", "\x85", "\u2028", "\xe9"]
    refused: list[str] = []
    for _ in range(int(os.environ.get("HARNESS_TRIALS", 4000))):
        text = "".join(draw.choices(pieces, k=draw.randint(1, 14)))
        try:
            parse(text, "c.yaml")
        except ConfigError as error:
            refused.append(str(error))
    assert len(refused) > 1000
    assert all("c.yaml: 1 problem\n" in said or "problems\n" in said for said in refused)
