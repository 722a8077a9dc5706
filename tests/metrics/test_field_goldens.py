"""ERR, nERR, pfound, RBP, pair accuracy and ARP: what other tools printed for the same lists."""

import math
from typing import Any

import numpy as np
import pytest
from alignments import aligned_of, named
from goldens import golden

from harness.core.names import parse
from harness.core.policy import Policy

GOLDEN = golden("field")
COLUMNS = GOLDEN["columns"]


def values_of(name: str, lists: list[dict[str, Any]], policy: Policy | None = None) -> list[float]:
    [metric] = parse(name)
    case = {each["id"]: (named(each["labels"]), named(each["scores"])) for each in lists}
    return metric(aligned_of(case, policy)).tolist()


def is_defined(name: str, labels: list[int]) -> bool:
    """Whether a list has what the metric asks for: two grades, or a relevant document."""
    return len(set(labels)) > 1 if name.startswith("opa") else max(labels) > 0


@pytest.mark.oracle("err", "nerr", "pfound", "rbp", "opa")
@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: f"{c['tool']}: {c['call']}")
def test_values_of_other_tools(column: dict[str, Any]) -> None:
    lists = GOLDEN["lists"]
    for cutoff, theirs in column["values"].items():
        name = column["metric"] + ("" if cutoff == "none" else f"@{cutoff}")
        found = values_of(name, lists)
        for each, value, expected in zip(lists, found, theirs, strict=True):
            where = (each["id"], name)
            if is_defined(name, each["labels"]):
                assert value == pytest.approx(expected, abs=column["tolerance"]), where
            else:  # 0 or NaN here; tools leave it out, or have one of the two
                assert value == 0 or math.isnan(value), where
                assert expected in (None, 0, column.get("undefined", 0)), where


def test_ranklib_goes_on_above_the_largest_grade() -> None:
    column = next(c for c in COLUMNS if "E05" in c)
    for cutoff, theirs in column["E05"].items():
        name = column["metric"] + ("" if cutoff == "none" else f"@{cutoff}")
        found = values_of(name, [GOLDEN["above_max_grade"]])
        np.testing.assert_allclose(found, [theirs], rtol=1e-12)


def test_pairs_of_tied_scores_in_other_tools() -> None:
    # TF-Ranking takes a tie for an error, in float32; CatBoost for half a pair, in float64
    for column in COLUMNS:
        if column["metric"].startswith("opa"):
            policy = Policy() if "tied" in column["metric"] else Policy(ties="stable")
            found = values_of(column["metric"], GOLDEN["tied"], policy)
            np.testing.assert_allclose(found, column["tied"], atol=column["tolerance"])
