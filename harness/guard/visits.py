"""The result of reading, aligning and checking one run on one dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from ..config.cells import Cell
    from ..core.evaluation import Evaluation
    from ..errors import Finding, HarnessError
    from ..readers.source import Source
    from .watch import Facts


@dataclass(frozen=True, eq=False)
class Visit:
    """One run on one dataset, read, aligned, watched and evaluated.

    Parameters
    ----------
    cell : Cell
    qids : Array
        Queries of the dataset.
    evaluation : Evaluation, optional
        None if the visit evaluated nothing, or ended with an `error`.
    facts : Facts, optional
        None if the guard failed, or did not look at the run.
    findings : tuple of Finding
        Of the readers of both files, and failures of the guard.
    header : dict, optional
        ir_metadata at the head of the run's file.
    source : Source, optional
        The run's file, as it was read.
    error : HarnessError, optional
        What ended the visit.
    """

    cell: Cell
    qids: pa.Array
    evaluation: Evaluation | None = None
    facts: Facts | None = None
    findings: tuple[Finding, ...] = ()
    header: dict[str, Any] | None = None
    source: Source | None = None
    error: HarnessError | None = None

    def value(self) -> Evaluation:
        """Return the evaluation; raise the error that ended the visit."""
        if self.error is not None:
            raise self.error
        assert self.evaluation is not None
        return self.evaluation
