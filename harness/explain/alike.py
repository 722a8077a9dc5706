"""Which parameters mean the same on the grades at hand, so that one of them need be computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.metric import Definition
from ..core.ragged import Array
from ..errors import InputError
from ..metrics.gains import Scale

_THRESHOLDS = ("rel", "above", "top")
_GAINS = ("gain", "negative", "floor")


def meaning(
    definition: Definition, params: Mapping[str, Any], grades: Array, tied: bool, average: bool
) -> tuple[Any, ...]:
    """Return what is equal for parameters that give equal values.

    Parameters
    ----------
    definition : Definition
    params : mapping
        Those that differ from their defaults.
    grades : ndarray, shape (n,)
        Every grade that there is, each once.
    tied, average : bool
        Whether documents are tied, and whether their orders are averaged over.

    Returns
    -------
    tuple
        Hashable. Parameters of different meaning may still give equal values; those of one
        meaning always do.

    Examples
    --------
    >>> import numpy as np, harness.metrics
    >>> from harness.core.metric import REGISTRY
    >>> grades = np.array([0, 1, 2])
    >>> one, two = ({"gain": gain} for gain in ("exp", "mslr"))      # 0, 1, 3 both
    >>> ndcg = REGISTRY["ndcg"]
    >>> meaning(ndcg, one, grades, True, True) == meaning(ndcg, two, grades, True, True)
    True
    >>> ap = REGISTRY["map"]
    >>> meaning(ap, {}, grades, True, True) == meaning(ap, {"above": 0.5}, grades, True, True)
    True
    """
    known = definition.parameters
    full = {name: params.get(name, parameter.default) for name, parameter in known.items()}
    rest = dict(params)
    found: list[Any] = []
    if "target" in known and full["target"] == "largest":
        rest = {name: value for name, value in rest.items() if name not in _THRESHOLDS}
    elif "rel" in known and "above" in known:
        above, top = full["above"], full["top"]
        relevant = grades >= full["rel"] if above is None else grades > above
        if top is not None:
            relevant = relevant & (grades <= top)
        found.append(relevant.tobytes())
        rest = {name: value for name, value in rest.items() if name not in _THRESHOLDS}
    elif "gain" in known and "discount" in known:
        scale = Scale(full["gain"], "log2", full.get("negative", "zero"), full.get("floor", 0.0))
        try:
            found.append((scale.gains(grades) * scale.counts(grades) + 0.0).tobytes())
        except InputError:  # a gain beyond all numbers; the metric says so
            found.append(scale)
        rest = {name: value for name, value in rest.items() if name not in _GAINS}
    if not tied:
        rest.pop("tied", None)
    if not average:
        rest.pop("spill", None)
    return (*rest.items(), *found)
