"""Files for patterns to find, and a config with its problems."""

import textwrap
from pathlib import Path

import pytest

from harness.config import load as config
from harness.errors import ConfigError

GOOD = """\
datasets:
  trec: {path: qrels.txt}
runs:
  bm25: {path: runs/bm25.run}
metrics: [map, ndcg@10]
"""


def make(base: Path, *names: str) -> None:
    """Write files of one letter, with the folders that they are in."""
    for name in names:
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text("x")


def places(text: str, *overrides: str, base: Path | str = "") -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.loads(textwrap.dedent(text), "c.yaml", base, overrides)
    return [problem.where for problem in caught.value.problems]


def complaint(text: str, *overrides: str, where: str = "configs/robust.yaml") -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.loads(textwrap.dedent(text), where, overrides=overrides)
    head, *lines = str(caught.value).splitlines()
    n, place = len(caught.value.problems), caught.value.problems[0].where
    if n == 1:
        assert head.startswith(f"{where}: {place}: ")
        return [head.replace(f"{where}: {place}: ", f"{place}  ", 1), *lines]
    assert head == f"{where}: {n} problem{'s' * (n > 1)}"
    return [line.removeprefix("  ") for line in lines]
