"""pytrec_eval on files, with its own readers: ``QRELS RUN MEASURE...``."""

import sys

import pytrec_eval

qrels_path, run_path, *measures = sys.argv[1:]
with open(qrels_path) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(run_path) as file:
    run = pytrec_eval.parse_run(file)
values = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
for measure in sorted(next(iter(values.values()))):
    numbers = [row[measure] for row in values.values()]
    print(measure, repr(pytrec_eval.compute_aggregated_measure(measure, numbers)))
