"""Queries with one relevant document each, and runs that have it at chosen ranks."""

from pathlib import Path

QIDS = [str(n) for n in (10, 2, 1, 30, 7, 21, 3, 16, 5, 44, 12, 9)]


def write_qrels(path: Path, qids: list[str] = QIDS) -> None:
    path.write_text("".join(f"{qid} 0 r 1\n" for qid in qids))


def write_run(path: Path, ranks: dict[str, int]) -> None:
    """Write a run that has its relevant document at a rank per query."""
    lines = (
        f"{qid} Q0 {'r' if rank == hit else f'x{rank}'} {rank} {9 - rank} t\n"
        for qid, hit in ranks.items()
        for rank in range(1, 6)
    )
    path.write_text("".join(lines))
