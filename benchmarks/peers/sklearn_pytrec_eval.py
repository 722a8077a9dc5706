"""scikit-learn reads, dicts are built, pytrec_eval evaluates: ``DATA PREDICTIONS MEASURE...``."""

import sys

import numpy as np
import pytrec_eval
from sklearn.datasets import load_svmlight_file

data, predictions, *measures = sys.argv[1:]
_, grades, qids = load_svmlight_file(data, query_id=True)
scores = np.loadtxt(predictions)
qrels: dict[str, dict[str, int]] = {}
run: dict[str, dict[str, float]] = {}
for qid, grade, score in zip(qids.tolist(), grades.tolist(), scores.tolist(), strict=True):
    judged = qrels.setdefault(str(qid), {})
    docno = f"d{len(judged)}"
    judged[docno] = int(grade)
    run.setdefault(str(qid), {})[docno] = score
values = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
for measure in sorted(next(iter(values.values()))):
    numbers = [row[measure] for row in values.values()]
    print(measure, repr(pytrec_eval.compute_aggregated_measure(measure, numbers)))
