"""Every measure of pytrec_eval, on anything, equal to it to the last bit."""

from collections.abc import Iterator

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from harness import compat
from harness.compat import pytrec_eval as own
from harness.core.names import parse_all

MEASURES = sorted(pytrec_eval.supported_measures)
# a cutoff list takes the place of the default one, so these are asked for apart
CUTOFFS = [f"{name}.1,3,7" for name in ("P", "recall", "map_cut", "relative_P", "ndcg_cut")]
CUTOFFS += ["success.2,7", "iprec_at_recall.0.33,0.55,1.25", "Rprec_mult.0,0.33,3.7"]
ONE_PARAMETER = ["set_F.0.5", "set_F_3", "11pt_avg.0.25,0.5,0.75", "11pt_avg_0", "relstring.5"]

Judgements = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def assert_same(
    qrels: Judgements, run: Scores, measures: list[str], rel: int, *, judged_only: bool = False
) -> None:
    """Compare every key and value with ``==``; NaN equals NaN, and runid is a stray pointer."""
    ours, theirs = (
        each.RelevanceEvaluator(
            qrels, set(measures), relevance_level=rel, judged_docs_only_flag=judged_only
        ).evaluate(run)
        for each in (compat, pytrec_eval)
    )
    for values in (*ours.values(), *theirs.values()):
        values.pop("runid", None)
    assert repr(ours) == repr(theirs), (qrels, run)


@pytest.fixture(scope="module", autouse=True)
def _our_own_code() -> Iterator[None]:
    """Let no call be small enough for pytrec_eval itself."""
    # An empty list that is the first it ever sees stops the interpreter.
    pytrec_eval.RelevanceEvaluator({"q": {"d": 1}}, {"map"}).evaluate({"q": {"d": 1.0}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "DOCUMENTS", -1)
        patch.setattr(own, "DOCUMENTS_A_MEASURE", 0)
        yield


docnos = st.sampled_from([f"d{number}" for number in range(12)] + ["D", "d", "é", "d10/x"])
# 1 + 2**-24 is 1 as float32, and so tied with it
scores = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-24, 1.0 + 2**-23, -3.5, 1e30, 1e-45]),
    st.floats(-1e6, 1e6, allow_nan=False),
)
grades = st.sampled_from([-2, -1, 0, 0, 0, 1, 1, 2, 3, 4, 9])
# judgements that are all below 0 are undefined in trec_eval, see trec_shared
judged = st.dictionaries(docnos, grades, min_size=1, max_size=14).filter(
    lambda row: max(row.values()) >= 0
)
retrieved = st.dictionaries(docnos, scores, max_size=14)
qids = st.sampled_from(["q1", "q2", "q3", "10", "2"])


@st.composite
def cases(draw: st.DrawFn) -> tuple[Judgements, Scores]:
    qrels = draw(st.dictionaries(qids, judged, min_size=1))
    run = draw(st.dictionaries(qids, retrieved, min_size=1))
    run.setdefault(next(iter(qrels)), draw(retrieved))
    return qrels, run


@given(cases(), st.integers(1, 4), st.booleans())
def test_every_measure_equals_pytrec_eval(
    case: tuple[Judgements, Scores], rel: int, judged_only: bool
) -> None:
    assert_same(*case, MEASURES, rel, judged_only=judged_only)
    for measures in (CUTOFFS, *([measure] for measure in ONE_PARAMETER)):
        assert_same(*case, measures, rel, judged_only=judged_only)


@pytest.mark.parametrize("rel", [1, 2, 3, 4])
def test_lists_of_1_to_2000(rel: int) -> None:
    rng = np.random.default_rng(rel)
    qrels: Judgements = {}
    run: Scores = {}
    for number, length in enumerate([1, 2, 3, 10, 99, 100, 101, 500, 1000, 1001, 2000]):
        ids = [f"d{i}" for i in rng.permutation(3000)]
        n_judged = int(rng.integers(1, 2000))
        given_grades = rng.choice([-1, 0, 1, 2, 3, 4], n_judged, p=[0.1, 0.5, 0.2, 0.1, 0.06, 0.04])
        given_grades[0] = 0
        chosen = rng.permutation(ids)[:n_judged].tolist()
        qrels[f"q{number}"] = dict(zip(chosen, given_grades.tolist(), strict=True))
        values = rng.normal(size=length).round(int(rng.integers(0, 9)))
        run[f"q{number}"] = dict(zip(ids[:length], values.tolist(), strict=True))
    assert_same(qrels, run, MEASURES, rel)
    assert_same(qrels, run, CUTOFFS, rel)


def test_every_measure_is_registered() -> None:
    names = {metric.definition.trec_name for metric in parse_all(["all_trec"])}
    assert names == pytrec_eval.supported_measures - {"ndcg_cut", "map_cut"}
