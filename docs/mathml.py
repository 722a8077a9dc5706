r"""Write formulas as MathML, which browsers show without a script.

The formulas are in a part of LaTeX: letters, numbers, operators, ``_``, ``^``, ``\frac``,
``\sqrt``, ``\text``, ``\sum``, ``\prod`` and Greek letters.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

OPERATORS = {"sum": "∑", "prod": "∏", "cdot": "·"}
GREEK = {"alpha": "α", "beta": "β", "tau": "τ"}
FUNCTIONS = ("ln", "log", "exp", "min", "max", "floor")
TOKEN = re.compile(r"\\text\{([^}]*)\}|\\([A-Za-z]+)|(\d+(?:\.\d+)?)|([A-Za-z])|(\S)")


def formula(source: str) -> str:
    r"""Return a formula as a MathML block.

    >>> formula(r"\frac{1}{R} x_i")[43:-13]
    '<mfrac><mn>1</mn><mi>R</mi></mfrac><msub><mi>x</mi><mi>i</mi></msub>'
    """
    tokens = TOKEN.finditer(source)
    body = "".join(_row(tokens))
    return f'<div class="formula"><math display="block">{body}</math></div>'


def _row(tokens: Iterator[re.Match[str]]) -> list[str]:
    """Return the elements up to a closing brace or the end."""
    row: list[str] = []
    for token in tokens:
        if token[5] == "}":
            break
        if token[5] in ("_", "^"):
            base, script = row.pop(), _atom(next(tokens), tokens)
            row.append(_scripted(base, token[5], script))
        else:
            row.append(_atom(token, tokens))
    return row


def _scripted(base: str, mark: str, script: str) -> str:
    """Return an element with an index or exponent; sums have theirs below and above."""
    below, above, both = ("munder", "mover", "munderover")
    if not base.startswith(("<mo>∑", "<mo>∏", "<munder><mo>")):
        below, above, both = ("msub", "msup", "msubsup")
    if mark == "^" and base.startswith(f"<{below}>"):
        indexed = base.removeprefix(f"<{below}>").removesuffix(f"</{below}>")
        return f"<{both}>{indexed}{script}</{both}>"
    name = below if mark == "_" else above
    return f"<{name}>{base}{script}</{name}>"


def _atom(token: re.Match[str], tokens: Iterator[re.Match[str]]) -> str:
    """Return one element."""
    text, command, number, letter, sign = token.groups()
    if text is not None:
        return f"<mtext>{html.escape(text).replace(' ', '&nbsp;')}</mtext>"
    if command == "frac":
        return f"<mfrac>{_atom(next(tokens), tokens)}{_atom(next(tokens), tokens)}</mfrac>"
    if command == "sqrt":
        return f"<msqrt>{_atom(next(tokens), tokens)}</msqrt>"
    if command in FUNCTIONS:
        return f"<mi>{command}</mi>"
    if command:
        element = "mo" if command in OPERATORS else "mi"
        return f"<{element}>{(OPERATORS | GREEK)[command]}</{element}>"
    if number:
        return f"<mn>{number}</mn>"
    if letter:
        return f"<mi>{letter}</mi>"
    if sign == "{":
        inner = _row(tokens)
        return inner[0] if len(inner) == 1 else f"<mrow>{''.join(inner)}</mrow>"
    return f"<mo>{html.escape({'-': '−'}.get(sign, sign))}</mo>"
