"""trec_eval's metrics on one worked list, and at their edges."""

from __future__ import annotations

from math import log, log2

import numpy as np
import pytest

import harness.metrics
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.evaluation import evaluate
from harness.core.metric import REGISTRY
from harness.core.names import parse, parse_all
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run

assert harness.metrics

# rank    1  2  3  4  5  6
# docno   a  x  b  c  e  y     not retrieved: d, f
# grade   2  -  0  1 -1  -                    1  0
# R = 3 relevant (a, c, d), N = 2 judged non-relevant (b, f), 6 retrieved
JUDGED = {"a": 2, "b": 0, "c": 1, "d": 1, "e": -1, "f": 0}
RANKED = {"a": 6.0, "x": 5.0, "b": 4.0, "c": 3.0, "e": 2.0, "y": 1.0}

IDEAL = 2 + 1 / log2(3) + 1 / log2(4)  # discounted gains 2, 1, 1
LIST = 2 + 1 / log2(5)  # a at rank 1, c at rank 4

WORKED = {
    "P@3": 1 / 3,
    "P@5": 2 / 5,
    "P@10": 2 / 10,  # filled up with non-relevant documents
    "P(rel=2)@3": 1 / 3,  # only a
    "recall@3": 1 / 3,
    "recall@4": 2 / 3,
    "success@1": 1.0,
    "success(rel=3)@5": 0.0,
    "relative_P@2": 1 / 2,  # 1 of min(2, 3)
    "relative_P@5": 2 / 3,  # 2 of min(5, 3)
    "recip_rank": 1.0,
    "Rprec": 1 / 3,  # R = 3: a among a, x, b
    "Rprec_mult@0.2": 1.0,  # k = floor(0.6 + 0.9) = 1
    "Rprec_mult@0.7": 1 / 2,  # 0.7 * 3 is 2.0999999999999996: k = floor(2.99...) = 2
    "Rprec_mult@2": 2 / 6,  # k = floor(6.9) = 6
    "Rprec_mult@3": 2 / 9,  # k = 9, beyond the list
    "Rprec_mult@0": 0.0,  # k = 0
    "map": (1 / 1 + 2 / 4) / 3,
    "map@3": (1 / 1) / 3,
    "map(rel=2)": 1.0,
    "gm_map": log(0.5),
    # a: 1; c: j = 3, pool a and b, r = n = 1: 1/4 + 3/4 * 2/3 * 1.00001/2.00002 = 1/2
    "infAP": (1 + 1 / 2) / 3,
    "bpref": (1 + (1 - 1 / 2)) / 3,  # c: b of min(2, 3) is above
    "gm_bpref": log(0.5),
    "iprec_at_recall@0": 1.0,
    "iprec_at_recall@0.3": 1.0,  # floor(0.9 + 0.9) = 1: precision 1 at a
    "iprec_at_recall@0.4": 1 / 2,  # floor(1.2 + 0.9) = 2: precision 2/4 at c
    "iprec_at_recall@0.7": 1 / 2,  # floor(2.99...) = 2 again, as in Rprec_mult
    "iprec_at_recall@0.8": 0.0,  # floor(2.4 + 0.9) = 3: d is not retrieved
    "11pt_avg": (4 * 1 + 4 * 1 / 2 + 3 * 0) / 11,
    "11pt_avg(levels=0.3:0.4)": (1 + 1 / 2) / 2,
    "set_P": 2 / 6,
    "set_recall": 2 / 3,
    "set_relative_P": 2 / 3,  # of min(6, 3)
    "set_map": 2 * 2 / (6 * 3),
    "set_F": 4 / 9,  # 2 * 1/3 * 2/3 / (1/3 + 2/3)
    "set_F(beta=4)": 5 / 9,  # 5 * 1/3 * 2/3 / (4/3 + 2/3)
    "set_F(beta=0)": 1 / 3,  # the precision
    "utility": 2 - 4,
    # 2 * 2 - 4 - 0.5 * 1 + 0.1 * (100 + 2 - 6 - 3)
    "utility(coefficients=2:-1:-0.5:0.1,documents=100)": 4 - 4 - 0.5 + 9.3,
    "num_q": 1,
    "num_ret": 6,
    "num_rel": 3,
    "num_rel_ret": 2,
    "num_nonrel_judged_ret": 1,  # b; e is unjudged
    "num_nonrel_judged_ret(rel=2)": 2,  # b, c
    # cost so far 2, 3, 4, 5; a: 2 / log2(2 + 2 - 2), c: 1 / log2(2 + 5 - 3); all gains 4
    "G": (2 / 1 + 1 / 2) / 4,
    # gains: a 1, c and d 3, b and f 0.5; cost 3, 6, 7, 8
    # a: 1 / log2(2 + 3 - 1), b: 0.5 / log2(2 + 7 - 1.5), c: 3 / log2(2 + 8 - 4.5); all gains 8
    "G(gains=0:0.5;1:3;2:1)": (1 / 2 + 0.5 / log2(7.5) + 3 / log2(5.5)) / 8,
    "binG": (1 / 1 + 1 / 2) / 3,  # c: x and b above, 1 / log2(2 + 2)
    # a at rank 1: 2/2; c at rank 4; d, not retrieved, as the end of the list
    "ndcg_rel": (1 + LIST / IDEAL + LIST / IDEAL) / 3,
    # rank 1, rank 3 (the ideal order's change from 1 to 0), and the list: 6 > 3 + 1
    "Rndcg": (1 + 2 / IDEAL + LIST / IDEAL) / 3,
    "yaap": log((1 + 1.5) / (1 + 3 - 1.5)),  # precisions 1 and 2/4
    "relstring": 0.0,
    "runid": 0.0,
}


