"""Which metrics a metric is compared with."""

from __future__ import annotations

from harness.audit.conventions import plain, under_conventions, with_choices
from harness.core.convention import CONVENTIONS
from harness.core.names import parse
from harness.core.policy import Policy


def found(name: str, policy: Policy | None = None) -> dict[str, str]:
    """Return the metric under each convention, or why there is none."""
    variants = under_conventions(parse(name)[0], policy or Policy())
    return {each.name: each.refused or str(each.metric) for each in variants}


def test_every_convention_whose_tool_has_the_metric() -> None:
    assert set(found("ndcg@10")) == {n for n, c in CONVENTIONS.items() if "ndcg" in c.metrics}


def test_what_was_given_beside_the_base_is_left_behind() -> None:
    assert found("ndcg(gain=exp,ties=average)@10") == found("ndcg@10")
    assert found("ndcg(convention=letor)@10") == found("ndcg@10")


def test_what_makes_the_metric_what_it_is_goes_along() -> None:
    assert found("rbp(p=0.7)") == {
        "trec_eval10": "rbp(convention=trec_eval10,p=0.7)",
        "rankeval": "rbp(convention=rankeval,p=0.7)",  # its own would be 0.5
    }


def test_the_relevance_level_goes_along_where_the_tool_has_none_of_its_own() -> None:
    names = found("map(rel=2)@10")
    assert names["trec_eval9"] == "map(convention=trec_eval9,rel=2)@10"
    assert names["lightgbm"] == "map(convention=lightgbm)@10"  # above 0.5, whatever is asked


def test_the_cutoff_is_the_base_s_and_not_the_tool_s_default() -> None:
    for variant in under_conventions(parse("ndcg")[0], Policy()):
        assert variant.metric is not None
        assert variant.metric.cutoff is None  # XGBoost's would be 32, gdeval's 20
    assert found("ndcg@7")["gdeval"] == "ndcg(convention=gdeval)@7"


def test_a_tool_that_knows_no_cutoff_says_so() -> None:
    assert found("map@10")["ranklib"] == "RankLib 2.10.2 (codelibs) has map of the whole list only"
    assert found("map")["ranklib"] == "map(convention=ranklib)"


def choices(name: str, policy: Policy | None = None) -> dict[str, tuple[str, list[str]]]:
    metric = parse(name)[0]
    every = with_choices(metric, policy or Policy())
    return {choice: (own, [v.name for v in others]) for choice, (own, others) in every.items()}


def test_choices_start_from_what_holds_for_the_base() -> None:
    plainly = choices("ndcg@10")
    assert plainly["ties"] == (
        "trec_eval", ["docno+", "stable", "reverse", "average", "best", "worst"]
    )  # fmt: skip
    assert plainly["scores"] == ("float32", ["float64"])
    assert plainly["empty"] == ("zero", ["one", "nan"])
    assert plainly["short"] == ("cut", ["nan", "zero"])  # an error is no value
    as_lightgbm = choices("ndcg(convention=lightgbm)@10")
    assert as_lightgbm["gain"][0] == "exp"
    assert as_lightgbm["scores"] == ("float64", ["float32"])
    assert as_lightgbm["empty"] == ("one", ["zero", "nan"])
    assert choices("ndcg@10", Policy(ties="stable", empty_queries="skip"))["empty"][0] == "nan"


def test_what_makes_the_metric_what_it_is_is_no_choice() -> None:
    assert "p" not in choices("rbp(p=0.7)")
    assert "form" not in choices("rbp(p=0.7)")  # a residual is another quantity
    assert "gain" in choices("rbp(p=0.7)")


def test_another_order_of_ties_does_not_bring_another_type_of_scores() -> None:
    _, others = with_choices(parse("ndcg@10")[0], Policy())["ties"]
    assert {v.metric.settings.scores for v in others if v.metric} == {"float32"}


def test_what_is_computed_does_not_hang_on_the_name() -> None:
    (lightgbm,) = parse("ndcg(convention=lightgbm)@10")
    same = plain(lightgbm)
    assert str(same).startswith("ndcg(gain=exp,ties=stable")
    assert same == plain(same)
    assert same.arguments() == lightgbm.arguments()
