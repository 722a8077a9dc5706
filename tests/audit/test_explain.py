"""``harness explain``: hand-worked values, and each fit against evaluating its name."""

from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from command_line import called

import harness
from harness.audit.explain import FittingSetting, Search, try_all
from harness.audit.explain_settings import Asked, read
from harness.core.align import align
from harness.core.evaluation import evaluate
from harness.core.names import parse
from harness.core.policy import Policy
from harness.core.policy_views import policies_of
from harness.core.qrels_and_runs import Qrels, Run

Pair = tuple[Qrels, Run]
ANY_VALUE = Asked("0", Decimal("0E+1"))
"""A number without its last digit: everything between -5 and 5 fits."""
SAMPLE = 60
"""Settings that are evaluated one by one."""
LETOR = ("runs/letor/fold1/test.txt", "runs/letor/gbrt/fold1-seed1.txt")
SWEEP = ("--results", "results/sweep", "--run")


def pair(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> Pair:
    return Qrels.from_dict(qrels), Run.from_dict(run)


# q: grades 1 and 2 at ranks 1 and 2; r: nothing relevant. With d = log2(3) = 1.58496
#   gain 2^g - 1:  DCG = 1 + 3/d = 2.89279, ideal = 3 + 1/d = 3.63093, nDCG = 0.796708
#   gain g:        DCG = 1 + 2/d = 2.26186, ideal = 2 + 1/d = 2.63093, nDCG = 0.859719
TWO = pair(
    {"q": {"a": 1, "b": 2}, "r": {"a": 0, "b": 0}},
    {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 2.0, "b": 1.0}},
)


def search(value: str, data: Pair, metric: str = "ndcg@3", depth: int = 2) -> Search:
    return try_all(read(value), *data, [metric], depth=depth)


def names(found: Search) -> set[str]:
    return {fit.name for each in found.explanations for fit in each.fits}


def unchanged(found: Search) -> set[str]:
    fits = (fit for each in found.explanations for fit in each.fits if not fit.changes)
    return {fit.base.convention.name if fit.base.convention else "default" for fit in fits}


@pytest.mark.parametrize(
    ("value", "conventions"),
    [
        # (0.796708 + 1) / 2: the query without relevant documents counts 1
        ("0.8984", "lightgbm xgboost catboost-exp rankeval allrank"),
        # 0.796708: it is left out
        ("0.7967", "gdeval"),
        # 0.796708 / 2: it counts 0
        ("0.3984", "ranklib quickrank xgboost-minus tfr pytorchltr elasticsearch opensearch"),
        # 0.859719 / 2
        ("0.4299", "default trec_eval9 trec_eval10 sklearn torchmetrics ranx beir mteb"),
        # (0.859719 + 1) / 2
        ("0.9299", "catboost"),
        # lists of two documents are shorter than 3: 0
        ("0.0000", "letor mslr ptranking"),
    ],
)
def test_unchanged_conventions(value: str, conventions: str) -> None:
    assert unchanged(search(value, TWO, depth=0)) == set(conventions.split())


def test_percent_and_cutoffs() -> None:
    for value in ("79.67", "79.67%", "0.7967", ".7967"):
        assert unchanged(search(value, TWO, depth=0)) == {"gdeval"}
    cutoffs = {fit.cutoff for e in search("0.7967", TWO, "ndcg", 0).explanations for fit in e.fits}
    assert {2, 10, 20, 100_000} <= cutoffs
    # rank 1 alone: 1/3; the mean over the other query too if that counts 0
    assert names(search("0.3333", TWO, "ndcg", 0)) == {"ndcg(convention=gdeval)@1"}
    assert not search("226", TWO, "dcg", 0).explanations  # dcg is no share


def test_the_nearest_miss() -> None:
    # the default gives 0.429859
    found = search("0.42976", TWO, depth=0)
    assert not found.explanations
    assert found.nearest.name == "ndcg@3"
    assert found.difference == pytest.approx(0.429859 - 0.42976, abs=1e-6)
    (row,) = found.rows
    assert (row["fits"], row["difference"]) == (False, found.difference)


def test_a_convention_that_refuses_the_grades_is_named() -> None:
    found = search("0.5", TWO, "map", 0)
    assert found.refused["map(convention=xgboost)"] == (
        "query 'q': got the grade 2, but the metric takes whole grades 0 to 1"
    )


