"""What the guard warns of in real files, each of which was found true by other means.

Those means, in pandas alone: in BERT 132 neighbours differ that ``astype(float32)`` makes equal;
both TU_Vienna runs have 99 documents for the last query and 100 for all others (a last line is
lacking); shares of unjudged documents, of tied pairs and of empty queries were counted again. The
folds of web_table_retrieval split the tables of a query: all 60 queries are in all five. Six runs
of TREC-COVID have their largest score beside their largest rank in every query, and stand among the
last of the official leaderboard: scores of three are distances, of three the ranks themselves.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness import readers
from harness.core.policy import Policy
from harness.guard.facts import Facts, JudgementFacts
from harness.guard.judgements import of_dataset, of_rows
from harness.guard.rules import of_run
from harness.guard.sweep import GuardedCell, of_sweep
from harness.guard.watch import Watch

LTR = "ltr/predictions_made_here"
POOL = "catchall content header pageTitle textAfter textBefore title"
UPSIDE_DOWN = (
    "BRPHJ_NLP2 SFDC-23April-run1 SFDC-23April-run2 yn-r1-alltext yn-r1-concepttext yn-r1-hierarchy"
)
REAL: list[tuple[str, str, dict[str, str], int]] = [
    # judgements, runs, rules of warnings and errors by file, runs unlike the others
    ("codec/qrels/document_ndcg.qrels", "codec/runs/document_*.run", {}, 0),
    ("codec/qrels/entity_ndcg.qrels", "codec/runs/entity_*.run", {}, 1),
    ("dl_hard/dl_hard-doc.qrels", "dl_hard/doc/*.run", {}, 0),
    ("dl_hard/dl_hard-passage.qrels", "dl_hard/passage/*.run", {}, 0),
    ("tilde_dl19/qrels/2019qrels-pass.txt", "tilde_dl19/runs/*", {}, 0),
    ("www2018_table/data/qrels.txt", "www2018_table/rankings*/*.txt", {}, 0),
    ("trec_web2012_baselines/qrels.web.151-200.txt", "trec_web2012_baselines/runs/*/*.txt", {}, 2),
    ("web_table_retrieval/data/rel_table_qrels.txt", "web_table_retrieval/rankings/*/*.result",
     {}, 0),
    ("web_table_retrieval/data/rel_table_qrels.txt", "web_table_retrieval/rankings/pool/*.txt",
     {**{f"{name}.txt": "score-ties" for name in POOL.split()},
      "title.txt": "missing-queries score-ties"}, 0),
    ("trec_covid_round1/qrels-rnd1.txt", "trec_covid_round1/runs/*.gz",
     {"BERT.gz": "single-precision", "TU_Vienna_TKL_1.gz": "cut-last-query",
      "TU_Vienna_TKL_2.gz": "cut-last-query",
      **{f"{name}.gz": "upside-down" for name in UPSIDE_DOWN.split()}}, 25),
    ("ltr/mq2008_fold1/test.txt", f"{LTR}/mq2008_fold1/*.pred", {"test.txt": "empty-queries"}, 0),
    ("ltr/lightgbm_lambdarank/rank.test", f"{LTR}/lightgbm_lambdarank/*.pred", {}, 0),
    ("ltr/mslr_web10k_sample/mslr_fold1_test_sample.txt", f"{LTR}/mslr_web10k_sample/*.pred",
     {}, 0),
    # a megabyte of a run: what its beginning cannot have shared with these judgements
    ("msmarco_dev_anserini_head/qrels.msmarco-passage.dev-subset.txt",
     "msmarco_dev_anserini_head/run.msmarco-doc.dev.opt-mrr.txt",
     {"run.msmarco-doc.dev.opt-mrr.txt": "cut-last-query missing-queries other-collection"}, 0),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
@pytest.mark.parametrize(
    ("judgements", "pattern", "expected", "unlike"), REAL, ids=[pattern for _, pattern, *_ in REAL]
)
def test_what_is_warned_of(
    shared: Path, judgements: str, pattern: str, expected: dict[str, str], unlike: int
) -> None:
    data = shared / "data"
    qrels = readers.read_qrels(data / judgements)
    of_qrels = JudgementFacts.of(qrels)
    found, cells = [*of_dataset(of_qrels, judgements)], []
    runs = sorted(data.glob(pattern))
    assert runs
    for path in runs:
        watch, run = Watch(qrels, Policy()), str(path)
        for aligned in readers.align_run(qrels, path, watch=watch.run, duplicates="last"):
            watch.aligned(aligned)
        facts = Facts(of_qrels, watch.facts())
        found += of_run(facts, run)
        found += of_rows(of_qrels, judgements) if facts.run.follows else []
        digests = {judgements: judgements, run: run}
        cells.append(GuardedCell(facts, judgements, run, "", run, qrels.qids, digests))
    rules: dict[str, set[str]] = {}
    for one in found:
        if one.severity != "note":
            rules.setdefault(one.place.rpartition("/")[2], set()).add(one.rule)
    assert {name: " ".join(sorted(some)) for name, some in rules.items()} == expected
    beyond = Counter(one.rule for one in of_sweep(cells))
    assert beyond == ({"unjudged-unlike-others": unlike} if unlike else {})


def test_folds_that_share_all_queries(shared: Path) -> None:
    folder = shared / "data/web_table_retrieval/rankings/STR"
    cells = []
    for path in sorted(folder.glob("*.qrels")):
        qrels = readers.read_qrels(path)
        facts = Facts(JudgementFacts.of(qrels), Watch(qrels, Policy()).facts())
        name = str(path)
        cells.append(GuardedCell(facts, name, name, "", name, qrels.qids, {name: name}, folds=True))
    (found,) = of_sweep(cells)
    assert (found.rule, found.count) == ("shared-queries", 60)
    assert found.what == "60 of 60 queries are in several of the 5 folds"
