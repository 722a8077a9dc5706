"""Names of metrics: trec_eval's, ir_measures' and ours; what is printed is read again."""

from typing import Any

import pytest
import pytrec_eval
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.core.arguments import Parameter
from harness.core.metric import REGISTRY
from harness.core.names import NICKNAMES, known_names, parse, parse_all, why_not
from harness.core.settings import CONVENTIONS, NEEDED, Convention
from harness.core.tool_names import TOOL_NAMES
from harness.errors import UnknownNameError
from harness.experiment.plugin_metrics import as_plain_data, from_plain_data


def names(text: str, **defaults: Any) -> list[str]:
    return [str(metric) for metric in parse(text, defaults)]


SPELLINGS = [
    # text, our names, pytrec_eval's keys
    ("map", ["map"], ["map"]),
    ("P_5", ["P@5"], ["P_5"]),
    ("P_5,10", ["P@5", "P@10"], ["P_5", "P_10"]),
    ("P.5,10", ["P@5", "P@10"], ["P_5", "P_10"]),
    ("ndcg", ["ndcg"], ["ndcg"]),
    ("ndcg_cut_10", ["ndcg@10"], ["ndcg_cut_10"]),
    ("ndcg_cut.5,10", ["ndcg@5", "ndcg@10"], ["ndcg_cut_5", "ndcg_cut_10"]),
    ("map_cut_100", ["map@100"], ["map_cut_100"]),
    ("recall.1000", ["recall@1000"], ["recall_1000"]),
    ("success", ["success@1", "success@5", "success@10"], ["success_1", "success_5", "success_10"]),
    ("relative_P_5", ["relative_P@5"], ["relative_P_5"]),
    ("iprec_at_recall_0.10", ["iprec_at_recall@0.1"], ["iprec_at_recall_0.10"]),
    ("iprec_at_recall.0,.333", ["iprec_at_recall@0", "iprec_at_recall@0.333"],
     ["iprec_at_recall_0.00", "iprec_at_recall_0.33"]),
    ("Rprec_mult_1.2", ["Rprec_mult@1.2"], ["Rprec_mult_1.20"]),
    ("Rprec", ["Rprec"], ["Rprec"]),
    ("set_F", ["set_F"], ["set_F"]),
    ("set_F.0.5", ["set_F(beta=0.5)"], ["set_F"]),
    ("set_F_0.50", ["set_F(beta=0.5)"], ["set_F"]),
    ("set_F_1.0", ["set_F"], ["set_F"]),
    ("utility", ["utility"], ["utility"]),
    ("utility.1,-1,0,0", ["utility"], ["utility"]),
    ("utility.2,-1,-.5,0", ["utility(coefficients=2:-1:-0.5:0)"], ["utility"]),
    ("11pt_avg", ["11pt_avg"], ["11pt_avg"]),
    ("11pt_avg.0.25,.5,.75", ["11pt_avg(levels=0.25:0.5:0.75)"], ["11pt_avg"]),
    ("11pt_avg_0.5", ["11pt_avg(levels=0.5)"], ["11pt_avg"]),
    ("relstring_5", ["relstring(length=5)"], ["relstring"]),
    ("  bpref ", ["bpref"], ["bpref"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "ours", "keys"), SPELLINGS, ids=[row[0] for row in SPELLINGS])
def test_trec_evals_spellings(text: str, ours: list[str], keys: list[str]) -> None:
    assert names(text) == ours
    assert [metric.trec_name for metric in parse(text)] == keys


@pytest.mark.parametrize("text", sorted(pytrec_eval.supported_measures))
def test_keys_are_those_of_pytrec_eval(text: str) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"d": 1}}, {text})
    keys = list(evaluator.evaluate({"q": {"d": 1.0}})["q"])
    assert [metric.trec_name for metric in parse(text)] == keys


