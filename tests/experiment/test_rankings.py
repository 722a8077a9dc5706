"""Rankings of several runs: pools of documents to judge, and the similarity of runs."""

from pathlib import Path

import numpy as np
import pytest
from command_line import called, refused, succeeds
from refusals import refuses

import harness
from harness.config.load import load
from harness.errors import HarnessWarning, InputError
from harness.experiment.rankings import leave_out, pool, similarities
from harness.reports.rankings import pool_grids, pool_records

RUNS = {"a_1": "d1 d2 d3 d9", "a_2": "d2 d1 d4 d9", "b_1": "d5 d1 d6 d7"}


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    paths = []
    for name, docnos in RUNS.items():
        rows = [
            f"{q} Q0 {d} {r} {9 - r} {name}\n" for q in "12" for r, d in enumerate(docnos.split())
        ]
        rows = rows[:-4] if name == "b_1" else rows  # does not answer query 2
        (tmp_path / f"{name}.run").write_text("".join(rows))
        paths.append(str(tmp_path / f"{name}.run"))
    (tmp_path / "qrels").write_text("1 0 d5 1\n1 0 d2 1\n1 0 d9 1\n2 0 d2 1\n2 0 d3 0\n")
    return paths


def test_pool_and_contributions(runs: list[str]) -> None:
    found = pool(runs, 2, r"^\w")
    assert found.qids == ("1", "2")
    assert found.per_query.tolist() == [3, 2]  # d1 d2 d5, and d1 d2
    assert dict(zip(found.docnos.to_pylist()[:3], found.by[:3].tolist(), strict=True)) == {
        "d1": [True, True, True], "d2": [True, True, False], "d5": [False, False, True],
    }  # fmt: skip
    _, sizes, members = (
        [" ".join(cell.text for cell in row) for row in grid.rows] for grid in pool_grids(found)[:3]
    )
    assert sizes == ["1 5 2 2.5 3", "2 5 2 2.5 3"]
    assert members == ["b_1 b 2 1 1", "a_1 a 4 0 3", "a_2 a 4 0 3"]


def test_judged_documents_are_left_out(runs: list[str], tmp_path: Path) -> None:
    found = pool(runs, 2, qrels=str(tmp_path / "qrels"))
    # query 1 has d2 and d5 judged, query 2 has d2; a judged document below rank 2 is not counted
    documents = [
        (found.qids[q], d) for q, d in zip(found.query, found.docnos.to_pylist(), strict=True)
    ]
    assert documents == [("1", "d1"), ("2", "d1")]
    assert (found.n_judged, found.per_query.tolist()) == (3, [1, 1])
    assert found.by.tolist() == [[True, True, True], [True, True, False]]
    written = called("pool", *runs, "--depth", "2", "--qrels", str(tmp_path / "qrels")).out
    assert "3 documents are judged already, and left out." in written
    written = called(
        "pool", *runs, "--depth", "2", "--qrels", str(tmp_path / "qrels"), "-f", "csv"
    ).out
    assert written.split() == ["qid,docno", "1,d1", "2,d1"]


def test_runs_that_contributed(runs: list[str], tmp_path: Path) -> None:
    names = [Path(run).stem for run in runs]
    rows = [f"{name},x,{'no' if name == names[0] else 'Yes'}" for name in names]
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(["run,team,contributed judgments", *rows]))
    found = pool(runs, 2, contributors=str(table))
    assert found.runs == tuple(names[1:])
    assert f"{len(names) - 1} of {len(names)} runs" in str(pool_grids(found)[0].answers)
    assert found.docnos.equals(pool(runs[1:], 2).docnos)
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{found.qids[0]} 0 {d} 1\n" for d in {*found.docnos.to_pylist()}))
    left = leave_out(
        runs, str(qrels), ["map"], "run", 2, contributors=f"{table}:contributed judgments"
    )
    assert [one.left_out for one in left] == names[1:]
    for wrong in ("run,team\na,b\n", "run,contributed\nother,yes\n", "run,contributed\n"):
        table.write_text(wrong)
        with pytest.raises(InputError):
            pool(runs, 2, contributors=str(table))


