"""Parameters of metrics and orders of ties against what other tools printed.

``tool_columns.COLUMNS`` says what each tool's metric is here. The values are those of
``tests/golden/conventions.json`` (some tools) and ``../shared/golden/conventions.json`` (all).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tool_column import Column
from tool_columns import COLUMNS

from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.evaluate import evaluate
from harness.core.grades import GradeRule
from harness.core.names import parse
from harness.core.policy import Policy
from harness.core.ragged import Ragged
from harness.core.tables import Qrels, Run
from harness.errors import InputError

HERE = json.loads(
    (Path(__file__).parents[1] / "golden" / "conventions.json").read_text(encoding="utf-8")
)
SHARED = Path(__file__).resolve().parents[3] / "shared" / "golden" / "conventions.json"


@cache
def shared_golden() -> dict[str, Any]:
    if not SHARED.is_file():
        pytest.skip("no ../shared data beside the project")
    golden: dict[str, Any] = json.loads(SHARED.read_text(encoding="utf-8"))
    return golden


def is_tied(column: Column, one: dict[str, Any]) -> bool:
    """Whether two scores are the same to the tool."""
    scores = np.asarray(one["scores"], dtype=np.float64)
    with np.errstate(over="ignore"):
        seen = scores.astype(column.scores) if column.scores != "none" else scores[:0]
    return len(set(seen.tolist())) < seen.size


def comparable(column: Column, one: dict[str, Any]) -> bool:
    """Whether scores are numbers, and tied ones stand in an order that the tool settles."""
    if not np.isfinite([float(score) for score in one["scores"]]).all():
        return False
    settled = column.settled is None or len(one["scores"]) <= column.settled
    return settled or not is_tied(column, one)


def accepted(column: Column, labels: list[float]) -> list[float] | None:
    """Return the grades as the tool sees them; None where it refuses them."""
    rule = dict(column.grades)
    if column.given == "label > 0":
        labels = [float(label > 0) for label in labels]
    if rule.get("truncate"):
        labels = [float(math.trunc(label)) for label in labels]
    elif rule.get("whole", True) and any(label != int(label) for label in labels):
        return None
    if len(labels) < rule.get("documents", 0):
        return None
    low, high = rule.get("low", -math.inf), rule.get("high", math.inf)
    return labels if all(low <= label <= high for label in labels) else None


def aligned(column: Column, lists: list[tuple[dict[str, Any], list[float]]]) -> Aligned:
    """Align lists with the grades that the tool sees, which are multiples of a half."""
    positive = column.grades.get("positive_scores", False)
    qrels, run = {}, {}
    for one, grades in lists:
        docnos = one.get("docids") or [f"d{place:05}" for place in range(len(grades))]
        qrels[one["id"]] = {d: int(2 * g) for d, g in zip(docnos, grades, strict=True)}
        run[one["id"]] = dict(zip(docnos, one["scores"], strict=True))
    policy = Policy(
        ties="average" if column.ties == "random" else column.ties,
        scores=column.scores,  # type: ignore[arg-type]
        judged_only=column.judged_only,
        grades=GradeRule(whole=False, positive_scores=positive, documents=0),
    )
    with np.errstate(over="ignore"):
        found = align(Qrels.from_dict(qrels), Run.from_dict(run), policy)
    kind = np.float64 if any(g % 1 for _, grades in lists for g in grades) else np.int64
    ideal = Ragged(found.ideal.offsets, (found.ideal.values / 2).astype(kind))
    return replace(found, grade=(found.grade / 2).astype(kind), ideal=ideal, _memo={})


ALIGNED: dict[Any, Aligned] = {}


def together(column: Column, known: list[tuple[dict[str, Any], list[float]]]) -> Aligned:
    """Return :func:`aligned` of lists of one golden file, made once for each way to read them."""
    rule = (column.ties, column.scores, column.judged_only, column.given, str(column.grades))
    key = (*rule, tuple(one["id"] for one, _ in known))
    if key not in ALIGNED:
        ALIGNED[key] = aligned(column, known)
    return ALIGNED[key]


def values_of(column: Column, name: str, source: Aligned, cutoff: int | None) -> np.ndarray:
    """Return the metric's values, with those of queries without relevant documents put in."""
    (metric,) = parse(name)
    values = evaluate(source, [metric]).values[:, 0]
    if column.empty == "own":
        return values
    empty = source.n_relevant(0) == source.ideal.count(source.ideal.values == 0)
    if "above=0.5" in name:
        empty = source.ideal.count(source.ideal.values > 0.5) == 0
    elif source.grade.dtype.kind == "f":
        empty = source.ideal.count(source.ideal.values > 0) == 0
    if "short=" in name and cutoff is not None:
        empty &= source.n_retrieved >= cutoff
    put = {"zero": 0.0, "one": 1.0, "nan": math.nan}[column.empty]
    return np.where(empty & ~np.isnan(values) if column.empty == "zero" else empty, put, values)


def number(value: Any) -> float | None:
    """Return a golden value; NaN where the tool leaves the query out, None for an error."""
    if value is None or value == "nan":
        return math.nan
    return None if isinstance(value, dict) else float(value)


