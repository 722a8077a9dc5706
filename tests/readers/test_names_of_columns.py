"""The names that the first line of a CSV or TSV gives its columns: those that Arrow finds."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from harness import readers
from harness.errors import InputError
from harness.readers.table import names_in

Write = Callable[..., str]


def of_arrow(line: bytes, delimiter: str) -> list[str] | None:
    """Return Arrow's names; None where it cannot read the line."""
    whole = csv.ReadOptions(use_threads=False, block_size=len(line) + 2)
    try:
        table = csv.read_csv(
            pa.BufferReader(line + b"\n"), whole, csv.ParseOptions(delimiter=delimiter)
        )
    except pa.ArrowInvalid:
        return None
    return list(table.column_names)


@given(st.text('",;\t\r ab\\é', min_size=1, max_size=12), st.sampled_from(",\t"))
@example('"a ""b""",c', ",")
@example('"a\r\rb",c', ",")
@example('a"b,"c"d"e', ",")
@example("a,b\r", ",")
def test_they_are_arrows(text: str, delimiter: str) -> None:
    assume(text.strip())
    expected = of_arrow(text.encode(), delimiter)
    assume(expected is not None)
    assert names_in(text.encode(), delimiter, "a.csv:1") == expected


def test_a_quote_that_is_not_closed(write: Write) -> None:
    path = write("a.csv", '# made by me\nqid,docno,"score\n1,d,2\n')
    with pytest.raises(InputError) as error:
        readers.read_run(path, format="table")
    assert str(error.value) == (
        f"{path}:2: the first line cannot be split into columns: a quote is not closed\n"
        '  found: qid,docno,"score\n'
        "  fix:   repair the line"
    )
