"""Configs: every problem at once, with its path and line; overrides, defaults and short forms."""

import re
from pathlib import Path

import pytest
from made_files import GOOD, complaint, places
from refusals import refuses

import harness
from harness.config import load as config
from harness.config.load import loads
from harness.core.policy import Policy
from harness.errors import ConfigError


def test_every_problem_at_once(base: Path) -> None:
    (base / "broken.py").write_text("import os\n\nprint(undefined_name)\n")
    text = """\
    name: 7
    outptu: results
    datasets:
      trec: {path: qrels.txt, duplicates: lats, format: ranklib}
    runs:
      bm25: {path: runs/bm25.rnu}
      other: 7
      third:
        - {path: runs/bm25.run, format: trek}
        - {pth: runs/bm25.run}
      fourth: {path: runs/bm25.run, format: trec, columns: {qid: 1}}
      fifth: {path: runs/bm25.run, columns: {qd: topic, score: 1.5}}
    metrics:
      - map
      - ndgc@10
      - 5.5
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
        "$.reports[0] (line 23)", "--set polcy",
    ]  # fmt: skip
    near = re.findall(r"fix: +use (.+)", "\n".join(complaint(text)))
    assert near == [
        "output", "last", "path", "qid", "ndcg@10", "stable",
    ]  # fmt: skip


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
            "metrics: 7\ndatasets:\nruns: []\npolicy: 3\nplugins: x.py\nreports: []\n",
            ["$.metrics (line 1)", "$.datasets (line 2)", "$.runs (line 3)", "$.policy (line 4)",
             "$.plugins (line 5)"],
        ),
        (
            "metrics: []\ndatasets: {}\nruns: {a: []}\n",
            ["$.metrics (line 1)", "$.datasets (line 2)", "$.runs.a (line 3)"],
        ),
        ("name: x\n", ["", "", ""]),  # without datasets, runs and metrics
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

    @pytest.mark.parametrize(
        ("path", "key"),
        [
            ("names.bm25=BM25", "bm25"), ("names.lr=0.1=Fast", "lr=0.1"),
            ("names.lr=0.1=Fast (x=2)", "lr=0.1"), ("names.map(rel=2)=MAP", "map(rel=2)"),
            ("runs.lr=0.1.format=trec", "lr=0.1"),
        ],
    )  # fmt: skip
    def test_names_with_a_sign(self, path: str, key: str) -> None:
        metrics = "metrics=[map, map(rel=2)]"
        more = "runs={bm25: runs/bm25.run, lr=0.1: {path: runs/bm25.run}}"
        loaded = config.loads(GOOD, overrides=[metrics, more, path])
        assert key in (loaded.names or loaded.runs)

    def test_a_bound_that_is_not_known_at_the_depth_is_refused(self) -> None:
        metrics = "metrics=[map_min, arp_max]"
        config.loads(GOOD, overrides=[metrics])
        with refuses("--set metrics[1]", error=ConfigError):
            config.loads(GOOD, overrides=[metrics, "policy.depth=7"])

    @pytest.mark.parametrize(
        ("override", "place"),
        [
            ("foo", None), ("=3", None), ("metrics=[map", None), ("name.x=1", None),
            ("metrics[9]=map", None), ("metrics.²=map", None), ("metrics.last=map", None),
            (f"metrics.{'9' * 5000}=map", None), ("runs.bm52.path=x", None),
            ("where.x=gbr?", "--set where.x"),
            ("policy.tie=stable", "--set policy.tie"),
            ("policy.depth=0", "--set policy.depth"),
            ("similar.test=wilcoxon", "--set similar"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_is_named(self, override: str, place: str | None) -> None:
        assert places("name: n\n" + GOOD, override) == [place or f"--set {override}"]


def test_defaults_and_what_follows_from_them(base: Path) -> None:
    path = base / "runs" / "small.yaml"
    path.write_text(GOOD.replace("path: ", "path: ../"))
    loaded = config.load(path)
    assert (loaded.name, loaded.output, loaded.reports) == ("small", "results/small", ("csv",))
    assert loaded.base == base / "runs"
    assert loaded.output_folder == base / "runs/results/small"
    assert loaded.file == str(path)
    assert loaded.policy.for_runs() == Policy()
    with pytest.raises(ValueError, match="frozen"):
        loaded.name = "other"


def test_a_config_that_cannot_be_read(base: Path) -> None:
    (base / "latin.yaml").write_bytes(b"name: K\xf6ln\n")
    for name, what in [
        ("lation.yaml", "no file lation.yaml; the folder contains latin.yaml, "),
        ("nowhere/a.yaml", "no file nowhere/a.yaml; nowhere is not a folder"),
        ("runs", "runs is a folder, not a file; it contains bm25.run"),
        ("latin.yaml", "latin.yaml: byte 7 is not UTF-8"),
    ]:
        with pytest.raises(ConfigError) as caught:
            config.load(name)
        assert str(caught.value).startswith(what)


@pytest.mark.usefixtures("base")
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("../evil", "contains '/'"),
        ("é" * 101, "has 202 bytes, and at most 200 fit"),
    ],
)
def test_a_name_is_one_folder(name: str, wrong: str) -> None:
    assert complaint(f"name: '{name}'\n" + GOOD.replace("name: small\n", "")) == [
        f"$.name (line 1)  expected the name of a folder, got one that {wrong}"
    ]


LONG = """
datasets: {mq: {path: mq.txt}}
runs: {a: {path: a.txt}, b: {path: b.txt}}
metrics: ["ndcg@1,2"]
compare: {baseline: a, metrics: [ndcg@1, ndcg@2]}
"""
SHORT = """
datasets: {mq: mq.txt}
runs: {a: a.txt, b: "${HARNESS_TEST_RUN:-b}.txt"}
metrics: ndcg@1,2
compare: {baseline: a, metrics: "ndcg@1,2"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mq.txt").write_text("2 qid:1 1:0\n0 qid:1 1:1\n1 qid:2 1:2\n0 qid:2 1:0\n")
    (tmp_path / "a.txt").write_text("0.5\n0.25\n1\n2\n")
    (tmp_path / "b.txt").write_text("0.25\n0.5\n1\n2\n")
    return tmp_path


def test_short_forms_mean_the_long_ones(folder: Path) -> None:
    long, short = (loads(text, "c.yaml", folder) for text in (LONG, SHORT))
    assert short.resolved()["datasets"] == long.resolved()["datasets"]
    assert short.resolved()["runs"] == long.resolved()["runs"]
    results = []
    for name, text in (("long", LONG), ("short", SHORT)):
        (folder / f"{name}.yaml").write_text(text)
        results.append(harness.run(folder / f"{name}.yaml").comparisons.rows)
    assert len(results[0]) == len(results[1]) == 2


@pytest.mark.parametrize("name", ["path", "format"])
def test_a_key_is_no_name(folder: Path, name: str) -> None:
    text = SHORT.replace("{mq: mq.txt}", f"{{{name}: mq.txt}}")
    assert places(text, base=folder)[0].startswith(f"$.datasets.{name}")


@pytest.mark.parametrize(
    "text",
    [
        "metrics: [map, ndcg@1,2, P.5,10]",
        "metrics: map, ndcg@1,2, P.5,10",
        "metrics:\n  - map, ndcg@1,2\n  - P.5,10",
        "metrics: map, ndcg@1,2, P@5, P@10\ncompare: {metrics: [map, ndcg@1,2, P@5,10]}",
    ],
)
def test_commas_separate_metrics_and_their_cutoffs(folder: Path, text: str) -> None:
    every = f"datasets: {{mq: mq.txt}}\nruns: {{a: a.txt, b: b.txt}}\n{text}\n"
    config = loads(every, "c.yaml", folder)
    names = ["map", "ndcg@1", "ndcg@2", "P@5", "P@10"]
    assert [str(metric) for metric in config.parsed_metrics()] == names
    if config.compare is not None:
        assert list(config.compare.metrics or ()) == ["map", "ndcg@1,2", "P@5,10"]


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("metric: [map]", "use metrics"),
        ("ties: stable", "write it below 'policy:'"),
        ("correction: bh", "write it below 'compare:'"),
    ],
)
def test_a_key_in_a_wrong_place(folder: Path, line: str, fix: str) -> None:
    with pytest.raises(ConfigError) as error:
        config.loads(f"metrics: [map]\n{line}\n", "c.yaml", folder)
    assert fix in [problem.fix for problem in error.value.problems]
