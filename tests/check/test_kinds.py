"""What readers refuse and warn of falls under the rule that it is of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.config.load import load
from harness.errors import ConfigError, HarnessWarning, InputError
from harness.guard.check import check_files
from harness.guard.registry import (
    ACCEPTABLE,
    FILE_RULES,
    PLACED,
    REFUSED,
    RULES,
    RUN_RULES,
    WARNED,
    of_warning,
)
from harness.readers import read_qrels, read_run
from harness.readers.compression import check_unpacked


def found(qrels: Path, run: Path, **options: Any) -> dict[str, int]:
    checked = check_files(str(qrels), [str(run)], of_qrels=options, of_runs={})
    return {one.rule: one.count for one in checked.findings if one.severity != "note"}


def test_a_bomb() -> None:
    with pytest.raises(InputError) as error:
        check_unpacked("a.gz", 2**60)
    assert error.value.problems[0].rule == "unpacks-too-far"


def test_a_plain_file_that_is_named_gz(trec: Any) -> None:
    (trec.folder / "run").rename(trec.folder / "run.gz")
    assert found(trec.folder / "qrels", trec.folder / "run.gz") == {"other-compression": 1}


def test_columns_that_are_not_read(trec: Any) -> None:
    rows = [line.split() for line in trec.lines("run")]
    text = [f"{score},{qid},{docno},{docno}\n" for qid, _, docno, _, score, _ in rows]
    trec.put("run.csv", ["prediction,topic-no,Doc-Id,passage_id\n", *text])
    run = trec.folder / "run.csv"
    checked = check_files(str(trec.folder / "qrels"), [str(run)], of_qrels={}, of_runs={})
    (one,) = [one for one in checked.findings if one.rule == "unused-columns"]
    assert (one.severity, one.count, one.place) == ("note", 1, str(run))
    assert "column passage_id," in one.what


def test_lines_with_more_fields_than_six(trec: Any) -> None:
    lines = trec.lines("run")
    lines[1500:1502] = [line.replace("\n", " and more\n") for line in lines[1500:1502]]
    trec.put("run", lines)
    checked = check_files(
        str(trec.folder / "qrels"), [str(trec.folder / "run")], of_qrels={}, of_runs={}
    )
    (one,) = [one for one in checked.findings if one.rule == "extra-fields"]
    assert (one.severity, one.count, one.place) == ("warning", 2, f"{trec.folder / 'run'}:1501")
    assert one.examples == (lines[1500].strip(),)


def test_rows_that_repeat_a_docno(tmp_path: Path) -> None:
    rows = [f"{at % 2} qid:1 1:{at} #docid = {at}\n" for at in range(5)]
    (tmp_path / "test").write_text("".join([*rows, rows[2], rows[3]]))
    (tmp_path / "p").write_text("".join(f"{at}\n" for at in range(7)))
    assert found(tmp_path / "test", tmp_path / "p") == {"repeated-rows": 2}


def test_queries_of_no_judgement_that_counts(trec: Any) -> None:
    lines = [line.split() for line in trec.lines("qrels")]
    for fields in lines:
        fields[3] = "-1" if fields[0] in ("1", "2") else fields[3]
    trec.put("qrels", [" ".join(fields) + "\n" for fields in lines])
    assert found(trec.folder / "qrels", trec.folder / "run")["unusable-judgements"] == 2


def test_what_has_no_rule_of_its_own_is_said_all_the_same(tmp_path: Path) -> None:
    rows = [f"{at % 2} qid:1 1:{at}{' #docid = a' * (at == 1)}\n" for at in range(5)]
    (tmp_path / "test").write_text("".join(rows))
    (tmp_path / "p").write_text("".join(f"{at}\n" for at in range(5)))
    checked = check_files(str(tmp_path / "test"), [str(tmp_path / "p")], of_qrels={}, of_runs={})
    (one,) = [one for one in checked.findings if one.rule == "reader"]
    assert one.what == "1 of 5 rows have a docid; rows are named d0, d1, ... by position"
    one = of_warning(HarnessWarning("something new"))
    assert (one.what, one.rule, one.count) == ("something new", "reader", 1)


def test_a_name_that_says_what_a_rule_says_is_of_none(tmp_path: Path) -> None:
    # the words of another rule, in the dataset's name, are no sign of it
    (tmp_path / "test").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    (tmp_path / "p").write_text("1\n2\n3\n")
    qrels = read_qrels(tmp_path / "test", name="web: twice in")
    with pytest.raises(InputError) as error:
        read_run(tmp_path / "p", dataset=qrels)
    assert "3 predictions for 2 rows of web: twice in" in str(error.value)
    assert [problem.rule for problem in error.value.problems] == ["row-count"]


_CALLS = {"Problem": 4, "replace": 9, "warn": 2, "HarnessWarning": 1, "_refuse": 3}
"""From which argument on they may be given a rule by place."""


def _named(tree: ast.AST) -> Iterator[str]:
    """Yield the rules that problems and warnings of a module are made with."""
    for node in ast.walk(tree):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _CALLS:
            given = [*node.args[_CALLS[ast.unparse(node.func)] :]]
            given += [one.value for one in node.keywords if one.arg == "rule"]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("rule"):
            given = [node.value]
        elif isinstance(node, ast.FunctionDef) and node.name == "of_number":
            given = [
                one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value
            ]
        for value in given:
            if isinstance(value, ast.IfExp):
                given += [value.body, value.orelse]
            elif isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value


def test_every_rule_that_a_reader_names_exists() -> None:
    folder = Path(harness.__file__).parent
    files = [*(folder / "readers").glob("*.py"), *(folder / "core").glob("*.py")]
    named = {
        name
        for path in [*files, *(folder / "batch").glob("*.py")]
        for name in _named(ast.parse(path.read_text(encoding="utf-8")))
    } - {""}
    assert named - {*RULES} == set()
    of_readers = {rule.name for rule in (*REFUSED, *WARNED)}
    assert of_readers - named == {"unreadable", "reader"}  # those that name none


def test_names_are_one_registry() -> None:
    assert len(RULES) == len(RUN_RULES) + len(PLACED) + len(FILE_RULES)
    refused = {"config", "truncated", "row-count", "not-finite", "unreadable"}
    assert not refused & {*ACCEPTABLE}
    assert {"shifted", "gaps", "labels-as-scores"} <= {*ACCEPTABLE}


@pytest.mark.parametrize("rule", FILE_RULES, ids=lambda rule: rule.name)
def test_every_rule_is_broken_in_some_test(rule: Any) -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py")]
    assert any(f'"{rule.name}"' in text or f"[{rule.name}]" in text for text in texts)
    assert rule.effect or rule.name == "reader"


def test_a_long_line_is_cut_within_its_quotes(trec: Any) -> None:
    lines = trec.lines("run")
    lines[3:5] = [f"5 Q0 {'d' * 99} 4 x{at} t\n" for at in range(2)]
    trec.put("run", lines)
    files = str(trec.folder / "qrels"), [str(trec.folder / "run")]
    (one,) = [one for one in check_files(*files, of_qrels={}, of_runs={}).findings if one.rule == "unreadable"]  # fmt: skip # noqa: E501
    assert one.examples == tuple(f"line {at} '5 Q0 {'d' * 32}...'" for at in (4, 5))
    assert str(one.examples[1]) in one.head


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("score-tie", "no rule of the guard is called 'score-tie'; did you mean 'score-ties'?"),
        ("zzz", "no rule of the guard is called 'zzz'\n"),
        ("row-count", "'row-count' cannot be accepted: what is refused has no values"),
    ],
)
def test_a_rule_that_cannot_be_accepted(letor: Any, name: str, said: str) -> None:
    letor.put("c.yaml", [*letor.lines("c.yaml"), f"guard: {{accept: [{name}]}}\n"])
    with pytest.raises(ConfigError) as error:
        load(letor.folder / "c.yaml")
    assert said in str(error.value)
    assert len(str(error.value)) < 300


def test_duplicates_do_other_things_to_judgements(trec: Any) -> None:
    trec.put("qrels", [*trec.lines("qrels"), trec.lines("qrels")[-1]])
    files = str(trec.folder / "qrels"), [str(trec.folder / "run")]
    (one,) = [one for one in check_files(*files, of_qrels={}, of_runs={}).findings if one.count == 1
              and one.rule == "duplicates"]  # fmt: skip
    assert one.effect == "one document is judged twice, and counts twice in the best ranking"


def test_a_dataset_that_lost_rows(letor: Any) -> None:
    letor.put("fold1.txt", letor.lines("fold1.txt")[:600])
    files = str(letor.folder / "fold1.txt"), [str(letor.folder / "gbrt/fold1.txt")]
    (one,) = [one for one in check_files(*files, of_qrels={}, of_runs={}).findings if one.rule == "row-count"]  # fmt: skip # noqa: E501
    assert one.fix.startswith("get the whole dataset, if it was cut; else look at predictions 578 ")
    assert one.place == f"{letor.folder}/gbrt/fold1.txt:601"
    assert one.examples[0] == f"prediction 601: {letor.lines('gbrt/fold1.txt')[600].strip()}"


def test_a_file_named_by_hand_that_fits_nothing_is_warned_of(letor: Any, root: Path) -> None:
    random = str(root / "runs/letor/random/fold1-seed1.txt")
    checked = check_files(str(letor.folder / "fold1.txt"), [random], of_qrels={}, of_runs={})
    assert [one.severity for one in checked.findings if one.rule == "unrelated"] == ["warning"]


def test_the_first_lines_that_are_warned_of(trec: Any, letor: Any) -> None:
    lines = trec.lines("run")  # the first query has 100 rows
    lines[0] = lines[0].replace("bm25", "other")
    lines[10:12] = [lines[11].replace(" 12 ", " 11 "), lines[10].replace(" 11 ", " 12 ")]
    trec.put("run", [*lines, lines[50].replace("DOC", "NEW")])
    rows = letor.lines("fold1.txt")
    letor.put("fold1.txt", [*rows, rows[0].replace("docid = D", "docid = X")])
    letor.put("p", [f"{at % 7}\n" for at in range(len(rows) + 1)])

    def placed(qrels: Path, run: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
        found = check_files(str(qrels), [str(run)], of_qrels={}, of_runs={}).findings
        return {one.rule: (one.place.rpartition(":")[2], one.examples) for one in found}

    of_trec = placed(trec.folder / "qrels", trec.folder / "run")
    assert of_trec["several-tags"] == ("2", (lines[1].strip(),))
    assert of_trec["ranks-against-scores"] == ("12", (lines[11].strip(),))
    assert of_trec["scattered-queries"][0] == str(len(lines) + 1)
    of_letor = placed(letor.folder / "fold1.txt", letor.folder / "p")
    assert of_letor["scattered-queries"][0] == str(len(rows) + 1)
