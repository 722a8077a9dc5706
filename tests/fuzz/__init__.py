"""Fuzzing: targets, what they are fed, and ``python -m tests.fuzz``, which runs them."""
