"""Dicts in memory, a new evaluator of pytrec_eval a query: ``N_QUERIES DEPTH MEASURE...``."""

import pytrec_eval

from benchmarks.peers.pytrec_eval_calls import main

main(pytrec_eval.RelevanceEvaluator, renew=True)
