"""The methods paragraph says what was done, and nothing else; its citations have entries."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import studies

from harness.core.evaluation import Counts
from harness.core.leaderboard import Leaderboard, Summary
from harness.core.metric import REGISTRY
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.errors import UnknownNameError
from harness.reports.leaderboard import Study
from harness.reports.methods import (
    REFERENCES,
    Writer,
    bibliography,
    bibtex,
    methods,
    metric_list,
)
from harness.stats.compare import compare
from harness.stats.comparison import Plan


def study(
    metrics: Sequence[str] = ("map", "ndcg@10"),
    runs: Sequence[str] = ("a", "b", "c"),
    counts: Counts | None = None,
    policy: Policy | None = None,
    seeds: int = 1,
    plan: Plan | None = None,
    recomputed: tuple[int, float] = (0, 0.0),
) -> Study:
    n, draw = len(parse_all(metrics)), np.random.default_rng(1)
    values = {
        f"{run}::{seed}" if seeds > 1 else run: draw.random((20, n)) / 2 + place / 10
        for place, run in enumerate(runs)
        for seed in range(seeds)
    }
    chosen = {"counts": counts or Counts(queries=20), "policy": policy or Policy()}
    entries = studies.study({"web_1": values}, metrics).board.entries
    board = Leaderboard(
        tuple(replace(one, evaluation=replace(one.evaluation, **chosen)) for one in entries)
    )
    found = studies.MadeStudy(board, version="1.0", recomputed=recomputed)
    return found if plan is None else replace(found, comparisons=compare(found.systems, plan))


def test_paragraph() -> None:
    names = {"web_1": "Web & 1", "a": "BM25"}
    made = study(
        ("map", "ndcg@5,10", "num_rel"), counts=Counts(queries=20, missing=2, empty=3), seeds=2,
        policy=Policy(empty_queries="skip"), plan=Plan(baselines=("a",)),
        recomputed=(20, 0.0),
    )  # fmt: skip
    assert methods(made, name=lambda own: names.get(own, own)) == (
        r"We report MAP~\citep{buckley2005}, nDCG@5 and nDCG@10~\citep{jarvelin2002} (linear gain) "
        r"and the number of relevant documents on Web \& 1 (20 queries), averaged over 2 "
        "repetitions per system (seed). Score ties (in single precision) were broken by descending "
        r"document identifier, as in trec\_eval. Queries without relevant documents (3 of 20) are "
        "left out, but count as usual for the number of relevant documents. Queries that a run did "
        "not answer (12 in 6 of 6 runs) count as 0, but count as usual for the number of relevant "
        r"documents. Values were computed with ranking-harness 1.0~\citep{rankingharness2026}; 20 "
        r"of them were recomputed with pytrec\_eval~\citep{vangysel2018} and matched exactly. We "
        r"compared each system with BM25 on MAP, nDCG@5 and nDCG@10 using a paired two-sided "
        r"t-test~\citep{student1908} on per-query means over repetitions, with Holm's "
        r"correction~\citep{holm1979} over 6 comparisons ($\alpha = 0.05$). Intervals are 95\% "
        "t-intervals.\n"
    )


def test_only_what_happened_is_written() -> None:
    text = methods(study(), "plain", metrics=["map"])
    assert text.startswith("We report MAP [buckley2005] on web_1 (20 queries). Score ties")
    cited = re.findall(r"\{(\w+),\n", bibliography(study(), metrics=["map"]))
    assert cited == ["buckley2005", "rankingharness2026"]
    for word in ("compared", "correction", "recomputed", "not answer", "without relevant"):
        assert word not in text


def test_unjudged_documents_are_removed_after_the_cut() -> None:
    policy = Policy(depth=7, judged_only=True, drop_identical_ids=True)
    text = methods(study(policy=policy), "plain", metrics=["map"])
    assert (
        "only the first 7 counted. Documents without judgement were removed. "
        "Documents whose docno equals the qid were removed first." in text
    )


@pytest.mark.parametrize("markup", ["latex", "plain"])
def test_every_metric_has_words(markup: str) -> None:
    names = [
        f"{name}@5" if definition.needs_cutoff else name
        for name, definition in REGISTRY.items()
        if name not in ("Rprec_mult", "iprec_at_recall")
    ]
    writer = Writer(markup)  # type: ignore[arg-type]
    text = metric_list(parse_all(names), 1, writer)
    assert set(writer.cited) <= set(REFERENCES)
    assert "_" not in re.sub(r"\\_|\$[^$]*\$", "", text) or markup == "plain"


def test_entries_parse() -> None:
    with pytest.raises(UnknownNameError, match=r"'holm1978'.*'holm1"):
        bibtex(["holm1978"])
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


def test_parts_are_named_where_there_are_some() -> None:
    found = study()
    pooled = replace(found.board, summary=Summary(pool=("fold",)))
    assert "pooled" not in str(methods(replace(found, board=pooled)))
    entries = tuple(replace(one, pattern="web{fold}") for one in pooled.entries)
    folds = replace(found, board=replace(pooled, entries=entries))
    assert "with the queries of all parts (fold) pooled" in str(methods(folds))
