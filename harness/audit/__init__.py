"""Audits of numbers: conventions, trace, verify, diff of leaderboards."""

__all__: list[str] = []
"""Nothing here is public: names to use are in harness, harness.batch and harness.compat."""


def __dir__() -> list[str]:
    return __all__
