"""Metrics for PyTorch's training loops, on any number of devices."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from ..core.metric import Metric
from ..core.policy import Policy, policy_of
from ..errors import InputError, Problem, not_installed
from ..readers.batches import as_array, from_batch
from .collector import BatchCollector
from .training import directed

_Base: Any
torch: Any
try:
    _Base = import_module("torchmetrics").Metric
    torch = import_module("torch")
except ImportError:  # the name stays, for help(harness)
    _Base, torch = object, None


class RankingMetric(_Base):  # type: ignore[misc]
    """A metric over the batches of all devices, for torchmetrics and Lightning.

    torchmetrics gathers its states from all processes: scores, grades, query sizes and qids. With
    qids each query counts once, even if a ``DistributedSampler`` repeats queries to give all
    devices the same number.

    Parameters
    ----------
    metric : str or Metric
        A metric with a better direction.
    policy : Policy or mapping, optional
        Treatment of ties, missing and empty queries, and depth.
    **kwargs
        Arguments of ``torchmetrics.Metric``.

    Examples
    --------
    >>> metric = RankingMetric("recip_rank")
    >>> metric.update([[0.5, 2.0, 0.0]], [[1, 0, 0]], [2], qids=[10])
    >>> metric.update([[3.0, 2.0]], [[1, 0]], [2], qids=[2])
    >>> metric.compute()
    tensor(0.7500, dtype=torch.float64)
    """

    full_state_update = False
    is_differentiable = False

    def __init__(
        self,
        metric: str | Metric,
        policy: Policy | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if torch is None:
            raise not_installed("harness.torch", "torchmetrics")
        super().__init__(**kwargs)
        self.metric, self.policy = directed(metric), policy_of(policy)
        self.set_dtype(torch.float64)  # also of the empty states of a process without batches
        for state in ("scores", "grades", "sizes", "qids"):
            self.add_state(state, [], dist_reduce_fx="cat")

    @property
    def higher_is_better(self) -> bool:
        """Whether higher is better."""
        return self.metric.definition.direction == "higher"

    def update(
        self, scores: Any, relevance: Any, n: Any = None, qids: Any = None, *, mask: Any = None
    ) -> None:
        """Add a batch, as for `BatchCollector.add`; qids are whole numbers."""
        numbers = None if qids is None else as_array(qids, "qids")
        if numbers is not None and numbers.dtype.kind not in "iu":
            message = "expected whole numbers, which pass between processes, got text"
            raise InputError(Problem("qids", message, fix="number the queries of all devices"))
        qrels, run, _ = from_batch(scores, relevance, n, numbers, mask=mask)
        self.scores.append(self._tensor(run.scores))
        self.grades.append(self._tensor(qrels.grades))
        self.sizes.append(self._tensor(np.diff(qrels.offsets)))
        if numbers is not None:
            numbers = np.array(qrels.qids.to_pylist(), dtype=np.int64)
            self.qids.append(self._tensor(numbers))
            if not np.array_equal(self.qids[-1].cpu().numpy().astype(np.int64), numbers):
                fix = "number the queries of all devices from 0"
                raise InputError(Problem("qids", "expected numbers below 2^53", fix=fix))

    def compute(self) -> Any:
        """Return the metric over all queries of all processes, as a tensor."""
        states = (self.scores, self.grades, self.sizes, self.qids)
        scores, grades, sizes, qids = map(_joined, states)
        sizes = sizes.astype(np.int64)
        counted = np.arange(len(sizes))
        if len(qids) not in (0, len(sizes)):
            fix = "give qids with every batch, or with none"
            raise InputError(Problem("qids", "a batch has qids, and another has none", fix=fix))
        if len(qids):
            _, counted = np.unique(qids, return_index=True)
        query = np.repeat(np.arange(len(sizes)), sizes)
        inside = np.isin(query, counted)
        collector = BatchCollector()
        collector.add(scores[inside], grades[inside], sizes[np.sort(counted)])
        value = collector.evaluate([self.metric], self.policy).summary()[str(self.metric)]
        return torch.tensor(value, dtype=self._float, device=self.device)

    @property
    def _float(self) -> Any:
        """The widest floats of the device; Apple's have no float64."""
        return torch.float32 if self.device.type == "mps" else torch.float64

    def _tensor(self, numbers: Any) -> Any:
        return torch.as_tensor(np.array(numbers), dtype=self._float, device=self.device)


def _joined(state: Any) -> Any:
    """Return a state as an array: a list of tensors or, gathered, a tensor."""
    parts = state if isinstance(state, list) else [state]
    return np.concatenate([np.zeros(0), *(part.cpu().numpy() for part in parts)])
