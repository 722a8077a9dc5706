"""Every run, qrels and learning-to-rank file of the shared data.

Counts are those of each folder's SOURCE.txt.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from outcomes import Finding, refused, warned

from harness import readers
from harness.core.tables import Qrels, Run
from harness.errors import HarnessWarning


def read(path: Path, kind: str, **options: object) -> tuple[Qrels | Run, list[Finding]]:
    """Return the table, and the rule, count and line of each warning."""
    return warned(readers.read_qrels if kind == "qrels" else readers.read_run, path, **options)


QRELS = {
    "codec/qrels/document_ndcg.qrels": (42, 6186),
    "codec/qrels/entity_binary.qrels": (42, 11323),
    "dl_hard/dl_hard-doc.qrels": (50, 8544),
    "dl_hard/dl_hard-passage.qrels": (50, 4256),
    "msmarco_dev_anserini_head/qrels.msmarco-doc.dev.txt": (5193, 5193),
    "msmarco_dev_anserini_head/qrels.msmarco-passage.dev-subset.txt": (6980, 7437),
    "qrels/qrels.dl19-passage.txt": (43, 9260),
    "qrels/qrels.dl20-passage.txt": (54, 11386),
    "tilde_dl19/qrels/2019qrels-pass.txt": (43, 9260),
    "trec_covid_round1/qrels-rnd1.txt": (30, 8691),
    "trec_eval_test/test/qrels.test": (3, 3681),
    "trec_eval_test/test/qrels.rel_level": (3, 3681),
    "trec_eval_test/test/qrels.comment.test": (31, 5890),
    "trec_web2012_baselines/qrels.web.151-200.txt": (50, 16055),
    "web_table_retrieval/data/rel_table_qrels.txt": (60, 6949),
    "www2018_table/data/qrels.txt": (60, 3120),
    "ltr/fastrank_trec_news_2018/examples/newsir18-entity.qrel": (50, 823),
    "ltr/fastrank_trec_news_2018/examples/trec_news_2018.train": (45, 782),
    "ltr/fastrank_trec_news_2018/examples/trec_news_2018.test": (5, 41),
    "ltr/lightgbm_lambdarank/rank.train": (201, 3005),
    "ltr/lightgbm_lambdarank/rank.test": (50, 768),
    "ltr/mq2008_fold1/test.txt": (156, 2874),
    "ltr/mslr_web10k_sample/mslr_fold1_valid_sample.txt": (18, 1734),
    "ltr/mslr_web10k_sample/mslr_fold1_test_sample.txt": (18, 1900),
    "ltr/tfranking_sample/train.txt": (27, 119),
    "ltr/tfranking_sample/test.txt": (9, 36),
    "ltr/ultra_toy/tests_data/train/train.qrels": (27, 119),
    "ltr/ultra_toy/example_toy_data/valid/valid.txt": (9, 36),
    "ltr/pytorchltr_dataset/dataset.txt": (4, 39),
    "ltr/hello_ltr_tmdb/title_judgments.txt": (40, 1390),
    "ltr/rankeval_small/svmlight_classification_qid.txt": (3, 4),
}


@pytest.mark.parametrize("name", QRELS)
def test_counts_of_qrels(shared: Path, name: str) -> None:
    qrels, warned = read(shared / "data" / name, "qrels")
    assert ((qrels.n_queries, qrels.n_rows), warned) == (QRELS[name], [])


TABLES = {
    "www2018_table/feature/features.csv": ({"docno": "table_id"}, (60, 3120)),
    "web_table_retrieval/data/wdc_STR.csv": ({"qid": 1, "docno": 3, "grade": 32}, (60, 7032)),
    "ltr/xgboost_rank/rank.train.csv": ({"grade": 1, "qid": 5}, (20, 149)),
    "ltr/xgboost_rank/rank.test.csv": ({"grade": 1, "qid": 5}, (10, 66)),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_with_named_or_numbered_columns(shared: Path, name: str) -> None:
    columns, counts = TABLES[name]
    qrels, _ = read(shared / "data" / name, "qrels", format="table", columns=columns)
    assert (qrels.n_queries, qrels.n_rows) == counts


RUNS = {
    "trec_covid_round1/runs/*": 143,
    "dl_hard/*/*.run": 20,
    "codec/runs/*.run": 14,
    "tilde_dl19/runs/*": 1,
    "www2018_table/rankings*/*": 10,
    "web_table_retrieval/rankings/*/*.result": 25,
    "web_table_retrieval/rankings/pool/*": 7,
    "trec_web2012_baselines/runs/*/*": 8,
    "trec_eval_test/test*/results.*": 5,
    "ltr/ultra_toy/tests_data/*/*.trec.init_list": 3,
}
# Runs of TREC-COVID round 1 whose score rises with the rank: trec_eval evaluates them backwards.
RANKS_CONTRADICT_SCORES = {
    "BRPHJ_NLP2", "ERST_NARRATIVE", "ERST_PROSE", "ERST_QUESTION", "RUIR-doc2vec",
    "SFDC-23April-run1", "SFDC-23April-run2", "UB_NLP_RUN_1", "sheikh_bm25_all",
    "yn-r1-alltext", "yn-r1-concepttext", "yn-r1-hierarchy",
}  # fmt: skip


@pytest.mark.parametrize(
    "pattern",
    [pytest.param(one, marks=[pytest.mark.slow] * (count > 100)) for one, count in RUNS.items()],
)
def test_every_run_is_read_whole_and_in_parts(shared: Path, pattern: str) -> None:
    paths = sorted((shared / "data").glob(pattern))
    n_rows = 0
    for path in paths:
        duplicates = {"duplicates": "last"} if "codec" in pattern else {}
        run, found = read(path, "run", **duplicates)
        rules = [rule for rule, _, _ in found if rule != "dropped-rows"]
        expected = ["ranks-against-scores"] * (path.stem.split(".")[0] in RANKS_CONTRADICT_SCORES)
        if path.name == "results.trunc":
            assert found[0] == ("extra-fields", 5, 1)  # awk 'NF > 6' gives five rows
            expected = ["extra-fields", "scattered-queries"]
        assert rules == expected, path.name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HarnessWarning)
            parts = list(readers.stream_run(path, **duplicates))  # type: ignore[arg-type]
        assert sum(part.n_rows for part in parts) == run.n_rows, path.name
        n_rows += run.n_rows
    assert len(paths) == RUNS[pattern]
    if pattern.startswith("trec_covid"):
        assert n_rows == 3_509_493


def test_seven_runs_that_were_cut(shared: Path) -> None:
    folder, doc = shared / "data/msmarco_dev_anserini_head", "run.msmarco-doc"
    lines = {
        f"{doc}.dev.bm25.txt": 24512,
        f"{doc}.leaderboard-dev.bm25base.txt": 51362,
        f"{doc}.leaderboard-dev.bm25tuned.txt": 51328,
        f"{doc}.leaderboard-dev.opt-mrr.txt": 51325,
        "run.msmarco-passage.dev.small.trec": 19298,
        "run.msmarco-passage.dev.small.tsv": 52646,
    }
    for name, line in lines.items():
        found = refused(readers.read_run, folder / name)
        assert found == [(f"{folder / name}:{line}", "truncated")]
    _, found = read(folder / f"{doc}.dev.opt-mrr.txt", "run")
    assert [rule for rule, _, _ in found] == ["cut-line"]
