"""`harness conventions --match`: hand-worked values, and each fit against evaluating its name."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import called, refused, succeeds

import harness
from harness.audit.convention_match import Matches
from harness.errors import InputError, UnknownNameError

# q: grades 1 and 2 at ranks 1 and 2; r: nothing relevant. With d = log2(3) = 1.58496
#   gain 2^g - 1:  DCG = 1 + 3/d = 2.89279, ideal = 3 + 1/d = 3.63093, nDCG = 0.796708
#   gain g:        DCG = 1 + 2/d = 2.26186, ideal = 2 + 1/d = 2.63093, nDCG = 0.859719
CONFIG = """
datasets: {two: {path: qrels.txt}}
runs: {one: {path: one.run}}
metrics: [ndcg@3, num_ret]
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text("r 0 a 0\nq 0 b 2\nr 0 b 0\nq 0 a 1\n")
    rows = [("r", "a", 2), ("q", "b", 1), ("q", "a", 2), ("r", "b", 1)]
    text = "".join(f"{qid} Q0 {docno} 0 {score} t\n" for qid, docno, score in rows)
    (tmp_path / "one.run").write_text(text)
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path / "c.yaml"


def matches(config: Path, value: str | float, metrics: str = "ndcg@3", **options: Any) -> Matches:
    found = harness.conventions(config, metrics, match=value, **options)
    assert isinstance(found, Matches)
    return found


def unchanged(found: Matches) -> set[str]:
    fits = [fit.setting.metric for fit in found.fits if fit.is_plain]
    return {metric.convention or "default" for metric in fits}


def test_unchanged_conventions(config: Path) -> None:
    found = matches(config, "0e1")  # everything between -5 and 5 fits
    values: dict[str, set[str]] = {}
    for fit in found.fits:
        if fit.is_plain:
            name = fit.setting.metric.convention or "default"
            values.setdefault(f"{fit.value:.4f}", set()).add(name)
    expected = {
        # (0.796708 + 1) / 2: the query without relevant documents counts 1
        "0.8984": "lightgbm xgboost catboost-exp rankeval allrank",
        # 0.796708: it is left out
        "0.7967": "gdeval",
        # 0.796708 / 2: it counts 0
        "0.3984": "ranklib quickrank xgboost-minus tfr pytorchltr elasticsearch opensearch",
        # 0.859719 / 2
        "0.4299": "default trec_eval9 trec_eval9.0.8 trec_eval10 sklearn torchmetrics ranx beir "
        "mteb",
        # (0.859719 + 1) / 2
        "0.9299": "catboost",
        # lists of two documents are shorter than 3: 0
        "0.0000": "letor mslr ptranking",
    }
    for value, names in expected.items():
        assert {*names.split()} <= values[value], value


def test_percent_and_cutoffs(config: Path) -> None:
    for value in ("79.67", "79.67%", "0.7967", ".7967"):
        assert unchanged(matches(config, value, tools=["gdeval", "ranx"])) == {"gdeval"}
    found = matches(config, "0.7967", "ndcg", tools="gdeval")
    assert {2, 10, 20} & {fit.setting.metric.cutoff for fit in found.fits} == {10, 20}
    # rank 1 alone: 1/3; the mean over the other query too if that counts 0
    found = matches(config, "0.3333", "ndcg", tools=["gdeval", "lightgbm", "sklearn", "beir"])
    names = {str(fit.setting.metric) for fit in found.fits if fit.is_plain}
    assert names == {"ndcg(convention=gdeval)@1"}


def test_one_setting_is_changed(config: Path) -> None:
    found = matches(config, "0.7967", tools="lightgbm")
    names = {str(fit.setting.metric) for fit in found.fits}
    assert "ndcg(convention=lightgbm,empty=nan)@3" in names
    assert {fit.setting.changed for fit in found.fits} == {1}


def test_the_nearest_miss(config: Path) -> None:
    found = matches(config, "0.42976", tools="trec_eval9")  # which gives 0.429859
    assert found.fits == ()
    assert found.nearest is not None
    assert found.nearest.difference == pytest.approx(0.429859 - 0.42976, abs=1e-6)
    (row,) = found.rows
    assert (row["fits"], row["difference"]) == (False, found.nearest.difference)
    words = ("conventions", config, "-m", "ndcg@3", "--match", "0.42976", "--convention", "gdeval")
    assert called(*words).code == 1


def test_unanswered_queries(config: Path) -> None:
    """A fit that leaves unanswered queries out says so, unless counting them as 0 fits too."""
    qrels = config.parent / "qrels.txt"
    qrels.write_text(qrels.read_text() + "s 0 a 1\n")
    found = matches(config, f"{0.859719 / 2:.4f}", tools="trec_eval9")
    assert {fit.missing_queries for fit in found.fits if fit.setting.changed == 0} == {"skip"}
    found = matches(config, f"{0.859719 / 3:.4f}", tools="trec_eval9")
    assert {fit.missing_queries for fit in found.fits} == {"zero"}


@pytest.mark.parametrize("metrics", ["map@5", "err@4", "P@3", "recip_rank"])
def test_every_value_is_that_of_evaluating_its_name(tmp_path: Path, metrics: str) -> None:
    """Tied scores in one precision and not the other, every kind of query, rows in any order."""
    rng = np.random.default_rng(3)
    judged, ranked = [], []
    for qid in rng.permutation(12):
        docs = rng.permutation(int(rng.integers(2, 14)))
        top = 1 if qid % 4 == 0 else 5
        judged += [f"{qid} 0 d{doc} {rng.integers(0, top)}\n" for doc in docs]
        scores = rng.integers(-1, 3, len(docs)) + rng.choice([0, 1e-9], len(docs))
        if qid != 3:
            ranked += [
                f"{qid} Q0 d{doc} 0 {score} t\n" for doc, score in zip(docs, scores, strict=True)
            ]
    (tmp_path / "qrels.txt").write_text("".join(judged))
    (tmp_path / "one.run").write_text("".join(ranked))
    (tmp_path / "c.yaml").write_text(CONFIG)
    found = matches(tmp_path / "c.yaml", "0e1", metrics)  # everything between -5 and 5 fits
    plain = [fit for fit in found.fits if fit.missing_queries == "zero"]
    assert len(plain) >= 6
    names = [str(fit.setting.metric) for fit in plain]
    files = (tmp_path / "qrels.txt", tmp_path / "one.run")
    summary = harness.evaluate(*files, names).summary()
    for name, fit in zip(names, plain, strict=True):
        assert summary[name] == pytest.approx(fit.value, abs=1e-12), name


def test_names_that_do_not_exist(config: Path) -> None:
    for options in ({"run": "two"}, {"dataset": "one"}, {"tools": "lightbgm"}):
        with pytest.raises(UnknownNameError):
            matches(config, "0.5", **options)
    with pytest.raises(InputError):
        matches(config, "0.5.1")
    assert "html" in refused("conventions", config, "--match", "0.5", "-f", "html")


def test_the_simplest_way_comes_first_and_the_others_are_counted(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    words = ("conventions", config, "-m", "ndcg@3", "--match", "0.4")
    found = matches(config, "0.4")
    assert len(found.fits) > 2
    text, every = succeeds(*words), succeeds(*words, "--details")
    assert text == f"{found}\n"
    names = [str(fit.setting.metric) for fit in found.fits]
    assert [name for name in dict.fromkeys(names) if f" {name} " in text] == names[:1]
    assert f"{len(found.fits) - 1} other ways" in text
    assert all(f" {name} " in every for name in names)
    assert {fit.setting.changed for fit in found.fits} == {0}  # a tool's own settings are enough
