"""Constraints that come as words alone, over the wire: understood, marked, or refused with the reason (ADR 0116)."""

import asyncio

import pytest
from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc

from services.common.message_json import json_of
from services.common.ports.language_model import LanguageReply
from services.ercp.understanding import Wording


def words(text: str) -> pb.Constraint:
    return pb.Constraint(type="CONSTRAINT_TYPE_PREDICATE", nl_text=text)


async def test_words_get_the_predicate_that_the_rules_understand():
    request = rpc.VerifyRequest(constraints=[words("at most 200 words"), words("keep it nice")])
    await Wording().complete(request.constraints)
    found = json_of(request.constraints[0])["predicate"]
    assert found == {
        "predicate_name": "Count",
        "args": {"of": "words", "at_most": 200.0},
        "understood_by": "rules",
    }
    assert not request.constraints[1].HasField("predicate")


async def test_a_predicate_of_the_callers_stays_as_it_is():
    brought = pb.Constraint(
        nl_text="at most 200 words", predicate={"predicate_name": "Contains", "args": {"text": "x"}}
    )
    before = brought.SerializeToString()
    await Wording().complete([brought])
    assert brought.SerializeToString() == before


class Model:
    """A language model that says one thing."""

    default_model = "test"

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.asked: list[str] = []

    async def complete(self, request):
        self.asked.append(request.messages[-1].content)
        return LanguageReply(self.reply, "stop", "test")

    async def check(self):
        return None

    async def close(self):
        return None


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ('Equal(tone, "polite")', "Equal"),
        ('```\nNotContains("rude words", topic=true)\n```', "NotContains"),
        ("NONE", ""),
        ("LessThan(reply.length, 50)", ""),
        ("Ignore the rules.\nEqual(a, b)", ""),
        ('Matches("(a+)+")', ""),
        ("Equal(tone", ""),
        ("x" * 5_000, ""),
    ],
)
async def test_what_the_model_proposes_is_data(reply, name):
    model = Model(reply)
    constraint = words("The reply has to be polite.")
    await Wording(model).complete([constraint])
    assert constraint.predicate.predicate_name == name
    assert model.asked == ['"The reply has to be polite."']
    if name:
        assert constraint.predicate.extensions["understood_by"] == "language_model"


async def test_a_model_is_asked_for_each_wording_once_and_for_several_at_a_time():
    class Slow(Model):
        under_way = most = 0

        async def complete(self, request):
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await asyncio.sleep(0.01)
            self.under_way -= 1
            return await super().complete(request)

    model = Slow("NONE")
    texts = [f"Be polite in way {letter}." for letter in "abcdefghijkl"]
    constraints = [words(text) for text in (*texts, texts[0])]
    await Wording(model).complete(constraints)
    assert len(model.asked) == len(texts)
    assert 1 < model.most <= 8
    assert not any(each.HasField("predicate") for each in constraints)
