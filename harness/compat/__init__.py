"""Drop-in replacements for pytrec_eval and for the program trec_eval."""

from .pytrec_eval import *  # noqa: F403
from .pytrec_eval import __all__


def __dir__() -> list[str]:
    return __all__
