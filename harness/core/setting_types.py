"""Types of settings that a config, options and Python arguments fill alike.

Pydantic checks the settings dataclasses when they come from a config. It asks these marks for
their rules, so that nothing in the core imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from annotated_types import Ge, Le, MinLen


class Strict:
    """Marks a setting that takes its own type only: not 1 for true, not "1" for 1."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "strict": True}


class Shorthand:
    """Marks a setting that also takes a shorter form.

    Parameters
    ----------
    expand : callable
        Makes the setting of its shorter form, and returns everything else as it is.
    accepted : type
        The types of all forms.
    """

    def __init__(self, expand: Callable[[Any], Any], accepted: Any) -> None:
        self.expand, self.accepted = expand, accepted

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_before_validator_function

        accepted = handler.generate_schema(self.accepted)
        return no_info_before_validator_function(
            self.expand, handler(source), json_schema_input_schema=accepted
        )


class OneOf:
    """Marks a setting that is one of the names that a function returns."""

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        self.names = names

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {"type": "literal", "expected": list(self.names())}


def as_list(value: Any) -> Any:
    """Return one name as a list of one."""
    return (value,) if isinstance(value, str) else value


Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Positive = Annotated[Whole, Ge(1)]
Digits = Annotated[Whole, Ge(0), Le(17)]
Names = Annotated[tuple[str, ...], Shorthand(as_list, str | tuple[str, ...])]
"""One name, or a list of them."""
Patterns = Annotated[Names, MinLen(1)]
