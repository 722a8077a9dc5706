"""YAML to a checked config, patterns to cells, and `harness init`."""

__all__: list[str] = []
"""Nothing here is public: names to use are in harness, harness.batch and harness.compat."""


def __dir__() -> list[str]:
    return __all__
