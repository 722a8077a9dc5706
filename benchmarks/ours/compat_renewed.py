"""Dicts in memory, a ``harness.compat`` evaluator a query: ``N_QUERIES DEPTH MEASURE...``."""

from benchmarks.peers.pytrec_eval_calls import main
from harness.compat import RelevanceEvaluator

main(RelevanceEvaluator, renew=True)
