"""The layers of a config: files that it extends, environment variables, sets of metrics."""

import json
import textwrap
from pathlib import Path

import pytest
from made_files import make
from refusals import refuses

from harness.config import load as config
from harness.config.cells import resolve
from harness.errors import ConfigError

BASE = """\
name: base
output: out/{name}
datasets:
  trec: {path: qrels.txt}
runs:
  bm25: {path: runs/bm25.run, format: trec}
  "{model}": {path: "runs/{model}.res"}
metrics: [map]
plugins: [mine.py]
policy: {ties: stable, depth: 5}
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base in ``shared`` with its files, and an empty folder ``mine`` next to it."""
    make(tmp_path, "shared/qrels.txt", "shared/runs/bm25.run", "shared/runs/a.res", "mine/b.res")
    (tmp_path / "shared/mine.py").write_text("")
    (tmp_path / "shared/base.yaml").write_text(BASE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> str:
    Path(name).write_text(textwrap.dedent(text))
    return name


def places(name: str, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.load(name, overrides)
    return [problem.where for problem in caught.value.problems]


@pytest.mark.usefixtures("base")
def test_mappings_are_merged_and_the_rest_is_replaced() -> None:
    write("mine/c.yaml", """\
        extends: ../shared/base.yaml
        metrics: [ndcg@10, P@5]
        policy: {depth: 10}
        runs:
          b: {path: b.res}
          bm25: {duplicates: first}
        """)  # fmt: skip
    loaded = config.load("mine/c.yaml", ["policy.judged_only=true"])
    assert loaded.metrics == ("ndcg@10", "P@5")
    assert (loaded.policy.ties, loaded.policy.depth, loaded.policy.judged_only) == (
        "stable",
        10,
        True,
    )
    assert list(loaded.runs) == ["bm25", "{model}", "b"]
    bm25 = loaded.runs["bm25"]
    assert not isinstance(bm25, tuple)
    assert (bm25.path, bm25.format, bm25.duplicates) == ("../shared/runs/bm25.run", "trec", "first")
    assert loaded.extends == "../shared/base.yaml"


def test_paths_start_in_their_file_and_the_name_is_its_own(base: Path) -> None:
    write("mine/c.yaml", "extends: ../shared/base.yaml\nruns: {b: {path: b.res}}\n")
    loaded = config.load("mine/c.yaml")
    assert [(cell.run, Path(cell.run_entry.path).resolve()) for cell in resolve(loaded)] == [
        ("bm25", base / "shared/runs/bm25.run"),
        ("a", base / "shared/runs/a.res"),
        ("b", base / "mine/b.res"),
    ]
    assert loaded.plugins == ("../shared/mine.py",)
    assert (loaded.name, loaded.base) == ("c", Path("mine"))
    assert loaded.output_folder.resolve() == base / "shared/out/c"


@pytest.mark.usefixtures("base")
def test_a_problem_names_its_file() -> None:
    write("deeper.yaml", "polcy: {}\nplugins: [no.py]\nmetrics: [mpa]\n")
    write(
        "shared/base.yaml",
        BASE.replace("bm25.run", "bm52.run").replace("depth: 5", "depth: 0")
        + "extends: ../deeper.yaml\n",
    )
    write(
        "mine/c.yaml",
        "extends: ../shared/base.yaml\ndatasets: {trec: {format: treck}}\nruns:\n  b: {}\n",
    )
    assert places("mine/c.yaml", "policy.ties=stabel") == [
        "$.datasets.trec.format (line 2)", "$.runs.b (line 4)", "$.polcy (../deeper.yaml, line 1)",
        "$.runs.bm25.path (../shared/base.yaml, line 6)",
        "$.policy.depth (../shared/base.yaml, line 10)", "--set policy.ties",
    ]  # fmt: skip


@pytest.mark.usefixtures("base")
def test_a_base_that_cannot_be_read() -> None:
    for name in ("../shared/bas.yaml", "../shared", "7"):
        write("mine/c.yaml", BASE.replace("name: base", f"extends: {name}"))
        assert places("mine/c.yaml")[0] == "$.extends (line 1)"
    write("shared/base.yaml", "runs: [\n")
    write("mine/c.yaml", "extends: ../shared/base.yaml\n")
    with refuses("line 2, column 1", error=ConfigError) as caught:
        config.load("mine/c.yaml")
    assert caught.value.where == "mine/../shared/base.yaml"
    write("shared/base.yaml", BASE.replace("depth: 5", "depth: 5, depth: 6"))
    assert places("mine/c.yaml") == ["$.policy.depth (../shared/base.yaml, line 10)"]


@pytest.mark.usefixtures("base")
def test_a_cycle_is_an_error_that_names_it() -> None:
    write("mine/a.yaml", "extends: b.yaml\n")
    write("mine/b.yaml", "name: b\nextends: ../mine/c.yaml\n")
    write("mine/c.yaml", "extends: b.yaml\n")
    with pytest.raises(ConfigError, match=r"b.yaml -> ../mine/c.yaml -> ../mine/b.yaml") as caught:
        config.load("mine/a.yaml")
    assert [one.where for one in caught.value.problems] == ["$.extends (../mine/c.yaml, line 1)"]
    write("mine/a.yaml", "extends: ./a.yaml\n")
    assert places("mine/a.yaml") == ["$.extends (line 1)"]


VARIABLES = """\
datasets:
  trec: {path: "${HARNESS_TEST_DATA}/qrels.txt"}
runs:
  "{model}": {path: "${HARNESS_TEST_RUNS:-runs}/{model}.run"}
metrics: [map]
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make(tmp_path, "data {1}/qrels.txt", "runs/a.run", "other/b.run", "$HOME/c.run")
    monkeypatch.setenv("HARNESS_TEST_DATA", str(tmp_path / "data {1}"))
    monkeypatch.delenv("HARNESS_TEST_RUNS", raising=False)
    return tmp_path


def runs(data: Path, text: str, *overrides: str) -> list[str]:
    loaded = config.loads(text, "c.yaml", data, overrides)
    assert config.loads(json.dumps(loaded.resolved()), "c.yaml", data) == loaded
    return [Path(cell.run_entry.path).relative_to(data).as_posix() for cell in resolve(loaded)]


def test_a_value_a_default_and_a_dollar_sign(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs(data, VARIABLES) == ["runs/a.run"]
    monkeypatch.setenv("HARNESS_TEST_RUNS", "")
    assert runs(data, VARIABLES) == ["runs/a.run"]
    monkeypatch.setenv("HARNESS_TEST_RUNS", "other")
    assert runs(data, VARIABLES) == ["other/b.run"]
    assert runs(data, VARIABLES, 'runs={"{m}": {path: "$$HOME/{m}.run"}}') == ["$HOME/c.run"]
    assert runs(data, VARIABLES, 'runs={"{m}": {path: "$HOME/{m}.run"}}') == ["$HOME/c.run"]
    nested = 'runs={"{m}": {path: "${HARNESS_TEST_NOT_SET:-{folder}}/{m}.run"}}'
    assert sorted(runs(data, VARIABLES, nested)) == ["$HOME/c.run", "other/b.run", "runs/a.run"]


def test_variables_that_are_not_set(data: Path) -> None:
    text = VARIABLES.replace("HARNESS_TEST_DATA", "HARNESS_TEST_DAT").replace(":-runs", ":runs")
    with pytest.raises(ConfigError) as caught:
        config.loads(text, "c.yaml", data, ["output=${HARNESS_TEST_X}"])
    assert [problem.where for problem in caught.value.problems] == [
        "$.datasets.trec.path (line 2)", "$.runs.{model}.path (line 4)", "--set output",
    ]  # fmt: skip
