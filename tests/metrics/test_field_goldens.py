"""ERR, nERR, pfound, RBP, pair accuracy and ARP: what other tools printed for the same lists."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness.metrics  # noqa: F401
from harness.core.align import align
from harness.core.names import parse
from harness.core.tables import Qrels, Run

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[1] / "golden" / "field.json").read_text(encoding="utf-8")
)
COLUMNS = GOLDEN["columns"]


def values_of(name: str, lists: list[dict[str, Any]]) -> list[float]:
    docnos = [[f"d{i}" for i in range(len(each["labels"]))] for each in lists]
    qrels = {
        each["id"]: dict(zip(names, each["labels"], strict=True))
        for each, names in zip(lists, docnos, strict=True)
    }
    run = {
        each["id"]: dict(zip(names, each["scores"], strict=True))
        for each, names in zip(lists, docnos, strict=True)
    }
    metric = parse(name)[0]
    return metric(align(Qrels.from_dict(qrels), Run.from_dict(run))).tolist()


def is_defined(name: str, labels: list[int]) -> bool:
    """Whether a list has what the metric asks for: two grades, or a relevant document."""
    return len(set(labels)) > 1 if name.startswith("opa") else max(labels) > 0


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
