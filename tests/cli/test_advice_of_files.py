"""Fixes of messages about files of arrays, RankLib scores and groups, tried where they appear."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import called, succeeds

ROWS = [("2", 0), ("2", 1), ("10", 1), ("10", 0), ("10", 0), ("1", 1)]
SCORES = np.array([0.25, 1.5, -0.5, 2.0, 0.75, 1.0])
QIDS, SIZES = ["2", "10", "1"], [2, 3, 1]
RIGHT = (1 + 1 / 3 + 1) / 3


def tensor(path: Path, values: Any) -> None:
    torch = pytest.importorskip("torch")
    torch.save(values(torch) if callable(values) else torch.tensor(values), path)


def saved(path: Path, values: Any) -> None:
    if path.suffix == ".pt":
        tensor(path, values)
    elif path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".npz":
        np.savez(path, **{name: np.array(value) for name, value in values.items()})
    else:
        path.write_text(values)


def text(form: str, *above: str) -> str:
    place = [n for size in SIZES for n in range(size)]
    rows = [
        form.format(q=qid, at=at, next=at + 1, s=score)
        for (qid, _), at, score in zip(ROWS, place, SCORES, strict=True)
    ]
    return "\n".join((*above, *rows)) + "\n"


BATCH = {"scores": SCORES, "n": SIZES, "qids": QIDS}
OF_SCORES = "save one score for each row"
CASES: dict[str, tuple[str, Any, str, str, Any]] = {
    "a tensor of two columns": (
        "a.pt", np.stack([SCORES, SCORES], 1).tolist(), OF_SCORES, "a.pt", SCORES.tolist(),
    ),
    "tensors of two lengths": (
        "a.pt", lambda torch: {"scores": torch.tensor(SCORES), "loss": torch.zeros(2)}, OF_SCORES,
        "a.pt", lambda torch: {"scores": torch.tensor(SCORES)},
    ),
    "Python objects in a torch file": (
        "a.pt", lambda torch: {"scores": Path("x")}, OF_SCORES,
        "a.pt", lambda torch: {"scores": torch.tensor(SCORES)},
    ),
    "objects in an array": (
        "a.npy", SCORES.astype(object), "np.save(path, scores.astype(float))",
        "a.npy", SCORES.astype(object).astype(float),
    ),
    "objects in an archive": (
        "a.npz", {"scores": SCORES.astype(object)}, "np.save(path, scores.astype(float))",
        "b.npy", SCORES,
    ),
    "arrays of two lengths": (
        "a.npz", {"scores": SCORES, "other": [1, 2]}, OF_SCORES, "a.npz", {"scores": SCORES},
    ),
    "a batch without qids": (
        "a.npz", {"scores": SCORES, "n": SIZES}, "a batch has qids, n and scores", "a.npz", BATCH,
    ),
    "docnos in a batch": (
        "a.npz", {**BATCH, "docnos": ["a"] * 6}, "columns qid, docno and score",
        "b.csv", text("{q},d{at},{s}", "qid,docno,score"),
    ),
    "RankLib's rows from 1": (
        "a.txt", text("{q}\t{next}\t{s}"), "count rows from 0", "a.txt", text("{q}\t{at}\t{s}"),
    ),
    "too few of RankLib's rows": (
        "a.txt", text("{q}\t{at}\t{s}").rsplit("\n", 2)[0] + "\n", "predict every row",
        "a.txt", text("{q}\t{at}\t{s}"),
    ),
}  # fmt: skip
"""A file and its content, words of the fix, and the file that the fix leads to."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rows.txt").write_text(
        "".join(f"{grade} qid:{qid} 1:{n}\n" for n, (qid, grade) in enumerate(ROWS))
    )
    Path("p.txt").write_text("".join(f"{score}\n" for score in SCORES))
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_a_fix_for_a_file_of_scores_works(here: Path, name: str) -> None:
    file, wrong, words, fixed, right = CASES[name]
    options = ["--run-format", "ranklib"] if file == "a.txt" else []
    saved(Path(file), wrong)
    done = called("evaluate", "rows.txt", file, "-m", "recip_rank", *options)
    assert (done.code, words in done.err) == (2, True), done
    assert called("check", "rows.txt", file, *options).code == 2
    saved(Path(fixed), right)
    out = succeeds("evaluate", "rows.txt", fixed, "-m", "recip_rank", *options)
    assert f"{RIGHT:.4f}" in out


