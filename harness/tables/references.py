"""The literature behind metrics, tests and tools, as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from ..errors import UnknownNameError, did_you_mean
from .reference_entry import Reference
from .reference_metrics import METRICS, TOOLS
from .reference_tests import TESTS

REFERENCES: Mapping[str, Reference] = {**METRICS, **TESTS, **TOOLS}
"""Every entry by its key: first author and year."""


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of some keys, each once, in alphabetical order.

    Parameters
    ----------
    keys : iterable of str

    Returns
    -------
    str
        Empty where there are no keys.

    Raises
    ------
    UnknownNameError
        Where there is no entry of that key.

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
    return "\n".join(_entry(key) for key in sorted(set(keys)))


def _entry(key: str) -> str:
    if key not in REFERENCES:
        near = did_you_mean(key, REFERENCES)
        raise UnknownNameError(f"unknown reference '{key}'{near}  (all: {', '.join(REFERENCES)})")
    entry = REFERENCES[key]
    said = ((field.name, getattr(entry, field.name)) for field in fields(entry)[1:])
    lines = [f"  {name} = {{{value}}},\n" for name, value in said if value]
    return f"@{entry.kind}{{{key},\n{''.join(lines)}}}\n"