@pytest.mark.parametrize("nickname", ["official", "set", "all_trec"])
def test_nicknames_mean_what_they_mean_there_and_in_its_order(nickname: str) -> None:
    assert set(NICKNAMES[nickname]) == pytrec_eval.supported_nicknames[nickname]
    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"d": 1}}, {nickname})
    keys = list(evaluator.evaluate({"q": {"d": 1.0}})["q"])
    assert [metric.trec_name for metric in parse(nickname)] == keys


IR_MEASURES = {
    "AP": "map", "MAP": "map", "AP@100": "map@100", "AP(rel=2)@100": "map(rel=2)@100",
    "P@5": "P@5", "Precision@5": "P@5", "R@1000": "recall@1000", "Recall(rel=2)@5":
    "recall(rel=2)@5", "RR": "recip_rank", "MRR@10": "recip_rank@10", "RR(rel=2)@10":
    "recip_rank(rel=2)@10", "Rprec": "Rprec", "RPrec": "Rprec", "Success@1": "success@1",
    "nDCG": "ndcg", "nDCG@20": "ndcg@20", "NDCG@20": "ndcg@20", "Bpref": "bpref",
    "BPref": "bpref", "infAP": "infAP", "IPrec@0.1": "iprec_at_recall@0.1", "SetP": "set_P",
    "SetRelP": "set_relative_P", "SetR": "set_recall", "SetF": "set_F", "SetF(beta=0.5)":
    "set_F(beta=0.5)", "SetAP": "set_map", "NumQ": "num_q", "NumRet": "num_ret",
    "NumRel": "num_rel", "NumRelRet": "num_rel_ret",
}  # fmt: skip


@pytest.mark.parametrize(("text", "ours"), IR_MEASURES.items(), ids=list(IR_MEASURES))
def test_ir_measures_spellings(text: str, ours: str) -> None:
    assert names(text) == [ours]


def test_lists_of_cutoffs_and_defaults() -> None:
    assert names("ndcg@1,3") == ["ndcg@1", "ndcg@3"]
    assert names("P@5", rel=2) == ["P(rel=2)@5"]
    assert names("P(rel=3)@5", rel=2) == ["P(rel=3)@5"]
    assert names("num_ret", rel=2) == ["num_ret"]
    assert names("P(rel=1)@5") == ["P(rel=1)@5"]  # a threshold is said, as fractions need one
    assert names("map(ties=average)") == ["map(ties=average)"]


def test_a_runs_name_may_hold_parentheses() -> None:
    (metric,) = parse("rbo(p=0.9,reference=bm25+bert(zs))")
    assert metric.reference == "bm25+bert(zs)"
    assert names(str(metric)) == [str(metric)]


def test_parse_all_keeps_each_once_and_names_every_mistake() -> None:
    assert [str(m) for m in parse_all(["map", "AP", "P_5", "P@5,10"])] == ["map", "P@5", "P@10"]
    with pytest.raises(UnknownNameError) as caught:
        parse_all(["map", "ndgc@10", "P@0"])
    assert str(caught.value) == (
        "metrics: unknown metric 'ndgc@10'\n  fix:   use ndcg@10\n"
        "metrics: P@0: cutoff: expected a number of 1 or more, got 0\n  fix:   write P@10"
    )


def values_of(parameter: Parameter) -> st.SearchStrategy[Any]:
    limits = parameter.range
    low = None if limits is None else limits.low
    high = None if limits is None else limits.high
    one: st.SearchStrategy[Any]
    if parameter.choices:
        one = st.sampled_from(parameter.choices)
    elif parameter.type is bool:
        one = st.booleans()
    elif parameter.type is int:
        one = st.integers(None if low is None else int(low), int(high or 10**9))
    elif parameter.type is float:
        out = limits is not None and limits.open
        one = st.floats(
            low, high, allow_nan=False, allow_infinity=False, exclude_min=out and low is not None,
            exclude_max=out and high is not None,
        )  # fmt: skip
    else:
        one = st.from_regex(r"[A-Za-z0-9_.+-]{1,12}", fullmatch=True).filter(
            lambda text: text.lower() not in ("none", "null")
        )
    if parameter.pairs:
        pair = st.tuples(st.integers(0, 10**9), one)
        one = st.lists(pair, min_size=1, max_size=5).map(tuple)
    if parameter.many:
        count = parameter.length
        one = st.lists(one, min_size=count or 1, max_size=count or 12).map(tuple)
    return st.none() | one if parameter.optional else one


