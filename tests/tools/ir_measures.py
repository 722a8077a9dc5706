"""ir_measures: pytrec_eval's values, gdeval's (a Perl script) and its own msmarco provider's."""

import math
import shutil
from collections.abc import Sequence

from . import CUTOFFS, Column, Printed, Query, dicts, name

CONVENTIONS = ("gdeval",) if shutil.which("perl") else ()
GRADES = ((0, 4), (0, 1), (0, 0), (-1, 4))
REFUSED = (("ndcg", 5), ("err", 5)) if CONVENTIONS else ()
DIGITS = {"gdeval": 5}
_PLAIN = {
    "nDCG": "ndcg", "AP": "map", "RR": "recip_rank", "Rprec": "Rprec", "Bpref": "bpref",
    "infAP": "infAP", "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F", "SetAP": "set_map",
    "AP(rel=2)": ("map", "rel=2"), "RR(rel=2)": ("recip_rank", "rel=2"),
}  # fmt: skip
_AT = {
    "nDCG": "ndcg", "AP": "map", "P": "P", "R": "recall", "Success": "success",
    "P(rel=2)": ("P", "rel=2"), "AP(rel=2)": ("map", "rel=2"),
}  # fmt: skip


def _names() -> dict[str, str]:
    found = {}
    for table, cutoffs in ((_PLAIN, (None,)), (_AT, CUTOFFS)):
        for theirs, ours in table.items():
            metric, *settings = (ours,) if isinstance(ours, str) else ours
            for k in cutoffs:
                mine = name(metric, "trec_eval9", k, *settings)
                found[mine] = theirs + (f"@{k}" if k else "")
    for k in CUTOFFS:
        found[f"recip_rank(ties=docno+)@{k}"] = f"RR@{k}"
        if CONVENTIONS:
            found[name("ndcg", "gdeval", k, "empty=zero")] = f"nDCG(dcg='exp-log2')@{k}"
            found[name("err", "gdeval", k, "empty=zero")] = f"ERR@{k}"
    return found


def refuse(metric: str, query: Query) -> None:
    _calls([query], [f"{'nDCG(dcg=exp-log2)' if metric == 'ndcg' else 'ERR'}@3"])


def _calls(
    queries: Sequence[Query], names: Sequence[str]
) -> tuple[dict[str, list[float]], dict[str, float]]:
    import ir_measures

    measures = {text: ir_measures.parse_measure(text) for text in names}
    texts = {measure: text for text, measure in measures.items()}
    qrels, run = dicts(queries)
    values = {text: dict.fromkeys(qrels, math.nan) for text in names}
    for found in ir_measures.iter_calc(list(texts), qrels, run):
        values[texts[found.measure]][found.query_id] = float(found.value)
    means = ir_measures.calc_aggregate(list(texts), qrels, run)
    return (
        {text: list(each.values()) for text, each in values.items()},
        {texts[measure]: float(value) for measure, value in means.items()},
    )


def printed(queries: Sequence[Query]) -> Printed:
    names = _names()
    values, means = _calls(queries, list(dict.fromkeys(names.values())))
    found = {}
    for ours, theirs in names.items():
        found[ours] = Column(values[theirs], means[theirs])
        if "empty=zero" in ours:  # gdeval.pl itself leaves out what ir_measures fills in with 0
            some = [
                value if max(query.grades) > 0 else None
                for value, query in zip(values[theirs], queries, strict=True)
            ]
            found[ours.replace(",empty=zero", "")] = Column(some)
    return found
