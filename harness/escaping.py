r"""Text from files -> text that each format of output shows as it stands, one function a format.

A name of a run, dataset, query or file may hold anything. LaTeX's function is
:func:`harness.tables.latex_text.escape`; names that become files are in
:mod:`harness.core.file_names`.
"""

from __future__ import annotations

import html
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

LONGEST = 300
"""Characters of one word that a terminal is shown; longer ones lose their middle."""

# controls of the terminal (C0, DEL, C1), of the writing direction, of nothing visible, line and
# paragraph separators, lone surrogates, and what is no character: U+200C and U+200D are letters'
_UNSEEN = (
    "\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\ufffe\uffff"
)
_CONTROL = re.compile(f"[\x00-\x1f{_UNSEEN}]")
_BETWEEN_LINES = re.compile(f"[\x00-\x09\x0b-\x1f{_UNSEEN}]")
_IN_JSON = re.compile(f"[{_UNSEEN}]")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
_OF_A_NAME = re.compile(r"\n(?!  )")
_LONG_WORD = re.compile(rf"\S{{{LONGEST + 1},}}")
_NO_FORMULA = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TO_QUOTE = re.compile(r'[",\r\n]')
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_IN_MARKDOWN = re.compile(r"[\\`*\[\]|$~#]|(?<!\w)_|_(?!\w)")
_AT_START = re.compile(r"[-+=](?=\s|$|[-=]*$)|\d{1,9}(?=[.)](?:\s|$))")
# GitHub makes links of @user, #1 and addresses and a picture of :smile:, escaped or not, but not
# around a comment
_LIVE = re.compile(r"(?<!\w)@(?=[A-Za-z])|:(?=[\w+-]+:)|\\#(?=\d)|(?<=\w):(?=//)|(?i:\bwww)(?=\.)")


def legible(text: str) -> str:
    r"""Return text on one line, what controls a terminal or is not seen as an escape of it.

    >>> print(legible("a\x1b[2Jb\n\u202ec"))
    a\x1b[2Jb\n\u202ec
    """
    return text if text.isascii() and text.isprintable() else _CONTROL.sub(_shown, text)


def for_terminal(text: str) -> str:
    r"""Return lines as a terminal may show them: :func:`legible`, and no word of thousands.

    >>> print(for_terminal("a\x07\nb"))
    a\x07
    b
    """
    return _LONG_WORD.sub(_without_middle, printable(text))


def lines_of(texts: Iterable[str]) -> str:
    r"""Return texts for a terminal, each on a line of its own.

    >>> print(lines_of(["a\nb", "c"]), end="")
    a\nb
    c
    """
    return for_terminal("".join(f"{legible(text)}\n" for text in texts))


def printable(text: str) -> str:
    r"""Return :func:`legible` text of several lines: a line feed stays."""
    return _BETWEEN_LINES.sub(_shown, text)


def in_message(text: str) -> str:
    r"""Return a sentence with indented lines below; other line feeds are a name's, and shown.

    >>> print(in_message("no run 'a\nerror: b'\n  there is c"))
    no run 'a\nerror: b'
      there is c
    """
    return _OF_A_NAME.sub(r"\\n", printable(text))


def in_json(value: Any, indent: int | None = None) -> str:
    r"""Return a value as JSON of visible characters, any script as it stands.

    It reads back to the same; what is not seen, would control a terminal or has no UTF-8 is
    written as ``\u202e``.

    >>> print(in_json({"qid": "検索\x85\ud800"}))
    {"qid": "検索\u0085\ud800"}
    """
    if indent is None:
        text = json.dumps(value, ensure_ascii=False)
    else:  # piece by piece: all of them at once take ten times the memory of the text
        sink = io.StringIO()
        json.dump(value, sink, indent=indent, ensure_ascii=False)
        text = sink.getvalue()
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def alike(names: Iterable[str], shown: Callable[[str], str] = lambda name: name) -> list[list[str]]:
    r"""Return names of which several look the same as they are shown, together.

    Told apart by no reader are Unicode's normalisations (NFC, NFD), and one white space from
    another or from several.

    >>> print(*map(ascii, alike(["caf\u00e9", "cafe", "cafe\u0301"])[0]))
    'caf\xe9' 'cafe\u0301'
    >>> alike(["a\tb", "a b", "ab"])
    [['a\tb', 'a b']]
    >>> alike(["a\tb", "a\nb", "a\u00a0b"], legible)
    []
    """
    seen: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        text = unicodedata.normalize("NFC", shown(name))
        seen.setdefault(" ".join(text.split()), []).append(name)
    return [some for some in seen.values() if len(some) > 1]


