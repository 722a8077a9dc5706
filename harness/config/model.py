"""What all models of the config have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Frozen; unknown keys are errors; each key's text below it is its description."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
