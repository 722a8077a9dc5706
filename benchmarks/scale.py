"""How long a sweep takes: a simulation of its processes, from measured figures.

``python -m benchmarks.scale`` prints what was measured and what is simulated, then the case that
no machine here can run. Cells are taken in order by the worker that is free first. A cell reads
through a storage that all workers share, computes, and sends its values to the process that was
started, which takes in one result at a time and writes all at the end.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True)
class Sweep:
    """Cells of the same size, and the machines that evaluate them; times in seconds.

    `starting` is until the first cell begins, for each `cell` its own share comes on top of its
    rows, `per_result` is what the process that was started spends on each. `slower` is how much
    longer a cell takes with each worker more on one machine, which share its memory.
    """

    cells: int
    queries: int
    depth: int
    workers: int = 1
    metrics: int = 7
    row_bytes: float = 35
    starting: float = 0.7
    cell: float = 0.012
    per_million_rows: float = 0.28
    per_result: float = 0.001
    storage: float = 1e9
    network: float = 1e9
    slower: float = 0.07

    @property
    def rows(self) -> int:
        """Rows of one cell."""
        return self.queries * self.depth

    @property
    def value_bytes(self) -> int:
        """Bytes of the values of one cell."""
        return 8 * self.queries * self.metrics

    @property
    def computing(self) -> float:
        """Processor seconds of one cell."""
        return self.cell + self.per_million_rows * self.rows / MILLION

    @property
    def all_values(self) -> int:
        """Bytes that the process that was started holds at the end."""
        return self.cells * self.value_bytes


def simulate(sweep: Sweep) -> float:
    """Return the seconds until the last result was taken in."""
    free = [sweep.starting] * sweep.workers
    reading = sweep.rows * sweep.row_bytes / sweep.storage
    working = sweep.computing * (1 + sweep.slower * (sweep.workers - 1))
    sending = sweep.value_bytes / sweep.network
    storage = taken_in = 0.0
    for _ in range(sweep.cells):
        begin = heapq.heappop(free)
        storage = max(storage, begin) + reading  # one after the other, at full speed
        done = max(storage, begin + working)  # a cell computes while it reads
        heapq.heappush(free, done)
        taken_in = max(taken_in, done) + sending + sweep.per_result
    return taken_in


def bound(sweep: Sweep) -> float:
    """Return the longest of what no order of work can shorten: computing, storage, network."""
    working = sweep.computing * (1 + sweep.slower * (sweep.workers - 1))
    return max(
        working * -(-sweep.cells // sweep.workers),
        sweep.cells * sweep.rows * sweep.row_bytes / sweep.storage,
        sweep.cells * (sweep.value_bytes / sweep.network + sweep.per_result),
    )


MEASURED = {
    "100 cells of 50 x 1,000, two workers": (Sweep(100, 50, 1000, workers=2), 2.06),
    "300 cells of 50 x 1,000, two workers": (Sweep(300, 50, 1000, workers=2), 5.26),
    "900 cells of 50 x 1,000, two workers": (Sweep(900, 50, 1000, workers=2), 13.04),
    "one cell of 6,980 x 1,000": (Sweep(1, 6980, 1000), 2.33),
    "one cell of 69,800 x 1,000": (Sweep(1, 69_800, 1000), 19.82),
}
"""Elapsed seconds of the sweeps, processor seconds of the single cells: ``RESULTS.md``."""
LARGE = {
    f"{workers} workers, storage of {speed:g} GB/s": Sweep(
        1000, MILLION, 1000, workers=workers, storage=speed * 1e9, slower=0.0
    )
    for workers, speed in ((1, 1.0), (100, 1.0), (100, 12.0), (100, 50.0))
}
"""A million queries x 1,000 documents x 1,000 runs, a machine for each worker."""


def main() -> None:
    """Print both tables."""
    print("| measured | s | simulated, s | ratio |\n|---|---:|---:|---:|")
    for name, (sweep, seconds) in MEASURED.items():
        found = simulate(sweep)
        print(f"| {name} | {seconds:g} | {found:.3g} | {found / seconds:.2f} |")
    print("\n| a million queries, 1,000 runs | hours | least possible |\n|---|---:|---:|")
    for name, sweep in LARGE.items():
        print(f"| {name} | {simulate(sweep) / 3600:.2f} | {bound(sweep) / 3600:.2f} |")


if __name__ == "__main__":
    main()
