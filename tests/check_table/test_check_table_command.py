"""harness check-table: what it prints, and how it ends."""

import json
import time
from pathlib import Path

import pytest
from command_line import called
from refusals import refuses

import harness
from harness.audit.check_table import SIZE, check_table, grids
from harness.errors import InputError, UnknownNameError
from harness.reports.text import render


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    folder = tmp_path_factory.mktemp("results") / "compare"
    harness.run(root / "configs" / "compare.yaml", overrides=[f"output={folder}"])
    return folder


def test_a_wrong_number(results: Path, tmp_path: Path) -> None:
    made = called("table", results, "--format", "latex", "--wide")
    path, wrong = tmp_path / "paper.tex", r"\textbf{.887}"
    arguments = "check-table", path, "--results", results
    path.write_text(made.out, "utf-8")
    done = called(*arguments)
    # 5 models x 2 folds x 3 metrics; † on 3 + 3 + 2 + 2 values that are better, and 4 worse
    end = (
        "checked: 30 numbers, 6 best values, 6 second best values, 14 marks; claims in captions "
        "are not\n"
    )
    assert (done.code, done.out) == (0, f"{path}: no findings; {end}")
    path.write_text(made.out.replace(r"\textbf{.877}", wrong), "utf-8")
    done = called(*arguments)
    line = path.read_text("utf-8").split(wrong)[0].count("\n") + 1
    assert (done.code, done.out) == (1, (
        f"{path}:{line}: another number: lambdamart, letor-fold1 MAP ↑\n"
        "  found: .887\n"
        "  right: .877  (computed: 0.87688793)\n\n"
        f"{path}: 1 finding; {end}"
    ))  # fmt: skip
    done = called(*arguments, "--format", "jsonl")
    first, last = map(json.loads, done.out.splitlines())
    assert (first["kind"], first["line"]) == ("digits", line)
    assert (first["found"], first["right"]) == (".887", ".877")
    assert (last["verified"]["numbers"], last["findings"]) == (30, 1)


TWO = (
    "| option | value |\n|---|---|\n| rate | 0.1 |\n\n"
    "| Model | letor-fold1 MAP |\n|---|---|\n| Lambda MART | 0.877 |\n"
)


def test_several_tables_and_those_that_are_no_results(results: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(TWO, "utf-8")
    checked = check_table(path, results)
    assert checked.is_right
    assert render(grids(checked)) == (
        "not checked\n  table 1 (line 1): no row is a run, or no column a metric\n\n"
        f"{path}: no findings; checked: 1 number\n"
    )
    assert not check_table(path, results, tables=["2"]).skipped
    path.write_text(
        "# A\n| run | letor-fold1 MAP |\n|---|---|\n| lambdamart | 0.877 |\n" * 2, "utf-8"
    )
    assert [one.verified["numbers"] for one in check_table(path, results).tables] == [1, 1]
    path.write_text(TWO, "utf-8")
    with refuses("a.md", error=UnknownNameError):
        check_table(path, results, tables=["3"])


DEEP = rb"\begin{tabular}{lc} & Web MAP \\ \midrule bm25 & " + b"\\textbf{" * 2_000


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.tex", b"no table", ""),
        ("deep.tex", DEEP, ""),
        ("large.html", b"<" * (SIZE + 1), ""),
        ("a.pdf", b"", ""),
        ("empty.csv", b"", ""),
        ("a.md", b"| a | b |\n|---|---|\n| \xff | 1 |\n", ":3"),
        ("long.csv", b"# ours\nrun,map\nzeta,.2\nalpha,.1,2\n", ":4"),
        ("short.csv", b"run,map,ndcg@10\nzeta,.2\n", ":2"),
        ("none.tex", None, ""),
    ],
)
def test_files_that_cannot_be_checked(
    name: str, content: bytes | None, line: str, results: Path, tmp_path: Path
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    begun = time.process_time()
    with pytest.raises(InputError) as caught:
        check_table(path, results)
    assert time.process_time() - begun < 5
    assert [one.where for one in caught.value.problems] == [f"{path}{line}"]
