"""The program trec_eval, versions 9.0.7, 9.0.8 and 10.0, on the harness's own metrics.

``harness trec_eval`` takes its place in scripts: same arguments, same output byte for byte, same
exit status. Messages and help are our own.
"""

from __future__ import annotations

from .program import main

__all__ = ["main"]


def __dir__() -> list[str]:
    return __all__
