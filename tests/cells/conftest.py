"""What tests of cells share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def outputs() -> Callable[[Path], dict[str, str]]:
    """Gives the hashes of what a run wrote into a folder, but for its cells and its time."""

    def hashes(folder: Path) -> dict[str, str]:
        files = [path for path in sorted(folder.glob("[!.]*")) if path.is_file()]
        files = [path for path in files if path.name != "timing.json"]
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    return hashes
