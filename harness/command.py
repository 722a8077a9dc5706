"""Commands that start quickly."""

from __future__ import annotations

import re
from functools import partial
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from .errors import did_you_mean
from .output import printing

_UNIONS = (UnionType, Union)  # ``int | None``, and what typing makes of ``Literal["a"] | None``


class _Quick:
    """Takes text, and what was left out, as they are.

    Typer passes every value through pydantic, whose import takes 75 ms: a quarter of a small
    ``harness evaluate``. Where there is nothing to convert and nothing wrong, this spares it;
    everything else is Typer's, and every message but those of :func:`wrong`.
    """

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        command: Any = self
        hints = get_type_hints(command.callback)
        for parameter in command.get_params(context):
            hint = hints.get(parameter.name, bool)  # the one that is not ours is --help
            parameter.process_value = partial(_process, parameter, hint)
        with printing():  # --help and --version
            rest: list[str] = super().parse_args(context, arguments)  # type: ignore[misc]
        return rest


class QuickCommand(_Quick, TyperCommand):
    """A command of :data:`harness.cli.app`."""


class QuickGroup(_Quick, TyperGroup):
    """The commands of :data:`harness.cli.app`."""

    def get_command(self, context: Any, name: str) -> Any:
        """Return a command, which lists of commands describe by a whole phrase."""
        command = super().get_command(context, name)
        if command is not None and not command.short_help:
            command.short_help = phrase(command.help or "")
        return command


def phrase(text: str) -> str:
    """Return what a help text begins with, up to the first colon or full stop.

    >>> phrase("Draw results: needs matplotlib. Exits 2 without it.")
    'Draw results.'
    """
    first = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"[:.] |\.$", first)[0] + "."


def _process(parameter: Any, hint: Any, context: Any, value: Any) -> Any:
    if not is_fine(value, hint) or (value is None and parameter.required):
        try:
            return type(parameter).process_value(parameter, context, value)
        except typer.BadParameter:
            if not (said := wrong(value, hint)):
                raise
            raise typer.BadParameter(said, ctx=context, param=parameter) from None
    return parameter.callback(context, parameter, value) if parameter.callback else value


def wrong(value: Any, hint: Any) -> str:
    """Return in plain words what is wrong with an option's value; nothing where Typer says it.

    >>> wrong("a", Literal["b", "aa"])
    "'a' is not one of b, aa; did you mean 'aa'?"
    >>> wrong("2.5", int | None)
    "'2.5' is not a whole number"
    >>> wrong(("1", "x"), list[int] | None)
    "'x' is not a whole number"
    """
    kinds = get_args(hint) if get_origin(hint) in _UNIONS else (hint,)
    for kind in kinds:
        if get_origin(kind) is list and isinstance(value, list | tuple):
            said = (wrong(one, *get_args(kind)) for one in value)
            return next(filter(None, said), "")
        if get_origin(kind) is Literal and isinstance(value, str):
            known = get_args(kind)
            return f"'{value}' is not one of {', '.join(known)}{did_you_mean(value, known)}"
        if kind is int and isinstance(value, str) and not re.fullmatch("[+-]?[0-9]+", value):
            return f"'{value}' is not a whole number"
    return ""


def is_fine(value: Any, hint: Any) -> bool:
    """Return whether an option's value was left out, or is what `hint` says as it stands.

    >>> [is_fine(value, Literal["a", "b"]) for value in (None, "a", "c")]
    [True, True, False]
    >>> is_fine("a", Literal["a"] | None), is_fine("b", Literal["a"] | None)
    (True, False)
    >>> is_fine(("a", "c"), list[str] | None), is_fine((), list[str]), is_fine("2", int)
    (True, False, False)
    """
    if value is None:
        return True
    kind, inside = get_origin(hint), get_args(hint)
    if kind in _UNIONS:
        return any(is_fine(value, one) for one in inside)
    if kind is list:
        return bool(value) and all(is_fine(one, *inside) for one in value)
    return value in inside if kind is Literal else isinstance(value, hint)
