"""One file under two names of runs, which a copied line of a config leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import harness
from harness.errors import Finding, HarnessWarning
from harness.guard.check import check_config
from harness.guard.check_report import looked_at, text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgements of two collections of three queries, and runs on both together."""
    for name, qids in (("a", "123"), ("b", "456")):
        rows = [f"{q} 0 d{d} {d % 2}\n" for q in qids for d in range(4)]
        (tmp_path / f"{name}.qrels").write_text("".join(rows))
        put(tmp_path / f"{name}.run", qids)
    put(tmp_path / "both.run", "123456")
    return tmp_path


def put(path: Path, qids: str) -> None:
    rows = (f"{q} Q0 d{d} {d + 1} {9 - d} {path.stem}\n" for q in qids for d in range(4))
    path.write_text("".join(rows))


def config(folder: Path, **content: Any) -> Path:
    path = folder / "c.yaml"
    whole = {"datasets": {"a": {"path": "a.qrels"}}, "metrics": ["map"], "output": "out", **content}
    path.write_text(yaml.safe_dump(whole))
    return path


def checked(folder: Path, **content: Any) -> list[Finding]:
    found = check_config(config(folder, **content)).findings
    return [one for one in found if one.rule in ("same-file-twice", "config")]


TWICE = {"bm25": {"path": "a.run"}, "dense": {"path": "a.run"}}


def test_one_path_under_two_names_of_runs(folder: Path) -> None:
    (one,) = checked(folder, runs=TWICE)
    assert one.head == (
        f"warning: {folder}/a.run: 2 names of runs stand for this one file: bm25, dense "
        "[same-file-twice]"
    )
    assert one.count == 2


def test_harness_run_says_the_same(folder: Path) -> None:
    path = config(folder, runs=TWICE)
    with pytest.warns(HarnessWarning, match="2 names of runs stand for this one file: bm25, dense"):
        results = harness.run(path)
    (one,) = [one for one in results.findings if one.rule == "same-file-twice"]
    assert (one.severity, one.place, one.examples) == ("warning", "a.run", ("bm25", "dense"))


def test_runs_are_counted_by_name(folder: Path) -> None:
    found = check_config(config(folder, runs=TWICE))
    assert looked_at(found) == "checked 1 dataset and 2 runs, 24 rows"
    # one run whose file holds the queries of two datasets is one
    datasets = {name: {"path": f"{name}.qrels"} for name in "ab"}
    both = [{"path": "both.run", "dataset": name} for name in "ab"]
    found = check_config(config(folder, datasets=datasets, runs={"bm25": both}))
    assert looked_at(found).startswith("checked 2 datasets and 1 run, ")


def test_one_file_of_one_run_on_several_datasets(folder: Path) -> None:
    datasets = {name: {"path": f"{name}.qrels"} for name in "ab"}
    both = [{"path": "both.run", "dataset": name} for name in "ab"]
    assert checked(folder, datasets=datasets, runs={"bm25": both}) == []


def test_two_runs_on_several_datasets_are_said_once(folder: Path) -> None:
    datasets = {name: {"path": f"{name}.qrels"} for name in "ab"}
    both = [{"path": "both.run", "dataset": name} for name in "ab"]
    (one,) = checked(folder, datasets=datasets, runs={"bm25": both, "dense": both})
    assert (one.place, one.examples) == (f"{folder}/both.run", ("bm25", "dense"))


def test_seeds_have_files_of_their_own(folder: Path) -> None:
    for seed in (1, 2):
        put(folder / f"m-{seed}.run", "123")
    assert checked(folder, runs={"m": {"path": "m-{seed}.run"}}) == []
    # but where one of them is there again, as another run or as the same one
    (one,) = checked(folder, runs={"m": {"path": "m-{seed}.run"}, "n": {"path": "m-2.run"}})
    assert (Path(one.place).name, one.examples) == ("m-2.run", ("m seed=2", "n"))
    (one,) = checked(folder, runs={"m": [{"path": "m-{seed}.run"}, {"path": "m-2.run"}]})
    assert one.examples == ("m", "m seed=2")


def test_columns_of_one_table_are_runs_of_their_own(folder: Path) -> None:
    rows = [f"{q},d{d},{9 - d},{(d * 7) % 5}\n" for q in "123" for d in range(4)]
    (folder / "t.csv").write_text("qid,docno,bm25,dense\n" + "".join(rows))
    runs = {n: {"path": "t.csv", "columns": {"score": n}} for n in ("bm25", "dense")}
    assert checked(folder, runs=runs) == []
    runs["dense"] = runs["bm25"]
    assert [one.examples for one in checked(folder, runs=runs)] == [("bm25", "dense")]


def test_duplicates_that_are_treated_differently(folder: Path) -> None:
    kept = {which: {"path": "a.run", "duplicates": which} for which in ("first", "last")}
    assert checked(folder, runs=kept) == []
    named = {"x": {"path": "a.run", "format": "trec"}, "y": {"path": "a.run"}}
    assert [one.examples for one in checked(folder, runs=named)] == [("x", "y")]


def test_a_file_that_cannot_be_read(folder: Path) -> None:
    (folder / "a.run").write_text("1 Q0 d1 1\n")
    (one,) = checked(folder, runs=TWICE)
    assert one.examples == ("bm25", "dense")
    path = config(folder, runs=TWICE)
    with (
        pytest.warns(HarnessWarning, match="2 names of runs stand"),
        pytest.raises(harness.HarnessError, match="swapped-files"),
    ):
        harness.run(path)


def test_many_are_told_together(folder: Path) -> None:
    for n in range(6):
        put(folder / f"m{n}.run", "123")
    runs = {f"{way}-{n}": {"path": f"m{n}.run"} for way in ("one", "two") for n in range(6)}
    found = check_config(config(folder, runs=runs))
    shown = [line for line in text(found).splitlines() if "stand for this one file" in line]
    assert len(shown) == 3


def test_what_is_accepted_is_a_note(folder: Path) -> None:
    (one,) = checked(folder, runs=TWICE, guard={"accept": ["same-file-twice"]})
    assert one.severity == "note"
