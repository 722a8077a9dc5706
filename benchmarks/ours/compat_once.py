"""Dicts in memory, one call of ``harness.compat``: ``N_QUERIES DEPTH MEASURE...``."""

from benchmarks.peers.pytrec_eval_once import main
from harness.compat import RelevanceEvaluator

main(RelevanceEvaluator)
