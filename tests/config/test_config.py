"""Configs: every problem at once, each with its path and line; overrides, plugins, schema."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.config import load as config
from harness.config import plugins
from harness.config.cells import missing
from harness.config.sweep import resolve
from harness.config.yaml_file import parse_yaml as parse
from harness.core.policy import Policy
from harness.errors import ConfigError, HarnessWarning

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))

KEYS = ", ".join(config.Config.model_fields)

GOOD = """\
datasets:
  trec: {path: qrels.txt}
runs:
  bm25: {path: runs/bm25.run}
metrics: [map, ndcg@10]
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few files, which is also the working folder."""
    (tmp_path / "runs").mkdir()
    for name in ("qrels.txt", "runs/bm25.run"):
        (tmp_path / name).write_text("x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(text: str, *overrides: str, where: str = "configs/robust.yaml") -> list[str]:
    """What is said of a config, without the heading."""
    with pytest.raises(ConfigError) as caught:
        config.loads(textwrap.dedent(text), where, overrides=overrides)
    head, *lines = str(caught.value).splitlines()
    n = len(caught.value.problems)
    assert head == f"{where}: {n} problem{'s' * (n > 1)}"
    return [line.removeprefix("  ") for line in lines]


def places(text: str, *overrides: str) -> list[str]:
    """Where each problem of a config is."""
    with pytest.raises(ConfigError) as caught:
        config.loads(textwrap.dedent(text), "configs/robust.yaml", overrides=overrides)
    return [problem.where for problem in caught.value.problems]


def test_every_problem_at_once(base: Path) -> None:
    (base / "broken.py").write_text("import os\n\nprint(undefined_name)\n")
    text = """\
    name: 7
    outptu: results
    datasets:
      trec: {path: qrels.txt, duplicates: lats, format: ranklib}
    runs:
      bm25: {path: runs/bm25.rnu}
      other: runs/bm25.run
      third:
        - {path: runs/bm25.run, format: trek}
        - {pth: runs/bm25.run}
      fourth: {path: runs/bm25.run, format: trec, columns: {qid: 1}}
      fifth: {path: runs/bm25.run, columns: {qd: topic, score: 1.5}}
    metrics:
      - map
      - ndgc@10
      - 5
      - rbo(p=2)
    plugins: [broken.py, mine.py, no.such.module]
    policy:
      ties: stabel
      depth: 0
      judged_only: "yes"
    reports: [pdf]
    """
    assert places(text, "polcy.ties=stable") == [
        "$.name (line 1)", "$.outptu (line 2)", "$.datasets.trec.duplicates (line 4)",
        "$.datasets.trec.format (line 4)", "$.runs.bm25.path (line 6)", "$.runs.other (line 7)",
        "$.runs.third[1].pth (line 10)", "$.runs.fourth.columns (line 11)",
        "$.runs.fifth.columns.qd (line 12)", "$.runs.fifth.columns.score (line 12)",
        "$.metrics[1] (line 15)", "$.metrics[2] (line 16)", "$.metrics[3] (line 17)",
        "$.plugins[0] (line 18)", "$.plugins[1] (line 18)", "$.plugins[2] (line 18)",
        "$.policy.ties (line 20)", "$.policy.depth (line 21)", "$.policy.judged_only (line 22)",
        "$.reports[0] (line 23)", "$.polcy (--set)",
    ]  # fmt: skip
    near = [line.partition("did you mean ")[2].partition("?")[0] for line in complaint(text)]
    assert [one for one in near if one] == [
        "'output'", "'last'", "'path'", "'qid'", "'ndcg@10'", "'stable'",
    ]  # fmt: skip


def test_the_example_of_the_design(base: Path) -> None:
    text = """\
    datasets:
      trec: {path: qrels.txt}

    runs:
      bm25: {path: runs/bm25.rnu}

    metrics:
      - map
      - ndgc@10
    """
    assert complaint(text) == [
        "$.runs.bm25.path (line 5)  no file runs/bm25.rnu; the folder holds bm25.run",
        "$.metrics[1] (line 9)      unknown metric 'ndgc@10'; did you mean 'ndcg@10'?"
        "  (all: harness metrics)",
    ]


@pytest.mark.usefixtures("base")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("# nothing\n", [""]),
        ("- a\n", ["line 1"]),
        ("name: a\x07\n", ["line 1, column 8"]),
        ("text\n", ["line 1"]),
        (GOOD.replace("bm25:", "{model}:"), ["$.runs (line 4)"]),
        (GOOD + "name: a\nname: b\n", ["$.name (line 7)"]),
        (GOOD.replace("map,", "&all [*all],"), ["$.metrics[0][0] (line 5)"]),
        (GOOD + "name: !!python/name:os.system x\n", ["$.name (line 6)"]),
        (GOOD + "policy: !!set {a}\n", ["$.policy (line 6)"]),
        (
            "metrics: map\ndatasets:\nruns: []\npolicy: 3\nplugins: x.py\nreports: []\n",
            ["$.metrics (line 1)", "$.datasets (line 2)", "$.runs (line 3)", "$.policy (line 4)",
             "$.plugins (line 5)"],
        ),
        (
            "metrics: []\ndatasets: {}\nruns: {a: []}\n",
            ["$.metrics (line 1)", "$.datasets (line 2)", "$.runs.a (line 3)"],
        ),
        ("name: x\n", ["$", "$", "$"]),  # without datasets, runs and metrics
        (GOOD.replace("ndcg@10", '"rbo(reference=bm26)"'), ["$.metrics[1] (line 5)"]),
        (GOOD + "similar: {test: wilcoxon}\n", ["$.similar (line 6)"]),
        (
            GOOD + "policy: {tie: stable, 'a b': 1}\n",
            ["$.policy.tie (line 6)", "$.policy['a b'] (line 6)"],
        ),
    ],
)  # fmt: skip
def test_every_problem_has_its_place(text: str, expected: list[str]) -> None:
    assert places(text) == expected


@given(st.text("abc:{}[]#&*!|>'\"%@`,-\n\t \\x0123?~", max_size=60))
def test_any_text_is_read_or_refused_with_a_config_error(text: str) -> None:
    try:
        data = parse(text, "x.yaml").data
    except ConfigError as error:
        data = {"said": str(error)}
    assert isinstance(data, dict)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=5)
        | st.floats(allow_nan=False),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("abc.{} ", min_size=1), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_plain_data_is_read_as_yaml_reads_it(value: object) -> None:
    text = yaml.safe_dump({"value": value}, allow_unicode=True)
    source = parse(text, "x.yaml")
    assert source.data == yaml.safe_load(text)
    assert source.problems == ()


def test_keys_are_text_as_written_and_values_may_be_shared() -> None:
    source = parse("1.50: &a {x: 1}\nno: {<<: *a, y: 2}\n", "x.yaml")
    assert source.data == {"1.50": {"x": 1}, "no": {"x": 1, "y": 2}}
    assert source.lines[("no", "x")] == 1
    assert source.lines[("no", "y")] == 2


@pytest.mark.usefixtures("base")
class TestOverrides:
    def test_values_are_read_as_yaml(self) -> None:
        loaded = config.loads(
            GOOD,
            overrides=[
                "policy.ties=stable", "metrics=[map, P@5]", "policy.depth=7", "$.name = mine",
                "metrics[1]=P@9", "runs.more={path: runs/bm25.run}",
            ],
        )  # fmt: skip
        assert loaded.policy.ties == "stable"
        assert loaded.policy.depth == 7
        assert loaded.metrics == ("map", "P@9")
        assert loaded.name == "mine"
        assert loaded.output == "results/mine"
        assert list(loaded.runs) == ["bm25", "more"]

    def test_names_with_dots_and_lists(self) -> None:
        text = GOOD.replace("bm25: {path: runs/bm25.run}", "bm25.v1: [{path: x}, {path: y}]")
        with pytest.raises(ConfigError) as caught:
            config.loads(text, overrides=["runs.bm25.v1[0].path=z", "runs.bm25.v1.1.path=runs"])
        assert [str(problem).partition(";")[0] for problem in caught.value.problems] == [
            "$.runs['bm25.v1'][0].path (--set): no file z",
            "$.runs['bm25.v1'][1].path (--set): runs is a folder, not a file",
        ]

    def test_a_metric_that_a_comma_cuts_in_two(self) -> None:
        assert complaint("name: n\n" + GOOD, "metrics=[map, ndcg@5,10,20]") == [
            f"$.metrics[{place}] (--set)  must be text, and is the number {number}"
            if not fix
            else f"  fix:   put '{fix}' in quotes: outside of them the comma begins another entry"
            for place, number, whole in ((2, 10, "ndcg@5,10"), (3, 20, "ndcg@5,10,20"))
            for fix in ("", whole)
        ]
        *_, fix = complaint("name: n\n" + GOOD, "metrics=[map, 10]")
        assert fix == "  fix:   put it in quotes"

    def test_no_cache_is_none(self) -> None:
        assert complaint("name: n\n" + GOOD, "cache=no") == [
            "$.cache (--set)  must be text, and is false",
            "  fix:   'cache: none' keeps nothing",
        ]

    @pytest.mark.parametrize(
        ("override", "place"),
        [
            ("foo", None), ("=3", None), ("metrics=[map", None), ("name.x=1", None),
            ("metrics[9]=map", None), ("metrics.²=map", None), ("metrics.last=map", None),
            (f"metrics.{'9' * 5000}=map", None), ("runs.bm52.path=x", None),
            ("where.x=gbr?", "$.where.x (--set)"),
            ("policy.tie=stable", "$.policy.tie (--set)"),
            ("policy.depth=0", "$.policy.depth (--set)"),
            ("similar.test=wilcoxon", "$.similar (--set)"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_is_named(self, override: str, place: str | None) -> None:
        assert places("name: n\n" + GOOD, override) == [place or f"--set {override}"]


PLUGIN = """\
import numpy as np
from harness.core.metric import metric

