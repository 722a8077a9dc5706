"""The methods paragraph says what was done, and nothing else; its citations have entries."""

import math
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import methods_examples
import numpy as np
import pytest
import studies

from harness.core.evaluation import Counts
from harness.core.leaderboard import Leaderboard, Summary
from harness.core.metric import REGISTRY
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.errors import UnknownNameError
from harness.experiment.results import Results
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
        ("map", "ndcg@5,10", "num_rel"), seeds=2,
        counts=Counts(queries=20, missing=2, empty=3, tied=4),
        policy=Policy(empty_queries="skip"), plan=Plan(baselines=("a",)),
        recomputed=(20, 0.0),
    )  # fmt: skip
    assert methods(made, name=lambda own: names.get(own, own)) == (
        r"We report MAP~\cite{buckley2005}, nDCG at 5 and 10 with linear gain"
        r"~\cite{jarvelin2002}, and the number of relevant documents on Web \& 1 (20 queries), "
        "averaged over 2 seeds per system. Grades of 1 and above counted as relevant. "
        "Equal scores, compared in single precision, were "
        r"ordered by descending document identifier, as in trec\_eval. We excluded the 3 of 20 "
        "queries without relevant documents. Queries that a run did not answer (12 in 6 of 6 runs) "
        r"counted as 0. We tested each system against BM25 with two-sided paired t-tests"
        r"~\cite{student1908} on per-query means over seeds, and adjusted p-values by Holm's "
        r"method~\cite{holm1979} over 6 tests (systems $\times$ metrics; $\alpha = .05$). Values "
        r"were computed with ranking-harness 1.0~\cite{rankingharness2026}; a sample of 20 values "
        r"was recomputed with pytrec\_eval~\cite{vangysel2018} and matched exactly."
        "\n"
    )


def test_only_what_happened_is_written() -> None:
    text = methods(study(), "plain", metrics=["map"])
    assert text.startswith("We report MAP [buckley2005] on web_1 (20 queries). Values")
    cited = re.findall(r"\{(\w+),\n", bibliography(study(), metrics=["map"]))
    assert cited == ["buckley2005", "rankingharness2026"]
    for word in ("tested", "adjusted", "recomputed", "not answer", "without relevant"):
        assert word not in text


def test_unjudged_documents_are_removed_after_the_cut() -> None:
    policy = Policy(depth=7, judged_only=True, drop_identical_ids=True)
    text = methods(study(policy=policy), "plain", metrics=["map"])
    assert (
        "Documents with the query's identifier were removed. Only the first 7 documents of "
        "each query counted. Unjudged documents among them were removed." in text
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
    assert "_" not in re.sub(r"\$[^$]*\$|\\cite\{\w+\}|\[[\w, ]+\]", "", text)


def test_entries_parse() -> None:
    with pytest.raises(UnknownNameError, match=r"'holm1978'\n.*use holm1"):
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
    entries = tuple(
        replace(one, pattern="web{fold}", columns={"fold": fold})
        for one, fold in zip(pooled.entries, "121", strict=True)
    )
    folds = replace(found, board=replace(pooled, entries=entries))
    assert "with the queries of 2 folds pooled" in str(methods(folds))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return methods_examples.prepared(tmp_path_factory.mktemp("examples"))


@pytest.mark.parametrize("title", methods_examples.EXAMPLES)
def test_examples_read_as_in_the_golden_file(title: str, data: Path) -> None:
    """If you mean the change, write the file again as its first lines say."""
    config, paragraph = methods_examples.EXAMPLES[title]
    table = methods_examples.evaluated(config, data)
    text = table.methods()
    assert text == paragraph
    plain = re.sub(r" \[[\w, ]+\]", "", text)
    assert not re.search(r"\) \(|\(\(|\w+=|[a-z]@|\w_\w(?<!trec_e)|  | ,|\.\.", plain), plain
    assert max(len(re.split(r"[ -]", part)) for part in re.split(r"(?<=\.) ", plain)) < 80
    cited = set(re.findall(r"\w+(?=[,\]])", "".join(re.findall(r"\[([\w, ]+\])", text))))
    assert cited == set(re.findall(r"@\w+\{(\w+),", table.bibtex()))
    _check_numbers(text, table.results)


def _check_numbers(text: str, results: Results) -> None:
    """Count again what the paragraph says, from what the results have."""
    pattern = r"(?:a sample of |; |all )([\d,]+) (?:values? )?(?:was|were|of them were) recomputed"
    sample = re.findall(pattern, text)
    values = sum(cell.crosscheck.values for cell in results.manifest.cells)
    assert [int(number.replace(",", "")) for number in sample] == [values] * (values > 0)
    if (comparisons := results.comparisons) is not None:
        rows = [row for row in comparisons.rows if not math.isnan(row.p)]
        families = Counter(comparisons.family(row)[0] for row in rows)
        number = re.findall(r"(?:over|of) (?:the )?([\d,]+) (?:tests|pairs)", text)
        assert {int(n) for n in number or ["1"]} == {max(families.values())}
    for n, of in re.findall(r"\((\d+) in (\d+) of \d+ runs\)", text):
        missing = [cell.counts.missing for cell in results.manifest.cells]
        assert (int(n), int(of)) == (sum(missing), sum(count > 0 for count in missing))
