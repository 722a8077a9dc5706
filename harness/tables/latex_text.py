r"""Text as LaTeX: every character either stands for itself, or is a command or formula for it."""

from __future__ import annotations

import re
import unicodedata

_COMMANDS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "–": "--", "—": "---", "’": "'", "‘": "`",
    "“": "``", "”": "''", "…": r"\ldots{}", "§": r"\S{}", "¶": r"\P{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}  # fmt: skip
_FORMULAS = {
    "↑": r"\uparrow", "↓": r"\downarrow", "→": r"\rightarrow", "←": r"\leftarrow",
    "↔": r"\leftrightarrow", "±": r"\pm", "×": r"\times", "·": r"\cdot", "−": "-", "≤": r"\leq",
    "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "∞": r"\infty", "†": r"\dagger",
    "‡": r"\ddagger", "‖": r"\Vert", "√": r"\surd", "∑": r"\sum", "∆": r"\Delta",
    "²": "^2", "³": "^3", "¹": "^1", "°": r"^\circ", "µ": r"\mu", "★": r"\star", "•": r"\bullet",
}  # fmt: skip
_GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "o", "pi", "rho", "varsigma", "sigma", "tau", "upsilon"),
    *("phi", "chi", "psi", "omega"),
)
_CAPITALS = {"Γ", "Δ", "Θ", "Λ", "Ξ", "Π", "Σ", "Υ", "Φ", "Ψ", "Ω"}
for _place, _name in enumerate(_GREEK):
    _FORMULAS[chr(ord("α") + _place)] = _name if _name == "o" else f"\\{_name}"
    if (_capital := chr(ord("Α") + _place)) in _CAPITALS:
        _FORMULAS[_capital] = f"\\{_name.capitalize()}"
_COMMANDS |= dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))
_IN_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=,)(?=,)|(?<=')(?=')")
_SIGNS = {"†": r"\dagger", "‡": r"\ddagger", "§": r"\S", "¶": r"\P", "‖": r"\Vert", "–": "{-}"}
# the widths of Computer Modern's italics and symbols
_ROOM = dict(zip("abcdefghijklmnopqrstuvwxyz", (
    529, 429, 433, 520, 466, 490, 477, 576, 345, 412, 521, 298, 878, 600, 485, 503, 446, 451, 469,
    361, 572, 485, 716, 572, 490, 465,
), strict=True)) | {",": 278, "†": 444, "‡": 444, "§": 444, "¶": 611, "‖": 500, "–": 778
}  # fmt: skip
_LATIN = {chr(code) for code in range(0xA1, 0x180)} - {"\xad"}


def escape(text: str) -> str:
    r"""Return text that LaTeX prints as it stands.

    Latin letters with accents stay, and need ``T1`` for some of them; arrows, Greek and signs
    become formulas. What pdfLaTeX has no character for is written as ``[U+4E2D]``.

    >>> print(escape("P@5 ↑ of my_run & 50%"))
    P@5 $\uparrow$ of my\_run \& 50\%
    >>> print(escape("a--b, café, 中"))
    a-{}-b, café, {[}U+4E2D{]}
    """
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return "{}".join("".join(map(_one, part)) for part in _IN_LIGATURES.split(text))


def _one(sign: str) -> str:
    if sign in _COMMANDS:
        return _COMMANDS[sign]
    if sign in _FORMULAS:
        return f"${_FORMULAS[sign]}$"
    if " " <= sign <= "~" or sign in _LATIN:
        return sign
    return f"{{[}}U+{ord(sign):04X}{{]}}"


def in_math(sign: str) -> str:
    r"""Return a letter or daggers as a part of a formula.

    >>> print(in_math("ab"), in_math("†‡"))
    ab \dagger\ddagger
    """
    return "".join(_SIGNS.get(one, one) for one in sign)


def room(signs: str) -> int:
    r"""Return how wide letters and daggers are in a formula, in thousandths of an em.

    >>> room("ab"), room("m"), room("†")
    (958, 878, 444)
    """
    return sum(_ROOM.get(sign, 500) for sign in signs)
