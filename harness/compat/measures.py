"""pytrec_eval's names of measures, and the metrics behind them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any

from .. import metrics as _built_in
from ..core.metric import REGISTRY, TREC_CUT, Definition, Metric
from ..core.names import NICKNAMES

del _built_in

_ORDER = NICKNAMES["all_trec"]
_PREFERENCES = {
    "all_prefs": "num_q runid prefs_avgjg prefs_avgjg_Rnonrel prefs_avgjg_Rnonrel_ret"
    " prefs_avgjg_imp prefs_avgjg_ret prefs_num_prefs_ful prefs_num_prefs_ful_ret"
    " prefs_num_prefs_poss prefs_pair prefs_pair_imp prefs_pair_ret prefs_simp prefs_simp_imp"
    " prefs_simp_ret",
    "prefs": "num_q runid prefs_avgjg prefs_num_prefs_ful prefs_num_prefs_ful_ret"
    " prefs_num_prefs_poss prefs_pair prefs_simp",
    "qrels_jg": "num_q runid P_avgjg Rprec_mult_avgjg map_avgjg",
}
"""Nicknames that pytrec_eval lists and cannot compute: their measures are not supported."""

supported_measures: set[str] = set(_ORDER)
"""Names of the measures that can be asked for, without parameters."""
supported_nicknames: dict[str, set[str]] = {
    **{name: set(measures) for name, measures in NICKNAMES.items()},
    **{name: set(measures.split()) for name, measures in _PREFERENCES.items()},
}
"""The measures that each nickname stands for."""

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_WITH_NUMBERS = re.compile(rf"({'|'.join(map(re.escape, _ORDER))})[._]({_NUMBER}(?:,{_NUMBER})*)")
_GAINS = {"ndcg", "ndcg_rel", "Rndcg", "G"}  # take grade=gain pairs, which no name here can hold
_LARGEST = 2**63 - 1


def numbers_asked(measures: Iterable[str]) -> dict[str, set[str]]:
    """Return the numbers asked for with each measure; an empty set stands for its defaults.

    Several names for one measure are put together, as pytrec_eval does.

    Raises
    ------
    ValueError
        Where a measure is not supported.

    >>> {name: sorted(numbers) for name, numbers in numbers_asked(["P.5", "P_10", "map"]).items()}
    {'P': ['10', '5'], 'map': []}
    """
    plain = chain.from_iterable(supported_nicknames.get(name, (name,)) for name in measures)
    asked: dict[str, set[str]] = {}
    for name in plain:
        if name in supported_measures:
            asked.setdefault(name, set())
            continue
        match = _WITH_NUMBERS.match(name)
        if match is None:
            raise ValueError(f"unsupported measure {name}")
        if match[1] in _GAINS:
            raise ValueError(f"unsupported measure {name}: {_without_gains(match[1], name)}")
        asked.setdefault(match[1], set()).update(match[2].split(","))
    return asked


def _without_gains(measure: str, name: str) -> str:
    """Return why a measure whose gains can be set takes nothing here, and what to write."""
    given = name[len(measure) + 1 :]
    if "=" in given:
        return (
            "pytrec_eval ends the process at gains by grade; harness.evaluate takes them, as "
            f"'{measure}.{given}'"
        )
    return f"{measure} takes no number" + (f"; write ndcg_cut_{given}" if measure == "ndcg" else "")


def metrics_of(asked: Mapping[str, Collection[str]], level: int) -> list[Metric]:
    """Return the metrics behind measures with these numbers, in trec_eval's order.

    Parameters
    ----------
    asked : mapping of str to collection of str
        As :func:`numbers_asked` gives it.
    level : int
        Smallest grade that counts as relevant.

    Raises
    ------
    ValueError
        Where trec_eval gives up on a number: a cutoff of 0, or the same one twice.
    """
    return [
        metric
        for name in _ORDER
        if name in asked
        for metric in _metrics(name, sorted(asked[name]), level)
    ]


def _metrics(name: str, numbers: list[str], level: int) -> list[Metric]:
    """Return the metrics behind a measure with these numbers, cutoffs rising."""
    definition = REGISTRY[TREC_CUT.get(name, name)]
    given: dict[str, Any] = {"rel": level}
    if not (definition.needs_cutoff or name in TREC_CUT):
        parameter = definition.parameters.get(definition.trec_parameter or "")
        if parameter is not None and numbers:  # others have no use for numbers, and read none
            read = _whole if parameter.type is int else float
            values = tuple(map(read, numbers))
            if parameter.length not in (None, len(values)):
                raise ValueError(
                    f"unsupported measure {name}: it takes {parameter.length} numbers, and "
                    f"pytrec_eval reads {','.join(numbers)} here: sorted, equal ones once, and "
                    "none from the first below 0 on; harness.evaluate takes any, as "
                    f"'{name}.1,-1,0,2'"
                )
            given[parameter.name] = values if parameter.many else values[0]
        return [_metric(definition, None, given)]
    if not numbers:
        cutoffs: Collection[float] = definition.cutoffs or REGISTRY["P"].cutoffs
    elif definition.cutoff is not None and definition.cutoff.type is float:
        cutoffs = list(map(float, numbers))
    else:
        cutoffs = list(map(_whole, numbers))
        if 0 in cutoffs:
            raise ValueError(f"unsupported measure {name}_0: a cutoff is at least 1")
    if len(set(cutoffs)) != len(cutoffs):
        raise ValueError(f"unsupported measure {name}_{','.join(numbers)}: a cutoff comes twice")
    return [_metric(definition, cutoff, given) for cutoff in sorted(cutoffs)]


def _whole(number: str) -> int:
    """Read an integer as C does: what stands before the point, and no more than 64 bits hold."""
    return min(int(number.split(".")[0]), _LARGEST)


def _metric(definition: Definition, cutoff: float | None, given: Mapping[str, Any]) -> Metric:
    params = tuple(
        (name, given[name])
        for name, parameter in definition.parameters.items()
        if name in given and given[name] != parameter.default
    )
    return Metric(definition, cutoff, params)
