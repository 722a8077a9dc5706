"""One file under two names of runs, which a copied line of a config leaves; and names of folds."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from refusals import warns

import harness
from harness.errors import Finding
from harness.experiment.check import check_config


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


def test_two_names_of_one_file(folder: Path) -> None:
    (one,) = checked(folder, runs=TWICE)
    expected = ("same-file-twice", "warning", f"{folder}/a.run", ("bm25", "dense"))
    assert (one.rule, one.severity, one.place, one.examples) == expected
    with warns("same-file-twice"):
        harness.run(config(folder, runs=TWICE))
    (one,) = checked(folder, runs=TWICE, guard={"accept": ["same-file-twice"]})
    assert one.severity == "note"
    (folder / "a.run").write_text("1 Q0 d1 1\n")  # and if it cannot be read
    (one,) = checked(folder, runs=TWICE)
    assert one.examples == ("bm25", "dense")