@given(st.data())
def test_what_is_printed_is_read_again(data: st.DataObject) -> None:
    definition = REGISTRY[data.draw(st.sampled_from(sorted(REGISTRY)))]
    given_values = {
        name: data.draw(values_of(parameter), label=name)
        for name, parameter in definition.parameters.items()
        if name == "cutoff" or data.draw(st.booleans())
    }
    rel, above, top = map(given_values.get, ("rel", "above", "top"))
    assume((rel is None or above is None) and (top is None or top >= (rel or 1)))  # else refused
    cutoff = given_values.pop("cutoff", None)
    inside = ",".join(
        f"{name}={definition.parameters[name].text(value)}" for name, value in given_values.items()
    )
    text = definition.name + (f"({inside})" if inside else "")
    if cutoff is not None and definition.cutoff is not None:
        text += f"@{definition.cutoff.text(cutoff)}"
    for metric in parse(text):
        assert parse(str(metric)) == [metric]
        if cutoff is not None:
            assert metric.cutoff == cutoff
        shown = {name: p.default for name, p in definition.parameters.items() if p.shown}
        assert {**shown, **given_values}.items() >= dict(metric.params).items()


def test_every_name_and_alias_is_read() -> None:
    several = {row.name for row in TOOL_NAMES if len(row.ours) > 1}
    for metric in (metric for name in {*known_names()} - several for metric in parse(name)):
        assert parse(str(metric)) == [metric]


MISTAKES = {
    "ndgc@10": "unknown metric 'ndgc@10'\n  fix:   use ndcg@10",
    "Qfoo": "unknown metric 'Qfoo'\n  fix:   see 'harness metrics'",
    "p@10": "use P@10", "p_10": "use P_10",
    "hit_rat@10": "unknown metric 'hit_rat@10'",
    "err_10": "use err@10", "NDCG10": "use ndcg@10",
    "official@10": "use official",
    "Map@": "use map", "ndgc_cut_10": "use ndcg_cut_10",
    "map,ndcg@5,10": "and each metric separately",
    "P(rel=2": "cannot read the metric 'P(rel=2'\n  fix:   write name, name@10 or name(param",
    "": "cannot read the metric ''",
    "P(rell=2)@5": "P has no parameter 'rell'\n  fix:   use rel",
    "P(ties=stabel)@5": "unknown ties policy 'stabel'\n  fix:   use stable",
    "P(ties=bounds)@5": "for one metric write map_min, P@10_max",
    "P(rel=2,rel=3)@5": "expected each parameter once, got rel twice",
    "map(rel=2,above=0.5)": "expected rel or above, got both",
    "P(rel=3,top=2)@5": "no grade is at least 3 and at most 2",
    "ndcg(few=nan)": "few=nan needs a convention",
    "P(labels=clip)@5": "labels=clip needs a convention with bounds",
    "P(ties=average,scores=none)@5": "write ties=stable for the file's order",
    "ndcg(convention=lightgmb)@5": "unknown convention 'lightgmb'\n  fix:   use lightgbm",
    "arp(convention=lightgbm)": "lightgbm (LightGBM 4.7.0) has no arp  (it has: ndcg, map)\n"
    "  fix:   choose a convention that has it: tfr, pytorchltr",
    "ndcg(convention=letor)": "expected a cutoff: the tool has no default\n  fix:   add one",
    "map(convention=ranklib)@5": "RankLib 2.10.2 (codelibs) has map of the whole list only",
    "P(2)@5": "expected name=value, got '2'",
    "P(rel=0)@5": "rel: expected a number above 0, got 0",
    "P@x": "cutoff: expected a whole number, got 'x'",
    "P_5.5": "cutoff: expected a whole number, got '5.5'",
    "P@2147483648": "cutoff: expected at most 2147483647, got 2147483648",
    "map(depth=9999999999)": "depth: expected at most 2147483647, got 9999999999",
    "ndcg.9999999999=3": "gains: expected grade:number;grade:number... with grades 0 to 2147483647",
    "iprec_at_recall@1e308": "cutoff: expected a number of 0 to 1,000,000,000, got 1e+308",
    "P@0": "cutoff: expected a number of 1 or more, got 0",
    "bpref@10": "bpref takes no cutoff",
    "set_P.5": "trec_eval's set_P takes no number",
    "recip_rank_10": "no number\n  fix:   write recip_rank@10",  # pytrec_eval reads recip_rank
    "ndcg_10": "several metrics\n  fix:   write ndcg@10",  # pytrec_eval stops the interpreter here
    "ndcg.1=3,2": "gains: expected a number, got ''",
    "ndcg(gains=-1:3)": "gains: expected grade:number;grade:number...",
    "ndcg_cut.1=3": "cutoff: expected a whole number, got '1=3'",
    # pytrec_eval gives 0 for this one, and for any other list of coefficients
    "utility.1,2": "coefficients: expected 4 numbers, got 2",
    "set_F(beta=nan)": "beta: expected a number, got 'nan'",
    "ndcg(gain=expo)": "unknown gain 'expo'\n  fix:   use exp",
    "prefs": "unknown metric 'prefs'",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES.items(), ids=list(MISTAKES))
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert text.removesuffix("@") in str(caught.value)


