"""``harness metrics``: lists and definitions of metrics and conventions."""

import re

import pytest

from harness.reports.catalogue import show


def rows(text: str) -> dict[str, list[str]]:
    """Lines by their first word, the further cells split at two spaces."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.strip():
            first, *rest = re.split(" {2,}", line.strip())
            found[first] = [*found.get(first, []), *rest]
    return found


def test_a_metric() -> None:
    text = show("ndcg")
    lines = text.splitlines()
    place = lines.index("  discount: log2, jarvelin, position; default log2")
    assert lines[place + 1].startswith("      Divisor of a gain at rank i. log2: log2(i + 1).")
    assert "  gains: grade:number;grade:number...; default none" in lines
    assert "  cutoff: 1, 2, 3, ...; default the whole list" in lines
    for name in ("convention", "ties", "scores", "depth", "judged_only", "labels", "empty"):
        assert f"\n  {name}: " in text
    assert "'harness metrics ndcg --conventions'" in text
    assert "--conventions" not in show("swaps")  # which no tool has
    assert show("nDCG") == text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ndcg(convention=LightGBM,ties=average)@10",
         {"gain": ["exp", "the tool's"], "discount": ["log2", "default"],
          "ties": ["average", "written"], "scores": ["float64", "the tool's"],
          "grades": ["whole numbers 0 to 30", "the tool's"], "empty": ["one", "the tool's"],
          "undefined": ["skip", "the run's policy, by default so"], "cutoff": ["10"]}),
        ("ndcg(gain=exp)@10",
         {"gain": ["exp", "written"], "ties": ["trec_eval", "the run's policy, by default so"],
          "scores": ["float32", "the run's policy, by default so"]}),
        ("P.5,10", {"cutoff": ["5, 10"]}),
        ("ndcg(convention=lightgbm,labels=clip)@10",
         {"grades": ["whole numbers 0 to 30, others clipped", "written"]}),
        # XGBoost's linear gains take fractions and grades below 0: docs/reference/conventions.md
        ("ndcg(convention=xgboost,gain=linear)@10", {"grades": ["any number", "the tool's"]}),
    ],
)  # fmt: skip
def test_a_name_with_settings(name: str, expected: dict[str, list[str]]) -> None:
    found = rows(show(name))
    assert {setting: found[setting] for setting in expected} == expected


def test_names_of_other_tools_are_noted() -> None:
    assert "P@10" in show("precision").splitlines()[0]
    assert "set_P" in show("precision").splitlines()[0]
    assert "recall_cap@7 is relative_P@7 here" in show("recall_cap@7")
    assert "success@k" in show("hits@7").splitlines()[-1]
    assert " here" not in show("P@7")
