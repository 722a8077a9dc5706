"""Golden values: what other programs printed, with their source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def golden(name: str) -> Any:
    """Return a golden file's content."""
    return json.loads((Path(__file__).parent / "golden" / f"{name}.json").read_text("utf-8"))