@metric("{name}", direction="higher", bounds=(0, 1), source="a test")
def {name}(aligned):
    '''A constant.'''
    return np.full(aligned.n_queries, {value})
"""


class TestPlugins:
    def test_a_file_is_run_anew_each_time(self, base: Path) -> None:
        text = GOOD.replace("ndcg@10", "my_constant") + "plugins: [sub/mine.py]\n"
        (base / "sub").mkdir()
        for value in ("0.25", "0.5"):
            (base / "sub/mine.py").write_text(PLUGIN.format(name="my_constant", value=value))
            loaded = config.loads(text)
            assert [str(metric) for metric in loaded.parsed_metrics()] == ["map", "my_constant"]
        assert len([name for name in sys.modules if name.startswith("harness_plugin_")]) == 1

    def test_no_bytecode_is_written_or_taken_for_a_later_text(
        self, base: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "dont_write_bytecode", False)
        file = base / "mine.py"
        for name in ("my_a", "my_b"):  # of one size and second: Python's own cache takes it for one
            file.write_text(PLUGIN.format(name=name, value=1))
            os.utime(file, (1_700_000_000, 1_700_000_000))
            loaded = config.loads(GOOD.replace("ndcg@10", name) + "plugins: [mine.py]\n")
            assert str(loaded.parsed_metrics()[1]) == name
        assert not (base / "__pycache__").exists()

    def test_files_of_one_name_are_two_modules(self, base: Path) -> None:
        for folder in ("a", "b"):
            (base / folder).mkdir()
            (base / folder / "mine.py").write_text(PLUGIN.format(name=f"my_{folder}", value=1))
        text = GOOD + "plugins: [a/mine.py, b/mine.py]\n"
        config.loads(text.replace("ndcg@10", "my_a, my_b"))
        assert len([name for name in sys.modules if name.startswith("harness_plugin_")]) == 2

    def test_an_installed_module(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (base / "harness_test_module.py").write_text(PLUGIN.format(name="my_module", value=1))
        monkeypatch.syspath_prepend(str(base))
        loaded = config.loads(
            GOOD.replace("ndcg@10", "my_module") + "plugins: [harness_test_module]\n"
        )
        assert str(loaded.parsed_metrics()[1]) == "my_module"
        del sys.modules["harness_test_module"]

    def test_what_fails_in_a_plugin(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.syspath_prepend(str(base))
        (base / "syntax.py").write_text("x = 1\ny = (\n")
        (base / "taken.py").write_text(
            "from harness.core.metric import metric\n"
            "metric('ndcg', direction=None, bounds=(0, 1), source='')(lambda aligned: None)\n"
        )
        (base / "lacks.py").write_text("\nimport not_installed_at_all\n")
        (base / "harness_test_lacks.py").write_text("\nimport not_installed_at_all\n")
        (base / "harness_test_fails.py").write_text("1 / 0\n")
        names = "syntax.py, taken.py, lacks.py, harness_test_lacks, harness_test_fails"
        assert complaint(GOOD + f"plugins: [{names}]\n") == [
            "$.plugins[0] (line 6)  syntax.py:2: SyntaxError: '(' was never closed",
            "$.plugins[1] (line 6)  taken.py:2: ValueError: there is a metric 'ndcg' already",
            "$.plugins[2] (line 6)  lacks.py:2: ModuleNotFoundError: "
            "No module named 'not_installed_at_all'",
            "$.plugins[3] (line 6)  module 'harness_test_lacks' cannot be imported: "
            "ModuleNotFoundError: No module named 'not_installed_at_all'",
            "$.plugins[4] (line 6)  module 'harness_test_fails' cannot be imported: "
            "ZeroDivisionError: division by zero",
        ]
        assert not [name for name in sys.modules if name.startswith("harness_plugin_")]

    def test_an_installed_plugin_is_loaded_where_it_is_named(
        self, base: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A package that is really there to importlib: a module, and its entry points."""
        (base / "harness_test_entry.py").write_text(PLUGIN.format(name="my_entry", value=1))
        for package, points in {
            "theirs": "mine = harness_test_entry\nbad = harness_test_no_module\nboth = a",
            "others": "both = b",
        }.items():
            info = base / f"{package}-1.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
            (info / "entry_points.txt").write_text(f"[{plugins.GROUP}]\n{points}\n")
        monkeypatch.syspath_prepend(str(base))
        config.loads(GOOD)
        assert "harness_test_entry" not in sys.modules
        text = GOOD.replace("ndcg@10", "my_entry")
        assert "my_entry" in complaint(text)[0]
        loaded = config.loads(text + "plugins: [mine]\n")
        assert str(loaded.parsed_metrics()[1]) == "my_entry"
        del sys.modules["harness_test_entry"]
        assert complaint(GOOD + "plugins: [bad, both, no_such]\n") == [
            "$.plugins[0] (line 6)  theirs: its entry point 'bad' fails: "
            "ModuleNotFoundError: No module named 'harness_test_no_module'",
            "$.plugins[1] (line 6)  'both' is a plugin of others and theirs; "
            "name its module: b or a",
            "$.plugins[2] (line 6)  no module 'no_such'; for a file write no_such.py",
        ]


