"""Wrong parameters of metrics and comparisons are refused before any dataset or run is opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import harness
from harness import readers
from harness.cli.main import app
from harness.core.metric import REGISTRY, Definition
from harness.core.settings import PARAMETERS, Parameter
from harness.errors import ConfigError, HarnessError
from harness.experiment import run as experiment

BUILT_IN = [name for name, one in REGISTRY.items() if one.function.__module__[:8] == "harness."]


def wrong_values(parameter: Parameter) -> list[str]:
    """Values that are of another type, out of range, or none of the choices."""
    if parameter.name == "reference":
        return ["unheard", "''"]
    found = ["nonesuch", "", "1.5.2", "[1]"]
    if parameter.choices:
        return [*found, "0"]
    if parameter.type is bool:
        return [*found, "1"]
    if parameter.pairs:
        return [*found, "-1:3", "1:x", "99999999999:1"]
    if parameter.many:
        return [*found, "0:x"] + ["1:2"] * (parameter.length is not None)
    if parameter.type in (int, float):
        found += ["nan", "inf", "1e400"]
        found += ["0.5"] * (parameter.type is int)
        limits = parameter.range
        if limits is not None and limits.low is not None:
            found.append(f"{limits.low - 1:g}")
            found += [f"{limits.low:g}"] * limits.open
        if limits is not None and limits.high is not None:
            found.append(f"{limits.high * 2 + 1:g}")
        found += ["9999999999"] * (parameter.type is int)
    return found


def wrong_names(definition: Definition) -> Iterator[str]:
    """Names of a metric with one thing that is wrong."""
    name = definition.name
    yield f"{name}(nonesuch=1)"
    for parameter in definition.parameters.values():
        if parameter.name == "cutoff":
            for value in wrong_values(parameter):
                yield f"{name}@{value}"
        else:
            at = "@5" if definition.needs_cutoff and parameter.type is not float else ""
            for value in wrong_values(parameter):
                yield f"{name}({parameter.name}={value}){at}"
    if definition.cutoff is None:
        yield f"{name}@5"
    for setting in PARAMETERS.values():
        yield f"{name}({setting.name}=nonesuch)"


TOGETHER = [
    "rbo(k=3)", "rbo(p=0.9,k=100,reference=other)", "rbo(form=min,k=1)", "map(rel=2,above=1)",
    "map(rel=3,top=2)", "P(above=3,top=3)@5", "recip_rank(above=2,top=1)",
    "ndcg(short=error,depth=3)@10", "ndcg(scores=none,ties=average)@10", "ndcg(labels=clip)",
    "ndcg(few=zero)", "rbo(form=truncated,k=2,k=3)",
]  # fmt: skip
"""Parameters that are fine by themselves, and do not go together."""


def every_wrong_name() -> list[str]:
    single = [wrong for name in BUILT_IN for wrong in wrong_names(REGISTRY[name])]
    return list(dict.fromkeys([*single, *TOGETHER]))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with qrels and two runs; opening one of them fails the test."""
    for name in ("qrels.txt", "mine.run", "other.run"):
        (tmp_path / name).write_bytes(b"\x00")

    def opened(self: Any, path: Any) -> None:
        pytest.fail(f"{path} was opened")

    monkeypatch.setattr(readers.Source, "__init__", opened)
    return tmp_path


def config_of(folder: Path, metrics: list[str], more: str = "") -> Path:
    listed = "".join(f"  - '{name.replace(chr(39), chr(39) * 2)}'\n" for name in metrics)
    path = folder / "c.yaml"
    path.write_text(
        "datasets: {d10: {path: qrels.txt, format: trec}}\n"
        "runs: {mine: {path: mine.run}, other: {path: other.run}}\n"
        f"output: out\nmetrics:\n{listed}{more}",
        encoding="utf-8",
    )
    return path


def test_a_dry_run_and_a_run_refuse_each_wrong_name_of_the_registry(files: Path) -> None:
    names = every_wrong_name()
    assert len(names) > 1000
    for start in range(0, len(names), 500):
        some = names[start : start + 500]
        path = config_of(files, some)
        for call in (experiment.plan, harness.run):
            with pytest.raises(ConfigError) as caught:
                call(path)
            places = {problem.where.partition(" ")[0] for problem in caught.value.problems}
            passed = [n for at, n in enumerate(some) if f"$.metrics[{at}]" not in places]
            assert not passed


COMMANDS: list[tuple[tuple[str, ...], str]] = [
    (("evaluate", "qrels.txt", "mine.run", "-m", "rbo(k=3)"), "form=truncated"),
    (("evaluate", "qrels.txt", "mine.run", "-m", "rbo(reference=unheard)"), "no such run"),
    (("evaluate", "qrels.txt", "mine.run", "gone.run", "-m", "map"), "gone.run"),
    (("evaluate", "qrels.txt", "mine.run", "-m", "map", "--run-format", "x"), "unknown format 'x'"),
    (("compare", "mine.run", "other.run", "--qrels", "qrels.txt", "-m", "P@0"), "P@0"),
    (("compare", "mine.run", "other.run", "--qrels", "qrels.txt", "-m", "map", "--level", "3"),
     "level"),
    (("compare", "mine.run", "other.run", "--qrels", "qrels.txt", "-m", "map", "-b", "unheard"),
     "unheard"),
    (("compare", "mine.run", "other.run", "--qrels", "qrels.txt", "-m", "map", "--test", "x"),
     "unknown test 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "said"), COMMANDS)
def test_commands_refuse_before_they_read(
    files: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(files)
    done = CliRunner().invoke(app, list(words))
    assert isinstance(done.exception, HarnessError)
    assert said in str(done.exception)
