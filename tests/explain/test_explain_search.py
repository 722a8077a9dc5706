"""Which settings give a published value: hand-worked, and against evaluating each of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from harness.audit.explain import Fit, Found, explain
from harness.audit.explain_space import read, spaces_of
from harness.core.align import align
from harness.core.evaluate import evaluate
from harness.core.names import parse
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.core.views import policies_of
from harness.errors import UnknownNameError

Pair = tuple[Qrels, Run]
SAMPLE = 60
"""Settings that are evaluated one by one."""


def pair(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> Pair:
    return Qrels.from_dict(qrels), Run.from_dict(run)


# q: grades 1 and 2 at ranks 1 and 2; r: nothing relevant. With d = log2(3) = 1.58496
#   gain 2^g - 1:  DCG = 1 + 3/d = 2.89279, ideal = 3 + 1/d = 3.63093, nDCG = 0.796708
#   gain g:        DCG = 1 + 2/d = 2.26186, ideal = 2 + 1/d = 2.63093, nDCG = 0.859719
TWO = pair(
    {"q": {"a": 1, "b": 2}, "r": {"a": 0, "b": 0}},
    {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 2.0, "b": 1.0}},
)
# Three documents of two scores, as in docs/conventions.md
THREE = pair({"q": {"d0": 0, "d1": 3, "d2": 4}}, {"q": {"d0": 1.0, "d1": 1.000000001, "d2": 1.0}})


def search(value: str, data: Pair, metric: str = "ndcg@3", depth: int = 2, **other) -> Found:
    return explain(read(value), *data, spaces_of([metric], **other), depth)


def unchanged(found: Found) -> set[str | None]:
    """Names of the conventions that give the value as they stand; None for the default."""
    return {
        fit.base.convention.name if fit.base.convention else None
        for explanation in found.explanations
        for fit in explanation.fits
        if not fit.changes
    }


@pytest.mark.parametrize(
    ("value", "conventions"),
    [
        # (0.796708 + 1) / 2: the query without relevant documents counts 1
        ("0.8984", {"lightgbm", "xgboost", "catboost-exp", "rankeval", "allrank"}),
        # 0.796708: it is left out
        ("0.7967", {"gdeval"}),
        # 0.796708 / 2: it counts 0
        ("0.3984", {"ranklib", "quickrank", "xgboost-minus", "tfr", "pytorchltr"}),
        # 0.859719 / 2
        ("0.4299", {None, "trec_eval9", "trec_eval10", "sklearn", "torchmetrics", "ranx"}),
        # (0.859719 + 1) / 2
        ("0.9299", {"catboost"}),
        # lists of two documents are shorter than 3: 0
        ("0.0000", {"letor", "mslr", "ptranking"}),
    ],
)
def test_conventions_as_they_stand(value: str, conventions: set[str | None]) -> None:
    assert unchanged(search(value, TWO, depth=0)) == conventions


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("0.6137", ["xgboost", "ranklib", "allrank", "ptranking"]),
        ("0.7468", ["lightgbm", "catboost-exp", "quickrank"]),
        ("0.7484", ["mslr"]),
        ("0.8438", ["torchmetrics"]),
        ("0.8479", ["gdeval"]),
        ("0.9374", ["trec_eval10"]),
    ],
)
def test_ties_tell_tools_apart(value: str, names: list[str]) -> None:
    assert {*names} <= unchanged(search(value, THREE, depth=0))


def test_one_setting_changed() -> None:
    # CatBoost with denominator=Position: gains 7, 0, 15 by 1, 2, 3 over 15, 7 by 1, 2
    found = search("0.6486", THREE)
    names = [fit.name for fit in found.explanations[0].fits]
    assert {
        "ndcg(convention=lightgbm,discount=position)@3",
        "ndcg(convention=catboost-exp,discount=position)@3",
    } <= {*names}
    assert found.explanations[0].best.value == pytest.approx((7 + 15 / 3) / (15 + 7 / 2))


@pytest.mark.parametrize(
    "name",
    [
        "map(convention=catboost,rel=2)@3",  # in place of above=0.5
        "map(convention=torchmetrics,rel=2)@3",  # grades of 2 become 1, others 0
        "ndcg(convention=xgboost,gain=linear)@3",  # which changes the accepted grades too
    ],
)
def test_a_change_means_what_it_means_in_a_name(name: str) -> None:
    metrics = parse(name)
    aligned = align(*TWO, Policy(), policies_of(metrics, Policy()))
    (value,) = evaluate(aligned, metrics).summary().values()
    found = search(f"{value:.8f}", TWO, metric=f"{metrics[0].definition.name}@3", depth=1)
    assert name in {fit.name for each in found.explanations for fit in each.fits}


def test_settings_without_effect_are_said_and_not_listed() -> None:
    (explanation, *_) = search("0.4299", TWO).explanations
    assert explanation.best.name == "ndcg@3"
    assert {"ties", "scores", "negative", "floor", "missing_queries"} <= {*explanation.inert}
    assert not [fit.name for fit in explanation.fits if fit.base.convention is None and fit.changes]
    # gain and ideal have an effect: both lists are shorter than 3, but gain is not the same
    assert "gain" not in explanation.inert


def test_groups_are_equal_on_every_query_and_not_only_in_the_mean() -> None:
    data = pair(
        {"q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 1}},
        {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 2.0, "b": 1.0}},
    )
    # P@1 is 1 and 0; recall@1 is the same on each; P@2 is 1/2 and 1/2
    names = ["P@1", "recall@1", "P@2"]
    found = explain(read("0.5"), *data, spaces_of(names), 0)
    groups = [{fit.name for fit in e.fits if not fit.base.convention} for e in found.explanations]
    assert groups == [{"P@1", "recall@1"}, {"P@2"}]


def test_percent_and_cutoffs() -> None:
    for value in ("79.67", "79.67%", "0.7967", ".7967"):
        assert unchanged(search(value, TWO, depth=0)) == {"gdeval"}
    cutoffs = {fit.cutoff for e in search("0.7967", TWO, "ndcg", 0).explanations for fit in e.fits}
    assert {2, 10, 20, 100_000} <= cutoffs
    # Rank 1 alone: 1/3, the mean over the other query too where that counts 0
    found = search("0.3333", TWO, "ndcg", 0)
    assert {fit.name for e in found.explanations for fit in e.fits} == {"ndcg(convention=gdeval)@1"}
    # A metric that is no share is never meant in percent
    assert not search("226", TWO, "dcg", 0).explanations


def test_the_whole_list_is_tried_where_it_can_be_written() -> None:
    (space,) = spaces_of(["ndcg"])
    last = {
        base.convention.name if base.convention else "": base.cutoffs(None)[-1]
        for base in space.bases
    }
    # the bare name of lightgbm is cut at 1 to 5, that of letor means nothing
    assert (last[""], last["lightgbm"], last["letor"]) == (None, 100_000, 1000)
    assert spaces_of(["P"])[0].bases[0].cutoffs(None)[-1] == 1000
    # RankLib's MAP is that of the whole list, whatever cutoff is named
    ranklib = next(
        b for b in spaces_of(["map@10"])[0].bases if b.convention and b.convention.name == "ranklib"
    )
    assert ranklib.cutoffs((10,)) == (None,)


def test_the_nearest_miss() -> None:
    # The default gives 0.429859: 0.0001 below would be 0.4298 without a fit
    found = search("0.42976", TWO, depth=0)
    assert not found.explanations
    assert found.nearest is not None
    assert found.nearest.name == "ndcg@3"
    assert found.difference == pytest.approx(0.429859 - 0.42976, abs=1e-6)


def test_a_convention_that_refuses_the_grades_is_named() -> None:
    found = search("0.5", TWO, "map", 0)
    assert found.refused["map(convention=xgboost)"] == (
        "query 'q': a judgement of 2, where whole grades 0 to 1 are accepted"
    )
    # With labels=clip it is one change away: AP is 1 on q, and 1 on r
    found = search("1.0000", TWO, "map@10")
    names = [fit.name for e in found.explanations for fit in e.fits]
    assert "map(convention=xgboost,labels=clip)@10" in names


def test_queries_that_the_run_does_not_answer() -> None:
    data = pair({"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}})
    # RR is 1 on q, and r is not answered: 1/2 in all, 1 without it
    assert None in unchanged(search("0.5", data, "recip_rank", 0))
    found = search("1.0", data, "recip_rank", 1)
    best = found.explanations[0].best
    assert (best.name, best.missing_queries) == ("recip_rank", "skip")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["ndgc"], "unknown metric 'ndgc'; did you mean 'ndcg'?  (all: harness metrics)"),
        (
            ["swaps"],
            "no convention has the metric 'swaps'  (all: harness metrics --conventions)",
        ),
        (
            ["ndcg(gain=exp)@10"],
            "ndcg(gain=exp)@10: settings are what is searched for; write ndcg alone, or ndcg@10",
        ),
    ],
)
def test_names_that_cannot_be_explained(names: list[str], message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        spaces_of(names)
    assert str(caught.value) == message


@cache
def messy(seed: int) -> Pair:
    """Ties under one type of score and not the other, queries of every odd kind."""
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


def all_fits(metric: str, seed: int, depth: int) -> list[list[Fit]]:
    """Return everything between -0.5 and 1.5, in groups."""
    found = []
    for value in ("0", "1"):
        found += explain(
            read(value), *messy(seed), spaces_of([metric], None, (1, 2)), depth
        ).explanations
    return [[*explanation.fits] for explanation in found]


@pytest.mark.parametrize(
    ("metric", "depth", "least"),
    [
        ("ndcg@5", 2, 900), ("map@5", 2, 900), ("P@3", 2, 300), ("err@4", 2, 100),
        ("recip_rank", 2, 150), ("rbp", 1, 50), ("opa", 2, 30), ("mean_ndcg", 1, 20),
        ("ndcg", 0, 300), ("infAP", 2, 10), ("gm_map", 2, 4),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", [1, 2])
def test_every_value_is_that_of_evaluating_its_name(
    metric: str, depth: int, least: int, seed: int
) -> None:
    qrels, run = messy(seed)
    groups = all_fits(metric, seed, depth)
    fits = [fit for group in groups for fit in group]
    assert len(fits) >= least
    chosen = {id(fits[at]) for at in np.random.default_rng(0).permutation(len(fits))[:SAMPLE]}
    groups = [[fit for fit in group if id(fit) in chosen] for group in groups]
    fits = [fit for group in groups for fit in group]
    for how in ("zero", "skip"):
        policy = Policy(missing_queries=how)  # type: ignore[arg-type]
        wanted = {fit.name: fit for fit in fits if fit.missing_queries == how}
        metrics = [parsed for name in wanted for parsed in parse(name)]
        assert [str(each) for each in metrics] == [*wanted]  # it is written as it is read
        if not metrics:
            continue
        aligned = align(qrels, run, policy, policies_of(metrics, policy))
        evaluation = evaluate(aligned, metrics)
        for (name, value), fit in zip(evaluation.summary().items(), wanted.values(), strict=True):
            assert value == pytest.approx(fit.value, abs=1e-12), name
        columns = {name: evaluation.column(name) for name in wanted}
        for group in groups:
            plain = [columns[f.name] for f in group if f.name in columns and _keeps_nan(f)]
            for column in plain[1:]:
                np.testing.assert_allclose(column, plain[0], atol=1e-9)


def _keeps_nan(fit: Fit) -> bool:
    values = {**fit.base.usual, **dict(fit.changes)}
    return values["undefined"] != "zero"
