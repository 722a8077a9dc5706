"""What a run's file says of itself: ir_metadata, YAML in comment lines at its head.

The format of Breuer et al. (ir_metadata: An Extensible Metadata Schema for IR Experiments, SIGIR
2022), whose sections are those of PRIMAD: platform, research goal, implementation, method, actor,
data.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from typing import Any

from ..errors import HarnessWarning
from .source import HEAD, Source

START, END = "# ir_metadata.start", "# ir_metadata.end"
SECTIONS = (
    "tag", "actor", "platform", "method", "data", "research goal", "implementation",
)  # fmt: skip
_MARK = re.compile(rb"^#[ \t]*ir_metadata\.(start|end)[ \t\r]*$")
LIMIT = 1 << 20
"""Bytes in which a header must end."""


def split(text: bytes) -> tuple[bytes | None, bytes]:
    r"""Return the YAML of the header that a text begins with, and what follows it.

    Comments before the header are passed over, and are gone from what follows.

    >>> split(b"# ir_metadata.start\n# tag: a\n# ir_metadata.end\n1 Q0 d 1 2 a\n")
    (b'tag: a\n', b'1 Q0 d 1 2 a\n')
    >>> split(b"# mine\n1 Q0 d 1 2 a\n")
    (None, b'# mine\n1 Q0 d 1 2 a\n')
    """
    rest, inside = text, False
    lines: list[bytes] = []
    while rest.startswith(b"#"):
        line, _, rest = rest.partition(b"\n")
        mark = _MARK.match(line)
        if mark and mark[1] == b"end" and inside:
            return b"".join(lines), rest
        if inside:
            lines.append(line.removeprefix(b"#").removeprefix(b" ").rstrip(b"\r") + b"\n")
        inside = inside or bool(mark and mark[1] == b"start")
    return None, text


def header_of(source: Source) -> dict[str, Any] | None:
    """Return the header of a run as plain data; None where it has none.

    Warns
    -----
    HarnessWarning
        Where it is not YAML, or no mapping: the run is read all the same.
    """
    if not source.head.startswith(b"#"):
        return None
    text, _ = split(source.head)
    if text is None and len(source.head) >= HEAD:
        text, _ = split(source.read(LIMIT).removeprefix(b"\xef\xbb\xbf"))
    if text is None:
        return None
    return parse(text, source.name)


def parse(text: bytes, name: str) -> dict[str, Any] | None:
    """Return YAML as plain data that JSON can hold; None and a warning where it is none."""
    import yaml

    from ..core.guarded_yaml import load

    try:
        found = load(text.decode("utf-8", "replace"))
        plain = json.loads(json.dumps(found, default=str))
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        why = " ".join(str(error).split())
        what = f"{name}: its ir_metadata cannot be read and is passed over: {why}"
        warnings.warn(HarnessWarning(what), stacklevel=3)
        return None
    if not isinstance(plain, dict):
        what = f"{name}: its ir_metadata is no mapping of keys to values, and is passed over"
        warnings.warn(HarnessWarning(what), stacklevel=3)
        return None
    return plain


def render(content: Mapping[str, Any]) -> bytes:
    """Return the comment lines that hold `content`, the sections in ir_metadata's order."""
    import yaml

    known = [key for key in SECTIONS if key in content]
    others = [key for key in content if key not in SECTIONS]
    ordered = {key: content[key] for key in (*known, *others)}
    text = yaml.safe_dump(ordered, allow_unicode=True, sort_keys=False, width=1000)
    lines = [START, *(f"# {line}".rstrip() for line in text.splitlines()), END]
    return "".join(f"{line}\n" for line in lines).encode()
