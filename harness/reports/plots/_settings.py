"""What is asked of a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from ...core.setting_types import Names, OneOf, Shorthand, as_list

Width = Literal["column", "page"]
Format = Literal["svg", "pdf", "png"]


def _kinds() -> list[str]:
    from ._request import names

    return names()


Kind = Annotated[str, OneOf(_kinds)]


@dataclass(frozen=True)
class Settings:
    """One picture, or one for each dataset and metric."""

    kind: Kind
    """What is drawn."""
    metrics: Names = ()
    """A picture for each; those that are means and have a direction where left out. scatter: for
    each pair; cutoffs: for those that differ in their cutoff alone."""
    datasets: Names = ("*",)
    """A picture for each."""
    runs: Names = ("*",)
    """Systems drawn, in this order."""
    baseline: str | None = None
    """For differences and effects; the first of `compare` where left out."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What runs and metrics are called."""
    width: Width = "column"
    """3.3 inches, or 7."""
    formats: Annotated[tuple[Format, ...], Shorthand(as_list, Format | tuple[Format, ...])] = (
        "svg",
        "pdf",
    )
    """Files written: svg and pdf for papers, png to look at."""
