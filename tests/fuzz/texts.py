"""Targets: names of metrics, and the arguments and rows of trec_eval."""

from __future__ import annotations

import contextlib
import functools
import os

from harness.compat.trec_eval import arguments
from harness.compat.trec_eval import input as rows
from harness.compat.trec_eval.arguments import Stop
from harness.core import names
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.evaluate import evaluate
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run

from .reading import RUN, TEXT
from .target import Target

_METRICS = (
    b"ndcg", b"@", b"(", b")", b",", b"=", b"gain=exp", b"rel=2", b"convention=lightgbm", b"_cut_",
    b"P.5,10", b"official", b"ndcg.1=3,2=9", b"_best", b"_worst", b"rbo(p=0.9)", b"none", b":",
    b";", b"1_0", "\uff11".encode(), "\u0661".encode(), b"nan", b"inf", b"1e400", b"-1", b"9" * 30,
)  # fmt: skip


@functools.cache
def _tiny(policy: Policy) -> Aligned:
    """Two queries, with ties, an unjudged document and one that is not retrieved."""
    qrels = Qrels.from_dict({"1": {"a": 2, "b": 0, "c": 1, "e": 1}, "2": {"a": 0}})
    run = Run.from_dict({"1": {"b": 3.0, "a": 2.0, "x": 2.0, "c": 1.0}, "2": {"a": 1.0}})
    return align(qrels, run, policy)


def _metric(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for metric in names.parse(text):
        assert names.parse(str(metric)) == [metric], f"{metric} is read as another"
        evaluate(_tiny(Policy()), [metric])


def _arguments(data: bytes) -> None:
    words = [os.fsdecode(word) for word in data.split(b"\n") if b"\0" not in word]
    try:
        arguments.parse(words)
    except Stop as stop:
        str(stop).encode("utf-8", "surrogateescape")


def _rows(data: bytes) -> None:
    for version in (9, 10):
        found = expected = None
        with contextlib.suppress(Stop, rows._Malformed):
            found = rows.rows_of(data, version)
        with contextlib.suppress(rows._Malformed):
            expected = None if b"\0" in data else rows.by_lines(data, version)
        assert (found is None) == (expected is None), f"{found} in place of {expected}"
        if found is None or expected is None:
            continue
        assert found.num_rows == expected.num_rows
        for name in expected.column_names:
            got, wanted = (t[name].combine_chunks() for t in (found, expected))
            if name != "score":
                got, wanted = (c.view("binary") for c in (got, wanted))
            assert str(got.to_pylist()) == str(wanted.to_pylist()), name


TARGETS = (
    Target("metric-names", _metric, (b"ndcg(gain=exp,rel=2)@10", b"P.5,10", b"rbo(p=0.9)",
           b"ndcg_cut_10", b"ndcg.1=3,2=9", b"nDCG@1,3", b"map_best", b"official",
           b"ndcg(convention=lightgbm)@5", b"utility.1,-1,0,0"), _METRICS),
    Target("trec_eval-arguments", _arguments, (b"-q\n-m\nP.5,10\nqrels\nrun\n-l2",
           b"--as=10\n-mall_trec\n-M100\na\nb", b"-h\n-m\nmap"),
           (*_METRICS, b"-N", b"-D", b"--le")),
    Target("trec_eval-rows", _rows, (RUN, RUN.replace(b" ", b"\t")), TEXT),
)  # fmt: skip
