"""The pure core: tables, alignment, evaluation, metric names. No files, no clock, no printing."""

__all__: list[str] = []
"""Nothing here is public: names to use are in harness, harness.batch and harness.compat."""


def __dir__() -> list[str]:
    return __all__
