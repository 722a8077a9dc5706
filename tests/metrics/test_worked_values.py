"""Every native metric on lists worked by hand, and what it refuses."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from alignments import aligned_of, named

from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.evaluation import evaluate
from harness.core.names import parse, parse_all
from harness.core.policy import Policy
from harness.core.qrels_and_runs import Qrels, Run
from harness.core.ragged import Ragged
from harness.errors import InputError
from harness.metrics.cascade import stop_probabilities
from harness.metrics.pair_agreement import lambdas, sigmoid

NAN = math.nan
THIRD = 1 / math.log2(3)
"""The share of its gain that a document has at rank 2."""
LN2 = math.log(2)


def lists(*texts: str, policy: Policy | None = None) -> Aligned:
    """Align a query for each text: ``"2 (0 1) x -1 | 3"``.

    Grades in rank order, tied ones in parentheses (the first has the largest docno), x for a
    document without judgement; behind the bar the judgements that were not retrieved. The first
    of n scores is n.
    """
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number, text in enumerate(texts):
        retrieved, _, missed = text.partition("|")
        groups = re.findall(r"\([^)]*\)|\S+", retrieved)
        qrel, row = qrels.setdefault(f"q{number}", {}), run.setdefault(f"q{number}", {})
        for place, group in enumerate(groups):
            for grade in group.strip("()").split():
                docno = f"d{99 - len(row)}"
                row[docno] = float(len(groups) - place)
                if grade != "x":
                    qrel[docno] = int(grade)
        qrel |= {f"m{place}": int(grade) for place, grade in enumerate(missed.split())}
    return align(Qrels.from_dict(qrels), Run.from_dict(run), policy)


AP_LIST = "0 1 3 x 2 | 1"  # R = 4 relevant, 3 of them retrieved, 5 retrieved
AP_SUM = 1 / 2 + 2 / 3 + 3 / 5
RBP_LIST = "2 x 0 1 -1 | 3"
VALUES: dict[str, dict[str, float]] = {
    AP_LIST: {
        "map": AP_SUM / 4,
        "map@3": (1 / 2 + 2 / 3) / 4,
        "map(denominator=cutoff)": AP_SUM / 4,  # no cutoff, no smaller than R
        "map(denominator=cutoff)@3": (1 / 2 + 2 / 3) / 3,
        "map(denominator=list)@10": AP_SUM / 4,  # min(4, 10, 5)
        "map(denominator=list)@2": 1 / 2 / 2,
        "map(denominator=hits)@3": (1 / 2 + 2 / 3) / 2,
        "map(denominator=hits)": AP_SUM / 3,
        "map(denominator=hits)@1": 0.0,
        "map(denominator=grades)@3": (1 / 2 + 2 / 3) / (3 + 2 + 1),
        "map(denominator=grades)": AP_SUM / 7,
        "map(none_found=1)@1": 1.0,
        "map(none_found=1)@2": 1 / 2 / 4,
        "map(rel=2)": (1 / 3 + 2 / 5) / 2,
        "map(above=1.5)": (1 / 3 + 2 / 5) / 2,
        "map(above=0)": AP_SUM / 4,
        "map(top=2)": (1 / 2 + 2 / 5) / 3,
        "map(rel=2,top=2)": 1 / 5,
        "map(short=zero)@6": 0.0,
        "map(short=zero)@5": AP_SUM / 4,
        "map(short=nan)@6": NAN,
        "P@4": 2 / 4,
        "P@10": 3 / 10,
        "P(denominator=list)@10": 3 / 5,
        "P(denominator=list)@4": 2 / 4,
        "P(above=1.5)@5": 2 / 5,
        "P(top=2)@5": 2 / 5,
        "P(short=zero)@6": 0.0,
        "P(short=nan)@6": NAN,
        "P(short=nan)@5": 3 / 5,
        "recip_rank": 1 / 2,
        "recip_rank(above=1)": 1 / 3,
        "recip_rank(rel=2,top=2)": 1 / 5,
        "recip_rank(target=largest)": 1 / 3,
        "recip_rank(target=largest)@2": 0.0,
    },
    # tied relevant documents count at the end of their group: 1/1, 2/3, 3/4
    "1 (0 1) 1": {"map(tied=together)": (1 + 2 / 3 + 3 / 4) / 3},
    "(1 1)": {"map(tied=together)": 1.0},
    "0": {"recip_rank(target=largest)": 0.0},
    "x 1 0 3": {"arp": (1 * 2 + 3 * 4) / 4},
    "x x 2 | 1": {"arp": 3.0},
    "0 | 1": {"arp": NAN},
    "1 -1 2": {"arp(negative=value)": (1 - 2 + 6) / 2},
    "1 -1": {"arp(negative=value)": NAN, "pairwise_logloss": NAN},
    # scores 3 and 2: (1 - 3)^2 and (0 - 2)^2; unjudged ones count for nothing
    "1 0 -1": {"mse": 4.0, "mse(over=pairs)": 4.0},
    # ranks: judged, outside the pool, in the pool but not judged, judged
    "0 x -1 1 | 1": {
        "judged@1": 1.0, "judged@2": 1 / 2, "judged@3": 1 / 3, "judged@4": 1 / 2,
        "judged@100": 1 / 2, "judged": 1 / 2, "unjudged@3": 2 / 3, "unjudged": 1 / 2,
    },
    # ir_measures 0.4.3 gave these
    "x 1 0 x 2": {"Judged@1": 0.0, "Judged@3": 0.6666666666666666, "Judged@10": 0.6, "Judged": 0.6},
    # pairs: one tied, four right, and 0 0 needs no order
    "x (2 1) 0 0 -1": {
        "opa": 4.5 / 5, "opa(tied=wrong)": 4 / 5, "opa(tied=right)": 1.0, "auc": 1.0,
        "auc(rel=2)": 2.5 / 3,
    },
    "0 1": {"opa": 0.0, "auc": 0.0, "auc(rel=2)": NAN},
    "1 1": {
        "ndcg@1": 1.0, "ndcg(ideal=full)@1": 1 / (1 + THIRD),
        "opa": NAN, "auc": NAN, "pairwise_logloss": NAN,
    },
    # R = 3/16, 0 (unjudged), 15/16, 0, 1/16
    "2 x 4 0 1": {
        "err": 3 / 16 + 13 / 16 * 15 / 16 / 3 + 13 / 16 / 16 / 16 / 5,
        "err@1": 3 / 16, "err@2": 3 / 16, "err@3": 3 / 16 + 195 / 768,
    },
    # max_grade 2: R = 1/4, 3/4; linear: 1/2, 1
    "1 2": {
        "err(max_grade=2)": 0.53125, "err(max_grade=none)": 0.53125,
        "err(stop=linear,max_grade=2)": 0.75,
    },
    "1 | 3": {"err(max_grade=none)": 0.125},  # its largest grade was missed: R = 1/8
    "0 -1": {"err(max_grade=none)": 0.0},
    # R = 31/16, 1/16: 31/16 + (1/2) (1 - 31/16) (1/16)
    "5 1": {"err(beyond=keep)": 31 / 16 - 15 / 512},
    "1000 1": {"err(max_grade=1000)": 1.0},
    "2000 1": {"err(max_grade=none)": 1.0},
    # ideal, with the missed grade 2: 15/16 + (1/2) (1/16) (3/16) + (1/3) (1/16) (13/16) (1/16)
    "1 4 | 2": {
        "nerr": (1 / 16 + 225 / 512) / (15 / 16 + 3 / 512 + 13 / 12288), "nerr@1": 1 / 15,
    },
    "4 2 2 0": {"nerr": 1.0},
    "0 0": {"nerr": 0.0, "rbp(p=0.5)": 0.0},
    # R = 3/16, 0, 15/16: 3/16 + .85^2 (13/16) (15/16); decay .5: 3/16 + (1/4) (195/256)
    "2 0 4": {
        "pfound": 3 / 16 + 0.7225 * 195 / 256, "pfound(decay=0.5)": 3 / 16 + 195 / 1024,
        "pfound@2": 3 / 16,
    },
    # .5 (1 + .5^3); gains 2/4 and 1/4; 3/7 and 1/7; of the largest grade, 3, which was missed
    RBP_LIST: {
        "rbp(p=0.5)": 0.5625, "rbp(p=0.5)@3": 0.5, "rbp(p=0.5,rel=2)": 0.5, "rbp(p=0.5,rel=3)": 0.0,
        "rbp(p=0.5,gain=linear)": 0.265625, "rbp(p=0.5,max_grade=2)": 0.5625,
        "rbp(p=0.5,gain=exp,max_grade=3)": 0.5 * (3 / 7 + 1 / 56),
        "rbp(p=0.5,gain=linear,max_grade=none)": 0.5 * (2 / 3 + 1 / 24),
        # unjudged at ranks 2 and 5: .5 * .5 + .5 * .5^4, and beyond rank 5: .5^5
        "rbp(p=0.5,form=residual)": 0.3125, "rbp(p=0.5,form=residual)@9": 0.3125,
        "rbp(p=0.5,form=residual)@3": 0.25 + 0.125,
        "rbp(p=0.5,form=upper)": 0.5625 + 0.3125, "rbp(p=0.5,form=upper)@3": 0.875,
    },
    # scores 3 2 1: 2 over 0 by -1, 1 over 0 by -2, 2 over 1 by 1
    "0 2 1": {
        "pairwise_logloss": math.fsum(math.log1p(math.exp(d)) for d in (1, 2, -1)) / 3,
        "pairwise_logloss(alpha=2)": math.fsum(math.log1p(math.exp(d)) for d in (2, 4, -2)) / 3,
    },
    "(1 0 0)": {"pairwise_logloss": LN2},
    "2 0 1": {
        "dcg": 2.5, "ndcg": 2.5 / (2 + THIRD), "ndcg(gain=exp)": 3.5 / (3 + THIRD),
        "swaps": 1.0, "swaps(normalize=true)": 1 / 3,
    },
    "1 0 1": {
        "ndcg(short=nan)@3": 1.5 / (1 + THIRD), "ndcg(short=nan)@4": NAN, "dcg(short=zero)@4": 0.0,
        "swaps": 1.0, "swaps(normalize=true)": 1 / 2, "swaps(normalize=all)": 1 / 3,
    },
    "-1 1": {
        "ndcg(negative=value)": (THIRD - 1) / (1 - THIRD), "ndcg(gain=letor,negative=value)": THIRD,
        "dcg(gain=exp,negative=value)": THIRD - 0.5, "swaps": 0.0, "swaps(normalize=true)": NAN,
    },
    "0 1 0 2": {
        "dcg(discount=jarvelin)": 1 + 2 / 2, "dcg(discount=position)": 1 / 2 + 2 / 4,
        "ndcg(discount=jarvelin)": 2 / 3, "ndcg(discount=position)": 1 / 2.5,
    },
    # LETOR's ideal order is by gain: 3 1 of grades 4 3 2 1
    "4 3 2 1": {
        "ndcg(gain=letor,discount=jarvelin)": (3 * THIRD + 1 / 2) / 4,
        "ndcg(gain=letor,discount=jarvelin)@1": 0.0,
    },
    # nDCG 0 at ranks 1 and 2
    "0 0 2 1": {
        "mean_ndcg(gain=letor,discount=jarvelin)": (3 * THIRD / 4 + (3 * THIRD + 1 / 2) / 4) / 4,
    },
}  # fmt: skip
CASES = [(text, name) for text, values in VALUES.items() for name in values]


@pytest.mark.oracle("unjudged")
@pytest.mark.parametrize(("text", "name"), CASES)
def test_worked_value(text: str, name: str) -> None:
    value = parse(name)[0](lists(text)).item()
    assert value == pytest.approx(VALUES[text][name], rel=1e-13, abs=1e-15, nan_ok=True)


def test_summaries_over_queries_documents_and_pairs() -> None:
    names = ["arp", "arp(over=grades)", "opa", "opa(over=pairs)", "mse", "mse(over=pairs)"]
    found = evaluate(lists("1 0", "0 2 1"), parse_all(names))
    # arp 1 and 7/3; grades 1 and 3. opa 1 and 1/3; pairs 1 and 3. Squares 1 + 1, and 9 + 0 + 0
    assert found.summary() == pytest.approx({
        "arp": 5 / 3, "arp(over=grades)": 2.0, "opa": 2 / 3, "opa(over=pairs)": 2 / 4,
        "mse": (1 + 9 / 3) / 2, "mse(over=pairs)": 11 / 5,
    })  # fmt: skip


def test_queries_without_an_answer() -> None:
    qrels = Qrels.from_dict({"none": {"a": 0}, "unanswered": {"a": 1}})
    aligned = align(qrels, Run.from_dict({"none": {"a": 1.0}}))
    names = ["arp", "opa", "judged@5", "mse", "rbp(p=0.5)", "rbp(p=0.5,form=residual)"]
    values = evaluate(aligned, parse_all(names)).values
    # judged at rank 1: half of rbp's weight is beyond it; without an answer all of it is open
    np.testing.assert_array_equal(values, [[NAN, NAN, 1, 1, 0, 0.5], [NAN, 0, NAN, NAN, 0, 1]])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        *(
            (name, "1 | 5", "max_grade: expected grades of at most 4, got 5")
            for name in ("err", "nerr", "pfound")
        ),
        ("err(beyond=keep)", "1005", "max_grade: expected grades of at most 4, got 1005"),  # 2^1001
        ("rbp(gain=linear,max_grade=2)", "3", "max_grade: expected grades of at most 2, got 3"),
        *(
            (f"{name}(short=error)@6", "1", "1 of 1 lists have fewer than 6 documents: q0")
            for name in ("map", "P", "ndcg")
        ),
        ("ndcg(gain=exp)", "1001", "gain=exp: expected grades of at most 1000, got 1001"),
    ],
)
def test_data_that_a_metric_refuses(name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse(name)[0](lists(text))


def test_thresholds_between_whole_grades() -> None:
    whole = lists("0 1 3 x 2 | 1")  # halved: 0, 0.5, 1.5, -, 1 and 0.5
    ideal = Ragged(whole.ideal.offsets, whole.ideal.values / 2)
    aligned = replace(whole, grade=whole.grade / 2, ideal=ideal)
    values = {
        "map(above=0.5)": (1 / 3 + 2 / 5) / 2, "map(above=0)": AP_SUM / 4, "P(above=0.5)@3": 1 / 3,
        "recip_rank(above=0)": 1 / 2, "recip_rank(target=largest)": 1 / 3,
    }  # fmt: skip
    for name, value in values.items():
        assert parse(name)[0](aligned).item() == pytest.approx(value, rel=1e-15)
    # (2^0.5 - 1) / 4 and (2^1.5 - 1) / 4
    grades, expected = np.array([0.5, 1.5]), [(2**0.5 - 1) / 4, (2**1.5 - 1) / 4]
    assert stop_probabilities(grades, np.array(2), "exp") == pytest.approx(expected, abs=1e-15)
    assert stop_probabilities(grades, np.array(2), "linear").tolist() == [0.25, 0.75]


@pytest.mark.parametrize("alpha", [1.0, 0.3, 4.0])
def test_lambdas_are_the_slopes_of_the_loss(alpha: float) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    grades, scores = rng.integers(0, 3, 9), rng.normal(size=9)
    s = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    better = torch.tensor(grades[:, None] > grades[None, :])
    loss = torch.nn.functional.softplus(-alpha * (s[:, None] - s[None, :]))[better].sum()
    loss.backward()
    slopes = lambdas(np.array([0, 9]), scores, grades, alpha=alpha)
    np.testing.assert_allclose(slopes, s.grad.numpy(), atol=1e-12)
    aligned = aligned_of({"q": (named(grades.tolist()), named(scores.tolist()))})
    mean = parse(f"pairwise_logloss(alpha={alpha})")[0](aligned).item()
    assert mean == pytest.approx(loss.item() / int(better.sum()), abs=1e-12)


def test_lambdas_by_hand_and_large_differences() -> None:
    # grades 1 0 with scores 0 ln 3: lambda = -1 / (1 + exp(0 - ln 3)) = -1 / (1 + 1/3) = -3/4
    slopes = lambdas(np.array([0, 2]), np.array([0.0, math.log(3)]), np.array([1, 0]))
    assert slopes.tolist() == pytest.approx([-0.75, 0.75])
    assert sigmoid([-1e9, 1e9]).tolist() == [0.0, 1.0]
    (metric,) = parse("pairwise_logloss")
    for score, loss in ((-1e6, 2e6), (1e6, 0.0)):  # ln(1 + exp(d)) is d for large d
        found = metric(aligned_of({"q": ({"a": 1, "b": 0}, {"a": score, "b": -score})}))
        assert found.tolist() == [loss]
