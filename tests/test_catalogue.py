"""What ``harness metrics`` prints."""

from __future__ import annotations

import re

import pytest

from harness.audit.catalogue import define, listing, plain, show
from harness.core.convention import CONVENTIONS, find
from harness.core.metric import REGISTRY
from harness.errors import UnknownNameError

BUILT_IN = [n for n, d in REGISTRY.items() if d.function.__module__.startswith("harness.")]


def rows(text: str) -> dict[str, list[str]]:
    """Lines by their first word, the further cells split at two spaces."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.strip():
            first, *rest = re.split(" {2,}", line.strip())
            found[first] = [*found.get(first, []), *rest]
    return found


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_definition_has_nothing_of_python(name: str) -> None:
    text = define(REGISTRY[name])
    assert text.startswith(f"{name}: {plain(REGISTRY[name].headline)}")
    for mark in (">>>", "aligned : ", "ndarray", "----", "``", ":func:", "default ()", "None"):
        assert mark not in text, mark
    said = re.findall(r"^  (\w+): ", text, re.M)
    assert said == list(REGISTRY[name].parameters)  # each once
    assert "source       " in text


def test_a_parameter_has_choices_default_and_meaning() -> None:
    lines = show("ndcg").splitlines()
    place = lines.index("  discount: log2, jarvelin, position; default log2")
    assert lines[place + 1].startswith("      What a gain at rank i is divided by: log2(i + 1);")
    assert "  gains: grade:number;grade:number...; default none" in lines
    assert "  cutoff: whole number in [1, inf); default the whole list" in lines


def test_a_definition_says_the_common_settings_and_where_the_tools_are() -> None:
    text = show("ndcg")
    for name in ("convention", "ties", "scores", "depth", "judged_only", "labels", "empty"):
        assert f"\n  {name}: " in text
    assert "'harness metrics ndcg --conventions'" in text
    assert "--conventions" not in show("swaps")  # which no tool has


def test_a_name_with_settings_shows_what_is_computed() -> None:
    text = show("ndcg(convention=LightGBM,ties=average)@10")
    assert text.splitlines()[1] == f"as {CONVENTIONS['lightgbm'].tool} computes it"
    found = rows(text)
    assert found["gain"] == ["exp", "the tool's"]
    assert found["discount"] == ["log2", "default"]
    assert found["ties"] == ["average", "written"]
    assert found["scores"] == ["float64", "the tool's"]
    assert found["grades"] == ["whole grades 0 to 30", "the tool's"]
    assert found["empty"] == ["one", "the tool's"]
    assert found["undefined"][0] == "skip"
    assert found["cutoff"] == ["10"]
    assert text.startswith("ndcg(convention=lightgbm,ties=average)@10\n")  # never LightGBM
    plain = rows(show("ndcg(gain=exp)@10"))
    assert plain["gain"] == ["exp", "written"]
    assert plain["ties"][0] == "trec_eval"
    assert plain["scores"][0] == "float32"
    assert rows(show("P.5,10"))["cutoff"] == ["5, 10"]
    assert show("nDCG") == show("ndcg")
    clipped = rows(show("ndcg(convention=lightgbm,labels=clip)@10"))
    assert clipped["grades"] == ["whole grades 0 to 30, others clipped", "written"]


@pytest.mark.parametrize("spelling", ["lightgbm", "LightGBM"])
@pytest.mark.parametrize("tools", [False, True])
def test_a_convention_alone(spelling: str, tools: bool) -> None:
    text = show(spelling, tools)
    assert text.startswith("lightgbm: LightGBM ")
    assert "xgboost" not in text
    together = " ".join(text.split())
    assert "grades: whole grades 0 to 30, bare name: @1,2,3,4,5" in together
    assert text.splitlines()[-1].startswith("  source: dcg_calculator.cpp")
    assert find(spelling).name == "lightgbm"


def test_what_a_written_setting_changes_further_is_said() -> None:
    # XGBoost's linear gains take fractions and grades below 0: docs/conventions.md
    lines = show("xgboost").splitlines()
    place = lines.index("    ndcg(gain=linear), further")
    assert "grades: takes fractions" in lines[place + 1]
    found = rows(show("ndcg(convention=xgboost,gain=linear)@10"))
    assert found["grades"] == ["takes fractions", "the tool's"]
    found = rows(show("ndcg(convention=sklearn,few=zero)@10"))
    assert found["grades"][0].endswith("queries of fewer than 2 documents: zero")
    assert found["grades"][1] == "written"


def test_the_tools_of_a_metric() -> None:
    text = show("ndcg", True)
    found = rows(text)
    header = [name for name in found["convention"] if name != "convention"]
    settings = dict(zip(header, found["lightgbm"], strict=True))
    assert settings["gain"] == "exp"
    assert settings["bare name"] == "@1,2,3,4,5"
    assert settings["grades"] == "whole 0 to 30"
    assert settings["discount"] == "-"  # log2, as without a convention
    assert "ideal" not in header  # in which they do not differ
    having = [name for name, each in CONVENTIONS.items() if "ndcg" in each.metrics]
    assert [name for name in found if name in CONVENTIONS] == having
    assert max(map(len, text.splitlines())) <= 100


def test_all_conventions_and_all_metrics() -> None:
    assert listing() == show()
    assert "`" not in listing()
    text = show(None, True)
    assert [line.split(":")[0] for line in text.splitlines() if line[:1].strip()] == [*CONVENTIONS]


@pytest.mark.parametrize(
    ("name", "tools", "message"),
    [
        ("ndgc", False, "unknown metric or convention 'ndgc'; did you mean 'ndcg'?"),
        ("lightgmb", True, "unknown metric or convention 'lightgmb'; did you mean 'lightgbm'?"),
        ("swaps", True, "no convention has the metric 'swaps'"),
    ],
)
def test_wrong_names(name: str, tools: bool, message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        show(name, tools)
    assert str(caught.value).startswith(message)
