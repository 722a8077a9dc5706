"""harness.compat.pytrec_eval against pytrec_eval itself, and what it says of wrong input."""

import collections
import importlib
import io
import math
import pickle
import re
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from harness import compat
from harness.compat import pytrec_eval as ours_module

Judgements = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]
Values = dict[str, dict[str, float]]

QRELS: Judgements = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}}
RUN: Scores = {"q1": {"b": 3.0, "a": 2, "x": 1.5}}


@pytest.fixture(autouse=True, scope="module", params=[-1, 10**9], ids=["arrays", "pytrec_eval"])
def small_calls(request: pytest.FixtureRequest) -> Iterator[int]:
    """Every test runs twice: with no call small enough for pytrec_eval itself, and with all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ours_module, "DOCUMENTS", request.param)
        patch.setattr(ours_module, "DOCUMENTS_A_MEASURE", 0)
        yield request.param


def same(found: Values, expected: Values) -> None:
    """Both dicts are equal in keys, order and every bit; runid there is a stray pointer."""
    assert list(found) == list(expected)
    for qid, values in expected.items():
        assert list(found[qid]) == list(values)
        for measure, value in values.items():
            ours = found[qid][measure]
            assert type(ours) is float
            if measure != "runid":
                assert ours == value or (math.isnan(ours) and math.isnan(value)), (qid, measure)


def both(qrels: Any, measures: Any, run: Any, **options: Any) -> tuple[Values, Values]:
    return (
        compat.RelevanceEvaluator(qrels, measures, **options).evaluate(run),
        pytrec_eval.RelevanceEvaluator(qrels, measures, **options).evaluate(run),
    )


def refusals(call: Callable[[Any], Any], *kinds: type[Exception]) -> tuple[str, str]:
    """Messages of both for a call that they refuse with errors of one type, ours first."""
    with pytest.raises(kinds) as theirs:
        call(pytrec_eval)
    with pytest.raises(theirs.type) as ours:
        call(compat)
    return str(ours.value), str(theirs.value)


qids = st.sampled_from(["q1", "q2", "q3", "10", "9", "é", ""])
docnos = st.sampled_from([*(f"d{number}" for number in range(11)), "D", "d", "é", "\U0001f600", ""])
scores = st.one_of(
    st.sampled_from([0.0, -0.0, 1, True, 1.0 + 2**-24, 1e300, -1e300, math.inf, -math.inf]),
    st.integers(-(2**70), 2**70),
    st.floats(-10, 10, allow_nan=False),
)
# judgements that are all below 0 read another query's memory in trec_eval
judged = st.dictionaries(docnos, st.sampled_from([-2, -1, 0, 0, 1, 1, 2, 4, True]), max_size=12)
judged = judged.filter(lambda row: not row or max(row.values()) >= 0)
cutoffs = st.sets(st.integers(1, 15), min_size=1).map(lambda ks: ",".join(map(str, sorted(ks))))
levels = st.sets(st.sampled_from(["0", "0.33", "0.5", "0.55", "1", "1.25"]), min_size=1)
measures = st.one_of(
    st.sampled_from(sorted(pytrec_eval.supported_measures)),
    st.sampled_from(["official", "set", "all_trec"]),
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["P", "recall", "success", "map_cut", "ndcg_cut", "relative_P"]),
        st.sampled_from("._"),
        cutoffs,
    ),
    st.builds(
        lambda name, given: f"{name}_{','.join(given)}",
        st.sampled_from(["iprec_at_recall", "Rprec_mult", "11pt_avg", "set_F"]),
        levels.map(sorted),
    ),
    st.sampled_from(["map_10", "bpref.3", "utility_1,2,3,4", "P_5abc", "P_5 "]),
)


@given(
    st.dictionaries(qids, judged),
    st.dictionaries(qids, st.dictionaries(docnos, scores, max_size=12)),
    st.lists(measures, max_size=5),
    st.integers(1, 4),
    st.booleans(),
)
def test_equals_pytrec_eval(
    qrels: Judgements, run: Scores, measures: list[str], level: int, judged_only: bool
) -> None:
    found, expected = both(
        qrels, measures, run, relevance_level=level, judged_docs_only_flag=judged_only
    )
    same(found, expected)


def test_names_equal_pytrec_evals() -> None:
    assert compat.supported_measures == pytrec_eval.supported_measures
    assert compat.supported_nicknames == pytrec_eval.supported_nicknames


@pytest.mark.parametrize(
    "measure", ["xyz", "P_", "official_3", "ndcg@10", "prefs_simp", "prefs", "qrels_jg", ""]
)
def test_unsupported_measures(measure: str) -> None:
    ours, theirs = refusals(lambda each: each.RelevanceEvaluator(QRELS, {measure}), ValueError)
    assert ours.startswith("unsupported measure ")
    assert measure in compat.supported_nicknames or ours == theirs


@pytest.mark.parametrize(
    ("measure", "why"),
    [
        ("P_0", "P.0: cutoff: expected a number of 1 or more, got 0"),
        ("P_5,05", "P.05,5: a cutoff comes twice"),
        ("P.2.2,2.9", "P.2,2: a cutoff comes twice"),
        ("ndcg_cut_0.5", "ndcg_cut.0: cutoff: expected a number of 1 or more, got 0"),
        ("recall_3.0,3", "recall.3,3: a cutoff comes twice"),
        ("iprec_at_recall_0.1,0.10", "iprec_at_recall.0.1,0.10: a cutoff comes twice"),
        ("ndcg_10", "ndcg_10: ndcg takes no number here; write ndcg_cut_10"),
        ("ndcg_1=3,2=9", "ndcg_1=3,2=9: ndcg takes no number here"),
        ("utility.2,1,1,3", "utility.1,2,3: coefficients: expected 4 numbers, got 3"),
    ],
)
def test_what_ends_pytrec_evals_process_is_an_error(measure: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^unsupported measure {re.escape(why)}"):
        compat.RelevanceEvaluator(QRELS, [measure])


BAD_QRELS: list[Any] = [
    [], None, {"q1": 5}, {"q1": [1]}, {"q1": {"a": 1.0}}, {"q1": {"a": "1"}},
    {"q1": {"a": np.int64(1)}}, {1: {"a": 1}}, {"q1": {1: 1}},
    {"q1": types.MappingProxyType({"a": 1})},
]  # fmt: skip


@pytest.mark.parametrize("qrels", BAD_QRELS, ids=str)
def test_bad_judgements(qrels: Any) -> None:
    def call(each: Any) -> None:
        each.RelevanceEvaluator(qrels, {"map"})

    ours, theirs = refusals(call, TypeError, AttributeError)
    assert ours.startswith(theirs)


BAD_RUNS: list[Any] = [
    [1], "run", types.MappingProxyType(RUN), {"q1": 5}, {"q1": []}, {1: {}}, {"q1": {1: 1.0}},
    {"q1": {b"a": 1.0}}, {"q1": {"a": "1"}}, {"q1": {"a": None}}, {"q1": {"a": np.float32(1)}},
    {"q1": {"a": np.int64(1)}}, {"q7": {"a": "x"}},
]  # fmt: skip


@pytest.mark.parametrize("run", BAD_RUNS, ids=str)
def test_bad_runs(run: Any) -> None:
    def call(each: Any) -> None:
        each.RelevanceEvaluator(QRELS, {"map"}).evaluate(run)

    ours, theirs = refusals(call, TypeError)
    assert ours.startswith(theirs)


def test_an_evaluator_can_go_to_another_process() -> None:
    evaluator = compat.RelevanceEvaluator(QRELS, {"map"})
    expected = evaluator.evaluate(RUN)
    assert pickle.loads(pickle.dumps(evaluator)).evaluate(RUN) == expected


@pytest.mark.parametrize("measures", ["map", ["map", 5], None, 5], ids=str)
def test_bad_measures(measures: Any) -> None:
    refusals(lambda each: each.RelevanceEvaluator(QRELS, measures), ValueError, TypeError)


LINES = ["q1 Q0 d1 1 0.5 tag\n", "q1\tQ0\td2\t2\t-1e3\ttag", "  q2 Q0 d1 1 nan t  ", "q1 0 é 3 7 t"]


def test_parse_run() -> None:
    found, expected = compat.parse_run(LINES), pytrec_eval.parse_run(LINES)
    assert repr(found) == repr(expected)
    assert isinstance(found, collections.defaultdict)
    assert compat.parse_run(io.StringIO("".join(LINES[:1]))) == {"q1": {"d1": 0.5}}


def test_parse_qrel() -> None:
    lines = ["q1 0 d1 1\n", "q1 0 d2 -1", "  q2\t0\td1 0  "]
    found, expected = compat.parse_qrel(iter(lines)), pytrec_eval.parse_qrel(lines)
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("parse", "lines", "text"),
    [
        ("run", ["q1 Q0 d1"], "line 1: expected the 6 fields qid Q0 docno rank score tag, got"),
        ("run", [LINES[0], ""], "line 2: expected the 6 fields"),
        ("run", ["q1 Q0 d1 1 x t"], "line 1: the score 'x' is not a number"),
        ("run", [LINES[0], LINES[0]], "line 2: document 'd1' of query 'q1' comes twice"),
        ("qrel", ["q1 0 d1"], "line 1: expected the 4 fields qid 0 docno grade, got 'q1 0 d1'"),
        ("qrel", ["q1 0 d1 1.0"], "line 1: the grade '1.0' is not an integer"),
        ("qrel", ["q1 0 d 1", "q1 0 d 0"], "line 2: document 'd' of query 'q1' comes twice"),
    ],
)
def test_bad_lines(parse: str, lines: list[str], text: str) -> None:
    def call(each: Any) -> None:
        getattr(each, f"parse_{parse}")(lines)

    assert refusals(call, ValueError, AssertionError)[0].startswith(text)


@given(
    st.sampled_from(["map", "num_q", "num_rel_ret", "gm_map", "gm_bpref", "P_5"]),
    st.lists(st.floats(-11, 11), min_size=1, max_size=40),
)
def test_compute_aggregated_measure(measure: str, values: list[float]) -> None:
    found = compat.compute_aggregated_measure(measure, values)
    assert type(found) is float
    assert found == pytrec_eval.compute_aggregated_measure(measure, values)


FRACTIONS = [
    f"{measure}{separator}{numbers}"
    for measure in ("P", "ndcg_cut", "recall", "success", "map_cut", "relative_P", "relstring")
    for separator in "._"
    for numbers in ("1.0", "2.7", "3.5,10", "10.9,2", "5.5x", "1,2.0,12.25", "05.5", "1.5.2")
]


@pytest.mark.parametrize("measure", [*FRACTIONS, "P.1.5,,2", "P_.5", "map_5.5", "set_F_0.5,2.5"])
def test_a_fractional_cutoff_is_cut_as_there(measure: str) -> None:
    def ask(module: Any) -> Values | type[Exception]:
        try:
            return module.RelevanceEvaluator(QRELS, [measure]).evaluate(RUN)  # type: ignore[no-any-return]
        except ValueError as error:
            return type(error)

    assert ask(compat) == ask(pytrec_eval)


@pytest.mark.parametrize(
    "measure",
    ["Rprec_mult.1000000", "Rprec_mult_123456.789", "iprec_at_recall.12345678,0.125",
     "Rprec_mult.0.151,0.152,0.999", "iprec_at_recall_0.995,1"],
)  # fmt: skip
def test_long_levels_are_named_as_there(measure: str) -> None:
    same(*both(QRELS, [measure], RUN))


def test_it_replaces_the_module_pytrec_eval(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = pytrec_eval.RelevanceEvaluator(QRELS, {"map"}).evaluate(RUN)
    monkeypatch.setitem(sys.modules, "pytrec_eval", compat)
    calls: list[str] = []

    class Spy(compat.RelevanceEvaluator):
        def __init__(self, *arguments: Any) -> None:
            calls.append("made")
            super().__init__(*arguments)

    monkeypatch.setattr(compat, "RelevanceEvaluator", Spy)
    replaced = importlib.import_module("pytrec_eval")
    assert replaced.RelevanceEvaluator(QRELS, {"map"}).evaluate(RUN) == expected
    assert calls == ["made"]


def test_the_cross_check_does_not_compare_us_with_ourselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pytrec_eval", compat)
    texts = ours_module.extension_texts(ours_module.numbers_asked(["P_1.0", "P_2"]))
    evaluator = ours_module.pytrec_eval_evaluator(QRELS, texts, 1, False)
    assert not isinstance(evaluator, compat.RelevanceEvaluator)
    assert evaluator.evaluate(RUN) == {"q1": {"P_1": 0.0, "P_2": 0.5}}


def test_later_changes_of_the_judgements_are_not_seen(small_calls: int) -> None:
    judgements = {"10": {"a": 1, "b": 0}, "9": {"a": 0}}
    evaluator = compat.RelevanceEvaluator(judgements, {"map"})
    judgements["10"]["b"] = 1
    del judgements["9"]
    run = {"9": {"a": 1.0}, "10": {"b": 2.0, "a": 1.0}}
    assert evaluator.evaluate(run) == {"9": {"map": 0.0}, "10": {"map": 0.5}}


def test_ir_measures_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    provider = importlib.import_module("ir_measures.providers.pytrec_eval_provider")
    texts = ["nDCG@10", "AP(rel=2)", "P@5", "RR", "SetF(beta=0.5)", "IPrec@0.1", "NumRet", "infAP"]
    measures = [ir_measures.parse_measure(text) for text in texts]
    qrels = {"2": {"a": 1, "b": 0, "c": 2}, "10": {"a": 1}, "1": {"x": 0}}
    run = {"10": {"b": 3.0, "a": 2.0}, "2": {"c": 1.0, "b": 1.0}, "1": {"x": 1.0}}

    def ask() -> tuple[list[Any], dict[Any, float]]:
        own = provider.PytrecEvalProvider()
        return [*own.iter_calc(measures, qrels, run)], own.calc_aggregate(measures, qrels, run)

    expected = ask()
    monkeypatch.setitem(sys.modules, "pytrec_eval", compat)
    assert ask() == expected


def test_a_new_evaluator_for_each_short_list_is_cheap(small_calls: int) -> None:
    if small_calls < 0:
        pytest.skip("this is about calls that pytrec_eval takes")
    qrels = {"7": {f"d{n}": n % 3 for n in range(10)}}
    run = {"7": {f"d{n}": n * 0.7 % 1 for n in range(10)}}

    def seconds(module: Any) -> float:
        begin = time.perf_counter()
        for _ in range(300):
            module.RelevanceEvaluator(qrels, {"map", "ndcg_cut.5,10", "recip_rank"}).evaluate(run)
        return time.perf_counter() - begin

    rounds = [(seconds(compat), seconds(pytrec_eval)) for _ in range(7)]
    ours, theirs = map(min, zip(*rounds, strict=True))
    assert ours < 1.5 * theirs
