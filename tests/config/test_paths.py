"""Environment variables in the paths of a config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import load as config
from harness.config.patterns import escape, expand
from harness.config.sweep import resolve
from harness.config.yaml_file import Source
from harness.errors import ConfigError

TEXT = """\
datasets:
  trec: {path: "${HARNESS_TEST_DATA}/qrels.txt"}
runs:
  "{model}": {path: "${HARNESS_TEST_RUNS:-runs}/{model}.run"}
metrics: [map]
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("data {1}/qrels.txt", "runs/a.run", "other/b.run", "$HOME/c.run"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    monkeypatch.setenv("HARNESS_TEST_DATA", str(tmp_path / "data {1}"))
    monkeypatch.delenv("HARNESS_TEST_RUNS", raising=False)
    return tmp_path


def runs(base: Path, text: str, *overrides: str) -> list[str]:
    loaded = config.loads(text, "c.yaml", base, overrides)
    assert config.loads(json.dumps(loaded.resolved()), "c.yaml", base) == loaded
    return [Path(cell.run_entry.path).relative_to(base).as_posix() for cell in resolve(loaded)]


def complaint(base: Path, text: str, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.loads(text, "c.yaml", base, overrides)
    return [line.removeprefix("  ") for line in str(caught.value).splitlines()[1:]]


def test_a_value_a_default_and_a_dollar_sign(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs(base, TEXT) == ["runs/a.run"]
    monkeypatch.setenv("HARNESS_TEST_RUNS", "")
    assert runs(base, TEXT) == ["runs/a.run"]
    monkeypatch.setenv("HARNESS_TEST_RUNS", "other")
    assert runs(base, TEXT) == ["other/b.run"]
    assert runs(base, TEXT, 'runs={"{m}": {path: "$$HOME/{m}.run"}}') == ["$HOME/c.run"]
    assert runs(base, TEXT, 'runs={"{m}": {path: "$HOME/{m}.run"}}') == ["$HOME/c.run"]
    nested = 'runs={"{m}": {path: "${HARNESS_TEST_NOT_SET:-{folder}}/{m}.run"}}'
    assert sorted(runs(base, TEXT, nested)) == ["$HOME/c.run", "other/b.run", "runs/a.run"]


def test_every_path_and_nothing_else(base: Path) -> None:
    (base / "data {1}/mine.py").write_text("")
    text = TEXT + (
        "output: ${HARNESS_TEST_DATA}/{name}\nplugins: ['${HARNESS_TEST_DATA}/mine.py']\n"
        "name: ${HARNESS_TEST_DATA}\n"
    )
    loaded = config.loads(text, "c.yaml", base)
    assert loaded.name == "${HARNESS_TEST_DATA}"
    assert loaded.output_folder == base / "data {1}/${HARNESS_TEST_DATA}"
    assert loaded.plugins == (str(base / "data {1}/mine.py"),)


def test_what_is_wrong_is_said(base: Path) -> None:
    text = TEXT.replace("HARNESS_TEST_DATA", "HARNESS_TEST_DAT").replace(":-runs", ":runs")
    assert complaint(base, text, "output=${HARNESS_TEST_X}") == [
        "$.datasets.trec.path (line 2)  the environment variable HARNESS_TEST_DAT is not set",
        "  fix:   set it, or give a default: ${HARNESS_TEST_DAT:-../data}",
        "$.runs.{model}.path (line 4)   '${HARNESS_TEST_RUNS:runs}' is no environment variable in "
        "'${HARNESS_TEST_RUNS:runs}/{model}.run'",
        "  fix:   write ${NAME} or ${NAME:-default}; $$ is a dollar sign",
        "$.output (--set)               the environment variable HARNESS_TEST_X is not set",
        "  fix:   set it, or give a default: ${HARNESS_TEST_X:-../data}",
    ]
    assert complaint(base, TEXT, "runs.{model}.path=${A")[0].endswith(
        "'${' is no environment variable in '${A'"
    )


def test_an_empty_variable_is_no_folder(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_TEST_DATA", "")
    assert complaint(base, TEXT)[0].endswith("the environment variable HARNESS_TEST_DATA is empty")


def test_variables_of_a_base_are_absolute_from_everywhere(base: Path) -> None:
    (base / "sub").mkdir()
    (base / "base.yaml").write_text(TEXT)
    (base / "sub/c.yaml").write_text("extends: ../base.yaml\n")
    loaded = config.load(base / "sub/c.yaml")
    assert loaded.datasets["trec"].path == str(base / "data {{1}}/qrels.txt")
    assert [Path(cell.run_entry.path) for cell in resolve(loaded)] == [base / "runs/a.run"]


@given(st.text(alphabet="$ {}:-aN"))
def test_what_is_escaped_is_itself_again(text: str) -> None:
    data = {"datasets": {"d": {"path": text}}}
    escape(data)
    assert expand(Source("c", data)).data == {"datasets": {"d": {"path": text}}}