def test_defaults_and_what_follows_from_them(base: Path) -> None:
    path = base / "runs" / "small.yaml"
    path.write_text(GOOD.replace("path: ", "path: ../"))
    loaded = config.load(path)
    assert (loaded.name, loaded.output, loaded.reports) == ("small", "results/small", ("csv",))
    assert loaded.base == base / "runs"
    assert loaded.output_folder == base / "runs/results/small"
    assert loaded.file == str(path)
    assert loaded.to_policy() == Policy()
    with pytest.raises(ValueError, match="frozen"):
        loaded.name = "other"


@pytest.mark.usefixtures("base")
def test_policy_and_relevance_level() -> None:
    text = GOOD.replace("ndcg@10", '"P(rel=1)@5", P@5, "rbo(reference=bm25)"') + (
        "policy: {ties: stable, missing_queries: skip, empty_queries: one, depth: 5, "
        "judged_only: true, relevance_level: 2}\n"
    )
    loaded = config.loads(text)
    assert loaded.to_policy() == Policy("stable", "skip", "one", 5, True)
    # a metric that compares to another run's order has no grades for the level to divide
    assert [str(metric) for metric in loaded.parsed_metrics()] == [
        "map(rel=2)", "P@5", "P(rel=2)@5", "rbo(p=0.9,reference=bm25)",
    ]  # fmt: skip


