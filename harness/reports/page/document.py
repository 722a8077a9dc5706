"""The report page as one HTML file: packed data, the script, the style, and a plain table."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import struct
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from ...core.ragged import Floats

LIMIT = "default-src 'none'; img-src data:; connect-src data:; form-action 'none'; base-uri 'none'"

DATA = '<script type="application/octet-stream" id="data">'


def pack(report: dict[str, Any]) -> bytes:
    """Return a report as gzip of: length of the JSON text (uint32), the text, the arrays.

    Arrays of floats anywhere in `report` are stored as distinct values and codes, which keeps
    every bit and takes a byte or two per value. The same report gives the same bytes.
    """
    arrays: list[dict[str, int]] = []
    blobs: list[bytes] = []
    size = 0

    def put(content: bytes) -> int:
        nonlocal size
        at = size
        blobs.append(content)
        size += len(content)
        return at

    def plain(node: Any) -> Any:
        if isinstance(node, np.ndarray):
            arrays.append(_array(node.astype(np.float64).ravel(), put))
            return {"$": len(arrays) - 1}
        if isinstance(node, dict):
            return {key: plain(value) for key, value in node.items()}
        if isinstance(node, (list, tuple)):
            return [plain(one) for one in node]
        return None if isinstance(node, float) and node != node else node

    content = {"report": plain(report), "arrays": arrays}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    packed = struct.pack("<I", len(text)) + text + b"".join(blobs)
    return gzip.compress(packed, compresslevel=9, mtime=0)


def _array(values: Floats, put: Any) -> dict[str, int]:
    """Return where the distinct values of an array and its codes are; `put` stores bytes."""
    distinct, codes = np.unique(values.view(np.uint64), return_inverse=True)
    width = 1 if len(distinct) <= 1 << 8 else 2 if len(distinct) <= 1 << 16 else 4
    return {
        "values": put(distinct.astype("<u8").tobytes()),
        "distinct": len(distinct),
        "codes": put(codes.astype(f"<u{width}").tobytes()),
        "width": width,
        "size": len(values),
    }


def unpack(page: str) -> dict[str, Any]:
    """Return the report of a page, as :func:`pack` got it; raises ValueError if there is none."""
    _, mark, rest = page.partition(DATA)
    if not mark:
        raise ValueError("no data")
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


def document(report: dict[str, Any]) -> str:
    """Return the page of what ``src/data.ts`` calls a ``Report``."""
    folder = files(__package__)
    script = folder.joinpath("page.js").read_text(encoding="utf-8").strip()
    style = folder.joinpath("src/style.css").read_text(encoding="utf-8")
    data = base64.b64encode(pack(report)).decode("ascii")
    side_files = sorted(set(report["rankingFiles"].values()))
    scripts = " ".join(f"'sha256-{_digest(text)}'" for text in (script,))
    scripts += " file: 'self'" if side_files else ""
    policy = f"{LIMIT}; style-src 'sha256-{_digest(style)}'; script-src {scripts}"
    title = escape(report["title"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="app"><header class="top"><h1>{title}</h1></header><main>{_plain_table(report)}</main></div>
{DATA}{data}</script>
<script>{script}</script>
</body>
</html>
"""


def _plain_table(report: dict[str, Any]) -> str:
    """Return the first leaderboard as HTML, for readers without JavaScript."""
    board, metrics = report["boards"][0], report["metrics"]
    arrows = {1: " ↑", -1: " ↓", 0: ""}
    heads = ["System", *(one["label"] + arrows[one["direction"]] for one in metrics)]
    values = [column["value"] for column in board["columns"]]
    first = values[0] * (metrics[0]["direction"] or 1)
    lines = []
    for row in np.argsort(-first, kind="stable"):
        name = report["systems"][board["systems"][row]]["name"]
        cells = [
            "–" if np.isnan(column[row]) else f"{column[row]:.{metric['digits']}f}"
            for column, metric in zip(values, metrics, strict=True)
        ]
        body = "".join(f'<td class="number">{cell}</td>' for cell in cells)
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{body}</tr>')
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    return (
        f'<section class="panel"><h2>{escape(board["dataset"])}</h2><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></section>"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
