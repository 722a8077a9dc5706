"""`compare:` and `tables:` in a config: what is wrong is reported before any data are read."""

import textwrap
from pathlib import Path

import pytest
from made_files import make, places

from harness.config import load as config
from harness.reports.paper_table.settings import Caption, Name, TableSettings

GOOD = """\
datasets:
  trec: {path: qrels.txt}
runs:
  "{run}": {path: "{run}.run"}
metrics: [map, ndcg@10, num_ret]
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    make(tmp_path, "qrels.txt", "bm25.run", "dense.run", "sparse.run")
    return tmp_path


def test_every_problem_at_once(base: Path) -> None:
    text = textwrap.dedent("""\
    compare:
      baseline: [bm25, dens]
      test: paried-t
      correction: hom
      family: 3
      level: 5
      draws: 5
      seeds: 1
      metrics: [mapp, num_ret, map]
    """)
    assert places(GOOD + text, base=base) == [
        "$.compare.baseline[1] (line 7)", "$.compare.test (line 8)",
        "$.compare.correction (line 9)", "$.compare.family (line 10)", "$.compare.level (line 11)",
        "$.compare.draws (line 12)", "$.compare.seeds (line 13)", "$.compare.metrics[0] (line 14)",
        "$.compare.metrics[1] (line 14)",
    ]  # fmt: skip


def settings(base: Path, text: str) -> TableSettings:
    return config.loads(GOOD + text, "c.yaml", base).tables["main"]


def test_every_key_of_a_table(base: Path) -> None:
    text = textwrap.dedent("""\
    compare: {baseline: bm25}
    tables:
      main:
        metrics: [ndcg_cut_10, map]
        datasets: trec
        runs: [dense, "*"]
        groups: {Old: bm25, New: ["*"]}
        names: {bm25: {text: BM25, cite: robertson1994}, AP: MAP}
        sort: {trec: map}
        top: 5
        digits: {"*": 4, num_ret: 0}
        percent: [map]
        leading_zero: true
        spread: error
        delta: percent
        marks: daggers
        best: group
        arrows: false
        average: true
        extras: [n, tier, rank, coverage, p]
        transpose: true
        columns: 2
        width: page
        document_class: ieee
        cite: citep
        caption: All there is.
        caption_latex: All \\emph{there} is.
        label: tab:all
        formats: [html, csv, text]
    """)
    assert settings(base, text) == TableSettings(
        ("ndcg_cut_10", "map"), ("trec",), ("dense", "*"), {"Old": ("bm25",), "New": ("*",)},
        {"bm25": Name("BM25", "robertson1994"), "AP": Name("MAP")}, "trec: map", 5,
        {"*": 4, "num_ret": 0}, ("map",), True, "error", "percent", "daggers", "group", False, True,
        ("n", "tier", "rank", "coverage", "p"), True, 2, "page", "ieee", "citep",
        caption=Caption("All there is."), caption_latex=r"All \emph{there} is.",
        label="tab:all", formats=("html", "csv", "text"),
    )  # fmt: skip


def test_names_of_a_config_may_cite(base: Path) -> None:
    text = "names: {bm25: {text: BM25, cite: robertson1994}, map: {cite: b2005}, dense: Dense}\n"

    read = config.loads(GOOD + text, "c.yaml", base)
    assert read.titles == {"bm25": "BM25", "dense": "Dense"}
    assert read.names["map"] == Name(cite="b2005")
    wrong = "names: {trec: {text: TREC, cite: t1}, bm52: {cite: r}}\n"
    assert places(GOOD + wrong, base=base) == ["$.names.trec (line 6)", "$.names.bm52 (line 6)"]


def test_every_problem_of_a_table_at_once(base: Path) -> None:
    text = textwrap.dedent("""\
    tables:
      a/b: {}
      main:
        metrics: [map, ndgc@10]
        datasets: [terc]
        runs: [bm52]
        groups: {Old: [bm25], New: [bm25, "x*"]}
        names: {dens: Dense}
        sort: mapp
        digits: {ndcg: 2}
        percent: [num]
        marks: letters
        extras: [tier]
      apart: {delta: percent, longtable: true, width: page, names: {trec: {text: T, cite: t}}}
    """)
    assert places(GOOD + text, base=base) == [
        "$.tables['a/b'] (line 7)", "$.tables.main.metrics[1] (line 9)",
        "$.tables.main.datasets[0] (line 10)", "$.tables.main.runs[0] (line 11)",
        "$.tables.main.groups.New[1] (line 12)", "$.tables.main.groups.New[0] (line 12)",
        "$.tables.main.names.dens (line 13)", "$.tables.main.sort (line 14)",
        "$.tables.main.digits.ndcg (line 15)", "$.tables.main.percent[0] (line 16)",
        "$.tables.main.marks (line 17)", "$.tables.main.extras[0] (line 18)",
        "$.tables.apart.names.trec (line 19)", "$.tables.apart.delta (line 19)",
        "$.tables.apart.longtable (line 19)",
    ]  # fmt: skip
