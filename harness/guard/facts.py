"""All that the rules look at of one run on one dataset, one record for each family of rules."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import TypeAdapter

from .columns import RankScores
from .documents import DocumentFacts
from .judgements import JudgementFacts as JudgementFacts
from .labels import LabelFacts
from .parts import First
from .queries import QueryFacts
from .row_order import OrderFacts
from .scores import ScoreFacts
from .ties import TieFacts
from .upside_down import Ahead


@dataclass(frozen=True)
class RunFacts:
    """Of one run, and of how it fits its judgements.

    Parameters
    ----------
    follows : bool
        Whether its scores follow the rows of the dataset, as predictions do.
    single : bool
        Whether scores are compared in single precision, as trec_eval 9 does.
    ranks : RankScores, optional
        Of a TREC run whose scores are ranks.
    unused : tuple of str
        Columns of a table that were not read.
    first : dict of str to First
        By rule, the first examples; some are kept that are too few for their rule.
    """

    follows: bool = False
    single: bool = True
    queries: QueryFacts = field(default_factory=QueryFacts)
    scores: ScoreFacts = field(default_factory=ScoreFacts)
    ties: TieFacts = field(default_factory=TieFacts)
    labels: LabelFacts = field(default_factory=LabelFacts)
    documents: DocumentFacts = field(default_factory=DocumentFacts)
    order: OrderFacts = field(default_factory=OrderFacts)
    ahead: Ahead = field(default_factory=Ahead)
    ranks: RankScores | None = None
    unused: tuple[str, ...] = ()
    first: dict[str, First] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """All that the rules of one cell look at."""

    judgements: JudgementFacts
    run: RunFacts

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Facts:
        """Return the facts that :meth:`as_dict` gave, written to JSON or not.

        Raises
        ------
        ValueError
            If they are other facts.
        """
        return _reader().validate_python(given)


@functools.cache
def _reader() -> TypeAdapter[Facts]:
    return TypeAdapter(Facts)
