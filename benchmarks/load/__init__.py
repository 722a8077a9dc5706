"""Loads beyond the usual: ``python -m benchmarks.load``."""
