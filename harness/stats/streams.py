"""Random numbers that depend on names, not on the order of computation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

DRAWS = 10_000
"""How many random draws a test takes by default."""


@dataclass(frozen=True)
class Stream:
    """A stream of random numbers of its own for each comparison.

    The same seed and names give the same numbers, after any other draws and with any number of
    workers.

    Parameters
    ----------
    names : tuple of str
        What is compared: dataset, metric, baseline, run.
    seed : int
        The experiment's seed, at least 0.
    draws : int
        How many random draws a test takes.

    >>> one, other = Stream(("trec", "map", "a", "b")), Stream(("trec", "map", "a", "c"))
    >>> [bool(one.rng().random() == each.rng().random()) for each in (one, other)]
    [True, False]
    """

    names: tuple[str, ...] = ()
    seed: int = 0
    draws: int = DRAWS

    def rng(self) -> Generator:
        """Return a generator at the stream's beginning."""
        text = "\0".join(self.names).encode("utf-8", "surrogatepass")
        words = np.frombuffer(hashlib.sha256(text).digest(), dtype="<u4")
        return Generator(PCG64(SeedSequence([self.seed, *words.tolist()])))