def said_of_alike(kind: str, names: Iterable[str]) -> Iterator[str]:
    r"""Yield what is to be said of names that look the same and are kept apart.

    >>> next(said_of_alike("runs", ["a\tb", "a b"])).split(",")[0]
    "runs 'a\\tb' and 'a b' look the same and are kept apart"
    """
    for some in alike(names):
        first, *others = (unicodedata.normalize("NFC", name) for name in some)
        why = "their names are normalised otherwise (NFC, NFD)"
        if any(other != first for other in others):
            why = "they differ in white space alone"
        yield (
            f"{kind} {' and '.join(map(ascii, some))} look the same and are kept apart, as {why}; "
            "write them alike where they are one"
        )


def csv_field(text: str) -> str:
    r"""Return a name that no spreadsheet takes for a formula: with an apostrophe before it.

    So begin names with ``=``, ``+``, ``-``, ``@``, a tab or a line break; a plain number stays.
    :func:`from_csv` takes it off again.

    >>> csv_field("=SUM(A1)"), csv_field("bm25"), csv_field("-1.5"), csv_field("-x")
    ("'=SUM(A1)", 'bm25', '-1.5', "'-x")
    """
    is_formula = _FORMULA.match(text) and not _NO_FORMULA.fullmatch(text)
    return f"'{text}" if is_formula else text


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    r"""Return rows of fields as CSV, with quotes around those that hold a line break of any kind.

    >>> csv_text([["run", "map"], ["a\rb", 0.5]])
    'run,map\n"a\rb",0.5\n'
    """
    return "".join(",".join(map(_quoted, row)) + "\n" for row in rows)


def _quoted(field: object) -> str:
    text = "" if field is None else str(field)
    return '"' + text.replace('"', '""') + '"' if _TO_QUOTE.search(text) else text


def from_csv(text: str) -> str:
    """Return a name as it was before :func:`csv_field`.

    >>> from_csv("'=SUM(A1)"), from_csv("'quoted'"), from_csv("-1.5")
    ('=SUM(A1)', "'quoted'", '-1.5')
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def in_html(text: str) -> str:
    """Return text that HTML shows as it stands, in an attribute too.

    >>> print(in_html("a & <b> \\"c\\""))
    a &amp; &lt;b&gt; &quot;c&quot;
    """
    return html.escape(printable(text))


def html_comment(text: str) -> str:
    """Return a comment of HTML, which text cannot end.

    >>> print(html_comment("a--->b"))
    <!-- a- - ->b -->
    """
    return f"<!-- {re.sub('-(?=-)', '- ', legible(text))} -->"


def in_markdown(text: str) -> str:
    r"""Return text that Markdown shows as it stands, at the beginning of a line or in a table.

    >>> print(in_markdown("a_b|c *d* <e>"))
    a_b\|c \*d\* &lt;e&gt;
    >>> print(in_markdown("by @user :smile: ndcg@10"))
    by @<!-- -->user :<!-- -->smile: ndcg@10
    >>> print(in_markdown("- a"), in_markdown("-0.5"), in_markdown("1. a"))
    \- a -0.5 1\. a
    """
    text = _IN_MARKDOWN.sub(r"\\\g<0>", legible(" ".join(text.split())))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _AT_START.sub(_no_block, text, count=1) if _AT_START.match(text) else text
    return _LIVE.sub(r"\g<0><!-- -->", text)


def _shown(found: re.Match[str]) -> str:
    sign = found[0]
    code = ord(sign)
    return _SHORT.get(sign) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def _without_middle(found: re.Match[str]) -> str:
    half = LONGEST // 2
    return f"{found[0][:half]}…{found[0][-half:]}"


def _no_block(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"
