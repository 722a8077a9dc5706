"""Runs in the parts in which a file streams past, without judgements to align them to."""

from collections.abc import Iterator
from typing import Any

from harness.core.qrels_and_runs import Run
from harness.readers import read_run, reading
from harness.readers.format import format_and_reader
from harness.readers.read import _checked

COMMON = ("dataset", "duplicates", "order", "documents", "name")


def run_parts(path: Any, *, format: str | None = None, **options: Any) -> Iterator[Run]:
    """Yield parts of whole queries; the whole run if its format has none."""
    own = {name: value for name, value in options.items() if name not in COMMON}
    with reading(path) as source:
        file_format, _ = format_and_reader(source, format, "run", own)
        if file_format.stream is None:
            yield read_run(source, format=file_format.name, **options)
        else:
            settings = {"follows": file_format.needs_dataset, "dataset": None, **options}
            yield from _checked(source, file_format.stream, **settings)
