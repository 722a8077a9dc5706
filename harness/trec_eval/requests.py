"""What is to be computed: each measure asked for, with its parameters and the names it prints."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .arguments import Arguments
from .numbers import atof, atol
from .stop import FILES, Stop
from .versions import Measure

SHARED = ("dcg", "ideal_dcg", "ndcg")
"""Measures that hold their gains in one place in version 10: each takes those of the one before
it where it is given none, and all are computed with the last ones."""
Pairs = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Request:
    """One measure with its parameters.

    ``numbers`` are the cutoffs, levels or numbers, ``pairs`` the gains as they are written.
    ``names`` are those of its lines.
    """

    measure: Measure
    names: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    pairs: Pairs = ()


def requests(arguments: Arguments) -> list[Request]:
    """Return the measures asked for, in the order in which they are printed.

    Raises
    ------
    Stop
        Where parameters cannot be used.
    """
    version = arguments.version
    found = []
    inherited = None
    for name in version.order:
        if name not in arguments.measures:
            continue
        text = arguments.parameters.get(name)
        if version.number == 10 and name in SHARED:
            inherited = text = text or inherited
        found.append(_request(version.measure(name), text))
    last = next(
        (request.pairs for request in reversed(found) if request.measure.name in SHARED), ()
    )
    return [
        replace(request, pairs=last)
        if version.number == 10 and request.measure.name in SHARED
        else request
        for request in found
    ]


def _request(measure: Measure, text: str | None) -> Request:
    name = measure.name
    if measure.takes == "nothing":
        return Request(measure, (name,))
    if measure.takes in ("cutoffs", "levels"):
        cutoffs = measure.default if text is None else _cutoffs(measure, text)
        return Request(measure, tuple(_name(name, cutoff) for cutoff in cutoffs), cutoffs)
    if text is None:
        return Request(measure, (name,), measure.default)
    names = (f"{name}_{text}",)
    if measure.takes == "gains":
        return Request(measure, names, pairs=_pairs(measure, text))
    return Request(measure, names, tuple(map(atof, text.split(","))))


def _cutoffs(measure: Measure, text: str) -> tuple[float, ...]:
    read = atol if measure.takes == "cutoffs" else atof
    cutoffs = sorted(read(number) for number in text.split(","))
    if measure.takes == "cutoffs" and cutoffs[0] <= 0:
        raise Stop(FILES, f"measure '{measure.name}.{text}': a cutoff is at least 1")
    if len(set(cutoffs)) != len(cutoffs):
        raise Stop(FILES, f"measure '{measure.name}.{text}': a cutoff is there twice")
    return tuple(cutoffs)


def _name(name: str, cutoff: float) -> str:
    """Return the name of one line; a level has two decimals, and eight characters at most.

    >>> _name("P", 5), _name("Rprec_mult", 0.25), _name("Rprec_mult", 123456.0)
    ('P_5', 'Rprec_mult_0.25', 'Rprec_mult_123456.0')
    """
    return (
        f"{name}_{cutoff:.2f}"[: len(name) + 9] if isinstance(cutoff, float) else f"{name}_{cutoff}"
    )


def _pairs(measure: Measure, text: str) -> Pairs:
    """Read ``1=3,2=9``.

    The check is trec_eval's: signs ``=`` and ``,`` take turns, and the last one is ``=``.
    """
    signs = [sign for sign in text if sign in ",="]
    last = ","
    for sign in signs:
        if sign == last:
            last = ","
            break
        last = sign
    if last != "=":
        raise Stop(
            FILES, f"measure '{measure.name}.{text}': write gains as GRADE=GAIN,GRADE=GAIN..."
        )
    items = (item.partition("=") for item in text.split(","))
    return tuple((grade, atof(gain)) for grade, _, gain in items)
