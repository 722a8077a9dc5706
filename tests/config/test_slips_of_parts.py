"""YAML that is valid and means something else: what was meant is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import config
from harness.errors import ConfigError

HEAD = "datasets: {d: {path: q}}\n"
RUNS = "runs: {r: {path: r}}\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            HEAD + 'runs:\n"{model}": {path: r}\nmetrics: [map]\n',
            [
                "$.runs (line 2): must be a mapping such as bm25: {path: runs/bm25.run}, and is "
                "empty",
                "  fix:   indent line 3 deeper, if it belongs to it",
            ],
        ),
        (
            "datasets:\n  d:\n  path: q\n" + RUNS + "metrics: [map]\n",
            [
                "$.datasets.d (line 2): must be a mapping such as {path: qrels.txt}, and is empty",
                "  fix:   indent line 3 deeper, if it belongs to it",
            ],
        ),
        (
            "datasets:\n  d:\n  e: {path: q}\n" + RUNS + "metrics: [map]\n",  # a name, no key
            ["$.datasets.d (line 2): must be a mapping such as {path: qrels.txt}, and is empty"],
        ),
        (
            "datasets: {d: {path:q}}\n" + RUNS + "metrics: [map]\n",
            [
                "$.datasets.d['path:q'] (line 1): unknown key 'path:q'  (known: path, format, "
                "duplicates, columns, group)",
                "  fix:   write a blank after the colon: path: q",
            ],
        ),
        (
            HEAD + RUNS + "metrics:\n  -map\n  -P@5\n",
            [
                "$.metrics (line 3): must be a list such as [map, ndcg@10], and is the text "
                "'-map -P@5'",
                "  fix:   write a blank after every '-'",
            ],
        ),
        (
            HEAD + RUNS + "metrics:\n  - map\n    - P@5\n",
            [
                "$.metrics[0] (line 4): 'map - P@5' is one text: begin the '- ' of every entry in "
                "the same column"
            ],
        ),
        (
            HEAD + RUNS + 'metrics: ["map,P@5"]\n',
            [
                "$.metrics[0] (line 3): 'map,P@5' names several metrics; give each by itself: "
                "-m map -m P@5; in a config: [map, P@5]"
            ],
        ),
        (
            HEAD + 'runs:\n  "": {path: r}\nmetrics: [map]\n',
            ["$.runs[''] (line 3): the name is empty", "  fix:   give it a name; tables show it"],
        ),
        (
            'datasets: {" ": {path: q}}\n' + RUNS + "metrics: [map]\n",
            [
                "$.datasets[' '] (line 1): the name is empty",
                "  fix:   give it a name; tables show it",
            ],
        ),
    ],
)  # fmt: skip
def test_what_was_meant(tmp_path: Path, text: str, lines: list[str]) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1.0 t\n")
    with pytest.raises(ConfigError) as error:
        config.loads(text, "c.yaml", tmp_path)
    first = str(error.value.problems[0]).splitlines()
    assert first == lines
