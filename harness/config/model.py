"""What all models of the config have in common."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Frozen; unknown keys are errors; each key's text below it is its description."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def json_schema(model: type[Model]) -> dict[str, Any]:
    """Return the JSON Schema of a model, in which each key has the text below it.

    Pydantic would look for these texts in the source of every model whenever one is loaded,
    which takes 35 ms.
    """
    for one in _below(Model):
        for parent in one.__mro__[: one.__mro__.index(Model)]:
            for name, text in _texts(parent).items():
                one.model_fields[name].description = text
        one.model_rebuild(force=True)
    return model.model_json_schema()


def _below(model: type[Model]) -> list[type[Model]]:
    """Return all models that are made from this one."""
    return [one for child in model.__subclasses__() for one in (child, *_below(child))]


def _texts(model: type[Model]) -> dict[str, str]:
    """Return the texts below the keys of a model, as its source has them."""
    (definition,) = ast.parse(inspect.getsource(model)).body
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        key.target.id: inspect.cleandoc(text.value.value)
        for key, text in pairwise(body)
        if isinstance(key, ast.AnnAssign)
        and isinstance(key.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
        and key.target.id in model.model_fields
    }
