"""Real runs: the values that were published for them."""

from pathlib import Path

import pytest
from csv_rows import csv_rows

from harness import Policy, evaluate, read_qrels, read_run

pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
DEEP = Policy(depth=1000)


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


TREC_COVID = {  # metric: column of its leaderboard
    "ndcg@10": "ndcg@10",
    "P@5": "p@5",
    "rbp(p=0.5,gain=linear,max_grade=2)": "RBP(p=.5)",
    "bpref": "bpref",
    "map": "MAP",
}


@pytest.mark.slow
def test_trec_covid_published_leaderboard_of_143_systems(shared: Path) -> None:
    folder = shared / "data" / "trec_covid_round1"
    qrels = read_qrels(folder / "qrels-rnd1.txt")
    wrong, compared = [], 0
    for row in csv_rows(folder / "leaderboard.csv"):
        run = folder / "runs" / f"{row['run']}.gz"
        found = evaluate(qrels, run, list(TREC_COVID), policy=DEEP).summary()
        for value, column in zip(found.values(), TREC_COVID.values(), strict=True):
            compared += 1
            if f"{value:.4f}" != row[column]:
                wrong.append((row["run"], column, value, row[column]))
    assert wrong == []
    assert compared == 5 * 143


CODEC = {  # MAP and Recall@1000 with the binary qrels, NDCG@10 with the graded; of the README
    "document_bm25-tuned": ("0.213", "0.322", "0.762"),
    "document_bm25+rm3-tuned": ("0.233", "0.327", "0.800"),
    "document_ance-maxp": ("0.186", "0.363", "0.689"),
    "document_bm25-tuned+t5-maxp": ("0.340", "0.468", "0.762"),
    "document_bm25+rm3-tuned+t5-maxp": ("0.346", "0.472", "0.800"),
    "document_ance-maxp+t5-maxp": ("0.316", "0.481", "0.689"),
    "entity_bm25-tuned": ("0.181", "0.397", "0.615"),
    "entity_bm25+rm3-tuned": ("0.209", "0.412", "0.685"),
    "entity_ance-firstp": ("0.076", "0.269", "0.340"),
    "entity_bm25-tuned+t5-maxp": ("0.172", "0.361", "0.615"),
    "entity_bm25+rm3-tuned+t5-maxp": ("0.179", "0.362", "0.685"),
    "entity_ance-firstp+t5-maxp": ("0.136", "0.407", "0.340"),
}


@pytest.mark.parametrize("name", CODEC)
def test_codec_published(shared: Path, name: str) -> None:
    folder, kind = shared / "data" / "codec", name.partition("_")[0]
    # one of the runs names documents twice; what was published took the last
    run = read_run(folder / "runs" / f"{name}.run", duplicates="last")
    found = {}
    for qrels, measures in (("binary", ["map", "recall@1000"]), ("ndcg", ["ndcg@10"])):
        judgements = read_qrels(folder / "qrels" / f"{kind}_{qrels}.qrels")
        found |= evaluate(judgements, run, measures).summary()
    values = (found["map"], found["ndcg@10"], found["recall@1000"])
    assert tuple(f"{value:.3f}" for value in values) == CODEC[name]


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


WWW2018 = {  # ndcg@5, 10, 15, 20 of the README, whose first two rows are swapped
    "multi_field.txt": ("0.4770", "0.4860", "0.5170", "0.5473"),
    "single_field.txt": ("0.4344", "0.4586", "0.4924", "0.5254"),
    "WebTable.txt": ("0.2831", "0.2992", "0.3311", "0.3726"),
    "WikiTable.txt": ("0.4903", "0.4766", "0.5062", "0.5206"),
    "LTR.txt": ("0.5527", "0.5456", "0.5738", "0.6031"),
    "STR.txt": ("0.5951", "0.6293", "0.6590", "0.6825"),
}


@pytest.mark.parametrize("name", WWW2018)
def test_table_retrieval_published(shared: Path, name: str) -> None:
    folder = shared / "data" / "www2018_table"
    qrels, run = read_qrels(folder / "data" / "qrels.txt"), read_run(folder / "rankings" / name)
    found = evaluate(qrels, run, ["ndcg@5,10,15,20"]).summary()
    assert tuple(f"{value:.4f}" for value in found.values()) == WWW2018[name]
