"""How often a sweep reads its qrels: ``DATA METRIC...``.

Counts how often their files are opened, with one run on each dataset and with all. The last line
is the second number divided by the first: 1 where each file is read once.
"""

import sys
from pathlib import Path

from harness.experiment import run as experiment

from .sweep import linked

data, *metrics = sys.argv[1:]
at = linked(Path(data), len([path for path in Path(data).iterdir() if path.is_dir()]), metrics)
opened = 0


def count(event: str, arguments: tuple[object, ...]) -> None:
    global opened
    opened += event == "open" and str(arguments[0]).endswith("qrels.txt")


sys.addaudithook(count)
experiment.run(at / "config.yaml", overrides=["cache=none", "where={system: '000'}"])
one, opened = opened, 0
experiment.run(at / "config.yaml", overrides=["cache=none"])
print(opened / one)