BINS = ["--set", "groups.bins={length: [2]}"]
GROUPS: dict[str, tuple[str, list[str], str, str, str]] = {
    "no column of qids": ("session,kind\n2,a\n10,b\n1,a\n", [],
                          "rename the column of qids to 'qid'",
                          "qid,kind\n2,a\n10,b\n1,a\n", ""),
    "a qid twice": ("qid,kind\n2,a\n10,b\n2,b\n1,a\n", [], "keep one of the lines",
                    "qid,kind\n2,a\n10,b\n1,a\n", ""),
    "a name of the outputs": ("qid,dataset\n2,a\n10,b\n1,a\n", [], "rename it",
                              "qid,kind\n2,a\n10,b\n1,a\n", ""),
    "text among numbers": ("qid,length\n2,a\n10,3\n1,4\n", BINS, "correct it",
                           "qid,length\n2,1\n10,3\n1,4\n", "--set groups.bins={length:[2]}"),
    "no bins": ("qid,length\n2,a\n10,3\n1,4\n", BINS, "out of the bins",
                "qid,length\n2,a\n10,3\n1,4\n", ""),
    "a column that is not there": ("qid,kind\n2,1\n10,3\n1,4\n", BINS, "use kind",
                                   "qid,kind\n2,1\n10,3\n1,4\n",
                                   "--set groups.bins={kind:[2]}"),
    "many numbers": ("qid,length\n" + "".join(f"{n},{n / 4}\n" for n in range(1, 31)), [],
                     "groups.bins={length: [5, 10]}",
                     "qid,length\n" + "".join(f"{n},{n / 4}\n" for n in range(1, 31)),
                     "--set groups.bins={length:[5,10]}"),
}  # fmt: skip
"""A file of groups and options, words of the fix, and the file and options that it leads to."""


@pytest.mark.parametrize("name", GROUPS)
def test_a_fix_for_a_file_of_groups_works(here: Path, name: str) -> None:
    wrong, options, words, right, added = GROUPS[name]
    evaluate = ("evaluate", "rows.txt", "p.txt", "-m", "recip_rank", "--groups", "g.csv")
    Path("g.csv").write_text(wrong)
    done = called(*evaluate, *options)
    assert (done.code, words in done.err) == (2, True), done
    Path("g.csv").write_text(right)
    assert "[" in succeeds(*evaluate, *added.split())


