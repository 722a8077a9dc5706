"""What a config says about the report page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True)
class Metadata:
    """A CSV file with further columns of each run, such as team, type, date and link."""

    path: str
    """The file, relative to the config."""
    key: str = "run"
    """The column that holds the names of the runs."""


@dataclass(frozen=True)
class PageSettings:
    """The report page."""

    rankings: Annotated[int, Field(ge=0, le=1000)] = 0
    """How many documents of each query of each system the page shows."""
    conventions: tuple[str, ...] = ()
    """Tools whose values a switch on the page shows, such as lightgbm."""
    metadata: Metadata | None = None
    """Further columns of each run."""
    documents: str | None = None
    """Texts of documents: lines of docno, a tab, and text. Relative to the config."""
    queries: str | None = None
    """Texts of queries: lines of qid, a tab, and text. Relative to the config."""
