"""Refusals of bodies speak of the body: no class of ours, no branch of a choice, no hint for programmers."""

import json

import pytest

from services.common.errors import InvalidRequestError
from services.gateway.doors.http.chat.forms import OpenAiDialect
from services.gateway.doors.http.check_schemas import MOST_FACTS, CheckForm
from services.gateway.doors.http.json_bodies import read_form
from services.gateway.doors.http.messages.forms import AnthropicDialect
from tests.speed import processor_time_below

LEAKS = ("Form", ".str", "pydantic", "Input", "valid", "sys.", "codec", "instance")


def refused(body, form=CheckForm):
    with pytest.raises(InvalidRequestError) as caught:
        read_form(body if isinstance(body, bytes) else json.dumps(body).encode(), form)
    told = [caught.value.message, *(f"{one.field} {one.description}" for one in caught.value.violations)]
    assert not [leak for leak in LEAKS for text in told if leak in text]
    return {one.field: one.description for one in caught.value.violations}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"facts": []}, {"answer": "is missing"}),
        ({"answer": 3}, {"answer": "must be a text"}),
        (
            {"answer": "a", "facts": [{"text": "b"}]},
            {
                "facts[0].content": "is missing",
                "facts[0].text": "is no field of this object, which takes content, title",
            },
        ),
        ({"answer": "a", "facts": ["b", 3]}, {"facts[1]": "must be a text or an object"}),
        ({"answer": "a", "facts": "b"}, {"facts": "must be a list"}),
        ({"answer": "a", "report": "maybe"}, {"report": "must be true or false"}),
        (
            {"answer": "a", "earlier_answers": ["x"] * 101},
            {"earlier_answers": "must have at most 100 items, not 101"},
        ),
    ],
)
def test_a_fault_names_the_callers_own_place_and_what_is_right_there(body, told):
    assert refused(body) == told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"a":' + b"1" * 10_000 + b"}", "a number has more digits than can be read; write it as a string"),
        (b"\xff{}", "byte 0 is no UTF-8"),
        (b'{"a":1', "at line 1, column 7"),
        (b'{"a":NaN}', "NaN is no number of JSON"),
        (b"[1]", "must be a JSON object"),
    ],
)
def test_what_is_no_json_is_said_in_words_of_json(body, told):
    assert told in refused(body)["body"]


@pytest.mark.timed
def test_thousands_of_faults_are_told_as_some():
    with processor_time_below(5.0):
        found = refused({"answer": "a", "facts": [{"text": "b"}] * MOST_FACTS})
    assert 0 < len(found) <= 32


@pytest.mark.parametrize("dialect", [OpenAiDialect(), AnthropicDialect()])
@pytest.mark.parametrize(
    ("more", "field", "told"),
    [
        ({"stream": "yes"}, "stream", "must be true or false"),
        ({"stream": 1}, "stream", "must be true or false"),
        ({"groundtrail": 3}, "groundtrail", "must be an object"),
        ({"groundtrail": {"facts": [3]}}, "groundtrail.facts[0]", "must be a text or an object"),
        ({"groundtrail": {"mode": "x"}}, "groundtrail.mode", "must be 'ground', 'check' or 'observe'"),
    ],
)
def test_of_a_chat_it_is_said_likewise(dialect, more, field, told):
    with pytest.raises(InvalidRequestError) as caught:
        dialect.read(json.dumps({"messages": []} | more).encode())
    (fault,) = caught.value.violations
    assert (fault.field, fault.description) == (field, told)
