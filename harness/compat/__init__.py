"""Drop-in replacements for pytrec_eval and for the program trec_eval."""

from .pytrec_eval import (
    RelevanceEvaluator,
    __version__,
    compute_aggregated_measure,
    parse_qrel,
    parse_run,
    supported_measures,
    supported_nicknames,
)

__all__ = [
    "RelevanceEvaluator",
    "__version__",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]


def __dir__() -> list[str]:
    return __all__
