"""The methods paragraph says what was done, and nothing else; its citations have entries."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from harness.core.comparison import Plan
from harness.core.convention import CONVENTIONS
from harness.core.evaluation import Counts, Evaluation
from harness.core.leaderboard import Entry, Leaderboard
from harness.core.metric import REGISTRY
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.core.study import Study
from harness.errors import UnknownNameError
from harness.reports import methods as module
from harness.reports.methods import bibliography, methods, sources
from harness.reports.references import REFERENCES, bibtex
from harness.reports.wording import Writer, metric_list
from harness.stats.compare import compare
from harness.stats.registry import load_all


def study(
    metrics: Sequence[str] = ("map", "ndcg@10"),
    runs: Sequence[str] = ("a", "b", "c"),
    counts: Counts | None = None,
    policy: Policy | None = None,
    seeds: int = 1,
    plan: Plan | None = None,
    **manifest: object,
) -> Study:
    parsed = parse_all(metrics)
    draw = np.random.default_rng(1)
    entries = tuple(
        Entry(
            Evaluation(
                draw.random((20, len(parsed))) / 2 + place / 10,
                pa.array([f"q{at}" for at in range(20)]),
                parsed,
                policy or Policy(),
                counts or Counts(queries=20),
                run=run,
                dataset="web_1",
            ),
            {"seed": str(seed)} if seeds > 1 else {},
        )
        for place, run in enumerate(runs)
        for seed in range(seeds)
    )
    found = Study(Leaderboard(entries), None, {"versions": {"harness": "1.0"}, **manifest})
    if plan is None:
        return found
    return Study(found.board, compare(found.systems, plan), found.manifest)


def test_metrics_data_and_software() -> None:
    assert methods(study()) == (
        r"We report MAP~\citep{buckley2005} and nDCG~\citep{jarvelin2002} at cutoff 10 (linear "
        r"gain) on web\_1 (20 queries). Documents with equal scores in single precision were "
        "ordered by document identifier, descending. Values were computed with ranking-harness "
        "1.0~\\citep{rankingharness2026}.\n"
    )


def test_nothing_is_said_that_did_not_happen() -> None:
    text = methods(study(), "plain")
    for word in ("compared", "correction", "again", "trec_eval", "not answer", "without relevant"):
        assert word not in text


def test_queries_that_policies_touched() -> None:
    counts = Counts(queries=20, missing=2, empty=3)
    text = methods(study(("map", "mse"), counts=counts), "plain")
    # 3 runs, 2 queries each; mse has no value for an answer that is not there
    assert (
        "Queries that a run did not answer (6 in 3 of 3 runs) counted as 0, but were left out for "
        "mean squared error. Queries without relevant documents (3 of 20) counted as 0, but "
        "counted as any other for mean squared error." in text
    )
    policy = Policy(missing_queries="skip", empty_queries="skip", ties="stable")
    text = methods(study(counts=counts, policy=policy), "plain")
    assert "equal scores were kept in the order of the file" in text
    assert "did not answer (6 in 3 of 3 runs) were left out" in text
    assert "without relevant documents (3 of 20) were left out." in text
    policy = Policy(empty_queries="one")
    assert "relevant documents (3 of 20) counted as 1." in methods(
        study(counts=counts, policy=policy)
    )


@pytest.mark.parametrize(
    ("made", "parts", "absent"),
    [
        ({"metrics": ("map(rel=2)", "P(rel=2)@5", "bpref")},
         ["; documents of grade 2 and above are relevant.",
          "bpref [buckley2004] (grades from 1 relevant)"], ()),
        ({"seeds": 3, "plan": Plan()},
         ["; values are means over 3 repetitions of each system (seed).",
          "[student1908] of each query's mean over the repetitions, at alpha"], ["seed "]),
        # 3 pairs x 2 metrics
        ({"plan": Plan(correction="by", level=0.01)},
         ["at alpha = 0.01, with Benjamini and Yekutieli's correction",
          "over all 6 comparisons; 99% intervals"], ()),
        ({"plan": Plan(correction="none")}, ["without correction for all 6 comparisons"], ()),
        ({"plan": Plan(baselines=("a",), metrics=("map",)), "runs": ("a", "b")},
         ["in terms of MAP by a"], ["correction"]),
        ({"plan": Plan(test="bootstrap", draws=999, seed=7)},
         ["with 999 random draws (seed 7)"], ()),
        ({"plan": Plan(interval="bca", draws=200, seed=3)},
         ["by the BCa bootstrap [efron1987] with 200 draws (seed 3)."], ()),
        ({"plan": Plan(test="tukey")}, ["compared by Tukey's HSD test", "simultaneous"], ["Holm"]),
        ({"plan": Plan(test="friedman-nemenyi")},
         ["compared by a Friedman test with Nemenyi's post-hoc test",
          "intervals of differences are from the t distribution"], ()),
        ({"metrics": ("ndcg(convention=lightgbm)@10", "P@5", "P@5_min", "P@5_max")},
         ["as computed by LightGBM 4.7.0 [ke2017], exponential gain 2^g - 1",
          "1 for queries without relevant documents",
          "Bounds are over all orders of tied documents", "precision at cutoff 5"], ["P@5"]),
        ({"cells": [{"crosscheck": {"queries": 5, "values": 10, "largest_difference": 0.0}}] * 2},
         [", and 20 values of 10 rankings were computed again with pytrec_eval (trec_eval 9.0.8) "
          "[vangysel2018], which agreed exactly.\n"], ()),
    ],
)  # fmt: skip
def test_what_is_written(made: dict[str, Any], parts: list[str], absent: list[str]) -> None:
    text = methods(study(**made), "plain")
    assert [part for part in parts if text.count(part) != 1] == []
    assert [part for part in absent if part in text] == []


def test_comparisons_with_a_baseline() -> None:
    plan = Plan(baselines=("a",), family="metric")
    text = methods(study(plan=plan))
    assert text.endswith(
        r"Runs were compared with a by a paired two-sided t-test~\citep{student1908}, at "
        r"$\alpha = 0.05$, with Holm's correction~\citep{holm1979} over the 2 comparisons by each "
        r"metric on each dataset; 95\% intervals of differences are from the t distribution."
        "\n"
    )


def test_metrics_that_were_not_compared_are_named() -> None:
    names = ("map", "ndcg@10", "num_rel_ret")  # a count is no mean
    text = methods(study(names, plan=Plan(baselines=("a",))), "plain")
    but = "in terms of all metrics but the number of relevant documents retrieved by a"
    assert f"Runs were compared with a {but} paired" in text
    text = methods(study(names, plan=Plan(baselines=("a",))), "plain", metrics=["map"])
    assert "Runs were compared with a by a paired" in text


def test_metrics_can_be_chosen() -> None:
    text = methods(study(), "plain", metrics=["map"])
    assert text.startswith("We report MAP [buckley2005] on web_1")
    assert sources(study(), metrics=["map"]) == ("buckley2005", "rankingharness2026")


def test_runs_and_datasets_have_the_names_of_the_table() -> None:
    names = {"web_1": "Web & 1", "a": "BM25"}
    called = methods(
        study(plan=Plan(baselines=("a",))), name=lambda own: names.get(own, own), metrics=["map"]
    )
    assert r" on Web \& 1 (20 queries)." in called
    assert "Runs were compared with BM25 in" in called or "with BM25 by a" in called
    assert "web" not in called


def test_the_comparisons_by_metrics_that_are_not_named_can_be_counted() -> None:
    made = study(plan=Plan(baselines=("a",)))  # 2 runs x 2 metrics
    assert "over all 4 comparisons;" in methods(made, "plain")
    assert "over all 4 comparisons by 2 metrics;" in methods(made, "plain", metrics=["map"])


def test_what_a_metric_does_by_a_setting_of_its_own_is_no_policy() -> None:
    names = ("map", "ndcg@10", "ndcg(convention=lightgbm)@10")
    counts, policy = Counts(queries=20, empty=3), Policy(empty_queries="skip")
    text = methods(study(names, counts=counts, policy=policy), "plain")
    # both are called nDCG@10 without the tool
    assert (
        "Documents with equal scores in single precision were ordered by document identifier, "
        "descending, but were kept in the order of the file for nDCG@10 as computed by LightGBM "
        "4.7.0. Queries without relevant documents (3 of 20) were left out, but counted as 1 for "
        "nDCG@10 as computed by LightGBM 4.7.0. Values" in text
    )
    names = ("map", "P(scores=float64)@5", "P(scores=none,ties=stable)@5", "P(judged_only=true)@5")
    text = methods(study(names, policy=Policy(depth=7)), "plain")
    assert (
        "descending, but were ordered by document identifier, descending for P(scores=float64)@5 "
        "and (all of a query) were kept in the order of the file for P(ties=stable,scores=none)@5."
    ) in text
    assert "Of the documents of each query only the first 7 counted." in text
    assert (
        "Documents without judgement were kept, but were removed first for P(judged_only=true)@5."
    ) in text


def test_many_datasets_are_counted() -> None:
    one = study().board.entries[0].evaluation
    values = [
        Entry(replace(one, counts=Counts(queries=size), run="a", dataset=f"d{size}"))
        for size in range(10, 18)
    ]
    text = methods(Study(Leaderboard(tuple(values))), "plain")
    assert "on 8 datasets (10 to 17 queries each)." in text


@pytest.mark.parametrize("markup", ["latex", "plain"])
def test_every_metric_can_be_said(markup: str) -> None:
    names = [
        f"{name}@5" if definition.needs_cutoff else name
        for name, definition in REGISTRY.items()
        if name not in ("Rprec_mult", "iprec_at_recall")
    ]
    writer = Writer(markup)  # type: ignore[arg-type]
    text = metric_list(parse_all(names), 1, writer)
    assert set(writer.cited) <= set(REFERENCES)
    assert "_" not in re.sub(r"\\_|\$[^$]*\$", "", text) or markup == "plain"


def test_every_key_has_an_entry() -> None:
    keys = {key for one in REGISTRY.values() for key in one.cite}
    variants = [variant for one in REGISTRY.values() for variant in one.variants.values()]
    keys |= {key for _, cite in variants for key in cite}
    keys |= {key for one in CONVENTIONS.values() for key in one.cite}
    keys |= set(module._CORRECTIONS.values())
    keys |= {key for test in load_all().values() for key in test.sources}
    assert keys <= set(REFERENCES), keys - set(REFERENCES)


def test_entries_parse() -> None:
    text = bibtex(REFERENCES)
    found = re.findall(r"@(\w+)\{(\w+),\n((?:  \w+ = \{.*\},\n)+)\}\n", text)
    assert [key for _, key, _ in found] == sorted(REFERENCES)
    needed = {
        "article": "journal", "inproceedings": "booktitle", "incollection": "booktitle",
        "book": "publisher", "phdthesis": "school",
        "misc": "howpublished",
    }  # fmt: skip
    for kind, key, body in found:
        names = re.findall(r"^  (\w+) =", body, re.M)
        assert {"author", "title", "year", needed[kind]} <= set(names), key
        assert body.count("{") == body.count("}")
        assert key.endswith(re.search(r"year = \{(\d+)\}", body)[1])  # type: ignore[index]


def test_an_unknown_key() -> None:
    with pytest.raises(UnknownNameError, match="unknown reference 'holm1978'; did you mean 'holm1"):
        bibtex(["holm1978"])


@pytest.mark.skipif(not shutil.which("bibtex"), reason="needs pdflatex and bibtex")
def test_latex_and_bibtex_take_them(tmp_path: Path) -> None:
    found = study(("map", "ndcg@5,10", "kendall", "tau_ap", "rbp"), plan=Plan(baselines=("a",)))
    (tmp_path / "refs.bib").write_text(bibtex(REFERENCES), "utf-8")
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage{amsmath,natbib}\\begin{document}\n"
        f"{methods(found)}\\nocite{{*}}\\bibliographystyle{{plainnat}}\\bibliography{{refs}}\n"
        "\\end{document}\n",
        "utf-8",
    )
    for command in (["pdflatex", "-interaction=nonstopmode", "paper"], ["bibtex", "paper"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
        assert "Warning--" not in done.stdout
    entries = (tmp_path / "paper.bbl").read_text("utf-8").count("\\bibitem")
    assert entries == len(REFERENCES)
    assert set(re.findall(r"\w+(?=,\n)", bibliography(found))) >= {"holm1979", "student1908"}