def test_a_config_that_cannot_be_read(base: Path) -> None:
    (base / "latin.yaml").write_bytes(b"name: K\xf6ln\n")
    (base / "big.yml").write_text("")
    written = "\n    fix:   give the name of a config; harness init writes one"
    for name, line in [
        (
            "smal.yaml",
            "no file smal.yaml; the folder holds latin.yaml, big.yml, qrels.txt, runs/" + written,
        ),
        (
            "zz.yaml",
            "no file zz.yaml; the folder holds big.yml, latin.yaml, qrels.txt, runs/" + written,
        ),
        ("nowhere/a.yaml", "no file nowhere/a.yaml; nowhere is no folder" + written),
        (
            "runs",
            "is a folder, not a config\n    fix:   harness init runs writes one for what it holds",
        ),
        (".", "is a folder, not a config\n    fix:   give a config in it: big.yml, latin.yaml"),
        ("latin.yaml", "byte 7 is not UTF-8\n    fix:   save it as UTF-8"),
    ]:
        with pytest.raises(ConfigError) as caught:
            config.load(name)
        assert str(caught.value) == f"{name}: 1 problem\n  {line}"


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-32"])
def test_a_config_of_two_or_four_bytes_a_character(base: Path, encoding: str) -> None:
    """It is told in the words for a data file."""
    (base / "wide.yaml").write_text(GOOD, encoding=encoding)
    (base / "upon.yaml").write_text("extends: wide.yaml\n")
    for name in ("wide.yaml", "upon.yaml"):
        with pytest.raises(ConfigError) as caught:
            config.load(name)
        assert f"the text is {encoding}\n    fix:   save it as UTF-8" in str(caught.value), name


