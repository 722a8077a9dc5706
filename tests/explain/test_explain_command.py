"""The command on the project's own runs: files, folders of results, exit codes, messages."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import harness
from harness.audit.explain_report import WIDTH
from harness.cli.main import main

LETOR = ("runs/letor/fold1/test.txt", "runs/letor/gbrt/fold1-seed1.txt")


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the configs and runs, and the results of one of them."""
    root, folder = Path(__file__).resolve().parents[2], tmp_path_factory.mktemp("workplace")
    for name in ("configs", "runs"):
        shutil.copytree(root / name, folder / name)
    harness.run(folder / "configs" / "sweep.yaml")
    return folder


@pytest.fixture
def run(workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(workplace)
        try:
            main(["explain", *arguments])
            code = 0
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        return code, *capsys.readouterr()

    return command


@pytest.mark.parametrize("convention", ["lightgbm", "catboost", "mslr", "gdeval"])
def test_what_evaluate_prints_is_explained(run, root: Path, convention: str) -> None:
    name = f"ndcg(convention={convention})@10"
    files = [str(root / path) for path in LETOR]
    value = harness.evaluate(*files, [name]).summary()[name]
    code, out, _ = run(f"{value:.4f}", *LETOR, "-m", "ndcg", "-k", "10", "-f", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    names = {each["metric"] for row in rows for each in (row, *row["same"])}
    assert name in names
    assert rows[0]["changed"] == 0


def test_a_cell_of_results(run, workplace: Path) -> None:
    # The config leaves queries without relevant documents out: the leaderboard's number is
    # not the default's, but that with one setting changed
    board = (workplace / "results/sweep/leaderboard.csv").read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split(",") for line in board)
    row = next(dict(zip(header, row, strict=True)) for row in rows if "lambdamart" in row)
    cell = ["--results", "results/sweep", "--run", "lambdamart"]
    where = ["--dataset", row["dataset"], "--where", f"seed={row['seed']}"]
    code, out, _ = run(f"{float(row['ndcg@10']):.5f}", *cell, *where, "-m", "ndcg@10")
    assert code == 0
    title = f"of lambdamart on {row['dataset']}, fold={row['fold']}, seed={row['seed']}, 50 queries"
    assert title in out.splitlines()[0]
    assert "  ndcg(empty=nan)@10" in out
    assert "the default, 1 setting changed" in out


def test_the_page_shows_what_is_printed(run, root: Path) -> None:
    page = (root / "docs" / "explain.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^harness explain (0\.8712 .*)", page, re.M)
    (shown,) = re.findall(r"^```text\n(.*?)^```", page, re.M | re.S)
    code, out, err = run(*command.split())
    assert (code, err) == (0, "")
    # how many there are changes with every convention that is added
    assert re.sub(r"[\d,]{2,} ", "N ", out) == re.sub(r"[\d,]{2,} ", "N ", shown)


def test_nothing_fits(run) -> None:
    code, out, _ = run("0.12345678", *LETOR, "-m", "ndcg", "-k", "10")
    assert code == 1
    assert out.splitlines()[1].startswith("no settings give it; ")
    assert out.splitlines()[3].startswith("nearest: 0.")
    code, out, _ = run("0.12345678", *LETOR, "-m", "ndcg", "-k", "10", "-f", "jsonl")
    assert code == 1
    assert json.loads(out)["fits"] is False


def test_fractions_are_grades_to_the_conventions_that_take_them(run, tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("0.5 qid:1 1:0\n2 qid:1 1:0\n", encoding="utf-8")
    (tmp_path / "run.txt").write_text("2\n1\n", encoding="utf-8")
    # (0.5 + 2 / log2(3)) / (2 + 0.5 / log2(3)) = 0.760909
    files = [str(tmp_path / name) for name in ("test.txt", "run.txt")]
    code, out, _ = run("0.7609", *files, "-m", "ndcg", "-k", "2")
    assert code == 0
    assert "  ndcg(convention=catboost)@2\n" in out
    assert "  left out: ndcg, ndcg(convention=" in out


def test_any_metric_with_one_setting_changed(run) -> None:
    code, out, err = run("0.9999999", "runs/trec/qrels.txt", "runs/trec/bm25.run")
    assert (code, err) == (1, "")
    tried = " ".join(out.split("tried: ")[1].split())
    assert tried.startswith("map, gm_map, infAP, bpref, ")
    assert "up to 1 setting changed; cutoffs 1-20, 25, 30, 32, 50, 100, 1000 and" in tried
    assert max(map(len, out.splitlines())) <= WIDTH


SWEEP = ["--results", "results/sweep", "--run"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["0,4731", *LETOR], "write it with a point: 0.4731"),
        (["0.4731", *LETOR, "-m", "ndcg@10", "-k", "5"], "ndcg@10 names its own cutoff"),
        (["0.4731", *LETOR, "-m", "ndcg@10", "-m", "bpref", "-k", "5"], "bpref takes no cutoff"),
        (["0.4731", *LETOR, "-m", "ndgc"], "did you mean 'ndcg'?"),
        (["0.4731", LETOR[0]], "give QRELS and RUN, or --results FOLDER"),
        (["0.4731", *LETOR, *SWEEP, "gbrt"], "--results FOLDER takes --run NAME"),
        (["0.4731", "--results", "results", "--run", "gbrt"], "holds no manifest.json"),
        (["0.4731", *SWEEP, "gbtr"], "did you mean 'gbrt'?"),
        (["0.4731", *SWEEP, "gbrt", "--dataset", "letor-fold3"], "did you mean 'letor-fold2'?"),
        (["0.4731", *SWEEP, "gbrt", "--dataset", "letor-fold2"], "2 cells fit"),
        (["0.4731", *SWEEP, "gbrt", "--where", "seed"], "write it as NAME=VALUE"),
    ],
)
def test_wrong_usage(run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_inputs_that_changed(run, workplace: Path) -> None:
    predictions = workplace / LETOR[1]
    before = predictions.read_bytes()
    predictions.write_bytes(before + b"0.5\n")
    try:
        cell = ["gbrt", "--dataset", "letor-fold1", "--where", "seed=1", "-m", "ndcg"]
        code, _, err = run("0.5", *SWEEP, *cell)
    finally:
        predictions.write_bytes(before)
    assert code == 2
    assert "fold1-seed1.txt: has changed since the results were computed: sha256 " in err
