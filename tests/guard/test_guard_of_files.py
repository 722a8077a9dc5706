"""The guard in commands that take files: no config, the same findings as in ``harness run``."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command_line import called

import harness
from harness.experiment.check import check_config, check_files

Frame = pd.DataFrame
GATE = ("ada.pred", "-m", "recip_rank", "--margin", "0.99", "--qrels", "test.txt")


def lines(path: Path, numbers: Any) -> None:
    path.write_text("".join(f"{number:.7g}\n" for number in numbers))


def in_score_order(frame: Frame) -> Frame:
    return frame.sort_values(["at", "score"], ascending=[True, False])


@pytest.fixture(scope="module")
def rows() -> Frame:
    """Rows of queries that are called by numbers in no order, and a model's scores."""
    random = np.random.default_rng(19)
    qids = ["10", "1", "2", *map(str, random.permutation(np.arange(3, 900))[:70].tolist())]
    at = np.repeat(np.arange(len(qids)), random.integers(8, 45, len(qids)))
    label = random.choice([0, 0, 0, 1, 2], at.size)
    score = label + random.normal(0, 1.5, at.size)
    return pd.DataFrame({"at": at, "qid": np.array(qids)[at], "label": label, "score": score})


@pytest.fixture
def folder(tmp_path: Path, rows: Frame) -> Path:
    """Those rows as a learning-to-rank file, and predictions in eight orders."""
    text = (f"{grade} qid:{qid} 1:{n}\n" for n, grade, qid in zip(*_columns(rows), strict=True))
    (tmp_path / "test.txt").write_text("".join(text))
    shuffled = rows.sample(frac=1, random_state=4)
    lines(tmp_path / "ada.pred", rows.score)
    lines(tmp_path / "text.pred", rows.sort_values("qid", kind="stable").score)
    lines(tmp_path / "sorted.pred", in_score_order(rows).score)
    lines(tmp_path / "shuffled.pred", shuffled.score)
    lines(tmp_path / "random.pred", shuffled.score)
    lines(tmp_path / "random_forest.pred", shuffled.score)
    lines(tmp_path / "oracle.pred", rows.label)
    for name, frame in {"d.run": in_score_order(rows), "s.run": shuffled, "good.run": rows}.items():
        harness.save_predictions(tmp_path / name, frame.score.tolist(), frame.qid.tolist())
    return tmp_path


def _columns(rows: Frame) -> tuple[Any, ...]:
    return range(len(rows)), rows.label, rows.qid


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("text.pred", "row-order"),
        ("sorted.pred", "sorted-by-score"),
        ("d.run", "sorted-by-score"),  # d0 is the best of each query
        ("shuffled.pred", "unrelated"),  # by itself: no other model fits either
        ("s.run", "unrelated"),
        ("oracle.pred", "labels-as-scores"),
        ("ada.pred", ""),
        ("good.run", ""),
        ("random.pred", ""),
        ("random_forest.pred", "unrelated"),
    ],
)
def test_each_order(folder: Path, name: str, rule: str) -> None:
    done = called("evaluate", "test.txt", name, "-m", "ndcg@10", cwd=folder)
    run = Path(name).stem
    assert done.code == 0
    assert (f"[{rule}]\n" in done.err) == bool(rule)
    assert (f"warns of {rule} in {run};" in done.out) == (f"\n{run}!" in done.out) == bool(rule)
    (folder / "c.yaml").write_text(
        f"datasets: {{d: test.txt}}\nruns: {{{run}: {name}}}\nmetrics: [ndcg@10]\n"
    )
    checked = [one.rule for one in check_config(folder / "c.yaml").findings]
    assert (rule in checked) == bool(rule)


