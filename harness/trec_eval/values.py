"""The values of a measure for each query, by the harness's metrics or by its own kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .. import metrics as _built_in
from ..core.aligned import Aligned
from ..core.metric import REGISTRY, TREC_CUT
from ..core.parameter import MOST
from ..core.ragged import Array
from ..metrics.trec_gain_table import Gains
from . import kernels
from .arguments import Arguments
from .numbers import atol
from .requests import Request
from .stop import CALCULATION, FILES, Stop

del _built_in

PERSISTENCE = 0.9
"""What rbp takes for p where none is given."""


@np.errstate(over="ignore", invalid="ignore")  # levels of 1e308 and nan are cast as C does
def values_of(request: Request, aligned: Aligned, arguments: Arguments) -> Sequence[Array]:
    """Return one array a line of this measure, each ``(n_queries,)``.

    Raises
    ------
    Stop
        Where the parameters do not fit the measure.
    """
    name, numbers, rel = request.measure.name, request.numbers, arguments.level
    ten = arguments.version.number == 10
    if name == "relstring":
        length = int(np.clip(np.nan_to_num(numbers[0]), 0, MOST))
        return [np.array(kernels.grade_strings(aligned, length), dtype=object)]
    if name == "11pt_avg":
        documents = kernels.rounded if ten else kernels.truncated
        return [kernels.eleven_point_average(aligned, numbers, rel, documents)]
    if name == "iprec_at_recall" and ten:
        return [kernels.interpolated_precision(aligned, level, rel) for level in numbers]
    if name == "unj":
        return [kernels.unjudged(aligned, int(cutoff)) for cutoff in numbers]
    if request.measure.takes == "gains":
        return [_gain_values(request, aligned, arguments)]
    if name == "utility":
        if len(numbers) != 4:
            raise Stop(CALCULATION, f"measure '{name}' takes four coefficients, not {len(numbers)}")
        return _registered(name, aligned, rel, coefficients=numbers, documents=arguments.documents)
    if name == "set_F":
        return _registered(name, aligned, rel, beta=numbers[0])
    if request.measure.takes in ("cutoffs", "levels"):
        return [_registered(name, aligned, rel, cutoff=cutoff)[0] for cutoff in numbers]
    return _registered(name, aligned, rel)


def _registered(name: str, aligned: Aligned, rel: int, **given: object) -> list[Array]:
    definition = REGISTRY[TREC_CUT.get(name, name)]
    if "rel" in definition.parameters:
        given["rel"] = rel
    return [definition.function(aligned, **given)]


def _gain_values(request: Request, aligned: Aligned, arguments: Arguments) -> Array:
    name = request.measure.name
    gains = _gains(request, whole_only=arguments.version.number == 10)
    p = dict(request.pairs).get("p", PERSISTENCE)
    if name == "dcg":
        return kernels.dcg(aligned, gains)
    if name == "ideal_dcg":
        return kernels.ideal_dcg(aligned, gains)
    if name == "rbp":
        return kernels.rank_biased_precision(aligned, gains, p)
    if name == "rbp_resid":
        return kernels.residual(aligned, p)
    return _registered(name, aligned, arguments.level, gains=gains)[0]


def _gains(request: Request, *, whole_only: bool) -> Gains:
    """Read the grades of the gains given; version 10 passes over names that are no numbers."""
    pairs = [
        (atol(grade), gain)
        for grade, gain in request.pairs
        if not whole_only or re.fullmatch("[+-]?[0-9]+", grade)
    ]
    if any(grade < 0 for grade, _ in pairs):
        raise Stop(
            FILES,
            f"measure '{request.names[0]}': gains of documents that nobody judged (grades below "
            "0) are not computed here",
        )
    return tuple(pairs)


def emptied(aligned: Aligned) -> Aligned:
    """Return the alignment of the same queries with nothing retrieved (``-M 0``)."""
    none = aligned.rank[:0]
    return replace(
        aligned,
        n_retrieved=np.zeros_like(aligned.n_retrieved),
        n_tied=np.zeros_like(aligned.n_tied),
        offsets=np.zeros_like(aligned.offsets),
        rank=none, grade=none, tie_first=none, tie_last=none, score=aligned.score[:0],
        _memo={},
    )  # fmt: skip
