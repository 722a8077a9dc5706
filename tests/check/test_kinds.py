"""What readers refuse and warn of falls under the rule that it is of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.check import check_files
from harness.errors import InputError
from harness.guard.file_rules import FILE_RULES
from harness.guard.kinds import of_error, of_warning
from harness.guard.registry import ACCEPTABLE, RULES, RUN_RULES
from harness.readers.unpacking import check_ratio


def found(qrels: Path, run: Path, **options: Any) -> dict[str, int]:
    checked = check_files(str(qrels), [str(run)], of_qrels=options, of_runs={})
    return {one.rule: one.count for one in checked.findings if one.severity != "note"}


def test_a_bomb() -> None:
    with pytest.raises(InputError) as error:
        check_ratio("a.gz", 1000, 80_000_000)
    assert of_error(error.value.problems[0]) == "unpacks-too-far"


def test_a_plain_file_that_is_named_gz(trec: Any) -> None:
    (trec.folder / "run").rename(trec.folder / "run.gz")
    assert found(trec.folder / "qrels", trec.folder / "run.gz") == {"other-compression": 1}


def test_rows_that_repeat_a_docno(tmp_path: Path) -> None:
    rows = [f"{at % 2} qid:1 1:{at} #docid = {at}\n" for at in range(5)]
    (tmp_path / "test").write_text("".join([*rows, rows[2], rows[3]]))
    (tmp_path / "p").write_text("".join(f"{at}\n" for at in range(7)))
    assert found(tmp_path / "test", tmp_path / "p") == {"repeated-rows": 2}


def test_queries_of_no_judgement_that_counts(trec: Any) -> None:
    lines = [line.split() for line in trec.lines("qrels")]
    for fields in lines:
        fields[3] = "-1" if fields[0] in ("301", "302") else fields[3]
    trec.put("qrels", [" ".join(fields) + "\n" for fields in lines])
    assert found(trec.folder / "qrels", trec.folder / "run")["unusable-judgements"] == 2


def test_what_has_no_rule_of_its_own_is_said_all_the_same(tmp_path: Path) -> None:
    rows = [f"{at % 2} qid:1 1:{at}{' #docid = a' * (at == 1)}\n" for at in range(5)]
    (tmp_path / "test").write_text("".join(rows))
    (tmp_path / "p").write_text("".join(f"{at}\n" for at in range(5)))
    checked = check_files(str(tmp_path / "test"), [str(tmp_path / "p")], of_qrels={}, of_runs={})
    (one,) = [one for one in checked.findings if one.rule == "reader"]
    assert one.what == "1 of 5 rows have a docid; rows are named d0, d1, ... by position"
    assert of_warning("something new") == ("reader", 1)


def test_names_are_one_registry() -> None:
    assert len(RULES) == len(RUN_RULES) + len(FILE_RULES)
    refused = {"config", "truncated", "row-count", "not-finite", "unreadable"}
    assert not refused & {*ACCEPTABLE}
    assert {"shifted", "gaps", "labels-as-scores"} <= {*ACCEPTABLE}


@pytest.mark.parametrize("rule", FILE_RULES, ids=lambda rule: rule.name)
def test_every_rule_is_broken_in_some_test(rule: Any) -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py")]
    assert any(f'"{rule.name}"' in text or f"[{rule.name}]" in text for text in texts)
    assert rule.effect or rule.name == "reader"
