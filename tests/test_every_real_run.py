"""Every run file of ../shared, read by our readers: each value as pytrec_eval gives it.

The default suite takes every ninth.
"""

from pathlib import Path

import pytest

from harness import readers
from harness.core.evaluation import evaluate
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.experiment.crosscheck import Crosscheck, Peer

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


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("judgements", "pattern", "count"), RUNS, ids=[p for _, p, _ in RUNS])
def test_every_value_of_every_run(
    shared: Path, judgements: str, pattern: str, count: int, step: int
) -> None:
    data = shared / "data"
    qrels = readers.read_qrels(data / judgements)
    runs = sorted(data.glob(pattern))
    assert len(runs) == count
    for path in runs[::step]:
        check = Crosscheck(Peer(qrels, METRICS, Policy()), "all")  # compares with ==
        # two of CODEC's runs hold duplicates
        parts = readers.align_run(qrels, path, watch=check.watch, duplicates="last")
        audit = check.compare(evaluate(parts, METRICS, run=path.name, dataset=judgements))
        assert audit.values > 1000
