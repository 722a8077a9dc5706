"""`tables:` in a config: what is wrong with it is said before any data are read."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from harness import config
from harness.errors import ConfigError
from harness.tables.settings import Settings

GOOD = """\
datasets:
  trec: {path: qrels.txt}
runs:
  "{run}": {path: "{run}.run"}
metrics: [map, ndcg@10, num_ret]
"""

NONE = "no metric matches 'a*'  (there are: map, ndcg@10, num_ret)"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder with judgements and two runs."""
    for name in ("qrels.txt", "bm25.run", "dense.run"):
        (tmp_path / name).write_text("x")
    return tmp_path


def settings(base: Path, text: str) -> Settings:
    return config.loads(GOOD + text, "c.yaml", base).tables["main"].to_core()


def complaints(base: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.loads(GOOD + text, "c.yaml", base)
    return [str(problem) for problem in caught.value.problems]


def test_defaults(base: Path) -> None:
    assert settings(base, "tables: {main: {}}\n") == Settings()
    table = config.loads(GOOD + "tables: {main: {}}\n", "c.yaml", base).tables["main"]
    assert table.formats == ("latex", "markdown")


def test_every_key(base: Path) -> None:
    text = textwrap.dedent("""\
    compare: {}
    tables:
      main:
        metrics: [ndcg_cut_10, map]
        datasets: trec
        runs: [dense, "*"]
        groups: {Old: bm25, New: ["*"]}
        names: {bm25: BM25, AP: MAP}
        sort: {trec: map}
        digits: {"*": 4, num_ret: 0}
        percent: [map]
        leading_zero: true
        spread: interval
        marks: daggers
        average: true
        extras: [n, tier, rank, coverage]
        siunitx: true
        width: page
        caption: All there is.
        caption_latex: All \\emph{there} is.
        label: tab:all
        formats: [html, csv, text]
    """)
    assert settings(base, text) == Settings(
        ("ndcg_cut_10", "map"), ("trec",), ("dense", "*"), {"Old": ("bm25",), "New": ("*",)},
        {"bm25": "BM25", "AP": "MAP"}, "trec: map", {"*": 4, "num_ret": 0}, ("map",), True,
        "interval", "daggers", True, ("n", "tier", "rank", "coverage"), True, "page",
        "All there is.", r"All \emph{there} is.", "tab:all",
    )  # fmt: skip


def test_one_value_stands_for_all_metrics(base: Path) -> None:
    found = settings(base, "tables: {main: {digits: 2, percent: true}}\n")
    assert (found.digits, found.percent) == ({"*": 2}, ("*",))
    assert settings(base, "tables: {main: {percent: false}}\n").percent == ()


def test_a_config_read_back_has_the_same_tables(base: Path) -> None:
    text = "tables: {main: {digits: 2, percent: map, sort: 'trec: map', runs: [bm25]}}\n"
    loaded = config.loads(GOOD + text, "c.yaml", base)
    again = config.Config.model_validate(loaded.resolved())
    assert again.tables == loaded.tables


def test_every_problem_at_once(base: Path) -> None:
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
    """)
    assert complaints(base, text) == [
        "$.tables['a/b'] (line 7): must be the name of a file, and holds '/'",
        "$.tables.main.metrics[1] (line 9): there is no metric 'ndgc@10'; did you mean 'ndcg@10'?"
        "  (there are: map, ndcg@10, num_ret)",
        "$.tables.main.datasets[0] (line 10): there is no dataset 'terc'; did you mean 'trec'?"
        "  (there are: trec)",
        "$.tables.main.runs[0] (line 11): there is no run 'bm52'; did you mean 'bm25'?"
        "  (there are: bm25, dense)",
        "$.tables.main.groups.New[1] (line 12): no run matches 'x*'  (there are: bm25, dense)",
        "$.tables.main.groups.New[0] (line 12): run 'bm25' stands in the group 'Old' already",
        "$.tables.main.names.dens (line 13): there is no run, dataset or metric 'dens'; "
        "did you mean 'dense'?",
        "$.tables.main.sort (line 14): must be a metric, or 'dataset: metric', and is 'mapp'; "
        "did you mean 'map'?  (metrics: map, ndcg@10, num_ret; datasets: trec)",
        "$.tables.main.digits.ndcg (line 15): there is no metric 'ndcg'; did you mean 'ndcg@10'?"
        "  (there are: map, ndcg@10, num_ret)",
        "$.tables.main.percent[0] (line 16): there is no metric 'num'; did you mean 'num_ret'?"
        "  (there are: map, ndcg@10, num_ret)",
        "$.tables.main.marks (line 17): letters mark significance, and no runs are compared\n"
        "  fix:   add 'compare:' to the config",
        "$.tables.main.extras[0] (line 18): tier comes from comparisons, and no runs are compared\n"
        "  fix:   add 'compare:' to the config",
    ]


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("3", "", "must be a mapping such as {metrics: [map, ndcg@10]}, and is the number 3"),
        (
            "{metrics: 3}",
            ".metrics",
            "must be a list such as [name, pattern*], and is the number 3",
        ),
        ("{runs: 3}", ".runs", "must be a list such as [name, pattern*], and is the number 3"),
        ("{metrics: []}", ".metrics", "is empty; there must be at least one entry"),
        (
            "{digits: two}",
            ".digits",
            "must be a mapping such as {\"P@5\": 2}, and is the text 'two'",
        ),
        ("{digits: 18}", ".digits['*']", "must be at most 17, and is 18"),
        ("{digits: {map: -1}}", ".digits.map", "must be at least 0, and is -1"),
        ("{siunitx: 1}", ".siunitx", "must be true or false, and is the number 1"),
        ("{sort: 3}", ".sort", "must be text, and is the number 3\n  fix:   put it in quotes"),
        (
            "{groups: 3}",
            ".groups",
            "must be a mapping such as {Neural: [dense, colbert]}, and is the number 3",
        ),
        (
            "{spread: sd}",
            ".spread",
            "must be one of none, deviation, interval, and is 'sd'",
        ),
        (
            "{formats: [latx]}",
            ".formats[0]",
            "must be one of latex, markdown, html, csv, text, and is 'latx'; did you mean 'latex'?",
        ),
    ],
)
def test_wrong_values(base: Path, text: str, where: str, said: str) -> None:
    (found,) = complaints(base, f"tables: {{main: {text}}}\n")
    assert found == f"$.tables.main{where} (line 6): {said}"


def test_two_columns_of_one_name(base: Path) -> None:
    text = "tables: {main: {names: {AP: MAP, ndcg_cut_10: MAP}}}\n"
    assert complaints(base, text) == [
        "$.tables.main.names.ndcg_cut_10 (line 6): map and ndcg@10 are both called 'MAP'\n"
        "  fix:   give each a name of its own there"
    ]


def test_unknown_key(base: Path) -> None:
    (found,) = complaints(base, "tables: {main: {metric: [map]}}\n")
    assert found.startswith(
        "$.tables.main.metric (line 6): unknown key 'metric'; did you mean 'metrics'?  (known: "
        "metrics, datasets, runs, groups, names, sort, digits,"
    )


def test_a_misspelt_key_is_one_problem(base: Path) -> None:
    """The metrics that tables name are not called unknown where their list could not be read."""
    text = GOOD.replace("metrics:", "metrcs:") + "tables: {main: {digits: {map: 2, 'nd*': 3}}}\n"
    with pytest.raises(ConfigError) as caught:
        config.loads(text, "c.yaml", base)
    (one,) = caught.value.problems
    assert one.what.startswith("unknown key 'metrcs'; did you mean 'metrics'?")
