"""Every run, qrels and learning-to-rank file of the shared data.

Counts are those of each folder's SOURCE.txt.
"""

from pathlib import Path

import pytest
from outcomes import Finding, warned

from harness import readers
from harness.core.qrels_and_runs import Qrels, Run


def read(path: Path, kind: str, **options: object) -> tuple[Qrels | Run, list[Finding]]:
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
