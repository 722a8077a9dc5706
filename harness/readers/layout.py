"""What the columns of a line of text are, and the signal that a block has others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """The columns of a line of text.

    Parameters
    ----------
    fields : tuple of str
        What the columns hold, in their order.
    text : tuple of str
        Columns to read as strings.
    number : str
        Column to read as a number.
    also : tuple of str
        Columns to read as bytes, which may be any, or none.
    whole : bool
        Whether that number must be whole.
    more : bool
        Whether words after the last column are passed over, as trec_eval does in runs.
    header : int
        Lines at the beginning that are not data.
    repair : str
        What to do with a line that is wrong.
    not_finite : str
        What to do with a number that is NaN or infinite, where that is something else.
    n_rows : int, optional
        How many rows are wanted, where a line belongs to the dataset's row at the same place:
        then a blank line in between is wrong too.
    """

    fields: tuple[str, ...]
    text: tuple[str, ...]
    number: str
    also: tuple[str, ...] = ()
    whole: bool = False
    more: bool = False
    header: int = 0
    repair: str = "repair or delete the line"
    not_finite: str = ""
    n_rows: int | None = None

    def is_data(self, number: int, line: bytes) -> bool:
        """Whether a line is neither header nor blank nor a comment."""
        return number > self.header and bool(line.strip()) and not line.startswith(b"#")


class Refused(Exception):  # noqa: N818 - a signal: a block does not fit its layout
    """A block of text that Arrow could not read as its layout says."""