def test_compare_and_gate(folder: Path) -> None:
    words = ("ada.pred", "text.pred", "--qrels", "test.txt", "-m", "map")
    compared = called("compare", *words, cwd=folder)
    assert "[row-order]" in compared.err
    assert "! The guard warns of row-order in text; harness check explains it." in compared.out
    gated = called("gate", "text.pred", *GATE, cwd=folder)
    assert gated.code == 0
    assert "[row-order]" in gated.err


def test_a_candidate_that_changes_nothing_is_no_mistake(folder: Path) -> None:
    (folder / "new.run").write_bytes((folder / "good.run").read_bytes())
    words = ("good.run", "new.run", "-m", "map")
    gated = called("gate", *words, "--margin", "1e-9", "--qrels", "test.txt", cwd=folder)
    assert (gated.code, gated.err) == (0, "")
    assert "[same-file-twice]" in called("evaluate", "test.txt", *words, cwd=folder).err


def test_readers_warnings_come_once_and_before_an_error(folder: Path) -> None:
    (folder / "ada.pred.gz").write_bytes((folder / "ada.pred").read_bytes())
    done = called("evaluate", "test.txt", "ada.pred.gz", "-m", "map", cwd=folder)
    assert done.err.count("[other-compression]") == 1 == done.err.count("warning: ")
    lines(folder / "short.pred", [1, 2, 3])
    done = called("evaluate", "test.txt", "ada.pred.gz", "short.pred", "-m", "map", cwd=folder)
    assert done.code == 2
    assert [one in done.err for one in ("got 3;", "[other-compression]")] == [True, True]


def test_results_repeat_the_warnings(folder: Path) -> None:
    (folder / "c.yaml").write_text(
        "datasets: {d: test.txt}\nruns: {ada: ada.pred, text: text.pred}\nmetrics: [map]\n"
    )
    assert called("run", "c.yaml", "--set", "output=out", cwd=folder).code == 0
    note = "! The guard warns of row-order in text; harness check explains it."
    for words in (
        ("compare", "ada", "text", "--results", "out", "-m", "map"),
        ("diff", "out", "out"),
        ("trace", "out", "--run", "text", "--metric", "map"),
        ("trace", "out", "--run", "text", "--metric", "map", "--query", "10"),
    ):
        assert note in called(*words, cwd=folder).out, words
    for words in (
        ("compare", "ada", "text", "--results", "out", "-m", "map", "-f", "csv"),
        ("gate", "out", "out", "--margin", "1"),
    ):
        assert note in called(*words, cwd=folder).err, words
    assert "warns" not in called("trace", "out", "--run", "ada", "--metric", "map", cwd=folder).out


@pytest.mark.parametrize(
    ("clothes", "fires"),
    [
        (lambda grades, noise: grades, True),
        (lambda grades, noise: -grades, True),
        (lambda grades, noise: 2.0**grades - 1, True),
        (lambda grades, noise: grades > 2, True),
        (lambda grades, noise: grades + 0.001 * noise, False),
        (lambda grades, noise: noise, False),
        (lambda grades, noise: 0 * grades + 7, False),
    ],
)
def test_labels_in_other_clothes(tmp_path: Path, clothes: Any, fires: bool) -> None:
    random = np.random.default_rng(5)
    grades = random.integers(0, 5, (30, 12))
    grades[:, :2] = 0, 4
    rows = [f"{grade} qid:{q} 1:0\n" for q, row in enumerate(grades.tolist()) for grade in row]
    (tmp_path / "test.txt").write_text("".join(rows))
    scores = 1.0 * clothes(grades, random.normal(size=grades.shape))
    np.savetxt(tmp_path / "p.txt", scores.ravel())
    paths = str(tmp_path / "test.txt"), [str(tmp_path / "p.txt")]
    found = check_files(*paths, of_qrels={}, of_runs={}).findings
    labels = [one for one in found if one.rule == "labels-as-scores"]
    assert [one.severity for one in labels] == ["error"] * fires
    for one in labels:
        assert len(one.examples) == 3
        assert one.examples[0].startswith("query 0, document d")
