"""From a config, or a folder of results, to systems x conventions."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.audit.conventions import audit
from harness.audit.conventions_report import as_text
from harness.audit.spread import Matrix
from harness.errors import InputError, UnknownNameError

# broad ranks b and c (grade 2) first, sharp a (grade 3), then x (0). At cutoff 2, L = log2(3):
#   gain g:        broad 2 + 2/L,  sharp 3,  ideal 3 + 2/L
#   gain 2^g - 1:  broad 3 + 3/L,  sharp 7,  ideal 7 + 3/L
L = math.log2(3)
BROAD, SHARP = (2 + 2 / L) / (3 + 2 / L), 3 / (3 + 2 / L)  # 0.765, 0.704
BROAD_EXP, SHARP_EXP = (3 + 3 / L) / (7 + 3 / L), 7 / (7 + 3 / L)  # 0.550, 0.787


def values(matrix: Matrix) -> dict[str, list[float]]:
    return {row.name: row.values.tolist() for row in (matrix.base, *matrix.rows)}


def test_the_order_of_two_systems_turns_round_with_the_gain(toy: Path) -> None:
    found = audit(toy)
    (matrix,) = found.matrices
    assert found.left_out == ("rbo(p=0.9)",)  # which no convention has
    assert (matrix.dataset, str(matrix.metric), matrix.systems) == (
        "toy", "ndcg@2", ("broad", "sharp"),
    )  # fmt: skip
    found = values(matrix)
    for name in ("base", "trec_eval9", "sklearn", "catboost"):
        assert found[name] == pytest.approx([BROAD, SHARP])
    for name in ("lightgbm", "xgboost", "gdeval", "ranklib"):
        assert found[name] == pytest.approx([BROAD_EXP, SHARP_EXP])
    by_name = dict(zip((row.name for row in matrix.rows), matrix.comparisons, strict=True))
    assert (by_name["lightgbm"].tau, by_name["lightgbm"].best) == (-1.0, (1,))
    assert by_name["lightgbm"].order_changed
    assert by_name["lightgbm"].best_changed
    assert not by_name["catboost"].order_changed


def test_single_choices_of_the_base(toy: Path) -> None:
    (matrix,) = audit(toy).matrices
    effects = {each.choice: each for each in matrix.effects}
    # the ideal of the whole list: 3 + 2/L + 2/2; broad falls by (2 + 2/L) (1/4.262 - 1/5.262)
    assert effects["ideal"].system == 0
    assert effects["ideal"].change == pytest.approx((2 + 2 / L) / (4 + 2 / L) - BROAD)
    assert effects["ideal"].tau == 1.0
    assert effects["gain"].tau == -1.0
    assert "exp" in effects["gain"].best_changed
    assert not effects["ties"].matters  # no scores are tied
    changes = [abs(each.change) for each in matrix.effects]
    assert changes == sorted(changes, reverse=True)


def test_every_value_is_what_the_metric_s_name_gives(root: Path) -> None:
    config = root / "configs/sweep.yaml"
    found = audit(config, metrics=["ndcg@5", "P@5"], conventions=["lightgbm", "letor"])
    qrels = str(root / "runs/letor/fold2/test.txt")
    run = str(root / "runs/letor/neural/fold2-seed1.txt")
    for matrix in found.matrices:
        if matrix.dataset != "letor-fold2":
            continue
        at = matrix.systems.index("neural seed=1")
        name = matrix.metric.definition.name
        names = {row.name: f"{name}(convention={row.name})@5" for row in matrix.rows}
        names["base"] = f"{name}@5"
        policy = {"empty_queries": "skip"}  # the config's
        plain = harness.evaluate(qrels, run, list(names.values()), policy=policy).summary()
        for row in (matrix.base, *matrix.rows):
            assert row.values[at] == plain[names[row.name]]


def test_a_convention_that_refuses_the_data_says_why_and_the_others_go_on(toy: Path) -> None:
    qrels = toy.parent.parent / "data/qrels.txt"
    qrels.write_text(qrels.read_text().replace("a 3", "a 5"))
    ndcg, precision = audit(toy, metrics=["ndcg@2", "map"]).matrices
    reason = "query 'q': a judgement of 5, where whole grades up to 4 are accepted"
    assert ndcg.refusals == {reason: {"gdeval": ["broad", "sharp"]}}
    rows = {row.name: row for row in ndcg.rows}
    assert np.isnan(rows["gdeval"].values).all()
    assert not np.isnan(rows["lightgbm"].values).any()
    refusing = {name for names in precision.refusals.values() for name in names}
    assert refusing == {"xgboost", "xgboost-minus", "sklearn", "torchmetrics"}


def test_a_value_of_a_choice_that_the_metric_refuses_is_said(toy: Path) -> None:
    matrix = audit(toy, metrics=["err@2", "ndcg@2"]).matrices[0]
    effects = {each.choice: each for each in matrix.effects}
    assert effects["max_grade"].lost == ("1",)  # CatBoost's, where the grades go up to 3
    assert not np.isnan(matrix.base.values).any()


def test_a_convention_can_refuse_one_system_alone(toy: Path) -> None:
    data = toy.parent.parent / "data"
    (data / "short.run").write_text("q Q0 a 1 1.0 t\n")  # scikit-learn refuses single documents
    (matrix,) = audit(toy).matrices
    assert matrix.systems == ("broad", "sharp", "short")
    (sklearn,) = (row for row in matrix.rows if row.name == "sklearn")
    assert [bool(reason) for reason in sklearn.refused] == [False, False, True]
    assert not np.isnan(sklearn.values[:2]).any()


def test_results_and_their_config_give_the_same(toy: Path, monkeypatch) -> None:
    results = harness.run(toy)
    assert results.folder == toy.parent / "results/toy"
    from_config, from_results = audit(toy), audit(results.folder)
    assert values(from_results.matrices[0]) == values(from_config.matrices[0])
    assert from_results.left_out == from_config.left_out
    monkeypatch.chdir(toy.parent)  # and wherever the command is given
    assert values(audit(Path("results/toy")).matrices[0]) == values(from_config.matrices[0])


def test_runs_that_came_later_are_no_part_of_the_results(toy: Path, write) -> None:
    results = harness.run(toy)
    write(toy.parent.parent / "data/later.run", "cbax")
    assert audit(toy).matrices[0].systems == ("broad", "later", "sharp")
    assert audit(results.folder).matrices[0].systems == ("broad", "sharp")


def test_inputs_that_are_gone_or_have_changed(toy: Path, write) -> None:
    results = harness.run(toy)
    data = toy.parent.parent / "data"
    (data / "broad.run").unlink()
    write(data / "sharp.run", "xabc")
    with pytest.raises(InputError) as caught:
        audit(results.folder)
    text = str(caught.value)
    assert f"{data}/broad.run: is gone; the results were computed from it" in text
    assert f"{data}/sharp.run: has changed since the results were computed: sha256 " in text
    assert "  fix:   put the file back, or run the config again and use those results" in text


def test_fractions_are_read_where_a_convention_takes_them(toy: Path) -> None:
    qrels = toy.parent.parent / "data/qrels.txt"
    qrels.write_text(qrels.read_text().replace("b 2", "b 0.5"))
    (matrix,) = audit(toy, metrics=["ndcg@2"], conventions=["catboost", "lightgbm"]).matrices
    rows = {row.name: row for row in (matrix.base, *matrix.rows)}
    # broad ranks b (0.5) and c (2) first, sharp a (3) and x (0); ideal: 3 + 2/L
    assert rows["catboost"].values == pytest.approx([(0.5 + 2 / L) / (3 + 2 / L), SHARP])
    assert not any(rows["catboost"].refused)
    for name in ("base", "lightgbm"):
        assert np.isnan(rows[name].values).all()
        assert all("judgement of 0.5" in reason for reason in rows[name].refused)
    with pytest.raises(InputError, match=r"0\.5"):
        audit(toy, metrics=["ndcg@2"], conventions=["lightgbm"])


def test_metrics_that_differ_in_the_way_alone_share_a_table(toy: Path) -> None:
    names = ["ndcg@2", "ndcg(convention=lightgbm)@2", "ndcg(discount=position)@2", "ndcg@3"]
    names += ["P@2", "P(rel=2)@2", "ndcg(gain=linear)@2"]
    found = audit(toy, metrics=names, conventions=["lightgbm", "trec_eval9"])
    # precision above another grade is another metric
    own = [str(each.metric) for each in found.matrices]
    assert own == ["ndcg@2", "ndcg@3", "P@2", "P(rel=2)@2"]
    matrix = found.matrices[0]
    assert [(row.name, row.own, row.convention) for row in matrix.rows] == [
        ("ndcg(discount=position)@2", True, False),
        ("trec_eval9", False, True),
        ("lightgbm", True, True),
    ]
    # 1/rank: broad 2 + 2/2, sharp 3, ideal 3 + 2/2
    assert matrix.rows[0].values == pytest.approx([3 / 4, 3 / 4])
    text = as_text(found)
    assert re.search(r"^lightgbm \(own\) +other best ", text, re.M)
    assert re.search(r"^ndcg\(discount=position\)@2 \(own\) +other best .* 0.7500\* ", text, re.M)
    assert "another under 1 of 2 conventions (lightgbm)." in text  # its own is no convention


def test_a_metric_that_the_convention_lacks(toy: Path) -> None:
    with pytest.raises(UnknownNameError) as asked:
        harness.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["err(convention=lightgbm)"])
    with pytest.raises(UnknownNameError) as caught:
        audit(toy, metrics=["err@10", "ndcg@2"], conventions=["lightgbm"])
    assert str(caught.value) == str(asked.value)
    assert "err is in: gdeval, ranklib" in str(caught.value)
    # one convention that has it is enough, and a config's metrics are named once
    assert len(audit(toy, metrics=["err@10"], conventions=["lightgbm", "gdeval"]).matrices) == 1
    found = audit(toy, overrides=["metrics=[err@10,ndcg@2]"], conventions=["lightgbm"])
    assert [str(matrix.metric) for matrix in found.matrices] == ["ndcg@2"]
    assert found.left_out == ("err@10",)
