"""The report inside a page of results, for tests."""

import base64
import gzip
import json
from typing import Any

import numpy as np

from harness.reports.page import DATA


def unpack(page: str) -> dict[str, Any]:
    """Report of a page, as ``pack`` got it."""
    rest = page.partition(DATA)[2]
    packed = gzip.decompress(base64.b64decode(rest[: rest.index("<")], validate=True))
    start = 4 + int.from_bytes(packed[:4], "little")
    content = json.loads(packed[4:start])

    def restored(node: Any) -> Any:
        if isinstance(node, dict) and [*node] == ["$"]:
            one = content["arrays"][node["$"]]
            values = np.frombuffer(packed, "<f8", one["distinct"], start + one["values"])
            codes = np.frombuffer(packed, f"<u{one['width']}", one["size"], start + one["codes"])
            return values[codes]
        if isinstance(node, dict):
            return {key: restored(value) for key, value in node.items()}
        return [restored(one) for one in node] if isinstance(node, list) else node

    found: dict[str, Any] = restored(content["report"])
    return found
