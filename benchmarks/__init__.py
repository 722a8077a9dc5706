"""Side-by-side timings against peers: ``python -m benchmarks`` writes ``RESULTS.md``."""