@pytest.mark.parametrize("command", ["evaluate", "check"])
@pytest.mark.parametrize("text", ["2 0 d1 1\n10 0 d1 0\n", "2 Q0 d1 1 0.5 t\n10 Q0 d1 1 0.25 t\n"])
def test_one_file_given_twice_is_not_to_be_swapped(tmp_path: Path, command: str, text: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    metric = ("-m", "map") if command == "evaluate" else ()
    done = called(command, "a.txt", "./a.txt", *metric, cwd=tmp_path)
    assert done.code == 2
    assert "swap the" not in done.out + done.err
    assert re.search("leave it out of the runs|give the qrels here", done.out + done.err)


def test_the_probability_of_the_last_class_is_proposed(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("2 0 d1 1\n2 0 d2 0\n")
    run = tmp_path / "a.csv"
    run.write_text("qid,docno,proba_0,proba_1\n2,d1,0.25,0.75\n2,d2,0.5,0.5\n")
    words = ("evaluate", "q.txt", "a.csv", "-m", "map")
    done = called(*words, cwd=tmp_path)
    assert "rename the column 'proba_1' to 'score'" in done.err
    run.write_text(run.read_text().replace("proba_1", "score"))
    assert "1.0000" in succeeds(*words, cwd=tmp_path)


LOWER = ["--lower-is-better"]
NEAR = {"10": [("D=1", 0.1), ("D=2", 0.4)], "2": [("D=3", 0.5), ("D=1", 0.7)]}


@pytest.fixture
def runs_that_differ(here: Path) -> Path:
    """BM25 scores of documents, and distances of passages in two formats."""
    Path("q.qrels").write_text("2 0 D=3 1\n10 0 D=1 1\n10 0 D=2 0\n")
    Path("bm25.run").write_text("10 Q0 D=2 1 9.5 a=b\n10 Q0 D=1 2 3 a=b\n2 Q0 D=3 1 8 a=b\n")
    near = [(qid, docno, at, x) for qid, r in NEAR.items() for at, (docno, x) in enumerate(r, 1)]
    Path("near.run").write_text("".join(f"{q} Q0 {d} {at} {x} n\n" for q, d, at, x in near))
    Path("near.jsonl").write_text(
        "".join(f'{{"qid": {q}, "docno": "{d}#0", "distance": {x}}}\n' for q, d, _, x in near)
    )
    return here


@pytest.mark.parametrize(
    ("options", "place"),
    [("--columns score=distance --lower-is-better", "bm25.run: no column 'distance'"),
     ("--set run.documents=(.+)#[0-9]+", "bm25.run: expected passages")],
)  # fmt: skip
def test_settings_of_one_run_go_into_a_config(
    runs_that_differ: Path, options: str, place: str
) -> None:
    done = called("evaluate", "q.qrels", "bm25.run", "near.jsonl", "-m", "map", *options.split())
    fix = done.err.partition(place)[2].partition("  fix:")[2].partition("\n")[0]
    assert (done.code, "config" in fix, "each run has its own" in fix) == (2, True, True), done
    Path("c.yaml").write_text(
        "datasets: {d: q.qrels}\nmetrics: [map]\nruns:\n  bm25: bm25.run\n"
        "  near: {path: near.jsonl, columns: {score: distance}, order: ascending, "
        "documents: '(.+)#[0-9]+'}\n  rrf: {fuse: [bm25, near], method: rrf}\n"
    )
    out = succeeds("run", "c.yaml")
    assert [line.split()[3].rstrip("^") for line in out.splitlines() if "2/2" in line] == [
        "1.0000", "0.7500", "0.7500",
    ], out  # fmt: skip


def test_scores_that_all_rise_may_be_distances(runs_that_differ: Path) -> None:
    fix = "; if the lowest score is best, write order: ascending (--lower-is-better)"
    assert fix in called("check", "q.qrels", "near.run").out
    assert "ranks-against-scores" not in called("check", "q.qrels", "near.run", *LOWER).out
    out = called("check", "q.qrels", "bm25.run", *LOWER).out
    assert "fix:    take --lower-is-better out" in out


LISTS = {"10": (["D=2", "D=1"], [0.4, 0.1]), "2": (["D=3", "D=1"], [0.5, 0.7])}


def test_lists_of_distances_and_objects_for_docnos(runs_that_differ: Path) -> None:
    rows = [{"qid": q, "ids": d, "near": n} for q, (d, n) in LISTS.items()]
    Path("lists.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = "evaluate", "q.qrels", "lists.jsonl", "-m", "map", *LOWER
    message = called(*words, "--columns", "score=near").err
    assert "score (column 'near'): expected a number, got lists, but no lists of docnos" in message
    assert "fix:   add --columns docno=NAME" in message
    assert "1.0000" in succeeds(*words, "--columns", "score=near,docno=ids")
    hits = [{"docno": {"id": docno, "page": 1}, "score": 1} for docno in ("D=3", "D=1")]
    text = "".join(f"{json.dumps({'qid': qid, 'hits': hits})}\n" for qid in (10, 2))
    Path("lists.jsonl").write_text(text)
    message = called("evaluate", "q.qrels", "lists.jsonl", "-m", "map").err
    assert "docno (column 'docno'): expected text or a whole number, got objects" in message