def test_leaving_judgements_out(runs: list[str], tmp_path: Path) -> None:
    qrels = str(tmp_path / "qrels")
    found = {one.left_out: one for one in leave_out(runs, qrels, ["P_1"], "run", 2)}
    assert [one.removed for one in found.values()] == [0, 0, 1]
    # P_1 of a_1, a_2, b_1: 0, 1, 1/2; without d5 of query 1: 0, 1, 0
    assert found["a_1"].tau_b == 1.0
    one = found["b_1"]
    assert (one.relevant, one.run, one.rank, one.rank_without) == (1, "a_1", 3, 2)
    assert one.tau_b == pytest.approx(2 / (3 * 2) ** 0.5)
    (team, _) = leave_out(runs, qrels, ["P_1"], "team", 2, "^.")
    assert (team.left_out, team.removed, team.relevant) == ("a", 2, 2)  # d2 of both queries


def test_the_command(runs: list[str], tmp_path: Path) -> None:
    def pooled(*words: str) -> str:
        done = called("pool", *words, cwd=tmp_path)
        assert not done.code, done.err
        return done.out

    csv = pooled(*runs, "--depth", "1", "-f", "csv").splitlines()
    assert csv == ["qid,docno", "1,d1", "1,d2", "1,d5", "2,d1", "2,d2"]  # no run is named
    csv = pooled(*runs, "--depth", "1", "-f", "csv", "--with-runs").splitlines()
    assert csv == ["qid,docno,n_runs,runs", "1,d1,1,a_1", "1,d2,1,a_2", "1,d5,1,b_1",
                   "2,d1,1,a_1", "2,d2,1,a_2"]  # fmt: skip
    assert "5 documents of 2 queries" in pooled(*runs, "--depth", "1")
    more = "--leave-out", "team", "--teams", "^.", "--qrels", "qrels", "-m", "map"
    assert pooled(*runs, *more).startswith("team left out  metric  judgements  relevant ")
    for words in (["--leave-out", "run"], ["-m", "map"], [*more[:2], *more[4:]]):
        assert called("pool", *runs, *words, cwd=tmp_path).code == 2


