"""What a target is: bytes in, and nothing but a harness error or a right answer out."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError, HarnessError, HarnessWarning

_FOLDER = tempfile.TemporaryDirectory(prefix="harness-fuzz-")
FOLDER = Path(_FOLDER.name)


@dataclass(frozen=True)
class Target:
    """One thing to try: valid inputs, and the words that a change may put into them."""

    name: str
    function: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()

    def __call__(self, data: bytes) -> None:
        """Pass `data` to the target; any warning but the harness's own fails, too."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("error")
            warnings.simplefilter("always", HarnessWarning)
            try:
                self.function(data)
            except HarnessError as error:
                check_text(str(error), 1_000_000 if isinstance(error, ConfigError) else 100_000)
        for warning in caught:
            check_text(str(warning.message), 100_000)


def check_text(text: str, most: int) -> None:
    """A text can be printed, is not empty, and is not endless."""
    text.encode()
    assert text.strip(), "an empty message"
    assert len(text) < most, f"a message of {len(text)} characters"


def written(data: bytes, name: str) -> Path:
    """Return a file that holds `data`."""
    path = FOLDER / name
    path.write_bytes(data)
    return path
