"""Golden values: what other programs printed, with their source."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest


def golden(name: str) -> Any:
    return json.loads((Path(__file__).parent / "golden" / f"{name}.json").read_text("utf-8"))


@cache
def shared_conventions() -> Any:
    """Values that each tool printed for the lists in ../shared; the test skips without them."""
    path = Path(__file__).resolve().parents[2] / "shared" / "golden" / "conventions.json"
    if not path.is_file():
        pytest.skip("needs the data in ../shared")
    return json.loads(path.read_text(encoding="utf-8"))
