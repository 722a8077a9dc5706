"""harness check-table: what it prints, and how it ends."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import harness
from harness.audit.check_table import SIZE, check_table
from harness.cli.app import app
from harness.errors import InputError, UnknownNameError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "compare"
    harness.run(ROOT / "configs" / "compare.yaml", overrides=[f"output={folder}"])
    return folder


def test_the_tables_of_the_example_hold(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    harness.run(ROOT / "configs" / "paper.yaml", overrides=[f"output={folder}"])
    files = [one for one in sorted((folder / "tables").iterdir()) if one.suffix != ".txt"]
    assert len(files) == 6
    for path in files:
        text, is_right = check_table(path, folder)
        # main: 5 systems x 2 metrics x (2 folds and their mean); seeds: 4 systems x 4 metrics
        numbers = 30 if path.stem == "main" else 16
        assert f"{path}: no findings; checked: {numbers} numbers, " in text.replace(
            "16 spreads, ", ""
        )
        assert is_right
        assert "not checked" not in text


def paper(results: Path, tmp_path: Path, change: tuple[str, str] | None = None) -> Path:
    done = CliRunner().invoke(app, ["table", str(results), "--format", "latex", "--wide"])
    assert done.exit_code == 0, done.output
    text = done.stdout.replace(*change) if change else done.stdout
    assert change is None or text != done.stdout
    path = tmp_path / "paper.tex"
    path.write_text(text, "utf-8")
    return path


def test_nothing_is_wrong(results: Path, tmp_path: Path) -> None:
    path = paper(results, tmp_path)
    done = CliRunner().invoke(app, ["check-table", str(path), "--results", str(results)])
    assert done.exit_code == 0
    # 5 models x 2 folds x 3 metrics; † on 3 + 3 + 2 + 2 values that are better, and 4 worse
    assert done.stdout == (
        f"{path}: no findings; checked: 30 numbers, 6 best values, 6 second best values, 14 marks"
        "; claims in captions are not\n"
    )


def test_a_wrong_number(results: Path, tmp_path: Path) -> None:
    path = paper(results, tmp_path, (r"\textbf{.877}", r"\textbf{.887}"))
    arguments = ["check-table", str(path), "--results", str(results)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    line = path.read_text("utf-8").split(r"\textbf{.887}")[0].count("\n") + 1
    assert done.stdout == (
        f"{path}:{line}: another number: lambdamart, letor-fold1 MAP ↑\n"
        "  found: .887\n"
        "  right: .877  (computed: 0.87688793)\n"
        f"{path}: 1 finding; checked: 30 numbers, 6 best values, 6 second best values, 14 marks"
        "; claims in captions are not\n"
    )
    done = CliRunner().invoke(app, [*arguments, "--format", "jsonl"])
    first, last = map(json.loads, done.stdout.splitlines())
    assert first["kind"] == "digits"
    assert (first["line"], first["found"], first["right"]) == (line, ".887", ".877")
    assert last["verified"]["numbers"] == 30
    assert last["findings"] == 1


TWO = (
    "| option | value |\n|---|---|\n| rate | 0.1 |\n\n"
    "| Model | letor-fold1 MAP |\n|---|---|\n| Lambda MART | 0.877 |\n"
)


def test_several_tables_and_those_that_are_no_results(results: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(TWO, "utf-8")
    text, is_right = check_table(path, results)
    assert is_right
    assert text == (
        "not checked: table 1 (line 1): no row is a run, or no column a metric\n"
        f"{path}: no findings; checked: 1 number\n"
    )
    text, _ = check_table(path, results, tables=["2"])
    assert "not checked" not in text
    path.write_text(
        "# A\n| run | letor-fold1 MAP |\n|---|---|\n| lambdamart | 0.877 |\n" * 2, "utf-8"
    )
    assert "checked: 2 numbers" in check_table(path, results)[0]
    path.write_text(TWO, "utf-8")
    with pytest.raises(UnknownNameError, match=r"no table '3'  \(there are: 1, 2\)"):
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
