"""``harness pool``: documents to judge, contributions, and judgements left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import called

from harness.experiment.rankings import leave_out, pool

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
    rows = [tuple(one) for one in found.contributions()]
    assert rows == [("a_1", "a", 4, 0, 3), ("a_2", "a", 4, 0, 3), ("b_1", "b", 2, 1, 1)]


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
    assert csv == ["qid,docno,n_runs,runs", "1,d1,1,a_1", "1,d2,1,a_2", "1,d5,1,b_1",
                   "2,d1,1,a_1", "2,d2,1,a_2"]  # fmt: skip
    assert "5 documents to judge of 2 queries from 3 runs" in pooled(*runs, "--depth", "1")
    more = "--leave-out", "team", "--teams", "^.", "--qrels", "qrels", "-m", "map"
    assert pooled(*runs, *more).startswith("team left out  metric  judgements  relevant ")
    for words in (["--leave-out", "run"], ["-m", "map"], [*more[:2], *more[4:]]):
        assert called("pool", *runs, *words, cwd=tmp_path).code == 2