def test_documents_are_listed_by_qid_and_docno(tmp_path: Path) -> None:
    rows = [(q, d) for q in ("10", "9", "q2") for d in ("D9", "d1", "D10")]
    text = "".join(f"{q} Q0 {d} 0 {-n} x\n" for n, (q, d) in enumerate(rows))
    (tmp_path / "x.run").write_text(text)
    listed = [(row["qid"], row["docno"]) for row in pool_records(pool([str(tmp_path / "x.run")]))]
    assert listed == [(q, d) for q in ("9", "10", "q2") for d in ("D10", "D9", "d1")]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Runs of different depths; one does not answer query 10, two are equal but for their tags."""
    rng = np.random.default_rng(5)
    (tmp_path / "q").write_text("".join(f"{q} 0 d{d} 1\n" for q in (1, 2, 10) for d in range(9)))
    for name, depth in (("a", 30), ("b", 12), ("c", 30), ("z", 25)):
        lines = []
        for q in (10, 2, 1):
            if (name, q) == ("c", 10):
                continue
            documents = rng.permutation(40)[:depth]
            lines += [f"{q} Q0 d{d} 0 {-rank} {name}\n" for rank, d in enumerate(documents)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    same = (tmp_path / "a.run").read_text().replace(" a\n", " again\n")
    (tmp_path / "again.run").write_text(same)
    path = tmp_path / "c.yaml"
    path.write_text('datasets: {q: {path: q}}\nruns: {"{s}": {path: "{s}.run"}}\nmetrics: [map]\n')
    return path


@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
def test_rbo_is_that_of_the_metric(config: Path, p: float) -> None:
    (found,) = similarities(load(config), p=p)
    assert sorted(found.runs) == ["a", "again", "b", "c", "z"]
    for i, first in enumerate(found.runs):
        for j, second in enumerate(found.runs):
            evaluation = harness.evaluate(
                config.parent / "q", config.parent / f"{first}.run",
                [f"rbo(p={p},reference=other)"],
                references={"other": harness.read_run(config.parent / f"{second}.run")},
                policy={"missing_queries": "skip"},
            )  # fmt: skip
            values = evaluation.column(evaluation.metrics[0])
            assert (
                found.n_queries[i, j] == np.sum(~np.isnan(values)) == (3, 2)["c" in (first, second)]
            )
            assert found.values[i, j] == pytest.approx(np.nanmean(values), abs=1e-12)


def test_overlap_is_that_of_sets(config: Path) -> None:
    (found,) = similarities(load(config), measure="overlap", depth=20)
    runs = {name: harness.read_run(config.parent / f"{name}.run").to_dict() for name in found.runs}
    for i, first in enumerate(found.runs):
        for j, second in enumerate(found.runs):
            shares = []
            for qid in runs[first].keys() & runs[second].keys():
                tops = [
                    set(sorted(one[qid], key=one[qid].get, reverse=True)[:20])
                    for one in (runs[first], runs[second])
                ]
                shares.append(len(tops[0] & tops[1]) / max(map(len, tops)))
            assert found.values[i, j] == pytest.approx(np.mean(shares), abs=1e-12)


def test_equal_rankings_are_neighbours(config: Path) -> None:
    (found,) = similarities(load(config))
    assert {*found.pairs(0.95)[0][:2]} == {"a", "again"}
    assert found.pairs(0.95)[0][2:] == (pytest.approx(1), 3)
    assert len(found.pairs(0.95)) == 1
    assert abs(found.runs.index("a") - found.runs.index("again")) == 1


@pytest.fixture
def folds(tmp_path: Path) -> Path:
    """Scores of rows without a format: two runs on each of two folds, and one run on the web."""
    for fold in (1, 2):
        rows = [f"{row % 2} qid:{fold}{row // 3} 1:{row * fold}\n" for row in range(9)]
        (tmp_path / f"rows{fold}.txt").write_text("".join(rows))
        for name, sign in (("a=1", 1), ("b", -1)):
            scores = [f"{sign * row / 7}\n" for row in range(9)]
            (tmp_path / f"{name}-{fold}.txt").write_text("".join(scores))
    (tmp_path / "q").write_text("1 0 d1 1\n")
    (tmp_path / "alone.run").write_text("1 Q0 d1 1 1 t\n")
    path = tmp_path / "c.yaml"
    path.write_text(
        'datasets: {"ltr{fold}": "rows{fold}.txt", web: q}\nruns:\n'
        '  "{model}": {path: "{model}-{fold}.txt", dataset: "ltr{fold}"}\n'
        "  alone: {path: alone.run, dataset: web}\n"
        "metrics: [map]\nsummary: {pool: [fold]}\noutput: out\n"
    )
    return path


def test_rankings_of_rows_are_read_as_the_evaluation_reads_them(folds: Path) -> None:
    with pytest.warns(HarnessWarning, match="web"):
        found = similarities(load(folds))
    assert [(one.dataset, sorted(one.runs)) for one in found] == [
        ("ltr1", ["a=1", "b"]), ("ltr2", ["a=1", "b"]),
    ]  # fmt: skip
    assert [one.dataset for one in similarities(load(folds), datasets=["ltr"])] == ["ltr1", "ltr2"]
    assert [one.dataset for one in similarities(load(folds), datasets=["ltr2"])] == ["ltr2"]
    with refuses("web"):
        similarities(load(folds), datasets=["web"])
    with refuses("datasets", suggests="ltr"):
        similarities(load(folds), datasets=["lt"])


def test_compared_runs_of_results(folds: Path) -> None:
    harness.run(folds)
    words = ("compare", "a=1", "b", "--results", "out", "--dataset")
    succeeds(*words, "ltr", cwd=folds.parent)
    done = refused(*words, "web", cwd=folds.parent)
    assert done.rstrip().endswith("fix:   leave --dataset out, or name some of alone")
    succeeds("compare", "a=1", "b", "--results", "out", cwd=folds.parent)


def test_a_pool_of_distances(tmp_path: Path) -> None:
    rows = [f"{q} Q0 d{n} {n} {n / 4} t\n" for q in (10, 2, 1) for n in (3, 1, 2, 0)]
    (tmp_path / "near.run").write_text("".join(rows))
    words = "pool", "near.run", "--depth", "1", "-f", "csv"
    done = called(*words, cwd=tmp_path)
    assert ("--lower-is-better" in done.err, "10,d3" in done.out) == (True, True)
    lines = succeeds(*words, "--lower-is-better", cwd=tmp_path).splitlines()[1:]
    assert {line.split(",")[1] for line in lines} == {"d0"}
    (tmp_path / "q").write_text("10 0 d0 1\n2 0 d0 1\n1 0 d3 1\n")
    # trec_eval has no such option
    err = called("trec_eval", "q", "near.run", cwd=tmp_path).err
    assert ("[ranks-against-scores]" in err, "--lower" in err) == (True, False)
