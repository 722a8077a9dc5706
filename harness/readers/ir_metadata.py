"""ir_metadata, YAML in comment lines at the head of a run, and the YAML loader with limits.

The format of Breuer et al. (ir_metadata: An Extensible Metadata Schema for IR Experiments, SIGIR
2022), with the sections of PRIMAD.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from ..core.rules import finding
from ..errors import shorten
from .source import HEAD, Source

LIMIT = 1 << 20  # Bytes in which a header must end
_HEADER = re.compile(
    rb"(?:#.*\n)*?#[ \t]*ir_metadata\.start[ \t\r]*\n((?:#.*\n)*?)"
    rb"#[ \t]*ir_metadata\.end[ \t\r]*(?:\n|$)"
)


def header_text(text: bytes) -> bytes | None:
    r"""Return the YAML of the header that a text begins with, after other comments, if any.

    >>> header_text(b"# ir_metadata.start\n# tag: a\n# ir_metadata.end\n1 Q0 d 1 2 a\n")
    b'tag: a\n'
    >>> header_text(b"# mine\n1 Q0 d 1 2 a\n")
    """
    header = _HEADER.match(text)
    return header and re.sub(rb"^# ?|\r$", b"", header[1], flags=re.MULTILINE)


def header_of(source: Source) -> dict[str, Any] | None:
    """Return the header of a run as plain data; None if it has none, or a warned-about one."""
    if not source.head.startswith(b"#"):
        return None
    text = header_text(source.head)
    if text is None and len(source.head) >= HEAD:
        text = header_text(source.read(LIMIT).removeprefix(b"\xef\xbb\xbf"))
    if text is None:
        return None
    try:
        metadata = load(text.decode("utf-8", "replace"))
        plain = json.loads(json.dumps(metadata, default=str))
        if isinstance(plain, dict):
            return plain
        why = "it is not a mapping of keys to values"
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        why = " ".join(str(error).split())
    message = f"its ir_metadata cannot be read and is ignored: {why}"
    source.findings.append(finding("reader", source.name, message))
    return None


SIZE = 4 << 20  # Characters of one text
DEPTH = 50  # Mappings and lists inside each other
PARTS = 200_000  # Values in all, those that aliases repeat counted each time
_LONE = re.compile("[\ud800-\udfff]")
_PLAIN = re.compile(r"[+-]?(0|[1-9][0-9]*)")
"""A plain whole number: no 010 for 8, no 1:30 for 90, no 1_000."""
_KINDS = {"int": "a whole number", "float": "a number", "bool": "'true' or 'false'"}
"""YAML's tags in plain words."""


class YAMLLimitError(yaml.MarkedYAMLError):
    """A text is valid YAML, and beyond the limits of a config or a header."""


class Loader(yaml.SafeLoader):
    """PyYAML's safe loader with limits of depth and growth, and no surprising numbers.

    Aliases are fine; each counts as all that it repeats, so that nine lines of nine aliases each
    are refused before anything is made of them.
    """

    def __init__(self, text: str) -> None:
        self.nesting = 0
        self.sizes: dict[int, int] = {}
        super().__init__(text)

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node; refuse one that is too deep or repeats too much."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        self.nesting += 1
        if self.nesting > DEPTH:
            self._refuse(f"more than {DEPTH} mappings and lists inside each other", mark)
        node: Any = super().compose_node(parent, index)
        self.nesting -= 1
        if isinstance(node, yaml.CollectionNode) and id(node) not in self.sizes:  # no alias
            pairs = node.value if isinstance(node, yaml.MappingNode) else zip(node.value)
            size = 1 + sum(self.sizes.get(id(node), 1) for pair in pairs for node in pair)
            self.sizes[id(node)] = size
            if size > PARTS:
                self._refuse(f"more than {PARTS:,} values, those of aliases counted again", mark)
        return node

    def construct_yaml_int(self, node: Any) -> Any:
        """Return a whole number; refuse one that YAML reads otherwise than it looks."""
        value = super().construct_yaml_int(node)
        if not _PLAIN.fullmatch(node.value):
            fix = "write that, or put it in quotes"
            message = f"YAML would read {node.value!r:.60} as {value}; {fix}"
            raise yaml.constructor.ConstructorError(None, None, message, node.start_mark)
        return value

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Return a value; a text that does not fit its tag is YAML's error."""
        try:
            return super().construct_object(node, deep)
        except (AttributeError, KeyError, IndexError, ValueError, OverflowError) as error:
            value, kind = str(getattr(node, "value", "")), node.tag.rpartition(":")[2]
            message = f"expected {_KINDS.get(kind, kind)}, got '{shorten(value, 60)}'"
            raise yaml.constructor.ConstructorError(None, None, message, node.start_mark) from error

    def scan_flow_scalar_non_spaces(self, double: Any, start_mark: Any) -> Any:
        """Return a piece of quoted text; refuse escapes that are not characters."""
        try:
            chunks = super().scan_flow_scalar_non_spaces(double, start_mark)
        except (ValueError, OverflowError):
            self._refuse("an escape that is not a character", self.get_mark())
        if any(map(_LONE.search, chunks)):
            self._refuse("half of a surrogate pair, which is not a character", self.get_mark())
        return chunks

    def _refuse(self, message: str, mark: Any) -> None:
        raise YAMLLimitError(None, None, message, mark)


Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_yaml_int)


def composed(text: str) -> tuple[Loader, yaml.Node | None]:
    """Return the constructor of values, and the node of a YAML text, None if it is empty."""
    if len(text) > SIZE:
        start = yaml.Mark("", 0, 0, 0, None, 0)
        raise YAMLLimitError(None, None, f"the text is longer than {SIZE:,} characters", start)
    loader = Loader(text)
    return loader, loader.get_single_node()


def load(text: str) -> Any:
    """Return the data of a YAML text, or raise ``yaml.YAMLError``."""
    loader, node = composed(text)
    return None if node is None else loader.construct_document(node)
