"""A benchmarking harness for ranking models, from prediction files to the table in the paper."""

__version__ = "0.1.0"
