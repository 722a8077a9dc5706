"""What a target is: bytes in, and nothing but a harness error or a right answer out."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError, HarnessError, HarnessWarning

SHARED_MEMORY = Path("/dev/shm")
_FOLDER = tempfile.TemporaryDirectory(
    prefix="harness-fuzz-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
)
FOLDER = Path(_FOLDER.name)
"""Where inputs are written as files; in memory where that can be, and gone at the end."""


@dataclass(frozen=True)
class Target:
    """One thing to fuzz.

    Parameters
    ----------
    name : str
    function : callable
        Takes bytes. It may raise a :class:`HarnessError`; anything else is a finding, an
        ``AssertionError`` about a wrong answer among them.
    seeds : tuple of bytes
        Valid inputs to start from.
    words : tuple of bytes
        What a mutation may put in.
    """

    name: str
    function: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()

    def __call__(self, data: bytes) -> None:
        """Feed `data` to the target; every warning but the harness's own is a finding too."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("error")
            warnings.simplefilter("always", HarnessWarning)
            try:
                self.function(data)
            except HarnessError as error:
                check_message(error)
        for warning in said:
            check_text(str(warning.message), 100_000)


def check_message(error: HarnessError) -> None:
    """A message can be printed, says something, and is not endless."""
    text = str(error)
    check_text(text, 100_000 if not isinstance(error, ConfigError) else 1_000_000)
    assert "Traceback" not in text


def check_text(text: str, most: int) -> None:
    """A text can be printed, says something, and is not endless."""
    text.encode()
    assert text.strip(), "a message that says nothing"
    assert len(text) < most, f"a message of {len(text)} characters"


def written(data: bytes, name: str) -> Path:
    """Return a file that holds `data`."""
    path = FOLDER / name
    path.write_bytes(data)
    return path