@cache
def messy(seed: int) -> Pair:
    """Return tied scores in one precision and not the other, and every kind of query."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in range(12):
        n = int(rng.integers(1, 14))
        scores = rng.integers(-1, 3, n) + rng.choice([0, 1e-9], n)
        docnos = [f"d{number}" for number in rng.permutation(n)]
        run[f"q{query}"] = dict(zip(docnos, scores.tolist(), strict=True))
        grades = rng.integers(-1 if seed % 2 else 0, 1 if query % 4 == 0 else 5, n)
        judged = rng.random(n) < 0.8
        judged[0] = True
        pairs = zip(docnos, grades.tolist(), judged.tolist(), strict=True)
        qrels[f"q{query}"] = {docno: grade for docno, grade, is_judged in pairs if is_judged}
    del run["q3"]
    return pair(qrels, run)


@pytest.mark.parametrize(
    ("metric", "depth", "least", "seed"),
    [
        ("ndcg@5", 2, 900, 1), ("map@5", 2, 900, 2), ("P@3", 2, 300, 1), ("err@4", 2, 100, 2),
        ("recip_rank", 2, 150, 1), ("rbp", 1, 50, 2), ("opa", 2, 30, 1), ("mean_ndcg", 1, 20, 2),
        ("ndcg", 0, 300, 2), ("infAP", 2, 10, 1), ("gm_map", 2, 4, 2),
    ],
)  # fmt: skip
def test_every_value_is_that_of_evaluating_its_name(
    metric: str, depth: int, least: int, seed: int
) -> None:
    qrels, run = messy(seed)
    found = try_all(ANY_VALUE, qrels, run, [metric], depth=depth)
    groups = [[*explanation.fits] for explanation in found.explanations]
    fits = [fit for group in groups for fit in group]
    assert len(fits) >= least
    chosen = {id(fits[at]) for at in np.random.default_rng(0).permutation(len(fits))[:SAMPLE]}
    groups = [[fit for fit in group if id(fit) in chosen] for group in groups]
    for how in ("zero", "skip"):
        policy = Policy(missing_queries=how)  # type: ignore[arg-type]
        wanted = {f.name: f for group in groups for f in group if f.missing_queries == how}
        metrics = [parsed for name in wanted for parsed in parse(name)]
        assert [str(each) for each in metrics] == [*wanted]  # it is written as it is read
        if not metrics:
            continue
        evaluation = evaluate(align(qrels, run, policy, policies_of(metrics, policy)), metrics)
        for (name, value), fit in zip(evaluation.summary().items(), wanted.values(), strict=True):
            assert value == pytest.approx(fit.value, abs=1e-12), name
        for group in groups:
            columns = [
                evaluation.column(fit.name)
                for fit in group
                if fit.name in wanted and not _counts_undefined(fit)
            ]
            for column in columns[1:]:
                np.testing.assert_allclose(column, columns[0], atol=1e-9)


def _counts_undefined(fit: FittingSetting) -> bool:
    return {**fit.base.usual, **dict(fit.changes)}["undefined"] == "zero"


@pytest.fixture(scope="module")
def swept(workplace: Path) -> Path:
    """The folder of the examples, with the results of one of them."""
    harness.run(workplace / "configs" / "sweep.yaml")
    return workplace


def test_a_cell_of_results(swept: Path) -> None:
    # the config leaves queries without relevant documents out, so one setting is changed
    board = (swept / "results/sweep/leaderboard.csv").read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split(",") for line in board)
    row = next(dict(zip(header, row, strict=True)) for row in rows if "lambdamart" in row)
    where = ["--dataset", row["dataset"], "--where", f"seed={row['seed']}", "-m", "ndcg@10"]
    words = "explain", f"{float(row['ndcg@10']):.5f}", *SWEEP, "lambdamart", *where
    code, out, _ = called(*words, cwd=swept)
    assert code == 0
    title = f"of lambdamart on {row['dataset']}, fold={row['fold']}, seed={row['seed']}, 50 queries"
    assert title in out.splitlines()[0]
    assert "\nndcg(empty=nan)@10" in out
