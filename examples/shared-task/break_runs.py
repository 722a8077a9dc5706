"""Write ten broken copies of a run, each with a mistake that real submissions had."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

Row = list[str]


def broken(run: Path, docnos: list[str]) -> dict[str, bytes]:
    """Return the ten files by name."""
    rows = [line.split() for line in run.read_text().splitlines()]

    def text(rows: list[Row], tag: str) -> bytes:
        return "".join(f"{' '.join([*row[:5], tag])}\n" for row in rows).encode()

    def changed(tag: str, **columns: object) -> bytes:
        names = ("qid", "Q0", "docno", "rank", "score")
        made = [
            [str(columns.get(n, "{}")).format(v) for n, v in zip(names, row, strict=False)]
            for row in rows
        ]
        return text(made, tag)

    nan = [[*row[:4], "nan" if n == 40 else row[4]] for n, row in enumerate(rows)]
    deep = [
        [qid, "Q0", docno, str(rank), str(2000 - rank)]
        for qid in dict.fromkeys(row[0] for row in rows)
        for rank, docno in enumerate(docnos, 1)
    ]
    whole = text(rows, "archive")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        member = tarfile.TarInfo("archive.run")
        member.size = len(whole)
        tar.addfile(member, io.BytesIO(whole))
    return {
        "prefix.run": changed("prefix", docno="task-{}"),
        "ranks.run": text([[*row[:4], row[3]] for row in rows], "ranks"),
        "nan.run": text(nan, "nan"),
        "duplicates.run": text([*rows[:20], rows[10], *rows[20:]], "duplicates"),
        "cut.run": text(rows, "cut")[: -len(rows[-1][4]) - 7],
        "page.run": b"<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n",
        "archive.run.gz": archive.getvalue(),
        "other-collection.run": text(
            [[*row[:2], f"{int(row[2][4:]) + 5000:08d}", *row[3:]] for row in rows], "other"
        ),
        "deep.run": text(deep, "deep"),
        "copy.run": text(rows, "copy"),
    }


if __name__ == "__main__":
    source, list_of_docnos, target = map(Path, sys.argv[1:4])
    target.mkdir(parents=True, exist_ok=True)
    for name, content in broken(source, list_of_docnos.read_text().split()).items():
        (target / name).write_bytes(content)
