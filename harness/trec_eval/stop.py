"""How the program ends before its time: a message and trec_eval's exit status."""

from __future__ import annotations

USAGE, FILES, CALCULATION, NOTHING = 1, 2, 4, 7
"""trec_eval's exit statuses: wrong usage; a file or a parameter; a query; no query at all."""


class Stop(Exception):  # noqa: N818 - the end of the program, which may be a good one
    """Ends the program with an exit status; the message goes to standard error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message
