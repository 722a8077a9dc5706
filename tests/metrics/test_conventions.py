"""Conventions against what each tool printed for the same lists, query by query and in the mean.

``tool_columns.NAMES`` gives our name for each column of the golden file
``../shared/golden/conventions.json``: a convention, at times with settings next to it, as
``docs/reference/conventions.md`` says; ``tool_columns.tool_of`` has what else is known of a column.
"""

import math
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from goldens import golden, shared_conventions
from refusals import refuses
from tool_columns import DIFFERENT, NAMES, NOT_OFFERED, tool_of

import harness
from harness.errors import UnknownNameError

NO_MEAN = {key for key in NAMES if key.startswith("ptranking") and key.endswith("_at_k")}
"""Its evaluator leaves short lists out, and has NaN for a query without relevant documents."""
NOT_FINITE = ("E09", "E10")
"""Lists with scores that are not numbers or infinite: an error here under every convention."""
HERE = golden("conventions")


@cache
def lists_of(problem: str) -> dict[str, dict[str, Any]]:
    if problem == "here":
        return {name: {"id": name, **one} for name, one in HERE["lists"].items()}
    golden = shared_conventions()
    known = {"S0": golden["lists"], "R1": golden["sets"]["R1"]["queries"]}.get(problem)
    some = known or [one for one in golden["edges"] if one["id"] == problem]
    return {one["id"]: one for one in some}


@cache
def tables(problem: str, ids: tuple[str, ...], binary: bool) -> tuple[harness.Qrels, harness.Run]:
    """Tables of some lists; fractional grades go into ``Qrels`` directly.

    Where the caller of a tool made grades binary, ``labels=clip`` does so here, but for fractions.
    """
    qrels, run, numbers = {}, {}, []
    for one in (lists_of(problem)[name] for name in ids):
        docnos = one.get("docids") or [f"d{place:05}" for place in range(len(one["labels"]))]
        qrels[one["id"]] = dict.fromkeys(docnos, 0)
        run[one["id"]] = dict(zip(docnos, one["scores"], strict=True))
        fractions = any(label % 1 for label in one["labels"])
        numbers += [label > 0 for label in one["labels"]] if binary and fractions else one["labels"]
    empty = harness.Qrels.from_dict(qrels)
    filled = harness.Qrels(empty.qids, empty.offsets, empty.docnos, np.array(numbers) * 1)
    return filled, harness.Run.from_dict(run)


@cache
def evaluation(
    problem: str, ids: tuple[str, ...], binary: bool, names: tuple[str, ...]
) -> harness.Evaluation:
    return harness.evaluate(*tables(problem, ids, binary), names)


def number(printed: Any) -> float | None:
    """Value that a tool printed; NaN if it leaves the query out, None for an error."""
    if printed is None or printed == "nan":
        return math.nan
    return None if isinstance(printed, dict) else float(printed)


def within(key: str, cutoff: str, value: float) -> float:
    """Half of the last digit printed, or 3e-6 if the tool computes with float32."""
    column = tool_of(key, cutoff)
    if column.digits is not None:
        return 0.5 * 10.0**-column.digits + 1e-9
    return (3e-6 if column.single else 1e-9) * max(1.0, abs(value))


TIED: dict[tuple[int, str], bool] = {}


def tied(key: str, cutoff: str, one: dict[str, Any]) -> bool:
    """Whether two scores are the same to the tool."""
    kind = tool_of(key, cutoff).scores
    if kind == "none":
        return False
    if (id(one), kind) not in TIED:
        with np.errstate(over="ignore"):
            scores = np.asarray(one["scores"], dtype=np.float64).astype(kind)
        TIED[id(one), kind] = len(set(scores.tolist())) < scores.size
    return TIED[id(one), kind]


def left_out(key: str, cutoff: str, one: dict[str, Any]) -> str:
    """Reason why no convention gives the value; empty if one does."""
    column = tool_of(key, cutoff)
    if one["id"] in column.but:
        return "not reproduced"
    settled = column.settled is None or len(one["labels"]) <= column.settled
    return "" if settled or not tied(key, cutoff, one) else "unsettled ties"


