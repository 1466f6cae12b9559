"""``guard(client)`` around the real package ``openai``, and around a client in Anthropic's form (ADR 0154)."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from groundtrail import Fact, GroundtrailError, Level, WithheldError, guard
from groundtrail.guarding.forms import OpenAIForm
from groundtrail.guarding.holding import Holding
from openai import AsyncOpenAI, OpenAI

from tests.fakes.checks import FEE, memory_models
from tests.fakes.dpe_world import World
from tests.fakes.scripted_chat import ScriptedChat

WRONG = "The fee for late reports is 7 euros."
HAIL = "Hail is covered in every branch."
LONGER = f"{FEE} {HAIL} {WRONG} Nothing else is said about it."
ASK: dict[str, Any] = {
    "model": "scripted",
    "messages": [{"role": "system", "content": f"{FEE} {HAIL}"}, {"role": "user", "content": "Fee?"}],
}


@pytest.fixture
async def checks():
    async with World(models=memory_models()).serving() as client:
        yield client.address


@pytest.fixture
def provider():
    script = ScriptedChat(lambda _messages: told.said)
    with script.running() as base:
        told = SimpleNamespace(base=base, said="", asked=script.asked)
        yield told


def guarded(provider, checks, said, kind=AsyncOpenAI, **more):
    provider.said = said
    return guard(kind(base_url=provider.base, api_key="none"), server=checks, api_key="reader", **more)


async def test_a_true_answer_arrives_as_it_is_and_a_wrong_one_raises(provider, checks):
    completion = await guarded(provider, checks, FEE).chat.completions.create(**ASK)
    assert completion.choices[0].message.content == FEE
    assert completion.model_extra == {}
    with pytest.raises(WithheldError, match="Withheld: risk level HIGH") as withheld:
        await guarded(provider, checks, WRONG).chat.completions.create(**ASK)
    assert withheld.value.level is Level.HIGH
    (claim,) = withheld.value.claims
    assert (claim.verdict, claim.quotes[0].words) == ("CONTRADICTED", FEE)


async def test_a_client_that_waits_is_guarded_alike(provider, checks):
    def waiting(said, **more):
        client = guarded(provider, checks, said, OpenAI)
        assert isinstance(client, OpenAI)
        if more:
            return [chunk.choices[0].delta.content for chunk in client.chat.completions.create(**ASK, **more)]
        return client.chat.completions.create(**ASK).choices[0].message.content

    assert await asyncio.to_thread(waiting, FEE) == FEE
    pieces = await asyncio.to_thread(waiting, f"{FEE} {HAIL}", stream=True)
    assert "".join(filter(None, pieces)).strip() == f"{FEE} {HAIL}"
    for more in ({}, {"stream": True}):
        with pytest.raises(WithheldError):
            await asyncio.to_thread(waiting, WRONG, **more)


@pytest.mark.parametrize("said", [LONGER, WRONG, f"{HAIL} {WRONG}"])
async def test_of_a_stream_nothing_of_a_wrong_sentence_leaves(provider, checks, said):
    seen = []
    stream = await guarded(provider, checks, said).chat.completions.create(**ASK, stream=True)

    async def read():
        async for chunk in stream:
            seen.append(chunk.choices[0].delta.content or "")  # noqa: PERF401 - what came before the error counts

    with pytest.raises(WithheldError):
        await read()
    assert "".join(seen).strip() == said[: said.index(WRONG)].strip()


async def test_a_stream_leaves_sentence_by_sentence(checks):
    """The provider waits in the middle of its second sentence until the first one was seen."""
    seen = asyncio.Event()

    async def chunks():
        for text in (*FEE.split(" "), *HAIL.split(" ")[:2]):
            yield _chunk(f"{text} ")
        await seen.wait()
        yield _chunk("is covered.")

    async def create(**_):
        return chunks()

    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    stream = await guard(client, server=checks, api_key="reader").chat.completions.create(**ASK, stream=True)
    text = ""
    async for chunk in stream:
        text += chunk.choices[0].delta.content
        if text.strip() == FEE:
            seen.set()
    assert text.startswith(FEE)


async def test_annotations_are_told_as_the_gateways_chats_tell_them(provider, checks):
    client = guarded(provider, checks, WRONG, mode="annotate")
    completion = await client.chat.completions.create(**ASK)
    assert completion.choices[0].message.content == WRONG
    (found,) = completion.groundtrail["checks"]
    assert (found["risk_level"], found["withheld"], found["claims"][0]["evidence"][0]["quote"]) == ("HIGH", True, FEE)
    assert completion.model_dump()["groundtrail"]["mode"] == "check"
    stream = await client.chat.completions.create(**ASK, stream=True)
    chunks = [chunk async for chunk in stream]
    assert chunks[-1].groundtrail == stream.groundtrail
    assert stream.groundtrail["checks"] == [found]


async def test_a_log_has_no_content(provider, checks, caplog):
    client = guarded(provider, checks, WRONG, mode="log")
    with caplog.at_level(logging.WARNING, "groundtrail.guard"):
        assert (await client.chat.completions.create(**ASK)).choices[0].message.content == WRONG
        stream = await client.chat.completions.create(**ASK, stream=True)
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]).strip() == WRONG
    assert [record.getMessage() for record in caplog.records] == [
        "an answer does not pass: risk level HIGH, {'CONTRADICTED': 1}"
    ] * 2


async def test_facts_of_client_and_call_are_held_against_and_no_provider_sees_them(provider, checks, tmp_path):
    file = tmp_path / "fees.md"
    file.write_text(f"# Fees\n\n{FEE}\n")
    bare = {**ASK, "messages": [{"role": "user", "content": "Fee?"}]}
    for client_facts, call_facts in (([file], []), ([], [{"content": FEE, "title": "Fees"}]), ([], [Fact(FEE)])):
        client = guarded(provider, checks, WRONG, facts=client_facts)
        with pytest.raises(WithheldError) as withheld:
            await client.chat.completions.create(**bare, extra_body={"groundtrail": {"facts": call_facts}, "top_k": 1})
        assert withheld.value.claims[0].quotes[0].words.endswith(FEE)
        _, body = provider.asked[-1]
        assert body == {**bare, "top_k": 1}


async def test_what_has_nothing_to_be_checked_against_passes_unless_told_otherwise(provider, checks):
    bare = {**ASK, "messages": [{"role": "user", "content": "Fee?"}]}
    assert await guarded(provider, checks, WRONG).chat.completions.create(**bare)
    with pytest.raises(WithheldError) as withheld:
        await guarded(provider, checks, WRONG, without_sources="block").chat.completions.create(**bare)
    assert withheld.value.reason == "NO_SOURCES"


async def test_without_a_server_raise_fails_and_the_others_say_so(provider, caplog):
    away = "127.0.0.1:1"
    with pytest.raises(GroundtrailError) as failed:
        await guarded(provider, away, FEE).chat.completions.create(**ASK)
    assert failed.value.reason == "UNAVAILABLE"
    completion = await guarded(provider, away, FEE, mode="annotate").chat.completions.create(**ASK)
    assert completion.groundtrail["failed"]["reason"] == "UNAVAILABLE"
    assert (await guarded(provider, away, FEE, mode="log").chat.completions.create(**ASK)).choices
    assert caplog.messages == ["an answer was not checked: UNAVAILABLE"]


async def test_no_way_to_an_answer_goes_around(provider, checks):
    client = guarded(provider, checks, WRONG)
    for at in (client, client.with_options(timeout=5), client.copy()):
        with pytest.raises(WithheldError):
            await at.chat.completions.create(**ASK)
        with pytest.raises(WithheldError):
            await at.chat.completions.with_raw_response.create(**ASK)
        for raws in (at.with_raw_response.chat.completions, at.chat.with_raw_response.completions):
            with pytest.raises(WithheldError):
                await raws.create(**ASK)
        raw = await at.chat.completions.with_raw_response.create(**ASK, stream=True)
        assert raw.headers["content-type"] == "text/event-stream"
        with pytest.raises(WithheldError):
            _ = [chunk async for chunk in raw.parse()]
        async with at.chat.completions.stream(**ASK) as stream:
            with pytest.raises(WithheldError):
                _ = [event async for event in stream]
        for way in (
            lambda at=at: at.responses.create,
            lambda at=at: at.completions.create,
            lambda at=at: at.beta.chat,
            lambda at=at: at.chat.completions.with_streaming_response.create,
            lambda at=at: at.chat.with_streaming_response.completions,
            lambda at=at: at.with_streaming_response.chat,
            lambda raw=raw: raw.http_response,
        ):
            with pytest.raises(GroundtrailError, match="is not guarded") as refused:
                way()
            assert refused.value.reason == "NOT_GUARDED"
    raw = await guarded(provider, checks, FEE).chat.completions.with_raw_response.create(**ASK)
    assert raw.parse().choices[0].message.content == FEE


async def test_the_client_that_was_given_stays_as_it_is(provider, checks):
    provider.said = WRONG
    client = AsyncOpenAI(base_url=provider.base, api_key="none")
    guard(client, server=checks, api_key="reader")
    assert (await client.chat.completions.create(**ASK)).choices[0].message.content == WRONG
    assert client.chat.completions.with_raw_response


@pytest.mark.parametrize(
    ("client", "more", "reason"),
    [
        (object(), {}, "NOT_GUARDED"),
        (OpenAI(api_key="none"), {"mode": "shout"}, "INVALID_FIELD"),
        (OpenAI(api_key="none"), {"halt_on": "SEVERE"}, "INVALID_FIELD"),
        (OpenAI(api_key="none"), {"without_sources": "maybe"}, "INVALID_FIELD"),
    ],
)
def test_wrong_arguments_are_told(client, more, reason):
    with pytest.raises(GroundtrailError) as refused:
        guard(client, server="127.0.0.1:1", **more)
    assert refused.value.reason == reason


async def test_what_a_call_says_to_us_is_read_strictly(provider, checks):
    client = guarded(provider, checks, FEE)
    for wrong in ({"fact": []}, {"facts": [1]}, {"question": 1}, "facts"):
        with pytest.raises(GroundtrailError) as refused:
            await client.chat.completions.create(**ASK, extra_body={"groundtrail": wrong})
        assert refused.value.reason == "INVALID_FIELD"
    assert provider.asked == []


async def test_messages_in_anthropics_form_have_their_system_prompt_checked_against(checks):
    blocks = [SimpleNamespace(type="thinking"), SimpleNamespace(type="text", text=WRONG)]

    async def create(**_):
        return SimpleNamespace(content=blocks)

    client = guard(SimpleNamespace(messages=SimpleNamespace(create=create)), server=checks, api_key="reader")
    for system in (FEE, [{"type": "text", "text": FEE}]):
        with pytest.raises(WithheldError):
            await client.messages.create(model="x", system=system, messages=[{"role": "user", "content": "Fee?"}])
    document = {"type": "document", "source": {"type": "text", "data": FEE}, "title": "Fees"}
    asked = [{"role": "user", "content": [document, {"type": "text", "text": "Fee?"}]}]
    with pytest.raises(WithheldError) as withheld:
        await client.messages.create(model="x", messages=asked)
    assert withheld.value.claims[0].quotes[0].title == "Fees"


def test_checks_of_a_long_stream_read_a_bounded_multiple_of_it():
    holding, read = Holding(OpenAIForm()), 0
    for number in range(3_000):
        holding.add(_chunk(f"Sentence number {number} is told here. "))
        if (text := holding.due()) is not None:
            read += len(text)
    assert read < 12 * len(holding.texts[0])


@pytest.mark.parametrize(
    "text", ["Dr. Jones", "Prof. Jones says", "It costs 3.5 euros", "approx. Five", "e.g. Hail", "so. it goes"]
)
def test_what_rather_goes_on_ends_no_beginning(text):
    holding = Holding(OpenAIForm())
    holding.add(_chunk(text))
    assert holding.due() is None


def _chunk(text):
    delta = SimpleNamespace(content=text)
    return SimpleNamespace(choices=[SimpleNamespace(index=0, delta=delta)])
