"""Names of queries and documents are shown as they stand: escaped, and their blanks kept."""

from __future__ import annotations

import json
from pathlib import Path

from harness.errors import Finding, InputError, Problem
from harness.guard.check import check_files
from harness.guard.check_report import as_json, text
from harness.guard.registry import refused

QIDS = ["two  blanks", "a\ttab", "a\nline"]


def test_in_text_they_are_escaped_and_in_json_themselves(tmp_path: Path) -> None:
    judged = {qid: {f"d  {n}": n % 2 for n in range(4)} for qid in QIDS}
    constant = {qid: dict.fromkeys(rows, 1.5) for qid, rows in judged.items()}
    qrels, run = tmp_path / "q.json", tmp_path / "r.json"
    qrels.write_text(json.dumps(judged))
    run.write_text(json.dumps(constant))
    checked = check_files(str(qrels), [str(run)], of_qrels={}, of_runs={})
    shown = text(checked)
    assert r"in 3 of 3 queries: two  blanks, a\ttab, a\nline [constant-scores]" in shown
    tied = {qid: {**rows, "d  2": 3, "d  3": 2} for qid, rows in constant.items()}
    run.write_text(json.dumps(tied))
    shown = text(check_files(str(qrels), [str(run)], of_qrels={}, of_runs={}))
    assert r"query a\ttab, documents d  0 and d  1: 1.5; query a\nline, doc" in shown
    found = {one["rule"]: one for one in json.loads(as_json(checked))["findings"]}
    assert found["constant-scores"]["examples"] == QIDS


def test_blanks_that_look_like_a_plain_one_are_escaped() -> None:
    names = ("query 1, document d\u00a07", "query\u20032, document \u691c\u7d22")
    one = Finding("constant-scores", "note", "r", "two", 2, names)
    assert one.shown == ": query 1, document d\\xa07; query\\u20032, document \u691c\u7d22"
    assert one.as_dict()["examples"] == [*names]


def test_long_examples_keep_their_blanks() -> None:
    long = "x" * 200
    # 100 characters: "query  a\tb, document " is 21, which leaves 79 for the docno
    (shown,) = (
        Finding("depth", "note", "a", "b", 1, (f"query  a\tb, document {long}",)).shown[2:],
    )
    assert shown == f"query  a\tb, document {'x' * 38}...{'x' * 38}"


def test_a_refused_line_is_shown_as_it_stands() -> None:
    lines = ["q1\t0\td  1", "q1\t0\td  2"]
    problems = [Problem(f"a:{n}", "wrong", line) for n, line in enumerate(lines, 1)]
    (one,) = refused("a", InputError(problems[:1]))
    assert one.examples == (lines[0],)
    (both,) = refused("a", InputError(problems))
    assert both.examples == (r"line 1 'q1\t0\td  1'", r"line 2 'q1\t0\td  2'")
    assert str(problems[0]) == "a:1: wrong\n  found: q1\\t0\\td  1"
