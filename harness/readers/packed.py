"""What compresses a file: told by its first bytes, whatever its name says."""

from __future__ import annotations

import re
import warnings

from ..errors import HarnessWarning, InputError, Problem

_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
_KNOWN = re.compile(rb"PAR1|ARROW1|FEA1|\x93NUMPY|PK\x03\x04|\x80[\x02-\x05]|\xff\xfe|\xfe\xff")
"""What other files than text begin with, of which more is said where they are read."""
_ODD = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_MOST = 0.1
"""Share of bytes that no text has from which on it is none; compressed data have half of them."""


def codec_of(first: bytes) -> str:
    r"""Return what compresses data that begin so; ``""`` where nothing does.

    >>> codec_of(b"\x1f\x8b\x08\x00"), codec_of(b"301 0 d1 1")
    ('gzip', '')
    """
    return next((codec for codec, magic in _MAGIC.items() if magic.match(first)), "")


def check_name(name: str, suffix: str, first: bytes) -> None:
    """Look whether a file is compressed as its suffix says.

    Parameters
    ----------
    name : str
        For messages.
    suffix : str
        In lower case.
    first : bytes
        What the file begins with.

    Raises
    ------
    InputError
        Where it is neither compressed nor anything that is known: its beginning is damaged.

    Warns
    -----
    HarnessWarning
        Where it is something else.
    """
    codec = codec_of(first)
    if suffix not in PACKED or codec == PACKED[suffix]:
        return
    odd = _share_of_odd(first)
    if codec or _KNOWN.match(first):
        held = f"{codec} data" if codec else "data that are not compressed"
    elif odd >= _MOST:
        what = f"named {suffix} and has no {suffix[1:]} header, nor is it text"
        raise InputError(Problem(name, what, fix="get the whole file again", rule="damaged"))
    else:
        held = "data that are not compressed" if odd else "plain text"
    what = f"{name}: named {suffix}, but holds {held}; read as what it is"
    warnings.warn(HarnessWarning(what, "other-compression"), stacklevel=4)


def _share_of_odd(first: bytes) -> float:
    """Return the share of bytes that are no UTF-8 text."""
    n_text = len(first.decode("utf-8", "ignore").encode())
    return (len(first) - n_text + len(_ODD.findall(first))) / max(len(first), 1)
