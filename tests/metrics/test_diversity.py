"""alpha-nDCG and ERR-IA against ndeval, and qrels with subtopics."""

from pathlib import Path

import numpy as np
import pytest
from command_line import called, refused
from refusals import refuses

import harness
from harness.errors import InputError
from harness.readers import read_qrels

NAMES = {"alpha_ndcg": "alpha-nDCG", "err_ia": "ERR-IA"}
METRICS = [f"{name}@{k}" for name in NAMES for k in (5, 10, 20)]
Judgements = list[tuple[str, str, str, int]]


def drawn(seed: int) -> tuple[Judgements, dict[str, dict[str, float]]]:
    """Unsorted judgements by subtopic and a run with ties, missing and extra documents."""
    rng = np.random.default_rng(seed)
    judgements, run = [], {}
    for qid in ("2", "10", "1", "77"):
        docnos = [f"d{number}" for number in rng.permutation(40)]
        judgements += [
            (qid, str(subtopic), docno, int(rng.random() < 0.2))
            for subtopic in rng.permutation(int(rng.integers(1, 8)))
            for docno in docnos[:30]
            if rng.random() < 0.8
        ]
        run[qid] = {docno: float(np.round(rng.random(), 1)) for docno in docnos[8:]}
    return judgements, run


def written(folder: Path, judgements: Judgements, run: dict[str, dict[str, float]]) -> None:
    lines = "".join(" ".join(map(str, one)) + "\n" for one in judgements)
    (folder / "qrels").write_text(lines, encoding="utf-8")
    rows = (f"{q} Q0 {d} 0 {s} x\n" for q, some in run.items() for d, s in some.items())
    (folder / "a.run").write_text("".join(rows), encoding="utf-8")


@pytest.mark.oracle("alpha_ndcg", "err_ia")
@pytest.mark.parametrize("seed", range(8))
def test_values_are_those_of_ndeval(seed: int, tmp_path: Path) -> None:
    pyndeval = pytest.importorskip("pyndeval")
    judgements, run = drawn(seed)
    written(tmp_path, judgements, run)
    qrels = read_qrels(tmp_path / "qrels", format="diversity")
    policy = {"ties": "docno+"}  # the order of pyndeval
    found = harness.evaluate(qrels, tmp_path / "a.run", METRICS, policy=policy)
    rows = [(qid, docno, score) for qid, some in run.items() for docno, score in some.items()]
    named = {f"{name}@{k}": f"{NAMES[name]}@{k}" for name in NAMES for k in (5, 10, 20)}
    expected = pyndeval.ndeval(judgements, rows, [*named.values()])
    for metric, theirs in named.items():
        values = dict(zip(found.qids.to_pylist(), found.column(metric), strict=True))
        assert values == pytest.approx({q: row[theirs] for q, row in expected.items()}, abs=1e-12)


def test_worked_example(tmp_path: Path) -> None:
    """alpha = .4: gains 1 and .6 for subtopic 1, then 1 + .36 for both; ideal 2, .6, .36."""
    judgements = [("1", "1", d, 1) for d in "abc"] + [("1", "x", "c", 3), ("1", "9", "a", 0)]
    written(tmp_path, judgements, {"1": {"a": 3.0, "b": 2.0, "c": 1.0}})
    qrels = read_qrels(tmp_path / "qrels", format="diversity")
    assert qrels.to_dict() == {"1": {"c": 3, "b": 1, "a": 1}}
    names = ["alpha_ndcg(alpha=0.4)@3", "err_ia(alpha=0.4)@3", "map"]
    found = harness.evaluate(qrels, tmp_path / "a.run", names).summary()
    discount = np.log2([2, 3, 4])
    ndcg = ([1, 0.6, 1.36] / discount).sum() / ([2, 0.6, 0.36] / discount).sum()
    err = (1 + 0.6 / 2 + 1.36 / 3) / (2 * (1 + 0.6 / 2 + 0.36 / 3))
    assert [*found.values()] == pytest.approx([ndcg, err, 1.0])


def test_command_and_repeated_lines(tmp_path: Path) -> None:
    judgements, run = drawn(0)
    written(tmp_path, judgements, run)
    words = ["evaluate", "qrels", "a.run", "-m", "alpha_ndcg@5", "-m", "P@5", "-f", "csv"]
    assert called(*words, cwd=tmp_path).code == 2  # a docno twice in a query
    done = called(*words, "--qrels-format", "diversity", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    written(tmp_path, [*judgements, judgements[3]], run)
    err = refused(*words, "--qrels-format", "diversity", cwd=tmp_path)
    assert f"qrels:{len(judgements) + 1}" in err
    again = called(
        *words, "--qrels-format", "diversity", "--set", "dataset.duplicates=last", cwd=tmp_path
    )
    assert again.code == 0


def test_too_many_subtopics(tmp_path: Path) -> None:
    written(tmp_path, [("1", str(s), "a", 1) for s in range(63)], {"1": {"a": 1.0}})
    with refuses("qrels", error=InputError):
        read_qrels(tmp_path / "qrels", format="diversity")
