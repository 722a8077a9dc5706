"""Every run file of ../shared: each value as pytrec_eval gives it, and as it was published.

The default suite takes every ninth file. Published leaderboards: tests/changes/test_real_boards.py.
"""

from pathlib import Path

import pytest
from csv_rows import csv_rows

from harness import Policy, evaluate, read_qrels, read_run, readers
from harness.core import evaluation
from harness.core.names import parse_all
from harness.experiment.crosscheck import Crosscheck, Peer

pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
DEEP = Policy(depth=1000)
METRICS = parse_all(["all_trec", *(f"{name}(rel=2)" for name in ("map", "bpref", "Rprec", "P"))])
LTR = "ltr/predictions_made_here"
RUNS = [  # qrels, runs, how many there are
    ("codec/qrels/document_ndcg.qrels", "codec/runs/document_*.run", 8),
    ("codec/qrels/entity_ndcg.qrels", "codec/runs/entity_*.run", 6),
    ("dl_hard/dl_hard-doc.qrels", "dl_hard/doc/*.run", 14),
    ("dl_hard/dl_hard-passage.qrels", "dl_hard/passage/*.run", 6),
    ("tilde_dl19/qrels/2019qrels-pass.txt", "tilde_dl19/runs/*", 1),
    ("www2018_table/data/qrels.txt", "www2018_table/rankings*/*.txt", 10),
    ("trec_web2012_baselines/qrels.web.151-200.txt", "trec_web2012_baselines/runs/*/*.txt", 8),
    ("web_table_retrieval/data/rel_table_qrels.txt", "web_table_retrieval/rankings/*/*.result", 25),
    ("web_table_retrieval/data/rel_table_qrels.txt", "web_table_retrieval/rankings/pool/*.txt", 7),
    ("trec_covid_round1/qrels-rnd1.txt", "trec_covid_round1/runs/*.gz", 143),
    ("ltr/mq2008_fold1/test.txt", f"{LTR}/mq2008_fold1/*.pred", 6),
    ("ltr/lightgbm_lambdarank/rank.test", f"{LTR}/lightgbm_lambdarank/*.pred", 6),
    ("ltr/mslr_web10k_sample/mslr_fold1_test_sample.txt", f"{LTR}/mslr_web10k_sample/*.pred", 6),
]


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("judgements", "pattern", "count"), RUNS, ids=[p for _, p, _ in RUNS])
def test_every_value_of_every_run(
    shared: Path, judgements: str, pattern: str, count: int, step: int
) -> None:
    data = shared / "data"
    qrels = read_qrels(data / judgements)
    runs = sorted(data.glob(pattern))
    assert len(runs) == count
    for path in runs[::step]:
        check = Crosscheck(Peer(qrels, METRICS, Policy()), "all")  # compares with ==
        # two of CODEC's runs hold duplicates
        parts = readers.align_run(qrels, path, watch=check.watch, duplicates="last")
        audit = check.compare(
            evaluation.evaluate(parts, METRICS, run=path.name, dataset=judgements)
        )
        assert audit.values > 1000


def test_dl_hard_published_every_value_of_every_file(shared: Path) -> None:
    # made by its authors with "trec_eval -l 2 -c -M1000 -q -m all_trec"; two measures are text
    folder = shared / "data" / "dl_hard"
    compared, wrong = 0, []
    for path in sorted(folder.glob("*/*.run.eval")):
        qrels = read_qrels(folder / f"dl_hard-{path.parent.name}.qrels")
        found = evaluate(qrels, path.with_suffix(""), ["all_trec"], relevance_level=2, policy=DEEP)
        keys = [metric.trec_name for metric in found.metrics]
        table = {
            (key, qid): value
            for qid, row in zip(found.qids.to_pylist(), found.values.tolist(), strict=True)
            for key, value in zip(keys, row, strict=True)
        }
        table |= {
            (key, "all"): value for key, value in zip(keys, found.summary().values(), strict=True)
        }
        # under -c trec_eval's total counts every grade above 0, whatever the level
        table["num_rel", "all"] = float((qrels.grades > 0).sum())
        for line in path.read_text(encoding="utf-8").splitlines():
            key, qid, text = line.split()[:3]
            if key not in ("runid", "relstring"):
                compared += 1
                decimals = len(text.partition(".")[2])
                if f"{table[key, qid]:.{decimals}f}" != text:
                    wrong.append((path.name, key, qid, text))
    assert wrong == []
    assert compared == 20 * (50 * 90 + 93)


@pytest.mark.slow
def test_rbp_of_143_systems_is_that_of_trec_covid(shared: Path) -> None:
    folder = shared / "data" / "trec_covid_round1"
    qrels, metric = read_qrels(folder / "qrels-rnd1.txt"), "rbp(p=0.5,gain=linear,max_grade=2)"
    published = csv_rows(folder / "leaderboard.csv")
    assert len(published) == 143
    for row in published:
        run = folder / "runs" / f"{row['run']}.gz"
        value = evaluate(qrels, run, [metric], policy=DEEP).summary()[metric]
        assert f"{value:.4f}" == row["RBP(p=.5)"], row["run"]


@pytest.mark.parametrize(
    ("rel", "values"),
    [
        # README of TILDE (ndcg_cut_10, map) and NIST's page for bm25tuned_p
        (1, {"ndcg@10": "0.4973", "map": "0.3766", "recip_rank": "0.8457", "P@10": "0.6047"}),
        (2, {"map": "0.2903", "recip_rank": "0.6850", "P@10": "0.4047", "recall@1000": "0.7450"}),
    ],
)
def test_deep_learning_2019_published(shared: Path, rel: int, values: dict[str, str]) -> None:
    folder = shared / "data" / "tilde_dl19"
    qrels = read_qrels(folder / "qrels" / "2019qrels-pass.txt")
    run = read_run(folder / "runs" / "run.trec2019-bm25.res")
    found = evaluate(qrels, run, [*values], relevance_level=rel).summary()
    assert [f"{value:.4f}" for value in found.values()] == list(values.values())


def test_the_same_predictions_as_the_readme_shows_them(shared: Path) -> None:
    folder, boosted = shared / "data/ltr", Policy(ties="stable", empty_queries="one")
    run = folder / "predictions_made_here/mq2008_fold1/lgb_lambdarank.pred"
    files = (folder / "mq2008_fold1/test.txt", run)
    (pytrec_eval,) = evaluate(*files, ["ndcg@10"]).summary().values()
    (lightgbm,) = evaluate(*files, ["ndcg(gain=exp)@10"], policy=boosted).summary().values()
    assert f"{pytrec_eval:.10f}" == "0.4732608070"  # as pytrec_eval 0.5.11 gave it
    assert f"{lightgbm:.4f}" == "0.7933"