def test_a_byte_order_mark_is_no_part_of_the_text(base: Path) -> None:
    (base / "bom.yaml").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert config.load("bom.yaml").metrics == ("map", "ndcg@10")


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configs(path: Path) -> None:
    loaded = config.load(path)
    cells = resolve(loaded)
    assert cells
    assert missing(cells) == []
    assert loaded.output_folder.resolve() == ROOT / "results" / path.stem
    assert all(Path(cell.run_entry.path).is_file() for cell in cells)
    again = config.loads(yaml.safe_dump(loaded.resolved(), sort_keys=False), str(path), path.parent)
    assert again == loaded
    assert resolve(again) == cells


def test_the_quickstart_is_small() -> None:
    cells = resolve(config.load(ROOT / "configs/quickstart.yaml"))
    assert [(cell.dataset, cell.run) for cell in cells] == [
        ("letor", "gbrt"), ("letor", "lambdamart"), ("letor", "linear-regression"),
        ("letor", "neural"), ("letor", "random"),
        ("trec", "bm25"), ("trec", "lsi"), ("trec", "query-likelihood"), ("trec", "random"),
        ("trec", "tfidf"),
    ]  # fmt: skip
    assert not any(cell.columns for cell in cells)


def test_the_sweep_is_a_whole_grid() -> None:
    cells = resolve(config.load(ROOT / "configs/sweep.yaml"))
    assert len(cells) == 5 * 2 * 2
    assert cells[0].columns == {"fold": "1", "seed": "1"}


def test_the_schema_for_editors_is_up_to_date() -> None:
    committed = json.loads((ROOT / "docs/config.schema.json").read_text(encoding="utf-8"))
    assert committed == config.json_schema(), "run: python -m docs.generate"


def test_the_schema_asks_for_what_loading_asks_for() -> None:
    schema = config.json_schema()
    assert schema["required"] == ["datasets", "runs", "metrics"]
    assert schema["additionalProperties"] is False
    assert ", ".join(schema["properties"]) == KEYS
    parts = [*schema["properties"].values()]
    parts += [p for part in schema["$defs"].values() for p in part["properties"].values()]
    assert all("description" in part or "$ref" in part for part in parts)