def aligned(
    judged: dict[str, int] = JUDGED, ranked: dict[str, float] = RANKED, **policy: object
) -> Aligned:
    qrels, run = Qrels.from_dict({"q": judged}), Run.from_dict({"q": ranked})
    return align(qrels, run, Policy(**policy))  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value"), WORKED.items(), ids=list(WORKED))
def test_worked_example(name: str, value: float) -> None:
    (metric,) = parse(name)
    assert metric(aligned()).tolist() == pytest.approx([value], rel=1e-12)


def test_every_trec_metric_has_a_worked_value() -> None:
    worked = {parse(name)[0].definition.name for name in WORKED}
    # nDCG has a file of its own
    assert worked == {d.name for d in REGISTRY.values() if d.trec_name} - {"ndcg"}


ALL = parse_all(["all_trec", "map@10", "ndcg@10", "recip_rank@10"])


def defaults() -> dict[str, float]:
    """What each metric gives a query without relevant documents."""
    return {str(m): m.definition.empty or 0.0 for m in ALL}


def test_no_relevant_documents() -> None:
    values = evaluate(aligned({"a": 0}, {"a": 2.0, "x": 1.0}), ALL).to_dict()["q"]
    counts = {"num_q": 1, "num_ret": 2, "num_nonrel_judged_ret": 1, "utility": -2}
    assert values == defaults() | counts


def test_an_empty_list_is_zero_but_for_0_divided_by_0() -> None:
    values = evaluate(aligned({"a": 1}, {}), ALL).to_dict()["q"]
    undefined = {name for name, value in values.items() if np.isnan(value)}
    # floor(0.0 * 1 + 0.9) = 0 documents are asked for; from 0.1 on, 1
    assert undefined == {"iprec_at_recall@0", "11pt_avg"}
    assert values | dict.fromkeys(undefined, 0.0) == defaults() | {"num_q": 1, "num_rel": 1}


def test_a_query_that_is_not_answered_counts_as_with_trec_eval_c() -> None:
    qrels = Qrels.from_dict({"q": JUDGED, "r": {"a": 1, "b": 1}})
    found = evaluate(align(qrels, Run.from_dict({"q": RANKED})), ALL)
    assert found.to_dict()["r"] == defaults() | {"num_q": 1, "num_rel": 2}
    summary = found.summary()
    assert [summary[n] for n in ("num_q", "num_rel", "num_ret", "map")] == [2, 5, 6, 0.25]
    assert summary["gm_map"] == pytest.approx((0.5 * 0.00001) ** 0.5)
