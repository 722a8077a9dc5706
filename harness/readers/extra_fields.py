"""Lines with more fields than are read: how many, and the first of them."""

from __future__ import annotations

import re

from .build import warn
from .room import give_back
from .source import Source
from .wrong_lines import TEXT


def warn_extra(source: Source, n_fields: int) -> None:
    """Warn of lines whose fields after the first `n_fields` were passed over.

    Only the blocks that were read the slow way for it are looked at again.
    """
    if not source.cut_blocks:
        return
    longer = re.compile(rb"^(?!#)[^\S\n]*(?:\S+[^\S\n]+){%d}\S.*" % n_fields, re.MULTILINE)
    n, line, text, passed, at = 0, 0, "", 0, 0
    wanted = {*source.cut_blocks}
    give_back()  # what reading took
    for block in source.blocks():  # enumerate would hold the one before
        if at in wanted:
            if not n and (first := longer.search(block)):
                line = passed + block.count(b"\n", 0, first.start()) + 1
                end = min(first.end(), first.start() + TEXT)
                text = block[first.start() : end].decode("utf-8", "replace").strip()
                del first  # which holds the block
            n += sum(1 for _ in longer.finditer(block))
        if not n:
            passed += block.count(b"\n")
        at += 1  # noqa: SIM113
        del block  # before the next one is read
    if n:
        which = "1 line has" if n == 1 else f"{n:,} lines have"
        what = (
            f"{which} more than {n_fields} fields, first line {line}; the first {n_fields} are "
            "read, as in trec_eval, so that a docno with a blank has its rank for a score"
        )
        warn(source, what, "extra-fields", n, line, (text,))