@pytest.mark.parametrize("convention", CONVENTIONS.values(), ids=list(CONVENTIONS))
def test_every_metric_of_a_convention_is_read_and_its_name_read_again(
    convention: Convention,
) -> None:
    assert convention.source
    assert convention.tool
    for name in convention.metrics:
        needs = convention.of(name).get("cutoff") == NEEDED
        for metric in parse(f"{name}(convention={convention.name}){'@7' * needs}"):
            assert parse(str(metric)) == [metric]
            assert metric.convention == convention.name


def test_what_is_given_stands_over_the_convention() -> None:
    (metric,) = parse("ndcg(convention=xgboost,gain=linear,ties=average)@10")
    assert str(metric) == "ndcg(convention=xgboost,gain=linear,ties=average)@10"
    assert (metric.settings.ties, metric.settings.scores) == ("average", "float32")
    # what the convention says anyway is not said again
    assert str(parse("ndcg(convention=xgboost,gain=exp)@10")[0]) == "ndcg(convention=xgboost)@10"
    # none is a value too, where the convention says nothing of it
    (metric,) = parse("err(convention=ranklib,max_grade=none)")
    assert dict(metric.params)["max_grade"] is None
    assert parse(str(metric)) == [metric]


def test_the_bare_name_means_what_it_means_to_the_tool() -> None:
    assert [str(m) for m in parse("ndcg(convention=xgboost)")] == ["ndcg(convention=xgboost)@32"]
    assert [m.cutoff for m in parse("ndcg(convention=lightgbm)")] == [1, 2, 3, 4, 5]


def test_a_convention_for_all_metrics_but_those_with_their_own() -> None:
    names = ["ndcg@10", "ndcg(convention=mslr)@10", "swaps(convention=none)"]
    assert [str(metric) for metric in parse_all(names, {"convention": "catboost"})] == [
        "ndcg(convention=catboost)@10", "ndcg(convention=mslr)@10", "swaps",
    ]  # fmt: skip


def test_queries_of_different_weights_make_a_metric_incomparable() -> None:
    for spelling in ("opa(over=pairs)", "arp(over=grades)", "mse(over=pairs)"):
        (metric,) = parse(spelling)
        assert why_not(from_plain_data(as_plain_data(metric))) == why_not(metric) != ""
    assert not any(why_not(metric) for metric in parse_all(["opa", "arp(negative=value)", "mse"]))
