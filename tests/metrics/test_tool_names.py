"""Names of metrics in other tools: read in our names, with the values that the tools compute."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from command_line import refused, succeeds

import harness
from harness.core.names import parse
from harness.core.tool_names import TOOL_NAMES, ToolName
from harness.errors import UnknownNameError

READ = {
    "accuracy@7": "success@7", "ACCURACY@7": "success@7", "hit@3": "success@3",
    "HitRate@1,5": "success@1 success@5", "hit_rate_5": "success@5", "hr@20": "success@20",
    "hit_rate@9-l3": "success(rel=3)@9", "hits@4": "hits@4", "f1@4": "f1@4",
    "recall_cap@7": "relative_P@7", "R_cap@100": "relative_P@100", "Hole@20": "unjudged@20",
    "r-precision": "Rprec", "R-Prec": "Rprec", "r_precision": "Rprec", "mrr@7": "recip_rank@7",
    "ndcg_burges@20": "ndcg(gain=exp)@20", "rbp.95": "rbp(p=0.95)", "map@7-l2": "map(rel=2)@7",
    "map_at_1000": "map@1000", "ndcg_at_20": "ndcg@20", "hit_rate_at_7": "success@7",
    "dot_map@100": "map(denominator=cutoff)@100", "cosine_accuracy@1": "success@1",
    "NanoMSMARCO_cosine_ndcg@20": "ndcg@20", "max_mrr@7": "recip_rank@7",
    "map@20-": "map(denominator=cutoff,empty=zero)@20", "pre@3": "P(denominator=list)@3",
    "NDCG:top=7;type=Exp": "ndcg(gain=exp)@7", "NDCG:type=Base;top=7": "ndcg@7",
    "DCG:type=Exp;denominator=Position": "dcg(gain=exp,discount=position)",
    "MAP:top=5;hints=skip_train~false": "map(above=0.5,denominator=list)@5",
    "MRR:border=1.5;top=3": "recip_rank(above=1.5)@3", "QueryAUC:type=Ranking": "opa",
    "ndcg_score(k=7)": "ndcg@7", "average_precision_score": "map(tied=together)",
    "RetrievalMAP(top_k=7)": "map(denominator=hits)@7", "RetrievalPrecision": "set_P",
    "RetrievalPrecision(top_k=7, adaptive_k=True)": "P(denominator=list)@7",
    "metric/ndcg_7": "ndcg(gain=exp)@7", "NDCGMetric(topn=7)": "ndcg(gain=exp)@7",
    "dcg(k=7, normalize=true)": "ndcg(gain=exp,ideal=list)@7", "dcg(k=7)": "dcg(gain=exp)@7",
    "precision(k=7,relevant_rating_threshold=2)": "P(rel=2,denominator=list)@7",
    "expected_reciprocal_rank(maximum_relevance=3,k=7)": "err(max_grade=3)@7",
    "mean_reciprocal_rank(k=7)": "recip_rank@7", "AP(rel=2)@100": "map(rel=2)@100",
    "nDCG(dcg='exp-log2')@7": "ndcg(gain=exp)@7", "INST(T=2,max_rel=3)":
    "inst(t=2,gain=linear,max_grade=3)@1000", "mean_rank": "first_rank",
    "precision(rel=2)@7": "P(rel=2)@7", "dcg(gain=exp)@7": "dcg(gain=exp)@7",
}  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_a_name_of_another_tool_is_read_in_ours(text: str) -> None:
    assert " ".join(map(str, parse(text))) == READ[text]
    assert harness.metric_name("accuracy@2") == "success@2"


def with_number(text: str) -> str:
    return re.sub(r"(?<=[@.=])k\b|(?<=_)k$", "7", text).replace("[@7]", "@7").replace("[@k]", "")


def with_cutoff(name: str) -> str:
    if name.endswith("(dcg)"):
        return name.replace("(dcg)", "(dcg=log2,k=7)")
    return f"{name[:-1]},k=7)" if name.endswith(")") else f"{name}(k=7)"


@pytest.mark.parametrize("row", TOOL_NAMES, ids=lambda row: f"{row.tools} {row.name}")
def test_each_row_of_the_table_holds(row: ToolName) -> None:
    name, readings = with_number(row.name), [*map(with_number, row.ours)]
    if "7" in "".join(readings) and "7" not in name:
        name = with_cutoff(name)
    if len(readings) == 1:
        assert row.listed_only or parse(name) == parse(readings[0])
        assert parse(name)
        return
    with pytest.raises(UnknownNameError) as caught:
        parse(name)
    assert all(f"{reading} (" in caught.value.problems[0].fix for reading in readings)
    assert all(map(parse, readings))


@pytest.mark.parametrize(
    ("text", "readings"),
    {
        "precision": ("P@10", "set_P"),
        "Accuracy@5": ("success@5", "auc(depth=5)"),
        "hits_at_5": ("success@5", "hits@5"),
        "HITS@5": ("success@5", "hits@5"),
        "ndcg@5-": ("ndcg(gain=exp,empty=zero)@5", "ndcg(empty=zero)@5"),
        "average_precision@5": ("map@5", "map(denominator=cutoff)@5"),
        "ndcg_5": ("ndcg@5", "ndcg(gain=exp)@5"),
    }.items(),
)
def test_a_name_of_two_metrics_is_refused_with_both(text: str, readings: tuple[str, ...]) -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse(text)
    (problem,) = caught.value.problems
    assert text in problem.what
    assert all(f"{reading} (" in problem.fix and parse(reading) for reading in readings)


@pytest.mark.parametrize(
    "text",
    ["lambdarank", "rank:ndcg", "YetiRank", "SDCG(max_rel=3)@7", "coverage_error", "PairAccuracy"],
)
def test_a_name_without_a_counterpart_is_refused_with_what_is_near(text: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse(text)
    near = re.search(r"(?:write|use) ([^ ,]+)", caught.value.problems[0].fix)
    if text in ("SDCG(max_rel=3)@7", "coverage_error"):  # nothing measures nearly the same
        assert near is None
    else:
        assert near is not None
        assert parse(near[1])


@pytest.mark.parametrize(
    ("text", "word"),
    {
        "PrecisionAt": "cutoff", "HitsMetric": "cutoff", "dcg(normalize=true)": "cutoff",
        "hit_rate(rell=2)@5": "rell", "MAP:top=5;bordr=1": "bordr", "r-precision@5": "unknown",
    }.items(),
)  # fmt: skip
def test_what_a_name_gives_is_never_ignored(text: str, word: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse(text)
    assert word in str(caught.value)


def lists(seed: int, binary: bool) -> tuple[harness.Qrels, harness.Run]:
    """Lists without ties; each has a relevant document and one that is not judged 0."""
    random = np.random.default_rng(seed)
    qrels, run = {}, {}
    for qid in ("1", "2", "10", "x=3"):
        grades = random.integers(0, 2 if binary else 4, 12)
        grades[:2] = 1, 0
        docnos = [f"{qid}-{place}" for place in random.permutation(12)]
        qrels[qid] = dict(zip(docnos, grades.tolist(), strict=True))
        run[qid] = dict(zip(docnos, random.permutation(12).tolist(), strict=True))
    return harness.Qrels.from_dict(qrels), harness.Run.from_dict(run)


AS_TOOLS = {
    "map@5-": "map(convention=xgboost-minus)@5", "pre@5": "P(convention=xgboost)@5",
    "ndcg(gain=exp,empty=zero)@5": "ndcg(convention=xgboost-minus)@5",
    "ndcg(gain=exp)@5": "ndcg(convention=lightgbm)@5",
    "map(denominator=list)@5": "map(convention=lightgbm)@5",
    "NDCG:top=5": "ndcg(convention=catboost)@5",
    "NDCG:top=5;type=Exp": "ndcg(convention=catboost-exp)@5",
    "MAP:top=5": "map(convention=catboost)@5", "MRR:top=5": "recip_rank(convention=catboost)@5",
    "PrecisionAt:top=5": "P(convention=catboost)@5", "ERR:top=5": "err(convention=catboost)@5",
    "PFound:top=5": "pfound(convention=catboost)@5",
    "QueryAUC:type=Ranking": "opa(convention=catboost)",
    "RetrievalMAP(top_k=5)": "map(convention=torchmetrics)@5",
    "RetrievalNormalizedDCG(top_k=5)": "ndcg(convention=torchmetrics)@5",
    "ndcg_burges@5": "ndcg(convention=ranx,gain=exp)@5",
    "metric/ndcg_5": "ndcg(convention=tfr)@5", "MRRMetric(topn=5)": "recip_rank(convention=tfr)@5",
    "metric/precision_5": "P(convention=tfr)@5", "OPAMetric": "opa(convention=tfr)",
    "cosine_map@5": "map(convention=sentence-transformers)@5",
    "cosine_ndcg@5": "ndcg(convention=sentence-transformers)@5",
    "ndcg_at_5": "ndcg(convention=mteb)@5", "mrr_at_5": "recip_rank(convention=mteb)@5",
    "R_cap@5": "relative_P(convention=beir)@5", "hit@5": "success(convention=recbole)@5",
    "dcg(normalize=true,k=5)": "ndcg(convention=elasticsearch)@5",
    "precision(k=5)": "P(convention=elasticsearch)@5",
    "recip_rank(target=largest)@5": "recip_rank(convention=allrank)@5",
    "ndcg_score(k=5)": "ndcg(convention=sklearn)@5",
    "average_precision_score": "map(convention=sklearn)",
    "NDCG@5": "ndcg(convention=beir)@5",
}  # fmt: skip
BINARY = ("map@5-", "pre@5", "ERR:", "PFound:", "RetrievalMAP", "cosine", "average_prec")


@pytest.mark.parametrize("text", AS_TOOLS)
def test_without_ties_it_is_what_the_tool_computes(text: str) -> None:
    for seed in range(3):
        tables = lists(seed, binary=text.startswith(BINARY))
        ours, theirs = map(partial(harness.evaluate, *tables), (text, AS_TOOLS[text]))
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-13)


def test_scikit_learns_names_with_ties() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(5)
    for _ in range(40):
        grades, scores = random.integers(0, 2, 7), random.integers(0, 4, 7)
        docnos = [f"d{place}" for place in range(7)]
        qrels = {"10": dict(zip(docnos, grades.tolist(), strict=True))}
        run = {"10": dict(zip(docnos, scores.tolist(), strict=True))}
        names = ["label_ranking_average_precision_score", "opa(tied=wrong)"]
        (values,) = harness.evaluate(qrels, run, names).values
        lists = [grades], [scores]
        assert values[0] == pytest.approx(metrics.label_ranking_average_precision_score(*lists))
        if len({*grades}) == 2:
            assert values[1] == pytest.approx(1 - metrics.label_ranking_loss(*lists))


def test_a_run_config_and_batches_read_the_names(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n", encoding="utf-8")
    (tmp_path / "r.txt").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n2 Q0 x 1 3 t\n", encoding="utf-8")
    (tmp_path / "c.yaml").write_text(
        "datasets: {d: q.txt}\nruns: {r: r.txt}\noutput: out\n"
        "metrics: [hit_rate@7, NDCG:top=7;type=Exp, cosine_mrr@7, median_rank]\n",
        encoding="utf-8",
    )
    (row,) = harness.run(tmp_path / "c.yaml").rows
    names = ["success@7", "ndcg(gain=exp)@7", "recip_rank@7", "median_first_rank"]
    assert [name for name in names if name in row] == names
    assert row["median_first_rank"] == 2.0
    traced = succeeds("trace", tmp_path / "out", "--run", "r", "-m", "median_rank")
    assert "median over 1 query" in traced
    grades, scores = [[0, 1], [1, 0]], [[2.0, 1.0], [1.0, 0.0]]
    batch = harness.evaluate(
        np.array(grades), np.array(scores), ["hit_rate@1", "mean_rank"], n=[2, 2]
    )
    assert batch.summary() == {"success@1": 0.5, "first_rank": 1.5}


def test_the_command_finds_names_of_other_tools() -> None:
    listed = {*re.findall(r"[\w@]+", succeeds("metrics", "ACCURACY"))}
    assert {"accuracy@k", "success@k", "PairAccuracy", "opa"} <= listed
    assert "hit_rate@k" in succeeds("metrics", "success")
    assert succeeds("metrics", "hit_rate@7").startswith("success@7")
    assert succeeds("metrics", "precision").split("\n\n")[1].startswith("P: ")
    assert "qqqq" in refused("metrics", "qqqq")
