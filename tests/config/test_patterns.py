"""Patterns: text and placeholders there and back, and what they find on disk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.config.patterns import Pattern, natural

NAMES = st.sampled_from(["fold", "seed", "model", "x_1"])
# Values without a separator, literals of separators only: then a text can be read in one way.
VALUES = st.text("abcXYZ0189äß", min_size=1, max_size=5)
LITERALS = st.text("-+()[]{}.*?^$|\\ #", min_size=1, max_size=4)


@st.composite
def patterns(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A pattern, and values for its placeholders."""
    text = draw(LITERALS).replace("{", "{{").replace("}", "}}")
    values: dict[str, str] = {}
    for name in draw(st.lists(NAMES, max_size=4)):
        values.setdefault(name, draw(VALUES))
        text += f"{{{name}}}" + draw(LITERALS).replace("{", "{{").replace("}", "}}")
    return text, values


@given(patterns())
def test_filling_and_matching_round_trip(case: tuple[str, dict[str, str]]) -> None:
    pattern, values = Pattern(case[0]), case[1]
    filled = pattern.fill(values)
    assert pattern.match(filled) == values
    assert pattern.match(filled, values) == values
    assert pattern.match(filled + "!") is None
    assert set(pattern.names) == set(values)


def test_an_earlier_placeholder_takes_as_much_as_it_can() -> None:
    assert Pattern("{model}-{seed}").match("linear-regression-1") == {
        "model": "linear-regression",
        "seed": "1",
    }


@given(
    st.lists(st.text(), unique=True).flatmap(lambda t: st.tuples(st.just(t), st.permutations(t)))
)
def test_natural_order_orders_any_text(texts: tuple[list[str], list[str]]) -> None:
    one, other = (sorted(given, key=natural) for given in texts)
    assert one == other
