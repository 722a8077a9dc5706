"""Dicts in memory, a call of ``harness.compat`` a query: ``N_QUERIES DEPTH MEASURE...``."""

from benchmarks.peers.pytrec_eval_calls import main
from harness.compat import RelevanceEvaluator

main(RelevanceEvaluator)
