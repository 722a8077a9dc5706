"""ranx on TREC files, with its own readers: ``QRELS RUN METRIC...``."""

import sys

from ranx import Qrels, Run, evaluate

qrels_path, run_path, *metrics = sys.argv[1:]
qrels = Qrels.from_file(qrels_path, kind="trec")
run = Run.from_file(run_path, kind="trec")
for metric, mean in evaluate(qrels, run, metrics).items():
    print(metric, repr(float(mean)))
