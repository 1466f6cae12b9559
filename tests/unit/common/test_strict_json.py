"""Callers' JSON as I-JSON: a name that stands twice in an object is refused with its path (RFC 7493 §2.3)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.strict_json import RepeatedNameError, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"a":1,"a":2}', "data.a"),
        ('{"a":1,"a":1}', "data.a"),
        ('{"b":0,"a":{"x":[1,{"y":2,"z":3,"y":4}]}}', "data.a.x[1].y"),
        ('{"a":{"x":1,"x":2},"b":{"y":1,"y":2}}', "data.a.x"),
        ('{"a":{"x":1,"x":2},"a":3}', "data.a"),
        ('{"a":1,"\\u0061":2}', "data.a"),
        ('[{"":1,"":2}]', "data[0]."),
        ('{"\\ud800":1,"\\ud800":2}', "data.?"),
    ],
)
def test_the_path_of_a_name_that_stands_twice(text, path):
    with pytest.raises(RepeatedNameError) as caught:
        read_json(text, "data")
    assert caught.value.path == path


def test_a_long_path_keeps_its_end():
    deep = '{"name":' * 60 + '{"x":1,"x":2}' + "}" * 60
    with pytest.raises(RepeatedNameError) as caught:
        read_json(deep, "data")
    assert len(caught.value.path) <= 180
    assert caught.value.path.endswith(".name.x")


@pytest.mark.parametrize("text", ["NaN", '{"a":Infinity}', "[-Infinity]", "{", "", "{'a':1}"])
def test_what_is_no_json(text):
    with pytest.raises(ValueError, match=r".") as caught:
        read_json(text)
    assert not isinstance(caught.value, RepeatedNameError)


@given(VALUES)
def test_everything_else_is_read_as_the_library_reads_it(value):
    text = json.dumps(value)
    assert read_json(text) == json.loads(text) == value


@given(st.dictionaries(st.text(max_size=3), VALUES, min_size=1, max_size=4), st.data())
def test_one_name_more_is_always_found(fields, data):
    twice = data.draw(st.sampled_from(sorted(fields)))
    inside = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in fields.items())
    with pytest.raises(RepeatedNameError):
        read_json(f'[0,{{"in":{{{inside},{json.dumps(twice)}:null}}}}]')