def check(key: str, problem: str, printed: dict[str, Any]) -> Counter[str]:
    """Assert that a column's values and means are ours; count what was compared, and what not."""
    counts: Counter[str] = Counter()
    lists = lists_of(problem)
    binary = tool_of(key, "").binary
    table = {k: v for k, v in printed.get("per_query", {}).items() if v and NAMES[key].at(k)}
    if "error" in printed:
        cutoffs = shared_conventions()["values"][key]["R1"]["per_query"]
        table = {k: [{"error": printed["error"]}] for k in list(cutoffs)[:1]}
    known = {k: dict(zip(lists, map(number, v), strict=True)) for k, v in table.items()}
    if problem == "here":  # odd lists are among the others there
        known = {
            k: {name: value for name, value in values.items() if (key, name) not in DIFFERENT}
            for k, values in known.items()
        }
    refused = {name: k for k, values in known.items() for name in values if values[name] is None}
    for name, cutoff in refused.items():
        with pytest.raises(harness.HarnessError, match=rf"\b{name}\b"):
            evaluation(problem, (name,), binary, (NAMES[key].at(cutoff),))
        counts["refused"] += 1
    groups: dict[tuple[str, ...], list[str]] = {}
    for cutoff, values in known.items():
        ids = tuple(name for name, value in values.items() if value is not None)
        groups.setdefault(ids, []).append(cutoff)
    for ids, cutoffs in groups.items():
        if not ids:
            continue
        names = tuple(NAMES[key].at(cutoff) for cutoff in cutoffs)
        found = evaluation(problem, ids, binary, names)
        means = list(found.summary().values())
        for place, cutoff in enumerate(cutoffs):
            ours = dict(zip(found.qids.to_pylist(), found.values[:, place].tolist(), strict=True))
            if found.metrics[place].settings.undefined == "zero":  # in the mean; each is NaN
                ours = {
                    name: 0.0 if math.isnan(value) and known[cutoff][name] == 0.0 else value
                    for name, value in ours.items()
                }
            drawn = printed.get("random", {}).get(cutoff, {})
            for name in ids:
                theirs: Any = known[cutoff][name]
                counts[compare(key, cutoff, lists[name], ours[name], theirs, drawn)] += 1
            mean = printed.get("mean", {}).get(cutoff)
            if key in NO_MEAN or len(ids) < len(lists) or mean is None or number(mean) is None:
                continue
            if any(unlike(key, cutoff, lists[name]) for name in ids):
                continue
            theirs = number(mean)
            where = (key, problem, names[place], "mean", means[place], theirs)
            assert same(means[place], theirs, within(key, cutoff, theirs)), where
            counts["means"] += 1
    return counts


def unlike(key: str, cutoff: str, one: dict[str, Any]) -> bool:
    """Whether the tool's own mean has a value for this list that ours need not have."""
    random = tool_of(key, cutoff).random and tied(key, cutoff, one)
    return random or bool(left_out(key, cutoff, one))


def same(ours: float, theirs: float, allowed: float) -> bool:
    if math.isnan(ours) or math.isnan(theirs):
        return math.isnan(ours) and math.isnan(theirs)
    return abs(ours - theirs) <= allowed


def compare(
    key: str, cutoff: str, one: dict[str, Any], ours: float, theirs: float, drawn: dict[str, Any]
) -> str:
    """Assert that two values are the same; return what to count it as."""
    why = left_out(key, cutoff, one)
    if why:
        return why
    allowed = within(key, cutoff, theirs)
    if tool_of(key, cutoff).random and tied(key, cutoff, one):
        draws = drawn.get(one["id"])
        if draws is None or draws["draws"] < 20:
            return "few draws"
        # Ours is the expectation: at most five standard errors away.
        theirs, spread = draws["mean"], (draws["max"] - draws["min"]) / 2
        allowed += 5 * spread / math.sqrt(draws["draws"])
    assert same(ours, theirs, allowed), (key, NAMES[key].at(cutoff), one["id"], ours, theirs)
    return "values"


