"""Calls of few documents, answered by pytrec_eval itself.

Arrays for one short list cost more to set up than pytrec_eval takes to be done with it, and many
scripts call an evaluator once a query. Only what is the same there comes here: the rest is left
to the harness's metrics, which give the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import chain
from typing import Any

import pytrec_eval

DOCUMENTS, DOCUMENTS_A_MEASURE = 2000, 50
"""A call of this many documents, and so many more for each value of a query, costs about the same
either way. Its qids are counted with them."""
_LARGEST_GRADE = 100  # pytrec_eval's time grows with the square of the largest grade

Judgements = Mapping[str, Mapping[str, int]]
Values = dict[str, dict[str, float]]


class SmallCalls:
    """pytrec_eval's evaluator, for the calls that it may and should answer.

    Parameters
    ----------
    judgements : callable
        Returns the judgements; called once, at the first small call.
    measures : list of str
        Names, all of them supported.
    n_values : int
        Values of one query, of all measures.
    level : int
        Smallest grade that counts as relevant.
    judged_only : bool
        Whether documents without a judgement are taken out of the ranking first.
    with_runid : bool
        Whether ``runid`` is asked for, whose value pytrec_eval reads from stray memory.
    """

    def __init__(
        self,
        judgements: Callable[[], Judgements],
        measures: list[str],
        n_values: int,
        level: int,
        judged_only: bool,
        with_runid: bool,
    ) -> None:
        self._judgements, self._arguments = judgements, (measures, level, judged_only)
        self._with_runid = with_runid
        self._limit = DOCUMENTS + DOCUMENTS_A_MEASURE * n_values

    def evaluate(self, scores: Mapping[str, Any]) -> Values | None:
        """Return pytrec_eval's values for some queries; None where the call is large, odd or wrong.

        Odd are NaN scores, which it ranks anywhere, and names outside ASCII: at half of a
        surrogate pair it ends the process, and at NUL it ends the name.
        """
        try:
            size, names, total = len(scores), "", 0.0
            for row in scores.values():
                size += len(row)
                if size > self._limit:
                    return None
                names += "".join(row)
                total += sum(row.values(), 0.0)  # NaN where one of them is
            evaluate = self._evaluate
            if total != total or not _plain(names + "".join(scores)) or evaluate is None:
                return None
            values = evaluate(scores)
        except (TypeError, ValueError, ArithmeticError, AttributeError, RuntimeWarning):
            return None  # the caller names what is wrong; numpy's floats warn of inf - inf
        if self._with_runid:
            for row in values.values():
                row["runid"] = 0.0
        return values

    def __getstate__(self) -> dict[str, Any]:
        """Leave out pytrec_eval's evaluator, which no other process can take; it is made again."""
        return {name: value for name, value in vars(self).items() if name != "_evaluate"}

    @cached_property
    def _evaluate(self) -> Callable[[Any], Values] | None:
        """pytrec_eval's function, or None where the judgements or the level do not suit it.

        It is the one in C: the one in Python around it only asks whether there are scores.
        """
        judgements = self._judgements()
        measures, level, judged_only = self._arguments
        grades = {level, *chain.from_iterable(row.values() for row in judgements.values())}
        largest = [max(row.values()) for row in judgements.values()]
        if (
            max(grades) > _LARGEST_GRADE
            or min(grades) < -_LARGEST_GRADE
            or min(largest, default=0) < 0  # it would read another query's memory
            or not _plain("".join(chain(judgements, chain.from_iterable(judgements.values()))))
        ):
            return None
        evaluator = pytrec_eval.RelevanceEvaluator(judgements, measures, level, judged_only)
        evaluate: Callable[[Any], Values] = super(
            pytrec_eval.RelevanceEvaluator, evaluator
        ).evaluate
        return evaluate


def _plain(names: str) -> bool:
    """Whether names, joined, are of ASCII characters without NUL."""
    return names.isascii() and "\0" not in names
