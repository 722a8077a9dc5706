"""The literature behind metrics, tests and tools, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import resources

from ..core.metric import ENTRIES
from ..errors import UnknownNameError, did_you_mean

_TEXT = resources.files(__package__).joinpath("references.bib").read_text("utf-8")
REFERENCES = {entry[1]: entry[0] for entry in re.finditer(r"@\w+\{(\w+),\n(?:  .*\n)+\}\n", _TEXT)}
"""Every entry of ``references.bib`` by its key: first author and year."""


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of some keys, each once, in alphabetical order.

    Raises
    ------
    UnknownNameError
        If there is no entry of that key.

    Examples
    --------
    >>> print(bibtex(["holm1979"]), end="")
    @article{holm1979,
      author = {Holm, Sture},
      title = {A Simple Sequentially Rejective Multiple Test Procedure},
      journal = {Scandinavian Journal of Statistics},
      volume = {6},
      number = {2},
      pages = {65--70},
      year = {1979},
    }
    """
    known = {**ENTRIES, **REFERENCES}
    for key in (wanted := sorted(set(keys))):
        if key not in known:
            near, all_ = did_you_mean(key, known), ", ".join(known)
            raise UnknownNameError(f"unknown reference '{key}'{near}  (all: {all_})")
    return "\n".join(known[key] for key in wanted)
