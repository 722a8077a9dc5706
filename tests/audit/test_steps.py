"""The way from the base to a convention, one setting at a time."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from harness.audit.conventions import audit, plain, steps, walk, with_choices
from harness.audit.conventions_report import as_html, as_text
from harness.audit.spread import Row
from harness.core.convention import CONVENTIONS
from harness.core.names import parse
from harness.core.policy import Policy


def row(*values: float) -> Row:
    return Row("", np.array(values), ("",) * len(values))


def names(base: str, target: str, policy: Policy | None = None) -> list[str]:
    found = steps(parse(base)[0], parse(target)[0], policy or Policy())
    return [step.name for step in found if step.name != "grades taken"]


def test_settings_are_changed_in_the_order_of_the_habit() -> None:
    assert names("ndcg@10", "ndcg(convention=lightgbm)@10") == [
        "gain=exp", "ties=stable, scores=float64", "empty=one",
    ]  # fmt: skip
    assert names("ndcg@10", "ndcg(convention=letor)@10") == [
        "gain=letor", "discount=jarvelin", "ties=stable, scores=float64", "short=zero",
    ]  # fmt: skip


def test_what_the_policy_says_already_is_no_step() -> None:
    policy = Policy(ties="stable", empty_queries="one")
    assert names("ndcg@10", "ndcg(convention=lightgbm)@10", policy) == ["gain=exp"]
    assert names("ndcg@10", "ndcg@10") == []


@pytest.mark.parametrize("name", ["ndcg@10", "map", "err@10", "mrr"])
def test_the_last_step_is_the_convention(name: str) -> None:
    (base,) = parse(name)
    for convention, known in CONVENTIONS.items():
        if base.definition.name not in known.metrics or convention in ("sklearn", "ptranking"):
            continue
        cutoff = name.partition("@")[2]
        target = parse(
            f"{base.definition.name}(convention={convention}){'@' * bool(cutoff)}{cutoff}"
        )
        found = steps(base, target[0], Policy())
        assert not found or found[-1].metric == plain(target[0])


def test_why_the_number_of_lightgbm_differs(toy: Path) -> None:
    # a query without relevant documents: half of the mean, 0 by the base and 1 by LightGBM
    data = toy.parent.parent / "data"
    for file, line in (("qrels.txt", "r 0 a 0\n"), ("broad.run", "r Q0 a 1 1 t\n")):
        (data / file).write_text((data / file).read_text() + line)
    (data / "sharp.run").write_text((data / "sharp.run").read_text() + "r Q0 a 1 1 t\n")
    found = audit(toy, metrics=["ndcg@2"], conventions=["lightgbm"])
    # with gain g: 0.7654 and 0.7039, halved; with 2^g - 1: 0.5502 and 0.7872 (see test_audit)
    expected = """
                broad    sharp
base -> lightgbm
base              0.3827   0.3520
gain=exp         -0.1076  +0.0416
empty=one        +0.5000  +0.5000
= lightgbm        0.7751   0.8936
"""
    text = as_text(found)
    block = text[text.index("base -> lightgbm") : text.index("\nOne choice")]
    cells = [line.split() for line in block.splitlines()[1:5]]
    assert cells == [line.replace("= l", "= l").split() for line in expected.splitlines()[3:7]]
    assert "  no change by: ties=stable, scores=float64" in block
    page = as_html(found)
    assert re.search(r"gain=exp</th><td[^>]*>-0.1076</td><td[^>]*>\+0.0416</td>", page)
    assert "->" not in as_text(audit(toy))  # only for those that are asked for


def test_there_is_no_way_to_a_convention_that_refuses_the_data(toy: Path) -> None:
    names = ["XGBoost", "lightgbm", "LightGBM"]  # found in capitals, each once
    (matrix,) = audit(toy, metrics=["map"], conventions=names).matrices
    assert {row.name for row in matrix.rows} == {"xgboost", "lightgbm"}
    assert [each.name for each in matrix.walks] == ["lightgbm"]  # XGBoost takes grades 0 and 1


def test_the_steps_of_every_convention_lead_to_its_value(root: Path) -> None:
    config = root / "configs/quickstart.yaml"
    found = audit(config, metrics=["ndcg@10", "map@5", "mrr"], conventions=[*CONVENTIONS])
    walked = 0
    for matrix in found.matrices:
        rows = {each.name: each.values for each in matrix.rows}
        for each in matrix.walks:
            total = matrix.base.values + sum(change for _, change in each.changes)
            known = ~np.isnan(each.values)
            assert total[known] == pytest.approx(rows[each.name][known])
            walked += known.any()
    assert walked > 20


def test_single_choices_are_those_of_the_conventions() -> None:
    (base,), toward = parse("ndcg@10"), parse("ndcg(convention=lightgbm)@10")
    found = with_choices(base, Policy(), toward)
    values = {name: [each.name for each in others] for name, (_, others) in found.items()}
    assert values == {
        "gain": ["exp"], "ties": ["stable"], "scores": ["float64"], "empty": ["one"],
    }  # fmt: skip
    assert with_choices(base, Policy(), []) == {}


@pytest.mark.parametrize(
    ("base", "way", "changes", "nothing", "end"),
    [
        ([0.5, 0.4], [("a", [0.6, 0.4]), ("b", [0.3, 0.7])],
         {"a": [0.1, 0], "b": [-0.3, 0.3]}, (), [0.3, 0.7]),
        ([0.5], [("a", [0.5]), ("b", [0.75])], {"b": [0.25]}, ("a",), [0.75]),
        # a step that is refused comes with the next
        ([0.5, 0.5], [("a", [np.nan, 0.25]), ("b", [0.75, 0.25])],
         {"a, b": [0.25, -0.25]}, (), [0.75, 0.25]),
        # a system without a value at an end stays out
        ([0.5, np.nan], [("a", [0.75, 0.25])], {"a": [0.25, np.nan]}, (), [0.75, np.nan]),
    ],
)  # fmt: skip
def test_steps_add_up(base, way, changes, nothing, end) -> None:
    found = walk("x", row(*base), [(text, row(*values)) for text, values in way])
    assert [text for text, _ in found.changes] == [*changes]
    for _, change in found.changes:
        assert change == pytest.approx(changes[_], nan_ok=True)
    assert found.nothing == nothing
    assert found.values == pytest.approx(end, nan_ok=True)