def test_every_column_has_a_name() -> None:
    assert set(NAMES) == set(shared_conventions()["columns"]) - NOT_OFFERED
    assert all(any(key.startswith(f"{tool}.") for tool in COUNTS) for key in NAMES)


@pytest.mark.filterwarnings("ignore:run. none of the")  # E02 has grades below 0 only
def test_known_differences_exist() -> None:
    golden = shared_conventions()
    for key, problem in DIFFERENT:
        with pytest.raises((AssertionError, harness.HarnessError, pytest.fail.Exception)):
            check(key, problem, golden["values"][key][problem])


@pytest.mark.parametrize("key", HERE["values"])
def test_values_kept_here(key: str) -> None:
    assert check(key, "here", {"per_query": HERE["values"][key]})["values"] > 30


COUNTS: dict[str, tuple[int, int, int]] = {
    "pytrec_eval": (6_825, 225, 0), "trec_eval9": (6_576, 240, 0), "trec_eval10": (6_576, 240, 0),
    "ir_measures": (10_342, 310, 0), "gdeval": (2_680, 40, 12), "letor3": (2_439, 43, 12),
    "letor4": (2_710, 70, 16), "mslr": (2_710, 70, 16), "ranklib": (7_093, 229, 0),
    "quickrank": (5_450, 180, 0), "lightgbm": (4_065, 105, 12), "xgboost": (8_750, 286, 509),
    "catboost": (16_743, 639, 0), "sklearn": (5_510, 0, 30), "torchmetrics": (5_170, 190, 246),
    "rankeval": (11_000, 380, 0), "ranx": (9_555, 350, 0), "ranx_dict": (9_540, 335, 0),
    "pytorchltr": (4_314, 143, 0), "allrank": (4_090, 0, 0), "allrank_batch": (3_665, 125, 0),
    "ptranking0.0.5": (8_818, 124, 68), "ptranking_master": (8_818, 124, 68),
    "tfr": (7_121, 241, 0),
}  # fmt: skip
"""For each tool: values and means that are ours, and lists that both refuse."""


@pytest.mark.oracle("mean_ndcg")
@pytest.mark.filterwarnings("ignore:run. none of the")  # E02 has grades below 0 only
@pytest.mark.parametrize("tool", COUNTS)
def test_values_and_means_of_every_tool(tool: str) -> None:
    counts: Counter[str] = Counter()
    for key, problems in shared_conventions()["values"].items():
        if key.startswith(f"{tool}.") and key in NAMES:
            for problem, printed in problems.items():
                if problem not in NOT_FINITE and (key, problem) not in DIFFERENT:
                    counts += check(key, problem, printed)
    assert (counts["values"], counts["means"], counts["refused"]) == COUNTS[tool], counts


@pytest.mark.parametrize("problem", NOT_FINITE)
def test_scores_that_are_not_finite_are_refused(problem: str) -> None:
    for one in lists_of(problem).values():
        with refuses("run", "not-finite"):
            harness.Run.from_dict({"q": {str(i): float(s) for i, s in enumerate(one["scores"])}})


@pytest.mark.parametrize("metric", ["iprec_at_recall(convention=trec_eval10)@0.2", "11pt_avg"])
def test_trec_eval10_has_no_levels_of_recall_since_it_rounds_them(metric: str) -> None:
    with pytest.raises(UnknownNameError):
        harness.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [metric], convention="trec_eval10")


def test_the_two_versions_9_of_trec_eval_differ_in_the_type_of_scores() -> None:
    qrels, run = {"2": {"a": 1, "b": 0, "c": 2}}, {"2": {"a": 7.0000001, "b": 7.0, "c": 6.0}}
    names = ["map", "map(convention=trec_eval9)", "map(convention=trec_eval9.0.8)"]
    mean = (1 / 2 + 2 / 3) / 2  # b, a, c: the first two tie as floats
    values = harness.evaluate(qrels, run, names).summary()
    assert values == dict(zip(names, [mean, mean, (1 + 2 / 3) / 2], strict=True))
