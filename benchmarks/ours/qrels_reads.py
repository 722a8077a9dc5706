"""How often a command with many runs reads its qrels: ``QRELS METRIC... -- RUN...``.

Counts how often the file is opened (to look at its first bytes, to guess its format, to read it),
with one run and with all. The last line is the second number divided by the first: 1 where the
qrels are read once, the number of runs where they are read for each.
"""

import sys

from harness.experiment.evaluate import evaluate_files

qrels, *metrics = sys.argv[1 : sys.argv.index("--")]
runs = sys.argv[sys.argv.index("--") + 1 :]
opened = 0


def count(event: str, arguments: tuple[object, ...]) -> None:
    global opened
    opened += event == "open" and arguments[0] == qrels


sys.addaudithook(count)
evaluate_files(qrels, runs[:1], metrics)
one, opened = opened, 0
evaluate_files(qrels, runs, metrics)
print(opened / one)