def test_a_problem_names_its_place(base: Path) -> None:
    loaded = config.loads(GOOD, "a.yaml", base, ["policy.ties=stable"])
    assert str(loaded.problem(("runs", "bm25", "path"), "x")) == "$.runs.bm25.path (line 4): x"
    assert str(loaded.problem(("runs", "bm25", "format"), "x")) == "$.runs.bm25.format (line 4): x"
    assert str(loaded.problem(("policy", "ties"), "x")) == "$.policy.ties (--set): x"
    assert str(loaded.problem((), "x")) == "$: x"


@pytest.mark.usefixtures("base")
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("../evil", "holds '/'"),
        ("a/b", "holds '/'"),
        ("..", "begins with a dot"),
        ("a\\b", "holds '\\'"),
        ("nul", "is reserved on Windows"),
        ("é" * 101, "has 202 bytes, and at most 200 fit"),
    ],
)
def test_a_name_is_one_folder(name: str, wrong: str) -> None:
    assert complaint(f"name: '{name}'\n" + GOOD.replace("name: small\n", "")) == [
        f"$.name (line 1)  must be the name of a folder, and {wrong}"
    ]


def test_options_of_several_formats(base: Path) -> None:
    text = """\
    datasets: {letor: {path: qrels.txt, group: qrels.txt, columns: {qid: 1}}}
    runs: {bm25: {path: runs/bm25.run, columns: {qid: 1}}}
    metrics: [map]
    """
    assert complaint(text) == [
        "$.datasets.letor (line 1)  no format has the options columns and group together"
    ]


def test_a_convention_for_all_metrics_overrules_a_policy(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("1 0 a 1\n")
    (tmp_path / "r.run").write_text("1 Q0 a 1 1 t\n")
    text = (
        "datasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}}\nmetrics: [ndcg@10]\n"
        "convention: lightgbm\npolicy: {ties: average, labels: clip}\n"
    )
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        config.load(tmp_path / "c.yaml")
    assert [str(problem) for problem in caught.value.problems] == [
        "$.policy.ties (line 5): convention lightgbm decides it for every metric, so that "
        "'average' would do nothing; leave it out, or write ndcg(convention=lightgbm,ties=...)"
    ]
    for ties in ("bounds", "trec_eval"):
        loaded = config.load(tmp_path / "c.yaml", overrides=[f"policy.ties={ties}"])
        assert str(loaded.parsed_metrics()[0]) == "ndcg(convention=lightgbm,labels=clip)@10"
        assert config.loads(json.dumps(loaded.resolved()), base=tmp_path) == loaded


def test_names_that_differ_in_normalisation_alone_are_told_apart(base: Path) -> None:
    text = """\
    datasets: {letor: {path: qrels.txt}}
    runs:
      "caf\u00e9": {path: runs/bm25.run}
      "cafe\u0301": {path: runs/bm25.run}
      cafe: {path: runs/bm25.run}
    metrics: [map]
    """
    said = (
        r"^runs 'caf\\xe9' and 'cafe\\u0301' look the same and are kept apart, as their names are "
        r"normalised otherwise \(NFC, NFD\); write them alike where they are one$"
    )
    with pytest.warns(HarnessWarning, match=said) as caught:
        loaded = config.loads(textwrap.dedent(text), base=base)
    assert len(caught) == 1
    assert [*loaded.runs] == ["caf\u00e9", "cafe\u0301", "cafe"]


@pytest.mark.parametrize("place", ["", "policy."])
def test_duplicates_are_of_an_entry(tmp_path: Path, place: str) -> None:
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n")
    text = "datasets: {d: {path: q}}\nruns: {a: {path: r}}\nmetrics: [map]\n"
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ConfigError) as error:
        config.load(tmp_path / "x.yaml", [f"{place}duplicates=last"])
    said = str(error.value)
    assert "unknown key 'duplicates'; it belongs to an entry of datasets or runs  (known: " in said
    assert "fix:   write it there: runs: {NAME: {path: ..., duplicates: last}}" in said
    config.load(tmp_path / "x.yaml", ["runs.a.duplicates=last"])
