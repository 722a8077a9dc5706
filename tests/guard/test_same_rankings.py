"""Runs that rank the documents of every query alike, whatever their scores, rows and format."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import called
from refusals import warns

import harness
from harness.core.align import MANY_TIED, rank_order, ranking_hash
from harness.core.policy import Policy
from harness.core.qrels_and_runs import Run

Rows = list[tuple[str, str, float]]
QIDS = ["10", "2", "1", "q=7"]


def rows(seed: int = 0, digits: int = 4) -> Rows:
    scores = np.random.default_rng(seed).permutation(40) / 8 + 0.0101
    return [
        (qid, f"d{n * 7 % 10}", round(float(scores[10 * place + n]), digits))
        for place, qid in enumerate(QIDS) for n in range(10)
    ]  # fmt: skip


def trec(path: str, ranked: Rows) -> None:
    Path(path).write_text("".join(f"{q} Q0 {d} 1 {score!r} t\n" for q, d, score in ranked))


def csv(path: str, ranked: Rows) -> None:
    text = "".join(f"{score!r},{d},{q}\n" for q, d, score in ranked)
    Path(path).write_text("score,docno,qid\n" + text)


def by_row(path: str, ranked: Rows) -> None:
    scores = {(q, d): score for q, d, score in ranked}
    Path(path).write_text("".join(f"{scores[q, d]!r}\n" for q, d, _ in rows()))


def changed(change: Callable[[float], float], seed: int = 0) -> Rows:
    return [(q, d, change(score)) for q, d, score in rows(seed)]


def reported(*names: str) -> list[tuple[str, ...]]:
    found = harness.check("rows.txt", list(names)).findings
    return [
        (one.place.file, *one.examples) for one in found
        if one.rule == "same-file-twice" and "rankings" in one.what
    ]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    grades = np.random.default_rng(5).integers(0, 3, 40).tolist()
    lines = (f"{g} qid:{q} 1:1 #docid = {d}\n" for g, (q, d, _) in zip(grades, rows(), strict=True))
    Path("rows.txt").write_text("".join(lines))
    return tmp_path


WRITERS = {"a.run": trec, "b.csv": csv, "c.txt": by_row}
SAME: dict[str, Rows] = {
    "doubled": changed(lambda score: 2 * score),
    "logarithm": changed(lambda score: float(np.log(score))),
    "rounded": changed(lambda score: round(score, 2)),
    "other rows": sorted(changed(lambda score: score - 3), key=lambda row: (row[2], row[0])),
}


@pytest.mark.parametrize("copy", WRITERS)
@pytest.mark.parametrize("original", WRITERS)
@pytest.mark.parametrize("name", SAME)
def test_copies_with_other_scores(folder: Path, name: str, original: str, copy: str) -> None:
    first, second = f"first-{original}", f"second-{copy}"
    WRITERS[original](first, rows())
    WRITERS[copy](second, SAME[name])
    assert reported(first, second) == [(first, second)]


@pytest.mark.parametrize("writer", WRITERS)
def test_other_rankings(folder: Path, writer: str) -> None:
    swapped = rows()
    scores = [score for *_, score in swapped]
    first, second = np.argsort(scores[:10])[-2:]  # the last two of one query
    scores[first], scores[second] = scores[second], scores[first]
    WRITERS[writer](f"x-{writer}", rows())
    WRITERS[writer](
        f"y-{writer}", [(*row[:2], score) for row, score in zip(swapped, scores, strict=True)]
    )
    WRITERS[writer](f"z-{writer}", rows(seed=1))
    assert reported(*(f"{letter}-{writer}" for letter in "xyz")) == []


def test_a_sweep_of_predictions(folder: Path) -> None:
    by_row("a.txt", rows())
    by_row("b.txt", SAME["doubled"])
    by_row("c.txt", rows(seed=2))
    Path("c.yaml").write_text(
        "datasets: {d: rows.txt}\nmetrics: [map]\noutput: o\nruns:\n"
        + "".join(f"  {m}: {{path: {m}.txt, format: scores}}\n" for m in "abc")
    )
    done = called("run", "c.yaml")
    assert (done.code, done.err.count("[same-file-twice]")) == (0, 1)
    assert "a!" in done.out
    assert "c!" not in done.out


def test_ties_are_compared_as_they_are_ranked() -> None:
    """Against the ranked docnos of each query, of random runs with few scores."""
    random = np.random.default_rng(3)
    policy, known = Policy(), dict[int, list[list[str]]]()
    for _ in range(2000):
        docnos = [f"x{n}" for n in random.permutation(4)]
        scores = random.integers(0, 4, 4) / 4
        run = Run.from_dict({
            "2": dict(zip(docnos[:1], [1.5], strict=True)),
            "10": dict(zip(docnos, scores.tolist(), strict=True)),
        })  # fmt: skip
        names = run.docnos.take(rank_order(run, policy)).to_pylist()
        ranked = [names[:1], names[1:]]
        assert known.setdefault(ranking_hash(run, policy), ranked) == ranked
    assert len(known) == len({str(one) for one in known.values()}) == 4 * 24


def test_many_tied_documents_share_a_place() -> None:
    docnos = [f"d{n}" for n in range(MANY_TIED + 2)]
    one = Run.from_dict({"q": {docno: float(n > 1) for n, docno in enumerate(docnos)}})
    other = Run.from_dict({"q": {docno: 3.0 * (n > 1) for n, docno in [*enumerate(docnos)][::-1]}})
    apart = Run.from_dict({"q": {docno: float(n > 2) for n, docno in enumerate(docnos)}})
    assert ranking_hash(one) == ranking_hash(other) != ranking_hash(apart)


def test_two_names_of_one_file(folder: Path) -> None:
    trec("a.run", rows())
    config = "datasets: {d: rows.txt}\nmetrics: [map]\noutput: o\nruns: {x: a.run, y: a.run}\n"

    def checked(more: str = "") -> list[tuple[str, str, tuple[str, ...]]]:
        Path("c.yaml").write_text(config + more)
        found = harness.check("c.yaml").findings
        shared = [one for one in found if one.rule == "same-file-twice"]
        return [(one.severity, str(one.place), one.examples) for one in shared]

    assert checked("guard: {accept: [same-file-twice]}\n") == [("note", "a.run", ("x", "y"))]
    assert checked() == [("warning", "a.run", ("x", "y"))]
    with warns("same-file-twice"):
        harness.run("c.yaml")
    Path("a.run").write_text("1 Q0 d1 1\n")  # and if it cannot be read
    assert checked() == [("warning", "a.run", ("x", "y"))]