def tolerance(column: Column, value: float) -> float:
    if column.digits is not None:
        return 0.5 * 10**-column.digits + 1e-9
    return 3e-6 * max(1.0, abs(value)) if column.single else 1e-11 * max(1.0, abs(value))


def compare(
    key: str,
    cutoff: int | None,
    lists: list[dict[str, Any]],
    printed: list[Any],
    drawn: dict[str, Any],
) -> int:
    """Assert that our values are those of the tool; return how many were compared.

    Where the tool orders ties at random, `drawn` has the mean and the range of some draws; our
    expectation must lie within five standard errors, at most, of the mean.
    """
    column, name = COLUMNS[key].at(cutoff)
    known = []
    for one, value in zip(lists, printed, strict=True):
        grades = accepted(column, one["labels"])
        if not comparable(column, one) or one["id"] in column.but:
            continue
        if "short" in column.but and cutoff and len(one["labels"]) < cutoff:
            continue
        if grades is None:
            assert number(value) is None, (key, one["id"], "the tool takes these grades")
            continue
        if number(value) is None:
            if "short=error" in name and cutoff and len(grades) < cutoff:
                with pytest.raises(InputError, match="fewer than"):
                    parse(name)[0](aligned(column, [(one, grades)]))
            continue
        within = tolerance(column, number(value) or 0.0)
        if column.ties == "random" and is_tied(column, one):
            draws = drawn.get(one["id"])
            if draws is None or draws["draws"] < 20:
                continue
            value = draws["mean"]
            within += 5 * (draws["max"] - draws["min"]) / 2 / math.sqrt(draws["draws"])
        known.append((one, grades, number(value), within))
    compared = 0
    for fractional in (False, True):
        some = [k for k in known if any(g % 1 for g in k[1]) == fractional]
        if not some:
            continue
        source = together(column, [(one, grades) for one, grades, *_ in some])
        ours = values_of(column, name, source, cutoff)
        for (one, _, theirs, within), value in zip(some, ours.tolist(), strict=True):
            if math.isnan(value) and column.undefined == "zero" and not math.isnan(theirs):
                value = 0.0
            where = (key, name, one["id"], value, theirs)
            assert math.isnan(value) == math.isnan(theirs), where
            assert math.isnan(value) or abs(value - theirs) <= within, where
            compared += 1
    return compared


def cutoff_of(text: str) -> int | None:
    return None if text == "none" else int(text)


def check(key: str, lists: list[dict[str, Any]], problem: dict[str, Any]) -> int:
    drawn = problem.get("random", {})
    return sum(
        compare(key, cutoff_of(cutoff), lists, printed, drawn.get(cutoff, {}))
        for cutoff, printed in problem.get("per_query", {}).items()
        if printed and COLUMNS[key].at(cutoff_of(cutoff))[1]
    )


@pytest.mark.parametrize("key", HERE["values"])
def test_values(key: str) -> None:
    lists = [{"id": name, **one} for name, one in HERE["lists"].items()]
    assert check(key, lists, {"per_query": HERE["values"][key]}) > 30


def test_every_column_has_its_settings() -> None:
    assert set(COLUMNS) == set(shared_golden()["columns"])


def problems(golden: dict[str, Any], key: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for name, problem in golden["values"][key].items():
        lists = {"S0": golden["lists"], "R1": golden["sets"]["R1"]["queries"]}.get(name)
        yield lists or [one for one in golden["edges"] if one["id"] == name], problem


@pytest.mark.parametrize("key", COLUMNS)
def test_values_of_every_tool(key: str) -> None:
    compared = 0
    for lists, problem in problems(shared_golden(), key):
        compared += check(key, lists, problem)
    assert compared or not COLUMNS[key].metric


# nerr knows no short lists, and a NaN that is left out is not told from one that is not
NO_MEAN = {f"{tool}.nerr_at_ks" for tool in ("ptranking0.0.5", "ptranking_master")}
NO_MEAN |= {f"ptranking_master.{name}_at_k" for name in ("ndcg", "ap", "nerr", "P")}


@pytest.mark.parametrize("key", sorted(set(COLUMNS) - NO_MEAN))
def test_means_of_every_tool(key: str) -> None:
    """R1 has no ties and queries without relevant documents."""
    golden = shared_golden()
    queries = golden["sets"]["R1"]["queries"]
    for cutoff, printed in golden["values"][key]["R1"].get("mean", {}).items():
        column, name = COLUMNS[key].at(cutoff_of(cutoff))
        known = [(one, accepted(column, one["labels"])) for one in queries]
        if not name or any(grades is None for _, grades in known):
            continue
        source = together(column, known)  # type: ignore[arg-type]
        values = values_of(column, name, source, cutoff_of(cutoff))
        weights = parse(name)[0].weights(source)
        weights = np.ones(values.size) if weights is None else weights
        if column.undefined == "zero":
            values = np.nan_to_num(values)
        if column.undefined == "skip":
            values, weights = values[~np.isnan(values)], weights[~np.isnan(values)]
        mean = float((values * weights).sum() / weights.sum())
        theirs = number(printed)
        assert theirs is not None
        assert math.isnan(mean) == math.isnan(theirs), (key, cutoff, mean, theirs)
        assert math.isnan(mean) or abs(mean - theirs) <= 2 * tolerance(column, theirs), (
            key, cutoff, mean, theirs,
        )  # fmt: skip
