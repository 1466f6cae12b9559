"""Canonical JSON is RFC 8785's, whichever encoder writes it."""

from enum import StrEnum

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.encoding import canonical_json
from tests.each import each
from tests.tenth import examples

EDGES = [0.0, -0.0, 1.0, -1.0, 1e-4, 9.999e-5, 1e-5, 1e-6, 1e-7, 5e-324, 0.1, 0.85, 1 / 3, 1e15, 9007199254740991.0]
EDGES += [9007199254740992.0, 1e16, 9999999999999998.0, 1e20, 1e21, 1.7976931348623157e308, 123456.789, -0.000123]
FLOATS = st.one_of(st.floats(), st.floats(1e-6, 1e-3), st.floats(1e14, 1e22), st.sampled_from(EDGES))
WHOLE = st.one_of(st.integers(-(2**54), 2**54), st.sampled_from([2**53 - 1, 2**53, -(2**53) + 1, -(2**53)]))
TEXTS = st.one_of(st.text(), st.text('\x00\x1f\x7f"\\\n\u2028\ud800\ue000\U0001f9fe'))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), WHOLE, FLOATS, TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(TEXTS, inner, max_size=4)
    ),
    max_leaves=20,
)


def outcome(encode, value):
    try:
        return encode(value)
    except ValueError:
        return ValueError


@settings(max_examples=examples(300), deadline=None)
@given(VALUES)
def test_the_bytes_are_the_references(value):
    assert outcome(canonical_json, value) == outcome(rfc8785.dumps, value)


@settings(max_examples=examples(30), deadline=None)
@given(VALUES, st.sampled_from((99, 100, 101, 200, 450)), st.sampled_from(("z", "a", "é")))
def test_long_lists_and_wide_objects_are_the_references_too(value, count, name):
    wide = {f"{name}{number}": value for number in range(count)}
    whole = {name: [value] * count, "b": {"c": [[value] * count, wide], "": []}, "d": {}}
    assert outcome(canonical_json, whole) == outcome(rfc8785.dumps, whole)


@each("value", EDGES)
def test_floats_at_the_edges(value):
    assert canonical_json([value, -value]) == rfc8785.dumps([value, -value])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, {1: "a"}, "\ud800", {"\ud800": 1}, {"a": {1, 2}}])
def test_what_cannot_be_written_is_refused(value):
    with pytest.raises(ValueError):  # noqa: PT011 - the reference raises its own kinds
        canonical_json(value)


@pytest.mark.parametrize("names", ["\U0001f9fe\ue000", "\ue000\U0001f9fe", "é\uffff", "aBb1_A"])
def test_names_sort_by_utf_16(names):
    value = dict.fromkeys(names, 1)
    assert canonical_json(value) == rfc8785.dumps(value)


class Word(StrEnum):
    """A text with a name."""

    PLAIN = "plain"
    AWKWARD = 'é"\n🧾'


@pytest.mark.parametrize("word", Word)
def test_members_of_an_enumeration_are_their_text(word):
    value = {"kind": word, "all": [word, (word,)]}
    assert (
        canonical_json(value)
        == rfc8785.dumps(value)
        == canonical_json({"kind": word.value, "all": [word.value, [word.value]]})
    )
