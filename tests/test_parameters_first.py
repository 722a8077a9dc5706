"""Wrong parameters of metrics and comparisons are refused before any dataset or run is opened."""

from pathlib import Path
from typing import Any

import pytest
from command_line import refused
from test_names import MISTAKES

import harness
from harness import readers
from harness.errors import ConfigError
from harness.experiment import run as experiment

TOGETHER = [
    "rbo(k=3)", "rbo(p=0.9,k=100,reference=other)", "rbo(form=min,k=1)", "rbo(reference=unheard)",
    "map(rel=3,top=2)", "recip_rank(above=2,top=1)", "ndcg(short=error,depth=3)@10",
    "rbo(form=truncated,k=2,k=3)", "rbo(p=1)", "rbo(p=nan)", "pairwise_logloss(alpha=0)",
    "set_F(beta=inf)", "swaps(normalize=each)", "binG.1=3",
]  # fmt: skip
"""Parameters that are out of range, or do not go together."""


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


def test_a_dry_run_and_a_run_refuse_each_wrong_name(files: Path) -> None:
    in_lists = {"", "map,ndcg@5,10", "ndcg.1=3,2"}  # a comma parts metrics in a config
    names = [*({*MISTAKES} - in_lists), *TOGETHER]
    path = config_of(files, names)
    for call in (experiment.plan, harness.run):
        with pytest.raises(ConfigError) as caught:
            call(path)
        places = {problem.where.partition(" ")[0] for problem in caught.value.problems}
        assert [n for at, n in enumerate(names) if f"$.metrics[{at}]" not in places] == []


COMMANDS: list[tuple[tuple[str, ...], str]] = [
    (("evaluate", "qrels.txt", "mine.run", "-m", "rbo(k=3)"), "form=truncated"),
    (("evaluate", "qrels.txt", "mine.run", "-m", "rbo(reference=unheard)"), "no such run"),
    (("evaluate", "qrels.txt", "mine.run", "gone.run", "-m", "map"), "gone.run"),
    (("evaluate", "qrels.txt", "mine.run", "-m", "map", "--run-format", "x"), "unknown format 'x'"),
    (("evaluate", "qrels.txt", "mine.run", "-m", "map", "--ties", "x"), "unknown ties policy 'x'"),
    (("run", "configs/quickstrat.yaml"), "no file configs/quickstrat.yaml"),
    (("metrics", "ndgc"), "use ndcg\n"),
    (("compare", "mine.run", "other.run", "--qrels", "qrels.txt", "-m", "P@0"), "P@0"),
    (("compare", "mine.run", "other.run", "--qrels", "qrels.txt", "-m", "map", "--level", "3"),
     "level"),
    (("compare", "mine.run", "other.run", "--qrels", "qrels.txt", "-m", "map", "-b", "unheard"),
     "unheard"),
    (("compare", "mine.run", "other.run", "--qrels", "qrels.txt", "-m", "map", "--test", "x"),
     "unknown test 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "said"), COMMANDS)
def test_commands_refuse_before_they_read(files: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words, cwd=files)
